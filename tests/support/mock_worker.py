#!/usr/bin/env python3
"""A worker that follows the protocol, except where $HOPCOST_MOCK tells it not to.

HOPCOST_MOCK is BEHAVIOUR or BEHAVIOUR@COMMAND: at that command (attach or run;
by default run) it misbehaves. It plays `call` cases with one seat and takes
NS nanoseconds of a made-up clock of 1 GHz for each operation.
"""
import json, os, signal, struct, sys, time

behaviour, _, where = os.environ.get("HOPCOST_MOCK", "honest").partition("@")
where = where or "run"
NS = 100


def say(**reply):
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def misbehave():
    if behaviour == "silent":
        time.sleep(60)
    elif behaviour == "crash":
        sys.stderr.write("mock: something dreadful\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGABRT)
    elif behaviour == "exit":
        sys.exit(7)
    elif behaviour == "fail":
        say(**{"is": "failed", "reason": "the mock does not feel well"})
        sys.exit(1)
    elif behaviour == "flood":
        chunk = "x" * 65536
        while True:
            sys.stdout.write(chunk)
    elif behaviour == "flood-lines":
        while True:
            say(**{"is": "stopped"})
    elif behaviour == "garbage":
        sys.stdout.write("\x1b[31mhello\n")
        sys.stdout.flush()
    elif behaviour == "wrong-reply":
        say(**{"is": "stopped"})
    elif behaviour == "close":
        os.close(0)
        os.close(1)
        time.sleep(60)


def main():
    samples_fd = None
    for line in sys.stdin:
        command = json.loads(line)
        what = command["do"]
        if what == where and behaviour not in ("honest", "slow", "twice", "lie-count", "lie-time", "lie-sum", "nan"):
            misbehave()
            continue
        if what == where and behaviour == "slow":
            time.sleep(0.2)
        if what == "clock":
            say(**{"is": "clock", "cpu": command["cpu"], "source": "mock", "ticks_per_second": 1e9,
                   "rate_spread_ppm": 0, "resolution_ticks": 1, "stamp_min_ns": 1, "stamp_p50_ns": 1,
                   "stamp_p99_ns": 1, "clock_gettime_p50_ns": 20})
        elif what == "attach":
            samples_fd = command.get("samples_fd")
            say(**{"is": "attached", "pid": os.getpid(),
                   "seats": [{"role": "caller", "tid": os.getpid(), "cpu": 0}]})
        elif what == "run":
            run(command, samples_fd)
        elif what == "stop":
            say(**{"is": "stopped"})
            return


def run(command, samples_fd):
    count, stamp = command["count"], command["stamp"]
    n = stamp.get("n", 1)
    lengths = [n, 2 * n] if stamp["kind"] == "two-lengths" else [n]
    samples = []
    while sum(samples) < count * NS:
        samples += [length * NS for length in lengths]
    measured = command["phase"] == "measure"
    # Time really passes, so that the story holds together seen from outside.
    time.sleep(min(sum(samples) / 1e9, 1))
    end = {"role": "caller", "count": count, "samples": len(samples) if measured else 0,
           "max_ticks": max(samples), "elapsed_ticks": sum(samples), "thread_cpu_ns": sum(samples),
           "voluntary": 0, "involuntary": 0, "minor_faults": 0, "major_faults": 0,
           "run_delay_ns": 0, "cpu_before": 0, "cpu_after": 0, "cpu_changes": 0, "pinned": True}
    if measured:
        kept = samples
        if behaviour == "lie-count":
            kept = samples[: len(samples) // 2]
        elif behaviour == "lie-time":
            # Says that everything took a thousandth of what it took.
            kept = [max(1, s // 1000) for s in samples]
            end.update(max_ticks=max(kept), elapsed_ticks=sum(kept))
            time.sleep(0.2)
        elif behaviour == "lie-sum":
            end["elapsed_ticks"] += 1
        os.write(samples_fd, b"".join(struct.pack("<Q", s) for s in kept))
    reply = json.dumps({"is": "ran", "process_cpu_ns": sum(samples), "wall_ns": sum(samples), "ends": [end]}) + "\n"
    sys.stdout.write(reply * (2 if behaviour == "twice" else 1))
    sys.stdout.flush()


main()
