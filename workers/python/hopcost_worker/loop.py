"""The timed loops of ends that block.

A call of a Python function costs some 50 ns that the mechanism does not have, so the loops call
`send` and `receive` of an end as they are: bound methods of the standard library or of a C type,
wherever a mechanism has one that takes or gives a whole message. All checking that is not one
comparison is in the functions for the case that the comparison fails.
"""

from collections.abc import Callable, Iterator
from itertools import cycle, islice

from .case import Failure, PartnerGone
from .content import exchanges
from .stamps import LEAD_IN, Order, Stamped, clock, differences, room

Buffer = bytes | bytearray
Exchanges = Iterator[tuple[bytes, bytes]]


class End:
    """One end of a link.

    `send` writes a whole message, `receive` waits for the next one and gives its
    bytes. A `receive` that raises `BlockingIOError` has waited for too long.
    """

    send: Callable[[bytes], object]
    receive: Callable[[], Buffer]

    def reply_differs(self, request: bytes, reply: bytes, got: Buffer | None, last: bool) -> bool:
        """What the caller does when it `got` another reply, or none in time.

        `last` says whether it is the last exchange of its phase. The result is whether a
        message of the exchange was lost; it raises where the trial cannot go on.
        """
        raise unexpected(reply, got)

    def request_differs(self, request: bytes, got: Buffer) -> None:
        """What the callee does when it `got` another request."""
        raise unexpected(request, got)


def unexpected(expected: bytes, got: Buffer | None) -> Failure:
    """The reason of an end that `got` another message."""
    if got is None:
        return Failure("the other end did not answer in time")
    if len(got) != len(expected):
        return Failure(f"a message of {len(got)} bytes came instead of {len(expected)}")
    at = next((i for i, (a, b) in enumerate(zip(expected, got, strict=True)) if a != b), 0)
    return Failure(f"a message is not what it has to be: byte {at} of {len(got)} differs")


def closed() -> PartnerGone:
    """The reason of an end whose partner is gone."""
    return PartnerGone("the other end closed the link")


class Caller:
    """The end that asks, and stamps."""

    def __init__(self, end: End, payload: int) -> None:
        self._end = end
        # The numbering runs on through all phases.
        self._exchanges = cycle(exchanges(payload))

    def run(self, order: Order) -> Stamped:
        n = order.lengths[0]
        if n == 1:
            return each(self._end, self._exchanges, order.count)
        return batches(self._end, self._exchanges, order.count // n, n)


class Callee:
    """The end that answers."""

    def __init__(self, end: End, payload: int) -> None:
        self._end = end
        self._exchanges = cycle(exchanges(payload))

    def run(self, order: Order) -> Stamped:
        send, receive = self._end.send, self._end.receive
        for request, reply in islice(self._exchanges, order.count + LEAD_IN):
            if (got := receive()) != request:
                self._end.request_differs(request, got)
            send(reply)
        return Stamped(order.count)


def endpoint(end: End, role: str, payload: int) -> Caller | Callee:
    """The end as what it is to play."""
    return Caller(end, payload) if role == "caller" else Callee(end, payload)


def each(end: End, messages: Exchanges, count: int) -> Stamped:
    """A stamp after every exchange; the end of one is the start of the next."""
    stamps, lost = room(count + 1), list[int]()
    exchange_all(end, messages, LEAD_IN, ends_phase=not count)
    send, receive, reply_differs = end.send, end.receive, end.reply_differs
    stamps[0] = clock()
    for index, (request, reply) in zip(range(1, count + 1), islice(messages, count)):
        send(request)
        try:
            got = receive()
        except BlockingIOError:
            got = None
        if got != reply and reply_differs(request, reply, got, index == count):
            lost.append(index)
        stamps[index] = clock()
    return Stamped(count, differences(stamps, lost), len(lost))


def batches(end: End, messages: Exchanges, rounds: int, n: int) -> Stamped:
    """Stamps around every `n` exchanges; a batch with a lost one is no sample."""
    stamps, lost_at, lost = room(rounds + 1), list[int](), 0
    exchange_all(end, messages, LEAD_IN, ends_phase=not rounds)
    stamps[0] = clock()
    for index in range(1, rounds + 1):
        if lost_here := exchange_all(end, messages, n, ends_phase=index == rounds):
            lost_at.append(index)
            lost += lost_here
        stamps[index] = clock()
    return Stamped(rounds * n, differences(stamps, lost_at), lost)


def exchange_all(end: End, messages: Exchanges, count: int, *, ends_phase: bool) -> int:
    """Exchanges without stamps; how many of them lost a message."""
    lost = 0
    send, receive, reply_differs = end.send, end.receive, end.reply_differs
    for index, (request, reply) in zip(range(1, count + 1), islice(messages, count)):
        send(request)
        try:
            got = receive()
        except BlockingIOError:
            got = None
        if got != reply:
            lost += reply_differs(request, reply, got, ends_phase and index == count)
    return lost
