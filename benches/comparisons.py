#!/usr/bin/env python3
"""How often live comparisons are wrong on this machine, and how often they have an answer.

    benches/comparisons.py HOPCOST [--repetitions 20] [--duration 20s] [--place same-cpu]

A row a pair of cases: `pipe` beside itself, which must not be faster or slower; then `spin:4000` beside `spin:N`, the same chain of
multiplications 5 and 10 % longer, which should be slower. Counted are the verdicts, the comparisons that called themselves invalid, and
those whose interval did not hold the known ratio; then the median half width of the intervals, and the median time.
"""
import argparse, collections, json, statistics, subprocess

PIPE = "pipe?payload=64&boundary=process&wait=block"
PAIRS = [(PIPE, PIPE, 1.0), ("spin:4000", "spin:4200", 1.05), ("spin:4000", "spin:4400", 1.10)]
VERDICTS = ["faster", "slower", "inside", "open"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--duration", default="20s")
    parser.add_argument("--place", default="same-cpu")
    options = parser.parse_args()
    print(f"{'cases':24} {'ratio':>5}  " + "  ".join(VERDICTS) + "  invalid  missed  half width   time")
    for first, second, ratio in PAIRS:
        seen, widths, times = collections.Counter(), [], []
        for _ in range(options.repetitions):
            place = f"{'&' if '?' in first else '?'}place={options.place}"
            command = [options.hopcost, "compare", "--live", first + place, second + place,
                       "--budget", options.duration, "--format", "json"]
            answer = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
            one = next(row for row in answer["contrasts"] if row["measurement"] == "first")
            (found,) = answer["comparison"]
            low, high, verdict = one["contrast_low"], one["contrast_high"], one["contrast_verdict"]
            side = "slower" if one["contrast_ratio"] > 1 else "faster"
            seen[side if verdict == "outside" else verdict] += 1
            seen["invalid"] += found["invalid"] is not None
            if low is not None:
                seen["missed"] += not low <= ratio <= high
                widths.append((high - low) / 2)
            times.append(found["took_s"])
        counts = "  ".join(f"{seen[verdict]:{len(verdict)}}" for verdict in VERDICTS)
        name = f"{first.split('?')[0]}, {second.split('?')[0]}"
        width = f"±{100 * statistics.median(widths):.1f} %" if widths else "none"
        print(f"{name:24} {ratio:5.2f}  {counts}  {seen['invalid']:7}  {seen['missed']:6}  {width:>10}  "
              f"{statistics.median(times):4.1f} s", flush=True)


if __name__ == "__main__":
    main()
