#!/usr/bin/env python3
"""What the yardsticks cost: whether a trial beside them differs, and how much of a run they take.

For every case: PAIRS times a run of a few short trials without yardsticks and one with them, in random order;
the ratio with / without of the medians of the trials' medians in each pair, their Hodges-Lehmann median with the interval
of Wilcoxon's signed ranks (95 %; the order within pairs is random, so the logarithms of the ratios lie symmetrically about
the difference), and half as many pairs of runs without, under the same procedure; then the share of the wall
time of trials of the usual length that the yardsticks take, from SHARE_RUNS runs of either kind in turn.

    benches/yardsticks.py HOPCOST [CASE…] [--pairs 24] [--rounds 6] [--measure 10ms] [--budget 600ms]

The small budget makes trials follow each other without a pause. A pair takes about 2 s, four cases of 24 about five minutes. 24 pairs make the interval ±0.5 % wide where their ratios spread by 1.2 % (SD);
printed is how many the spread that was seen asks for. Trials are shorter than usual, so that more of them are near a reading and an effect of it shows the more.

A run without them is one with `--stand-in`, whose times hopcost takes for made up: here it is a script
that becomes the same worker. The interval of the ratio has to contain 1 and lie within 0.995-1.005, and
the share within 12 %; `inconclusive` says that more pairs or a quieter machine are needed.
"""
import argparse, array, math, os, random, sqlite3, statistics, subprocess, tempfile, zlib
from pairs import median, verdict

CASES = ["roundtrip/pipe?place=same-cpu", "call/call", "call/syscall", "roundtrip/pipe?place=cross"]
BAND = 0.005
SHARE_RUNS = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost")
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--measure", default="10ms")
    parser.add_argument("--budget", default="600ms")
    options = parser.parse_intermixed_args()
    hopcost = os.path.abspath(options.hopcost)
    with tempfile.TemporaryDirectory() as folder:
        stand_in, stored = os.path.join(folder, "worker"), os.path.join(folder, "run")
        with open(stand_in, "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexec '{hopcost}' worker\n")
        os.chmod(stand_in, 0o700)

        def trials(case, beside, *arguments):
            """Of each trial of a run, how long it took in all and what an operation took in it."""
            command = [hopcost, "run", case, "--rounds", str(options.rounds), "--out", stored, *arguments]
            command += [] if beside else ["--stand-in", stand_in]
            environment = dict(os.environ, XDG_DATA_HOME=folder)
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            run = sqlite3.connect(stored)
            found = run.execute("SELECT v.took_ns, v.stamp, v.stamp_n, t.samples_kept, t.samples FROM trials v JOIN trial t USING (trial) WHERE v.error IS NULL").fetchall()
            readings, = run.execute("SELECT sum(json_array_length(document, '$.yardsticks')) FROM trial").fetchone()
            run.close()
            os.unlink(stored)
            assert found and (readings == 2 * len(found)) == beside, (case, len(found), readings)
            return [(took_ns, of_trial(*of)) for took_ns, *of in found]

        def difference(case, first, second):
            """The logarithm of first / second of a pair, in random order."""
            value = lambda beside: median([ns for _, ns in trials(case, beside, "--measure", options.measure,
                                                                  "--budget", options.budget)])
            arms = [(1, first), (-1, second)]
            random.shuffle(arms)
            return sum(sign * math.log(value(beside)) for sign, beside in arms)

        print(f"{options.pairs} pairs of {options.rounds} trials of {options.measure} a row; ratio = with / without, [interval]")
        print(f"{'case':30} {'with / without':^23}  {'without / itself':^23}  {'pairs':>6} {'share':>6}  verdict")
        for case in options.cases:
            beside, alone = [], []
            for pair in range(options.pairs):
                beside.append(difference(case, True, False))
                if pair % 2:
                    alone.append(difference(case, False, False))
            ratio, low, high = signed_rank_interval(beside)
            own, own_low, own_high = signed_rank_interval(alone)
            # As many as make the interval as narrow as the band, from the spread that was seen.
            needed = math.ceil(options.pairs * ((high - low) / 2 / BAND) ** 2)
            took = {True: [], False: []}
            for with_yardsticks in [True, False] * SHARE_RUNS:
                took[with_yardsticks] += [ns for ns, _ in trials(case, with_yardsticks)]
            share = 1 - median(took[False]) / median(took[True])
            print(f"{case:30} {ratio:.4f} [{low:.4f}, {high:.4f}]  {own:.4f} [{own_low:.4f}, {own_high:.4f}]  "
                  f"{needed:6} {share:6.1%}  {verdict(low, high, 1 - BAND, 1 + BAND)}", flush=True)


def signed_rank_interval(logs):
    """The median of all means of two, and the interval that Wilcoxon's signed ranks give it; as ratios."""
    n, means = len(logs), sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    half = 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    out = max(0, math.floor(n * (n + 1) / 4 - half))
    return math.exp(statistics.median(means)), math.exp(means[out]), math.exp(means[-1 - out])


def of_trial(stamp, n, kept, samples):
    """What an operation took in a trial, in ticks."""
    raw = zlib.decompress(samples)
    ticks = array.array("I" if len(raw) == 4 * kept else "Q", raw)
    if stamp == "two-lengths":
        return median([longer - shorter for shorter, longer in zip(ticks[0::2], ticks[1::2])]) / n
    return median(ticks) / (n or 1)


main()
