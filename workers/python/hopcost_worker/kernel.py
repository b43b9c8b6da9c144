"""Mechanisms of the operating system: `pipe`, `tcp`, `udp`, `unix-stream`, `unix-dgram`,
`unix-seqpacket`. Their bytes are those of hopcost's own, so the other end may be any runtime."""

import os
import select
import socket
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .base import Case, Mechanism, blocking
from .lines import Failure, closed
from .loop import Buffer, End, exchanges, unexpected

TIMEOUTS = {"200ms": (0, 200_000), "1s": (1, 0)}
"""As struct timeval."""

TIMEOUTS_MAX = 50
"""Time-outs of one message after which a trial is over."""
LAST_TIMEOUTS = 4
"""Time-outs of a phase's last message after which the callee has left its loop, so that nobody
answers any more."""
STALE_MAX = 10_000
"""Messages of the past in a row that an end bears with."""


class Stream(End):
    """A message of fixed length over a byte stream.

    Up to PIPE_BUF (4096) bytes a message is written and read by one call of the mechanism's own.
    A longer one may come and go in parts, so there `send` and `receive` are functions of this
    worker, and a message is read into a buffer that stays.
    """

    def __init__(
        self,
        payload: int,
        write_whole: Callable[[bytes], object],
        read: Callable[[int], bytes],
        read_into: Callable[[memoryview], int],
    ) -> None:
        self._read = read
        whole = payload <= select.PIPE_BUF
        receive = partial(read, payload) if whole else whole_messages(payload, read_into)
        super().__init__(write_whole, receive)

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


def over_pipes(half: Sequence[int], _: str, case: Case) -> Stream:
    """Over the incoming and the outgoing pipe: os.read and os.write."""
    incoming, outgoing = half
    write = partial(os.write, outgoing)

    def write_whole(message: bytes) -> None:
        rest = memoryview(message)
        while rest:
            rest = rest[write(rest) :]

    return Stream(
        case.payload,
        # A shorter write is atomic (pipe(7)).
        write if case.payload <= select.PIPE_BUF else write_whole,
        partial(os.read, incoming),
        lambda view: os.readv(incoming, (view,)),
    )


def over_socket(sock: socket.socket, _: str, case: Case) -> Stream:
    """Over a connected stream socket: sendall, and recv or recv_into."""
    return Stream(case.payload, sock.sendall, sock.recv, sock.recv_into)


class Packets(End):
    """A message as one packet on a connected socket: send and recv, never split."""

    def __init__(self, sock: socket.socket, _: str, case: Case) -> None:
        # Room for a byte too many, so that a longer packet cannot pass for a right one.
        super().__init__(sock.send, partial(sock.recv, case.payload + 1))


class Udp(Packets):
    """A datagram may be lost: the caller sends again, the callee answers again."""

    def __init__(self, sock: socket.socket, role: str, case: Case) -> None:
        super().__init__(sock, role, case)
        self._payload = case.payload
        if role == "caller":
            # Not settimeout, which makes each recv two system calls. That the kernel arms a timer for
            # each recv does not show: 1.002 [0.995, 1.007] times the round trip without (31 pairs).
            timeout = struct.pack("@ll", *TIMEOUTS[case.parameters["timeout"]])
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)

    def reply_differs(self, request: bytes, reply: bytes, got: Buffer | None, last: bool) -> bool:
        table = exchanges(self._payload)
        before = table[table.index((request, reply)) - 1][1]
        timeouts = 0
        for _ in range(STALE_MAX):
            if got is None:
                timeouts += 1
                if not reply:
                    raise Failure(
                        "a message or its reply was lost; messages without payload look alike, so "
                        "use a payload of at least 1 byte"
                    )
                if last and timeouts == LAST_TIMEOUTS:
                    return True
                if timeouts == TIMEOUTS_MAX:
                    raise Failure(f"a message was sent {timeouts} times and never answered in time")
                self.send(request)
            elif got != before:
                break
            try:
                got = self.receive()
            except BlockingIOError:
                got = None
            if got == reply:
                return timeouts > 0
        raise unexpected(reply, got)

    def request_differs(self, request: bytes, got: Buffer) -> None:
        table = exchanges(self._payload)
        index = next(i for i, (asked, _) in enumerate(table) if asked == request)
        before, answer = table[index - 1]
        for _ in range(STALE_MAX):
            if got != before:
                break
            self.send(answer)
            got = self.receive()
            if got == request:
                return
        raise unexpected(request, got)


class Seqpacket(Packets):
    """Packets with an end-of-file, which is an empty one."""

    def reply_differs(self, request: bytes, reply: bytes, got: Buffer | None, last: bool) -> bool:
        self.request_differs(reply, got or b"")
        return False

    def request_differs(self, request: bytes, got: Buffer) -> None:
        raise unexpected(request, got) if got else closed()


def inherited_socket(fds: Sequence[int]) -> socket.socket:
    """The half of a link that is one connected socket."""
    return socket.socket(fileno=fds[0])


def make_pipes(_: Case) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two pipes, one per direction, as incoming and outgoing ends."""
    (back, answer), (asked, ask) = os.pipe(), os.pipe()
    return (back, ask), (asked, answer)


def tcp_pair(case: Case) -> tuple[socket.socket, socket.socket]:
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
        nodelay = case.parameters.get("nodelay") != "off"
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    return caller, callee


def udp_pair(_: Case | None = None) -> tuple[socket.socket, socket.socket]:
    """Two UDP sockets on 127.0.0.1, connected to each other."""
    caller, callee = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for end in (caller, callee):
        end.bind(("127.0.0.1", 0))
    caller.connect(callee.getsockname())
    callee.connect(caller.getsockname())
    return caller, callee


def unix_pair(kind: int) -> Callable[[Case], tuple[socket.socket, socket.socket]]:
    """The `open` of Unix sockets of this kind."""
    return lambda _: socket.socketpair(socket.AF_UNIX, kind)


def loopback_missing() -> str | None:
    """Whether sockets can be bound to 127.0.0.1, or why not."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("127.0.0.1", 0))
    except OSError as error:
        return f"no socket can be bound to 127.0.0.1: {error}"
    return None


def on_socket(name: str, attach: Any, open: Any, missing: Any = loopback_missing) -> Mechanism:
    """A mechanism on a connected socket that any runtime may take over."""
    return Mechanism(name, attach, open=open, adopt=inherited_socket, missing=missing)


def on_unix(name: str, make: Any, kind: int) -> Mechanism:
    """The same on a Unix socket."""
    return Mechanism(name, blocking(make), open=unix_pair(kind), adopt=inherited_socket)


MECHANISMS = (
    Mechanism("pipe", blocking(over_pipes), open=make_pipes, adopt=tuple),
    on_socket("tcp", blocking(over_socket), tcp_pair),
    on_socket("udp", blocking(Udp), udp_pair),
    on_unix("unix-stream", over_socket, socket.SOCK_STREAM),
    on_unix("unix-dgram", Packets, socket.SOCK_DGRAM),
    on_unix("unix-seqpacket", Seqpacket, socket.SOCK_SEQPACKET),
)
