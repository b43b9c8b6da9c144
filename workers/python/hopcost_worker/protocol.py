"""The protocol: commands in, replies out."""

import json
import os
import sys
from array import array
from functools import partial
from typing import Any

from . import kernel, lines, own, streams
from .base import Case, Mechanism
from .lines import Failure
from .seat import MainSeat, ProcessSeat, ThreadSeat
from .stamps import CLOCK, Order, calibrate

VERSION, PROTOCOL = "0.1.0", 3

MECHANISMS = {of.name: of for of in (*own.MECHANISMS, *kernel.MECHANISMS, *streams.MECHANISMS)}


def main() -> None:
    """Obeys until the input ends or says so."""
    worker = Worker()
    try:
        for line in sys.stdin:
            command = json.loads(line)
            lines.say(worker.obey(command))
            if command["do"] == "stop":
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
        self._seats: list[MainSeat] = []
        self._samples_fd: int | None = None
        self._schedule_fd: int | None = None

    def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        """The reply to a command; raises what keeps it from being obeyed."""
        match command["do"]:
            case "describe":
                return describe()
            case "attach" if not self._seats:
                return self.attach(command)
            case "clock":
                return calibrate(command["cpu"])
            case "run" if self._seats:
                return self.run(command)
            case "stop":
                self.stop()
                return {"is": "stopped"}
            case other:
                raise Failure(f"the command {other!r} is not possible here")

    def attach(self, command: dict[str, Any]) -> dict[str, Any]:
        mechanism = MECHANISMS.get(command["mechanism"])
        if mechanism is None:
            raise Failure(f"this worker has no mechanism {command['mechanism']!r}")
        spoil, workload = command.get("spoil") or 0, command["workload"]
        case = Case(command["payload"], command["parameters"], spoil, workload)
        if workload == "load" and command["boundary"] == "thread":
            raise Failure(
                "the sender of a load looks at the clock until a message is due, which keeps the GIL "
                "from a receiver in its process: use boundary=process"
            )
        self._samples_fd, self._schedule_fd = map(command.get, ("samples_fd", "schedule_fd"))
        # Children are forked, and the other thread started, before this thread attaches:
        # both ends of a link attach at the same time.
        self._seats = take_seats(mechanism, case, command)
        attached = [seat.attached() for seat in self._seats]
        return {"is": "attached", "pid": os.getpid(), "seats": attached}

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        order = Order.of(command, self._schedule_fd)
        keeps = command["phase"] == "measure" or bool(order.times) and order.alone
        keeps = keeps and self._samples_fd is not None
        # A seat on the main thread, the first one, runs when it is collected.
        for seat in self._seats:
            seat.order(order)
        outcomes = [seat.collect() for seat in self._seats]
        for outcome in outcomes:
            if keeps and outcome.ticks and self._samples_fd is not None:
                with open(self._samples_fd, "ab", closefd=False) as samples:
                    array("Q", outcome.ticks).tofile(samples)
        ends = zip(self._seats, outcomes, strict=True)
        return {"is": "ran", "ends": [of.counters(seat.role, keeps) for seat, of in ends]}

    def stop(self) -> None:
        """Leaves nothing behind."""
        for seat in self._seats:
            seat.stop()


def take_seats(mechanism: Mechanism, case: Case, command: dict[str, Any]) -> list[MainSeat]:
    """The seats of a trial: on this thread, on this and another, or in two processes."""
    asked = command["seats"]
    link = asked[0].get("link")
    halves = [mechanism.adopt(link["fds"])] if link else mechanism.open(case)
    ends = [
        (seat["role"], partial(mechanism.attach, half, seat["role"], case))
        for seat, half in zip(asked, halves, strict=False)
    ]
    if command["boundary"] == "process" and not link:
        family: list[ProcessSeat] = []
        return [ProcessSeat(*end, family) for end in ends]
    return [MainSeat(*ends[0]), *(ThreadSeat(*end) for end in ends[1:])]


def describe() -> dict[str, Any]:
    """What this worker is; worker.toml says the rest of its mechanisms."""
    from .describe import libraries, remarks

    return {
        "is": "described",
        "protocol": PROTOCOL,
        "runtime": "python",
        "version": VERSION,
        "libraries": libraries(),
        # Before the mechanisms are asked: what they import may switch the GIL on.
        "remarks": remarks(),
        "clock": CLOCK,
        "spoils": True,
        "mechanisms": [of.describe() for of in MECHANISMS.values()],
    }
