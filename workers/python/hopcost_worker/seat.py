"""Seats: ends on the main thread, on a thread, or in a process of their own.

All of them are first told what to do and then asked for the outcome, so that both ends of a
trial begin at the same time.
"""

import ctypes
import os
import queue
import signal
import threading
from collections.abc import Callable
from typing import Any, Protocol

from . import lines
from .stamps import Endpoint, Order, Stamped

Attach = Callable[[], Endpoint]


class Seat(Protocol):
    """An end."""

    role: str

    def attached(self) -> dict[str, Any]:
        """Its part of the reply, once it is attached."""
        ...

    def order(self, order: Order) -> None:
        """Tells it to run a phase."""
        ...

    def collect(self) -> Stamped:
        """Waits until the phase is over."""
        ...

    def stop(self) -> None:
        """Leaves nothing behind."""
        ...


class MainSeat:
    """An end on the main thread: it attaches and runs when it is asked for the outcome."""

    def __init__(self, role: str, attach: Attach) -> None:
        self.role, self._attach = role, attach

    def attached(self) -> dict[str, Any]:
        self._endpoint = self._attach()
        return {"role": self.role, "tid": threading.get_native_id()}

    def order(self, order: Order) -> None:
        self._order = order

    def collect(self) -> Stamped:
        return self._endpoint.run(self._order)

    def stop(self) -> None:
        pass


class ThreadSeat:
    """An end on a thread of its own, which attaches at once."""

    def __init__(self, role: str, attach: Attach) -> None:
        self.role = role
        self._orders = queue.SimpleQueue[Order]()
        self._outcomes = queue.SimpleQueue[Any]()
        threading.Thread(target=self._live, args=(attach,), name=role, daemon=True).start()

    def _live(self, attach: Attach) -> None:
        try:
            endpoint = attach()
            self._outcomes.put({"role": self.role, "tid": threading.get_native_id()})
            while True:
                self._outcomes.put(endpoint.run(self._orders.get()))
        except BaseException as error:  # noqa: BLE001
            # The main thread may be waiting for this end, and would not hear of it.
            lines.give_up(f"{self.role}: {lines.reason_of(error)}")

    def attached(self) -> dict[str, Any]:
        return self._outcomes.get()

    def order(self, order: Order) -> None:
        self._orders.put(order)

    def collect(self) -> Stamped:
        return self._outcomes.get()

    def stop(self) -> None:
        pass


class ProcessSeat:
    """An end in a child that is forked at once; to be made before any thread is started.

    Each of the two dies with the other: the child by PR_SET_PDEATHSIG, this process by SIGCHLD,
    whose handler interrupts whatever the main thread is waiting in.
    """

    def __init__(self, role: str, attach: Attach) -> None:
        from multiprocessing import get_context

        mp = get_context("fork")
        self.role = role
        self._control, its_control = mp.Pipe()
        self._failures, its_failures = os.pipe()
        os.set_blocking(self._failures, False)
        signal.signal(signal.SIGCHLD, self._child_changed)
        self._process = mp.Process(
            target=_live_in_child,
            args=(role, attach, its_control, its_failures, os.getpid()),
            daemon=True,
        )
        self._process.start()
        its_control.close()
        os.close(its_failures)

    def _child_changed(self, *_: object) -> None:
        process = getattr(self, "_process", None)
        # Another child may have ended: the resource tracker of multiprocessing.
        if process is None or process.is_alive() or lines.is_giving_up():
            return
        try:
            reason = os.read(self._failures, 4096).decode(errors="replace")
        except BlockingIOError:
            reason = ""
        lines.give_up(f"{self.role}: {reason or f'its process ended ({process.exitcode})'}")

    def attached(self) -> dict[str, Any]:
        return self._control.recv()

    def order(self, order: Order) -> None:
        self._control.send(order)

    def collect(self) -> Stamped:
        return self._control.recv()

    def stop(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._process.kill()
        self._process.join()


PR_SET_PDEATHSIG = 1


def _live_in_child(role: str, attach: Attach, control: Any, failures: int, parent: int) -> None:
    """The child's whole life; it is ended from outside."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    lines.send_failures_to(failures)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "PR_SET_PDEATHSIG")
        if os.getppid() != parent:
            os._exit(1)
        # Standard output belongs to the parent's replies.
        os.dup2(2, 1)
        endpoint = attach()
        control.send({"role": role, "tid": threading.get_native_id(), "pid": os.getpid()})
        while True:
            control.send(endpoint.run(control.recv()))
    except BaseException as error:  # noqa: BLE001
        lines.give_up(lines.reason_of(error))
