"""Orders of phases, their stamps, and what is reported of them."""

import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from time import monotonic_ns
from typing import Any, Protocol, Self

clock = monotonic_ns
"""CLOCK_MONOTONIC in nanoseconds: one C call that makes an int."""

CLOCK = {"source": "CLOCK_MONOTONIC", "ticks_per_second": 1_000_000_000}

LEAD_IN = 2
"""Exchanges before the first stamp of a phase."""

LATE = 1 << 63
"""What a load's sender adds to the stamp of a message to which it came late."""

PAIRS = 10_000
"""Stamps by which their cost is found."""


@dataclass(frozen=True)
class Order:
    """What a phase is to do."""

    count: int
    """Operations."""
    lengths: tuple[int, ...]
    """Operations between two stamps, in turn; (1,) where each is stamped."""
    times: Sequence[int] = ()
    """When to send each message of a load, after the phase has begun."""
    alone: bool = False
    """Whether a load's sender only goes through its times."""

    @classmethod
    def of(cls, command: dict[str, Any], schedule_fd: int | None = None) -> Self:
        """Of a `run`."""
        stamp, count = command["stamp"], command["count"]
        n = stamp.get("n", 1)
        times = array("Q")
        if schedule_fd is not None:
            times.frombytes(os.pread(schedule_fd, 8 * count, 0))
        lengths = (n, 2 * n) if stamp["kind"] == "two-lengths" else (n,)
        return cls(count, lengths, times, command["phase"] == "pilot")


@dataclass
class Stamped:
    """What an end did in a phase."""

    count: int
    ticks: Sequence[int] = ()
    lost: int = 0
    began: int = 0
    """The first stamp of an end of a load, whose ticks are stamps."""
    overruns: int = 0
    """Messages that a load's sender came to when their time had passed."""

    def counters(self, role: str, keeps: bool) -> dict[str, Any]:
        """The end's part of the reply."""
        end = {"role": role, "count": self.count, "samples": len(self.ticks) if keeps else 0}
        if self.began:
            elapsed = (self.ticks[-1] & ~LATE) - self.began
            end |= {"first_tick": self.began, "elapsed_ticks": elapsed, "overruns": self.overruns}
        else:
            end |= {"max_ticks": max(self.ticks, default=0), "elapsed_ticks": sum(self.ticks)}
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


def calibrate(cpu: int) -> dict[str, Any]:
    """The reply to `clock`: what a stamp costs on this CPU, by two readings in a row."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        read, costs = clock, []
        for _ in repeat(None, PAIRS):
            start = read()
            costs.append(read() - start)
    finally:
        os.sched_setaffinity(0, before)
    costs.sort()
    cost = {f"stamp_p{p}_ns": costs[PAIRS * p // 100] for p in (50, 99)}
    said = {"is": "clock", "cpu": cpu, "runtime": "python", "stamp_min_ns": costs[0]}
    return said | cost | CLOCK | {"resolution_ticks": next((c for c in costs if c), 0)}
