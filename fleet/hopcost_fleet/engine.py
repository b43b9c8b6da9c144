"""What the driver asks of an engine: who is there, and jobs on many hosts at once. It schedules nothing and repeats nothing."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

from .hosts import Host

Job = dict
# A host's answer: of the agent (`ok`, `error`, …), or of the engine, with `lost` true, where none came.
Reply = dict


def lost(why: str) -> Reply:
    """The reply of a host that did not answer."""
    return {"ok": False, "lost": True, "error": why}


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

    def abort(self) -> None:
        """Takes back what is running; may be called from a signal handler's exception, in the middle of `run`."""

    def close(self) -> None:
        """Lets go of the hosts; nothing of the driver's is left there."""

    def time(self) -> float:
        """Seconds since 1970, unless time is only played."""
        return time.time()
