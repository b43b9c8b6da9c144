"""Lines in, lines out."""

import json
import os
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

LINE_MAX = 256 * 1024
"""Bytes of the longest line that either side accepts."""

_giving_up = threading.Lock()


class Failure(Exception):
    """The trial cannot go on; the message is the reason, on one line."""


class PartnerGone(Failure):
    """The other end is gone: the reason of the other worker explains more."""


GONE = (PartnerGone, EOFError, BrokenPipeError, ConnectionResetError, ConnectionRefusedError)
"""The errors of an end whose partner is gone."""


def closed() -> PartnerGone:
    """The reason of an end whose partner is gone."""
    return PartnerGone("the other end closed the link")


def commands(fd: int = 0) -> Iterator[str]:
    """The lines of a descriptor, read as they come."""
    pending = b""
    while chunk := os.read(fd, 4096):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line.decode()
        if len(pending) > LINE_MAX:
            raise Failure(f"a command is longer than {LINE_MAX} bytes")


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Writes everything, in as many parts as it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def say(reply: dict[str, Any]) -> None:
    """Writes one reply as one line to standard output."""
    write_all(1, json.dumps(reply).encode() + b"\n")


def give_up(error: BaseException, who: str = "") -> NoReturn:
    """Reports why the trial is over and ends the process, from any thread.

    Without clean-up on purpose: another thread may be in the middle of its loop.
    """
    _giving_up.acquire()  # The second thread waits for the end of the process.
    line = " ".join(f"{who}{reason_of(error)}".split())[:2000]
    cause = {"cause": "partner-gone"} if isinstance(error, GONE) else {}
    try:
        say({"is": "failed", "reason": line} | cause)
    finally:
        os._exit(1)


def reason_of(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, EOFError | BrokenPipeError | ConnectionResetError):
        error = closed()
    if isinstance(error, Failure):
        return str(error)
    return f"{type(error).__name__}: {error}"
