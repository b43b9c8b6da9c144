#!/usr/bin/env python3
"""hopcost's pipe round trip beside `perf bench sched pipe`, both pinned to one CPU:
the mean of each, 4 bytes each way, adjacent pairs. `ok` where the interval of the
ratio lies within 0.95-1.05 and contains 1.

    benches/pipe_against_perf.py [--pairs 24] [--loops 20000]
"""
import argparse, json, re
from pairs import (HOPCOST, adjacent_ratios, cpus, median, rank_interval, run, ticks_per_second,
                   verdict)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--loops", type=int, default=20000)
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    first, _, _ = cpus(options.hopcost)
    rate = ticks_per_second()
    case = "roundtrip/pipe?payload=4&boundary=process&place=same-cpu&wait=block"

    def ours():
        trial = json.loads(run(options.hopcost, "trial", case, "--count", options.loops))
        caller = trial["ends"][0]
        return caller["elapsed_ticks"] / caller["count"] / float(rate) * 1e6

    def theirs():
        text = run("taskset", "-c", first, "perf", "bench", "sched", "pipe", "-l", options.loops)
        return float(re.search(r"([\d.]+) usecs/op", text).group(1))

    ratios, yardstick = adjacent_ratios(options.pairs, ours, theirs)
    low, high, level = rank_interval(ratios)
    c_low, c_high, _ = rank_interval(yardstick)
    print(f"perf bench sched pipe on CPU {first}: {theirs():.3f} us a round trip")
    print(f"hopcost / perf {median(ratios):.3f} [{low:.3f}, {high:.3f}], perf / perf "
          f"{median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}], level {level:.4f}: "
          f"{verdict(low, high, 0.95, 1.05)}")


if __name__ == "__main__":
    main()
