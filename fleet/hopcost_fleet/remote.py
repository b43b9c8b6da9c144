"""Engines that start the agent by a command: ssh, and srun inside an allocation of Slurm. The pipe is the leash: when it
ends, the agent ends what it started, and itself."""

import json
import os
import queue
import select
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from .agent import WAITED_FOR
from .engine import HANG_UP_S, STOP, Engine, Job, Reply, kill, lost
from .hosts import Host, Usage, distinct, is_name, name_of, printable

# A reply is at most a part of a file in base64, and some words. All that ssh may write to stderr is no more.
MOST_BYTES = 4 << 20
AGENT = Path(__file__).with_name("agent.py")
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=3"
START_S = 30.0


class Pipe:
    """An agent at the other end of a command."""

    def __init__(self, words: list[str]) -> None:
        text = AGENT.read_bytes()
        # A read may return less than asked for.
        boot = (
            "import os\nt = b''\n"
            f"while len(t) < {len(text)}:\n b = os.read(0, {len(text)} - len(t))\n if not b: os._exit(1)\n t += b\n"
            "exec(compile(t, 'agent', 'exec'))"
        )
        remote = f"exec python3 -I -u -c {shlex.quote(boot)}"
        # A socket, because another thread may end it without setting its descriptor free.
        self._input, stdin = socket.socketpair()
        with stdin:
            self._child = subprocess.Popen(
                [*words, remote], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, bufsize=0
            )
        WAITED_FOR.add(self._child)
        self._input.setblocking(False)
        self._pending = b""
        self._id = 0
        self._said = b""
        self._said_bytes = 0
        self._first = text

    def ask(self, job: Job, until: float) -> Reply:
        """The agent's reply to a job, or why there is none. After that the pipe is of no more use."""
        self._id += 1
        try:
            line = self._line((json.dumps({**job, "id": self._id}) + "\n").encode(), until)
            try:
                reply = json.loads(line)
                # That a host is lost is nothing that a host says.
                if reply["id"] == self._id and isinstance(reply["ok"], bool) and "lost" not in reply:
                    return reply
            except (ValueError, KeyError, TypeError, RecursionError):
                pass
            why = f"it answers `{printable(line[:60].decode(errors='replace'))}` instead of an agent's reply"
        except Exception as error:  # `_line`'s, or the driver has no file descriptors left
            why = printable(error, 100)
        self.close(0.5)
        words = [line for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        return lost(f"{why}: {printable(words[-1], 200)}" if words else why)

    def _line(self, out: bytes, until: float) -> bytes:
        """What the agent answers; raises `ConnectionError` where there is nothing to be had."""
        out = self._first + out
        self._first = b""
        stdin, stdout, stderr = (s.fileno() for s in (self._input, self._child.stdout, self._child.stderr))
        reading = {stdout, stderr}
        while b"\n" not in self._pending:
            rest = until - time.monotonic()
            if rest <= 0 or not reading:
                raise ConnectionError("no answer in time" if stdout in reading else "its agent ended")
            ready, writable, _ = select.select(list(reading), [stdin] if out else [], [], rest)
            try:
                out = out[os.write(stdin, out[: 1 << 16]) :] if writable else out
            except BrokenPipeError:
                out = b""
            for fd in ready:
                block = os.read(fd, 1 << 16)
                if fd == stdout:
                    self._pending += block
                else:
                    self._said = (self._said + block)[-4096:]
                    self._said_bytes += len(block)
                if not block:
                    reading.discard(fd)
                    # Where the agent has ended, ssh may still say why.
                    until = min(until, time.monotonic() + 0.5) if fd == stdout else until
            if max(len(self._pending), self._said_bytes) > MOST_BYTES:
                raise ConnectionError("it writes more than 4 MiB")
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def close(self, most_s: float) -> None:
        """Hangs up, so that the agent ends; then ends the command."""
        try:
            self._input.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has ended
        try:
            self._child.wait(most_s)
        except subprocess.TimeoutExpired:
            kill(self._child)
        WAITED_FOR.discard(self._child)


class Remote(Engine):
    """A pipe and a thread for each host."""

    def __init__(self, name: str, hosts: list[Host], words) -> None:
        self.name = name
        self._hosts = hosts
        self._words = {host.name: words(host) for host in hosts}
        self._pipes: dict[str, Pipe] = {}
        self._dead: dict[str, str] = {}
        self._hung_up = False
        self._asking: list[threading.Thread] = []

    def hosts(self) -> list[Host]:
        return self._hosts

    def words(self, host: Host) -> list[str]:
        return self._words[host.name]

    def run(self, jobs: dict[str, Job], deadline_s: float) -> Iterator[tuple[str, Reply]]:
        replies: queue.SimpleQueue[tuple[str, Reply]] = queue.SimpleQueue()
        until = time.monotonic() + deadline_s
        self._asking = [threading.Thread(target=self._ask, args=(host, job, until, replies), daemon=True) for host, job in jobs.items()]
        for thread in self._asking:
            thread.start()
        for _ in jobs:
            yield STOP.get(replies)

    def _ask(self, host: str, job: Job, until: float, replies: queue.SimpleQueue) -> None:
        reply = lost("the driver hung up" if self._hung_up else self._dead.get(host, ""))
        if host not in self._dead and not self._hung_up:
            try:
                if host not in self._pipes:
                    self._pipes[host] = Pipe(self._words[host])
                    until += START_S
                if self._hung_up:
                    self._pipes[host].close(0)
                reply = self._pipes[host].ask(job, until)
            except Exception as error:  # a thread that raises would leave the driver waiting
                reply = lost(f"{type(error).__name__}: {printable(error)}")
            if reply.get("lost"):
                self._dead[host] = str(reply.get("error"))
        replies.put((host, reply))

    def abort(self) -> None:
        self._hang_up(HANG_UP_S)

    def close(self) -> None:
        self._hang_up(5.0)

    def _hang_up(self, most_s: float) -> None:
        """An agent that is frozen reads the end of its pipe when the trial is over; its hopcost ends when it does."""
        self._hung_up = True
        threads = [threading.Thread(target=pipe.close, args=(most_s,), daemon=True) for pipe in list(self._pipes.values())]
        for thread in threads:
            thread.start()
        # A thread that is just starting a command ends that itself.
        for thread in threads + self._asking:
            thread.join()


def by_ssh(hosts: list[Host], command: str | None) -> Remote:
    """Hosts of a list, reached by ssh or by what stands in for it, which gets the address and a command."""
    words = shlex.split(command or SSH)
    if not words or shutil.which(words[0]) is None:
        raise Usage(f"`{words[0] if words else ''}`: no such program here")
    return Remote("ssh", hosts, lambda host: [*words, host.address])


def by_srun() -> Remote:
    """The nodes of the allocation that this process runs in."""
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    if not nodes:
        raise Usage("--srun works inside an allocation of Slurm only; --slurm asks for one")
    hosts = []
    for node in _words_of(["scontrol", "show", "hostnames", nodes]):
        name = node if is_name(node) else name_of(node)
        shown = _words_of(["scontrol", "show", "node", node])
        address = next((w.partition("=")[2] for w in shown if w.startswith("NodeAddr=")), node)
        # What drives the others is no quiet host, and the report shall be able to see it.
        labels = {"driver": "yes"} if node == os.environ.get("SLURMD_NODENAME") else {}
        hosts.append(Host(name, node, address, labels))
    step = ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet", "--unbuffered", "--cpu-bind=none", "--mem=0"]
    # srun takes words and no line for a shell.
    return Remote("slurm", distinct(hosts, "the allocation"), lambda host: [*step, f"--nodelist={host.address}", "sh", "-c"])


def _words_of(words: list[str]) -> list[str]:
    code, out, err = STOP.output_of(words)
    if code != 0:
        raise Usage(f"`{' '.join(words)}` failed: {printable(err.strip() or code)}")
    return out.split()
