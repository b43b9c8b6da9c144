#!/usr/bin/env python3
"""Scale of a fleet, by simulation: what the driver needs and takes at 10, 100, 1,000 and 10,000 hosts.

    benches/fleet_scale.py [--hopcost FILE] [--hosts 10,100,1000,10000] [--keep DIR]

The hosts are played from a recorded run (made here, of a test engine in virtual time) by fleet/tests/simulated.py; the
driver, its plan, its journal, its reading of run files and the report are the real ones. Every host is measured once, then as many pairs as there
are hosts, drawn at random, in disjoint rounds. Time is real time of this machine without what it takes to play the hosts.
Nothing is asserted. 10,000 hosts take about a gigabyte in the temporary directory for as long as it runs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "fleet"))
CASES = ["roundtrip/sleep:9us?clock=virtual&place=same-cpu&boundary=inline", "call/spin:400?clock=virtual"]


def one(hopcost: Path, count: int, directory: Path, recorded: Path) -> None:
    """In a process of its own, whose memory is the driver's."""
    from hopcost_fleet import driver, journal
    from tests import simulated

    spans = {"hosts": 0.0, "pairs": 0.0}
    measure = driver.Driver.measure

    async def timed(self, title, tasks):
        """Adds up what rounds take, without the playing of hosts."""
        began, played = time.perf_counter(), self.launcher.played_s
        await measure(self, title, tasks)
        spans[title.split(",")[0]] += time.perf_counter() - began - (self.launcher.played_s - played)

    driver.Driver.measure = timed
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = ["run", *CASES, "--pairs", f"sample:{count}"]
    began = time.perf_counter()
    words += ["--hopcost", str(hopcost), "--out", str(directory)]
    _code, launcher = simulated.main(count, recorded, 1, words)
    book = journal.Journal(directory, new=False)
    done = Counter(task["kind"] for task in book.latest("done"))
    print(json.dumps({
        "real_s": time.perf_counter() - began, "played_s": launcher.played_s,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "bare_mib": before_kib / 1024,
        "done": done, "rounds": len({task["round"] for task in book.latest("done", "failed", "skipped") if task["kind"] == "pair"}),
        **spans,
    }))  # fmt: skip


def report(directory: Path) -> tuple[str, str]:
    """Seconds and MiB of two reports of a fleet."""
    took = []
    for _ in range(2):
        began = time.perf_counter()
        words = [sys.executable, "-m", "hopcost_fleet", "report", directory]
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT / "fleet")},
        )  # fmt: skip
        _, status, use = os.wait4(child.pid, 0)
        if status:
            return "-", "-"
        took.append(f"{time.perf_counter() - began:.2f}")
    return " / ".join(took), f"{use.ru_maxrss / 1024:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hopcost", type=Path, default=ROOT / "target" / "release" / "hopcost")
    parser.add_argument("--hosts", default="10,100,1000,10000")
    parser.add_argument("--keep", type=Path, help="keep the fleets in this directory")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    hopcost = options.hopcost.resolve()
    if options.one:
        one(hopcost, int(options.one[0]), Path(options.one[1]), Path(options.one[2]))
        return
    with tempfile.TemporaryDirectory(prefix="hopcost-fleet-scale-") as made:
        folder = options.keep or Path(made)
        folder.mkdir(exist_ok=True)
        recorded = folder / "recorded.hopcost"
        recorded.unlink(missing_ok=True)
        subprocess.run([hopcost, "run", *CASES, "--rounds", "6", "--measure", "1ms", "--out", recorded], check=True, capture_output=True)
        print(f"{hopcost}, a run file of {recorded.stat().st_size / 1024:.0f} KiB, {len(CASES)} cases in 6 rounds\n")
        print("  hosts   pairs  rounds  driver MiB  KiB a host  ms a host  ms a pair  report s (twice)  report MiB  on disk MiB")
        for count in map(int, options.hosts.split(",")):
            directory = folder / f"fleet-{count}"
            words = [sys.executable, __file__, "--hopcost", hopcost, "--one", str(count), directory, recorded]
            child = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if child.returncode:
                sys.exit(child.stderr)
            x = json.loads(child.stdout)
            disk = sum(p.stat().st_blocks * 512 for p in directory.rglob("*") if p.is_file()) / 2**20
            again, mib = report(directory)
            hosts, pairs = x["done"]["host"], x["done"].get("pair", 0)
            print(f"{count:7,} {pairs:7,} {x['rounds']:7} {x['memory_mib']:11.1f} {(x['memory_mib'] - x['bare_mib']) * 1024 / count:11.1f}"
                  f" {x['hosts'] / hosts * 1e3:10.2f} {x['pairs'] / max(pairs, 1) * 1e3:10.2f}"
                  f" {again:>17} {mib:>11} {disk:12.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
