"""What a mechanism is to the worker: its facts, and how its ends come to be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..case import Case, Failure
from ..loop import Callee, Caller, End, endpoint
from ..stamps import Endpoint

PAYLOAD_MAX = 1 << 20
"""Of mechanisms that set no bound themselves."""


@dataclass(frozen=True)
class Parameter:
    """A key that a case of the mechanism has."""

    name: str
    values: tuple[str, ...]
    default: str
    about: str

    def of(self, case: Case) -> str:
        """The case's value."""
        return case.choice(self.name, self.values, self.default)


@dataclass(frozen=True)
class Opening:
    """What a link is made for."""

    case: Case
    scratch: Path
    """For names."""


def no_link(_: Opening) -> tuple[Any, Any]:
    """Of a call."""
    return (None, None)


def no_descriptors(_: Sequence[int]) -> Any:
    """Of a mechanism that makes its link itself."""
    raise Failure("this mechanism does not take descriptors")


def always() -> str | None:
    """Needs nothing that could be missing."""
    return None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mechanism. The fields up to `sources` are those of `describe`."""

    name: str
    family: str
    about: str
    workloads: tuple[str, ...] = ("roundtrip",)
    boundaries: tuple[str, ...] = ()
    payload: tuple[int, int, int] | None = None
    """Least, most, default."""
    parameters: tuple[Parameter, ...] = ()
    link: str = "own"
    carrier: str | None = None
    peers: str = "own"
    crosses: str
    copies: str
    wakes: str
    between_stamps: str
    limits: str
    sources: tuple[str, ...]
    system_calls: tuple[int, int] | None = None
    """In one operation, at least and at most: of round trips, between two processes, both ends."""
    revision: int = 1
    """Raised by one whenever a change of its code can move its numbers."""

    missing: Callable[[], str | None] = field(default=always)
    """Why it cannot be used here, if it cannot."""
    open: Callable[[Opening], tuple[Any, Any]] = field(default=no_link)
    """Makes a link: the caller's and the callee's half."""
    adopt: Callable[[Sequence[int]], Any] = field(default=no_descriptors)
    """Makes a half of inherited descriptors."""
    attach: Callable[[Any, str, Case], Endpoint]
    """Takes a half, in the thread that is to run it: half, role, case."""

    def describe(self) -> dict[str, Any]:
        """Its part of `described`."""
        said: dict[str, Any] = {"name": self.name, "revision": self.revision}
        if (reason := self.missing()) is not None:
            said["unavailable"] = reason
        return said


def attach(make: Callable[[Any, str, Case], End]) -> Callable[[Any, str, Case], Caller | Callee]:
    """The `attach` of a mechanism whose ends block."""
    return lambda half, role, case: endpoint(make(half, role, case), role, case.payload)
