#!/usr/bin/env python3
"""The system calls of a traced phase beside `perf trace`, which records them in the same run: how long each call
of an end took, from its begin in the kernel to its end, one by one. A call that sends is the segments “send in the
kernel”, “wake-up” and what softirqs take of it; one that receives is “switch” with the other end's way, and
“receive in the kernel”. `ok` where the interval over trials of the ratio of all calls of a kind together lies
within 0.95-1.05 and contains 1, and `within` where it does not contain it: each recorder's handler runs after the
other's. perf prints whole microseconds, to which hopcost's are rounded for the ratio. Root, tracefs and perf are needed.

    benches/segments_against_perf_trace.py [--trials 12] [--operations 1000] [--place same-cpu]
"""
import argparse, collections, json, pathlib, re, tempfile
from pairs import HOPCOST, cpus, median, rank_interval, run, ticks_per_second, verdict
from wake_ups_against_perf import aligned, with_perf

# `time ( duration ms): name/tid call(…) = result`; what was interrupted by another line is continued on a later one.
LINE = re.compile(r"^\s*([\d.]+) \(\s*([\d.]+) ms\): (.+)/(\d+)\s+(?:\.\.\. \[continued\]: )?(\w+)\(")
# Of x86-64 and AArch64.
NUMBERS = {"x86_64": {0: "read", 1: "write"}, "aarch64": {63: "read", 64: "write"}}


def ours(text, names):
    """Of each end its calls in the order in which they begin: when each began, and its length, in ns; and their
    names. Only calls of which both events are there."""
    found, begun = collections.defaultdict(list), {}
    for event in json.loads(text)["trace"]["events"]:
        kind, end = event["kind"], event["thread"]
        if end not in ("caller", "callee") or not isinstance(kind, dict):
            continue
        if "syscall-enter" in kind:
            begun[end] = event["at_ns"]
        elif "syscall-exit" in kind and end in begun:
            at = begun.pop(end)
            found[end].append((at, event["at_ns"] - at, names.get(kind["syscall-exit"], "another")))
    return found


def theirs(path):
    """The same of every thread."""
    found = collections.defaultdict(list)
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        if match := LINE.match(line):
            at_ms, took_ms, _, tid, name = match.groups()
            found[tid].append((round(float(at_ms) * 1e6), round(float(took_ms) * 1e6), name))
    return {tid: sorted(calls) for tid, calls in found.items()}


def paired(ends, others):
    """By end and name, how long each call took by both."""
    pairs = collections.defaultdict(list)
    for end, own in ends.items():
        for (_, ns, name), (_, perf_ns, perf_name) in zip(own, aligned(own, others)):
            if name == "another":
                continue
            if name != perf_name:
                raise SystemExit(f"perf has not every call of the {end}: {name} is {perf_name}")
            pairs[end, name].append((ns, perf_ns))
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--place", help="as in a case's id; same-cpu, and the ends' two CPUs as they are related")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    _, second, relation = cpus(options.hopcost)
    places = [options.place] if options.place else ["same-cpu"] + ([relation] if second is not None else [])
    names = NUMBERS[run("uname", "-m").strip()]
    print(f"{options.trials} trials of {options.operations} round trips; p50 of the last trial")
    for place in places:
        for mechanism in ["pipe", "tcp"]:
            case = f"roundtrip/{mechanism}?payload=64&boundary=process&place={place}&wait=block"
            rows = collections.defaultdict(lambda: {"ratios": [], "n": 0})
            with tempfile.TemporaryDirectory() as folder:
                data, text = pathlib.Path(folder) / "perf.data", pathlib.Path(folder) / "calls"
                for _ in range(options.trials):
                    told = with_perf("perf", "trace", "record", "-m", "16M", "-o", data, "--", options.hopcost, "trial",
                                     case, "--count", 100, "--trace", options.operations)
                    with_perf("perf", "trace", "-i", data, "-o", text)
                    others = theirs(text)
                    try:
                        pairs = paired(ours(told[told.index("{"):], names), others)
                    except SystemExit as why:
                        print(f"{place:9} {mechanism:5} a trial is left out: {why}", flush=True)
                        continue
                    for key, both in pairs.items():
                        row = rows[key]
                        row["n"] += len(both)
                        # Whole microseconds as perf has them: it rounds each.
                        row["ratios"].append(sum(round(ns / 1000) * 1000 for ns, _ in both)
                                             / max(1, sum(ns for _, ns in both)))
                        row["p50"] = [median([one[of] for one in both]) / 1e3 for of in (0, 1)]
            for (end, name), row in sorted(rows.items()):
                low, high, level = rank_interval(row["ratios"])
                print(f"{place:9} {mechanism:5} {end} {name:6} {row['n']:6} calls  p50 {row['p50'][0]:6.2f} us, by perf "
                      f"{row['p50'][1]:6.2f} us  hopcost / perf {median(row['ratios']):.4f} [{low:.4f}, {high:.4f}]  "
                      f"{verdict(low, high, 0.95, 1.05)}", flush=True)
    print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
