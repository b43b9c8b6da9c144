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

from .engine import Engine, Job, Reply, lost
from .hosts import Host, Usage, distinct, is_name, name_of, printable

# A reply is at most a part of a file in base64, and some words.
MOST_REPLY_BYTES = 4 << 20
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
        self._input.setblocking(False)
        self._pending = b""
        self._id = 0
        self._said = b""
        self._first = text

    def ask(self, job: Job, until: float) -> Reply:
        """The agent's reply to a job, or why there is none. After that the pipe is of no more use."""
        self._id += 1
        out = self._first + (json.dumps({**job, "id": self._id}) + "\n").encode()
        self._first = b""
        stdin, stdout, stderr = (s.fileno() for s in (self._input, self._child.stdout, self._child.stderr))
        reading = {stdout, stderr}
        while b"\n" not in self._pending:
            rest = until - time.monotonic()
            if rest <= 0:
                return self._give_up("no answer in time")
            ready, writable, _ = select.select(list(reading), [stdin] if out else [], [], rest)
            try:
                if writable:
                    out = out[os.write(stdin, out[: 1 << 16]) :]
                for fd in ready:
                    block = os.read(fd, 1 << 16)
                    if fd == stderr:
                        self._said = (self._said + block)[-4096:]
                        if not block:
                            reading.discard(fd)
                    elif not block:
                        return self._give_up("its agent ended")
                    else:
                        self._pending += block
            except BrokenPipeError:
                return self._give_up("its agent ended")
            if len(self._pending) > MOST_REPLY_BYTES:
                return self._give_up("it answers with more than it was asked for")
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            reply = json.loads(line)
            if reply["id"] != self._id or not isinstance(reply["ok"], bool):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            return self._give_up(f"it answers `{printable(line[:60].decode(errors='replace'))}` instead of an agent's reply")
        return reply

    def _give_up(self, why: str) -> Reply:
        words = [line for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        self.close(0.5)
        return lost(f"{why}: {printable(words[-1], 200)}" if words else why)

    def close(self, most_s: float) -> None:
        """Hangs up, so that the agent ends; then ends the command."""
        try:
            self._input.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has ended
        try:
            self._child.wait(most_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Remote(Engine):
    """A pipe and a thread for each host."""

    def __init__(self, name: str, hosts: list[Host], words) -> None:
        self.name = name
        self._hosts = hosts
        self._words = {host.name: words(host) for host in hosts}
        self._pipes: dict[str, Pipe] = {}
        self._dead: dict[str, str] = {}

    def hosts(self) -> list[Host]:
        return self._hosts

    def run(self, jobs: dict[str, Job], deadline_s: float) -> Iterator[tuple[str, Reply]]:
        replies: queue.SimpleQueue[tuple[str, Reply]] = queue.SimpleQueue()
        until = time.monotonic() + deadline_s
        for host, job in jobs.items():
            threading.Thread(target=self._ask, args=(host, job, until, replies), daemon=True).start()
        for _ in jobs:
            yield replies.get()

    def _ask(self, host: str, job: Job, until: float, replies: queue.SimpleQueue) -> None:
        reply = lost(self._dead.get(host, ""))
        if host not in self._dead:
            try:
                pipe = self._pipes.get(host)
                if pipe is None:
                    pipe = self._pipes[host] = Pipe(self._words[host])
                    until += START_S
                reply = pipe.ask(job, until)
            except Exception as error:  # a thread that raises would leave the driver waiting
                reply = lost(f"{type(error).__name__}: {printable(error)}")
            if reply.get("lost"):
                self._dead[host] = reply["error"]
        replies.put((host, reply))

    def abort(self) -> None:
        # An agent that is frozen reads the end of its pipe when the trial is over.
        self._hang_up(15.0)

    def close(self) -> None:
        self._hang_up(5.0)

    def _hang_up(self, most_s: float) -> None:
        pipes = [pipe for host, pipe in self._pipes.items() if host not in self._dead]
        self._dead |= dict.fromkeys(self._pipes, "the driver hung up")
        threads = [threading.Thread(target=pipe.close, args=(most_s,), daemon=True) for pipe in pipes]
        for thread in threads:
            thread.start()
        for thread in threads:
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
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout.split()
    except (OSError, subprocess.SubprocessError) as error:
        raise Usage(f"`{' '.join(words)}` failed: {printable(getattr(error, 'stderr', '') or error)}") from None
