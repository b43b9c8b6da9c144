"""The messages of a trial, and the timed loops.

A call of a Python function costs some 50 ns that the mechanism does not have, so the loops call
`send` and `receive` of an end as they are: bound methods of the standard library or of a C type,
wherever a mechanism has one that takes or gives a whole message. All checking that is not one
comparison is in the functions for the case that the comparison fails.
"""

from array import array
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle, islice, repeat
from typing import Any

from .lines import Failure
from .stamps import LATE, LEAD_IN, Endpoint, Order, Stamped, clock, differences, room

Buffer = bytes | bytearray
Exchanges = Iterator[tuple[bytes, bytes]]

STEP = 0x9E37_79B9_7F4A_7C15
WORDS = 1 << 64


def contents(payload: int) -> int:
    """How many different messages of this size there are: a power of two."""
    count = 256
    while count > 4 and count * payload > 1 << 14:
        count //= 2
    return count


def message(number: int, payload: int) -> bytes:
    """Message `number` of `payload` bytes (workers/PROTOCOL.md, "What a worker must do")."""
    first = number % contents(payload) * STEP % WORDS
    end = first + (payload + 7) // 8
    words = array("Q", range(first, min(end, WORDS)))
    words.extend(range(0, end - WORDS))
    return words.tobytes()[:payload]


def exchanges(payload: int) -> list[tuple[bytes, bytes]]:
    """The requests and replies of a trial, in order, after which they begin again.

    Each call makes messages of its own: two ends that shared them would compare
    an object with itself, which takes no look at its bytes.
    """
    return [(message(s, payload), message(s + 1, payload)) for s in range(1, contents(payload), 2)]


def numbered(role: str, payload: int, spoil: int) -> Exchanges:
    """The exchanges of an end through all phases; its message `spoil` has a wrong first byte."""
    endless = cycle(exchanges(payload))
    return spoiled(endless, spoil) if spoil % 2 == (role == "caller") and spoil else endless


def spoiled(messages: Exchanges, number: int) -> Exchanges:
    """The same exchanges, with message `number` changed."""
    yield from islice(messages, (number - 1) // 2)
    pair = list(next(messages))
    own = pair[1 - number % 2]
    pair[1 - number % 2] = bytes([own[0] ^ 1]) + own[1:]
    yield pair[0], pair[1]
    yield from messages


class End:
    """One end of a link.

    `send` writes a whole message, `receive` waits for the next one and gives its
    bytes. A `receive` that raises `BlockingIOError` has waited for too long.
    """

    send: Callable[[bytes], object]
    receive: Callable[[], Buffer]

    def __init__(self, send: Callable[[bytes], object], receive: Callable[[], Buffer]) -> None:
        self.send, self.receive = send, receive

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


class Caller:
    """The end that asks, and stamps."""

    def __init__(self, end: End, messages: Exchanges) -> None:
        self._end, self._exchanges = end, messages

    def run(self, order: Order) -> Stamped:
        n = order.lengths[0]
        if n == 1:
            return each(self._end, self._exchanges, order.count)
        return batches(self._end, self._exchanges, order.count // n, n)


class Callee:
    """The end that answers."""

    def __init__(self, end: End, messages: Exchanges) -> None:
        self._end, self._exchanges = end, messages

    def run(self, order: Order) -> Stamped:
        send, receive = self._end.send, self._end.receive
        for request, reply in islice(self._exchanges, order.count + LEAD_IN):
            if (got := receive()) != request:
                self._end.request_differs(request, got)
            send(reply)
        return Stamped(order.count)


class Sender(Caller):
    """The end of a load that sends each message at its time, whatever the other end does."""

    def run(self, order: Order) -> Stamped:
        send, messages, words = self._end.send, self._exchanges, room(order.count)
        late = 0
        if order.alone:
            send, messages = len, repeat((b"", b""))
        else:
            exchange_all(self._end, messages, LEAD_IN, ends_phase=False)
        began = clock()
        for index, (after, (message, _)) in enumerate(zip(order.times, messages)):
            due = began + after
            if (now := clock()) > due:
                late += 1
                words[index] = now | LATE
            else:
                while now < due:
                    now = clock()
                words[index] = now
            send(message)
        return Stamped(order.count, words, began=began, overruns=late)


class Receiver(Callee):
    """The end of a load that stamps each message when it has come."""

    def run(self, order: Order) -> Stamped:
        if order.alone:
            return Stamped(order.count)
        super().run(Order(0, (1,)))
        receive, stamps = self._end.receive, room(order.count)
        for index, (message, _) in zip(range(order.count), self._exchanges):
            if (got := receive()) != message:
                self._end.request_differs(message, got)
            stamps[index] = clock()
        return Stamped(order.count, stamps, began=stamps[0])


PLAYERS: dict[tuple[str, str], type[Caller | Callee]] = {
    ("roundtrip", "caller"): Caller,
    ("roundtrip", "callee"): Callee,
    ("load", "caller"): Sender,
    ("load", "callee"): Receiver,
}


def endpoint(end: End, role: str, payload: int, spoil: int = 0, workload: str = "roundtrip") -> Endpoint:
    """The end as what it is to play."""
    return PLAYERS[workload, role](end, numbered(role, payload, spoil))


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


class AsyncEndpoint:
    """An end on an event loop: a phase is one coroutine that the loop runs to its end, so that
    nothing but the mechanism is scheduled in it. `send` is awaited until the message has left."""

    def __init__(
        self,
        loop: Any,
        send: Callable[[bytes], Awaitable[object]],
        receive: Callable[[], Awaitable[Buffer]],
        role: str,
        messages: Exchanges,
    ) -> None:
        self._loop, self._send, self._receive = loop, send, receive
        self._play = self._caller if role == "caller" else self._callee
        self._exchanges = messages

    def run(self, order: Order) -> Stamped:
        stamped: Stamped = self._loop.run_until_complete(self._play(order))
        return stamped

    async def _caller(self, order: Order) -> Stamped:
        n, messages = order.lengths[0], self._exchanges
        send, receive, rounds = self._send, self._receive, order.count // n
        stamps = room(rounds + 1)
        await self._exchange_all(LEAD_IN)
        stamps[0] = clock()
        if n == 1:
            for index, (request, reply) in zip(range(1, rounds + 1), islice(messages, rounds)):
                await send(request)
                if (got := await receive()) != reply:
                    raise unexpected(reply, got)
                stamps[index] = clock()
        else:
            for index in range(1, rounds + 1):
                await self._exchange_all(n)
                stamps[index] = clock()
        return Stamped(order.count, differences(stamps, []))

    async def _exchange_all(self, count: int) -> None:
        send, receive = self._send, self._receive
        for request, reply in islice(self._exchanges, count):
            await send(request)
            if (got := await receive()) != reply:
                raise unexpected(reply, got)

    async def _callee(self, order: Order) -> Stamped:
        send, receive = self._send, self._receive
        for request, reply in islice(self._exchanges, order.count + LEAD_IN):
            if (got := await receive()) != request:
                raise unexpected(request, got)
            await send(reply)
        return Stamped(order.count)
