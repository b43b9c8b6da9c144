"""Mechanisms whose link this worker makes itself: calls, those between two threads, and those of
the module multiprocessing between two children that this process forks."""

import queue
import socket
import threading
from collections.abc import Callable
from itertools import repeat
from typing import Any

from .base import Case, Mechanism, blocking
from .kernel import loopback_missing, udp_pair
from .loop import End, message
from .stamps import Endpoint, Order, Stamped, clock, room

Batch = Callable[[int], None]
"""Does this many operations."""

FILL = 256
"""Datagrams sent beforehand: far more than fit a receive buffer of the least size."""


class Calls:
    """Batches of operations. An operation stands in the body of a loop over
    `itertools.repeat`, with nothing around it."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def run(self, order: Order) -> Stamped:
        turns, lengths = order.count // sum(order.lengths), order.lengths
        batch, ticks, index = self._batch, room(turns * len(lengths)), 0
        for _ in repeat(None, turns):
            for length in lengths:
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


def udp_send(case: Case) -> Batch:
    """A datagram to a socket of this process that nobody reads, and whose buffer is full."""
    sender, receiver = udp_pair()
    # The kernel raises this to its least.
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    send, datagram = sender.send, message(1, case.payload)
    for _ in range(FILL):
        send(datagram)

    def batch(count: int, _open: socket.socket = receiver) -> None:
        for _ in repeat(None, count):
            send(datagram)

    return batch


def call(operation: Callable[[Case], Batch]) -> Callable[[Any, str, Case], Endpoint]:
    """The `attach` of a call."""
    return lambda _half, _role, case: Calls(operation(case))


class Way:
    """One direction of a condvar."""

    def __init__(self, lock: threading.Lock, payload: int) -> None:
        self.condition = threading.Condition(lock)
        self.notified = False
        """The predicate; the lock guards it."""
        self.shared = bytearray(payload)


def condvar(half: tuple[Way, Way], _: str, case: Case) -> End:
    """The textbook hand-off: one lock, and for each direction a condition and a predicate.

    The payload is copied into a bytearray that both threads have before the
    notification, and compared there after it.
    """
    incoming, outgoing = half
    return End(notifier(outgoing, case.payload), waiter(incoming))


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


def two_ways(case: Case) -> tuple[tuple[Way, Way], tuple[Way, Way]]:
    """The halves of a condvar: incoming, outgoing."""
    lock = threading.Lock()
    there, back = (Way(lock, case.payload) for _ in range(2))
    return (back, there), (there, back)


def queues(half: tuple[Any, Any], _: str, __: Case) -> End:
    """put of the queue to the other end, get of the own one: nothing around them."""
    incoming, outgoing = half
    return End(outgoing.put, incoming.get)


def two_queues(make: Callable[[], Any]) -> Callable[[Case], tuple[Any, Any]]:
    """The `open` of queues: incoming, outgoing."""

    def open_queues(_: Case) -> tuple[Any, Any]:
        there, back = make(), make()
        return (back, there), (there, back)

    return open_queues


def context() -> Any:
    """multiprocessing's way to start a child: by fork, because a semaphore made for it has lost
    its name in /dev/shm before anybody else sees it. Imported late: it takes a while."""
    import multiprocessing

    return multiprocessing.get_context("fork")


def multiprocessing_missing() -> str | None:
    """Whether there are semaphores to share, or why not."""
    try:
        context().Semaphore(0)
    except (ImportError, OSError) as error:
        return f"multiprocessing has no semaphores here: {error}"
    return None


def connection(half: Any, _: str, case: Case) -> End:
    """send and recv of multiprocessing.Pipe's connections, with or without pickling."""
    if case.parameters["pickle"] == "on":
        return End(half.send, half.recv)
    return End(half.send_bytes, half.recv_bytes)


class Shared:
    """A block of shared memory, and for each direction a semaphore."""

    def __init__(self, payload: int) -> None:
        from multiprocessing import resource_tracker, shared_memory

        # It would start a process that removes the name later; the name is gone before any fork.
        resource_tracker.register = resource_tracker.unregister = lambda *_: None  # type: ignore
        mp, stride = context(), max(4096, -(-payload // 4096) * 4096)
        self.block = shared_memory.SharedMemory(create=True, size=2 * stride)
        self.block.unlink()
        self.stride = stride
        self.semaphores = [mp.Semaphore(0), mp.Semaphore(0)]


def shared_memory(half: tuple[Shared, int], _: str, case: Case) -> End:
    """A copy into shared memory and a semaphore released; acquired, and a copy out."""
    shared, own = half
    block: Any = shared.block.buf
    # Cut out here, because a block that parts were cut out of cannot be closed, and the
    # process that forked this one closes it.
    buffers = [block[start : start + case.payload] for start in (0, shared.stride)]
    incoming, outgoing = buffers[own], buffers[1 - own]
    acquire, release = shared.semaphores[own].acquire, shared.semaphores[1 - own].release

    def send(message: bytes, _mapped: Shared = shared) -> None:
        outgoing[:] = message
        release()

    def receive() -> bytes:
        acquire()
        return bytes(incoming)

    return End(send, receive)


def two_directions(case: Case) -> tuple[tuple[Shared, int], tuple[Shared, int]]:
    """The halves: the block, and the direction in which this end receives."""
    shared = Shared(case.payload)
    return (shared, 0), (shared, 1)


def forked(name: str, end: Any, open: Callable[[Case], tuple[Any, Any]]) -> Mechanism:
    """A mechanism of multiprocessing."""
    return Mechanism(name, blocking(end), open=open, missing=multiprocessing_missing)


MECHANISMS = (
    Mechanism("mutex-uncontended", call(mutex_uncontended)),
    Mechanism("thread-start", call(thread_start), revision=1),
    Mechanism("udp-send", call(udp_send), revision=1, missing=loopback_missing),
    Mechanism("condvar", blocking(condvar), revision=3, open=two_ways),
    Mechanism("queue", blocking(queues), open=two_queues(queue.Queue)),
    Mechanism("simple-queue", blocking(queues), open=two_queues(queue.SimpleQueue)),
    forked("mp-queue", queues, two_queues(lambda: context().Queue())),
    forked("mp-pipe", connection, lambda _: context().Pipe()),
    forked("mp-shared-memory", shared_memory, two_directions),
)
