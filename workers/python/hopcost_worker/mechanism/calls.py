"""Mechanisms of one end: `mutex-uncontended`, `thread-start`, `udp-send`.

An operation stands in the body of a loop over `itertools.repeat`, with nothing around it.
"""

import socket
import threading
from collections.abc import Callable
from itertools import repeat
from typing import Any

from ..case import Case
from ..content import message
from ..stamps import Order, Stamped, clock, room
from .base import Row
from .descriptors import loopback_missing

Batch = Callable[[int], None]
"""Does so many operations."""


class Calls:
    """Batches of operations."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def run(self, order: Order) -> Stamped:
        batch, ticks, index = self._batch, room(order.samples), 0
        for _ in repeat(None, order.count // sum(order.lengths)):
            for length in order.lengths:
                start = clock()
                batch(length)
                ticks[index] = clock() - start
                index += 1
        return Stamped(order.count, ticks)


def mutex_uncontended(_: Case) -> Batch:
    """threading.Lock, acquired and released."""
    lock = threading.Lock()
    acquire, release = lock.acquire, lock.release

    def batch(count: int) -> None:
        # Written out sixteen times, because a turn of the loop costs as much as half of this; as
        # statements, because with commas between them a tuple of the results is made.
        for _ in repeat(None, count // 16):
            acquire(); release(); acquire(); release(); acquire(); release(); acquire(); release()
            acquire(); release(); acquire(); release(); acquire(); release(); acquire(); release()
            acquire(); release(); acquire(); release(); acquire(); release(); acquire(); release()
            acquire(); release(); acquire(); release(); acquire(); release(); acquire(); release()
        for _ in repeat(None, count % 16):
            acquire()
            release()

    return batch


def thread_start(_: Case) -> Batch:
    """threading.Thread, started and joined."""
    thread_class = threading.Thread

    def nothing() -> None:
        pass

    def batch(count: int) -> None:
        for _ in repeat(None, count):
            thread = thread_class(target=nothing)
            thread.start()
            thread.join()

    return batch


FILL = 256
"""Datagrams sent beforehand: far more than fit a receive buffer of the least size."""


def udp_send(case: Case) -> Batch:
    """A datagram to a socket of this process that nobody reads, and whose buffer is full."""
    sender, receiver = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for end in (sender, receiver):
        end.bind(("127.0.0.1", 0))
    sender.connect(receiver.getsockname())
    receiver.connect(sender.getsockname())
    # The kernel raises this to its least.
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    send, datagram = sender.send, message(1, case.payload)
    for _ in range(FILL):
        send(datagram)

    def batch(count: int, _open: socket.socket = receiver) -> None:
        for _ in repeat(None, count):
            send(datagram)

    return batch


def attach(operation: Callable[[Case], Batch]) -> Callable[[Any, str, Case], Calls]:
    """The `attach` of a row."""
    return lambda _half, _role, case: Calls(operation(case))


ROWS = (
    Row(
        name="mutex-uncontended",
        family="call",
        about="acquire and release a threading.Lock that is free",
        workloads=("call",),
        crosses="nothing",
        copies="nobody",
        wakes="nobody",
        between_stamps="batches of lock.acquire() and lock.release(), by bound methods in local variables",
        limits="the interpreter's call of a C function is most of it; under `with lock:` the "
        "interpreter looks the two methods up for each use; with contention it becomes futex(2)",
        system_calls=(0, 0),
        revision=2,
        sources=("https://docs.python.org/3/library/threading.html#lock-objects",),
        attach=attach(mutex_uncontended),
    ),
    Row(
        name="thread-start",
        family="call",
        about="start a threading.Thread that does nothing, and join it",
        workloads=("call",),
        crosses="nothing",
        copies="nobody",
        wakes="Thread.start waits for the new thread to set an event; join waits for its end",
        between_stamps="batches of threading.Thread(), start(), the thread's whole life, join()",
        limits="the object is made anew each time, because a Thread can be started once; the new "
        "thread and its starter take turns with the GIL, where there is one",
        sources=("https://docs.python.org/3/library/threading.html#thread-objects",),
        attach=attach(thread_start),
    ),
    Row(
        name="udp-send",
        family="call",
        about="send a UDP datagram over loopback that nobody reads (socket.send)",
        workloads=("call",),
        payload=(0, 65_507, 64),
        crosses="one datagram, through the loopback device up to the receiving socket, whose full "
        "buffer it does not enter",
        copies="the kernel, once: from the sender into a socket buffer, which it then frees",
        wakes="nobody",
        between_stamps="batches of send on a connected socket, by its bound method",
        limits="the receiver is a socket of the same process that is never read; firewall rules "
        "are part of the number",
        system_calls=(1, 1),
        sources=("https://docs.python.org/3/library/socket.html", "udp(7)", "send(2)"),
        missing=loopback_missing,
        attach=attach(udp_send),
    ),
)
