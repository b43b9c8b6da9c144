"""The statistics of a fleet: outliers by a rule with a known false-alarm rate, and rank tests.

All of it is of logarithms, so that twice as slow and twice as fast are as far. The reasons
are in docs/method/fleets.md; fleet/tests/test_report.py proves the rates by simulation. SciPy's
functions come from `special`: to import `stats` takes as long as to report a thousand hosts.
"""

import numpy as np
from scipy import special

# Below so many hosts the rule names no outlier.
HOSTS_MIN = 8
# Mean number of false outliers in a fleet without any, over all hosts and cases: so at most one
# such fleet in twenty has one, however its cases depend on each other.
FALSE_ALARMS = 0.05
# Makes Qn the standard deviation of n = 2 to 9 normal values (Croux and Rousseeuw 1992).
QN_FEW = (0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872)
# The deviation of one of n normal values, in scales Qn, spreads like Student's t times a factor.
# Fitted to simulated fleets of each size (400,000 of at most 32 hosts, 146,484 of 64) at 0.05 and
# 0.0005 false alarms a case. With 1 to 200 cases a threshold is off by at most 0.6 %. The last row
# is the limit: Qn takes 82 % of what the standard deviation takes from normal values.
STUDENT = np.array([
    # hosts, degrees of freedom over hosts, factor
    (8, 0.525, 0.7133), (9, 0.468, 0.7303), (10, 0.538, 0.7559), (11, 0.497, 0.7830),
    (12, 0.552, 0.7971), (13, 0.530, 0.8208), (14, 0.571, 0.8312), (15, 0.539, 0.8389),
    (16, 0.572, 0.8478), (17, 0.550, 0.8550), (18, 0.601, 0.8724), (19, 0.569, 0.8735),
    (20, 0.591, 0.8808), (21, 0.580, 0.8842), (24, 0.614, 0.9020), (32, 0.637, 0.9281),
    (48, 0.669, 0.9523), (64, 0.704, 0.9658), (np.inf, 0.82, 1.0),
])  # fmt: skip
# Hosts of the smaller side from which groups are compared, and up to which ranks are exact.
GROUP_MIN, EXACT_MAX = 4, 20
# Logarithms as near as this are the same number, rounded.
ROUNDED = 1e-12
# Half of a 95 % interval, in standard errors.
HALF = 1.959963984540054
# From this error on nobody asks for it exactly.
PLAIN = 0.05


def qn(values: np.ndarray) -> float:
    """The scale Qn (Rousseeuw and Croux 1993), which up to half of the values cannot spoil."""
    n = len(values)
    few = n / (n + 1.4) if n % 2 else n / (n + 3.8)
    half = n // 2 + 1
    distance = ranked_difference(values, values, half * (half - 1) // 2 + n * (n + 1) // 2)
    return 2.2219 * (QN_FEW[n - 2] if n < 10 else few) * (distance if distance > ROUNDED else 0.0)


def ranked_difference(a: np.ndarray, b: np.ndarray, rank: int) -> float:
    """The rank-th least (from 1) of all a - b, by bisection, as hosts can have too many pairs."""
    a, b = np.sort(a), np.sort(b)
    low, high = a[0] - b[-1], a[-1] - b[0]
    while high - low > ROUNDED:
        middle = (low + high) / 2
        within = len(a) * len(b) - np.searchsorted(b, a - middle, side="left").sum()
        low, high = (low, middle) if within >= rank else (middle, high)
    return high


def threshold(hosts: int, cases: int) -> float:
    """By how many scales an outlier deviates, of so many hosts in each of so many cases."""
    if hosts < HOSTS_MIN:
        return np.inf
    # Both change in proportion to 1 / hosts.
    freedom, factor = (np.interp(-1 / hosts, -1 / STUDENT[:, 0], STUDENT[:, at]) for at in (1, 2))
    return -factor * special.stdtrit(freedom * hosts, FALSE_ALARMS / (2 * hosts * cases))


def place(logs: np.ndarray, errors: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Median, scale, and the deviation of each host in scales.

    A host that knows its own value less well than most counts by so much less; one that knows it
    better counts by no more.
    """
    middle, scale, usual = np.median(logs), qn(logs), np.median(errors)
    # Where most hosts have one value, what each knows of itself is all there is.
    square = scale**2 if scale > 0 else usual**2
    own = np.sqrt(square + np.maximum(errors**2 - usual**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(logs == middle, 0.0, (logs - middle) / own)
    return middle, np.sqrt(square), scores


def median_interval(logs: np.ndarray) -> tuple[float, float]:
    """The interval of 95 % of the median by order statistics; NaN below six values."""
    # So few of as many coins show heads with a probability below 2.5 %.
    rank = int(np.searchsorted(special.bdtr(np.arange(len(logs)), len(logs), 0.5), 0.025))
    ordered = np.sort(logs)
    return (ordered[rank - 1], ordered[-rank]) if rank else (np.nan, np.nan)


def rank_sum_error(few: np.ndarray, hosts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Two-sided errors of rank sums: exact where a group is small and so is its error."""
    below = sums - few * (few + 1) / 2
    pairs = few * (hosts - few)
    off = np.maximum(np.abs(below - pairs / 2) - 0.5, 0)
    errors = 2 * special.ndtr(-off / np.sqrt(pairs * (hosts + 1) / 12))
    for at in np.flatnonzero((few <= EXACT_MAX) & (errors <= PLAIN)):
        other_way = int(np.ceil(min(below[at], pairs[at] - below[at])))
        errors[at] = min(2 * rank_sum_tail(int(few[at]), int(hosts[at] - few[at]), other_way), 1)
    return errors


def rank_sum_tail(few: int, many: int, pairs: int) -> float:
    """The probability that in random order so few pairs are the other way round.

    Coefficients of the Gaussian binomial, factor by factor. SciPy before 1.13 would take
    gigabytes for it.
    """
    counts = np.zeros(pairs + 1)
    counts[0] = 1
    for host in range(1, few + 1):
        counts[many + host :] = counts[many + host :] - counts[: max(pairs + 1 - many - host, 0)]
        for start in range(min(host, pairs + 1)):
            counts[start::host] = np.cumsum(counts[start::host])
    orders = special.gammaln(few + many + 1) - special.gammaln(few + 1) - special.gammaln(many + 1)
    return float(np.exp(np.log(counts.sum()) - orders))


def shift(group: np.ndarray, rest: np.ndarray) -> tuple[float, float, float]:
    """By how much a group differs (Hodges and Lehmann 1963), and the ends of its 95 % interval."""
    pairs = len(group) * len(rest)
    at = [(pairs + 1) // 2, pairs // 2 + 1]
    half = HALF * np.sqrt(pairs * (len(group) + len(rest) + 1) / 12)
    low = int(np.floor(pairs / 2 - half - 0.5))
    point = sum(ranked_difference(group, rest, rank) for rank in at) / 2
    if low < 1:
        return point, np.nan, np.nan
    ends = (ranked_difference(group, rest, rank) for rank in (low, pairs + 1 - low))
    return point, *ends


def fisher(with_it: np.ndarray, of: int, all_with: np.ndarray, hosts: int) -> np.ndarray:
    """Fisher's exact test, one-sided: that so many `of` some hosts have it is more than chance."""
    from scipy import stats

    return stats.hypergeom.sf(with_it - 1, hosts, all_with, of)


def holm(errors: np.ndarray) -> np.ndarray:
    """Errors of several tests, so that any is wrong with the error it has now (Holm 1979)."""
    order = np.argsort(errors, kind="stable")
    steps = errors[order] * np.arange(len(errors), 0, -1)
    adjusted = np.empty(len(errors))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
