"""Lines in, lines out."""

import json
import os
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from .case import Failure, PartnerGone

LINE_MAX = 256 * 1024
"""Bytes of the longest line that either side accepts."""

GONE = (PartnerGone, EOFError, BrokenPipeError, ConnectionResetError, ConnectionRefusedError)
"""The errors of an end whose partner is gone."""

_giving_up = threading.Lock()


def commands(fd: int = 0) -> Iterator[str]:
    """The lines of a descriptor, read as they come."""
    pending = b""
    while chunk := os.read(fd, 4096):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line.decode()
        if len(pending) > LINE_MAX:
            raise ValueError(f"a command is longer than {LINE_MAX} bytes")


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Writes everything, in as many parts as it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def say(reply: dict[str, Any]) -> None:
    """Writes one reply as one line to standard output."""
    write_all(1, json.dumps(reply).encode() + b"\n")


def give_up(error: BaseException, who: str = "") -> NoReturn:
    """Says why the trial is over and ends the process, from whichever thread.

    Without clean-up on purpose: another thread may be in the middle of its loop.
    """
    _giving_up.acquire()  # Whoever comes second waits for the end of the process.
    line = " ".join(f"{who}{reason_of(error)}".split())[:2000]
    cause = {"cause": "partner-gone"} if isinstance(error, GONE) else {}
    try:
        say({"is": "failed", "reason": line} | cause)
    finally:
        os._exit(1)


def reason_of(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, EOFError | BrokenPipeError | ConnectionResetError):
        return "the other end closed the link"
    name, text = type(error).__name__, str(error)
    if isinstance(error, Failure):
        return text
    return f"{name}: {text}" if text else name
