"""DIR/fleet.sqlite: what was planned, what became of it, each row durable before the next task begins."""

import fcntl
import json
import os
import re
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .hosts import Host, Usage, is_name, printable

TABLES = """
CREATE TABLE IF NOT EXISTS fleet(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS host(name TEXT PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, document TEXT NOT NULL, run TEXT);
"""
SCHEMA = "2"
# The keys of each document; one that is not known is absent from it.
HOST = ("address", "labels", "state", "reason", "hopcost", "checksum", "clock_off_s",
        "agent_cpu_percent", "agent_wakeups_per_s", "frozen_cpu_percent", "frozen_wakeups_per_s")  # fmt: skip
TASK = ("kind", "a", "b", "round", "attempt", "state", "reason", "file", "exit_code", "started_s", "ended_s", "indexed")
HOST_STATES = ("ready", "unreachable", "refused", "lost")
TASK_STATES = ("planned", "running", "done", "failed", "skipped")
# The tasks of a kind that are still to do.
PLANNED = "WHERE json_extract(document, '$.state') = 'planned' AND json_extract(document, '$.kind') = ?"
# A run file, as the driver names it.
FILE = re.compile(r"(hosts|pairs)/[A-Za-z0-9_][A-Za-z0-9._-]*\.hopcost")
# Run files that are read at once, and stored.
AT_ONCE = 1000
# How a rollback journal ends that names another file, which SQLite would delete; one database alone never has it.
NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")


def own(directory: Path, new: bool = False) -> None:
    """Refuses a fleet's directory in which somebody else can write, or has put a link, a FIFO, or a file of his."""
    for path in (directory, directory / "hosts", directory / "pairs"):
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise Usage(f"{path}: is no directory, or a link")
        entries = [path, *(Path(entry.path) for entry in os.scandir(path))]
        for entry in entries:
            found = os.lstat(entry)
            if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                raise Usage(f"{entry}: is a link, or no regular file; a fleet's directory has none")
            if found.st_uid != os.geteuid():
                raise Usage(f"{entry}: belongs to user {found.st_uid}, not to you")
            # What Slurm and the report write there has their umask, and no driver reads it.
            read = entry == path or path != directory or entry.name.startswith("fleet.sqlite")
            if found.st_mode & 0o022 and read:
                raise Usage(f"{entry}: others can write there; chmod go-w {entry}")
    # A new fleet may lie in the folder of another, as in a container that runs as root.
    for path in () if new else directory.resolve().parents:
        found = path.stat()
        if found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o1002 == 0o002:
            raise Usage(f"{path}: others can put another directory in the place of {directory}")


def opened(directory: Path, new: bool = False) -> sqlite3.Connection:
    """The index of a fleet, to write into it: nobody else could have put anything there."""
    path = directory / "fleet.sqlite"
    try:
        own(directory, new)
        beside = path.with_name("fleet.sqlite-journal")
        if beside.exists() and beside.stat().st_size >= 8:
            with open(beside, "rb") as file:
                file.seek(-8, os.SEEK_END)
                if file.read() == NAMES_ANOTHER:
                    raise Usage(f"{beside}: names another file, which no driver has written")
    except OSError as error:
        raise Usage(f"{error.filename}: {error.strerror}") from None
    try:
        db = sqlite3.connect(path, timeout=60, isolation_level=None)
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA synchronous=FULL")
        strange = "type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
        if db.execute(f"SELECT 1 FROM sqlite_master WHERE {strange}").fetchone():
            raise Usage(f"{path}: has triggers, views or virtual tables, which no driver has made")
        return db
    except sqlite3.Error as error:
        raise Usage(f"{path}: {error}") from None


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the driver and the report write to one file at any time."""
    db.execute("BEGIN IMMEDIATE")
    with db:  # COMMIT or ROLLBACK
        yield


def index_runs(directory: Path, read: Callable[[list[Path]], list[str]]) -> None:
    """Brings what run files hold into the index, each file once, and again if it changed."""
    db = opened(directory)
    try:
        stale: list[tuple[int, str, object]] = []
        for number, text in db.execute("SELECT id, document FROM task"):
            task = document(text) or {}
            now = state_of(directory, task["file"]) if task.get("file") else None
            known = task.get("indexed")
            if now and now != (known.get("state") if isinstance(known, dict) else None):
                stale.append((number, task["file"], now))
        for some in (stale[at : at + AT_ONCE] for at in range(0, len(stale), AT_ONCE)):
            found = iter(read([directory / file for _, file, now in some if isinstance(now, list)]))
            rows = []
            for number, _, now in some:
                run = next(found) if isinstance(now, list) else json.dumps({"error": now})
                # By its own document one sees whether a run can be read.
                indexed = {"state": now, "error": (document(run) or {}).get("error")}
                rows.append((run, json.dumps({"indexed": indexed}), number))
            with transaction(db):
                db.executemany("UPDATE task SET run = ?, document = json_patch(document, ?) WHERE id = ?", rows)
    finally:
        db.close()


def state_of(directory: Path, file: object) -> list[int] | str:
    """By what a run file is seen to have changed, or why it is not looked at."""
    if not isinstance(file, str) or not FILE.fullmatch(file):
        return "its path leads out of the fleet's directory"
    try:
        found = os.lstat(directory / file)
    except OSError:
        return "there is no such file"
    return [found.st_size, found.st_mtime_ns]


def document(text: object) -> dict | None:
    """What a row holds; None where that is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class Journal:
    """The one index of a fleet. Rollback journal and synchronous FULL: a kill loses nothing that was said."""

    def __init__(self, directory: Path, new: bool) -> None:
        self.directory = directory
        path = directory / "fleet.sqlite"
        if new and path.exists():
            raise Usage(f"{directory}: holds a fleet already; --resume {directory} goes on with it")
        if not new and not path.is_file():
            raise Usage(f"{directory}: holds no fleet.sqlite")
        try:
            for folder in (directory, directory / "hosts", directory / "pairs"):
                folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            own(directory, new)
        except OSError as error:
            raise Usage(f"{error.filename}: {error.strerror}") from None
        # One driver at a time. The lock goes when the process does, however it ends.
        self._lock = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Usage(f"{directory}: another driver is at work there") from None
        except OSError:
            pass  # a network file system that locks no directories
        self._db = opened(directory, new)
        try:
            if not new and self.get("schema") != SCHEMA:
                raise Usage(f"{path}: schema {printable(self.get('schema'))}, and this driver knows {SCHEMA}")
            self._db.executescript(TABLES)
        except sqlite3.Error as error:
            raise Usage(f"{path}: {error}") from None

    def close(self) -> None:
        """Lets go of the directory."""
        self._db.close()
        os.close(self._lock)

    def set(self, **values: object) -> None:
        """Writes settings of the fleet."""
        rows = [(key, value if isinstance(value, str) else json.dumps(value)) for key, value in values.items()]
        self._many("INSERT OR REPLACE INTO fleet VALUES (?, ?)", rows)

    def get(self, key: str) -> str | None:
        """A setting of the fleet."""
        row = self._db.execute("SELECT value FROM fleet WHERE key = ?", (key,)).fetchone()
        return row[0] if row and isinstance(row[0], str) else None

    def add_hosts(self, hosts: list[Host]) -> None:
        """Rows of hosts that nothing is known of yet."""
        unasked = {"state": "unreachable", "reason": "not asked yet"}
        rows = [(h.name, json.dumps({"address": h.address, "labels": h.labels, **unasked})) for h in hosts]
        self._many("INSERT OR IGNORE INTO host VALUES (?, ?)", rows)

    def host(self, name: str, **values: object) -> None:
        """Changes what is known of a host."""
        self.hosts({name: values})

    def hosts(self, changes: dict[str, dict[str, object]]) -> None:
        """Changes what is known of hosts, of all of them or none."""
        rows = [(json.dumps(values), name) for name, values in changes.items()]
        self._many("UPDATE host SET document = json_patch(document, ?) WHERE name = ?", rows)

    def host_rows(self) -> list[dict]:
        """All hosts, in the order in which they were added."""
        rows = self._db.execute("SELECT name, document FROM host ORDER BY rowid")
        return [{"name": name, **dict.fromkeys(HOST), **json.loads(text)} for name, text in rows]

    def plan(self, rows: Iterable[tuple[str, str, str | None, int, int]]) -> None:
        """New tasks: kind, a, b, round, attempt."""
        documents = (json.dumps({**dict(zip(TASK, row)), "state": "planned"}) for row in rows)
        self._many("INSERT INTO task(document) VALUES (json_patch('{}', ?))", ((text,) for text in documents))

    def tasks(self, ids: list[int], values: dict[str, object]) -> None:
        """Changes the same of some tasks, of all of them or none."""
        self.change([(number, values) for number in ids])

    def change(self, changes: list[tuple[int, dict[str, object]]]) -> None:
        """Changes of tasks, each its own, all of them or none."""
        rows = [(json.dumps(values), number) for number, values in changes]
        self._many("UPDATE task SET document = json_patch(document, ?) WHERE id = ?", rows)

    def planned(self, kind: str) -> list[dict]:
        """What is still to do."""
        return self._tasks(PLANNED, kind)

    def rounds(self) -> dict[int, list[int]]:
        """The pairs that are still to do, by their round."""
        found = self._db.execute(f"SELECT json_extract(document, '$.round'), id FROM task {PLANNED} ORDER BY 1, 2", ("pair",))
        rounds: dict[int, list[int]] = {}
        for number, task in found:
            rounds.setdefault(number, []).append(task)
        return rounds

    def by_id(self, ids: list[int]) -> list[dict]:
        """These tasks."""
        return [task for number in ids for task in self._tasks("WHERE id = ?", number)]

    def latest(self, *states: str) -> list[dict]:
        """Tasks whose last attempt is in one of these states."""
        last = {(task["kind"], task["a"], task["b"]): task for task in self._tasks()}
        return [task for task in last.values() if task["state"] in states]

    def counts(self) -> dict[str, int]:
        """How many tasks have a last attempt in each state."""
        return Counter(task["state"] for task in self.latest(*TASK_STATES))

    def check(self) -> None:
        """Refuses rows that no driver has written: their values become names of files, and lines on a terminal."""
        hosts = self.host_rows()
        names = {row["name"] for row in hosts}
        numbers = lambda row, *keys: all(isinstance(row[key], int) and 0 <= row[key] < 1 << 31 for key in keys)
        good = all(isinstance(h["name"], str) and is_name(h["name"]) and h["state"] in HOST_STATES for h in hosts) and all(
            t["kind"] in ("host", "pair")
            and t["state"] in TASK_STATES
            and t["a"] in names
            and (t["b"] in names if t["kind"] == "pair" else t["b"] is None)
            and numbers(t, "id", "round", "attempt")
            for t in self._tasks()
        )
        if not good:
            raise Usage(f"{self.directory}: fleet.sqlite has rows that no driver has written")

    def _tasks(self, where: str = "", *values: object) -> list[dict]:
        """Tasks, each attempt after those before it."""
        rows = self._db.execute(f"SELECT id, document FROM task {where} ORDER BY id", values)
        return [{"id": number, **dict.fromkeys(TASK), **json.loads(text)} for number, text in rows]

    def _many(self, statement: str, rows: Iterable[tuple]) -> None:
        with transaction(self._db):
            self._db.executemany(statement, rows)


def file_of(kind: str, a: str, b: str | None, attempt: int) -> str:
    """Where a task's run file lies, below the directory."""
    again = "" if attempt == 1 else f".{attempt}"
    return f"hosts/{a}{again}.hopcost" if kind == "host" else f"pairs/{a}--{b}{again}.hopcost"
