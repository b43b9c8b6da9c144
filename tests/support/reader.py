"""Reads a run file with nothing but Python's standard library and FORMAT.md, and
compares what it computes with a JSON report: reader.py RUN.hopcost REPORT.json

Prints one line a case that agrees; fails with a line for each that does not.
"""

import array
import json
import sqlite3
import sys
import zlib


def middle(values):
    """The median of a handful of trials: of two middle values, their middle."""
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low + (high - low) / 2.0


def trial_value(stamp, n, ticks, ns_per_tick):
    """One trial's own statistic: its p50, or its cost of one operation."""
    times = [tick * ns_per_tick for tick in ticks]
    if stamp == "each":
        return "p50_ns", sorted(times)[(len(times) - 1) // 2]
    if stamp == "batch":
        return "cost_ns", sorted(time / n for time in times)[(len(times) - 1) // 2]
    pairs = zip(times[0::2], times[1::2], strict=True)
    return "cost_ns", middle([(longer - shorter) / n for shorter, longer in pairs])


def recompute(path):
    """The median over trials of every measured case: {case: (statistic, value, trials)}."""
    run = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert run.execute("PRAGMA application_id").fetchone() == (0x686F7063,), "not a run file"
    assert run.execute("PRAGMA user_version").fetchone() == (9,), "another format"
    values = {}
    for case, stamp, n, kept, ns_per_tick, blob in run.execute("""
            SELECT v.case_id, t.stamp, t.stamp_n, t.samples_kept, v.ns_per_tick, t.samples
            FROM trials v JOIN trial t USING (trial) WHERE t.error IS NULL ORDER BY trial"""):
        ticks = array.array("I", zlib.decompress(blob))
        if sys.byteorder == "big":
            ticks.byteswap()
        assert len(ticks) == kept, f"{case}: {len(ticks)} samples, not {kept}"
        statistic, value = trial_value(stamp, n, ticks, ns_per_tick)
        values.setdefault((case, statistic), []).append(value)
    return {case: (statistic, middle(found), found) for (case, statistic), found in values.items()}


def main():
    run, report = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        results = {result["id"]: result for result in json.load(file)["results"]}
    wrong = 0
    for case, (statistic, value, found) in recompute(run).items():
        estimate = results[case]["estimates"][statistic]
        # Its interval allows for trials that hang together, which takes more than a sort.
        ours = [value, len(found)]
        theirs = [estimate["point"], estimate["n_trials"]]
        assert estimate["low"] <= value <= estimate["high"], f"{case}: {value} is outside of its interval"
        if list(map(repr, ours)) == list(map(repr, theirs)):
            print(case, statistic, *ours)
        else:
            print(f"{case}: {statistic} is {theirs} in the report, {ours} here", file=sys.stderr)
            wrong += 1
    sys.exit(1 if wrong else 0)


main()
