"""Which pairs, in which rounds: a host is in at most one pair of a round."""

import random
import re

from .hosts import Usage, printable

Pair = tuple[int, int]

# At 10 s per round nobody waits for more.
PAIRS_MAX = 1_000_000


def kind_of_pairs(text: str) -> str:
    """The kind, if it is one."""
    if not re.fullmatch(r"all|ring|none|sample:[1-9][0-9]{0,6}", text):
        raise Usage(f"--pairs: `{printable(text, 50)}` is none of all, ring, sample:N, none")
    return text


def rounds(kind: str, n: int) -> list[list[Pair]]:
    """The rounds of the pairs of `n` hosts; the first of a pair is its near host."""
    every = n * (n - 1) // 2
    sizes = {"none": 0, "ring": min(n, every), "all": every}
    size = sizes[kind] if kind in sizes else min(int(kind.partition(":")[2]), every)
    if size > PAIRS_MAX:
        raise Usage(f"{size:,} pairs of {n:,} hosts are too many: give --pairs sample:N")
    if kind == "ring":
        return packed([(i, (i + 1) % n) for i in range(size)])
    if size == every:
        return packed(circle(n))
    # The same fleet measures the same pairs next time.
    draw, chosen = random.Random(0), {}
    while len(chosen) < size:
        pair = tuple(draw.sample(range(n), 2))
        chosen.setdefault(frozenset(pair), pair)
    return packed(list(chosen.values()))


def circle(n: int) -> list[Pair]:
    """All pairs of `n`, round by round: the first stays, the others move on by one seat."""
    seats = list(range(n + n % 2))
    pairs = []
    for turn in range(len(seats) - 1):
        for k in range(len(seats) // 2):
            a, b = seats[k], seats[-1 - k]
            if max(a, b) < n:  # the one too many stands for a rest
                # Each host is nearly as often the near one as the far one.
                pairs.append((a, b) if (k + (turn if k == 0 else 0)) % 2 == 0 else (b, a))
        seats.insert(1, seats.pop())
    return pairs


def packed(pairs: list[Pair]) -> list[list[Pair]]:
    """The pairs in rounds, each in the first in which both hosts are free."""
    busy: dict[int, int] = {}  # the rounds of each host, as bits
    made: list[list[Pair]] = []
    for a, b in pairs:
        taken = busy.get(a, 0) | busy.get(b, 0)
        first = (~taken & (taken + 1)).bit_length() - 1  # the lowest bit that is not set
        if first == len(made):
            made.append([])
        made[first].append((a, b))
        for host in (a, b):
            busy[host] = busy.get(host, 0) | 1 << first
    return made
