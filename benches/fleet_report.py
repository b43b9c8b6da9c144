#!/usr/bin/env python3
"""What reporting a fleet costs by its number of hosts, and how fast its run files are read into the index.

    benches/fleet_report.py [HOPCOST [HOSTS…]]

Makes fleets with tests/support/fleet.py (its index filled as if every run file had been read; 12 hosts are paired) and prints time and
peak memory of `hopcost fleet report`, and of its page; then the time of reading copies of a stored run of 12 cases
(tests/runs/quick), a run file each host. Median of three.
"""

import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
MAKE = HERE / "tests/support/fleet.py"
RUNS_READ = 64


def make(directory, hosts, *words):
    subprocess.run([sys.executable, MAKE, directory, str(hosts), *words], check=True)


def report(directory, *words):
    """The command of a report, from this checkout."""
    return [sys.executable, "-m", "hopcost_fleet", "report", directory, *words]


def measure(*words):
    """Seconds and MiB of a command."""
    began = time.monotonic()
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(words, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def median_of_three(*words):
    runs = [measure(*words) for _ in range(3)]
    return [statistics.median(column) for column in zip(*runs)]


def main():
    os.environ["PYTHONPATH"] = str(HERE / "fleet")
    hopcost = sys.argv[1] if len(sys.argv) > 1 else HERE / "target/release/hopcost"
    sizes = [int(word) for word in sys.argv[2:]] or [10, 100, 1_000, 10_000]
    print(f"{'hosts':>7} {'what':<12} {'time s':>8} {'CPU s':>8} {'peak MiB':>9}")
    for hosts in sizes:
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder) / "fleet"
            make(directory, hosts, "--slow", f"{max(hosts // 25, 1)}:1.4", "--failed", "4", "--pairs", "12")
            rows = [("text", []), ("page", ["--format", "html"])]
            for what, words in rows:
                seconds, cpu, memory = median_of_three(*report(directory, *words))
                print(f"{hosts:>7} {what:<12} {seconds:>8.2f} {cpu:>8.2f} {memory:>9.0f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "quick.hopcost"
        run.write_bytes(gzip.decompress((HERE / "tests/runs/quick.hopcost.gz").read_bytes()))
        directory = Path(folder) / "fleet"
        make(directory, RUNS_READ, "--run", run)
        files = sorted((directory / "hosts").glob("*.hopcost"))
        seconds, cpu, memory = measure(hopcost, "fleet", "index", "--", *files)
        print(f"index: {RUNS_READ} run files of {run.stat().st_size >> 10} KiB in {seconds:.2f} s, {RUNS_READ / seconds:.0f} a second "
              f"({1000 * cpu / RUNS_READ:.0f} ms CPU each), {memory:.0f} MiB")


main()
