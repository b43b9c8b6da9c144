"""Mechanisms of libraries on the connected socket that `tcp` has: asyncio's streams, on its own
event loop and on uvloop's, and the library websockets, by its threading API and by asyncio.

Ends of a websocket shake hands over the socket, the caller as client. Compression is off, and so is
keepalive, which would send pings that hopcost's own mechanism does not. Libraries are imported when
they are needed: it takes a while.
"""

import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from .base import Case, Mechanism, blocking
from .kernel import loopback_missing, on_socket, tcp_pair
from .lines import Failure
from .loop import AsyncEndpoint, End, numbered

URI = "ws://127.0.0.1/"
SETTINGS: dict[str, Any] = {"ping_interval": None, "max_size": None}
CLIENT: dict[str, Any] = {"compression": None, "proxy": None, "open_timeout": 10, **SETTINGS}
HANDSHAKE_S = 10


def asyncio_loop() -> Any:
    """An event loop as asyncio has it here."""
    import asyncio

    return asyncio.new_event_loop()


def uvloop_loop() -> Any:
    """An event loop by libuv."""
    import uvloop

    return uvloop.new_event_loop()


def missing(module: str) -> Callable[[], str | None]:
    """Whether a library can be used, or why not."""

    def why() -> str | None:
        try:
            __import__(module)
        except ImportError as error:
            return f"{module} cannot be imported ({error}); workers/python/build installs it"
        return loopback_missing()

    return why


def on_loop(loop: Any, send: Any, receive: Any, role: str, case: Case) -> AsyncEndpoint:
    """An end on an event loop."""
    return AsyncEndpoint(loop, send, receive, role, numbered(role, case.payload, case.spoil))


def stream(new_loop: Callable[[], Any]) -> Callable[[socket.socket, str, Case], AsyncEndpoint]:
    """The `attach` of asyncio's streams."""

    def attach(half: socket.socket, role: str, case: Case) -> AsyncEndpoint:
        import asyncio

        loop, payload = new_loop(), case.payload
        reader, writer = loop.run_until_complete(asyncio.open_connection(sock=half))
        write, drain, readexactly = writer.write, writer.drain, reader.readexactly

        async def send(message: bytes) -> None:
            write(message)
            await drain()

        return on_loop(loop, send, lambda: readexactly(payload), role, case)

    return attach


def websocket(half: socket.socket, role: str, _: Case) -> End:
    """send and recv of the library's connection; closing it is left to the end of the process."""
    connection = connect(half) if role == "caller" else accept(half)
    return End(connection.send, connection.recv)


def connect(sock: socket.socket) -> Any:
    """A client over a connected socket."""
    from websockets.sync.client import connect as client

    # Only as a context is `connect` free of a look at a warning in each call; it is never left.
    return ExitStack().enter_context(client(URI, sock=sock, **CLIENT))


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


def websocket_asyncio(half: socket.socket, role: str, case: Case) -> AsyncEndpoint:
    """The same by the library's asyncio API."""
    loop = asyncio_loop()
    connecting = connect_asyncio(half) if role == "caller" else accept_asyncio(half)
    connection = loop.run_until_complete(connecting)
    return on_loop(loop, connection.send, connection.recv, role, case)


async def connect_asyncio(sock: socket.socket) -> Any:
    """A client on the running event loop."""
    from websockets.asyncio.client import connect as client

    return await AsyncExitStack().enter_async_context(client(URI, sock=sock, **CLIENT))


class OneConnection:
    """What a connection asks of the library's server, for a connection that has none."""

    def __init__(self) -> None:
        self.handler_tasks: set[Any] = set()
        self.handler: Callable[[Any], Awaitable[None]] = nothing

    def is_serving(self) -> bool:
        """It is not about to shut down."""
        return True


async def nothing(_: Any) -> None:
    """What a connection is asked to do as soon as it is made, before the end uses it."""


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


MECHANISMS: tuple[Mechanism, ...] = (
    on_socket("tcp-asyncio", stream(asyncio_loop), tcp_pair),
    on_socket("tcp-uvloop", stream(uvloop_loop), tcp_pair, missing("uvloop")),
    on_socket("websocket", blocking(websocket), tcp_pair, missing("websockets.sync.server")),
    on_socket("websocket-asyncio", websocket_asyncio, tcp_pair, missing("websockets.sync.server")),
)
