#!/usr/bin/env python3
"""What an agent costs a measurement: a quiet Dask worker that is frozen while a trial runs, one that is not, and none at all.

    benches/fleet_frozen.py [--hopcost FILE] [--blocks 20] [--case CASE]

A block is one run of each of the three, in random order; the worker is pinned to the CPU that is measured, and beside the
run with none there is none. The median over blocks of frozen/none and of awake/none is printed with its 95 % interval (of
order statistics, because a host that is busy for a moment spoils a block and not the median). Needs `distributed` (target/fleet/venv, made by fleet/check --all). Nothing is asserted.
"""

import argparse
import json
import math
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# As docs/fleet-kubernetes.yaml sets up a worker.
WORKER = ["--no-nanny", "--no-dashboard", "--death-timeout", "60", "--nthreads", "2"]
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "30s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "30s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
}
PYTHON = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "fleet" / "venv" / "bin" / "python"

def rank(n: int) -> int:
    """Which ratio from either end bounds the median with 95 %, whatever their distribution: by the binomial."""
    below, k = 0.0, -1
    while below + math.comb(n, k + 1) / 2**n <= 0.025:
        k += 1
        below += math.comb(n, k) / 2**n
    if k < 0:
        sys.exit("--blocks: six at least")
    return k


def wait_for(log: Path, text: str) -> None:
    end = time.monotonic() + 60
    while text not in (log.read_text() if log.exists() else ""):
        if time.monotonic() > end:
            sys.exit(f"{log} never said `{text}`")
        time.sleep(0.1)


def measure(hopcost: Path, case: str, folder: Path, agent: int | None) -> float:
    out = folder / "run.hopcost"
    out.unlink(missing_ok=True)
    words = [hopcost, "run", case, "--rounds", "8", "--cpus", "1", "--out", out]
    if agent:
        words += ["--agent", str(agent)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    with sqlite3.connect(out) as db:
        return db.execute("SELECT point FROM estimates WHERE statistic = 'p50_ns'").fetchone()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hopcost", type=Path, default=ROOT / "target" / "release" / "hopcost")
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--case", default="roundtrip/pipe?place=same-cpu")
    options = parser.parse_args()
    found: dict[str, list[float]] = {"none": [], "frozen": [], "awake": []}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with open(folder / "scheduler", "wb") as log:
            words = [PYTHON, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
            scheduler = subprocess.Popen(words, stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, {0}))
        try:
            wait_for(folder / "scheduler", "Scheduler at:")
            address = next(w for w in (folder / "scheduler").read_text().split() if w.startswith("tcp://"))
            for block in range(options.blocks):
                for kind in random.Random(block).sample(list(found), 3):
                    worker = None
                    if kind != "none":
                        log_path = folder / f"worker-{block}-{kind}"
                        with open(log_path, "wb") as log:
                            words = [PYTHON, "-m", "distributed.cli.dask_worker", address, *WORKER, "--host", "127.0.0.1"]
                            worker = subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, **QUIET},
                                                      preexec_fn=lambda: os.sched_setaffinity(0, {1}))  # fmt: skip
                        wait_for(log_path, "Starting established connection")
                        time.sleep(1)
                    try:
                        found[kind].append(measure(options.hopcost, options.case, folder, worker.pid if kind == "frozen" else None))
                    finally:
                        if worker:
                            worker.kill()
                            worker.wait()
        finally:
            scheduler.terminate()
            scheduler.wait()
    print(f"{options.case}, {options.blocks} blocks, median {statistics.median(found['none']):.0f} ns with no agent")
    for kind in ("frozen", "awake"):
        ratios = sorted(a / b for a, b in zip(found[kind], found["none"]))
        low = rank(len(ratios))
        print(f"  {kind:6} / none: {statistics.median(ratios):.4f} [{ratios[low]:.4f}, {ratios[-1 - low]:.4f}]")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
