"""Mechanisms between two threads: `condvar`, `queue`, `simple-queue`."""

import queue
import threading
from collections.abc import Callable
from typing import Any

from ..loop import End
from .base import PAYLOAD_MAX, Opening, Row, attach


class Way:
    """One direction of a condvar."""

    def __init__(self, lock: threading.Lock, payload: int) -> None:
        self.condition = threading.Condition(lock)
        self.notified = False
        """The predicate; the lock guards it."""
        self.shared = bytearray(payload)


class Condvar(End):
    """The textbook hand-off: one lock, and for each direction a condition and a predicate.

    The payload is copied into a bytearray that both threads have before the
    notification, and compared there after it.
    """

    def __init__(self, half: tuple[Way, Way], payload: int) -> None:
        incoming, outgoing = half
        self.send = notifier(outgoing, payload)
        self.receive = waiter(incoming)


def notifier(way: Way, payload: int) -> Callable[[bytes], None]:
    """A `send`."""
    condition, shared, notify = way.condition, way.shared, way.condition.notify

    def send(message: bytes) -> None:
        if payload:
            shared[:] = message
        with condition:
            way.notified = True
            notify()

    return send


def waiter(way: Way) -> Callable[[], bytearray]:
    """A `receive`."""
    condition, shared, wait = way.condition, way.shared, way.condition.wait

    def receive() -> bytearray:
        with condition:
            while not way.notified:
                wait()
            way.notified = False
        return shared

    return receive


def two_ways(opening: Opening) -> tuple[tuple[Way, Way], tuple[Way, Way]]:
    """The halves of a condvar: incoming, outgoing."""
    lock = threading.Lock()
    there, back = (Way(lock, opening.case.payload) for _ in range(2))
    return (back, there), (there, back)


class Queues(End):
    """put of the queue to the other end, get of the own one: nothing around them."""

    def __init__(self, half: tuple[Any, Any]) -> None:
        incoming, outgoing = half
        self.send, self.receive = outgoing.put, incoming.get


def two_queues(make: Callable[[], Any]) -> Callable[[Opening], tuple[Any, Any]]:
    """The `open` of queues: incoming, outgoing."""

    def open_queues(_: Opening) -> tuple[Any, Any]:
        there, back = make(), make()
        return (back, there), (there, back)

    return open_queues


BY_REFERENCE = (
    "nobody: a reference to the bytes object crosses; the receiver looks at every byte of it"
)

ROWS = (
    Row(
        name="condvar",
        family="notifier",
        about="a threading.Lock and a threading.Condition per direction",
        boundaries=("thread",),
        payload=(0, PAYLOAD_MAX, 0),
        crosses="one predicate per direction (and, with a payload, a shared bytearray)",
        copies="with a payload the sender, into the bytearray, where the receiver compares it",
        wakes="Condition.notify releases a lock that Condition.wait has made for this wait and sleeps "
        "on: futex(2); the woken thread then needs the GIL, where there is one",
        between_stamps="copy in, with condition: set the predicate, notify(); the other end's wait() "
        "returns, it clears the predicate and compares; the same way back",
        limits="threading.Condition is written in Python; send and receive are functions of the "
        "worker, some 50 ns each",
        sources=("https://docs.python.org/3/library/threading.html#condition-objects",),
        open=two_ways,
        revision=3,
        attach=attach(lambda half, _, case: Condvar(half, case.payload)),
    ),
    Row(
        name="queue",
        family="python",
        about="queue.Queue, one per direction: put and get",
        boundaries=("thread",),
        payload=(1, PAYLOAD_MAX, 64),
        crosses="a reference",
        copies=BY_REFERENCE,
        wakes="a threading.Condition inside the queue: futex(2), then the GIL, where there is one",
        between_stamps="put, the other end's get returns, a comparison, put, the own get returns, a "
        "comparison",
        limits="queue.Queue is written in Python; it is unbounded here",
        sources=("https://docs.python.org/3/library/queue.html",),
        open=two_queues(queue.Queue),
        revision=2,
        attach=attach(lambda half, *_: Queues(half)),
    ),
    Row(
        name="simple-queue",
        family="python",
        about="queue.SimpleQueue, one per direction: put and get",
        boundaries=("thread",),
        payload=(1, PAYLOAD_MAX, 64),
        crosses="a reference",
        copies=BY_REFERENCE,
        wakes="a lock inside the queue: futex(2), then the GIL, where there is one",
        between_stamps="put, the other end's get returns, a comparison, put, the own get returns, a "
        "comparison",
        limits="queue.SimpleQueue is written in C",
        sources=("https://docs.python.org/3/library/queue.html#simplequeue-objects",),
        open=two_queues(queue.SimpleQueue),
        revision=2,
        attach=attach(lambda half, *_: Queues(half)),
    ),
)
