"""The loop: inventory, then the suite once a host, then pairs in rounds. What happens to a host becomes its row, and the others go on."""

import base64
import hashlib
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import plan
from .agent import AFTER_LEASE_S, CHUNK_BYTES, GRACE_S, MOST_FILE_BYTES, sha256
from .engine import STOP, Engine, Job, Reply, lost
from .hosts import Host, Usage, is_name, labels_of, printable, seconds
from .journal import Journal, file_of

# Files go to or come from so many hosts at once.
WAVE = 64
QUICK_S = 60.0
# What a round takes beside its measurement, on which a plan within a budget relies until it has seen one.
ROUND_S = 5.0
LEASE_S = 900.0
CLOCK_OFF_S = 60.0
ADDRESS = re.compile(r"[0-9A-Za-z:][0-9A-Za-z.:%_-]{0,254}")
MOST_SUITE_CHARACTERS = 1 << 20
# What a reply holds beside `ok`: of a job that was done.
REPLIES: dict[str, dict[str, type]] = {
    "hello": {"has_binary": bool}, "clock": {"time_s": float}, "facts": {"facts": dict}, "run": {"exit": int},
    "cost": {"cpu_percent": float, "wakeups_per_s": float}, "fetch": {"data": str},
}  # fmt: skip


@dataclass
class Settings:
    """What a fleet measures. Stored with it, so that `--resume` measures the same: what is stored is judged as what was given."""

    suite: str | None = None
    suite_text: str | None = None
    cases: list[str] = field(default_factory=list)
    pairs: str = "none"
    pair_cases: list[str] = field(default_factory=list)
    pair_time: str = "10s"
    host_time: str | None = None
    budget: str | None = None
    lease: str | None = None
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    # Whether hosts use a program that they have. Which one is never stored.
    installed: bool = False

    def __post_init__(self) -> None:
        texts = [self.pairs, *self.cases, *self.pair_cases, self.suite or "", self.suite_text or ""]
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.installed, bool):
            raise ValueError
        if any(text.startswith("-") or not text.isprintable() for text in texts[:-1]):
            raise Usage("a case or suite begins with no `-`: options of hopcost run are not options of a fleet")
        if len(texts[-1]) > MOST_SUITE_CHARACTERS:
            raise Usage(f"a suite has at most {MOST_SUITE_CHARACTERS:,} characters")
        plan.check(self.pairs)
        self.pair_time_s = seconds(self.pair_time)
        self.host_time_s, self.budget_s, self.lease_s = (
            seconds(text) if text else None for text in (self.host_time, self.budget, self.lease)
        )
        for name, labels in self.labels.items():
            if not is_name(name):
                raise ValueError
            labels_of([f"{key}={value}" for key, value in labels.items()], name)


class Driver:
    """One fleet, on one engine, into one directory."""

    def __init__(self, journal: Journal, engine: Engine, settings: Settings, binary: Path, facts: dict, cost_s: float = 2.0, installed: str = "",
                 peer_command: str = "") -> None:  # fmt: skip
        self.journal = journal
        self.engine = engine
        self.settings = settings
        self.binary = binary
        self._program = {"installed": installed} if installed else {"sha256": sha256(binary)}
        self.facts = facts
        self.cost_s = cost_s
        self.fleet = journal.get("id") or ""
        self.names: dict[str, Host] = {}
        self.ready: set[str] = set()
        self.began_s = engine.time()
        self.round_s = settings.pair_time_s + ROUND_S
        self.show = Progress()
        # Never stored.
        self._peer_words = shlex.split(peer_command)
        self._left_there = False
        self._changes: list[tuple[int, dict[str, object]]] = []

    def run(self) -> None:
        """All of it; what is left to do is in the journal at any time."""
        self.inventory()
        if self.journal.get("planned") is None:
            self.plan()
        else:
            self.recover()
        self.measure_hosts()
        for number, ids in self.journal.rounds().items():
            if self.out_of_time():
                self.skip_rest()
                break
            self.measure_pairs(number, ids)
        # What could not be tried because of a host is skipped.
        self._usable(self.journal.planned("host") + self.journal.planned("pair"))
        self.journal.set(status="complete")
        if not self._left_there:
            dict(self.ask(dict.fromkeys(self.ready, {"do": "drop"}), QUICK_S))
        self.show.end()

    # --- asking ---

    def ask(self, jobs: dict[str, Job], deadline_s: float) -> Iterator[tuple[str, Reply]]:
        """A job each, at once. A host that does not answer is lost to this driver."""
        STOP.check()
        jobs = {h: {**job, "fleet": self.fleet, **self._program} for h, job in jobs.items() if h in self.ready}
        if not jobs:
            return
        for host, reply in self.engine.run(jobs, deadline_s):
            if reply["ok"] and not sound(jobs[host]["do"], reply):
                reply = lost("it answers with what no agent answers")
            if reply.get("lost"):
                self.ready.discard(host)
                self.journal.host(host, state="lost", reason=f"{jobs[host]['do']}: {printable(reply.get('error'))}")
            yield host, reply

    # --- inventory ---

    def inventory(self) -> None:
        """Who is there, with which clock, and with this driver's binary, which is brought where it is missing."""
        hosts = self.engine.hosts()
        nameless = [host.address for host in hosts if not is_name(host.name)]
        if nameless:
            raise Usage(f"a host at {printable(nameless[0], 80)} has a name that no file can have")
        known = {row["name"] for row in self.journal.host_rows()}
        if known:  # resumed
            strangers = [host.name for host in hosts if host.name not in known]
            if strangers:
                self.show.say(f"{len(strangers)} hosts are not of this fleet and are left out: {', '.join(strangers[:5])}")
            hosts = [host for host in hosts if host.name in known]
        self.names = {host.name: host for host in hosts}
        if not known:
            labels = dict(self.settings.labels)
            for host in hosts:
                host.labels |= labels.pop(host.name, {})
            if labels:
                self.show.say(f"{len(labels)} labelled hosts are not there: {', '.join(list(labels)[:5])}")
            self.journal.add_hosts(hosts)
        gone = dict.fromkeys(known - set(self.names), {"state": "unreachable", "reason": "the engine does not know it now"})
        self.journal.hosts(gone)
        refused = {h.name: {"state": "refused", "reason": h.refused} for h in hosts if h.refused}
        self.journal.hosts(refused)
        self.ready = set(self.names) - set(refused)
        self.show.phase("inventory", len(self.ready))
        self._greet()
        self._look_at_facts()
        self._look_at_costs()

    def _greet(self) -> None:
        missing = []
        for host, reply in self.ask(dict.fromkeys(self.ready, {"do": "hello"}), QUICK_S):
            if reply.get("lost"):
                self.journal.host(host, state="unreachable", reason=printable(reply["error"]))
            elif self._fine(host, reply):
                self.names[host].data_address = self.names[host].data_address or str(reply.get("address") or "")
                missing += [] if reply.get("has_binary") else [host]
            self.show.step()
        if missing:
            self._ship(missing)

    def _ship(self, hosts: list[str]) -> None:
        size = self.binary.stat().st_size
        self.show.phase(f"shipping {size / 1e6:.0f} MB", len(hosts))
        for wave in waves(hosts):
            with open(self.binary, "rb") as file:
                for offset in range(0, max(size, 1), CHUNK_BYTES):
                    data = base64.b64encode(file.read(CHUNK_BYTES)).decode()
                    last = offset + CHUNK_BYTES >= size
                    job = {"do": "put", "offset": offset, "data": data, "last": last}
                    for host, reply in self.ask(dict.fromkeys(wave, job), QUICK_S):
                        self._fine(host, reply)
            self.show.step(len(wave))

    def _look_at_facts(self) -> None:
        self.show.phase("facts", len(self.ready))
        rows: dict[str, dict[str, object]] = {}
        for host, reply in self.ask(dict.fromkeys(self.ready, {"do": "facts"}), QUICK_S):
            self.show.step()
            if not self._fine(host, reply):
                continue
            said = reply["facts"]
            ran = {key: printable(said.get(key), 80) for key in ("hopcost", "protocol", "checksum")}
            rows[host] = {"hopcost": ran["hopcost"], "checksum": ran["checksum"], "state": "ready", "reason": None}
            if any(ran[key] != str(self.facts.get(key)) for key in ("hopcost", "protocol")):
                reason = "runs hopcost {hopcost} with protocol {protocol}".format(**ran)
                ours = "{hopcost} with protocol {protocol}".format(**self.facts)
                rows[host] |= {"state": "refused", "reason": f"{reason}, and this driver {ours}"}
                self.ready.discard(host)
            elif ran["checksum"] != str(self.facts.get("checksum")):
                rows[host]["reason"] = f"another build of hopcost {ran['hopcost']}: {ran['checksum']}"
        for wave in waves(sorted(self.ready)):
            sent_s = self.engine.time()
            for host, reply in self.ask(dict.fromkeys(wave, {"do": "clock"}), QUICK_S):
                if self._fine(host, reply):
                    off_s = (sent_s + self.engine.time()) / 2 - float(reply["time_s"])
                    rows[host]["clock_off_s"] = off_s
                    if abs(off_s) > CLOCK_OFF_S:
                        way = "behind" if off_s > 0 else "ahead of"
                        rows[host]["reason"] = f"its clock is {abs(off_s):,.0f} s {way} the driver's"
        # One that was lost between has its row already.
        self.journal.hosts({h: row for h, row in rows.items() if h in self.ready or row["state"] == "refused"})

    def _look_at_costs(self) -> None:
        self.show.phase("what agents cost", len(self.ready))
        rows: dict[str, dict[str, object]] = {}
        for frozen, prefix in ((False, "agent"), (True, "frozen")):
            job = {"do": "cost", "frozen": frozen, "seconds": self.cost_s}
            for host, reply in self.ask(dict.fromkeys(self.ready, job), QUICK_S + self.cost_s):
                if reply["ok"]:
                    row = rows.setdefault(host, {})
                    row |= {f"{prefix}_{key}": float(reply[key]) for key in ("cpu_percent", "wakeups_per_s")}
        self.journal.hosts(rows)

    def _fine(self, host: str, reply: Reply) -> bool:
        """Whether a host did what it was asked; one that could not takes no further part."""
        if not reply["ok"] and not reply.get("lost"):
            self.ready.discard(host)
            self.journal.host(host, state="refused", reason=printable(reply.get("error")))
        return reply["ok"]

    # --- planning ---

    def plan(self) -> None:
        """Every host once, then pairs of all hosts, as many rounds as the budget has time for."""
        names = [row["name"] for row in self.journal.host_rows()]
        most = None
        if self.settings.budget_s is not None:
            left_s = self.settings.budget_s - (self.engine.time() - self.began_s) - (self.settings.host_time_s or 0)
            most = max(0, int(left_s / self.round_s))
        seed = int(self.journal.get("seed") or 0)
        rounds, left_out = plan.rounds(self.settings.pairs, len(names), seed, most)
        measured = self.settings.suite is not None or self.settings.suite_text is not None or self.settings.cases
        self.journal.plan(("host", name, None, 0, 1) for name in (names if measured else []))
        self.journal.plan(
            ("pair", names[a], names[b], number, 1) for number, pairs in enumerate(rounds, 1) for a, b in pairs
        )
        self.journal.set(planned="yes", pairs_left_out=str(left_out))
        if left_out:
            self.show.say(f"{left_out:,} pairs are not within the budget and were not planned")

    def recover(self) -> None:
        """What an earlier driver left: files of tasks that ended without it are fetched, the rest gets another attempt."""
        away = {t["id"]: t for t in self.journal.latest("running", "failed") if t["exit_code"] is None}
        self.journal.tasks([t["id"] for t in away.values() if t["state"] == "running"],
                           {"state": "failed", "reason": "the driver ended while it ran"})  # fmt: skip
        left: dict[int, Reply] = {}
        while away:  # a host may have several
            once = {t["a"]: t for t in away.values()}
            for host, reply in self.ask({h: {"do": "look", "task": f"t{t['id']}"} for h, t in once.items()}, QUICK_S):
                if reply["ok"] and reply.get("exit") is not None:
                    left[once[host]["id"]] = reply
            self._collect({t["a"]: (t, left[t["id"]]) for t in once.values() if t["id"] in left})
            away = {number: t for number, t in away.items() if once[t["a"]] is not t}
        again = self.journal.latest("failed", "skipped")
        self.journal.plan((t["kind"], t["a"], t["b"], t["round"], t["attempt"] + 1) for t in again)

    def out_of_time(self) -> bool:
        """Whether another round would end after the budget."""
        budget_s = self.settings.budget_s
        return budget_s is not None and self.engine.time() - self.began_s + self.round_s > budget_s

    def skip_rest(self) -> None:
        """Pairs for which no time is left."""
        rest = [task["id"] for task in self.journal.planned("pair")]
        reason = f"not within the budget of {self.settings.budget_s:g} s"
        self.journal.tasks(rest, {"state": "skipped", "reason": reason})

    def _usable(self, tasks: list) -> dict[str, object]:
        """By near end, what can be measured now; what cannot, because of a host, is skipped with the reason."""
        usable, why = {}, {}
        for task in tasks:
            missing = [name for name in (task["a"], task["b"]) if name and name not in self.ready]
            if missing:
                why.setdefault(missing[0], []).append(task["id"])
            else:
                usable[task["a"]] = task
        if why:
            states = {row["name"]: row["state"] for row in self.journal.host_rows()}
            for name, ids in why.items():
                self.journal.tasks(ids, {"state": "skipped", "reason": f"{name} is {states[name]}"})
        return usable

    # --- measuring ---

    def measure_hosts(self) -> None:
        """The suite on every host, at once."""
        todo = self._usable(self.journal.planned("host"))
        settings = self.settings
        words = [f"--suite={settings.suite}"] if settings.suite else []
        words += [f"--budget={settings.host_time}"] if settings.host_time else []
        lease_s = settings.lease_s or (settings.host_time_s * 1.5 + 60 if settings.host_time_s else LEASE_S)
        job = {"arguments": words, "cases": settings.cases, "suite_text": settings.suite_text}
        self.show.phase("hosts", len(todo))
        self._measure(todo, dict.fromkeys(todo, job), lease_s)

    def measure_pairs(self, number: int, ids: list[int]) -> None:
        """A round: near ends start the workers of their far ends, and measure."""
        began_s = self.engine.time()
        todo = self._usable(self.journal.by_id(ids))
        if not todo:
            return
        lease_s = self.settings.lease_s or self.settings.pair_time_s * 1.5 + 30
        self.show.phase(f"pairs, round {number}", len(todo))
        words = [f"--budget={self.settings.pair_time}"]
        jobs = {h: {"cases": self.settings.pair_cases, "arguments": [*self._peer(t["b"]), *words]} for h, t in todo.items()}
        self._measure(todo, jobs, lease_s)
        self.round_s = max(self.settings.pair_time_s, self.engine.time() - began_s)

    def _peer(self, far: str) -> list[str]:
        """The options by which the near end of a pair starts a worker on the far host, and reaches it."""
        host = self.names[far]
        if "installed" in self._program:
            program = shlex.quote(self._program["installed"])
        else:
            program = f'"${{XDG_CACHE_HOME:-$HOME/.cache}}/hopcost/bin/hopcost-{self._program["sha256"]}"'
        words = [*self._peer_words, host.data_address or host.address] if self._peer_words else self.engine.words(host)
        reached = [f"--peer-address={host.data_address}"] if ADDRESS.fullmatch(host.data_address) else []
        return [f"--peer={shlex.join([*words, f'exec {program} worker'])}", *reached]

    def _measure(self, todo: dict, jobs: dict[str, Job], lease_s: float) -> None:
        """Runs on near ends. No file moves before the last of them has ended."""
        numbers = [todo[host]["id"] for host in jobs]
        self.journal.tasks(numbers, {"state": "running", "started_s": self.engine.time()})
        jobs = {h: {"do": "run", "task": f"t{todo[h]['id']}", "lease_s": lease_s, **job} for h, job in jobs.items()}
        replies = {}
        for host, reply in self.ask(jobs, lease_s + AFTER_LEASE_S + 2 * GRACE_S):
            task = todo.pop(host)
            if reply["ok"]:
                replies[host] = (task, {**reply, "ended_s": self.engine.time()})
            else:
                self._fail(task, f"{host}: {reply.get('error')}")
            self.show.step()
        for host in [host for host in jobs if host in todo]:
            self._fail(todo[host], f"{host} is lost")
        self._write()
        self._collect(replies)

    def _fail(self, task, reason: str, **more: object) -> None:
        values = {"state": "failed", "reason": printable(reason), "ended_s": self.engine.time(), **more}
        self._changes.append((task["id"], values))

    # --- files ---

    def _collect(self, replies: dict) -> None:
        """Fetches the run files, and says in each task's row what became of it."""
        for host, (task, reply) in replies.items():
            if not isinstance(reply.get("bytes"), int):
                self._settle(task, reply, None)
        self._write()
        for wave in waves([h for h, (_, reply) in replies.items() if isinstance(reply.get("bytes"), int)]):
            self._fetch({host: replies[host] for host in wave})

    def _fetch(self, replies: dict) -> None:
        parts, whole = {}, {}
        for host, (task, reply) in replies.items():
            if not 0 < reply["bytes"] <= MOST_FILE_BYTES:
                self._settle(task, reply, None, f"its run file has {reply['bytes']} bytes")
                continue
            parts[host] = Part(self.journal.directory / file_of(task["kind"], task["a"], task["b"], task["attempt"]), reply)
        while parts:
            jobs = {h: {"do": "fetch", "task": f"t{replies[h][0]['id']}", "offset": p.have} for h, p in parts.items()}
            answered = set()
            for host, reply in self.ask(jobs, QUICK_S):
                answered.add(host)
                problem = parts[host].take(reply)
                if problem == "":
                    whole[host] = parts.pop(host)
                elif problem:
                    parts.pop(host)
                    self._settle(*replies[host], None, problem)
            for host in set(parts) - answered:
                parts.pop(host).forget()
                self._settle(*replies[host], None, f"{host} is lost")
        stored = set()
        for host, part in whole.items():
            problem = part.store()
            stored |= set() if problem else {host}
            self._settle(*replies[host], None if problem else part.path, problem)
        self._write()
        jobs = {host: {"do": "drop", "task": f"t{replies[host][0]['id']}"} for host in replies if host in stored}
        dict(self.ask(jobs, QUICK_S))

    def _settle(self, task, reply: Reply, path: Path | None, problem: str = "") -> None:
        code = reply.get("exit") if isinstance(reply.get("exit"), int) else None
        said = printable(reply.get("said") or "")
        # Without an exit code `--resume` looks for the file again, which is still there.
        self._left_there |= bool(problem)
        values: dict[str, object] = {"exit_code": None if problem else code, "ended_s": reply.get("ended_s") or self.engine.time()}
        if path is not None:
            values["file"] = str(path.relative_to(self.journal.directory))
        if path is not None and code in (0, 1, 3):
            self._changes.append((task["id"], {"state": "done", "reason": None if code == 0 else said, **values}))
        else:
            why = problem or f"hopcost ended with {code}: {said}" + ("" if path or code == 124 else ", and left no run file")
            self._fail(task, why, **values)

    def _write(self) -> None:
        """What became of tasks, on the disk before anything else begins."""
        self.journal.change(self._changes)
        self._changes = []

    # --- the end ---

    def abort(self) -> None:
        """Ends what runs on every host; what was finished is in the journal, what ran is failed."""
        self.engine.abort()
        self._write()
        running = [task["id"] for task in self.journal.latest("running")]
        self.journal.tasks(running, {"state": "failed", "reason": "the fleet was aborted", "ended_s": self.engine.time()})
        self.journal.set(status="aborted")
        self.show.end()


class Part:
    """A run file on its way here: under another name until all of it is here, right and on the disk."""

    def __init__(self, path: Path, reply: Reply) -> None:
        self.path = path
        self.have = 0
        self._want = reply["bytes"]
        self._hash = reply.get("sha256")
        self._digest = hashlib.sha256()
        self._part = path.with_name(f".{path.name}.part")
        self._part.unlink(missing_ok=True)

    def take(self, reply: Reply) -> str | None:
        """Adds what came: None while there is more to come, nothing when all of it is here and right, or what is wrong."""
        problem = self._add(reply)
        if problem:
            self.forget()
        return problem

    def _add(self, reply: Reply) -> str | None:
        if not reply["ok"]:
            return f"its run file could not be fetched: {reply.get('error')}"
        try:
            data = base64.b64decode(str(reply.get("data")), validate=True)
        except ValueError:
            data = b""
        if not data or self.have + len(data) > self._want:
            return "its run file came with another length than it had"
        self._digest.update(data)
        try:
            with open(self._part, "ab") as file:
                file.write(data)
        except OSError as error:
            return f"{self.path.name} could not be stored: {error.strerror}"
        self.have += len(data)
        if self.have < self._want:
            return None
        return "" if self._digest.hexdigest() == self._hash else "its run file arrived changed: its SHA-256 is another"

    def store(self) -> str:
        """Gives it its name, once it is on the disk; what is wrong, if something is."""
        try:
            with open(self._part, "rb") as file:
                os.fsync(file.fileno())
            # Never over a file that is there: an attempt has a name of its own. It may be there already, stored by a
            # driver that ended before it could say so.
            if self.path.is_file() and sha256(self.path) != self._hash:
                raise FileExistsError(0, "another file is there")
            self._part.rename(self.path)
        except OSError as error:
            self.forget()
            return f"{self.path.name} could not be stored: {error.strerror}"
        return ""

    def forget(self) -> None:
        """Nothing is left of it."""
        self._part.unlink(missing_ok=True)


class Progress:
    """One line on stderr, drawn over itself on a terminal."""

    def __init__(self) -> None:
        self._tty = sys.stderr.isatty()
        self._clear = "\r\x1b[K" if self._tty else ""
        self._drawn_s = 0.0
        self._name, self._done, self._total = "", 0, 0

    def phase(self, name: str, total: int) -> None:
        """What is being done now, to so many."""
        self._name, self._done, self._total = name, 0, total
        if self._tty:
            self._draw()
        elif not name.startswith("pairs, round") or name.endswith(" 1"):
            print(f"hopcost-fleet: {name}: {total}", file=sys.stderr)

    def step(self, n: int = 1) -> None:
        """So many more are done."""
        self._done += n
        if self._tty and (time.monotonic() - self._drawn_s > 0.1 or self._done == self._total):
            self._draw()

    def say(self, text: str) -> None:
        """A line that stays."""
        print(f"{self._clear}hopcost-fleet: {text}", file=sys.stderr)

    def end(self) -> None:
        """Takes the line away."""
        print(self._clear, end="", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        self._drawn_s = time.monotonic()
        print(f"{self._clear}{self._name}: {self._done} of {self._total}", end="", file=sys.stderr, flush=True)


def sound(do: str, reply: Reply) -> bool:
    """Whether a reply holds what its job asks for, and no number that cannot be."""
    numbers = [value for value in reply.values() if isinstance(value, (int, float))]
    fields = REPLIES.get(do, {}).items()
    return all(abs(n) < 1e15 for n in numbers) and all(
        isinstance(reply.get(key), (int, float) if kind is float else kind) for key, kind in fields
    )


def waves(hosts: list[str]) -> Iterator[list[str]]:
    """So many at once."""
    return (hosts[i : i + WAVE] for i in range(0, len(hosts), WAVE))
