"""Hosts that answer from a recorded run: the driver, the journal and the report are the real ones.

    simulated.py COUNT RUN_FILE SEED WORDS…     words of `hopcost-fleet`, without a launcher
"""

import hashlib
import json
import random
import shlex
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from hopcost_fleet import cli  # noqa: E402
from hopcost_fleet.hosts import Host  # noqa: E402
from hopcost_fleet.launch import Lost  # noqa: E402

SPREAD = 0.02
# Known beforehand, so that a report can be held to it: one host in a hundred is slow and has another kernel, one in
# five hundred dies in its suite.
SLOW_EVERY, SLOW, DEAD_EVERY = 100, 1.3, 500


class Simulated:
    """N hosts, the same for the same seed."""

    name = "simulated"

    def __init__(self, count: int, recorded: Path, seed: int) -> None:
        self._recorded = smallest(recorded)
        self._seed = seed
        self._folder = tempfile.TemporaryDirectory(prefix="hopcost-simulated-")
        draw = random.Random(seed)
        names = [f"h{i:05d}" for i in range(count)]
        self._factor = {name: 1 + SPREAD * draw.uniform(-1, 1) for name in names}
        self.slow = set(draw.sample(names, count // SLOW_EVERY))
        self.dead = set(draw.sample(sorted(set(names) - self.slow), count // DEAD_EVERY))
        self._factor |= {name: self._factor[name] * SLOW for name in self.slow}
        # What playing took of the driver's real time; benches take it away.
        self.played_s = 0.0

    async def hosts(self) -> list[Host]:
        return [Host(name, name, name, {"rack": f"r{i // 40}"}) for i, name in enumerate(self._factor)]

    def words(self, host: Host) -> list[str]:
        return ["at", host.name]

    async def ask(self, host: Host, job: dict, most_s: float, send=None, receive=None) -> dict:
        if job["do"] not in ("run", "fetch"):
            return {}
        began = time.perf_counter()
        try:
            path = Path(self._folder.name) / f"{host.name}.{job['task']}"
            if job["do"] == "run":
                if host.name in self.dead:
                    raise Lost("died, as it was to")
                for task in job["stored"]:
                    path.with_suffix(f".{task}").unlink()
                peer = next((shlex.split(w)[1] for w in job["arguments"] if w.startswith("--peer=")), None)
                path.write_bytes(self._play(host.name, peer))
            data = path.read_bytes()
            if receive:
                receive.write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            return {"exit": 0, "said": "", "bytes": len(data), "sha256": digest}
        finally:
            self.played_s += time.perf_counter() - began

    async def close(self) -> None:
        self._folder.cleanup()

    def _play(self, host: str, peer: str | None) -> bytes:
        """The recorded run, as if every operation had taken so many times as long there."""
        factor = self._factor[host] * (self._factor[peer] if peer else 1.0)
        number = zlib.crc32(f"{host}--{peer}".encode()) ^ self._seed
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.deserialize(self._recorded)
        db.execute("PRAGMA journal_mode=MEMORY")
        db.execute("BEGIN")
        text, = db.execute("SELECT document FROM run").fetchone()
        run = json.loads(text)
        run["about"]["id"] = f"20261125-{number % 1000000:06d}-{number // 1000000 & 0xFFFF:04x}"
        for reading in run["host_before"]["readings"] + (run.get("host_after") or {"readings": []})["readings"]:
            if reading["key"] == "host.name":
                reading["value"] = host
            if reading["key"] == "kernel.release" and host in self.slow:
                reading["value"] = "6.1.0-slow"
        db.execute("UPDATE run SET document = ?", (json.dumps(run),))
        rows = db.execute("SELECT trial, document, samples, samples_kept FROM trial").fetchall()
        draw = random.Random(number)
        for trial, text, samples, kept in rows:
            scale = factor * (1 + SPREAD / 4 * draw.uniform(-1, 1))
            ticks = struct.unpack(f"<{kept}I", zlib.decompress(samples)) if kept else ()
            scaled = struct.pack(f"<{kept}I", *(int(tick * scale) for tick in ticks))
            row = json.loads(text)
            row["samples_max_ticks"] = int(row["samples_max_ticks"] * scale)
            for end in row["ends"]:
                end.update({key: int(end[key] * scale) for key in ("max_ticks", "elapsed_ticks")})
            values = (zlib.compress(scaled, 1), json.dumps(row), trial)
            db.execute("UPDATE trial SET samples = ?, document = ? WHERE trial = ?", values)
        for at, text in db.execute("SELECT position, document FROM estimate").fetchall():
            row = json.loads(text)
            if row["statistic"].endswith("_ns"):
                row.update({key: row[key] and row[key] * factor for key in ("point", "low", "high")})
                db.execute("UPDATE estimate SET document = ? WHERE position = ?", (json.dumps(row), at))
        db.execute("COMMIT")
        return db.serialize()


def smallest(recorded: Path) -> bytes:
    """A run file, packed: ten thousand of them shall fit on a disk."""
    with tempfile.NamedTemporaryFile() as file:
        shutil.copyfile(recorded, file.name)
        db = sqlite3.connect(file.name, isolation_level=None)
        db.execute("PRAGMA page_size=512")
        db.execute("VACUUM")
        db.close()
        return Path(file.name).read_bytes()


def main(count: int, recorded: Path, seed: int, words: list[str]) -> tuple[int, Simulated]:
    """The driver over a simulation: its exit code, and the launcher."""
    launcher = Simulated(count, recorded, seed)
    cli.launcher_of = lambda _options: launcher
    return cli.main(words), launcher


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])[0])
