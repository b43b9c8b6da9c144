"""The driver over a stand-in for ssh."""

import sqlite3
import unittest
from pathlib import Path

from .support import HAS_PANDAS, QUICK, FleetTest
from hopcost_fleet.driver import Part


class Fleet(FleetTest):
    def test_hosts_then_pairs_and_the_report(self) -> None:
        labels = self.root / "labels"
        labels.write_text("a rack=r7\nx rack=r8\n")
        hosts = self.hosts("a", "b", "c", "d")
        out, err = self.drive("run", "call/ok", "call/big", *self.by_ssh(hosts), "--out", self.out, "--pairs", "all", "--label", labels, *QUICK)
        if HAS_PANDAS:
            self.assertIn("Hosts: 4 ready. Runs of hosts: 4 done. Runs of pairs: 6 done.", out)
        else:
            self.assertRegex(err, r"no report: \w+ is not here: pip install 'hopcost\[fleet\]'")
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
        self.assertEqual(self.rows("SELECT labels FROM host WHERE name = 'a'")[0][0], '{"rack":"r7"}')
        self.assertEqual(self.setting("status"), "complete")
        self.nothing_left()
        # Nothing of the fleet is left on hosts but the binary.
        caches = {p.name for p in (self.root / "hosts" / "a" / "cache" / "hopcost").rglob("*") if p.is_file()}
        self.assertEqual(len(caches), 1, caches)

    def test_what_ended_while_the_driver_was_away_is_fetched_and_not_measured_again(self) -> None:
        self.drive("run", "call/ok", *self.by_ssh(self.hosts("a", "b")), "--out", self.out, *QUICK)
        # As a driver leaves it that is killed between the end of a run and its fetching.
        row = self.rows("SELECT * FROM task WHERE a = 'a'")[0]
        fleet = self.root / "hosts" / "a" / "cache" / "hopcost" / "fleet" / self.setting("id") / f"t{row['id']}"
        fleet.mkdir(parents=True, mode=0o700)
        (self.out / row["file"]).rename(fleet / "run.hopcost")
        (fleet / "ended").write_text('{"exit": 0, "said": ""}')
        db = sqlite3.connect(self.out / "fleet.sqlite")
        gone = '{"state": "running", "file": null, "exit_code": null}'
        db.execute("UPDATE task SET document = json_patch(document, ?) WHERE json_extract(document, '$.a') = 'a'", (gone,))
        db.commit()
        self.drive("run", "--resume", self.out, *self.by_ssh(self.hosts("a", "b")), *QUICK)
        rows = self.rows("SELECT a, state, attempt, file, reason FROM task")
        self.assertEqual([tuple(r) for r in rows], [("a", "done", 1, "hosts/a.hopcost", None), ("b", "done", 1, "hosts/b.hopcost", None)])
        self.assertTrue((self.out / "hosts" / "a.hopcost").is_file())

    def test_one_driver_at_a_time(self) -> None:
        hosts = self.hosts("a")
        first = self.start("run", "call/slow", *self.by_ssh(hosts), "--out", self.out, *QUICK)
        self.until(self.running, "no task ran")
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
        hosts = self.hosts("a", "b", a={"FAKE_CHECKSUM": "07e4"})
        self.place("a", "#!/bin/sh\nexec python3 " + str(Path(__file__).with_name("fake_hopcost.py")) + ' "$@"\n', "theirs")
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--installed", "theirs", "--out", self.out, *QUICK, code=1)
        self.assertEqual(self.states(), {"a": "ready", "b": "refused"})
        self.assertEqual(self.rows("SELECT reason FROM host WHERE name = 'a'")[0][0], "another build of hopcost 0.1.0: 07e4")
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
        path.write_bytes(b"somebody's")
        part = Part(path, good)
        self.assertEqual(part.take(send(data)), "")
        self.assertIn("another file is there", part.store())
        self.assertEqual(path.read_bytes(), b"somebody's")
        self.assertIn("could not be fetched", Part(path, good).take({"ok": False, "error": "no"}))
        self.assertIn("another length", Part(path, good).take({"ok": True, "data": "!!"}))


if __name__ == "__main__":
    unittest.main()
