"""The mechanisms, a file a family."""

from ..case import Failure
from . import calls, kernel, processes, streams, threads, websocket
from .base import Row

ROWS: tuple[Row, ...] = (
    *calls.ROWS,
    *threads.ROWS,
    *processes.ROWS,
    *kernel.ROWS,
    *streams.ROWS,
    *websocket.ROWS,
)


def find(name: str) -> Row:
    """The mechanism of this name; raises `Failure` where there is none."""
    for row in ROWS:
        if row.name == name:
            return row
    raise Failure(f"this worker has no mechanism {name!r}")
