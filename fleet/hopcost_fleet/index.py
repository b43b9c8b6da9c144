"""The index of a fleet (fleet.sqlite) as tables of pandas. Nothing in it is believed unchecked."""

import json
import re
import sqlite3
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

from .hosts import is_name

# Statistics by which hosts are compared, the first that a case has; and whether more is better.
HEADLINE = {"aggregate_gbps": True, "cost_ns": False, "p50_ns": False}
# No index that a driver wrote exceeds these.
CELL_MAX_BYTES, HOSTS_MAX, STEPS_MAX, NUMBER_MAX = 16 << 20, 100_000, 2_000_000_000, 1e18
# Readings of what changes by itself, of the far end, and of single CPUs.
UNSTEADY = re.compile(r"(load|stat|peer|cpu[0-9][^.]*)\.")
HOST = ["name", "state", "reason", "labels"]
TASK = ["task", "a", "b", "attempt", "state", "reason", "error"]
VALUE = ["task", "case", "statistic", "unit", "value", "low", "high"]


def read(directory: Path) -> "Index":
    """Reads the index, and writes nothing."""
    path = directory.resolve() / "fleet.sqlite"
    for beside in (path, *path.parent.glob("fleet.sqlite-*")):
        if not beside.is_file():
            raise ValueError(f"{beside.name} is no file")
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=10)
    try:
        return Index(db)
    finally:
        db.close()


class Index:
    """The tables, of what a driver may have written; `left_out` counts the other values."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.left_out = 0
        self.facts: dict[int, dict[str, str]] = {}
        self._values: list[tuple] = []
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_MAX_BYTES)
        db.execute("PRAGMA trusted_schema = OFF")
        # Any true value ends the statement.
        db.set_progress_handler(lambda: True, STEPS_MAX)
        # One moment for all tables, though a driver may be writing.
        db.execute("BEGIN")
        # A view may be an endless one.
        found = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        missing = sorted({"fleet", "host", "task"} - {name for (name,) in found})
        if missing:
            raise ValueError(f"no such table: {missing[0]}")
        settings = db.execute("SELECT key, value FROM fleet")
        self.settings = {key: value for key, value in settings if type(value) is str}
        hosts = (self._host(*row) for row in db.execute("SELECT name, document FROM host"))
        self.hosts = pd.DataFrame([host for host in hosts if host], columns=HOST)
        if len(self.hosts) > HOSTS_MAX:
            raise ValueError(f"it has more than {HOSTS_MAX} hosts")
        tasks = (self._task(*row) for row in db.execute("SELECT id, document, run FROM task"))
        self.tasks = pd.DataFrame([task for task in tasks if task], columns=TASK)
        self.values = pd.DataFrame(self._values, columns=VALUE)

    def _host(self, name: object, text: object) -> tuple | None:
        of = document(text)
        if of is None or type(name) is not str or not is_name(name):
            self.left_out += 1
            return None
        labels = of.get("labels")
        labels = labels.items() if type(labels) is dict else ()
        labels = {key: value for key, value in labels if type(value) is str}
        return name, self._text(of, "state") or "", self._text(of, "reason"), labels

    def _task(self, number: int, text: object, run: object) -> tuple | None:
        of = document(text) or {}
        kind, a = (self._text(of, key) for key in ("kind", "a"))
        b = self._text(of, "b") if kind == "pair" else ""
        names = [a] if kind == "host" else [a, b]
        if kind not in ("host", "pair") or not all(name and is_name(name) for name in names):
            self.left_out += 1
            return None
        attempt = self._number(of, "attempt")
        error = None if run is None else self._run(number, document(run) or {})
        return number, a, b, attempt, self._text(of, "state"), self._text(of, "reason"), error

    def _run(self, task: int, run: dict) -> str:
        """Keeps what a run file holds; why it cannot be read, if that is so."""
        facts, estimates = run.get("facts"), run.get("estimates")
        if type(facts) is dict:
            steady = ((key, of) for key, of in facts.items() if not UNSTEADY.match(key))
            self.facts[task] = {key: of for key, of in steady if type(of) is str}
        for of in estimates if type(estimates) is list else ():
            if type(of) is not dict or str(of.get("statistic")) not in HEADLINE:
                continue
            case, unit, validity = (self._text(of, key) for key in ("case", "unit", "validity"))
            value, low, high = (self._number(of, key) for key in ("point", "low", "high"))
            # What its run calls invalid is no value of the case.
            if case is None or np.isnan(value) or validity == "invalid":
                continue
            if value <= 0:
                self.left_out += 1
                continue
            if not 0 < low <= value <= high:
                low = high = np.nan
            self._values.append((task, case, of["statistic"], unit or "", value, low, high))
        return self._text(run, "error") or ""

    def _text(self, of: dict, key: str) -> str | None:
        value = of.get(key)
        if value is None or type(value) is str:
            return value
        self.left_out += 1
        return None

    def _number(self, of: dict, key: str) -> float:
        value = of.get(key)
        if type(value) in (int, float) and abs(value) < NUMBER_MAX:
            return value
        self.left_out += value is not None
        return np.nan


def document(text: object) -> dict | None:
    """What a cell holds; None if that is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if type(found) is dict else None
