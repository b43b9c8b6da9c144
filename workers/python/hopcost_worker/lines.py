"""Lines in, lines out."""

import json
import os
import threading
from typing import Any, NoReturn

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


def say(reply: dict[str, Any]) -> None:
    """Writes one reply as one line to standard output."""
    print(json.dumps(reply), flush=True)


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
