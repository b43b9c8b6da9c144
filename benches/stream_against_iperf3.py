#!/usr/bin/env python3
"""hopcost's TCP stream beside `iperf3` on loopback: one flow, 64 KiB writes, sender
and receiver pinned to the same two CPUs, adjacent pairs. hopcost's sender writes
every byte anew and its receiver verifies every byte, iperf3 does neither.

    benches/stream_against_iperf3.py [--pairs 20] [--seconds 1] [--case ID]

Needs iperf3 (Debian's package of that name).
"""
import argparse, json, socket, subprocess
from pairs import HOPCOST, adjacent_ratios, cpus, median, rank_interval, run, ticks_per_second


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--mechanism", default="tcp-sendmsg")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    first, second, relation = cpus(options.hopcost)
    if second is None:
        raise SystemExit("stream_against_iperf3: needs two CPUs")
    rate = ticks_per_second()
    case = (f"stream/{options.mechanism}?payload=65536&fields=1&flows=1&ack=none&boundary=process"
            f"&place={relation}&wait=block&nodelay=off")

    def ours_of(count):
        trial = json.loads(run(options.hopcost, "trial", case, "--count", count))
        receiver = trial["ends"][1]
        return receiver["bytes"] * 8 / (receiver["elapsed_ticks"] / float(rate)) / 1e9

    def theirs():
        port = free_port()
        server = subprocess.Popen(["iperf3", "-s", "-1", "--forceflush", "-p", str(port), "-B", "127.0.0.1"],
                                  stdout=subprocess.PIPE, text=True)
        # It says that it listens before it does anything else.
        while "Server listening" not in server.stdout.readline():
            if server.poll() is not None:
                raise SystemExit("stream_against_iperf3: the iperf3 server ended")
        report = json.loads(run("iperf3", "-c", "127.0.0.1", "-p", port, "-l", "64K", "-J",
                                "-t", f"{options.seconds:g}", "-A", f"{first},{second}"))
        server.wait(10)
        return report["end"]["sum_received"]["bits_per_second"] / 1e9

    count = max(1000, int(ours_of(5000) * 1e9 / 8 / 65536 * options.seconds))
    divided = []
    ratios, yardstick = adjacent_ratios(options.pairs, lambda: ours_of(count), theirs, divided)
    low, high, level = rank_interval(ratios)
    c_low, c_high, _ = rank_interval(yardstick)
    # Throughput differs from pair to pair by more than the ratio does, so the numbers beside the
    # median ratio are those of the pair that has it, and not medians of their own.
    ours, beside = min(divided, key=lambda pair: abs(pair[0] / pair[1] - median(ratios)))
    print(f"{case}:")
    print(f"hopcost / iperf3 {median(ratios):.3f} [{low:.3f}, {high:.3f}], median of {options.pairs} pairs; nearest to it "
          f"the pair of {ours:.2f} and {beside:.2f} Gbit/s ({ours / beside:.3f})")
    print(f"iperf3 / iperf3 {median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}], level {level:.4f}")


if __name__ == "__main__":
    main()
