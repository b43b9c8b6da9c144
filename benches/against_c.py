#!/usr/bin/env python3
"""hopcost beside a plain C program: one trial of each in turn, on the same CPUs.

For every mechanism: PAIRS adjacent pairs of about 40 ms each, the order within
a pair and of the pairs at random; the ratio of the two medians of each pair;
the median ratio with its sign interval (exact, from the order statistics), and
the C program against itself under the same procedure, as the yardstick.

    benches/against_c.py [--pairs 20] [--places same-cpu,cross] [--mechanisms pipe,...]

Verdicts: `ok` where the interval contains 1 and lies within 0.95-1.05; `OFF`
where it lies wholly outside 0.95-1.05 or does not contain 1 by more than that;
`inconclusive` where it is too wide to say; `within` where it excludes 1 but
stays within 0.95-1.05.
"""
import argparse, json, math, pathlib, random, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# C name -> hopcost mechanism, payload, wait
MECHANISMS = {
    "spin": ("flag", 0, "spin"), "futex": ("futex", 0, "block"),
    "semaphore": ("semaphore", 0, "block"), "condvar": ("condvar", 0, "block"),
    "eventfd": ("eventfd", 0, "block"), "signal": ("signal", 0, "block"),
    "pipe": ("pipe", 64, "block"), "socketpair": ("socketpair", 64, "block"),
    "udp": ("udp", 64, "block"), "tcp": ("tcp", 64, "block"),
}
PAIR_NS = 40e6


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"against_c: {' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


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


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def case_id(mechanism, payload, wait, place):
    extra = "&nodelay=on" if mechanism == "tcp" else ""
    return f"roundtrip/{mechanism}?payload={payload}&boundary=process&place={place}&wait={wait}{extra}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--places", default="same-cpu,cross")
    parser.add_argument("--mechanisms", default=",".join(MECHANISMS))
    parser.add_argument("--hopcost", default=str(ROOT / "target/release/hopcost"))
    options = parser.parse_args()
    work = tempfile.TemporaryDirectory(prefix="hopcost-bench-")
    c_program = pathlib.Path(work.name) / "pingpong"
    run("gcc", "-O2", "-Wall", "-o", c_program, ROOT / "benches/pingpong.c", "-lpthread")
    dry = json.loads(run(options.hopcost, "run", "--dry-run", "--format", "json",
                         "roundtrip/pipe?place=same-cpu,cross", "roundtrip/flag?place=cross"))
    plan = dry.get("plan", dry)
    first, second = (plan["cpus"] + [None])[:2]
    relation = plan["relation"]
    calibrated = None
    rows = []
    for place in options.places.split(","):
        for name in options.mechanisms.split(","):
            mechanism, payload, wait = MECHANISMS[name]
            if place == "same-cpu" and name == "spin":
                continue
            if place == "cross" and second is None:
                continue
            callee = first if place == "same-cpu" else second
            case = case_id(mechanism, payload, wait, "same-cpu" if place == "same-cpu" else relation)
            rows.append((place, name, case, first, callee))

    if calibrated is None:
        # The rate matters only for plausibility checks; ticks are compared with ticks.
        calibrated = run("sh", "-c", "awk '/cpu MHz/{print $4*1e6; exit}' /proc/cpuinfo").strip() or "1e9"

    def c_median(name, cpus, warm, count):
        return float(run(c_program, name, *cpus, warm, count))

    def hopcost_median(case, warm, count):
        out = run(options.hopcost, "trial", case, "--count", count, "--warm-up", warm,
                  "--ticks-per-second", calibrated)
        return median(json.loads(out)["samples"])

    print(f"{options.pairs} pairs a row; ratio = hopcost / C, [sign interval]; CPUs {first} and {second} ({relation})")
    print(f"{'place':9} {'mechanism':11} {'C ns/op':>9}  {'hopcost / C':^24}  {'C / C':^24}  verdict")
    for place, name, case, caller, callee in rows:
        cpus = (caller, callee)
        probe = c_median(name, cpus, 200, 2000 if place == "same-cpu" or name == "spin" else 200)
        count = max(100, int(PAIR_NS / 1e9 * float(calibrated) / probe))
        warm = count // 10
        ratios, yardstick = [], []
        for _ in range(options.pairs):
            arms = ["hopcost", "c", "c2"]
            random.shuffle(arms)
            seen = {arm: hopcost_median(case, warm, count) if arm == "hopcost"
                    else c_median(name, cpus, warm, count) for arm in arms}
            # Adjacent only: the arm that stands next to hopcost is its partner.
            partner = "c" if abs(arms.index("c") - arms.index("hopcost")) == 1 else "c2"
            ratios.append(seen["hopcost"] / seen[partner])
            yardstick.append(seen["c"] / seen["c2"])
        low, high, level = rank_interval(ratios)
        c_low, c_high, _ = rank_interval(yardstick)
        if low <= 1 <= high and low >= 0.95 and high <= 1.05:
            verdict = "ok"
        elif low >= 0.95 and high <= 1.05:
            verdict = "within 5 %"
        elif high < 0.95 or low > 1.05:
            verdict = "OFF"
        else:
            verdict = "inconclusive"
        ns = probe / float(calibrated) * 1e9
        print(f"{place:9} {name:11} {ns:9.0f}  {median(ratios):.3f} [{low:.3f}, {high:.3f}]      "
              f"{median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}]      {verdict}", flush=True)
    print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
