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


def trial_value(stamp, ticks, ns_per_tick):
    """One trial's own statistic: its p50, or its cost of one operation."""
    times = [tick * ns_per_tick for tick in ticks]
    if stamp["kind"] == "each":
        return "p50_ns", sorted(times)[(len(times) - 1) // 2]
    if stamp["kind"] == "batch":
        return "cost_ns", sorted(time / stamp["n"] for time in times)[(len(times) - 1) // 2]
    pairs = zip(times[0::2], times[1::2], strict=True)
    return "cost_ns", middle([(longer - shorter) / stamp["n"] for shorter, longer in pairs])


def ns_per_tick(case, trial, clocks):
    """Of the caller's clock on the CPU where it ended, or else of the first of its runtime."""
    if "clock=virtual" in case["case_id"]:
        return 1.0
    cpus = [end["cpu_after"] for end in trial["ends"] if end["role"] == "caller"]
    own = [clock for clock in clocks if clock["runtime"] == case["runtime_caller"]]
    there = [clock for clock in own if clock["cpu"] in cpus[:1]]
    return 1e9 / (there or own)[0]["ticks_per_second"]


def recompute(path):
    """The median over trials of every measured case: {case: (statistic, value, trials)}."""
    file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert file.execute("PRAGMA application_id").fetchone() == (0x686F7063,), "not a run file"
    assert file.execute("PRAGMA user_version").fetchone() == (10,), "another format"
    (run,) = [json.loads(text) for text, in file.execute("SELECT document FROM run")]
    cases = {at: json.loads(text) for at, text in file.execute("SELECT case_index, document FROM planned_case")}
    values = {}
    for text, kept, blob in file.execute("SELECT document, samples_kept, samples FROM trial ORDER BY trial"):
        trial = json.loads(text)
        if trial.get("error"):
            continue
        case = cases[trial["case"]]
        raw = zlib.decompress(blob)
        ticks = array.array("I" if len(raw) == 4 * kept else "Q", raw)
        if sys.byteorder == "big":
            ticks.byteswap()
        assert len(ticks) == kept, f"{case['case_id']}: {len(ticks)} samples, not {kept}"
        statistic, value = trial_value(trial["stamp"], ticks, ns_per_tick(case, trial, run["clocks"]))
        values.setdefault((case["case_id"], statistic), []).append(value)
    return {case: (statistic, middle(found), found) for (case, statistic), found in values.items()}


def main():
    run, report = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        estimates = {(row["case"], row["statistic"]): row for row in json.load(file)["estimates"]}
    wrong = 0
    for case, (statistic, value, found) in recompute(run).items():
        estimate = estimates[case, statistic]
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
