"""What people give: lists, times, names, directories. Bad input is one clear line, exit code 2."""

import os
import shutil
import sqlite3
import sys
import unittest

from .support import FAKE, FleetTest
from hopcost_fleet.hosts import Usage, is_name, name_of, read_hosts, seconds


class Input(FleetTest):
    def file(self, text: str):
        path = self.root / "list"
        path.write_text(text)
        return path

    def test_names(self) -> None:
        for name in ("a", "node-1", "10.0.0.1", "A_b.c", "x" * 64):
            self.assertTrue(is_name(name), name)
        for name in ("", ".a", "-a", "a--b", "a/b", "x" * 65, "a b", "ä", "a\n"):
            self.assertFalse(is_name(name), name)
        for text, name in (("tcp://10.0.0.1:99", "tcp-10.0.0.1-99"), ("../../etc", "etc"), ("///", "")):
            self.assertEqual(name_of(text), name)

    def test_a_list_of_hosts(self) -> None:
        text = "# mine\nroot@10.0.0.1 name=one rack=r7 bind=10.1.0.1 zone=x=y\n\nnode-2  # the second\n"
        hosts = [(h.name, h.address, h.data_address, h.labels) for h in read_hosts(self.file(text))]
        labels = {"rack": "r7", "zone": "x=y"}
        one = ("one", "root@10.0.0.1", "10.1.0.1", labels)
        self.assertEqual(hosts, [one, ("node-2", "node-2", "", {})])
        for text, why in (
            ("", "no hosts"),
            ("-oProxyCommand=x\n", "not an address"),
            ("a;b\n", "not an address"),
            ("a\nA\n", "two hosts are called"),
            ("a name=../x\n", "cannot name a host"),
            ("a rack\n", "not KEY=VALUE"),
            ("a rack=\x1b[31m\n", "not KEY=VALUE"),
        ):
            with self.assertRaisesRegex(Usage, why, msg=text) as caught:
                read_hosts(self.file(text))
            self.assertTrue(str(caught.exception).isprintable())

    def test_times(self) -> None:
        self.assertEqual([seconds(t) for t in ("90s", "1h30m", "500ms", "1.5m")], [90, 5400, 0.5, 90])
        for text in ("", "90", "s", "-1s", "0s", "1 s", "9999h", "1e9s"):
            with self.assertRaises(Usage, msg=text):
                seconds(text)

    def test_the_command_line_says_what_is_wrong_in_one_line(self) -> None:
        hosts = self.hosts("a")
        ssh = self.by_ssh(hosts)
        (self.root / "there").mkdir()
        path = self.root / "there" / "fleet.sqlite"
        sqlite3.connect(path).execute("CREATE TABLE fleet(key TEXT PRIMARY KEY, value TEXT)")
        (self.root / "junk").mkdir()
        (self.root / "junk" / "fleet.sqlite").write_text("x" * 5000)
        fake = ["--hopcost", FAKE]
        for arguments, why in (
            (["call/ok", *fake], "give a launcher"),
            ([*ssh], "nothing to measure"),
            (["call/nosuch", *ssh], "unknown mechanism"),
            (["call/ok", *ssh, "--pairs", "some"], "--pairs"),
            (["call/ok", *ssh, "--pair-time", "1"], "is not a time"),
            (["call/ok", *ssh, "--nosuch"], "unrecognized arguments"),
            (["call/ok", *ssh, "--label", "nowhere"], "No such file"),
            (["call/ok", "--ssh", "nowhere", *fake], "No such file"),
            (["call/ok", "--ssh", hosts, "--ssh-command", "nosuchprogram", *fake], "no such program"),
            (["call/ok", "--ssh", hosts, "--hopcost", "nowhere"], "no hopcost to bring"),
            (["--suite", "no.toml", *ssh], "No such file"),
            (["call/ok", *ssh, "--out", self.root / "there"], "holds a fleet already"),
            (["--resume", self.root / "nowhere", *ssh], "holds no fleet.sqlite"),
            (["--resume", self.root / "there", *ssh], "schema"),
            (["--resume", self.root / "junk", *ssh], "not a database"),
            (["call/ok", "--resume", self.root / "there", *ssh], "give only the launcher"),
            (["call/ok", *ssh, "--out", hosts], "File exists|Not a directory"),
            (["call/ok", "--slurm", *fake], "inside an allocation"),
            (["call/ok", "--dask", "tcp://127.0.0.1:1", *fake], "no Dask scheduler answers|pip install"),
        ):
            out, err = self.drive("run", *arguments, code=2)
            self.assertEqual((out, err.count("\n")), ("", 1), err)
            self.assertRegex(err, why)

    def test_what_is_stored_names_no_program_and_no_option(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        self.drive("run", "call/ok", *ssh, "--pairs", "ring", "--out", self.out)
        victim = self.root / "victim"
        whole = (self.out / "fleet.sqlite").read_bytes()
        part = lambda table, key, value: f"UPDATE {table} SET document = json_set(document, '$.{key}', {value})"
        words = lambda value: f"UPDATE fleet SET value = '{value}' WHERE key = 'words'"
        for statement, why in (
            (words(f'["--hopcost={victim}", "call/ok"]'), "does not say"),
            (words(f'["--ssh-command={victim}", "call/ok"]'), "does not say"),
            (words('["-o", "x"]'), "does not say"),
            (words('["--", "call/nosuch"]'), "unknown mechanism"),
            (words('["--pair-time=soon", "call/ok"]'), "does not say"),
            (words('["--suite=x.toml"]'), "No such file"),
            (words("[7]"), "does not say"),
            (words("7"), "does not say"),
            (words("[" * 100000), "does not say"),
            ("UPDATE fleet SET value = '--out' WHERE key = 'id'", "does not say"),
            (part("task", "a", "'../../x'"), "does not say"),
            (part("task", "attempt", "'/../../../victim'"), "does not say"),
            (part("task", "round", "'x'"), "does not say"),
            ("UPDATE task SET document = '[1]'", "does not say"),
            ("UPDATE host SET name = '../x'", "does not say"),
            ("ALTER TABLE host RENAME COLUMN document TO other", "does not say"),
        ):
            with self.subTest(statement[:120]):
                (self.out / "fleet.sqlite").write_bytes(whole)
                db = sqlite3.connect(self.out / "fleet.sqlite")
                db.executescript(statement)
                db.close()
                out, err = self.drive("run", "--resume", self.out, *ssh, code=2)
                self.assertEqual((out, err.count("\n")), ("", 1), err)
                self.assertRegex(err, why)
                self.assertFalse(victim.exists())

    def test_a_directory_that_others_can_change_is_not_gone_on_with(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        self.drive("run", "call/ok", *ssh, "--out", self.out)

        def linked(name: str):
            (self.out / name).rename(self.root / "away")
            (self.out / name).symlink_to(self.root / "away")

        changes = {
            "hosts is a link": (lambda: linked("hosts"), "is a link"),
            "the index is a link": (lambda: linked("fleet.sqlite"), "is a link"),
            "the group may write": (lambda: self.out.chmod(0o775), "chmod go-w"),
            "all may write the index": (lambda: (self.out / "fleet.sqlite").chmod(0o666), "chmod go-w"),
        }
        if os.geteuid() == 0:
            changes["a stranger's"] = (lambda: os.chown(self.out / "hosts", 12345, 0), "belong to you")
        else:
            print("NOT CHECKED: a stranger's directory: only root can give it away", file=sys.stderr)
        for name, (change, why) in changes.items():
            with self.subTest(name):
                shutil.copytree(self.out, self.root / "kept")
                change()
                _, err = self.drive("run", "--resume", self.out, *ssh, code=2)
                self.assertRegex(err, why)
                shutil.rmtree(self.out)
                away = self.root / "away"
                shutil.rmtree(away) if away.is_dir() else away.unlink(missing_ok=True)
                (self.root / "kept").rename(self.out)


if __name__ == "__main__":
    unittest.main()
