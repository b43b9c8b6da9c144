#!/usr/bin/env python3
"""Stands in for hopcost where a test is of the driver: speaks the same command line and measures nothing.

What it does is said by the cases (`call/ok`, `call/hang`, `call/fail`, `call/full`, `call/slow`, `call/crash`, `call/invalid`) and by
variables of its host: FAKE_FULL, FAKE_BROKEN, and FAKE_HANG (a command, as `fleet`).
"""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

TRIAL_S = 0.05


def option(words, name):
    words = words[: words.index("--")] if "--" in words else words
    joined = [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]
    return words[words.index(name) + 1] if name in words else joined[0] if joined else None


def store(path, cases, ended=True):
    db = sqlite3.connect(path)
    about = {"id": os.urandom(8).hex(), "started": "now", "ended": "now" if ended else None}
    db.execute("CREATE TABLE run(position INTEGER PRIMARY KEY, document TEXT)")
    db.execute("INSERT INTO run VALUES (0, ?)", (json.dumps({"about": about}),))
    db.execute("CREATE TABLE padding(bytes BLOB)")
    if any("big" in case for case in cases):
        db.execute("INSERT INTO padding VALUES (?)", (os.urandom(3_000_000),))
    db.commit()
    db.close()


def run(words):
    cases = words[words.index("--") + 1 :] if "--" in words else []
    if "--dry-run" in words:
        bad = [case for case in cases if "nosuch" in case]
        if bad:
            print(f"hopcost: selector `{bad[0]}`: unknown mechanism", file=sys.stderr)
            return 2
        return 0
    if option(words, "--peer"):
        far = subprocess.Popen(["/bin/sh", "-c", option(words, "--peer")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(12 if any("slow" in c for c in cases) else 2):
            time.sleep(TRIAL_S)
            try:
                print("run", file=far.stdin, flush=True)
            except BrokenPipeError:
                pass
            if far.stdout.readline() != "ran\n":
                print("hopcost: the far end is gone", file=sys.stderr)
                return 1
        far.stdin.close()
    if os.environ.get("FAKE_FULL") and option(words, "--peer"):
        print(f"hopcost: {option(words, '--out')}: {os.strerror(errno.ENOSPC)}", file=sys.stderr)
        return 1
    for case in cases:
        time.sleep(TRIAL_S)
        if "hang" in case:
            time.sleep(1000)
        if "slow" in case:
            for _ in range(40):
                time.sleep(TRIAL_S + 0.01)
        if "crash" in case:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "full" in case or os.environ.get("FAKE_FULL"):
            print(f"hopcost: {option(words, '--out')}: {os.strerror(errno.ENOSPC)}", file=sys.stderr)
            return 1
    store(option(words, "--out"), cases)
    if any("fail" in case for case in cases):
        print("hopcost: one case failed", file=sys.stderr)
        return 1
    return 3 if any("invalid" in case for case in cases) else 0


def worker():
    for _ in sys.stdin:
        print("ran", flush=True)
    return 0


def main():
    if sys.argv[1] == os.environ.get("FAKE_HANG"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(os.path.join(os.environ["FAKE_HOSTS"], "hangs"), "w").close()
        time.sleep(1000)
    match sys.argv[1:]:
        case ["--version"]:
            if "FAKE_BROKEN" in os.environ:
                sys.exit("hopcost: GLIBC_2.99 not found")
            return 0
        case ["run", *words]:
            return run(words)
        case ["worker"]:
            return worker()
        case ["fleet", "index", "--", *files]:
            for file in files:
                estimate = {"case": "c", "statistic": "p50_ns", "unit": "ns", "point": 9.0}
                print(json.dumps({"id": file, "facts": {}, "estimates": [estimate]}))
            return 0
    print("hopcost: usage", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
