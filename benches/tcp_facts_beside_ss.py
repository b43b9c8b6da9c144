#!/usr/bin/env python3
"""Holds what hopcost says of a TCP connection (TCP_INFO) beside what ss(8) says of it meanwhile.

    benches/tcp_facts_beside_ss.py [HOPCOST] [RATE]

Streams from one network namespace through another to a third; the one between drops what does not fit its
queue at RATE (200mbit unless told). Asks `ss -tinH` all the while and prints both. Exit code 1 where
congestion control, path MTU or segment size differ, or a count is more than 5 % and 20 off the last of ss.
"""

import json
import os
import re
import subprocess
import sys

HOPCOST = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/hopcost")
RATE = sys.argv[2] if len(sys.argv) > 2 else "200mbit"
CASE = (
    "stream/tcp-sendmsg?payload=16384&fields=1&flows=1&ack=none&boundary=host&place=free&wait=block"
    "&nodelay=on&congestion=cubic"
)
BETWEEN = f"""
mount -t tmpfs none /run
for end in near far; do ip netns add $end; done
ip link add to-near type veth peer name near netns near
ip link add to-far type veth peer name far netns far
ip address add 10.203.1.2/24 dev to-near; ip address add 10.203.2.2/24 dev to-far
ip -n near address add 10.203.1.1/24 dev near; ip -n far address add 10.203.2.1/24 dev far
for device in to-near to-far lo; do ip link set $device up; done
for end in near far; do ip -n $end link set $end up; ip -n $end link set lo up; done
ip -n near route add default via 10.203.1.2; ip -n far route add default via 10.203.2.2
echo 1 >/proc/sys/net/ipv4/ip_forward
tc qdisc add dev to-far root tbf rate {RATE} burst 64k limit 200k
"""


def asked():
    """The connection of the near end that has sent most, as ss shows it."""
    words = ["ip", "netns", "exec", "near", "ss", "-tinH"]
    lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()

    def number(line, name):
        found = re.search(rf"\b{name}:(?:\d+/)?(\d+)", line)
        return int(found.group(1)) if found else 0

    told = [
        {
            "congestion": line.split()[0],
            "path_mtu_bytes": number(line, "pmtu"),
            "segment_bytes": number(line, "mss"),
            "segments": number(line, "data_segs_out"),
            "retransmitted": number(line, "retrans"),
        }
        for line in lines
        if "data_segs_out:" in line
    ]
    return max(told, key=lambda of: of["segments"], default=None)


def main():
    if "BETWEEN" not in os.environ:
        os.execvpe("unshare", ["unshare", "-rnm", sys.executable, *sys.argv], {**os.environ, "BETWEEN": "1"})
    subprocess.run(["sh", "-ec", BETWEEN], check=True)
    far = f"ip netns exec far {HOPCOST} worker"
    trial = [HOPCOST, "trial", CASE, "--count", "6000", "--deadline-ms", "60000", "--peer", far]
    words = ["ip", "netns", "exec", "near", *trial]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    last, asks = None, 0
    while child.poll() is None:
        now = asked()
        last, asks = now or last, asks + 1
    row = json.loads(child.stdout.read())
    if row.get("error") or last is None:
        sys.exit(f"not compared: {row.get('error')}")
    own = next(end["tcp"] for end in row["ends"] if end["role"] == "caller")
    print(f"{'':16}{'hopcost':>12}{'ss':>12}   (asked {asks} times in {row['took_ns'] / 1e9:.1f} s)")
    wrong = []
    for key, said in last.items():
        print(f"{key:16}{own[key]:>12}{said:>12}")
        is_count = key in ("segments", "retransmitted")
        if own[key] != said and not (is_count and abs(own[key] - said) <= max(20, 0.05 * own[key])):
            wrong.append(key)
    sys.exit(f"differ: {', '.join(wrong)}" if wrong else 0)


main()
