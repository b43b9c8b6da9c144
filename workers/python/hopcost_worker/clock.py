"""What a stamp costs: two readings in a row."""

import os
from itertools import pairwise, repeat
from typing import Any

from .stamps import clock

PAIRS = 10_000


def calibrate(cpu: int) -> dict[str, Any]:
    """The reply to `clock`, taken on this CPU; the thread may run where it might before."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        readings = [clock() for _ in repeat(None, PAIRS + 1)]
        read = clock
        costs = []
        for _ in repeat(None, PAIRS):
            start = read()
            costs.append(read() - start)
    finally:
        os.sched_setaffinity(0, before)
    costs.sort()
    return {
        "is": "clock",
        "cpu": cpu,
        "runtime": "python",
        "source": "CLOCK_MONOTONIC",
        "ticks_per_second": 1_000_000_000,
        "resolution_ticks": min((b - a for a, b in pairwise(readings) if b > a), default=0),
        "stamp_min_ns": costs[0],
        "stamp_p50_ns": costs[PAIRS // 2],
        "stamp_p99_ns": costs[PAIRS * 99 // 100],
    }
