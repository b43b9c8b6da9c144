"""A thousand hosts that are played, through the real driver, plan and journal."""

import json
import sqlite3
import struct
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

from .support import FAKE, TESTS, FleetTest

COUNT = 1000


def recorded(path: Path) -> None:
    """What of a run file the simulation changes; benches/fleet_scale.py uses a real one."""
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE run(position INTEGER PRIMARY KEY, document TEXT);
        CREATE TABLE trial(trial INTEGER PRIMARY KEY, document TEXT, samples_kept INTEGER, samples BLOB);
        CREATE TABLE estimate(position INTEGER PRIMARY KEY, document TEXT);
    """)
    release = {"section": "kernel", "key": "kernel.release", "value": "6.1.0-1"}
    run = {"about": {"id": "x"}, "host_before": {"readings": [release]}}
    db.execute("INSERT INTO run VALUES (0, ?)", (json.dumps(run),))
    trial = {"samples_max_ticks": 9000, "ends": [{"max_ticks": 9000, "elapsed_ticks": 36000}]}
    samples = zlib.compress(struct.pack("<4I", 9000, 9000, 9000, 9000))
    db.execute("INSERT INTO trial VALUES (1, ?, 4, ?)", (json.dumps(trial), samples))
    row = {"case_id": "c", "statistic": "p50_ns", "point": 9000, "low": 8900, "high": 9100}
    db.execute("INSERT INTO estimate VALUES (0, ?)", (json.dumps(row),))
    db.commit()
    db.close()


class Simulation(FleetTest):
    def simulate(self, count: int, seed: int, *more: str) -> None:
        run_file = self.root / "r"
        if not run_file.exists():
            recorded(run_file)
        words = [sys.executable, TESTS / "simulated.py", count, run_file, seed, "run", "call/ok",
                 "--hopcost", FAKE, "--out", self.out, *more]  # fmt: skip
        done = subprocess.run(list(map(str, words)), capture_output=True, timeout=400)
        self.assertEqual(done.returncode, 1, done.stderr[-2000:])

    def test_a_thousand_hosts(self) -> None:
        self.simulate(COUNT, 5, "--pairs", "sample:300")
        states = [row[0] for row in self.rows("SELECT state FROM host ORDER BY state")]
        self.assertEqual(states, ["lost"] * 2 + ["ready"] * (COUNT - 2))
        dead = {row[0] for row in self.rows("SELECT name FROM host WHERE state = 'lost'")}
        pairs = self.rows("SELECT * FROM task WHERE kind = 'pair'")
        for task in pairs:
            is_dead = {task["a"], task["b"]} & dead
            self.assertEqual(task["state"], "skipped" if is_dead else "done")
        self.assertEqual(len(pairs), 300)
        for number in {t["round"] for t in pairs}:
            names = [name for t in pairs if t["round"] == number for name in (t["a"], t["b"])]
            self.assertEqual(len(names), len(set(names)))
        # The files are those of their hosts: of ten slow ones values and kernel are others.
        points, slow, ids = [], 0, set()
        for task in self.rows("SELECT * FROM task WHERE kind = 'host' AND state = 'done'"):
            db = sqlite3.connect(self.out / task["file"])
            run = json.loads(db.execute("SELECT document FROM run").fetchone()[0])
            ids.add(run["about"]["id"])
            row = json.loads(db.execute("SELECT document FROM estimate").fetchone()[0])
            points.append(row["point"])
            slow += run["host_before"]["readings"][0]["value"].endswith("slow")
            db.close()
        found = (len(ids), slow, sum(point > 10_500 for point in points))
        self.assertEqual(found, (COUNT - 2, 10, 10))
        labels = {row["labels"] for row in self.rows("SELECT labels FROM host")}
        self.assertEqual(len(labels), COUNT // 40)


if __name__ == "__main__":
    unittest.main()
