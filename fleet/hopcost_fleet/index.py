"""The index of a fleet (fleet.sqlite) as tables of pandas. Nothing in it is believed unchecked."""

import re
import sqlite3
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

from .hosts import is_name
from .journal import document

# Statistics by which hosts are compared, the first that a case has; and whether more is better.
HEADLINE = {"aggregate_gbps": True, "cost_ns": False, "p50_ns": False}
# No index that a driver wrote exceeds these.
CELL_MAX_BYTES, HOSTS_MAX, STEPS_MAX, LABELS_MAX = 16 << 20, 100_000, 2_000_000_000, 32
NUMBER_MAX = 1e18
# Readings of what changes by itself, of the far end, and of single CPUs.
UNSTEADY = re.compile(r"(load|stat|peer|cpu[0-9][^.]*)\.")


@dataclass
class Index:
    """The tables, and a sentence for each thing that was left out or needs to be known."""

    db: sqlite3.Connection
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_MAX_BYTES)
        self.db.execute("PRAGMA trusted_schema = OFF")
        # Any true value ends the statement.
        self.db.set_progress_handler(lambda: True, STEPS_MAX)
        # One moment for all of them, though the driver may be writing.
        self.db.execute("BEGIN")
        # A view may be an endless one, so only tables are read.
        tables = {name for (name,) in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        missing = sorted({"fleet", "host", "task"} - tables)
        if missing:
            raise ValueError(f"no such table: {missing[0]}")

    def leave_out(self, count: int, what: str) -> None:
        """Says how many of something were left out."""
        if count:
            self.remarks.append(f"Left out of the index, {what}: {count}.")

    def documents(self, table: str, columns: str) -> list[tuple[object, dict]]:
        """Rows of a table with what their document holds."""
        rows = [(key, document(text)) for key, text in self.db.execute(f"SELECT {columns} FROM {table}")]
        self.leave_out(sum(of is None for _, of in rows), f"rows of {table} that are no JSON object")
        return [row for row in rows if row[1] is not None]

    def frame(self, what: str, rows: list[dict], texts: str, numbers: str) -> pd.DataFrame:
        """These keys of rows as columns; what is no text or plausible number is missing, and counted."""
        found = pd.DataFrame(rows, columns=[*texts.split(), *numbers.split()], dtype=object)
        is_number = lambda of: type(of) in (int, float) and abs(of) < NUMBER_MAX
        wrong = 0
        for name in found:
            good = found[name].map((lambda of: type(of) is str) if name in texts.split() else is_number).astype(bool)
            wrong += int((found[name].notna() & ~good).sum())
            found[name] = found[name].where(good, None)
        self.leave_out(wrong, f"values of {what} that are no text or plausible number")
        return found.astype(dict.fromkeys(numbers.split(), float))

    def settings(self) -> dict[str, str]:
        """Of the fleet, those that are text."""
        rows = self.db.execute("SELECT key, value FROM fleet").fetchall()
        return {key: value for key, value in rows if isinstance(key, str) and isinstance(value, str)}

    def hosts(self) -> pd.DataFrame:
        """The hosts by name, each with its labels."""
        rows = [{**of, "name": name} for name, of in self.documents("host", "name, document")]
        good = [of for of in rows if isinstance(of["name"], str) and is_name(of["name"])]
        self.leave_out(len(rows) - len(good), "hosts of impossible names")
        if len(good) > HOSTS_MAX:
            raise ValueError(f"it has more than {HOSTS_MAX} hosts")
        numbers = "clock_off_s agent_cpu_percent agent_wakeups_per_s frozen_cpu_percent frozen_wakeups_per_s"
        hosts = self.frame("hosts", good, "name state reason", numbers)
        labels = [of.get("labels", {}) for of in good]
        self.leave_out(sum(not isinstance(of, dict) for of in labels), "labels that are no JSON object")
        hosts["labels"] = [labels_of(of) for of in labels]
        return hosts.fillna({"state": ""}).sort_values("name").reset_index(drop=True)

    def tasks(self) -> pd.DataFrame:
        """The tasks, `b` of a host's being empty; `error` is why a run file cannot be read, empty if it can."""
        rows = []
        for number, of in self.documents("task", "id, document"):
            indexed = of.get("indexed")
            error = indexed.get("error") or "" if isinstance(indexed, dict) else None
            rows.append({**of, "id": number, "error": error})
        tasks = self.frame("tasks", rows, "kind a b state reason error", "id attempt")
        is_pair = tasks.kind == "pair"
        tasks["b"] = tasks.b.where(is_pair, "").fillna("")
        sound = (is_pair | (tasks.kind == "host")) & tasks.a.map(lambda a: is_name(a or "")).astype(bool)
        sound &= ~is_pair | tasks.b.map(is_name).astype(bool)
        self.leave_out(int((~sound).sum()), "tasks of no host")
        return tasks[sound].fillna({"attempt": 0, "state": ""})

    def runs(self, tasks: pd.Series) -> tuple[pd.DataFrame, dict[int, dict[str, str]]]:
        """What the run files of these tasks hold: estimates by which hosts are compared, cases without any, facts."""
        wanted, rows, owners, facts = set(tasks), [], [], {}
        is_steady = cache(lambda key: not UNSTEADY.match(key))
        for number, text in self.db.execute("SELECT id, run FROM task WHERE run IS NOT NULL"):
            run = (document(text) or {}) if number in wanted else {}
            of_run, said = run.get("estimates"), run.get("facts")
            of_run = [of for of in of_run if isinstance(of, dict)] if isinstance(of_run, list) else []
            of_run = [of for of in of_run if of.get("statistic", "") in ("", *HEADLINE)]
            rows += of_run
            owners += [number] * len(of_run)
            if isinstance(said, dict):
                facts[number] = {key: of for key, of in said.items() if isinstance(of, str) and is_steady(key)}
        found = self.frame("estimates", rows, "case statistic unit validity skip", "point low high").assign(task=owners)
        below = found.point <= 0
        self.leave_out(int(below.sum()), "estimates that are not above 0")
        found.loc[below, "point"] = np.nan
        astray = ~((found.low <= found.point) & (found.point <= found.high))
        found.loc[astray, ["low", "high"]] = np.nan
        return found, facts


def open_index(directory: Path, is_indexed: bool) -> Index:
    """Opens the index to read it.

    Where it could not be written, nobody has checked what lies beside the file, so it is taken as
    it is: SQLite would follow a stranger's journal.
    """
    mode = "mode=ro" if is_indexed else "immutable=1"
    uri = f"file:{quote(str((directory / 'fleet.sqlite').resolve()))}?{mode}"
    db = sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)
    try:
        return Index(db)
    except sqlite3.Error:
        db.close()
        raise


def has_own_values(estimates: pd.DataFrame) -> pd.Series:
    """Which estimates are values of their case, and not invalid by the findings of their run."""
    return estimates.point.notna() & (estimates.validity != "invalid") & (estimates.statistic != "")


def labels_of(of: object) -> dict[str, str]:
    """The labels of a host that are text, a few of them."""
    words = of.items() if isinstance(of, dict) else ()
    return dict([(key, value) for key, value in words if isinstance(value, str)][:LABELS_MAX])
