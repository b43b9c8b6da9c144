"""DIR/fleet.sqlite: what was planned, what became of it, each row durable before the next task begins."""

import fcntl
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .hosts import Host, Usage, is_name, printable

TABLES = """
CREATE TABLE IF NOT EXISTS fleet(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS host(
    name TEXT PRIMARY KEY, address TEXT, labels TEXT, state TEXT, reason TEXT, hopcost TEXT, checksum TEXT,
    clock_off_s REAL, agent_cpu_percent REAL, agent_wakeups_per_s REAL,
    frozen_cpu_percent REAL, frozen_wakeups_per_s REAL);
CREATE TABLE IF NOT EXISTS task(
    id INTEGER PRIMARY KEY, kind TEXT, a TEXT, b TEXT, round INTEGER, attempt INTEGER, state TEXT, reason TEXT,
    file TEXT, exit_code INTEGER, started_s REAL, ended_s REAL, UNIQUE(kind, a, b, attempt));
CREATE INDEX IF NOT EXISTS task_by_state ON task(state, kind, round);
"""
SCHEMA = "1"
HOST_STATES = ("ready", "unreachable", "refused", "lost")
TASK_STATES = ("planned", "running", "done", "failed", "skipped")
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
            beside = path.with_name("fleet.sqlite-journal")
            if beside.exists() and beside.stat().st_size >= 8:
                with open(beside, "rb") as file:
                    file.seek(-8, os.SEEK_END)
                    if file.read() == NAMES_ANOTHER:
                        raise Usage(f"{beside}: names another file, which no driver has written")
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
        try:
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA trusted_schema=OFF")
            self._db.execute("PRAGMA journal_mode=DELETE")
            self._db.execute("PRAGMA synchronous=FULL")
            if self._db.execute("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'").fetchone():
                raise Usage(f"{path}: has triggers, views or virtual tables, which no driver has made")
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
        rows = [(h.name, h.address, json.dumps(h.labels), "unreachable", "not asked yet") for h in hosts]
        self._many("INSERT OR IGNORE INTO host(name, address, labels, state, reason) VALUES (?, ?, ?, ?, ?)", rows)

    def host(self, name: str, **values: object) -> None:
        """Changes columns of a host."""
        self.hosts({name: values})

    def hosts(self, changes: dict[str, dict[str, object]]) -> None:
        """Changes columns of hosts, all of them or none."""
        self._update("host SET {} WHERE name = ?", changes.items())

    def host_rows(self) -> list[sqlite3.Row]:
        """All hosts, in the order in which they were added."""
        return self._rows("SELECT * FROM host ORDER BY rowid")

    def plan(self, rows: Iterable[tuple[str, str, str | None, int, int]]) -> None:
        """New tasks: kind, a, b, round, attempt."""
        self._many("INSERT INTO task(kind, a, b, round, attempt, state) VALUES (?, ?, ?, ?, ?, 'planned')", rows)

    def tasks(self, ids: list[int], values: dict[str, object]) -> None:
        """Changes the same columns of some tasks, all of them or none."""
        self.change([(number, values) for number in ids])

    def change(self, changes: list[tuple[int, dict[str, object]]]) -> None:
        """Changes columns of tasks, each its own, all of them or none."""
        self._update("task SET {} WHERE id = ?", changes)

    def planned(self, kind: str, limit_to_round: int | None = None) -> list[sqlite3.Row]:
        """What is still to do, of a round or of all."""
        where = "state = 'planned' AND kind = ?1 AND ifnull(?2, round) = round"
        return self._rows(f"SELECT * FROM task WHERE {where} ORDER BY id", (kind, limit_to_round))

    def rounds(self) -> list[int]:
        """Rounds of pairs in which something is still to do."""
        rows = self._db.execute("SELECT DISTINCT round FROM task WHERE state = 'planned' AND kind = 'pair' ORDER BY round")
        return [row[0] for row in rows]

    def latest(self, *states: str) -> list[sqlite3.Row]:
        """Tasks whose last attempt is in one of these states."""
        marks = ", ".join("?" * len(states))
        return self._rows(
            f"SELECT * FROM task t WHERE state IN ({marks}) AND NOT EXISTS (SELECT 1 FROM task o WHERE o.kind = t.kind"
            " AND o.a = t.a AND o.b IS t.b AND o.attempt > t.attempt) ORDER BY id",
            states,
        )

    def counts(self) -> dict[str, int]:
        """How many tasks have a last attempt in each state."""
        latest = "SELECT MAX(attempt), state FROM task GROUP BY kind, a, b"
        return dict(self._db.execute(f"SELECT state, COUNT(*) FROM ({latest}) GROUP BY state"))

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
            for t in self._rows("SELECT * FROM task")
        )
        if not good:
            raise Usage(f"{self.directory}: fleet.sqlite has rows that no driver has written")

    def _rows(self, statement: str, values: tuple = ()) -> list[sqlite3.Row]:
        cursor = self._db.cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(statement, values).fetchall()

    def _update(self, statement: str, changes: Iterable[tuple[object, dict[str, object]]]) -> None:
        with self._transaction():
            for key, values in changes:
                columns = ", ".join(f"{column} = ?" for column in values)
                self._db.execute(f"UPDATE {statement.format(columns)}", (*values.values(), key))

    def _many(self, statement: str, rows: Iterable[tuple]) -> None:
        with self._transaction():
            self._db.executemany(statement, rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; the report writes its own tables of the same file at any time."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:  # COMMIT or ROLLBACK
            yield


def file_of(kind: str, a: str, b: str | None, attempt: int) -> str:
    """Where a task's run file lies, below the directory."""
    again = "" if attempt == 1 else f".{attempt}"
    return f"hosts/{a}{again}.hopcost" if kind == "host" else f"pairs/{a}--{b}{again}.hopcost"
