#!/usr/bin/env python3
"""A pair of hosts beside programs that are not hopcost: two network namespaces joined by a veth pair,
in which one trial of hopcost, one run of a plain C program (pair.c) and one of sockperf stand next to
each other, on the same two CPUs, with the same payload.

    benches/pair_against_others.py [--pairs 20] [--payload 64] [--carriers tcp,udp] [--ssh 20] [--cpus 0,1]

With --cpus 0,0 both ends share a CPU, where a round trip varies by less than a tenth of what it does between
two, and so shows a smaller difference between the programs.

Prints the ratio of hopcost to each, by adjacent pairs with its sign interval. With --ssh the far end is started by a real ssh and sshd, and by `ip
netns exec`, in turn: ssh's process must not cost the measurement anything. Needs root, iproute2 and sockperf (`scripts/setup bench`).
"""
import argparse, contextlib, json, os, re, shlex, subprocess, sys, tempfile, time
from pairs import HOPCOST, adjacent_ratios, compile_c, median, rank_interval, run, ticks_per_second, verdict

NEAR, FAR = "10.203.0.1", "10.203.0.2"


@contextlib.contextmanager
def namespaces():
    """Two namespaces with names of their own; gone afterwards."""
    near, far = (f"hopcost-bench-{os.getpid()}-{end}" for end in ("near", "far"))
    ip = lambda *words: run("ip", *words)
    try:
        ip("netns", "add", near)
        ip("netns", "add", far)
        ip("link", "add", "near", "netns", near, "type", "veth", "peer", "name", "far", "netns", far)
        for name, end, address in ((near, "near", NEAR), (far, "far", FAR)):
            ip("-n", name, "addr", "add", f"{address}/30", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield ("ip", "netns", "exec", near), ("ip", "netns", "exec", far)
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def listening(command, word, stderr=False):
    """A server, once it has said so. In a session of its own, as hopcost's far end is: the scheduler groups processes by
    session (sched(7), autogroup), and switching between two groups takes a tenth longer."""
    pipe = dict(stderr=subprocess.STDOUT) if stderr else dict(stderr=subprocess.DEVNULL)
    server = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, start_new_session=True, **pipe)
    for line in server.stdout:
        if word in line:
            return server, line.strip()
    sys.exit(f"pair_against_others: {command} ended")


def ended(server):
    server.terminate()
    server.wait(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--payload", type=int, default=64)
    parser.add_argument("--carriers", default="tcp,udp")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--ssh", type=int, default=0)
    parser.add_argument("--cpus")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    cpus = [int(cpu) for cpu in options.cpus.split(",")] if options.cpus else sorted(os.sched_getaffinity(0))[:2]
    rate = ticks_per_second()
    with tempfile.TemporaryDirectory() as folder, namespaces() as (near, far):
        peer = shlex.join(map(str, [*far, "taskset", "-c", cpus[1], options.hopcost, "worker"]))
        program = compile_c("pair.c", folder)

        def hopcost(case, *more, by=peer):
            trial = json.loads(run(*near, options.hopcost, "trial", case, "--peer", by,
                                   "--count", options.count, "--warm-up", options.count // 10, "--cpu", cpus[0],
                                   *more))
            return median(trial["samples"]) / float(rate) * 1e9

        def in_c(carrier):
            words = [carrier, "serve", FAR, 7100, cpus[1], options.payload]
            server, _ = listening([*far, program, *words], "listening")
            took = run(*near, program, carrier, "call", FAR, 7100, cpus[0], options.payload,
                       options.count // 10, options.count)
            ended(server)
            return float(took)

        def sockperf(carrier):
            tcp = ["--tcp"] if carrier == "tcp" else []
            server, _ = listening(["taskset", "-c", cpus[1], *far, "sockperf", "server", "-i", FAR, "-p", 7200, *tcp],
                                  "listen on", stderr=True)
            time.sleep(0.2)
            said = run("taskset", "-c", cpus[0], *near, "sockperf", "ping-pong", "-i", FAR, "-p", 7200, *tcp,
                       "-t", 1, "--full-rtt", "-m", options.payload)
            ended(server)
            found = re.search(r"percentile 50.000 *= *([0-9.]+)", re.sub(r"\x1b\[[0-9;]*m", "", said))
            return float(found.group(1)) * 1e3

        for carrier in options.carriers.split(","):
            more = "&nodelay=on" if carrier == "tcp" else "&timeout=200ms"
            case = f"roundtrip/{carrier}?payload={options.payload}&boundary=host&place=pinned&wait=block{more}"
            for name, theirs in (("C", in_c), ("sockperf", sockperf)):
                seen = []
                ratios, yardstick = adjacent_ratios(
                    options.pairs, lambda: hopcost(case), lambda: theirs(carrier), seen)
                low, high, level = rank_interval(ratios)
                c_low, c_high, _ = rank_interval(yardstick)
                ours, beside = (median([pair[i] for pair in seen]) for i in (0, 1))
                print(f"{carrier} {options.payload} B over veth, hopcost/{name}: {median(ratios):.3f} [{low:.3f}, {high:.3f}] "
                      f"({ours:.0f} / {beside:.0f} ns, {options.pairs} pairs, {level:.0%}); {name} against itself "
                      f"[{c_low:.3f}, {c_high:.3f}]: {verdict(low, high, 0.95, 1.05)}", flush=True)
            if options.ssh:
                with sshd(folder, far) as ssh:
                    by_ssh = f"{ssh} taskset -c {cpus[1]} {options.hopcost} worker"
                    ratios, itself = adjacent_ratios(
                        options.ssh, lambda: hopcost(case, by=by_ssh), lambda: hopcost(case))
                low, high, level = rank_interval(ratios)
                own_low, own_high, _ = rank_interval(itself)
                print(f"{carrier}, far end by ssh against `ip netns exec`: {median(ratios):.3f} [{low:.3f}, {high:.3f}] "
                      f"({options.ssh} pairs, {level:.0%}); the latter against itself [{own_low:.3f}, {own_high:.3f}]",
                      flush=True)


@contextlib.contextmanager
def sshd(folder, far):
    """An sshd of its own in the far namespace; the ssh command that reaches it."""
    key, config = f"{folder}/key", f"{folder}/sshd"
    if not os.path.exists(key):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        os.makedirs("/run/sshd", exist_ok=True)
        with open(config, "w") as file:
            file.write(f"Port 2222\nListenAddress {FAR}\nHostKey {key}\nAuthorizedKeysFile {key}.pub\n"
                       "StrictModes no\nUsePAM no\nPidFile none\n")
    server, _ = listening([*far, "/usr/sbin/sshd", "-D", "-e", "-f", config], "listening", stderr=True)
    try:
        yield (f"ssh -p 2222 -i {key} -o BatchMode=yes -o StrictHostKeyChecking=no "
               f"-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@{FAR}")
    finally:
        ended(server)


main()
