"""The index of a fleet (fleet.sqlite) as tables of pandas. Nothing in it is believed unchecked."""

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from .hosts import is_name

# Statistics by which hosts are compared, the first that a case has; and whether more is better.
HEADLINE = {"aggregate_gbps": True, "cost_ns": False, "p50_ns": False}
TEXT_MAX, LABELS_MAX = 1000, 32
# No index that a driver wrote exceeds these.
CELL_MAX_BYTES, HOSTS_MAX, STEPS_MAX = 16 << 20, 100_000, 2_000_000_000
TEXT = f"CASE WHEN typeof({{0}}) <> 'blob' THEN substr({{0}}, 1, {TEXT_MAX}) END AS {{0}}"
IS_NUMBER = "typeof({0}) IN ('integer', 'real') AND {0} BETWEEN -1e18 AND 1e18"
NUMBER = f"CASE WHEN {IS_NUMBER} THEN {{0}} END AS {{0}}"
# Readings of what changes by itself, of the far end, and of single CPUs.
STEADY = " AND ".join(
    f"key NOT GLOB '{of}'" for of in ("load.*", "stat.*", "peer.*", "cpu[0-9]*.*")
)


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
        found = self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        self.tables = {name for (name,) in found}

    def read(self, table: str, texts: str, numbers: str = "", where: str = "") -> pd.DataFrame:
        """A table. Blobs and impossible numbers are missing values, and are counted."""
        words, figures = texts.split(), numbers.split()
        if table not in self.tables and table in ("run_file", "fact", "estimate"):
            # No run has been indexed yet.
            empty = pd.DataFrame({name: [] for name in words + figures}, dtype=object)
            return empty.astype(dict.fromkeys(figures, float))
        cells = [TEXT.format(name) for name in words] + [NUMBER.format(name) for name in figures]
        wrong = [f"(typeof({name}) = 'blob')" for name in words]
        wrong += [f"({name} IS NOT NULL AND NOT ({IS_NUMBER.format(name)}))" for name in figures]
        columns = f"{', '.join(cells)}, {' + '.join(wrong)} AS wrong"
        rows = self.db.execute(f"SELECT {columns} FROM {table} {where}").fetchall()
        found = pd.DataFrame(rows, columns=[*words, *figures, "wrong"])
        self.leave_out(
            found.pop("wrong").sum(), f"values of {table} that are no text or plausible number"
        )
        found[words] = found[words].astype(object).where(found[words].notna(), None)
        found[figures] = found[figures].astype(float)
        return found

    def leave_out(self, count: int, what: str) -> None:
        """Says how many of something were left out."""
        if count:
            self.remarks.append(f"Left out of the index, {what}: {count}.")

    def hosts(self) -> pd.DataFrame:
        """The hosts by name, each with its labels."""
        numbers = "clock_off_s agent_cpu_percent agent_wakeups_per_s frozen_cpu_percent"
        numbers += " frozen_wakeups_per_s"
        hosts = self.read("host", "name labels state reason", numbers)
        good = hosts.name.map(lambda name: is_name(name or ""))
        self.leave_out((~good.astype(bool)).sum(), "hosts of impossible names")
        hosts = hosts[good.astype(bool)].drop_duplicates("name", keep="last").sort_values("name")
        if len(hosts) > HOSTS_MAX:
            raise ValueError(f"it has more than {HOSTS_MAX} hosts")
        labels = hosts.labels.map(labels_of)
        self.leave_out(labels.isna().sum(), "labels that are no JSON object")
        hosts["labels"] = labels.map(lambda of: of or {})
        hosts["state"] = hosts.state.map(lambda state: state or "")
        return hosts.reset_index(drop=True)

    def tasks(self) -> pd.DataFrame:
        """The tasks, `b` of a host's being empty."""
        tasks = self.read("task", "kind a b state reason file", "attempt")
        tasks["b"] = [b or "" if kind == "pair" else "" for kind, b in zip(tasks.kind, tasks.b)]
        is_pair = tasks.kind == "pair"
        sound = (is_pair | (tasks.kind == "host")) & tasks.a.map(lambda a: is_name(a or ""))
        sound &= ~is_pair | tasks.b.map(is_name)
        self.leave_out((~sound.astype(bool)).sum(), "tasks of no host")
        return tasks[sound.astype(bool)].fillna({"attempt": 0, "state": ""})

    def estimates(self) -> pd.DataFrame:
        """The statistics by which hosts are compared, and cases without a value."""
        wanted = ", ".join(f"'{name}'" for name in ["", *HEADLINE])
        texts = "file case_id statistic unit validity skip"
        found = self.read("estimate", texts, "point low high", f"WHERE statistic IN ({wanted})")
        found = found.rename(columns={"case_id": "case"})
        below = found.point <= 0
        self.leave_out(below.sum(), "estimates that are not above 0")
        found.loc[below, "point"] = float("nan")
        astray = ~((found.low <= found.point) & (found.point <= found.high))
        found.loc[astray, ["low", "high"]] = float("nan")
        return found

    def facts(self, where: str) -> pd.DataFrame:
        """Readings of hosts, a row each."""
        return self.read("fact", "file key value", where=f"WHERE {where}")

    def telling_facts(self) -> pd.DataFrame:
        """Those of which there is more than one value."""
        # A small set of pairs is cheaper than to sort the facts of all files.
        pairs = f"SELECT DISTINCT key, value FROM fact WHERE {STEADY}"
        keys = f"SELECT key FROM ({pairs}) GROUP BY key HAVING COUNT(*) > 1"
        return self.facts(f"key IN ({keys})")


def open_index(directory: Path, is_indexed: bool) -> Index:
    """Opens the index to read it.

    Where hopcost could not write, nobody has checked what lies beside the file, so it is taken as
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


def labels_of(text: str | None) -> dict[str, str] | None:
    """The labels of a host; None where they are no JSON object."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    words = {key: of if isinstance(of, str) else json.dumps(of) for key, of in found.items()}
    return dict(list(words.items())[:LABELS_MAX])
