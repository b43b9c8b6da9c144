"""DIR/fleet.sqlite: what was planned and what came of it, on the disk before the next round."""

import fcntl
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from .hosts import Host, Usage, is_name, printable

TABLES = """
CREATE TABLE IF NOT EXISTS fleet(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS host(name TEXT PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, document TEXT NOT NULL, run TEXT);
"""
SCHEMA = "3"
# The keys of a task; what is not known is absent from its document.
TASK = ("kind", "a", "b", "round", "attempt", "state", "reason", "file", "exit_code",
        "started_s", "ended_s")  # fmt: skip


class Journal:
    """The index of a fleet. Rollback journal and synchronous FULL: a kill loses nothing."""

    def __init__(self, directory: Path, new: bool) -> None:
        self.directory = directory
        path = directory / "fleet.sqlite"
        if new and path.exists():
            raise Usage(f"{directory}: holds a fleet already; --resume {directory} goes on with it")
        if not new and not path.is_file():
            raise Usage(f"{directory}: holds no fleet.sqlite")
        try:
            for folder in (directory, directory / "hosts", directory / "pairs"):
                folder.mkdir(parents=True, exist_ok=True)
                own(folder)
            # One driver at a time. The lock goes when the process does, however it ends.
            self._lock = os.open(directory, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
            own(path)
            self._db.executescript("PRAGMA trusted_schema=OFF; PRAGMA synchronous=FULL")
            if not new and self.get("schema") != SCHEMA:
                said = printable(self.get("schema"))
                raise Usage(f"{path}: schema {said}, and this driver knows {SCHEMA}")
            self._db.executescript(TABLES)
        except BlockingIOError:
            raise Usage(f"{directory}: another driver is at work there") from None
        except OSError as error:
            raise Usage(f"{error.filename or directory}: {error.strerror}") from None
        except sqlite3.Error as error:
            raise Usage(f"{path}: {error}") from None

    def close(self) -> None:
        """Lets go of the directory."""
        self._db.close()
        os.close(self._lock)

    def set(self, **values: str) -> None:
        """Writes settings of the fleet."""
        self._many("INSERT OR REPLACE INTO fleet VALUES (?, ?)", values.items())

    def get(self, key: str) -> str:
        """A setting of the fleet, empty if it is not set."""
        row = self._db.execute("SELECT value FROM fleet WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def add_hosts(self, hosts: list[Host]) -> None:
        """Adds hosts of which nothing is known yet."""
        unasked = {"state": "unreachable", "reason": "not asked yet"}
        rows = [{"address": host.address, "labels": host.labels, **unasked} for host in hosts]
        names = (host.name for host in hosts)
        self._many("INSERT INTO host VALUES (?, ?)", zip(names, map(json.dumps, rows)))

    def set_hosts(self, names: Iterable[str], state: str, reason: str | None) -> None:
        """Writes the state of hosts, of all of them or none."""
        patch = json.dumps({"state": state, "reason": reason})
        rows = ((patch, name) for name in names)
        self._many("UPDATE host SET document = json_patch(document, ?) WHERE name = ?", rows)

    def hosts(self) -> dict[str, dict]:
        """All hosts by name, in the order in which they were added."""
        rows = self._db.execute("SELECT name, document FROM host ORDER BY rowid")
        return {name: json.loads(text) for name, text in rows}

    def plan(self, tasks: Iterable[tuple[str, str, str | None, int, int]]) -> None:
        """Adds tasks: kind, a, b, round, attempt."""
        rows = ({**dict(zip(TASK, task)), "state": "planned"} for task in tasks)
        self._many("INSERT INTO task(document) VALUES (?)", ((known(row),) for row in rows))

    def set_tasks(self, tasks: list[dict]) -> None:
        """Writes tasks as they are now, all of them or none; `run` is what a run file holds."""
        rows = ((known(task), task.get("run"), task["id"]) for task in tasks)
        self._many("UPDATE task SET document = ?, run = coalesce(?, run) WHERE id = ?", rows)

    def tasks(self) -> Iterator[dict]:
        """The tasks, each attempt after those before it."""
        for number, text in self._db.execute("SELECT id, document FROM task ORDER BY id"):
            yield {**dict.fromkeys(TASK), **json.loads(text), "id": number}

    def latest(self, *states: str) -> list[dict]:
        """The last attempt at each host and pair, if it is in one of these states."""
        last = {(task["a"], task["b"]): task for task in self.tasks()}
        return [task for task in last.values() if task["state"] in states]

    def end_running(self, reason: str) -> None:
        """What runs without a driver has failed, unless its run file can be fetched."""
        running = self.latest("running")
        self.set_tasks([{**task, "state": "failed", "reason": reason} for task in running])

    def check(self) -> None:
        """Raises ValueError for rows that no driver wrote: their values make names of files."""
        hosts = self.hosts()
        for task in self.tasks():
            ends = {task["a"], task["b"] if task["kind"] == "pair" else task["a"]}
            numbers = (task["round"], task["attempt"])
            if not ends <= hosts.keys() or any(type(number) is not int for number in numbers):
                raise ValueError
        if not all(map(is_name, hosts)):
            raise ValueError

    def _many(self, statement: str, rows: Iterable[tuple]) -> None:
        """All rows or none."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:  # COMMIT or ROLLBACK
            self._db.executemany(statement, rows)


def own(path: Path) -> None:
    """Refuses what somebody else may have put there or can change."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid():
        raise Usage(f"{path}: is a link, or does not belong to you")
    if found.st_mode & 0o022:
        raise Usage(f"{path}: others can write there; chmod go-w {path}")


def known(task: dict) -> str:
    """The document of a task."""
    return json.dumps({key: task[key] for key in TASK if task.get(key) is not None})


def file_of(task: dict) -> str:
    """The run file of a task in the directory; an attempt has a name of its own."""
    names = [task["a"]] if task["kind"] == "host" else [task["a"], task["b"]]
    names += [str(task["attempt"])] if task["attempt"] > 1 else []
    return f"{task['kind']}s/{'--'.join(names)}.hopcost"
