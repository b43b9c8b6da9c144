"""What the driver asks of an engine: who is there, and jobs on many hosts at once. It schedules nothing and repeats nothing."""

import os
import queue
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

from . import agent
from .hosts import Host, Usage

# After a signal: hosts have so long to end by themselves, and the driver so long in all.
HANG_UP_S = 1.0
END_S = 2.0
Job = dict
# A host's answer: of the agent (`ok`, `error`, …), or of the engine, with `lost` true, where none came.
Reply = dict


def lost(why: str) -> Reply:
    """The reply of a host that did not answer."""
    return {"ok": False, "lost": True, "error": why}


class Aborted(Exception):
    """SIGINT, SIGTERM or SIGHUP."""


class Stop:
    """Whether a signal ends the fleet. It is raised once, and only where the driver waits: no child is lost, no transaction cut."""

    # The watch of the programs that the driver starts here.
    fds: tuple = ()
    poll_s = 0.1

    def __init__(self) -> None:
        self._asked = self._raised = self._waiting = False

    def listen(self) -> None:
        """From here on signals are heard; one that is ignored, as by nohup, stays so."""
        read, write = os.pipe()
        os.set_blocking(write, False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._ask)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=self._end, args=(read,), daemon=True).start()

    def gone(self) -> bool:
        return self._asked

    def check(self) -> None:
        """Raises `Aborted`, the first time after a signal."""
        if self._asked and not self._raised:
            self._raised = True
            raise Aborted

    def get(self, replies: queue.SimpleQueue, timeout: float | None = None):
        """The next reply, or `Aborted`."""
        self._waiting = True
        try:
            self.check()
            return replies.get(timeout=timeout)
        finally:
            self._waiting = False

    def output_of(self, words: list[object], most_s: float = 30.0, most_bytes: int = agent.CHUNK_BYTES) -> tuple[int, str, str]:
        """A program here, to its end: exit code, stdout, stderr."""
        try:
            code, *texts = agent.output_of(words, most_s, self, most_bytes)
        except (agent.Refusal, OSError) as error:
            self.check()
            raise Usage(str(error)) from None
        return (code, *(text.decode(errors="replace") for text in texts))

    def _ask(self, _number: int, _frame: object) -> None:
        self._asked = True
        if self._waiting:
            self.check()

    def _end(self, signals: int) -> None:
        """Where the driver does not end by itself, in a call that hears no signal, this ends it and its children."""
        os.read(signals, 1)
        time.sleep(END_S)
        for child in list(agent.WAITED_FOR):
            kill(child)
        os._exit(130)


STOP = Stop()


def kill(child) -> None:
    """Ends and reaps a child that leads a session, with what else is in that."""
    try:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait(1.0)
    except (OSError, subprocess.TimeoutExpired):
        pass  # it has ended, or nothing here can end it


class Engine(ABC):
    """A way to reach hosts."""

    # As the journal names it.
    name: str

    @abstractmethod
    def hosts(self) -> list[Host]:
        """Who is there; raises `Usage` where the engine cannot be asked at all."""

    @abstractmethod
    def run(self, jobs: dict[str, Job], deadline_s: float) -> Iterator[tuple[str, Reply]]:
        """One job each for some hosts, all at once; every host gets one reply, as it comes, by the deadline."""

    @abstractmethod
    def words(self, host: Host) -> list[str]:
        """The command by which one host starts a line for the shell on this one; the line follows."""

    def abort(self) -> None:
        """Takes back what is running, in the middle of `run`."""

    def close(self) -> None:
        """Lets go of the hosts; nothing of the driver's is left there."""

    def time(self) -> float:
        """Seconds since 1970, unless time is only played."""
        return time.time()
