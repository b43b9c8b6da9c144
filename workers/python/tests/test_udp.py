"""Lost and repeated datagrams, between an end and a socket that the test holds."""

import threading
import unittest
from collections.abc import Callable

from hopcost_worker.case import Case, Failure
from hopcost_worker.content import message
from hopcost_worker.loop import Callee, Caller
from hopcost_worker.mechanism import kernel
from hopcost_worker.mechanism.descriptors import udp_pair
from hopcost_worker.stamps import Order, Stamped

CASE = Case("roundtrip", "udp", {"payload": "64"})
EACH = {"kind": "each"}


class Udp(unittest.TestCase):
    def setUp(self) -> None:
        self.mine, self.its = udp_pair()
        self.mine.settimeout(20)
        self.addCleanup(self.mine.close)
        self.addCleanup(self.its.close)
        # Short, so that the test is.
        kernel.TIMEOUTS["200ms"] = (0, 20_000)
        self.addCleanup(kernel.TIMEOUTS.__setitem__, "200ms", (0, 200_000))

    def play(self, role: str, count: int) -> Callable[[], Stamped]:
        """Runs a phase of the end in a thread; calling the result waits for it."""
        end = kernel.Udp(self.its, role, CASE)
        player = (Caller if role == "caller" else Callee)(end, 64)
        outcome: list[Stamped | BaseException] = []

        def run() -> None:
            try:
                outcome.append(player.run(Order.of({"count": count, "stamp": EACH})))
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def result() -> Stamped:
            thread.join(20)
            self.assertFalse(thread.is_alive(), "the end hangs")
            if isinstance(outcome[0], BaseException):
                raise outcome[0]
            return outcome[0]

        return result

    def expect(self, number: int) -> None:
        self.assertEqual(self.mine.recv(1000), message(number, 64), f"number {number}")

    def say(self, number: int) -> None:
        self.mine.send(message(number, 64))

    def test_the_callee_answers_again_what_comes_again(self) -> None:
        result = self.play("callee", 2)
        for number in (1, 1, 3, 3, 3, 5, 7):
            self.say(number)
            self.expect(number + 1)
        self.assertEqual(result().count, 2)

    def test_the_callee_fails_at_a_message_from_the_future(self) -> None:
        result = self.play("callee", 2)
        self.say(1)
        self.expect(2)
        self.say(5)
        with self.assertRaises(Failure):
            result()

    def test_the_caller_sends_again_and_takes_no_sample(self) -> None:
        result = self.play("caller", 3)
        for number in (1, 3):
            self.expect(number)
            self.say(number + 1)
        self.expect(5)
        self.expect(5)
        self.say(6)
        self.say(6)  # The answer to the first one, late: skipped.
        for number in (7, 9):
            self.expect(number)
            self.say(number + 1)
        stamped = result()
        self.assertEqual((stamped.count, len(stamped.ticks), stamped.lost), (3, 2, 1))

    def test_the_caller_goes_on_after_the_last_message(self) -> None:
        result = self.play("caller", 1)
        for number in (1, 3):
            self.expect(number)
            self.say(number + 1)
        for _ in range(kernel.LAST_TIMEOUTS):
            self.expect(5)
        self.assertEqual((result().lost, len(result().ticks)), (1, 0))

    def test_the_caller_gives_up(self) -> None:
        result = self.play("caller", 1)
        with self.assertRaisesRegex(Failure, "never answered"):
            result()

    def test_a_loss_without_payload_ends_the_trial(self) -> None:
        global CASE
        before, CASE = CASE, Case("roundtrip", "udp", {"payload": "0"})
        try:
            end = kernel.Udp(self.its, "caller", CASE)
            with self.assertRaisesRegex(Failure, "cannot be told apart"):
                Caller(end, 0).run(Order.of({"count": 1, "stamp": EACH}))
        finally:
            CASE = before
