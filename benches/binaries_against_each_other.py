#!/usr/bin/env python3
"""Two builds of hopcost beside each other: whether a change moved what is measured.

For every mechanism and placement: PAIRS rounds of trials of about 40 ms of the old build,
the new one and the old one again, in random order; the ratio of the two medians of each
adjacent pair, new / old; the median ratio with its sign interval (exact, from the order
statistics), and the old build against itself under the same procedure, as the yardstick.

    benches/binaries_against_each_other.py OLD NEW [--pairs 24] [--places same-cpu,cross]
                                           [--mechanisms pipe,futex,udp,tcp,spin]

Verdicts: `ok` where the interval contains 1 and lies within 0.99-1.01; `within 0.99-1.01`
where it excludes 1 but stays in that band; `OFF` where it lies wholly outside the band;
`inconclusive` where it is too wide to say: run it again with more pairs on a quiet machine.
"""
import argparse, json
from against_c import MECHANISMS
from pairs import adjacent_ratios, cpus, median, rank_interval, run, ticks_per_second, verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--places", default="same-cpu,cross")
    parser.add_argument("--mechanisms", default="pipe,futex,udp,tcp,spin")
    options = parser.parse_args()
    first, second, relation = cpus(options.old)
    calibrated = ticks_per_second()

    def trial_median(hopcost, case, warm, count):
        out = run(hopcost, "trial", case, "--count", count, "--warm-up", warm)
        return median(json.loads(out)["samples"])

    print(f"{options.pairs} pairs a row; ratio = new / old, [sign interval]; CPUs {first} and {second} ({relation})")
    print(f"{'place':9} {'mechanism':25} {'old ns/op':>9}  {'new / old':^23}  {'old / old':^23}  verdict")
    level = None
    for place in options.places.split(","):
        for name in options.mechanisms.split(","):
            if (place == "same-cpu" and MECHANISMS[name].wait == "spin") or (place == "cross" and second is None):
                continue
            case = MECHANISMS[name].case("same-cpu" if place == "same-cpu" else relation)
            probe = trial_median(options.old, case, 200, 2000)
            count = max(100, int(0.04 * float(calibrated) / probe))
            # The guest's halt polling adapts for some ten milliseconds after the CPUs idled: with a
            # warm-up of 4 ms the time between start and phase shows in the figures, up to 5 %.
            warm = count
            ratios, yardstick = adjacent_ratios(options.pairs,
                                                lambda: trial_median(options.new, case, warm, count),
                                                lambda: trial_median(options.old, case, warm, count))
            low, high, level = rank_interval(ratios)
            own_low, own_high, _ = rank_interval(yardstick)
            ns = probe / float(calibrated) * 1e9
            print(f"{place:9} {name:25} {ns:9.0f}  {median(ratios):.4f} [{low:.4f}, {high:.4f}]  "
                  f"{median(yardstick):.4f} [{own_low:.4f}, {own_high:.4f}]  "
                  f"{verdict(low, high, 0.99, 1.01)}", flush=True)
    if level is not None:
        print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
