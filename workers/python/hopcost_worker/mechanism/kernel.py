"""Mechanisms of the operating system: `pipe`, `tcp`, `udp`, `unix-stream`, `unix-dgram`,
`unix-seqpacket`. Their bytes are those of hopcost's own, so the other end may be any runtime."""

import os
import socket
import struct
from functools import partial

from ..case import Case, Failure
from ..content import exchanges
from ..loop import Buffer, closed, unexpected
from .base import PAYLOAD_MAX, Opening, Parameter, attach
from .descriptors import (
    Packets,
    inherited_pipes,
    loopback_missing,
    on_descriptors,
    over_pipes,
    over_socket,
    tcp_pair,
    udp_pair,
    unix_dgram_pair,
    unix_stream_pair,
)

NODELAY = Parameter("nodelay", ("on", "off"), "on", "TCP_NODELAY at both ends")
TIMEOUT = Parameter(
    "timeout",
    ("200ms", "1s"),
    "200ms",
    "how long the caller waits for a reply before it counts the exchange as lost and sends again",
)
TIMEOUTS = {"200ms": (0, 200_000), "1s": (1, 0)}
"""As struct timeval."""

TIMEOUTS_MAX = 50
"""Time-outs of one message after which a trial is over."""
LAST_TIMEOUTS = 4
"""Time-outs of a phase's last message after which the callee has left its loop, so that nobody
answers any more."""
STALE_MAX = 10_000
"""Messages of the past in a row that an end bears with."""


class Udp(Packets):
    """A datagram may be lost: the caller sends again, the callee answers again."""

    def __init__(self, sock: socket.socket, role: str, case: Case) -> None:
        super().__init__(sock, case.payload)
        self._payload = case.payload
        if role == "caller":
            # Not settimeout, which makes each recv two system calls. That the kernel arms a timer for
            # each recv does not show: 1.002 [0.995, 1.007] times the round trip without (31 pairs).
            timeout = struct.pack("@ll", *TIMEOUTS[TIMEOUT.of(case)])
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
                        "a message or its reply was lost; messages without payload cannot be "
                        "told apart, so use a payload of at least 1 byte"
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


def make_pipes(_: Opening) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two pipes, one per direction, as incoming and outgoing ends."""
    (back, answer), (asked, ask) = os.pipe(), os.pipe()
    return (back, ask), (asked, answer)


row = partial(
    on_descriptors,
    payload=(1, PAYLOAD_MAX, 64),
    copies="the kernel, twice a message; Python makes a bytes object for what it reads",
    system_calls=(4, 4),
)
STREAM_LIMITS = (
    "the GIL is released around each system call and taken again after it, which in one process "
    "is where the ends meet; over 4096 bytes a message may come in parts and is read into a "
    "buffer that stays, by a function of the worker"
)
PACKET_LIMITS = "the GIL is released around each system call and taken again after it"

ROWS = (
    row(
        name="pipe",
        family="pipe",
        about="os.write and os.read on two pipes, one per direction",
        crosses="the message's bytes, through a kernel buffer of 64 KiB per direction",
        wakes="the kernel wakes the sleeping reader from within write(2)",
        between_stamps="os.write, sleep in os.read, be woken, a comparison; on the other side os.read "
        "returns, a comparison, os.write",
        limits=STREAM_LIMITS,
        sources=("https://docs.python.org/3/library/os.html", "pipe(7)"),
        open=make_pipes,
        adopt=inherited_pipes,
        revision=2,
        attach=attach(lambda half, _, case: over_pipes(half, case.payload)),
    ),
    row(
        name="tcp",
        family="inet socket",
        about="socket.sendall and socket.recv on a TCP connection over loopback",
        parameters=(NODELAY,),
        crosses="the message's bytes, as segments through the loopback device",
        wakes="the kernel: the softirq that the send raises delivers the segment and wakes the reader",
        between_stamps="sendall (with the whole way through the network stack), sleep in recv, be "
        "woken, a comparison; on the other side recv returns, a comparison, sendall",
        limits=STREAM_LIMITS,
        sources=("https://docs.python.org/3/library/socket.html", "tcp(7)"),
        missing=loopback_missing,
        open=lambda opening: tcp_pair(NODELAY.of(opening.case) == "on"),
        revision=2,
        attach=attach(lambda half, _, case: over_socket(half, case.payload)),
    ),
    row(
        name="udp",
        family="inet socket",
        about="socket.send and socket.recv on two connected UDP sockets over loopback",
        payload=(0, 65_507, 64),
        parameters=(TIMEOUT,),
        crosses="one datagram a message, through the loopback device",
        wakes="the kernel: the softirq that the send raises delivers the datagram and wakes the receiver",
        between_stamps="send (with the whole way through the network stack), sleep in recv, be woken, "
        "a comparison; on the other side recv returns, a comparison, send",
        limits=f"{PACKET_LIMITS}; the caller's recv has a time-out in the kernel (SO_RCVTIMEO), by "
        "which it notices a lost message; a callee that waits for a dead partner is ended by the "
        "trial's deadline",
        sources=("https://docs.python.org/3/library/socket.html", "udp(7)", "socket(7)"),
        missing=loopback_missing,
        open=lambda _: udp_pair(),
        revision=2,
        attach=attach(Udp),
    ),
    row(
        name="unix-stream",
        family="unix socket",
        about="socket.sendall and socket.recv on a Unix stream socket",
        crosses="the message's bytes, in socket buffers queued at the receiving socket",
        wakes="the kernel wakes the sleeping reader from within send(2)",
        between_stamps="sendall, sleep in recv, be woken, a comparison; on the other side recv "
        "returns, a comparison, sendall",
        limits=STREAM_LIMITS,
        sources=("https://docs.python.org/3/library/socket.html", "unix(7)"),
        open=unix_stream_pair,
        revision=2,
        attach=attach(lambda half, _, case: over_socket(half, case.payload)),
    ),
    row(
        name="unix-dgram",
        family="unix socket",
        about="socket.send and socket.recv on two connected Unix datagram sockets",
        payload=(0, PAYLOAD_MAX, 64),
        crosses="one datagram a message, in a socket buffer queued at the receiving socket",
        wakes="the kernel wakes the sleeping receiver from within send(2)",
        between_stamps="send, sleep in recv, be woken, a comparison; on the other side recv "
        "returns, a comparison, send",
        limits=f"{PACKET_LIMITS}; a datagram socket has no end-of-file, so an end that waits for a "
        "dead partner is ended by the trial's deadline",
        sources=("https://docs.python.org/3/library/socket.html", "unix(7)"),
        open=unix_dgram_pair,
        revision=2,
        attach=attach(lambda half, _, case: Packets(half, case.payload)),
    ),
    row(
        name="unix-seqpacket",
        family="unix socket",
        about="socket.send and socket.recv on a pair of Unix sequenced-packet sockets",
        crosses="one packet a message, in a socket buffer queued at the receiving socket",
        wakes="the kernel wakes the sleeping receiver from within send(2)",
        between_stamps="send, sleep in recv, be woken, a comparison; on the other side recv "
        "returns, a comparison, send",
        limits=PACKET_LIMITS,
        sources=("https://docs.python.org/3/library/socket.html", "unix(7)", "socketpair(2)"),
        open=lambda _: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
        revision=2,
        attach=attach(lambda half, _, case: Seqpacket(half, case.payload)),
    ),
)
