"""What the comparisons share: running a program, adjacent pairs, sign intervals."""
import json, math, pathlib, random, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOPCOST = ROOT / "target/release/hopcost"


def run(*command):
    """Standard output of a program that has to succeed."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


def compile_c(source, into, *libraries, optimise="-O2"):
    """A program of benches/, built as anybody would."""
    program = pathlib.Path(into) / f"{pathlib.Path(source).stem}{optimise}"
    run("gcc", optimise, "-Wall", "-o", program, ROOT / "benches" / source, *libraries)
    return program


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def rank_interval(values, alpha=0.05):
    """Order-statistic interval of the median, and its exact coverage."""
    n, values = len(values), sorted(values)
    tail, low = 0.0, 0
    while low < n // 2 and tail + math.comb(n, low) / 2**n <= alpha / 2:
        tail += math.comb(n, low) / 2**n
        low += 1
    if low == 0:
        return None
    return values[low - 1], values[n - low], 1 - 2 * tail


def adjacent_ratios(pairs, ours, theirs, divided=None):
    """Ratios ours / theirs and theirs / theirs over `pairs` rounds in random order;
    only runs that stand next to each other are divided. `divided` takes what was."""
    ratios, yardstick = [], []
    for _ in range(pairs):
        arms = ["ours", "theirs", "again"]
        random.shuffle(arms)
        seen = {arm: ours() if arm == "ours" else theirs() for arm in arms}
        partner = "theirs" if abs(arms.index("theirs") - arms.index("ours")) == 1 else "again"
        ratios.append(seen["ours"] / seen[partner])
        if divided is not None:
            divided.append((seen["ours"], seen[partner]))
        yardstick.append(seen["theirs"] / seen["again"])
    return ratios, yardstick


def verdict(low, high, least, most):
    """What an interval of a ratio says of the band least to most."""
    if least <= low and high <= most:
        return "ok" if low <= 1 <= high else f"within {least}-{most}"
    return "OFF" if high < least or low > most else "inconclusive"


def cpus(hopcost):
    """The two CPUs that hopcost uses and their relation."""
    dry = json.loads(run(hopcost, "run", "--dry-run", "--format", "json",
                         "roundtrip/pipe?place=same-cpu,cross"))
    plan = dry.get("plan", dry)
    first, second = (plan["cpus"] + [None])[:2]
    return first, second, plan["relation"]


def ticks_per_second():
    """Near enough for plausibility checks; ticks are compared with ticks."""
    return run("sh", "-c", "awk '/cpu MHz/{print $4*1e6; exit}' /proc/cpuinfo").strip() or "1e9"


def estimate(document, statistic):
    """The row of a statistic of the first case in a JSON report."""
    return next(row for row in document["estimates"] if row["statistic"] == statistic)
