"""What mechanisms on descriptors share: a message over a byte stream, and a message over
packets; and how links of sockets are made and taken over."""

import os
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from ..case import Failure
from ..loop import Buffer, End, closed, unexpected
from .base import Opening, Row


class Stream(End):
    """A message of fixed length over a byte stream.

    Up to PIPE_BUF (4096) bytes a message is written and read by one call of the mechanism's own.
    A longer one may come and go in parts, so there `send` and `receive` are functions of this
    worker, and a message is read into a buffer that stays.
    """

    def __init__(
        self,
        payload: int,
        *,
        write_whole: Callable[[bytes], object],
        read: Callable[[int], bytes],
        read_into: Callable[[memoryview], int],
    ) -> None:
        self._read = read
        self.send = write_whole
        if payload <= select.PIPE_BUF:
            self.receive = partial(read, payload)
        else:
            self.receive = whole_messages(payload, read_into)

    def reply_differs(self, request: bytes, reply: bytes, got: Buffer | None, last: bool) -> bool:
        self.request_differs(reply, got or b"")
        return False

    def request_differs(self, request: bytes, got: Buffer) -> None:
        """Reads the rest of a message of which only a part has come."""
        whole = bytes(got)
        while len(whole) < len(request):
            if not whole or not (part := self._read(len(request) - len(whole))):
                raise closed()
            whole += part
        if whole != request:
            raise unexpected(request, whole)


def whole_messages(payload: int, read_into: Callable[[memoryview], int]) -> Callable[[], bytearray]:
    """A `receive` of messages in parts."""
    buffer = bytearray(payload)
    view = memoryview(buffer)

    def receive() -> bytearray:
        done = read_into(view)
        while done < payload:
            if (more := read_into(view[done:])) == 0:
                raise closed()
            done += more
        return buffer

    return receive


def over_pipes(half: Sequence[int], payload: int) -> Stream:
    """Over the incoming and the outgoing pipe: os.read and os.write."""
    incoming, outgoing = half
    write = partial(os.write, outgoing)

    def write_whole(message: bytes) -> None:
        rest = memoryview(message)
        while rest:
            rest = rest[write(rest) :]

    return Stream(
        payload,
        # A shorter write is atomic (pipe(7)).
        write_whole=write if payload <= select.PIPE_BUF else write_whole,
        read=partial(os.read, incoming),
        read_into=lambda view: os.readv(incoming, (view,)),
    )


def over_socket(sock: socket.socket, payload: int) -> Stream:
    """Over a connected stream socket: sendall, and recv or recv_into."""
    return Stream(payload, write_whole=sock.sendall, read=sock.recv, read_into=sock.recv_into)


class Packets(End):
    """A message as one packet on a connected socket: send and recv, never split."""

    def __init__(self, sock: socket.socket, payload: int) -> None:
        # Room for a byte too many, so that a longer packet cannot pass for a right one.
        self.send, self.receive = sock.send, partial(sock.recv, payload + 1)


def inherited_pipes(fds: Sequence[int]) -> Sequence[int]:
    """The half of a link that is an incoming and an outgoing descriptor."""
    for fd in exactly(2, fds):
        os.set_blocking(fd, True)
    return fds


def inherited_socket(fds: Sequence[int]) -> socket.socket:
    """The half of a link that is one connected socket."""
    (fd,) = exactly(1, fds)
    sock = socket.socket(fileno=fd)
    sock.setblocking(True)
    return sock


def exactly(count: int, fds: Sequence[int]) -> Sequence[int]:
    """The descriptors, closed in programs that this one starts."""
    if len(fds) != count:
        raise Failure(f"the link has {len(fds)} descriptors instead of {count}")
    for fd in fds:
        os.set_inheritable(fd, False)
    return fds


on_descriptors = partial(
    Row,
    boundaries=("process", "thread"),
    link="descriptors",
    peers="any",
    adopt=inherited_socket,
)
"""A mechanism on a connected socket that any runtime may take over."""


def tcp_pair(nodelay: bool = True) -> tuple[socket.socket, socket.socket]:
    """The two ends of one connection over 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        caller = socket.create_connection(listener.getsockname())
        while True:
            callee, peer = listener.accept()
            # Any process of this machine could have connected first.
            if peer == caller.getsockname():
                break
            callee.close()
    for end in (caller, callee):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    return caller, callee


def udp_pair() -> tuple[socket.socket, socket.socket]:
    """Two UDP sockets on 127.0.0.1, connected to each other."""
    caller, callee = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for end in (caller, callee):
        end.bind(("127.0.0.1", 0))
    caller.connect(callee.getsockname())
    callee.connect(caller.getsockname())
    return caller, callee


def unix_stream_pair(opening: Opening) -> tuple[socket.socket, socket.socket]:
    """The two ends of a connection by a path, which is gone when this returns."""
    path = fresh_path(opening, "stream")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        try:
            listener.listen(1)
            caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            # Complete before it is accepted, so one thread can do both.
            caller.connect(path)
            return caller, listener.accept()[0]
        finally:
            os.unlink(path)


def unix_dgram_pair(opening: Opening) -> tuple[socket.socket, socket.socket]:
    """Two datagram sockets, bound to paths that are gone when this returns."""
    paths = [fresh_path(opening, name) for name in ("caller", "callee")]
    caller, callee = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
    try:
        caller.bind(paths[0])
        callee.bind(paths[1])
        caller.connect(paths[1])
        callee.connect(paths[0])
    finally:
        for path in paths:
            with suppress(FileNotFoundError):
                os.unlink(path)
    return caller, callee


def fresh_path(opening: Opening, name: str) -> str:
    """A name in the scratch directory that nobody else takes."""
    return str(opening.scratch / f"python-{os.getpid()}-{name}")


def loopback_missing() -> str | None:
    """Whether sockets can be bound to 127.0.0.1, or why not."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("127.0.0.1", 0))
    except OSError as error:
        return f"no socket can be bound to 127.0.0.1: {error}"
    return None
