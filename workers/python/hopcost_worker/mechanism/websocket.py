"""Mechanisms of the library websockets: `websocket` (its threading API) and `websocket-asyncio`.

Both shake hands over the socket that is given, the caller as client. Compression is off, and so is
keepalive, which would send pings that hopcost's own mechanism does not.
"""

import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any

from ..case import Case, Failure
from ..loop import Callee, Caller, End, endpoint
from .base import PAYLOAD_MAX
from .descriptors import loopback_missing, on_descriptors, tcp_pair
from .streams import asyncio_loop

if TYPE_CHECKING:
    from ..aloop import AsyncEndpoint

URI = "ws://127.0.0.1/"
SETTINGS: dict[str, Any] = {"ping_interval": None, "max_size": None}
HANDSHAKE_S = 10


def websockets_missing() -> str | None:
    """Whether the library can be used, or why not."""
    try:
        import websockets.sync.server  # noqa: F401
    except ImportError as error:
        return f"websockets cannot be imported ({error}); workers/python/build installs it"
    return loopback_missing()


class Connection(End):
    """send and recv of the library's connection."""

    def __init__(self, connection: Any) -> None:
        # Closing it is left to the end of the process.
        self.send, self.receive = connection.send, connection.recv


def attach(half: socket.socket, role: str, case: Case) -> Caller | Callee:
    """The `attach` of `websocket`."""
    connection = connect(half) if role == "caller" else accept(half)
    return endpoint(Connection(connection), role, case.payload)


def connect(sock: socket.socket) -> Any:
    """A client over a connected socket."""
    from websockets.sync.client import connect as client

    # Only as a context is `connect` free of a look at a warning in each call; it is never left.
    return ExitStack().enter_context(
        client(URI, sock=sock, compression=None, proxy=None, open_timeout=HANDSHAKE_S, **SETTINGS)
    )


def accept(sock: socket.socket) -> Any:
    """A server over a connected socket.

    The library's `serve` accepts connections itself, each in a thread of its own. This is what
    it does for one, in the thread that is to play the end.
    """
    from websockets.server import ServerProtocol
    from websockets.sync.server import Server, ServerConnection

    protocol = ServerProtocol(max_size=SETTINGS["max_size"])
    server = Server(sock, lambda *_: None)
    connection = ServerConnection(sock, protocol, server, ping_interval=SETTINGS["ping_interval"])
    connection.handshake(timeout=HANDSHAKE_S)
    require_open(protocol)
    return connection


def attach_asyncio(half: socket.socket, role: str, case: Case) -> "AsyncEndpoint":
    """The `attach` of `websocket-asyncio`."""
    from ..aloop import AsyncEnd, AsyncEndpoint

    loop = asyncio_loop()
    connecting = connect_asyncio(half) if role == "caller" else accept_asyncio(half)
    connection = loop.run_until_complete(connecting)
    end = AsyncEnd()
    end.send, end.receive = connection.send, connection.recv
    return AsyncEndpoint(loop, end, role, case.payload)


async def connect_asyncio(sock: socket.socket) -> Any:
    """A client on the running event loop."""
    from websockets.asyncio.client import connect as client

    return await AsyncExitStack().enter_async_context(
        client(URI, sock=sock, compression=None, proxy=None, open_timeout=HANDSHAKE_S, **SETTINGS)
    )


class OneConnection:
    """What a connection asks of the library's server, for a connection that has none."""

    def __init__(self) -> None:
        self.handler_tasks: set[Any] = set()
        self.handler: Callable[[Any], Awaitable[None]] = nothing

    def is_serving(self) -> bool:
        """It is not about to shut down."""
        return True


async def nothing(_: Any) -> None:
    """What a connection is asked to do as soon as it is made: whoever made it goes on with it."""


async def accept_asyncio(sock: socket.socket) -> Any:
    """A server on the running event loop; see `accept`."""
    import asyncio

    from websockets.asyncio.server import ServerConnection
    from websockets.server import ServerProtocol

    protocol = ServerProtocol(max_size=SETTINGS["max_size"])
    server: Any = OneConnection()
    _, connection = await asyncio.get_running_loop().connect_accepted_socket(
        lambda: ServerConnection(protocol, server, ping_interval=SETTINGS["ping_interval"]),
        sock,
    )
    async with asyncio.timeout(HANDSHAKE_S):
        await connection.handshake()
    require_open(protocol)
    return connection


def require_open(protocol: Any) -> None:
    """Raises if hands have not been shaken."""
    from websockets.protocol import State

    if protocol.state is not State.OPEN:
        raise Failure(f"WebSocket handshake: {protocol.handshake_exc or 'the other end left'}")


CROSSES = (
    "one frame a message: a header of 2, 4 or 10 bytes, from the client 4 bytes of mask, the "
    "message; as TCP segments through the loopback device"
)
COPIES = (
    "the kernel in and out; the library joins frames and slices what it reads, and masks and "
    "unmasks by an extension in C where it was installed with one"
)
LIMITS = "compression and keepalive are off; the connection ends without a closing handshake"

ROWS = (
    on_descriptors(
        name="websocket",
        family="websocket",
        about="WebSocket messages over loopback TCP by the library websockets, its threading API",
        payload=(0, PAYLOAD_MAX, 64),
        crosses=CROSSES,
        copies=COPIES,
        wakes="the kernel wakes the library's reading thread, which sleeps in epoll_wait(2), reads, "
        "and wakes the end by a queue.SimpleQueue: futex(2), then the GIL, where there is one",
        between_stamps="frame, mask (client), send; the other side's reading thread is woken, reads, "
        "parses, unmasks (server) and hands over; recv returns, a comparison; the same way back",
        limits=f"each end has a hidden thread, which does the reading; {LIMITS}",
        sources=("https://websockets.readthedocs.io", "RFC 6455", "tcp(7)"),
        missing=websockets_missing,
        open=lambda _: tcp_pair(),
        revision=2,
        attach=attach,
    ),
    on_descriptors(
        name="websocket-asyncio",
        family="websocket",
        about="WebSocket messages over loopback TCP by the library websockets, its asyncio API",
        payload=(0, PAYLOAD_MAX, 64),
        carrier="websocket",
        crosses=CROSSES,
        copies=COPIES,
        wakes="the kernel wakes the event loop, which sleeps in epoll_wait(2); the event loop runs "
        "the task; with wait=block it is this sleep that is meant",
        between_stamps="frame, mask (client), send; the event loop sleeps, is woken, reads, parses, "
        "unmasks (server), wakes the task; recv returns, a comparison; the same on the other side",
        limits="one task on asyncio's own event loop, which asks for 256 KiB for each read: the C "
        f"library maps, shrinks and unmaps them; {LIMITS}",
        system_calls=(8, 17),
        sources=("https://websockets.readthedocs.io", "RFC 6455", "tcp(7)"),
        missing=websockets_missing,
        open=lambda _: tcp_pair(),
        revision=2,
        attach=attach_asyncio,
    ),
)
