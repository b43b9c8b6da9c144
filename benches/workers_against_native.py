#!/usr/bin/env python3
"""Each worker beside a program of ten to thirty lines in the same language, without
hopcost and without a protocol, for one mechanism: the p50 of the round trip, both ends
on one CPU, for Java and Node on two as well (`--places cross`), adjacent pairs. The programs send as many different messages as the workers
do and compare every byte at both ends, as they do. `ok` where the interval of the ratio lies
within 0.95-1.05 and contains 1; `inconclusive` where it is too wide to say. The last
columns are the same for the language's own program against itself: how well this
machine can tell.

    benches/workers_against_native.py [--pairs 24] [--runtime cpp,go,java,node,python,c+zeromq,c+nng,rust+http] [--payload 64,4096,32768]
        [--places same-cpu]
"""
import argparse, itertools, json, os, sys, tempfile
from pairs import HOPCOST, ROOT, adjacent_ratios, cpus, estimate, median, rank_interval, run, verdict

WORKERS = ROOT / "workers"
# Mechanism with its parameters, the program by hand (round trips and payload last), round trips, rounds of warm-up: the
# programs for runtimes that compile while they run do ten rounds and tell the last.
PROGRAMS = {
    "cpp": ("pipe", lambda cpu: [WORKERS / "cpp/.build/pingpong", cpu], 10_000, 0),
    "go": ("pipe", lambda cpu: [WORKERS / "go/bin/pingpong", cpu], 10_000, 0),
    "java": ("unix-stream", lambda cpu: ["taskset", "-c", cpu, "java", "-XX:+UseSerialGC", "-cp",
                                         WORKERS / "java/target/native", "PingPong"], 10_000, 9),
    "node": ("unix-stream", lambda cpu: ["taskset", "-c", cpu, "node",
                                         WORKERS / "node/native/pingpong.mjs"], 5_000, 9),
    "c+zeromq": ("zeromq&pattern=pair&transport=ipc",
                 lambda cpu: [WORKERS / "middleware/zeromq/.build/pingpong", cpu], 10_000, 0),
    "c+nng": ("nng&pattern=pair&transport=ipc",
              lambda cpu: [WORKERS / "middleware/nng/.build/pingpong", cpu], 5_000, 0),
    "rust+http": ("http&transport=unix",
                  lambda cpu: ["taskset", "-c", cpu, WORKERS / "middleware/http/.build/pingpong"], 10_000, 0),
    "python": ("pipe", lambda cpu: [WORKERS / "python/.venv/bin/python",
                                    WORKERS / "python/native/pingpong.py", cpu], 10_000, 0),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--runtime", default=",".join(PROGRAMS))
    parser.add_argument("--payload", default="64,4096,32768")
    parser.add_argument("--places", default="same-cpu")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    first, second, relation = cpus(options.hopcost)
    print(f"{options.pairs} adjacent pairs, CPUs {first} and {second} ({relation})")
    print(f"{'place':8} {'runtime':8} {'mechanism':12} {'bytes':>5} {'by hand':>9}  worker / by hand           by hand / itself")
    for place, runtime, payload in itertools.product(
            options.places.split(","), options.runtime.split(","), options.payload.split(",")):
        if runtime not in PROGRAMS:
            sys.exit(f"there is no program for {runtime}; there are {', '.join(PROGRAMS)}")
        mechanism, program, count, rounds = PROGRAMS[runtime]
        mechanism, _, parameters = mechanism.partition("&")
        parameters = parameters and f"&{parameters}"
        if place == "cross" and (second is None or not rounds):
            sys.exit(f"no second CPU for {runtime}: there is one, or its program puts both ends on the first")
        case = (f"roundtrip/{mechanism}?payload={payload}&boundary=process"
                f"&place={relation if place == 'cross' else place}&wait=block{parameters}&runtime={runtime}")
        # Read by the programs that start their other end themselves.
        os.environ.pop("CALLEE_CPU", None)
        if place == "cross":
            os.environ["CALLEE_CPU"] = str(second)
        shown = []

        def ours():
            if rounds:
                # Warmed up in many phases, as a run does, until nothing changes any more.
                with tempfile.TemporaryDirectory() as home:
                    document = json.loads(run(
                        "sh", "-c", '"$@" || [ $? -eq 3 ]', "run", options.hopcost, "run", case,
                        "--rounds", 1, "--measure", "60ms", "--format", "json",
                        "--out", f"{home}/run.hopcost"))
                return estimate(document, "p50_ns")["point"]
            trial = json.loads(run(options.hopcost, "trial", case, "--count", count,
                                   "--deadline-ms", "60000"))
            return median(trial["samples"])

        def theirs():
            shown.append(float(run(*program(first), count, payload)))
            return shown[-1]

        ratios, yardstick = adjacent_ratios(options.pairs, ours, theirs)
        low, high, _ = rank_interval(ratios)
        own_low, own_high, _ = rank_interval(yardstick)
        print(f"{place:8} {runtime:8} {mechanism:12} {payload:>5} {median(shown) / 1000:6.2f} us  {median(ratios):.3f} "
              f"[{low:.3f}, {high:.3f}] {verdict(low, high, 0.95, 1.05):13} "
              f"{median(yardstick):.3f} [{own_low:.3f}, {own_high:.3f}]", flush=True)


if __name__ == "__main__":
    main()
