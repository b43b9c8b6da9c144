"""A thousand hosts in played time, through the real driver, plan and journal."""

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
        CREATE TABLE run(run_id TEXT, started TEXT, ended TEXT);
        CREATE TABLE trial(trial INTEGER PRIMARY KEY, samples BLOB, samples_kept INTEGER, samples_max_ticks INTEGER);
        CREATE TABLE trial_end(trial INTEGER, max_ticks INTEGER, elapsed_ticks INTEGER);
        CREATE TABLE estimate(case_id TEXT, statistic TEXT, point REAL, low REAL, high REAL);
        CREATE TABLE host_reading(moment TEXT, section TEXT, key TEXT, value TEXT);
    """)
    db.execute("INSERT INTO run VALUES ('x', 'now', 'now')")
    db.execute("INSERT INTO trial VALUES (1, ?, 4, 9000)", (zlib.compress(struct.pack("<4I", 9000, 9000, 9000, 9000)),))
    db.execute("INSERT INTO trial_end VALUES (1, 9000, 36000)")
    db.execute("INSERT INTO estimate VALUES ('c', 'p50_ns', 9000, 8900, 9100), ('c', 'count', 4, 4, 4)")
    db.execute("INSERT INTO host_reading VALUES ('before', 'kernel', 'kernel.release', '6.1.0-1')")
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
            ids.add(db.execute("SELECT run_id FROM run").fetchone()[0])
            points.append(db.execute("SELECT point FROM estimate WHERE statistic = 'p50_ns'").fetchone()[0])
            slow += db.execute("SELECT COUNT(*) FROM host_reading WHERE value LIKE '%slow'").fetchone()[0]
            self.assertEqual(db.execute("SELECT point FROM estimate WHERE statistic = 'count'").fetchone()[0], 4)
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
