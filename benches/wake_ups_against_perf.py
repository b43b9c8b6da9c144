#!/usr/bin/env python3
"""The wake-ups of the caller in a traced phase beside `perf sched timehist`, which records them in the
same run: from sched_waking to the switch to it, mean of each trial, and every one in turn. `ok` where
the interval of the ratio over trials lies within 0.95-1.05 and contains 1, and `within` where it does
not contain it: each recorder's handler runs after the other's. The caller, because kernels of guests
may write no switch from idling on any CPU but the first. Root, tracefs and perf are needed.

    benches/wake_ups_against_perf.py [--trials 12] [--operations 1000] [--place same-llc]
"""
import argparse, collections, json, pathlib, re, tempfile
from pairs import HOPCOST, cpus, median, rank_interval, run, verdict

# perf wants tracefs at its place, and nothing about the machine shall change.
IN_OWN_MOUNTS = "mount -t tracefs tracefs /sys/kernel/tracing && exec \"$@\""
# `time [cpu] name[tid/pid] wait delay run`, of each switch away from a thread.
LINE = re.compile(r"^\s*(\d+)\.(\d{6})\s+\[\d+\]\s+(.+?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$")


def with_perf(*command):
    return run("unshare", "-m", "sh", "-c", IN_OWN_MOUNTS, "sh", *command)


def ours(text):
    """Of each run of the caller: when it ended and how long it had waited for it, in ns."""
    found, woken, waited = [], None, 0
    for event in json.loads(text)["trace"]["events"]:
        kind = event["kind"]
        if not isinstance(kind, dict):
            continue
        if kind.get("waking") == "caller" and woken is None:
            woken = event["at_ns"]
        if switch := kind.get("switch"):
            if switch["to"] == "caller":
                waited, woken = event["at_ns"] - woken if woken is not None else 0, None
            if switch["from"] == "caller":
                found.append((event["at_ns"], waited))
    return found


def theirs(text):
    """The same of every thread, by its name."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        if match := LINE.match(line):
            seconds, micros, name, _, delay_ms, _ = match.groups()
            found[name].append((int(seconds) * 10**9 + int(micros) * 1000, float(delay_ms) * 1e6))
    return found


def aligned(own, others):
    """The stretch of a thread of `others` that has the rhythm of `own`: perf's clock is another."""
    best = None
    probes = range(0, len(own), max(1, len(own) // 50))
    for all_of_it in others.values():
        for at in range(len(all_of_it) - len(own) + 1):
            offsets = [all_of_it[at + i][0] - own[i][0] for i in probes]
            spread = max(offsets) - min(offsets)
            if best is None or spread < best[0]:
                best = spread, all_of_it[at:at + len(own)]
    if best is None or best[0] > 20_000:
        raise SystemExit(f"perf has no thread with the caller's switches: off by {best and best[0]} ns")
    return best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--place", help="as in a case's id; the ends' two CPUs as they are related, or same-cpu")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    _, second, relation = cpus(options.hopcost)
    place = options.place or (relation if second is not None else "same-cpu")
    case = f"roundtrip/pipe?payload=64&boundary=process&place={place}&wait=block"
    ratios, apart, n = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "perf.data"
        for _ in range(options.trials):
            text = with_perf("perf", "sched", "record", "-q", "-o", data, "--", options.hopcost, "trial", case,
                             "--count", 100, "--trace", options.operations)
            own = ours(text[text.index("{"):])
            other = aligned(own, theirs(with_perf("perf", "sched", "timehist", "-i", data)))
            # perf prints whole microseconds, cut off.
            pairs = [(ns // 1000 * 1000, perf_ns) for (_, ns), (_, perf_ns) in zip(own, other) if ns > 0 and perf_ns > 0]
            if not pairs:
                raise SystemExit("no wake-up of the caller has both its events")
            ratios.append(sum(ns for ns, _ in pairs) / sum(ns for _, ns in pairs))
            apart += [abs(ns - perf_ns) for ns, perf_ns in pairs]
            n += len(pairs)
            typical = median([ns for _, ns in pairs])
    low, high, level = rank_interval(ratios)
    print(f"{n} wake-ups of {len(ratios)} trials at place={place}, {typical / 1e3:.0f} us by perf; one by one the two are "
          f"{median(apart) / 1e3:.0f} us apart")
    print(f"hopcost / perf {median(ratios):.4f} [{low:.4f}, {high:.4f}], level {level:.4f}: "
          f"{verdict(low, high, 0.95, 1.05)}")


if __name__ == "__main__":
    main()
