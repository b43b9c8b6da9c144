"""What the messages of a trial hold (workers/PROTOCOL.md, "What a worker must do").

Message number s is the little-endian words w, w+1, w+2, … (mod 2^64) with
w = (s mod 256) × 0x9E3779B97F4A7C15 (mod 2^64), cut off at the payload.
"""

import sys
from array import array

STEP = 0x9E37_79B9_7F4A_7C15
WORDS = 1 << 64


def message(number: int, payload: int) -> bytes:
    """Message `number` of `payload` bytes."""
    first = number % 256 * STEP % WORDS
    end = first + (payload + 7) // 8
    words = array("Q", range(first, min(end, WORDS)))
    words.extend(range(0, end - WORDS))
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()[:payload]


def exchanges(payload: int) -> list[tuple[bytes, bytes]]:
    """The 128 requests and replies of a trial, in order, after which they begin again.

    Each call makes messages of its own: two ends that shared them would compare
    an object with itself, which takes no look at its bytes.
    """
    return [(message(s, payload), message(s + 1, payload)) for s in range(1, 256, 2)]
