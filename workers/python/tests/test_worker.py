"""What `hopcost worker check` cannot see: lost datagrams, and what the interpreter is."""

import socket
import sys
import threading
import unittest
from collections.abc import Callable
from unittest import mock

from hopcost_worker import describe, kernel, streams
from hopcost_worker.base import Case
from hopcost_worker.lines import Failure
from hopcost_worker.loop import endpoint, message
from hopcost_worker.stamps import Order, Stamped


class Udp(unittest.TestCase):
    """Lost and repeated datagrams, between an end and a socket that the test holds."""

    def setUp(self) -> None:
        self.mine, self.its = kernel.udp_pair()
        self.mine.settimeout(20)
        self.addCleanup(self.mine.close)
        self.addCleanup(self.its.close)
        # Short, so that the test is.
        short = mock.patch.dict(kernel.TIMEOUTS, {"200ms": (0, 20_000)})
        short.start()
        self.addCleanup(short.stop)

    def play(self, role: str, count: int, payload: int = 64) -> Callable[[], Stamped]:
        """Runs a phase of the end in a thread; calling the result waits for it."""
        end = kernel.Udp(self.its, role, Case(payload, {"timeout": "200ms"}))
        player = endpoint(end, role, payload)
        outcome: list[Stamped | BaseException] = []

        def run() -> None:
            try:
                outcome.append(player.run(Order(count, (1,))))
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

    def expect(self, *numbers: int) -> None:
        for number in numbers:
            self.assertEqual(self.mine.recv(1000), message(number, 64), f"number {number}")

    def say(self, number: int) -> None:
        self.mine.send(message(number, 64))

    def test_the_callee_answers_again_what_comes_again_and_nothing_else(self) -> None:
        result = self.play("callee", 3)
        for number in (1, 1, 3, 3, 3, 5, 7):
            self.say(number)
            self.expect(number + 1)
        self.say(11)
        with self.assertRaises(Failure):
            result()

    def test_the_caller_sends_again_and_takes_no_sample(self) -> None:
        result = self.play("caller", 3)
        for number in (1, 3):
            self.expect(number)
            self.say(number + 1)
        self.expect(5, 5)
        self.say(6)
        self.say(6)  # The answer to the first one, late: skipped.
        for number in (7, 9):
            self.expect(number)
            self.say(number + 1)
        stamped = result()
        self.assertEqual((stamped.count, len(stamped.ticks), stamped.lost), (3, 2, 1))
        # Without an answer to the last message of a phase it goes on, earlier it gives up.
        result = self.play("caller", 1)
        for number in (1, 3):
            self.expect(number)
            self.say(number + 1)
        self.expect(*[5] * kernel.LAST_TIMEOUTS)
        self.assertEqual((result().lost, len(result().ticks)), (1, 0))
        for payload, why in ((64, "never answered"), (0, "look alike")):
            with self.assertRaisesRegex(Failure, why):
                self.play("caller", 1, payload)()


class Describe(unittest.TestCase):
    def test_a_library_that_is_not_there_is_a_reason(self) -> None:
        for name in ("uvloop", "websockets.sync.server"):
            with mock.patch.dict(sys.modules, {name: None}):
                self.assertIn(f"{name} cannot be imported", streams.missing(name)() or "")

    def test_the_gil_and_the_build_are_named(self) -> None:
        for config, gil, want, built in (
            ({"CONFIG_ARGS": "'--enable-optimizations' '--with-lto'"}, True, "the GIL is on", "with"),
            ({"CONFIG_ARGS": "'--with-lto=no'", "Py_GIL_DISABLED": 1}, False, "a free-threaded build with the GIL off", "without"),
            ({"CONFIG_ARGS": "", "Py_GIL_DISABLED": 1}, True, "a free-threaded build with the GIL on", "without"),
        ):
            with (
                self.subTest(want),
                mock.patch("sysconfig.get_config_var", config.get),
                mock.patch.object(sys, "_is_gil_enabled", lambda on=gil: on, create=True),
            ):
                remarks = describe.remarks()
                self.assertTrue(remarks[0].startswith(want))
                self.assertIn(f"compiled {built} profile-guided optimization", remarks[1])
                self.assertIn(f"{built} link-time optimization", remarks[1])
        with mock.patch("sysconfig.get_config_var", {}.get):
            self.assertIn("not known", describe.build())
