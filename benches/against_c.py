#!/usr/bin/env python3
"""hopcost beside a plain C program: one trial of each in turn, on the same CPUs.

For every mechanism: PAIRS adjacent pairs of about 40 ms each, the order within
a pair and of the pairs at random; the ratio of the two medians of each pair;
the median ratio with its sign interval (exact, from the order statistics), and
the C program against itself under the same procedure, as the yardstick.

    benches/against_c.py [--pairs 20] [--places same-cpu,cross] [--mechanisms pipe,...]

Verdicts: `ok` where the interval contains 1 and lies within 0.95-1.05; `within
0.95-1.05` where it excludes 1 but stays in that band; `OFF` where it lies wholly
outside the band; `inconclusive` where it is too wide to say.
"""
import argparse, json, tempfile
from pairs import (HOPCOST, adjacent_ratios, compile_c, cpus as two_cpus, median, rank_interval,
                   run, ticks_per_second, verdict)

# C name -> hopcost mechanism, payload, wait
MECHANISMS = {
    "spin": ("flag", 0, "spin"), "futex": ("futex", 0, "block"),
    "semaphore": ("semaphore", 0, "block"), "condvar": ("condvar", 0, "block"),
    "eventfd": ("eventfd", 0, "block"), "signal": ("signal", 0, "block"),
    "pipe": ("pipe", 64, "block"), "socketpair": ("socketpair", 64, "block"),
    "udp": ("udp", 64, "block"), "tcp": ("tcp", 64, "block"),
}
PAIR_NS = 40e6


def case_id(mechanism, payload, wait, place):
    extra = "&nodelay=on" if mechanism == "tcp" else ""
    return f"roundtrip/{mechanism}?payload={payload}&boundary=process&place={place}&wait={wait}{extra}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--places", default="same-cpu,cross")
    parser.add_argument("--mechanisms", default=",".join(MECHANISMS))
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    work = tempfile.TemporaryDirectory(prefix="hopcost-bench-")
    c_program = compile_c("pingpong.c", work.name, "-lpthread")
    first, second, relation = two_cpus(options.hopcost)
    calibrated = ticks_per_second()
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
        ratios, yardstick = adjacent_ratios(options.pairs,
                                            lambda: hopcost_median(case, warm, count),
                                            lambda: c_median(name, cpus, warm, count))
        low, high, level = rank_interval(ratios)
        c_low, c_high, _ = rank_interval(yardstick)
        ns = probe / float(calibrated) * 1e9
        print(f"{place:9} {name:11} {ns:9.0f}  {median(ratios):.3f} [{low:.3f}, {high:.3f}]      "
              f"{median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}]      {verdict(low, high, 0.95, 1.05)}", flush=True)
    print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
