"""What people give: lists, labels, times, names. Bad input is one clear line and exit code 2."""

import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from .support import FAKE, FleetTest
from hopcost_fleet.hosts import Usage, is_name, name_of, read_hosts, read_labels, seconds
from hopcost_fleet.journal import NAMES_ANOTHER
from hopcost_fleet.slurm import script


class Input(FleetTest):
    def file(self, text: str, name: str = "list"):
        path = self.root / name
        path.write_text(text)
        return path

    def test_names(self) -> None:
        for name in ("a", "node-1", "10.0.0.1", "A_b.c", "x" * 64):
            self.assertTrue(is_name(name), name)
        for name in ("", ".a", "-a", "a--b", "a/b", "x" * 65, "a b", "ä", "a\n"):
            self.assertFalse(is_name(name), name)
        self.assertEqual(name_of("tcp://10.0.0.1:99"), "tcp-10.0.0.1-99")
        self.assertEqual(name_of("../../etc"), "etc")
        self.assertTrue(is_name(name_of("[fe80::1%eth0]")))
        self.assertEqual(name_of("///"), "")

    def test_a_list_of_hosts(self) -> None:
        hosts = read_hosts(self.file("# mine\nroot@10.0.0.1 name=one rack=r7 bind=10.1.0.1\n\nnode-2  # the second\n"))
        self.assertEqual([(h.name, h.address, h.data_address, h.labels) for h in hosts],
                         [("one", "root@10.0.0.1", "10.1.0.1", {"rack": "r7"}), ("node-2", "node-2", "", {})])  # fmt: skip

    def test_labels(self) -> None:
        labels = read_labels(self.file("a rack=r1 zone=x=y\nb rack=r2\na row=3\n"))
        self.assertEqual(labels, {"a": {"rack": "r1", "zone": "x=y", "row": "3"}, "b": {"rack": "r2"}})

    def test_what_is_wrong_with_a_list(self) -> None:
        for text, why in (
            ("", "no hosts"),
            ("-oProxyCommand=x\n", "not an address"),
            ("a;b\n", "not an address"),
            ("a\na\n", "two hosts are called a"),
            ("a\nA\n", "two hosts are called A"),
            ("a name=x/y\n", "cannot name a host"),
            ("a name=../x\n", "cannot name a host"),
            ("a rack\n", "not KEY=VALUE"),
            ("a rack=\x1b[31m\n", "not KEY=VALUE"),
            ("a\na.2\n", "share names of files"),
        ):
            with self.assertRaisesRegex(Usage, why, msg=text) as caught:
                read_hosts(self.file(text))
            self.assertTrue(str(caught.exception).isprintable())

    def test_times(self) -> None:
        self.assertEqual([seconds(t) for t in ("90s", "1h30m", "500ms", "1.5m")], [90, 5400, 0.5, 90])
        for text in ("", "90", "s", "-1s", "0s", "1 s", "9999d", "1e9s"):
            with self.assertRaises(Usage, msg=text):
                seconds(text)

    def test_the_command_line_says_what_is_wrong_in_one_line(self) -> None:
        hosts = self.hosts("a")
        ssh = self.by_ssh(hosts)
        (self.root / "there").mkdir()
        sqlite3.connect(self.root / "there" / "fleet.sqlite").execute("CREATE TABLE fleet(key TEXT PRIMARY KEY, value TEXT)")
        (self.root / "junk").mkdir()
        (self.root / "junk" / "fleet.sqlite").write_text("x" * 5000)
        fake = ["--hopcost", FAKE]
        for arguments, why in (
            (["call/ok", *fake], "give an engine"),
            ([*ssh], "nothing to measure"),
            (["call/nosuch", *ssh], "unknown mechanism"),
            (["call/ok", *ssh, "--pairs", "some"], "--pairs"),
            (["call/ok", *ssh, "--budget", "1"], "is not a time"),
            (["call/ok", *ssh, "--label", "nowhere"], "No such file"),
            (["call/ok", "--ssh", "nowhere", *fake], "No such file"),
            (["call/ok", "--ssh", hosts, "--ssh-command", "nosuchprogram", *fake], "no such program"),
            (["call/ok", "--ssh", hosts, "--hopcost", "/bin/false"], "does not know `facts`"),
            (["call/ok", "--ssh", hosts, "--hopcost", "nowhere"], "no hopcost to ship"),
            (["no.toml", *ssh], "No such file"),
            (["call/ok", *ssh, "--out", self.root / "there"], "holds a fleet already"),
            (["--resume", self.root / "nowhere", *ssh], "holds no fleet.sqlite"),
            (["--resume", self.root / "there", *ssh], "schema"),
            (["--resume", self.root / "junk", *ssh], "not a database"),
            (["call/ok", "--resume", self.root / "there", *ssh], "give only the engine"),
            (["call/ok", *ssh, "--out", hosts], "File exists|Not a directory"),
            (["call/ok", "--srun", *fake], "inside an allocation"),
            (["call/ok", "--slurm", "-N2 --bad\x07", *fake], "no option of sbatch"),
        ):
            out, err = self.drive("run", *arguments, code=2)
            self.assertEqual((out, err.count("\n")), ("", 1), err)
            self.assertRegex(err, why)

    def test_a_dask_that_is_not_there_is_said(self) -> None:
        _, err = self.drive("run", "call/ok", "--dask", "tcp://127.0.0.1:1", "--hopcost", FAKE, code=2)
        self.assertRegex(err, r"^hopcost-fleet: .*(no Dask scheduler answers|pip install).*\n$")

    def test_what_is_stored_names_no_program_and_no_option(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        self.drive("run", "call/ok", *ssh, "--pairs", "ring", "--out", self.out, "--cost-time", "100ms")
        victim, program = self.root / "victim", self.root / "program"
        program.write_text(f"#!/bin/sh\ntouch {victim}\n")
        program.chmod(0o755)
        whole = (self.out / "fleet.sqlite").read_bytes()
        part = lambda table, key, value: f"UPDATE {table} SET document = json_set(document, '$.{key}', {value})"
        settings = lambda key, value: f"UPDATE fleet SET value = json_set(value, '$.{key}', json('{value}')) WHERE key = 'settings'"
        for statement, why in (
            (settings("installed", f'"{program}"'), "does not say"),
            (settings("installed", "true"), "began with --installed"),
            (settings("program", f'"{program}"'), "does not say"),
            (settings("cases", f'["-o", "{victim}"]'), "begins with no `-`"),
            (settings("cases", f'["call/ok", "--out={victim}"]'), "begins with no `-`"),
            (settings("cases", '["call/nosuch"]'), "unknown mechanism"),
            (settings("cases", "7"), "does not say"),
            (settings("pair_cases", f'["--out={victim}"]'), "begins with no `-`"),
            (settings("pair_cases", '["call/nosuch"]'), "unknown mechanism"),
            (settings("suite", f'"--out={victim}"'), "begins with no `-`"),
            (settings("suite", f'"{program}"'), "no suite of"),
            (settings("suite_text", "[1]"), "does not say"),
            (settings("host_time", f'"1s --out={victim}"'), "not a time"),
            (settings("pair_time", '"--no"'), "not a time"),
            (settings("budget", "[]") + "; " + settings("lease", "3"), "does not say"),
            (settings("labels", '{"../x": {}}'), "does not say"),
            ("UPDATE fleet SET value = '[]' WHERE key = 'settings'", "does not say"),
            (f"UPDATE fleet SET value = '{'[' * 100000}' WHERE key = 'settings'", "does not say"),
            ("UPDATE fleet SET value = '--out' WHERE key = 'id'", "does not say"),
            ("UPDATE fleet SET value = 'x' WHERE key = 'seed'", "does not say"),
            (part("task", "a", "'../../x'"), "no driver has written"),
            (part("task", "state", "'planned'") + "; " + part("task", "attempt", "'/../../../victim'"), "no driver has written"),
            (part("task", "round", "'x'"), "no driver has written"),
            (part("task", "kind", "json('[]')"), "no driver has written"),
            ("UPDATE task SET document = '[1]'", "does not say"),
            ("UPDATE host SET name = '../x'", "no driver has written"),
            (part("host", "state", "'\x1b[31m'"), "no driver has written"),
            ("ALTER TABLE host RENAME COLUMN document TO other", "does not say"),
            ("CREATE VIEW v AS SELECT 1", "no driver has made"),
            ("CREATE VIRTUAL TABLE v USING rtree(a, b, c)", "no driver has made"),
        ):
            with self.subTest(statement[:120]):
                (self.out / "fleet.sqlite").write_bytes(whole)
                db = sqlite3.connect(self.out / "fleet.sqlite")
                db.executescript(statement)
                db.close()
                out, err = self.drive("run", "--resume", self.out, *ssh, code=2)
                self.assertEqual((out, err.count("\n")), ("", 1), err)
                self.assertRegex(err, why)
                self.assertTrue(err[:-1].isprintable())
                self.assertFalse(victim.exists())

    def test_a_directory_that_others_can_change_is_not_gone_on_with(self) -> None:
        ssh = self.by_ssh(self.hosts("a"))
        self.drive("run", "call/ok", *ssh, "--out", self.out, "--cost-time", "100ms")
        away, victim, journal = self.root / "away", self.root / "victim", self.out / "fleet.sqlite-journal"
        victim.write_text("mine")

        def linked(name: str):
            (self.out / name).rename(away)
            (self.out / name).symlink_to(away)

        changes = {
            "hosts is a link": (lambda: linked("hosts"), "is a link"),
            "pairs is a link": (lambda: linked("pairs"), "is a link"),
            "the index is a link": (lambda: linked("fleet.sqlite"), "is a link"),
            "a run file is a FIFO": (lambda: os.mkfifo(self.out / "hosts" / "b.hopcost"), "no regular file"),
            "the group may write": (lambda: self.out.chmod(0o775), "chmod go-w"),
            "all may write the index": (lambda: (self.out / "fleet.sqlite").chmod(0o666), "chmod go-w"),
            "all may replace it": (lambda: self.root.chmod(0o777), "another directory in the place"),
            # SQLite would read which file this journal belongs to, and delete that.
            "a journal names a file": (lambda: journal.write_bytes(b"victim" + NAMES_ANOTHER), "names another file"),
            "job.sh is a link": (lambda: (self.out / "job.sh").symlink_to(victim), "is a link"),
        }
        if os.geteuid() == 0:
            changes["a stranger's run file"] = (lambda: os.chown(self.out / "hosts" / "a.hopcost", 12345, 0), "not to you")
        else:
            print("NOT CHECKED: a stranger's file in a fleet's directory: only root can give files away", file=sys.stderr)
        kept = self.root / "kept"
        shutil.copytree(self.out, kept)
        for name, (change, why) in changes.items():
            engine = ["--slurm"] if "job.sh" in name else ssh
            with self.subTest(name):
                change()
                _, err = self.drive("run", "--resume", self.out, *engine, code=2)
                self.assertRegex(err, why)
                self.assertEqual((err.count("\n"), victim.read_text()), (1, "mine"), err)
            self.root.chmod(0o700)
            shutil.rmtree(self.out)
            shutil.rmtree(away) if away.is_dir() else away.unlink(missing_ok=True)
            shutil.copytree(kept, self.out)
        (self.root / "link").symlink_to(self.out)
        _, err = self.drive("run", "--resume", self.root / "link", *ssh, code=2)
        self.assertIn("or a link", err)

    def test_the_script_for_sbatch(self) -> None:
        made = script(["--nodes=4", "-p", "batch"][:1], self.root, ["python3", "-m", "x", "a b;c"])
        self.assertIn("#SBATCH --nodes=4\n", made)
        self.assertIn("exec python3 -m x 'a b;c'\n", made)
        for bad in ("--x\n#SBATCH --y", "rm", "-", "--"):
            with self.assertRaises(Usage, msg=bad):
                script([bad], self.root, ["x"])

    def test_without_sbatch_the_script_is_written_and_said(self) -> None:
        _, err = self.drive("run", "call/ok", "--slurm=--nodes=2", "--pairs", "ring", "--out", self.out, code=2, PATH="/nowhere")
        self.assertIn("there is no sbatch here", err)
        text = (self.out / "job.sh").read_text()
        self.assertIn(f"exec {sys.executable} -m hopcost_fleet run call/ok --pairs=ring --out {self.out} --srun\n", text)

    def test_sbatch_has_the_limits_of_the_driver_since_slurm_hands_them_to_the_job(self) -> None:
        (self.root / "hosts" / "here").mkdir()
        self.place("here", "#!/bin/sh\nulimit -f\n", "sbatch")
        limit = subprocess.run(["sh", "-c", "ulimit -f"], capture_output=True, text=True, check=True).stdout.strip()
        out, _ = self.drive("run", "call/ok", "--slurm=--nodes=2", "--out", self.out, PATH=str(self.root / "hosts/here/bin"))
        self.assertTrue(out.startswith(f"job {limit} submitted"), out)


if __name__ == "__main__":
    unittest.main()
