"""What the tests share: a fleet of directories that pass for hosts, reached by a stand-in for ssh."""

import importlib.util
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FLEET = TESTS.parent
FAKE = TESTS / "fake_hopcost.py"
# The report needs it, the driver does not.
HAS_PANDAS = all(importlib.util.find_spec(name) for name in ("pandas", "scipy", "matplotlib"))
sys.path.insert(0, str(FLEET))
from hopcost_fleet.journal import TASK  # noqa: E402

HOST = ("address", "labels", "state", "reason")


def environment(**more: str) -> dict[str, str]:
    """Of the driver under test."""
    return {**os.environ, "PYTHONPATH": str(FLEET), "PYTHONDONTWRITEBYTECODE": "1", **more}


def hear_signals() -> None:
    """In a child, before its program: signals do what they do by default, though a background job ignores some."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def processes_with(text: str) -> list[str]:
    """Command lines of processes whose command line or environment holds a text that only one test uses."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes()
                if text.encode() in line + (folder / "environ").read_bytes():
                    state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                    if state not in "ZX":
                        found.append(f"{folder.name} {line.replace(bytes(1), b' ').decode(errors='replace')[:500]}")
            except OSError:
                pass
    return found


class FleetTest(unittest.TestCase):
    """A directory with hosts, a place for the fleet, and nothing left afterwards."""

    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="hopcost-fleet-test-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.out = self.root / "out"
        (self.root / "hosts").mkdir()

    def hosts(self, *names: str, **variables: dict[str, str]) -> Path:
        """A list of hosts."""
        for name in names:
            (self.root / "hosts" / name).mkdir(exist_ok=True)
        for name, values in variables.items():
            (self.root / "hosts" / name / "env").write_text("\n".join(f"{k}={v}" for k, v in values.items()))
        path = self.root / "hosts.txt"
        path.write_text("\n".join(names))
        return path

    def place(self, name: str, text: str, program: str = "python3") -> None:
        """A program of a host, found there before all others; `python3` stands in for that of its agent."""
        folder = self.root / "hosts" / name / "bin"
        folder.mkdir()
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
        with open(self.root / "hosts" / name / "env", "a") as env:
            env.write(f"\nPATH={folder}:{os.environ['PATH']}")

    def words(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "hopcost_fleet", *map(str, arguments)]

    def start(self, *arguments: object, **more: str) -> subprocess.Popen:
        """The driver, going."""
        child = subprocess.Popen(
            self.words(*arguments), env=environment(FAKE_HOSTS=str(self.root / "hosts"), **more), cwd=self.root,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals,
        )  # fmt: skip
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def drive(self, *arguments: object, code: int | None = 0, **more: str) -> tuple[str, str]:
        """The driver, to its end: what it wrote to stdout and stderr."""
        child = self.start(*arguments, **more)
        out, err = child.communicate(timeout=120)
        if code is not None:
            self.assertEqual(child.returncode, code, err)
        return out, err

    def by_ssh(self, hosts: Path) -> list[object]:
        """Options of a run over the stand-in."""
        return ["--ssh", hosts, "--ssh-command", shlex.join([sys.executable, str(TESTS / "fake_ssh.py")]), "--hopcost", FAKE]

    def rows(self, statement: str) -> list[sqlite3.Row]:
        """Of the index, whose documents have columns here."""
        db = sqlite3.connect(f"file:{self.out / 'fleet.sqlite'}?mode=ro", timeout=30, uri=True)
        db.row_factory = sqlite3.Row
        try:
            for table, key, parts in (("host", "name", HOST), ("task", "id", TASK)):
                columns = ", ".join(f"json_extract(document, '$.{part}') AS {part}" for part in parts)
                db.execute(f"CREATE TEMP VIEW {table} AS SELECT {key}, {columns} FROM main.{table}")
            return db.execute(statement).fetchall()
        finally:
            db.close()

    def setting(self, key: str) -> str:
        return self.rows(f"SELECT value FROM fleet WHERE key = '{key}'")[0][0]

    def until(self, what, why: str, most_s: float = 30.0):
        """Waits for something to be true; `why` is what the test then fails with."""
        end = time.monotonic() + most_s
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.05)
        self.fail(f"{why}, after {most_s:g} s")

    def running(self) -> list:
        try:
            return self.rows("SELECT * FROM task WHERE state = 'running'")
        except (sqlite3.Error, IndexError):
            return []

    def nothing_left(self, most_s: float = 20.0) -> None:
        """No process of this test's hosts lives on."""
        try:
            self.until(lambda: not processes_with(str(self.root / "hosts")), "processes were left", most_s)
        except AssertionError as error:
            self.fail(f"{error}: {processes_with(str(self.root / 'hosts'))}")

    def states(self) -> dict[str, str]:
        return {row["name"]: row["state"] for row in self.rows("SELECT * FROM host")}

    def run_ids(self) -> list[str]:
        """Of all files that the journal names."""
        ids = []
        for row in self.rows("SELECT file FROM task WHERE file IS NOT NULL"):
            db = sqlite3.connect(self.out / row["file"])
            ids.append(db.execute("SELECT json_extract(document, '$.about.id') FROM run").fetchone()[0])
            db.close()
        return ids
