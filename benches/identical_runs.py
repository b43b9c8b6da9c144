#!/usr/bin/env python3
"""The same run of hopcost again and again: does its number hold on the next one?

For every case: the greatest estimate over the least and its standard deviation over the runs,
as met and divided by the yardstick; of all pairs of runs, how often the 95 % intervals are
disjoint, and how often one run's estimate lies in the other's interval; the median width of
the interval. Last, what round trips on one CPU have in common from run to run: as met it is the host, divided it is
what their yardstick did and they did not: its workers live for the run, and are one draw of where processes lie in memory.

    benches/identical_runs.py HOPCOST [--runs 14] [--beside COMMAND] [--quota PERCENT] [-- ARGUMENTS OF hopcost run]

Without arguments it runs pipe, futex, udp, tcp, channel-std, syscall and mutex-uncontended on
one CPU and pipe and udp across two, nine rounds each. --beside runs a shell command meanwhile
(a hog: --beside 'taskset -c 1 sh -c "while :; do :; done"'). --quota runs hopcost in a control group of its own that may
use so many per cent of one CPU (needs root; the group is removed again): such runs are to be marked THROTTLED. The machine's stored reference
levels are used, and learnt by the first run where there are none.
"""
import argparse, contextlib, itertools, json, math, os, pathlib, signal, statistics, subprocess, sys

ONE = ["pipe", "futex", "udp", "tcp", "channel-std", "syscall", "mutex-uncontended"]
CASES = [f"{name}?place=same-cpu" if name not in ("syscall", "mutex-uncontended") else name for name in ONE]
CASES += ["pipe?place=cross", "udp?place=cross"]


PERIOD_US = 100_000


@contextlib.contextmanager
def control_group(quota):
    """The file that takes the processes of a group with this quota, in per cent of one CPU; none for no quota."""
    if quota is None:
        yield None
        return
    root = pathlib.Path("/sys/fs/cgroup")
    version_1 = (root / "cpu").is_dir()
    group = (root / "cpu" if version_1 else root) / f"hopcost-bench-{os.getpid()}"
    group.mkdir()
    try:
        allowed_us = PERIOD_US * quota // 100
        if version_1:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(allowed_us))
        else:
            (group / "cpu.max").write_text(f"{allowed_us} {PERIOD_US}")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def read(hopcost, arguments, processes):
    command = [hopcost, "run", *arguments, "--format", "json"]
    if processes:
        # The shell enters the group and becomes hopcost, whose workers are then in it too.
        command = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', processes, *command]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    results = json.loads(out.stdout)
    found = {}
    for case in results["results"]:
        estimates = case["estimates"] or {}
        estimate = estimates.get("cost_ns") or estimates.get("p50_ns")
        if estimate and estimate["low"] is not None:
            found[case["id"]] = estimate
    marks = [case["id"] for case in results["results"] if case["validity"] not in ("valid", None)]
    applied = {(a["class"], a["runtime"]): a["applied"] for a in results["adjustments"]}
    run_wide = sorted({f["code"] for f in results["findings"] if f["case"] is None and f["severity"] != "note"})
    return found, marks, applied, run_wide


def spread(values):
    logs = [math.log(value) for value in values]
    return max(values) / min(values), statistics.stdev(logs)


def in_common(series):
    """The standard deviation of what several cases have in common, from one list of logarithms for each."""
    covariances = [statistics.covariance(a, b) for a, b in itertools.combinations(series, 2)]
    return math.sqrt(max(0.0, statistics.fmean(covariances)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost")
    parser.add_argument("--runs", type=int, default=14)
    parser.add_argument("--beside")
    parser.add_argument("--quota", type=int)
    # argparse takes nothing after `--` for a list that it has begun before other options.
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, given = sys.argv[1:at], sys.argv[at + 1:]
    options = parser.parse_args(own)
    arguments = given or [*CASES, "--rounds", "9"]
    beside = options.beside and subprocess.Popen(options.beside, shell=True, start_new_session=True)
    runs = []
    try:
        with control_group(options.quota) as processes:
            for number in range(options.runs):
                runs.append(read(options.hopcost, arguments, processes))
                _, marks, applied, run_wide = runs[-1]
                what = ", ".join(f"{c} {how}" for (c, _), how in applied.items())
                print(f"run {number + 1}: {len(marks)} cases marked; the run: {' '.join(run_wide) or '-'}; {what}", flush=True)
    finally:
        if beside:
            os.killpg(beside.pid, signal.SIGTERM)
    print(f"\n{'case':44} {'as met':>16} {'divided':>16}  disjoint  next in  width")
    print(f"{'':44} {'max/min':>8} {'SD':>7} {'max/min':>8} {'SD':>7}")
    for case in runs[0][0]:
        found = [run[0][case] for run in runs if case in run[0]]
        if len(found) < 2:
            continue
        divided = spread([e["point"] for e in found])
        met = spread([e["as_met"] or e["point"] for e in found])
        pairs = list(itertools.combinations(found, 2))
        disjoint = sum(a["high"] < b["low"] or b["high"] < a["low"] for a, b in pairs) / len(pairs)
        both = [(a, b) for pair in pairs for a, b in (pair, pair[::-1])]
        held = sum(a["low"] <= b["point"] <= a["high"] for a, b in both) / len(both)
        width = statistics.median((e["high"] - e["low"]) / e["point"] for e in found)
        name = case.replace("roundtrip/", "").replace("boundary=process&", "").replace("&wait=block", "")
        print(f"{name[:44]:44} {met[0]:8.3f} {met[1]:7.2%} {divided[0]:8.3f} {divided[1]:7.2%}"
              f"  {disjoint:8.1%} {held:8.1%} {width:6.1%}")
    on_one_cpu = [case for case in runs[0][0] if case.startswith("roundtrip/") and "place=same-cpu" in case
                  and all(case in run[0] for run in runs)]
    if len(on_one_cpu) > 1 and len(runs) > 2:
        divided = [[math.log(run[0][case]["point"]) for run in runs] for case in on_one_cpu]
        met = [[math.log(run[0][case]["as_met"] or run[0][case]["point"]) for run in runs] for case in on_one_cpu]
        print(f"round trips on one CPU have in common from run to run (SD) {in_common(met):.2%} as met, {in_common(divided):.2%} divided")


if __name__ == "__main__":
    main()
