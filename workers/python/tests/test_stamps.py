import unittest
from array import array
from typing import Any

from hopcost_worker import loop, stamps
from hopcost_worker.case import Case, Failure
from hopcost_worker.mechanism import calls
from hopcost_worker.stamps import Order, Stamped, differences


def order(count: int, stamp: Any) -> Order:
    return Order.of({"count": count, "stamp": stamp})


class Echo(loop.End):
    """Both ends at once: answers every request as it has to be, a tick of the clock later."""

    def __init__(self, ticks: list[int]) -> None:
        self.asked, self._ticks, self._replies = 0, ticks, dict(loop.exchanges(8))
        self.send, self.receive = self._send, self._receive

    def _send(self, message: bytes) -> None:
        self._reply = self._replies[message]
        self.asked += 1

    def _receive(self) -> bytes:
        self._ticks[0] += self.asked
        return self._reply


class Orders(unittest.TestCase):
    def test_samples_are_counted_by_batches(self) -> None:
        self.assertEqual(order(12, {"kind": "each"}).samples, 12)
        self.assertEqual(order(12, {"kind": "batch", "n": 4}).samples, 3)
        self.assertEqual(order(12, {"kind": "two-lengths", "n": 2}).samples, 4)

    def test_what_cannot_be_done_is_refused(self) -> None:
        for count, stamp in (
            (10, {"kind": "batch", "n": 3}),
            (10, {"kind": "batch", "n": 0}),
            (10, {"kind": "batch", "n": "3"}),
            (10, {"kind": "two-lengths", "n": 5}),
            (10, {"kind": "now and then"}),
            (10, "each"),
            (10, None),
            (-1, {"kind": "each"}),
            (1.5, {"kind": "each"}),
            (True, {"kind": "each"}),
            (stamps.SAMPLES_MAX + 1, {"kind": "each"}),
        ):
            with self.subTest(count=count, stamp=stamp), self.assertRaises(Failure):
                order(count, stamp)  # type: ignore[arg-type]


class Statistics(unittest.TestCase):
    def test_counters_are_of_the_samples(self) -> None:
        stamped = Stamped(3, array("Q", [5, 9, 7]), lost=1)
        self.assertEqual(
            stamped.counters("caller", keeps=True),
            {
                "role": "caller",
                "count": 3,
                "samples": 3,
                "max_ticks": 9,
                "elapsed_ticks": 21,
                "lost": 1,
            },
        )
        self.assertEqual(stamped.counters("caller", keeps=False)["samples"], 0)
        self.assertEqual(Stamped(3).counters("callee", keeps=True)["samples"], 0)
        self.assertNotIn("lost", Stamped(3).counters("callee", keeps=True))

    def test_lost_exchanges_are_no_samples(self) -> None:
        read = array("Q", [100, 101, 103, 107, 115])
        self.assertEqual(list(differences(read, [])), [1, 2, 4, 8])
        self.assertEqual(list(differences(read, [1, 3])), [2, 8])

    def test_stamps_stand_around_exchanges_and_not_around_the_lead_in(self) -> None:
        now = [0]
        read, loop.clock = loop.clock, lambda: now[0]
        try:
            # Exchange number k takes k ticks; the first two are the lead-in.
            end = Echo(now)
            caller = loop.Caller(end, 8)
            self.assertEqual(list(caller.run(order(4, {"kind": "each"})).ticks), [3, 4, 5, 6])
            self.assertEqual(end.asked, 6)
            ticks = caller.run(order(4, {"kind": "batch", "n": 2})).ticks
            self.assertEqual(list(ticks), [9 + 10, 11 + 12])
            self.assertEqual(end.asked, 12)
            # A whole turn of the 128 exchanges later the messages still fit.
            self.assertEqual(len(caller.run(order(300, {"kind": "each"})).ticks), 300)
        finally:
            loop.clock = read

    def test_calls_are_done_in_two_lengths_in_turn(self) -> None:
        done: list[int] = []
        stamped = calls.Calls(done.append).run(order(12, {"kind": "two-lengths", "n": 2}))
        self.assertEqual(done, [2, 4, 2, 4])
        self.assertEqual((stamped.count, len(stamped.ticks)), (12, 4))

    def test_a_batch_is_as_many_operations_as_it_says(self) -> None:
        acquired = 0

        class Lock:
            def acquire(self) -> None:
                nonlocal acquired
                acquired += 1

            def release(self) -> None:
                nonlocal acquired
                acquired += 1000

        real, calls.threading.Lock = calls.threading.Lock, Lock  # type: ignore[assignment]
        try:
            batch = calls.mutex_uncontended(Case("call", "mutex-uncontended", {}))
        finally:
            calls.threading.Lock = real  # type: ignore[misc]
        for count in (1, 15, 16, 17, 160):
            acquired = 0
            batch(count)
            self.assertEqual(acquired, 1001 * count)
