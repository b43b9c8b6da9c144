#!/usr/bin/env python3
"""Where the quiet speed of a machine was learnt, and what that makes of the values: beside plain C.

Four homes (XDG_DATA_HOME in a folder of their own), whose runs learn the quiet speeds

    quiet      on the machine as it is: leave it alone
    loops      beside a busy loop on each CPU
    quota      in a control group with half a CPU (cgroup v2 or v1, as root; skipped elsewhere)
    pair       on another pair of CPUs, and then claimed for the pair that is measured (with two CPUs: the same two the other way round)

and then, on the quiet machine, ROUNDS times a case: C, hopcost, C, with the C program as its neighbour in time.

    benches/reference_table.py HOPCOST [--learn 3] [--rounds 6] [--homes quiet,loops,quota,pair]

A row a home and case: the ratio of the value met to C's (median), the spread of C over C, the ratio of the quiet value to C's, or
`–` where none was shown, and the least quiet value over the value met. On one CPU met has to be within 3 % of C, across CPUs within
C's own spread; quiet within 5 % or not shown; and no factor below 0.95, because the machine is quiet. About 6 minutes.
"""
import argparse, json, os, pathlib, shutil, subprocess, sys, tempfile, time
from against_c import MECHANISMS
from identical_runs import control_group
from pairs import compile_c, cpus as two_cpus, estimate, median, run, ticks_per_second

LEARN = ["pipe?place=same-cpu,cross", "flag?place=cross", "--rounds", "14"]
CASES = [("pipe", "same-cpu"), ("udp", "same-cpu"), ("pipe", "cross"), ("eventfd", "cross")]
# Idle time before a C program, and how many of them are one value.
SPACING_S = 0.2
C_RUNS = 4
LOOP = "while :; do :; done"


def hopcost(options, home, *arguments, processes=None):
    command = [options.hopcost, "run", *arguments, "--format", "json"]
    if processes:
        command = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(processes), *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, XDG_DATA_HOME=home))
    return json.loads(done.stdout)


def learn(options, name, home, pair):
    """Learns in a way; says in a word why that is not possible here."""
    runs = lambda *more, **how: [hopcost(options, home, *LEARN, *more, **how) for _ in range(options.learn)]
    if name == "quiet":
        runs()
    elif name == "loops":
        loops = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", LOOP]) for cpu in pair]
        try:
            runs()
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    elif name == "quota":
        try:
            with control_group(50) as processes:
                runs(processes=processes)
        except OSError as error:
            return f"no control group here: {error}"
    elif name == "pair":
        others = sorted(os.sched_getaffinity(0) - set(pair))
        other = [pair[0], others[-1]] if others else pair[::-1]
        runs("--cpus", ",".join(map(str, other)))
        for path in pathlib.Path(home, "hopcost/machine").glob("*.json"):
            stored = json.loads(path.read_text())
            for floor in stored["floors"]:
                floor["cpus"] = list(pair)[:len(floor["cpus"])]
            path.write_text(json.dumps(stored))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost", type=os.path.abspath)
    parser.add_argument("--learn", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--homes", default="quiet,loops,quota,pair")
    options = parser.parse_args()
    work = tempfile.TemporaryDirectory(prefix="hopcost-bench-")
    c_program = compile_c("pingpong.c", work.name, "-lpthread")
    first, second, _ = two_cpus(options.hopcost)
    if second is None:
        sys.exit("reference_table.py: needs two CPUs")
    rate = float(ticks_per_second())

    def c_once_ns(name, place):
        # As hopcost spaces its rounds: wake-ups of a CPU that idled take up to twice as long here.
        time.sleep(SPACING_S)
        row, callee = MECHANISMS[name], first if place == "same-cpu" else second
        # Across CPUs hopcost warms up as long as it measures, until halt polling has settled; so does this.
        warm, count = (400, 4000) if place == "same-cpu" else (1000, 1000)
        ticks = run(c_program, row.c, row.c_boundary(), first, callee, warm, count, *row.c_message())
        return float(ticks) / rate * 1e9

    def c_ns(name, place):
        return median([c_once_ns(name, place) for _ in range(C_RUNS)])

    print(f"{'learnt':8} {'case':18} {'C ns':>8}  {'met / C':>8} {'C / C':>12}  {'quiet / C':>9} {'factor':>7}  speed")
    for name in options.homes.split(","):
        home = os.path.join(work.name, name)
        missing = learn(options, name, home, [first, second])
        if missing:
            print(f"{name:8} skipped: {missing}")
            continue
        for mechanism, place in CASES:
            met, quiet, own, factors, speeds, plain = [], [], [], [], set(), []
            for _ in range(options.rounds):
                before = c_ns(mechanism, place)
                results = hopcost(options, home, f"{mechanism}?place={place}", "--rounds", "9")
                after = c_ns(mechanism, place)
                p50 = estimate(results, "p50_ns")
                beside = (before + after) / 2
                plain.append(beside)
                met.append(p50["point"] / beside)
                own += [before / after, after / before]
                speeds.update(y["speed"] for y in results["speed_probes"])
                if p50["quiet"]:
                    quiet.append(p50["quiet"] / beside)
                    factors.append(p50["quiet"] / p50["point"])
            shown = f"{median(quiet):9.3f} {min(factors):7.3f}" if quiet else f"{'–':>9} {'–':>7}"
            print(f"{name:8} {mechanism + ' ' + place:18} {median(plain):8.0f}  {median(met):8.3f} {min(own):5.2f} to {max(own):4.2f}  {shown}  "
                  f"{' '.join(sorted(speeds))}", flush=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
