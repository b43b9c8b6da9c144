"""The driver: who is there, then rounds: every host once, then pairs of hosts.

What happens to a host becomes its row, and the others go on.
"""

import asyncio
import json
import os
import shlex
import sys
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from . import plan
from .agent import GRACE_S, last_line, sha256
from .hosts import Host, printable
from .journal import Journal, file_of
from .launch import FILE_MAX_BYTES, Lost

# Files go to or come from this many hosts at once, and hopcost reads this many.
FILES_AT_ONCE = 32
READ_AT_ONCE = 256
QUICK_S, FILE_S = 60.0, 600.0
LEASE_S = 900.0
# Exit codes of a hopcost that measured: all cases, not all, and with doubts.
MEASURED = (0, 1, 3)


class Driver:
    """One fleet, by one launcher, into one directory."""

    def __init__(self, journal: Journal, launcher, options: Namespace, binary: Path) -> None:
        self.journal = journal
        self.launcher = launcher
        self.options = options
        self.binary = binary
        # Part of every job: of which fleet it is, and which hopcost measures.
        self.common = {"fleet": journal.get("id"), "sha256": sha256(binary)}
        self.hosts: dict[str, Host] = {}
        # The state of hosts that take no further part.
        self.out: dict[str, str] = {}
        self.silent = "unreachable"
        # Tasks whose files may be removed from their host.
        self.stored = defaultdict(list)
        self.files = asyncio.Semaphore(FILES_AT_ONCE)

    async def run(self, hosts: list[Host]) -> None:
        """All of it; what is left to do is in the journal at any time."""
        await self.inventory(hosts)
        self.silent = "lost"
        if self.journal.get("planned"):
            await self.recover()
        else:
            self.plan()
        planned = (task for task in self.journal.tasks() if task["state"] == "planned")
        for number, tasks in groupby(planned, lambda task: task["round"]):
            await self.measure(f"pairs, round {number}" if number else "hosts", list(tasks))
        self.journal.set(status="complete")
        # A file that could not be stored is fetched by --resume.
        left = {task["a"] for task in self.journal.latest("failed") if task["exit_code"] is None}
        hosts = [host for host in self.ready() if host not in left]
        await self.each("cleaning up", hosts, lambda host: self.ask(host, {"do": "drop"}))

    def ready(self) -> list[str]:
        """The hosts that take part."""
        return [host for host in self.hosts if host not in self.out]

    async def each(self, title: str, things: list, do: Callable[..., Awaitable]) -> None:
        """Does something to each, all at once."""
        if things:
            say(f"{title}: {len(things)}")
        await asyncio.gather(*map(do, things))

    async def ask(self, host: str, job: dict, most_s: float = QUICK_S, **files: Path) -> dict:
        """The reply of a host. One that gives none takes no further part."""
        job = {**job, **self.common}
        try:
            return await self.launcher.ask(self.hosts[host], job, most_s, **files)
        except Lost as error:
            self.leave([host], self.silent, f"{job['do']}: {error}")
            return {"error": str(error)}

    def leave(self, hosts: Iterable[str], state: str, reason: object) -> None:
        """Hosts take no further part, and their rows say why."""
        self.out |= dict.fromkeys(hosts, state)
        self.journal.set_hosts(hosts, state, printable(reason))

    # --- inventory and plan ---

    async def inventory(self, hosts: list[Host]) -> None:
        """Asks every host, and brings hopcost if it is missing."""
        known = self.journal.hosts()
        if not known:
            labels = dict(self.options.labels)
            for host in hosts:
                host.labels |= labels.pop(host.name, {})
            if labels:
                say(f"labelled, and not there: {', '.join(list(labels)[:5])}")
            self.journal.add_hosts(hosts)
        # A fleet that is resumed takes no more hosts.
        self.hosts = {host.name: host for host in hosts if host.name in known or not known}
        gone = known.keys() - self.hosts.keys()
        self.leave(gone, "unreachable", f"{self.launcher.name} does not know it now")
        for host in hosts:
            if host.refused and host.name in self.hosts:
                self.leave([host.name], "refused", host.refused)
        await self.each("asking hosts", self.ready(), self.greet)
        self.journal.set_hosts(self.ready(), "ready", None)

    async def greet(self, host: str) -> None:
        """Brings hopcost to a host, if it is missing, and tries it."""
        reply = await self.ask(host, {"do": "bring"})
        if reply.get("missing"):
            async with self.files:
                job = {"do": "bring", "sent": True}
                reply = await self.ask(host, job, FILE_S, send=self.binary)
        why = "hopcost arrived changed" if reply.get("missing") else reply.get("error")
        if why and host not in self.out:
            self.leave([host], "refused", why)

    def plan(self) -> None:
        """Every host once, then pairs of all hosts."""
        names = list(self.journal.hosts())
        rounds = plan.rounds(self.options.pairs, len(names))
        if self.options.suite or self.options.cases:
            self.journal.plan(("host", name, None, 0, 1) for name in names)
        self.journal.plan(
            ("pair", names[a], names[b], number, 1)
            for number, pairs in enumerate(rounds, 1)
            for a, b in pairs
        )
        self.journal.set(planned="yes")

    async def recover(self) -> None:
        """Fetches what ended on hosts without a driver; what is not done gets another attempt."""
        self.journal.end_running("the driver ended while it ran")
        away = [task for task in self.journal.latest("failed") if task["exit_code"] is None]
        await self.collect([task for task in away if task["a"] not in self.out])
        self.journal.plan(
            (task["kind"], task["a"], task["b"], task["round"], task["attempt"] + 1)
            for task in self.journal.latest("failed", "skipped")
        )

    # --- measuring ---

    async def measure(self, title: str, tasks: list[dict]) -> None:
        """One round, all at once. No file moves before the last of them has ended."""
        for task in tasks:
            missing = [name for name in (task["a"], task["b"]) if name in self.out]
            if missing:
                reason = f"{missing[0]} is {self.out[missing[0]]}"
                task |= {"state": "skipped", "reason": reason}
            else:
                task |= {"state": "running", "started_s": time.time()}
        self.journal.set_tasks(tasks)
        is_running = lambda task: task["state"] == "running"
        begun = list(filter(is_running, tasks))
        await self.each(title, begun, self.measure_one)
        self.journal.set_tasks([task for task in begun if not is_running(task)])
        await self.collect(list(filter(is_running, begun)))

    async def measure_one(self, task: dict) -> None:
        """Has the near host measure, and its file stay there."""
        options, is_pair = self.options, task["kind"] == "pair"
        time_s = options.pair_time if is_pair else options.host_time
        lease_s = options.lease or (time_s * 1.5 + 60 if time_s else LEASE_S)
        words = self.peer(task["b"]) if is_pair else []
        words += [f"--budget={time_s:g}s"] if time_s else []
        if options.suite and options.suite_text is None and not is_pair:
            words.append(f"--suite={options.suite}")
        job = {
            "do": "run", "task": f"t{task['id']}", "arguments": words, "lease_s": lease_s,
            "cases": options.pair_cases if is_pair else options.cases,
            "suite_text": None if is_pair else options.suite_text,
            "stored": self.stored.pop(task["a"], []),
        }  # fmt: skip
        reply = await self.ask(task["a"], job, lease_s + 4 * GRACE_S)
        task["ended_s"] = time.time()
        if not reply.get("bytes"):
            settle(task, reply)

    def peer(self, far: str) -> list[str]:
        """The options by which a near host starts a worker on the far one, and reaches it."""
        host, words = self.hosts[far], self.launcher.words(self.hosts[far])
        if self.options.peer_command:
            address = host.data_address or host.address
            words = [*shlex.split(self.options.peer_command), address]
        cache = "${XDG_CACHE_HOME:-$HOME/.cache}"
        line = f'exec "{cache}/hopcost/bin/hopcost-{self.common["sha256"]}" worker'
        reached = [f"--peer-address={host.data_address}"] if host.data_address else []
        return [f"--peer={shlex.join([*words, line])}", *reached]

    async def collect(self, tasks: list[dict]) -> None:
        """Fetches the run files of tasks that have ended, and has hopcost read them."""
        await self.each("fetching files", tasks, self.fetch)
        self.journal.set_tasks([task for task in tasks if not task["file"]])
        done = [task for task in tasks if task["file"]]
        for some in (done[at : at + READ_AT_ONCE] for at in range(0, len(done), READ_AT_ONCE)):
            files = [self.journal.directory / task["file"] for task in some]
            runs = await self.read(files)
            self.journal.set_tasks([{**task, "run": run} for task, run in zip(some, runs)])
            for task in some:
                self.stored[task["a"]].append(f"t{task['id']}")

    async def fetch(self, task: dict) -> None:
        """Fetches a run file under another name, until all of it is right and on the disk."""
        path = self.journal.directory / file_of(task)
        part = path.with_name(f".{path.name}.part")
        job, reply = {"do": "fetch", "task": f"t{task['id']}"}, {}
        async with self.files:
            try:
                reply = await self.ask(task["a"], job, FILE_S, receive=part)
                if not reply and task["state"] == "failed":
                    return  # it never ended there
                problem = reply.get("error") or keep(part, path, reply)
            except OSError as error:
                problem = f"{path.name} could not be stored: {error.strerror}"
            finally:
                part.unlink(missing_ok=True)
        if not problem:
            task["file"] = str(path.relative_to(self.journal.directory))
        settle(task, reply, problem)

    async def read(self, files: list[Path]) -> list[str]:
        """What run files hold, one JSON text each."""
        pipe, lines, why = asyncio.subprocess.PIPE, [], "it did not end in time"
        child = await asyncio.create_subprocess_exec(
            self.binary, "fleet", "index", "--", *files, stdout=pipe, stderr=pipe
        )
        try:
            with suppress(TimeoutError):
                out, err = await asyncio.wait_for(child.communicate(), FILE_S)
                lines = out.decode().split("\n")[:-1]
                why = f"it ended with {child.returncode}: {last_line(err)}"
        finally:
            if child.returncode is None:
                child.kill()
        if len(lines) != len(files):
            lines = [json.dumps({"error": f"hopcost fleet index: {why}"})] * len(files)
        return lines


def keep(part: Path, path: Path, reply: dict) -> str:
    """Gives a file that came its name, if it is right; what is wrong, if something is."""
    size = reply.get("bytes") or 0
    if not 0 < size <= FILE_MAX_BYTES:
        return f"its run file has {size} bytes"
    if sha256(part) != reply.get("sha256"):
        return "its run file arrived changed: its SHA-256 is another"
    # A driver that was killed may have stored it already.
    if path.exists() and sha256(path) != reply["sha256"]:
        return f"{path.name} could not be stored: another file is there"
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    part.rename(path)
    return ""


def settle(task: dict, reply: dict, problem: str = "") -> None:
    """What came of a task. If it has no exit code, `--resume` looks for its file again."""
    problem = problem or reply.get("error") or ""
    code, said = reply.get("exit"), printable(reply.get("said") or "")
    task |= {"state": "failed", "exit_code": None if problem else code}
    if problem:
        task["reason"] = printable(f"{task['a']}: {problem}")
    elif not task["file"] or code not in MEASURED:
        nothing = "" if task["file"] else ", and left no run file"
        task["reason"] = f"hopcost ended with {code}: {said}{nothing}"
    else:
        task |= {"state": "done", "reason": said if code else None}


def say(text: str) -> None:
    """A line for people."""
    print(f"hopcost-fleet: {printable(text, 2000)}", file=sys.stderr)
