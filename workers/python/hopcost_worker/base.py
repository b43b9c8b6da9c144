"""What a mechanism is to the worker: how its ends come to be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .lines import Failure
from .loop import End, endpoint
from .stamps import Endpoint


@dataclass(frozen=True)
class Case:
    """What a trial asks of a mechanism."""

    payload: int
    parameters: Mapping[str, str]
    spoil: int = 0
    """The number of a message to send with one byte changed."""
    workload: str = "roundtrip"


def no_link(_: Case) -> tuple[Any, Any]:
    """Of a call."""
    return (None, None)


def no_descriptors(_: Sequence[int]) -> Any:
    """Of a mechanism that makes its link itself."""
    raise Failure("this mechanism does not take descriptors")


def always() -> str | None:
    """Needs nothing that could be missing."""
    return None


@dataclass(frozen=True)
class Mechanism:
    """A mechanism; what it is stands in worker.toml."""

    name: str
    attach: Callable[[Any, str, Case], Endpoint]
    """Takes a half, in the thread that is to run it: half, role, case."""
    revision: int = 2
    """Raised by one whenever a change of its code can move its numbers."""
    open: Callable[[Case], tuple[Any, Any]] = no_link
    """Makes a link: the caller's and the callee's half."""
    adopt: Callable[[Sequence[int]], Any] = no_descriptors
    """Makes a half of inherited descriptors."""
    missing: Callable[[], str | None] = always
    """Why it cannot be used here, if it cannot."""

    def describe(self) -> dict[str, Any]:
        """Its part of `described`."""
        reason = self.missing()
        said = {"name": self.name, "revision": self.revision}
        return said | ({"unavailable": reason} if reason else {})


def blocking(make: Callable[[Any, str, Case], End]) -> Callable[[Any, str, Case], Endpoint]:
    """The `attach` of a mechanism whose ends block."""
    return lambda half, role, case: endpoint(
        make(half, role, case), role, case.payload, case.spoil, case.workload
    )
