#!/usr/bin/env python3
"""A worker of a runtime of its own that is honest about one mechanism, `echo`, two
threads that hand a number over, except where $HOPCOST_ROGUE tells it not to be."""
import json, os, struct, sys, threading, time

# What it does, and at which command where that is any.
rogue, _, where = os.environ.get("HOPCOST_ROGUE", "honest").partition("@")
NS = 5000


def say(**reply):
    os.write(1, (json.dumps(reply) + "\n").encode())


def hang():
    if rogue == "half":
        os.write(1, b'{"is":"')
    while rogue == "flood":
        os.write(1, b"x" * 65536)
    while rogue == "flood-lines":
        say(**{"is": "stopped"})
    time.sleep(60)


def describe():
    described = {
        "protocol": 3, "runtime": "rogue", "version": "1", "clock": {"source": "made up", "ticks_per_second": 1e9},
        "mechanisms": [{"name": "echo", "workloads": ["roundtrip"], "boundaries": ["thread"],
                        "waits": ["block"], "payload": {"min": 1, "max": 64, "default": 8}}]}
    if rogue == "old-protocol":
        described["protocol"] = 2
    elif rogue == "is-rust":
        described["runtime"] = "rust"
    elif rogue == "bad-name":
        described["runtime"] = "Rogue Trader"
    elif rogue == "twice":
        described["mechanisms"] *= 2
    elif rogue == "huge-payload":
        described["mechanisms"][0]["payload"]["max"] = 4000000000
    elif rogue == "crash-describe":
        sys.exit("rogue: no describing today")
    say(**{"is": "described"}, **described)


def main():
    fd = None
    for line in sys.stdin:
        command = json.loads(line)
        what = command["do"]
        if what == where:
            hang()
        elif what == "describe":
            describe()
        elif what == "attach":
            fd = command["samples_fd"]
            me = threading.get_native_id()
            seats = [{"role": seat["role"], "tid": me} for seat in command["seats"]]
            if rogue == "foreign-thread":
                seats[0]["tid"] = 1
            elif rogue == "foreign-process":
                seats[0] = {"role": "caller", "tid": 1, "pid": 1}
            elif rogue == "one-seat":
                del seats[1]
            elif rogue == "wrong-roles":
                seats.reverse()
            say(**{"is": "attached", "pid": 1, "seats": seats})
        elif what == "run":
            count, stamp = command["count"], command["stamp"]
            n = stamp.get("n", 1)
            samples = count // n if command["phase"] == "measure" else 0
            ticks = NS * n
            time.sleep(count * NS / 1e9)
            if rogue == "flood-samples" and samples:
                try:
                    while True:
                        os.write(fd, bytes(1 << 20))
                except OSError as error:
                    say(**{"is": "failed", "reason": f"writing samples: {error}"})
                    sys.exit(1)
            os.write(fd, struct.pack("<Q", ticks) * samples)
            ends = [{"role": "caller", "count": count, "samples": samples, "max_ticks": ticks,
                     "elapsed_ticks": NS * count}, {"role": "callee", "count": count}]
            if rogue == "fewer":
                ends[0]["count"] = count // 2
            elif rogue == "forgets-callee":
                del ends[1]
            elif rogue == "fast-clock":
                ends[0]["elapsed_ticks"] //= 1000
            elif rogue == "cpu-hog-claim":
                ends[0]["thread_cpu_ns"] = 1 << 61
            say(**{"is": "ran", "ends": ends})
        elif what == "stop":
            say(**{"is": "stopped"})
            return
        else:
            say(**{"is": "failed", "reason": f"unknown command {what}"})
            sys.exit(1)


main()
