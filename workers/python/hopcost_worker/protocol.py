"""The protocol: commands in, replies out."""

import json
import os
import signal
import sys
from array import array
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from . import VERSION, lines, mechanism
from .case import Case, Failure
from .clock import calibrate
from .mechanism.base import Opening, Row
from .seat import Attach, MainSeat, ProcessSeat, Seat, ThreadSeat
from .stamps import Order, Stamped

PROTOCOL = 3


def main() -> None:
    """Obeys until the input ends or says so."""
    worker = Worker()
    try:
        for line in lines.commands():
            command = json.loads(line)
            if not isinstance(command, dict):
                raise Failure("a command is a JSON object")
            lines.say(worker.obey(command))
            if command.get("do") == "stop":
                break
        else:
            worker.stop()
    except BaseException as error:
        lines.give_up(error)
    # Not by way of the interpreter's end, which waits for threads that nobody ends.
    os._exit(0)


class Worker:
    """One trial at most."""

    def __init__(self) -> None:
        self._seats: list[Seat] = []
        self._samples_fd: int | None = None

    def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        """The reply to a command; raises what keeps it from being obeyed."""
        match command.get("do"):
            case "describe":
                return describe()
            case "attach":
                return self.attach(command)
            case "clock":
                return calibrate(integer(command, "cpu"))
            case "run":
                return self.run(command)
            case "stop":
                self.stop()
                return {"is": "stopped"}
            case "meet":
                raise Failure("this worker offers no addresses")
            case other:
                raise Failure(f"the command {other!r} is not known")

    def attach(self, command: dict[str, Any]) -> dict[str, Any]:
        if self._seats:
            raise Failure("already attached")
        arm(integer(command, "deadline_ms"))
        case = Case.parse(str(command.get("case")))
        row = mechanism.find(case.mechanism)
        if case.workload not in row.workloads:
            raise Failure(f"{row.name} has no {case.workload}")
        if row.payload and not row.payload[0] <= case.payload <= row.payload[1]:
            raise Failure(f"a payload of {row.name} has {row.payload[0]} to {row.payload[1]} bytes")
        self._samples_fd = command.get("samples_fd")
        if self._samples_fd is not None:
            os.set_inheritable(integer(command, "samples_fd"), False)
        seats = command.get("seats")
        if not isinstance(seats, list) or not all(isinstance(seat, dict) for seat in seats):
            raise Failure("seats are a list of objects")
        opening = Opening(case, Path(command.get("scratch") or gettempdir()))
        # Children are forked, and the other thread started, before this thread attaches:
        # both ends of a link attach at the same time.
        self._seats = take_seats(row, opening, seats)
        attached = [seat.attached() for seat in self._seats]
        return {"is": "attached", "pid": os.getpid(), "seats": attached}

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        if not self._seats:
            raise Failure("nothing is attached")
        order = Order.of(command)
        keeps = command.get("phase") == "measure" and self._samples_fd is not None
        # A seat on the main thread, the first one, runs when it is collected.
        for seat in self._seats:
            seat.order(order)
        outcomes = [seat.collect() for seat in self._seats]
        if keeps:
            for outcome in outcomes:
                self.write_samples(outcome)
        ends = [
            outcome.counters(seat.role, keeps)
            for seat, outcome in zip(self._seats, outcomes, strict=True)
        ]
        return {"is": "ran", "ends": ends}

    def write_samples(self, outcome: Stamped) -> None:
        """Hands over an end's samples."""
        ticks = array("Q", outcome.ticks)
        if sys.byteorder == "big":
            ticks.byteswap()
        if self._samples_fd is not None and ticks:
            lines.write_all(self._samples_fd, memoryview(ticks).cast("B"))

    def stop(self) -> None:
        """Leaves nothing behind."""
        for seat in self._seats:
            seat.stop()


def take_seats(row: Row, opening: Opening, asked: list[dict[str, Any]]) -> list[Seat]:
    """The seats of a trial: on this thread, on this and another, or in two processes."""
    roles = tuple(seat.get("role") for seat in asked)
    case = opening.case

    def attach(role: str, half: Any) -> Attach:
        return partial(row.attach, half, role, case)

    if case.workload == "call":
        if roles != ("caller",):
            raise Failure("a call has one seat, the caller's")
        return [MainSeat("caller", attach("caller", row.open(opening)[0]))]
    if len(asked) == 1 and (role := roles[0]) in ("caller", "callee"):
        half = row.adopt(descriptors(asked[0].get("link")))
        return [MainSeat(role, attach(role, half))]
    if roles != ("caller", "callee"):
        raise Failure("a worker plays one end, or both with the caller first")
    if any(seat.get("link") for seat in asked):
        raise Failure("a worker that plays both ends makes the link itself")
    if case.boundary not in row.boundaries or (row.link != "own" and case.boundary == "process"):
        raise Failure(f"{row.name} cannot be both ends with boundary={case.boundary}")
    halves = zip(("caller", "callee"), row.open(opening), strict=True)
    ends = [(role, attach(role, half)) for role, half in halves]
    if case.boundary == "process":
        family: list[ProcessSeat] = []
        return [ProcessSeat(*end, family) for end in ends]
    return [MainSeat(*ends[0]), ThreadSeat(*ends[1])]


def descriptors(link: Any) -> list[int]:
    """The inherited descriptors of a link."""
    fds = link.get("fds") if isinstance(link, dict) else None
    if not isinstance(fds, list) or not all(type(fd) is int and fd >= 0 for fd in fds):
        raise Failure("one end alone needs a link of descriptors")
    return fds


def integer(command: dict[str, Any], key: str) -> int:
    """A number that a command has to have."""
    value = command.get(key)
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise Failure(f"{key} is no number: {value!r}")
    return value


def arm(deadline_ms: int) -> None:
    """Arms the deadline, where whoever started this program has not done it already."""
    if signal.getitimer(signal.ITIMER_REAL)[0] == 0:
        signal.setitimer(signal.ITIMER_REAL, max(deadline_ms, 1) / 1000)


def describe() -> dict[str, Any]:
    """What this worker is."""
    from .describe import libraries, remarks

    # Before the mechanisms are asked: what they import may switch the GIL on.
    said = remarks()
    return {
        "is": "described",
        "protocol": PROTOCOL,
        "runtime": "python",
        "version": VERSION,
        "libraries": libraries(),
        "remarks": said,
        "clock": {"source": "CLOCK_MONOTONIC", "ticks_per_second": 1_000_000_000},
        "warm_up": "planned",
        "mechanisms": [row.describe() for row in mechanism.ROWS],
    }
