"""Stamps of a phase, and what is said of them."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic_ns
from typing import Any, Protocol, Self

from .case import Failure

clock = monotonic_ns
"""CLOCK_MONOTONIC in nanoseconds: one C call that makes an int."""

LEAD_IN = 2
"""Exchanges before the first stamp of a phase."""

SAMPLES_MAX = 1 << 26
"""The most samples that a phase may ask for: 512 MiB of them."""


@dataclass(frozen=True)
class Order:
    """What a phase is to do."""

    count: int
    """Operations."""
    lengths: tuple[int, ...]
    """Operations between two stamps, in turn; (1,) where each is stamped."""

    @classmethod
    def of(cls, command: dict[str, Any]) -> Self:
        """Of a `run`; raises `Failure` where it asks for what cannot be done."""
        count, stamp = command.get("count"), command.get("stamp")
        kind, n = (stamp.get("kind"), stamp.get("n", 1)) if isinstance(stamp, dict) else (None, 1)
        if type(count) is not int or not 0 <= count < 1 << 62:
            raise Failure(f"a count of {count!r} is none")
        if type(n) is not int or not 1 <= n <= 1 << 40:
            raise Failure(f"a batch of {n!r} operations is none")
        lengths = {"each": (1,), "batch": (n,), "two-lengths": (n, 2 * n)}.get(str(kind))
        if lengths is None:
            raise Failure(f"stamps of the kind {kind!r} are not known")
        if count % sum(lengths):
            raise Failure(f"a count of {count} is no multiple of {sum(lengths)}")
        order = cls(count, lengths)
        if order.samples > SAMPLES_MAX:
            raise Failure(f"{order.samples} samples are more than a phase may ask for")
        return order

    @property
    def samples(self) -> int:
        """Samples of the end that stamps."""
        return self.count // sum(self.lengths) * len(self.lengths)


@dataclass
class Stamped:
    """What an end did in a phase."""

    count: int
    ticks: Sequence[int] = ()
    lost: int = 0

    def counters(self, role: str, keeps: bool) -> dict[str, Any]:
        """The end's part of the reply."""
        end = {
            "role": role,
            "count": self.count,
            "samples": len(self.ticks) if keeps else 0,
            "max_ticks": max(self.ticks, default=0),
            "elapsed_ticks": sum(self.ticks),
        }
        return end | {"lost": self.lost} if self.lost else end


class Endpoint(Protocol):
    """An attached end, ready to run phases; belongs to the thread that attached it."""

    def run(self, order: Order) -> Stamped: ...


def room(count: int) -> "array[int]":
    """Room for stamps; written to, because untouched pages would be paid for in the loop."""
    return array("Q", [1]) * count


def differences(stamps: "array[int]", lost: list[int]) -> "array[int]":
    """From each stamp to the next, without those at the indices `lost`."""
    ticks = array("Q", (after - before for before, after in pairwise(stamps)))
    for index in reversed(lost):
        del ticks[index - 1]
    return ticks
