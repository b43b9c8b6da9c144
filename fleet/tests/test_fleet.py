"""The driver over a stand-in for ssh: what happens to hosts becomes their rows, and the others go on."""

import os
import signal
import sqlite3
import sys
import time
import unittest
from pathlib import Path

from .support import FleetTest, processes_with
from hopcost_fleet.driver import Part

QUICK = ["--cost-time", "100ms"]
# Stands before the real python3 on a host whose clock is an hour behind.
LATE = f"""#!{os.path.realpath(sys.executable)} -I
import os, sys, time
if "-c" not in sys.argv:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
real = time.time
time.time = lambda: real() - 3600
exec(sys.argv[-1])
"""


class Fleet(FleetTest):
    def states(self) -> dict[str, str]:
        return {row["name"]: row["state"] for row in self.rows("SELECT * FROM host")}

    def run_ids(self) -> list[str]:
        """Of all files that the journal names."""
        ids = []
        for row in self.rows("SELECT file FROM task WHERE file IS NOT NULL"):
            db = sqlite3.connect(self.out / row["file"])
            ids.append(db.execute("SELECT run_id FROM run").fetchone()[0])
            db.close()
        return ids

    def test_hosts_then_pairs_and_the_report(self) -> None:
        labels = self.root / "labels"
        labels.write_text("a rack=r7\nx rack=r8\n")
        hosts = self.hosts("a", "b", "c", "d")
        out, err = self.drive("run", "call/ok", "call/big", *self.by_ssh(hosts), "--out", self.out, "--pairs", "all", "--label", labels, *QUICK)
        self.assertEqual(out, f"report of {self.out}\n")
        self.assertIn("1 labelled hosts are not there: x", err)
        tasks = self.rows("SELECT * FROM task ORDER BY id")
        self.assertEqual([t["kind"] for t in tasks], ["host"] * 4 + ["pair"] * 6)
        self.assertEqual({t["state"] for t in tasks}, {"done"})
        self.assertEqual(len(set(self.run_ids())), 10)
        # No round begins before the one before it has ended.
        ends = {t["round"]: max(u["ended_s"] for u in tasks if u["round"] == t["round"]) for t in tasks}
        for task in tasks[4:]:
            self.assertGreaterEqual(task["started_s"], ends[task["round"] - 1])
        for row in self.rows("SELECT * FROM host"):
            self.assertEqual((row["hopcost"], row["checksum"]), ("0.1.0", "fa4e"))
            self.assertLess(abs(row["clock_off_s"]), 1)
            # Stopped it does nothing at all; the other figure is this machine's.
            self.assertEqual((row["frozen_cpu_percent"], row["frozen_wakeups_per_s"]), (0, 0))
            self.assertIsNotNone(row["agent_cpu_percent"])
        self.assertEqual(self.rows("SELECT labels FROM host WHERE name = 'a'")[0][0], '{"rack": "r7"}')
        self.assertEqual(self.setting("status"), "complete")
        self.nothing_left()
        # Nothing of the fleet is left on hosts but the binary.
        caches = {p.name for p in (self.root / "hosts" / "a" / "cache" / "hopcost").rglob("*") if p.is_file()}
        self.assertEqual(len(caches), 1, caches)

    def test_what_can_happen_to_hosts(self) -> None:
        hosts = self.hosts("good", "also", "down", "old", "late", "dies", "hangs", "full",
                           old={"FAKE_VERSION": "0.0.9", "FAKE_PROTOCOL": "2"}, full={"FAKE_FULL": "1"})  # fmt: skip
        (self.root / "hosts" / "down" / "down").touch()
        late = self.root / "hosts" / "late" / "bin"
        late.mkdir()
        (late / "python3").write_text(LATE)
        (late / "python3").chmod(0o755)
        (self.root / "hosts" / "late" / "env").write_text(f"PATH={late}:{os.environ['PATH']}")
        driver = self.start("run", "call/slow", *self.by_ssh(hosts), "--out", self.out, "--pairs", "all", "--lease", "5s", *QUICK)
        self.until(lambda: len(self.running()) >= 5)
        time.sleep(0.5)
        for name, number in (("dies", signal.SIGKILL), ("hangs", signal.SIGSTOP)):
            # The stand-in has made way for the agent, through a shell.
            pid = int((self.root / "hosts" / name / "pid").read_text())
            os.kill(pid, number)
            if number == signal.SIGSTOP:  # and again, whatever its hopcost does to wake it
                hopcost = [int(line.split()[0]) for line in processes_with(f"hosts/{name}") if " run call/slow" in line]
                for one in hopcost:
                    os.kill(one, signal.SIGSTOP)
                os.kill(pid, number)
                stopped = [*hopcost, pid]
        out, err = driver.communicate(timeout=100)
        for pid in stopped:  # what hangs for ever is ended by nobody but the test
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # the stand-in for ssh was the agent itself, and the driver has ended that
        self.assertEqual(driver.returncode, 1, err)
        rows = {row["name"]: row for row in self.rows("SELECT * FROM host")}
        self.assertEqual(self.states(), {"good": "ready", "also": "ready", "down": "unreachable", "old": "refused",
                                         "late": "ready", "dies": "lost", "hangs": "lost", "full": "ready"})  # fmt: skip
        for name, why in (
            ("down", "No route to host"), ("old", "hopcost 0.0.9 with protocol 2"), ("late", "3,600 s behind"),
            ("dies", "its agent ended"), ("hangs", "no answer in time"),
        ):  # fmt: skip
            self.assertIn(why, rows[name]["reason"])
        self.assertAlmostEqual(rows["late"]["clock_off_s"], 3600, delta=5)
        tasks = {(t["a"], t["b"]): t for t in self.rows("SELECT * FROM task")}
        self.assertEqual(len(tasks), 8 + 28)
        self.assertEqual({k for k, t in tasks.items() if t["state"] == "done" and k[1] is None}, {("good", None), ("also", None), ("late", None)})
        self.assertIn("No space left", tasks["full", None]["reason"])
        pairs = {frozenset(k): t["state"] for k, t in tasks.items() if k[1]}
        well = {"good", "also", "late"}
        for pair, state in pairs.items():
            self.assertEqual(state, "done" if pair <= well else "failed" if pair <= well | {"full"} and "full" in pair and state == "failed" else
                             "done" if pair <= well | {"full"} else "skipped", pair)  # fmt: skip
        self.assertEqual(len(self.run_ids()), len(set(self.run_ids())))

        # The hosts are well again: only what is not done is measured again, under names of its own.
        (self.root / "hosts" / "down" / "down").unlink()
        for name in ("old", "full"):
            (self.root / "hosts" / name / "env").unlink()
        done = sum(t["state"] == "done" for t in tasks.values())
        self.drive("run", "--resume", self.out, *self.by_ssh(hosts), *QUICK)
        again = self.rows("SELECT * FROM task WHERE attempt = 2")
        self.assertEqual((len(again), {t["state"] for t in again}), (36 - done, {"done"}))
        self.assertEqual(len(set(self.run_ids())), 36 + sum(1 for t in tasks.values() if t["file"] and t["state"] != "done"))
        self.assertEqual({t["file"] for t in again if t["a"] == "down" and not t["b"]}, {"hosts/down.2.hopcost"})
        self.nothing_left()

    def test_an_abort_leaves_nothing_behind_and_resume_goes_on(self) -> None:
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
            with self.subTest(number.name):
                self.out = self.root / number.name
                hosts = self.hosts("a", "b", "c")
                driver = self.start("run", "call/ok", "--pair-cases", "roundtrip/slow", *self.by_ssh(hosts), "--out", self.out, "--pairs", "all", *QUICK)
                self.until(lambda: any(t["kind"] == "pair" for t in self.running()))
                time.sleep(0.3)
                driver.send_signal(number)
                driver.communicate(timeout=60)
                self.assertEqual(driver.returncode, code)
                self.nothing_left()
                self.assertEqual(self.setting("status"), "running" if number == signal.SIGKILL else "aborted")
                before = {t["id"] for t in self.rows("SELECT * FROM task WHERE state = 'done'")}
                self.assertGreaterEqual(len(before), 3)
                self.drive("run", "--resume", self.out, *self.by_ssh(hosts), *QUICK)
                done = self.rows("SELECT * FROM task WHERE state = 'done'")
                self.assertLessEqual(before, {t["id"] for t in done})
                self.assertEqual(len({(t["a"], t["b"]) for t in done}), len(done))
                self.assertEqual(len(done), 6)
                self.assertEqual(len(set(self.run_ids())), 6)
                self.nothing_left()

    def test_what_ended_while_the_driver_was_away_is_fetched_and_not_measured_again(self) -> None:
        self.drive("run", "call/ok", *self.by_ssh(self.hosts("a", "b")), "--out", self.out, *QUICK)
        # As a driver leaves it that is killed between the end of a run and its fetching.
        row = self.rows("SELECT * FROM task WHERE a = 'a'")[0]
        fleet = self.root / "hosts" / "a" / "cache" / "hopcost" / "fleet" / self.setting("id") / f"t{row['id']}"
        fleet.mkdir(parents=True, mode=0o700)
        (self.out / row["file"]).rename(fleet / "run.hopcost")
        (fleet / "ended").write_text('{"exit": 0, "said": ""}')
        db = sqlite3.connect(self.out / "fleet.sqlite")
        db.execute("UPDATE task SET state = 'running', file = NULL, exit_code = NULL WHERE a = 'a'")
        db.commit()
        self.drive("run", "--resume", self.out, *self.by_ssh(self.hosts("a", "b")), *QUICK)
        rows = self.rows("SELECT a, state, attempt, file, reason FROM task")
        self.assertEqual([tuple(r) for r in rows], [("a", "done", 1, "hosts/a.hopcost", None), ("b", "done", 1, "hosts/b.hopcost", None)])
        self.assertTrue((self.out / "hosts" / "a.hopcost").is_file())

    def test_cases_that_fail_and_programs_that_crash(self) -> None:
        for case, state, code, why in (
            ("call/fail", "done", 1, "one case failed"), ("call/crash", "failed", -11, "left no run file"),
            ("call/full", "failed", 1, "No space left"), ("call/hang", "failed", 124, "lease"),
        ):  # fmt: skip
            with self.subTest(case):
                self.out = self.root / case.replace("/", "-")
                self.drive("run", case, *self.by_ssh(self.hosts("a")), "--out", self.out, "--lease", "2s", *QUICK, code=None)
                row = self.rows("SELECT * FROM task")[0]
                self.assertEqual((row["state"], row["exit_code"]), (state, code), row["reason"])
                self.assertIn(why, row["reason"])
        self.nothing_left()

    def test_one_driver_at_a_time(self) -> None:
        hosts = self.hosts("a")
        first = self.start("run", "call/slow", *self.by_ssh(hosts), "--out", self.out, *QUICK)
        self.until(self.running)
        _, err = self.drive("run", "--resume", self.out, *self.by_ssh(hosts), code=2)
        self.assertIn("another driver", err)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)

    def test_a_budget_is_kept(self) -> None:
        _, err = self.drive("run", *self.by_ssh(self.hosts("a", "b", "c", "d")), "--pairs", "all", "--pair-time", "20s", "--budget", "56s", "--out", self.out, *QUICK)
        self.assertIn("2 pairs are not within the budget", err)
        self.assertEqual(self.setting("pairs_left_out"), "2")
        self.assertEqual(len(self.rows("SELECT * FROM task WHERE state = 'done'")), 4)

    def test_a_binary_that_a_host_has_is_used_and_another_build_is_said(self) -> None:
        hosts = self.hosts("a", "b")
        bin_ = self.root / "hosts" / "a" / "bin"
        bin_.mkdir()
        (bin_ / "theirs").write_text("#!/bin/sh\nexec python3 " + str(Path(__file__).with_name("fake_hopcost.py")) + ' "$@"\n')
        (bin_ / "theirs").chmod(0o755)
        (self.root / "hosts" / "a" / "env").write_text(f"PATH={bin_}:{os.environ['PATH']}")
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--installed", "theirs", "--out", self.out, *QUICK, code=1)
        self.assertEqual(self.states(), {"a": "ready", "b": "refused"})
        self.assertEqual(self.rows("SELECT reason FROM host WHERE name = 'b'")[0][0], "theirs: no such program here")

    def test_a_binary_that_was_changed_on_a_host_is_replaced(self) -> None:
        hosts = self.hosts("a")
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--out", self.out, *QUICK)
        [binary] = (self.root / "hosts" / "a" / "cache" / "hopcost" / "bin").iterdir()
        text = binary.read_bytes()
        binary.write_bytes(text + b"\n# changed\n")
        self.out = self.root / "again"
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--out", self.out, *QUICK)
        self.assertEqual(binary.read_bytes(), text)

    def test_a_cache_that_others_can_write_to_is_not_used(self) -> None:
        hosts = self.hosts("a")
        cache = self.root / "hosts" / "a" / "cache" / "hopcost"
        cache.mkdir(parents=True)
        cache.chmod(0o777)
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--out", self.out, *QUICK, code=1)
        self.assertIn("only this user can write to", self.rows("SELECT reason FROM host")[0][0])

    def test_a_file_is_believed_when_all_of_it_is_right(self) -> None:
        import base64
        import hashlib

        data = b"x" * 1000
        good = {"bytes": 1000, "sha256": hashlib.sha256(data).hexdigest()}
        send = lambda text: {"ok": True, "data": base64.b64encode(text).decode()}
        path = self.root / "a.hopcost"
        for reply, parts, why in (
            (good, [data[:600], data[600:]], ""), (good, [data[:600], data], "another length"), (good, [b""], "another length"),
            ({**good, "sha256": "0" * 64}, [data], "arrived changed"), ({**good, "sha256": None}, [data], "arrived changed"),
        ):  # fmt: skip
            path.unlink(missing_ok=True)
            part = Part(path, reply)
            said = [part.take(send(text)) for text in parts]
            if said[-1] == "":
                said[-1] = part.store()
            self.assertEqual(said[:-1], [None] * (len(parts) - 1))
            self.assertIn(why, said[-1])
            self.assertEqual(path.exists(), not why)
            self.assertEqual(list(self.root.glob(".*.part")), [])
        self.assertIn("could not be fetched", Part(path, good).take({"ok": False, "error": "no"}))
        self.assertIn("another length", Part(path, good).take({"ok": True, "data": "!!"}))


if __name__ == "__main__":
    unittest.main()
