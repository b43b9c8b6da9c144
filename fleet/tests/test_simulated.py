"""A thousand hosts in played time, through the real driver, plan and journal."""

import json
import sqlite3
import struct
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

from .support import FAKE, TESTS, FleetTest

# A run of `roundtrip/sleep:9us?clock=virtual`, as small as one can be.
COUNT = 1000


def recorded(path: Path) -> None:
    """What of a run file the simulation changes; a real one is used by benches/fleet_scale.py."""
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
    for at, (statistic, *numbers) in enumerate([("p50_ns", 9000, 8900, 9100), ("count", 4, 4, 4)]):
        row = {"case_id": "c", "statistic": statistic, **dict(zip(("point", "low", "high"), numbers, strict=True))}
        db.execute("INSERT INTO estimate VALUES (?, ?)", (at, json.dumps(row)))
    db.commit()
    db.close()


class Simulation(FleetTest):
    def simulate(self, count: int, seed: int, *more: str) -> None:
        run_file = self.root / "r"
        if not run_file.exists():
            recorded(run_file)
        words = [sys.executable, TESTS / "simulated.py", count, run_file, seed, "run", "call/ok", "--hopcost", FAKE, "--out", self.out, *more]
        self.assertEqual(subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, timeout=120).returncode, 1)

    def test_a_thousand_hosts(self) -> None:
        self.simulate(COUNT, 5, "--pairs", "sample:300")
        states = [row[0] for row in self.rows("SELECT state FROM host ORDER BY state")]
        self.assertEqual(states, ["lost"] * 2 + ["ready"] * (COUNT - 2))
        dead = {row[0] for row in self.rows("SELECT name FROM host WHERE state = 'lost'")}
        pairs = self.rows("SELECT * FROM task WHERE kind = 'pair'")
        for task in pairs:
            self.assertEqual(task["state"], "skipped" if {task["a"], task["b"]} & dead else "done")
        self.assertEqual(len(pairs), 300)
        for number in {t["round"] for t in pairs}:
            names = [name for t in pairs if t["round"] == number for name in (t["a"], t["b"])]
            self.assertEqual(len(names), len(set(names)))
        # The files are those of their hosts: of ten slow ones the values are another, and so is the kernel.
        points, slow, ids = [], 0, set()
        for task in self.rows("SELECT * FROM task WHERE kind = 'host' AND state = 'done'"):
            db = sqlite3.connect(self.out / task["file"])
            run = json.loads(db.execute("SELECT document FROM run").fetchone()[0])
            ids.add(run["about"]["id"])
            rows = [json.loads(text) for text, in db.execute("SELECT document FROM estimate ORDER BY position")]
            points.append(rows[0]["point"])
            slow += run["host_before"]["readings"][0]["value"].endswith("slow")
            self.assertEqual(rows[1]["point"], 4)
            db.close()
        self.assertEqual((len(ids), slow, sum(point > 10_500 for point in points)), (COUNT - 2, 10, 10))
        labels = {row["labels"] for row in self.rows("SELECT labels FROM host")}
        self.assertEqual(len(labels), COUNT // 40)

    def test_the_same_seed_plays_the_same_and_the_dead_are_said(self) -> None:
        rows = []
        for name in ("one", "two"):
            self.out = self.root / name
            self.simulate(500, 3, "--no-report")
            rows.append([tuple(r) for r in self.rows("SELECT a, b, round, state, reason, started_s, ended_s FROM task")])
        self.assertEqual(rows[0], rows[1])
        self.assertEqual([r[0]["name"] for r in [self.rows("SELECT name FROM host WHERE state = 'lost'")]],
                         [row[0] for row in rows[0] if row[3] == "failed"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
