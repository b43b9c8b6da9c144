"""The driver over a stand-in for ssh."""

import hashlib
import sqlite3
import unittest

from .support import FleetTest
from hopcost_fleet.driver import keep


class Fleet(FleetTest):
    def test_hosts_then_pairs(self) -> None:
        labels = self.root / "labels"
        labels.write_text("a rack=r7\nx rack=r8\n")
        suite = self.root / "mine.toml"
        suite.write_text("# a suite\n")
        hosts = self.hosts("a", "b", "c", "d")
        words = ["--suite", suite, "call/big", *self.by_ssh(hosts), "--pairs", "all"]
        out, err = self.drive("run", *words, "--out", self.out, "--label", labels)
        self.assertEqual(out, "")
        self.assertIn("4 of 4 hosts, 10 tasks done, 0 not; hopcost fleet report", err)
        self.assertIn("labelled, and not there: x", err)
        tasks = self.rows("SELECT * FROM task ORDER BY id")
        self.assertEqual([t["kind"] for t in tasks], ["host"] * 4 + ["pair"] * 6)
        self.assertEqual({t["state"] for t in tasks}, {"done"})
        self.assertEqual(len(set(self.run_ids())), 10)
        # No round begins before the one before it has ended.
        ends = {t["round"]: max(u["ended_s"] for u in tasks if u["round"] == t["round"]) for t in tasks}
        for task in tasks[4:]:
            self.assertGreaterEqual(task["started_s"], ends[task["round"] - 1])
        self.assertEqual(self.rows("SELECT labels FROM host WHERE name = 'a'")[0][0], '{"rack":"r7"}')
        self.assertEqual(self.setting("status"), "complete")
        self.assertEqual((self.out / "suite.toml").read_text(), "# a suite\n")
        self.nothing_left()
        # Nothing of the fleet is left on hosts but the binary.
        cache = self.root / "hosts" / "a" / "cache" / "hopcost"
        self.assertEqual(len([p for p in cache.rglob("*") if p.is_file()]), 1)

    def test_what_ended_while_the_driver_was_away_is_fetched_and_not_measured_again(self) -> None:
        ssh = self.by_ssh(self.hosts("a", "b"))
        self.drive("run", "call/ok", *ssh, "--out", self.out)
        # As a driver leaves it that is killed between the end of a run and its fetching.
        row = self.rows("SELECT * FROM task WHERE a = 'a'")[0]
        cache = self.root / "hosts" / "a" / "cache" / "hopcost"
        place = cache / "fleet" / self.setting("id") / f"t{row['id']}"
        place.mkdir(parents=True, mode=0o700)
        (self.out / row["file"]).rename(place / "run.hopcost")
        (place / "ended").write_text('{"exit": 0, "said": ""}')
        db = sqlite3.connect(self.out / "fleet.sqlite")
        gone = '{"state": "running", "file": null, "exit_code": null}'
        a = "json_extract(document, '$.a') = 'a'"
        db.execute(f"UPDATE task SET document = json_patch(document, ?) WHERE {a}", (gone,))
        db.commit()
        self.drive("run", "--resume", self.out, *ssh)
        rows = self.rows("SELECT a, state, attempt, file, reason FROM task")
        wanted = [(name, "done", 1, f"hosts/{name}.hopcost", None) for name in ("a", "b")]
        self.assertEqual([tuple(r) for r in rows], wanted)
        self.assertTrue((self.out / "hosts" / "a.hopcost").is_file())

    def test_one_driver_at_a_time(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        first = self.start("run", "call/slow", *ssh, "--out", self.out)
        self.until(self.running, "no task ran")
        _, err = self.drive("run", "--resume", self.out, *ssh, code=2)
        self.assertIn("another driver", err)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)

    def test_a_binary_that_was_changed_on_a_host_is_replaced(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        self.drive("run", "call/ok", *ssh, "--out", self.out)
        [binary] = (self.root / "hosts" / "a" / "cache" / "hopcost" / "bin").iterdir()
        text = binary.read_bytes()
        binary.write_bytes(text + b"\n# changed\n")
        self.drive("run", "call/ok", *ssh, "--out", self.root / "again")
        self.assertEqual(binary.read_bytes(), text)

    def test_hosts_that_hopcost_cannot_use_say_why(self) -> None:
        hosts = self.hosts("good", "open", "old", old={"FAKE_BROKEN": "1"})
        cache = self.root / "hosts" / "open" / "cache" / "hopcost"
        cache.mkdir(parents=True)
        cache.chmod(0o777)
        self.drive("run", "call/ok", *self.by_ssh(hosts), "--out", self.out, code=1)
        rows = {row["name"]: row for row in self.rows("SELECT * FROM host")}
        self.assertEqual(self.states(), {"good": "ready", "open": "refused", "old": "refused"})
        self.assertIn("only this user can write to", rows["open"]["reason"])
        self.assertIn("GLIBC_2.99 not found", rows["old"]["reason"])

    def test_a_file_is_believed_if_all_of_it_is_right(self) -> None:
        data, path, part = b"x" * 1000, self.root / "a.hopcost", self.root / ".a.part"
        good = {"bytes": 1000, "sha256": hashlib.sha256(data).hexdigest()}
        for reply, came, why in (
            (good, data[:600], "arrived changed"),
            ({**good, "sha256": None}, data, "arrived changed"),
            ({**good, "bytes": 0}, b"", "has 0 bytes"),
            ({**good, "bytes": 1 << 31}, data, "bytes"),
            (good, data, ""),
            (good, data, ""),  # stored by a driver that was killed
        ):
            part.write_bytes(came)
            said = keep(part, path, reply)
            self.assertEqual(bool(said), bool(why))
            self.assertIn(why, said)
            self.assertEqual(path.exists(), not why)
        path.write_bytes(b"somebody's")
        part.write_bytes(data)
        self.assertIn("another file is there", keep(part, path, good))
        self.assertEqual(path.read_bytes(), b"somebody's")


if __name__ == "__main__":
    unittest.main()
