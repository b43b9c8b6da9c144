#!/usr/bin/env python3
"""What the yardsticks cost: whether a trial beside them differs, and how much of a run they take.

For every case: PAIRS times a run of a few trials without yardsticks, one with them and one without
again, right after one another; the ratio with / without of the median of the trials' medians in each
adjacent pair, its median and sign interval, and the run without against itself under the same
procedure; then the share of the wall time of the trials that the yardsticks take.

    benches/yardsticks.py HOPCOST [CASE…] [--pairs 16] [--rounds 6]

A run without them is one with `--stand-in`, whose times hopcost takes for made up: here it is a script
that becomes the same worker. The interval of the ratio has to contain 1 and lie within 0.995-1.005, and
the share within 12 %; `inconclusive` says that more pairs or a quieter machine are needed.
"""
import argparse, array, os, sqlite3, subprocess, tempfile, zlib
from pairs import adjacent_ratios, median, rank_interval, verdict

CASES = ["call/call", "call/syscall", "roundtrip/pipe?place=same-cpu", "roundtrip/pipe?place=cross"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost")
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_intermixed_args()
    hopcost = os.path.abspath(options.hopcost)
    with tempfile.TemporaryDirectory() as folder:
        stand_in, stored = os.path.join(folder, "worker"), os.path.join(folder, "run")
        with open(stand_in, "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexec '{hopcost}' worker\n")
        os.chmod(stand_in, 0o700)
        took = {True: [], False: []}

        def value(case, beside):
            command = [hopcost, "run", case, "--rounds", str(options.rounds), "--out", stored]
            command += [] if beside else ["--stand-in", stand_in]
            environment = dict(os.environ, XDG_DATA_HOME=folder)
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            run = sqlite3.connect(stored)
            trials = run.execute("SELECT took_ns, stamp, stamp_n, samples FROM trial WHERE error IS NULL").fetchall()
            readings, = run.execute("SELECT count(*) FROM yardstick_reading").fetchone()
            run.close()
            os.unlink(stored)
            assert trials and (readings == 2 * len(trials)) == beside, (case, len(trials), readings)
            took[beside].append(sum(ns for ns, *_ in trials))
            return median([of_trial(*of) for _, *of in trials])

        print(f"{options.pairs} pairs of {options.rounds} trials a row; ratio = with / without, [sign interval]")
        print(f"{'case':32} {'with / without':^23}  {'without / itself':^23}  {'share':>6}  verdict")
        for case in options.cases:
            for times in took.values():
                times.clear()
            ratios, own = adjacent_ratios(options.pairs, lambda: value(case, True), lambda: value(case, False))
            low, high, _ = rank_interval(ratios)
            own_low, own_high, _ = rank_interval(own)
            share = 1 - median(took[False]) / median(took[True])
            print(f"{case:32} {median(ratios):.4f} [{low:.4f}, {high:.4f}]  "
                  f"{median(own):.4f} [{own_low:.4f}, {own_high:.4f}]  {share:6.1%}  "
                  f"{verdict(low, high, 0.995, 1.005)}", flush=True)


def of_trial(stamp, n, samples):
    """What an operation took in a trial, in ticks."""
    ticks = array.array("I", zlib.decompress(samples))
    if stamp == "two-lengths":
        return median([longer - shorter for shorter, longer in zip(ticks[0::2], ticks[1::2])]) / n
    return median(ticks) / (n or 1)


main()
