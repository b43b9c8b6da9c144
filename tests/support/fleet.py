"""Writes the directory of a fleet whose truth is known: what the driver of a fleet would have left.

fleet.py DIR HOSTS [--slow N:FACTOR] [--spread S] [--rack N] [--pairs N] [--failed N] [--run FILE] [--seed S] [--cases N] [--facts N]
         [--scale FACTOR] [--kernel RELEASE] [--id ID]

The index holds estimates; with --run every host has a copy of that file instead, and the index nothing of it. The slow hosts are the first, of the kernel 6.1.9 and of rack r0.
"""

import argparse
import json
import math
import os
import random
import shutil
import sqlite3

TABLES = """
CREATE TABLE fleet(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE host(name TEXT PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE task(id INTEGER PRIMARY KEY, document TEXT NOT NULL, run TEXT);
"""
CASES = [
    "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block",
    "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block",
    "roundtrip/futex?payload=0&boundary=process&place=same-cpu&wait=block",
    "call/getppid",
]


def options():
    of = argparse.ArgumentParser()
    of.add_argument("directory")
    of.add_argument("hosts", type=int)
    of.add_argument("--slow", default="0:1")
    of.add_argument("--spread", type=float, default=0.02)
    of.add_argument("--rack", type=int, default=16)
    of.add_argument("--pairs", type=int, default=0)
    of.add_argument("--failed", type=int, default=0)
    of.add_argument("--cases", type=int, default=len(CASES))
    of.add_argument("--facts", type=int, default=60)
    of.add_argument("--run")
    of.add_argument("--seed", type=int, default=1)
    of.add_argument("--scale", type=float, default=1.0)
    of.add_argument("--kernel", default="6.1.8")
    of.add_argument("--id", default="fleet-1")
    return of.parse_args()


class Fleet:
    def __init__(self, asked):
        self.asked, self.random = asked, random.Random(asked.seed)
        number, factor = asked.slow.split(":")
        self.slow, self.factor = int(number), float(factor)
        for folder in ("hosts", "pairs"):
            os.makedirs(os.path.join(asked.directory, folder), exist_ok=True)
        self.db = sqlite3.connect(os.path.join(asked.directory, "fleet.sqlite"))
        self.db.executescript(TABLES)
        self.cases = [CASES[at % len(CASES)] + (f"&gap={at}us" if at >= len(CASES) else "") for at in range(asked.cases)]

    def name(self, host):
        return f"h{host:05}"

    def put(self, table, *cells):
        self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(cells))})", cells)

    def task(self, kind, a, b, state, file, run=None, reason=None):
        code = 0 if state == "done" else 1
        task = {"kind": kind, "a": a, "b": b, "round": 0, "attempt": 1, "state": state, "reason": reason, "file": file,
                "exit_code": code, "started_s": 0.0, "ended_s": 60.0}
        if run:
            open(os.path.join(self.asked.directory, file), "w").close()
            run = json.dumps({"id": f"run-{a}", "started": "2026-11-25T10:00:00Z", **run})
        known = {key: value for key, value in task.items() if value is not None}
        self.put("task", None, json.dumps(known), run)

    def estimates(self, values):
        return [
            {"case": case, "statistic": "p50_ns", "unit": "ns", "point": own, "low": own * 0.995, "high": own * 1.005,
             "trials": 15, "validity": "valid", "skip": None}
            for case, own in values
        ]

    def host(self, host):
        asked, name = self.asked, self.name(host)
        rack = 0 if host < self.slow else 1 + host % asked.rack
        failed = host >= asked.hosts - asked.failed
        kinds = [("unreachable", "no route to host"), ("refused", "another hopcost: 0.0.9"), ("lost", "its agent died"), ("ready", None)]
        state, reason = kinds[host % 4] if failed else ("ready", None)
        row = {"address": f"10.0.{host // 250}.{host % 250}", "labels": {"rack": f"r{rack}"}, "state": state}
        self.put("host", name, json.dumps({**row, **({"reason": reason} if reason else {})}))
        file = f"hosts/{name}.hopcost"
        if failed:
            return self.task("host", name, None, "failed", None, reason=reason or "exit code 1: no space left on device")
        if asked.run:
            shutil.copyfile(asked.run, os.path.join(asked.directory, file))
            return self.task("host", name, None, "done", file)
        kernel = "6.1.9" if host < self.slow else asked.kernel
        facts = {"kernel.release": kernel, "cpu.model": "Simulated", "virt.hypervisor": "none", "tool.hopcost": "0.1.0"}
        facts |= {f"cpu{at}.l2": "2 MiB" for at in range(asked.facts)}
        slow = self.factor if host < self.slow else 1.0
        level = lambda at: 1000.0 * (1 + at) * asked.scale * math.exp(asked.spread * self.random.gauss(0, 1))
        values = [(case, level(at) * (slow if at == 0 else 1.0)) for at, case in enumerate(self.cases)]
        return self.task("host", name, None, "done", file, {"facts": facts, "estimates": self.estimates(values)})

    def pair(self, a, b):
        names = self.name(a), self.name(b)
        slow = 1.6 if 3 in (a, b) else 1.0
        value = 20_000.0 * slow * math.exp(0.05 * self.random.gauss(0, 1))
        of = self.estimates([("roundtrip/tcp?payload=64&boundary=host&place=free&wait=block", value)])
        self.task("pair", *names, "done", f"pairs/{names[0]}--{names[1]}.hopcost", {"facts": {}, "estimates": of})


def main():
    asked = options()
    fleet = Fleet(asked)
    about = {"schema": "3", "id": asked.id, "created": "2026-11-25T10:00:00Z", "suite": "quick",
             "engine": "dask", "status": "complete"}
    for key, value in about.items():
        fleet.put("fleet", key, value)
    for host in range(asked.hosts):
        fleet.host(host)
    pairs = min(asked.pairs, asked.hosts - asked.failed)
    for a in range(pairs):
        for b in range(a + 1, pairs):
            fleet.pair(a, b)
    fleet.db.commit()


main()
