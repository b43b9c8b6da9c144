"""What the messages of a trial hold (workers/PROTOCOL.md, "What a worker must do").

Message number s is the little-endian words w, w+1, w+2, … (mod 2^64) with
w = (s mod n) × 0x9E3779B97F4A7C15 (mod 2^64), cut off at the payload, where n is `contents`.
"""

import sys
from array import array

STEP = 0x9E37_79B9_7F4A_7C15
WORDS = 1 << 64


def contents(payload: int) -> int:
    """How many different messages of this size there are: a power of two."""
    count = 256
    while count > 4 and count * payload > 1 << 14:
        count //= 2
    return count


def message(number: int, payload: int) -> bytes:
    """Message `number` of `payload` bytes."""
    first = number % contents(payload) * STEP % WORDS
    end = first + (payload + 7) // 8
    words = array("Q", range(first, min(end, WORDS)))
    words.extend(range(0, end - WORDS))
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()[:payload]


def exchanges(payload: int) -> list[tuple[bytes, bytes]]:
    """The requests and replies of a trial, in order, after which they begin again.

    Each call makes messages of its own: two ends that shared them would compare
    an object with itself, which takes no look at its bytes.
    """
    return [(message(s, payload), message(s + 1, payload)) for s in range(1, contents(payload), 2)]
