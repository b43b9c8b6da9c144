"""Mechanisms of the module multiprocessing, between two children that this process forks:
`mp-queue`, `mp-pipe`, `mp-shared-memory`.

The start method is `fork`, because a semaphore made for it has lost its name in /dev/shm before
anybody else sees it. The block of shared memory loses its own before they are forked.
"""

import sys
from collections.abc import Callable
from typing import Any

from ..case import Case
from ..loop import End
from .base import PAYLOAD_MAX, Opening, Parameter, Row, attach
from .threads import Queues, two_queues

PICKLE = Parameter(
    "pickle", ("on", "off"), "on", "send and recv, which pickle, or send_bytes and recv_bytes"
)


def context() -> Any:
    """multiprocessing's way to start a child. Imported late: it takes a while."""
    import multiprocessing

    return multiprocessing.get_context("fork")


def multiprocessing_missing() -> str | None:
    """Whether there are semaphores to share, or why not."""
    try:
        context().Semaphore(0)
    except (ImportError, OSError) as error:
        return f"multiprocessing has no semaphores here: {error}"
    return None


class Connected(End):
    """send and recv of multiprocessing.Pipe's connections, with or without pickling."""

    def __init__(self, connection: Any, _: str, case: Case) -> None:
        if PICKLE.of(case) == "on":
            self.send, self.receive = connection.send, connection.recv
        else:
            self.send, self.receive = connection.send_bytes, connection.recv_bytes


class Shared:
    """A block of shared memory, and for each direction a semaphore."""

    def __init__(self, opening: Opening) -> None:
        from multiprocessing.shared_memory import SharedMemory

        mp, payload = context(), opening.case.payload
        stride = max(4096, -(-payload // 4096) * 4096)
        # Before 3.13 it starts a process that would remove the name; it is gone at once anyhow.
        tracked: dict[str, Any] = {"track": False} if sys.version_info >= (3, 13) else {}
        self.block = SharedMemory(create=True, size=2 * stride, **tracked)
        self.block.unlink()
        self.payload, self.stride = payload, stride
        self.semaphores = [mp.Semaphore(0), mp.Semaphore(0)]


class SharedMemoryEnd(End):
    """A copy into shared memory and a semaphore released; acquired, and a copy out."""

    def __init__(self, half: tuple[Shared, int]) -> None:
        shared, own = half
        self._shared = shared  # Keeps the mapping.
        block: Any = shared.block.buf
        # Cut out here, because a block that parts were cut out of cannot be closed, and the
        # process that forked this one closes it.
        starts = (0, shared.stride)
        buffers = [block[start : start + shared.payload] for start in starts]
        self.send = releaser(buffers[1 - own], shared.semaphores[1 - own].release)
        self.receive = acquirer(buffers[own], shared.semaphores[own].acquire)


def releaser(buffer: memoryview, release: Callable[[], None]) -> Callable[[bytes], None]:
    """A `send`."""

    def send(message: bytes) -> None:
        buffer[:] = message
        release()

    return send


def acquirer(buffer: memoryview, acquire: Callable[[], bool]) -> Callable[[], bytes]:
    """A `receive`."""

    def receive() -> bytes:
        acquire()
        return bytes(buffer)

    return receive


def shared_memory(opening: Opening) -> tuple[tuple[Shared, int], tuple[Shared, int]]:
    """The halves: the block, and the direction in which this end receives."""
    shared = Shared(opening)
    return (shared, 0), (shared, 1)


FORKED = "the two processes are children of the worker, forked (start method fork)"

ROWS = (
    Row(
        name="mp-queue",
        family="python",
        about="multiprocessing.Queue, one per direction: put and get",
        boundaries=("process",),
        payload=(1, PAYLOAD_MAX, 64),
        crosses="the pickled object, through a pipe",
        copies="pickling, the kernel in and out, unpickling",
        wakes="put wakes the feeder thread (threading.Condition), which pickles and writes; the "
        "kernel wakes the reader from within write(2)",
        between_stamps="put, the feeder thread's pickle and write, the other process's get: read, "
        "unpickle; a comparison; the same way back",
        limits=f"each end has a hidden thread, the feeder, which does the writing; {FORKED}",
        sources=("https://docs.python.org/3/library/multiprocessing.html#pipes-and-queues",),
        missing=multiprocessing_missing,
        open=two_queues(lambda: context().Queue()),
        revision=2,
        attach=attach(lambda half, *_: Queues(half)),
    ),
    Row(
        name="mp-pipe",
        family="python",
        about="multiprocessing.Pipe: send and recv of its two connections",
        boundaries=("process",),
        payload=(1, PAYLOAD_MAX, 64),
        parameters=(PICKLE,),
        crosses="a length of 4 bytes and the pickled object (or the bytes), through a pair of Unix sockets",
        copies="pickling, the kernel in and out, a buffer of the reader's, unpickling",
        wakes="the kernel wakes the sleeping reader from within write(2)",
        between_stamps="send: pickle, write; on the other side recv: a read of the length, a read of "
        "the rest, unpickle; a comparison; the same way back",
        limits=f"the connections are written in Python; {FORKED}",
        system_calls=(6, 6),
        sources=("https://docs.python.org/3/library/multiprocessing.html#connection-objects",),
        missing=multiprocessing_missing,
        open=lambda _: context().Pipe(),
        revision=2,
        attach=attach(Connected),
    ),
    Row(
        name="mp-shared-memory",
        family="python",
        about="multiprocessing.shared_memory, handed over by a multiprocessing.Semaphore per direction",
        boundaries=("process",),
        payload=(1, PAYLOAD_MAX, 64),
        crosses="the message's bytes, through shared memory",
        copies="the sender in, the receiver out",
        wakes="sem_post(3) wakes the sleeping end: futex(2)",
        between_stamps="copy in, release; the other side's acquire returns, copy out, a comparison; "
        "the same way back",
        limits="send and receive are functions of the worker, some 50 ns each; before Python 3.13 "
        f"another process, multiprocessing's resource tracker, sleeps beside them; {FORKED}",
        sources=(
            "https://docs.python.org/3/library/multiprocessing.shared_memory.html",
            "sem_post(3)",
        ),
        missing=multiprocessing_missing,
        open=shared_memory,
        revision=2,
        attach=attach(lambda half, *_: SharedMemoryEnd(half)),
    ),
)
