#!/usr/bin/env python3
"""The same run of hopcost again and again: does its number hold on the next one?

For every case and for the value met, the quiet value and the multiple of the ranking's base: the
standard deviation over the runs, and of all pairs of runs, how many have disjoint 95 % intervals.
A run without a quiet value counts with the value met. Last, what round trips on one CPU have in
common from run to run: met it is the host, quiet it is what their yardstick did and they did not.

    benches/identical_runs.py HOPCOST [--runs 14] [--beside COMMAND] [--quota PERCENT] [-- ARGUMENTS OF hopcost run]

Without arguments it runs pipe, futex, udp, tcp, channel-std, syscall and mutex-uncontended on
one CPU and pipe and udp across two, nine rounds each. --beside runs a shell command meanwhile
(a hog: --beside 'taskset -c 1 sh -c "while :; do :; done"'). --quota runs hopcost in a control group of its own that may
use so many per cent of one CPU (needs root; the group is removed again): such runs are to be marked THROTTLED. The machine's stored
quiet speeds are used, and taught by the runs where there are none (XDG_DATA_HOME).
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
    """By case its values (met, quiet, ratio: point, low, high), and what the run says of itself."""
    command = [hopcost, "run", *arguments, "--format", "json"]
    if processes:
        # The shell enters the group and becomes hopcost, whose workers are then in it too.
        command = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', processes, *command]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    results = json.loads(out.stdout)

    def ends(row, point, low, high):
        value = row[point]
        return value and (value, row[low] or value, row[high] or value)

    found = {}
    for row in results["estimates"]:
        if row["statistic"] in ("cost_ns", "p50_ns") and row["low"] is not None:
            met = ends(row, "point", "low", "high")
            found[row["case"]] = {"met": met, "quiet": ends(row, "quiet", "quiet_low", "quiet_high") or met}
    for row in results["rankings"]:
        if row["case"] in found and row["ratio"] and row["ratio_baseline"] != row["case"]:
            found[row["case"]]["ratio"] = ends(row, "ratio", "ratio_low", "ratio_high")
    speeds = ", ".join(f"{y['class']} {y['speed']}" + (f" ×{y['slower']:.2f}" if y["slower"] else "") for y in results["speed_probes"])
    return found, f"{results['runs'][0]['disturbed'] or 'undisturbed'}; {speeds}"


def row(values):
    """The standard deviation of points, and the pairs whose intervals are disjoint."""
    if len(values) < 2:
        return f"{'–':>7} {'–':>9}"
    pairs = list(itertools.combinations(values, 2))
    disjoint = sum(a[2] < b[1] or b[2] < a[1] for a, b in pairs)
    return f"{statistics.stdev(math.log(point) for point, *_ in values):7.2%} {f'{disjoint} of {len(pairs)}':>9}"


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
                print(f"run {number + 1}: {runs[-1][1]}", flush=True)
    finally:
        if beside:
            os.killpg(beside.pid, signal.SIGTERM)
    kinds = ["met", "quiet", "ratio"]
    print(f"\n{'case':44}" + "".join(f"{kind:>18}" for kind in kinds))
    print(f"{'':44}" + f"{'SD':>8} {'disjoint':>9}" * len(kinds))
    for case in runs[0][0]:
        of = lambda kind: [found[case][kind] for found, _ in runs if found.get(case, {}).get(kind)]
        name = case.replace("roundtrip/", "").replace("boundary=process&", "").replace("&wait=block", "")
        print(f"{name[:44]:44} " + " ".join(row(of(kind)) for kind in kinds))
    on_one_cpu = [case for case in runs[0][0] if case.startswith("roundtrip/") and "place=same-cpu" in case
                  and all(case in found for found, _ in runs)]
    if len(on_one_cpu) > 1 and len(runs) > 2:
        common = lambda kind: in_common([[math.log(found[case][kind][0]) for found, _ in runs] for case in on_one_cpu])
        print(f"round trips on one CPU have in common from run to run (SD) {common('met'):.2%} met, {common('quiet'):.2%} quiet")


if __name__ == "__main__":
    main()
