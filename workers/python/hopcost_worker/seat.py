"""Seats: ends on the main thread, on a thread, or in a process of their own.

All of them first get their order and are then asked for the outcome, so that both ends of a
trial begin at the same time.
"""

import ctypes
import os
import queue
import signal
import threading
from collections.abc import Callable
from typing import Any

from . import lines
from .lines import Failure
from .stamps import Endpoint, Order, Stamped

Attach = Callable[[], Endpoint]

PR_SET_PDEATHSIG = 1


class MainSeat:
    """An end on the main thread: it attaches and runs when it is asked for the outcome."""

    def __init__(self, role: str, attach: Attach) -> None:
        self.role, self._attach = role, attach

    def attached(self) -> dict[str, Any]:
        """Its part of the reply, once it is attached."""
        self._endpoint = self._attach()
        return {"role": self.role, "tid": threading.get_native_id()}

    def order(self, order: Order) -> None:
        """Has it run a phase."""
        self._order = order

    def collect(self) -> Stamped:
        """Waits until the phase is over."""
        return self._endpoint.run(self._order)

    def stop(self) -> None:
        """Leaves nothing behind."""


class ThreadSeat(MainSeat):
    """An end on a thread of its own, which attaches at once."""

    def __init__(self, role: str, attach: Attach) -> None:
        super().__init__(role, attach)
        self._orders = queue.SimpleQueue[Order]()
        self._outcomes = queue.SimpleQueue[Any]()
        threading.Thread(target=self._live, name=role, daemon=True).start()

    def _live(self) -> None:
        try:
            self._outcomes.put(super().attached())
            while True:
                self._outcomes.put(self._endpoint.run(self._orders.get()))
        except BaseException as error:
            # The main thread may be waiting for this end, and would not hear of it.
            lines.give_up(error, f"{self.role}: ")

    def attached(self) -> dict[str, Any]:
        attached: dict[str, Any] = self._outcomes.get()
        return attached

    def order(self, order: Order) -> None:
        self._orders.put(order)

    def collect(self) -> Stamped:
        stamped: Stamped = self._outcomes.get()
        return stamped


class ProcessSeat(MainSeat):
    """An end in a child that is forked at once; to be made before any thread is started.

    This process then only waits, for what the ends say and for any of them to end: an end that
    watched over the other one itself could not do so while it waits for a message. A child
    dies with this process by PR_SET_PDEATHSIG.
    """

    def __init__(self, role: str, attach: Attach, family: "list[ProcessSeat]") -> None:
        from multiprocessing import get_context

        super().__init__(role, attach)
        self._family, mp = family, get_context("fork")
        family.append(self)
        self._control, its_control = mp.Pipe()
        self._process = mp.Process(target=self._live, args=(its_control, os.getpid()), daemon=True)
        self._process.start()
        its_control.close()

    def _live(self, control: Any, parent: int) -> None:
        """The child's whole life; it is ended from outside."""
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "PR_SET_PDEATHSIG")
            if os.getppid() != parent:
                os._exit(1)
            # Standard output belongs to the parent's replies.
            os.dup2(2, 1)
            control.send(super().attached() | {"pid": os.getpid()})
            while True:
                control.send(self._endpoint.run(control.recv()))
        except BaseException as error:
            control.send(Failure(lines.reason_of(error)))
            # Not by way of the interpreter's end, which waits for a queue's feeder thread.
            os._exit(1)

    def attached(self) -> dict[str, Any]:
        attached: dict[str, Any] = self._hear()
        return attached

    def order(self, order: Order) -> None:
        self._control.send(order)

    def collect(self) -> Stamped:
        stamped: Stamped = self._hear()
        return stamped

    def _hear(self) -> Any:
        """The next thing that this end says, unless any end fails."""
        from multiprocessing.connection import wait

        ready = wait([self._control, *(seat._process.sentinel for seat in self._family)])
        if self._control in ready:
            return self._said()
        for seat in self._family:
            if seat._process.sentinel in ready:
                # Its last words are why it failed.
                while seat._control.poll():
                    seat._said()
                raise seat._ended()

    def _said(self) -> Any:
        try:
            said = self._control.recv()
        except (EOFError, OSError):
            raise self._ended() from None
        if isinstance(said, Failure):
            raise Failure(f"{self.role}: {said}")
        return said

    def _ended(self) -> Failure:
        self._process.join()
        code = self._process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
        return Failure(f"{self.role}: its process {how}")

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
