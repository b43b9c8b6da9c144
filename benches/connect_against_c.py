#!/usr/bin/env python3
"""Round trips over new, many and pipelined connections beside a plain C program (connect.c), in adjacent pairs.

    benches/connect_against_c.py [--pairs 12] [--hopcost PATH] [--rows tcp-connect,...]

Medians of 64 bytes each way, both ends on one CPU; ratios with sign intervals, and the C program against itself.
"""
import argparse, json, tempfile
from pairs import HOPCOST, adjacent_ratios, compile_c, cpus, median, rank_interval, run, verdict

CASE = "roundtrip/{}?payload=64&boundary=process&place=same-cpu&wait={}"
CONNECT = CASE.format("tcp-connect", "block") + "&close={}&fast-open=off"
ROWS = {
    "tcp-connect": (("tcp", "each", "normal"), CONNECT.format("normal")),
    "tcp-connect-reset": (("tcp", "each", "reset"), CONNECT.format("reset")),
    "unix-connect": (("unix", "each", "normal"), CASE.format("unix-connect", "block")),
}
for name, c in {"tcp": "tcp", "unix-stream": "unix"}.items():
    nodelay = "&nodelay=on" if name == "tcp" else ""
    for window, connections in [(4, 1), (16, 1), (1, 64), (1, 1024), (64, 64)]:
        wait = "block" if connections == 1 else "block:epoll"
        more = "".join(f"&{key}={n}" for key, n in (("window", window), ("connections", connections)) if n > 1)
        ROWS[f"{name}-{window}-{connections}"] = ((c, window, connections), CASE.format(name, wait) + nodelay + more)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--hopcost", default=str(HOPCOST))
    parser.add_argument("--rows", default=",".join(ROWS))
    options = parser.parse_args()
    work = tempfile.TemporaryDirectory(prefix="hopcost-bench-")
    program = compile_c("connect.c", work.name)
    cpu, _, _ = cpus(options.hopcost)
    print(f"{options.pairs} pairs a row; ratio = hopcost / C, [sign interval]; CPU {cpu}")
    for name in options.rows.split(","):
        c, case = ROWS[name]
        # Sockets are cold at first.
        warm, count = 400 if "each" in c else max(400, 12 * c[2]), 4000

        def ours():
            return median(json.loads(run(options.hopcost, "trial", case, "--count", count, "--warm-up", warm))["samples"])

        def theirs():
            return float(run("sh", "-c", 'ulimit -n 9000; exec "$@"', "-", program, *c, cpu, cpu, warm, count).split()[0])
        ratios, yardstick = adjacent_ratios(options.pairs, ours, theirs)
        low, high, level = rank_interval(ratios)
        c_low, c_high, _ = rank_interval(yardstick)
        print(f"{name:20} {median(ratios):.3f} [{low:.3f}, {high:.3f}]   C / C {median(yardstick):.3f} "
              f"[{c_low:.3f}, {c_high:.3f}]   {verdict(low, high, 0.97, 1.03)}", flush=True)
    print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
