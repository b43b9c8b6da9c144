"""Which pairs, in which rounds: a host is in at most one pair of a round."""

import math
import random
import re
from collections.abc import Iterator

from .hosts import Usage

Pair = tuple[int, int]

# More rows than this are a mistake: at 10 s a round nobody waits for them.
MOST_PAIRS = 1_000_000


def circle(n: int, r: int) -> list[Pair]:
    """Round `r` of all pairs of `n`: the first stays, the others move on by one each round."""
    even = n + n % 2
    seat = lambda k: 0 if k == 0 else 1 + (r + k - 1) % (even - 1)
    pairs = []
    for k in range(even // 2):
        a, b = seat(k), seat(even - 1 - k)
        if max(a, b) < n:  # the one too many stands for a rest
            # Turned about, so that everybody is as often the near end as the far one, nearly.
            pairs.append((a, b) if (k + (r if k == 0 else 0)) % 2 == 0 else (b, a))
    return pairs


def rounds_of_circle(n: int) -> int:
    """How many rounds hold all pairs of `n`."""
    return 0 if n < 2 else n - 1 if n % 2 == 0 else n


def pack(pairs: list[Pair]) -> list[list[Pair]]:
    """The pairs in rounds: each in the first in which both hosts are free."""
    busy: dict[int, int] = {}  # of each host the rounds that it plays in, as bits
    rounds: list[list[Pair]] = []
    for a, b in pairs:
        taken = busy.get(a, 0) | busy.get(b, 0)
        first = (~taken & (taken + 1)).bit_length() - 1  # the lowest bit that is not set
        if first == len(rounds):
            rounds.append([])
        rounds[first].append((a, b))
        busy[a] = busy.get(a, 0) | 1 << first
        busy[b] = busy.get(b, 0) | 1 << first
    return rounds


def unrank(k: int, n: int) -> Pair:
    """Pair `k` of all pairs of `n`, counted row by row."""
    m = n * (n - 1) // 2 - 1 - k
    below = (math.isqrt(8 * m + 1) - 1) // 2
    return n - 2 - below, n - 1 - (m - below * (below + 1) // 2)


def size_of_sample(kind: str) -> int:
    """N of `sample:N`, 0 where it is none of these."""
    found = re.fullmatch(r"sample:([1-9]\d{0,6})", kind)
    return int(found[1]) if found else 0


def check(kind: str) -> None:
    """Refuses what is no kind of pairs."""
    if kind not in ("all", "ring", "none") and not size_of_sample(kind):
        raise Usage(f"--pairs: `{kind[:50]}` is none of all, ring, sample:N, none")


def rounds(kind: str, n: int, seed: int, most_rounds: int | None) -> tuple[Iterator[list[Pair]], int]:
    """The rounds of pairs of `n` hosts, at most so many, and how many pairs these leave out."""
    check(kind)
    total = n * (n - 1) // 2
    if kind == "none" or n < 2:
        return iter(()), 0
    draw = random.Random(seed)
    if kind == "all":
        of_all = rounds_of_circle(n)
        count = of_all if most_rounds is None else min(of_all, most_rounds)
        planned = count * (n // 2)
        if planned > MOST_PAIRS:
            raise Usage(f"{planned:,} pairs of {n:,} hosts are too many: give --budget, or --pairs sample:N")
        # In random order, so that a budget leaves a random part and no neighbourhood.
        order = draw.sample(range(of_all), count)
        return (circle(n, r) for r in order), total - planned
    if kind == "ring":
        pairs = [(i, (i + 1) % n) for i in range(n if n > 2 else 1)]
    else:
        drawn = draw.sample(range(total), min(size_of_sample(kind), total))
        pairs = [unrank(k, n) for k in drawn]
        pairs = [(a, b) if draw.random() < 0.5 else (b, a) for a, b in pairs]
    packed = pack(pairs)
    kept = packed if most_rounds is None else packed[:most_rounds]
    return iter(kept), len(pairs) - sum(map(len, kept))
