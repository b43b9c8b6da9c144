"""The timed loops of ends on an event loop: those of loop.py, as coroutines.

A phase is one coroutine that the event loop runs to its end, so that nothing but the mechanism
comes to be scheduled in it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import cycle, islice

from .content import exchanges
from .loop import Buffer, Exchanges, unexpected
from .stamps import LEAD_IN, Order, Stamped, clock, differences, room


class AsyncEnd:
    """One end of a link: `send` is awaited until the message is handed on."""

    send: Callable[[bytes], Awaitable[object]]
    receive: Callable[[], Awaitable[Buffer]]


class AsyncEndpoint:
    """An end and the event loop that it belongs to."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, end: AsyncEnd, role: str, payload: int
    ) -> None:
        self._loop, self._end, self._role = loop, end, role
        self._exchanges = cycle(exchanges(payload))

    def run(self, order: Order) -> Stamped:
        play = _caller if self._role == "caller" else _callee
        return self._loop.run_until_complete(play(self._end, self._exchanges, order))


async def _caller(end: AsyncEnd, messages: Exchanges, order: Order) -> Stamped:
    n = order.lengths[0]
    rounds = order.count // n
    stamps = room(rounds + 1)
    await _exchange_all(end, messages, LEAD_IN)
    send, receive = end.send, end.receive
    stamps[0] = clock()
    if n == 1:
        for index, (request, reply) in zip(range(1, rounds + 1), islice(messages, rounds)):
            await send(request)
            if (got := await receive()) != reply:
                raise unexpected(reply, got)
            stamps[index] = clock()
    else:
        for index in range(1, rounds + 1):
            await _exchange_all(end, messages, n)
            stamps[index] = clock()
    return Stamped(order.count, differences(stamps, []))


async def _exchange_all(end: AsyncEnd, messages: Exchanges, count: int) -> None:
    send, receive = end.send, end.receive
    for request, reply in islice(messages, count):
        await send(request)
        if (got := await receive()) != reply:
            raise unexpected(reply, got)


async def _callee(end: AsyncEnd, messages: Exchanges, order: Order) -> Stamped:
    send, receive = end.send, end.receive
    for request, reply in islice(messages, order.count + LEAD_IN):
        if (got := await receive()) != request:
            raise unexpected(request, got)
        await send(reply)
    return Stamped(order.count)
