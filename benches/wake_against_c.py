#!/usr/bin/env python3
"""hopcost's wake-ups beside a plain C program: the same gaps, on the same CPUs, in
turn. For every mechanism and gap the median ratio of the medians of adjacent
pairs, with its sign interval, and C against itself as the yardstick. `ok` where
the interval lies within 0.9-1.1 and contains 1.

    benches/wake_against_c.py [--pairs 24] [--gaps 1000,100000,1000000] [--places cross,same-cpu]
"""
import argparse, json, tempfile
from pairs import (HOPCOST, adjacent_ratios, compile_c, cpus, median, rank_interval, run,
                   ticks_per_second, verdict)

# C name -> hopcost mechanism, payload, wait
MECHANISMS = {"semaphore": ("semaphore", 0, "block"), "signal": ("signal", 0, "block"),
              "pipe": ("pipe", 1, "block"), "socketpair": ("socketpair", 1, "block"),
              "mq": ("posix-mq", 8, "block"), "spin": ("flag", 0, "spin")}
# Wake-ups of one arm: half a second of them, 200 at most.
ARM_NS, COUNT_MAX = 500e6, 200


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--gaps", default="1000,100000,1000000")
    parser.add_argument("--places", default="cross")
    parser.add_argument("--mechanisms", default="semaphore,signal,pipe,socketpair")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    first, second, relation = cpus(options.hopcost)
    rate = ticks_per_second()
    print(f"{options.pairs} pairs a row; ratio = hopcost / C, [sign interval]; CPUs {first} and {second} ({relation})")
    print(f"{'place':9} {'mechanism':11} {'gap us':>7} {'C ns':>8}  {'hopcost / C':^24}  {'C / C':^24}  verdict")
    with tempfile.TemporaryDirectory(prefix="hopcost-bench-") as work:
        program = compile_c("wake.c", work, "-lpthread", "-lrt")
        for place in options.places.split(","):
            receiver = first if place == "same-cpu" else second
            if receiver is None:
                continue
            for name in options.mechanisms.split(","):
                if place == "same-cpu" and name == "spin":
                    continue
                mechanism, payload, wait = MECHANISMS[name]
                for gap in map(int, options.gaps.split(",")):
                    case = (f"wake/{mechanism}?payload={payload}&gap={gap}&boundary=process"
                            f"&place={relation if place == 'cross' else place}&wait={wait}")
                    count = int(min(COUNT_MAX, max(20, ARM_NS / (gap + 60_000))))
                    warm = count // 10

                    def ours():
                        trial = json.loads(run(options.hopcost, "trial", case, "--count", count,
                                               "--warm-up", warm))
                        # The C program leaves the clocks' offset in; put it back.
                        return median(trial["samples"]) + trial["gates"][0]["offset_ticks"]

                    def theirs():
                        return float(run(program, name, first, receiver, gap, warm, count))

                    ratios, yardstick = adjacent_ratios(options.pairs, ours, theirs)
                    low, high, level = rank_interval(ratios)
                    c_low, c_high, _ = rank_interval(yardstick)
                    ns = theirs() / float(rate) * 1e9
                    print(f"{place:9} {name:11} {gap / 1000:7.0f} {ns:8.0f}  "
                          f"{median(ratios):.3f} [{low:.3f}, {high:.3f}]      "
                          f"{median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}]      "
                          f"{verdict(low, high, 0.9, 1.1)}", flush=True)
        print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
