"""Mechanisms on an event loop: `tcp-asyncio` and `tcp-uvloop`, asyncio's streams on the socket
that `tcp` has. asyncio and uvloop are imported when they are needed: it takes a while."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..case import Case
from .base import PAYLOAD_MAX
from .descriptors import loopback_missing, on_descriptors, tcp_pair

if TYPE_CHECKING:
    import asyncio

    from ..aloop import AsyncEndpoint


def asyncio_loop() -> "asyncio.AbstractEventLoop":
    """An event loop as asyncio has it here."""
    import asyncio

    return asyncio.new_event_loop()


def uvloop_loop() -> "asyncio.AbstractEventLoop":
    """An event loop by libuv."""
    import uvloop

    return uvloop.new_event_loop()


def uvloop_missing() -> str | None:
    """Whether uvloop can be used, or why not."""
    try:
        import uvloop  # noqa: F401
    except ImportError as error:
        return f"uvloop cannot be imported ({error}); workers/python/build installs it where there is a wheel"
    return loopback_missing()


def attach(
    new_loop: Callable[[], "asyncio.AbstractEventLoop"],
) -> Callable[[Any, str, Case], "AsyncEndpoint"]:
    """The `attach` of a row."""

    def attach_socket(half: socket.socket, role: str, case: Case) -> "AsyncEndpoint":
        import asyncio

        from ..aloop import AsyncEnd, AsyncEndpoint

        loop, payload = new_loop(), case.payload
        reader, writer = loop.run_until_complete(on_loop(asyncio.open_connection, sock=half))
        write, drain, readexactly = writer.write, writer.drain, reader.readexactly
        end = AsyncEnd()

        async def send(message: bytes) -> None:
            write(message)
            await drain()

        end.send, end.receive = send, lambda: readexactly(payload)
        return AsyncEndpoint(loop, end, role, payload)

    return attach_socket


async def on_loop(function: Callable[..., Any], **arguments: Any) -> Any:
    """Calls a coroutine function with an event loop running."""
    return await function(**arguments)


BETWEEN = (
    "write (which sends at once) and drain; the event loop has nothing to do and sleeps in {wait}, is "
    "woken, reads the socket, wakes the task; readexactly returns, a comparison; the same on the "
    "other side"
)
WAKES = (
    "the kernel wakes the event loop, which sleeps in {wait}; the event loop runs the task; with "
    "wait=block it is this sleep that is meant"
)
LIMITS = (
    "one task on the event loop; asyncio sets TCP_NODELAY itself; send is a function of the worker "
    "(write and drain)"
)

ROWS = (
    on_descriptors(
        name="tcp-asyncio",
        family="python",
        about="asyncio streams (StreamReader, StreamWriter) on a TCP connection over loopback",
        payload=(1, PAYLOAD_MAX, 64),
        carrier="tcp",
        crosses="the message's bytes, as segments through the loopback device",
        copies="the kernel in and out, and from asyncio's bytes into the stream's buffer and out of it; "
        "for each read asyncio asks for 256 KiB, which the C library maps, shrinks and unmaps",
        wakes=WAKES.format(wait="epoll_wait(2)"),
        between_stamps=BETWEEN.format(wait="epoll_wait(2)"),
        limits=LIMITS,
        system_calls=(8, 16),
        sources=("https://docs.python.org/3/library/asyncio-stream.html", "epoll(7)", "tcp(7)"),
        missing=loopback_missing,
        open=lambda _: tcp_pair(),
        revision=2,
        attach=attach(asyncio_loop),
    ),
    on_descriptors(
        name="tcp-uvloop",
        family="python",
        about="asyncio streams on uvloop's event loop, on a TCP connection over loopback",
        payload=(1, PAYLOAD_MAX, 64),
        carrier="tcp",
        crosses="the message's bytes, as segments through the loopback device",
        copies="the kernel in and out, and from uvloop's bytes into the stream's buffer and out of it",
        wakes=WAKES.format(wait="epoll_wait(2) inside libuv"),
        between_stamps=BETWEEN.format(wait="epoll_wait(2) inside libuv"),
        limits=LIMITS,
        system_calls=(6, 6),
        sources=("https://uvloop.readthedocs.io", "https://docs.libuv.org", "tcp(7)"),
        missing=uvloop_missing,
        open=lambda _: tcp_pair(),
        revision=2,
        attach=attach(uvloop_loop),
    ),
)
