"""What a worker says when a message is wrong, the other end is gone, or a command is nonsense."""

import asyncio
import json
import os
import socket
import unittest
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hopcost_worker.aloop import AsyncEnd, AsyncEndpoint
from hopcost_worker.case import Failure
from hopcost_worker.content import exchanges, message
from hopcost_worker.loop import Callee, Caller, End, endpoint
from hopcost_worker.mechanism import ROWS, websocket
from hopcost_worker.stamps import Endpoint, Order

from .support import SKELETON, WORKER, Program, attach_end, case, link

EACH = {"kind": "each"}


def incoming(role: str, repeating: int) -> Iterator[bytes]:
    """What an end is to receive, but that message number `repeating` comes twice."""
    before = b""
    for index, (request, reply) in enumerate(exchanges(16)):
        wanted = reply if role == "caller" else request
        yield before if index == repeating else wanted
        before = wanted


def blocking(role: str, repeating: int) -> Endpoint:
    """An end that blocks."""
    end, messages = End(), incoming(role, repeating)
    end.send, end.receive = lambda _: None, messages.__next__
    return endpoint(end, role, 16)


def on_a_loop(role: str, repeating: int) -> Endpoint:
    """An end on an event loop."""
    end, messages = AsyncEnd(), incoming(role, repeating)

    async def send(_: bytes) -> None:
        pass

    async def receive() -> bytes:
        return next(messages)

    end.send, end.receive = send, receive
    return AsyncEndpoint(LOOP, end, role, 16)


LOOP = asyncio.new_event_loop()


class OtherEnd:
    """The other end of a link, in the hands of the test."""

    def __init__(self, carrier: str, role: str, fds: list[int]) -> None:
        self._role, self._fds, self._sock = role, fds, None
        if carrier == "pipe":
            self.send = lambda data: os.write(fds[1], data)
            self.receive = lambda: os.read(fds[0], 1 << 17)
            return
        self._sock = sock = socket.socket(fileno=fds[0])
        if carrier == "websocket":
            connection = (websocket.connect if role == "caller" else websocket.accept)(sock)
            self.send, self.receive = connection.send, connection.recv
        else:
            self.send, self.receive = sock.send, lambda: sock.recv(1 << 17)

    def leave(self) -> None:
        if self._sock is None:
            for fd in self._fds:
                os.close(fd)
            self._fds = []
            return
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()


class Faults(unittest.TestCase):
    def end(self, name: str, carrier: str, role: str, command: list[str] = WORKER) -> Any:
        """A worker that has begun a phase, and the other end."""
        its, mine = link(carrier)
        if role == "callee":
            its, mine = mine, its
        program = Program(command, its)
        self.addCleanup(program.__exit__)
        for fd in its:
            os.close(fd)
        attach_end(program, case(name, 64, "process"), role, its)
        other = OtherEnd(carrier, "callee" if role == "caller" else "caller", mine)
        self.addCleanup(other.leave)
        reply = program.hear()
        self.assertEqual(reply["is"], "attached", reply)
        program.tell(do="run", phase="pilot", count=20, stamp=EACH)
        return program, other

    def failed(self, program: Program, cause: str | None = None) -> str:
        """The one line of a worker that fails as it should."""
        reply = program.hear()
        if cause is not None:
            self.assertEqual(reply.get("cause"), cause, reply)
        self.assertEqual(reply["is"], "failed", reply)
        status, rest, _ = program.ended()
        self.assertEqual((status, rest), (1, b""))
        self.assertNotIn("\n", reply["reason"])
        return reply["reason"]

    def test_a_wrong_message_fails_the_trial(self) -> None:
        for row in ROWS:
            if row.link != "descriptors" or row.missing():
                continue
            for role, number in (("caller", 2), ("callee", 1)):
                good = message(number, 64)
                # A bit flipped for the one, a message too early for the other.
                bad = good[:63] + bytes([good[63] ^ 1])
                bad = bad if role == "caller" else message(number + 2, 64)
                with self.subTest(row.name, role=role):
                    program, other = self.end(row.name, row.carrier or row.name, role)
                    if role == "caller":
                        self.assertEqual(other.receive(), message(1, 64))
                    other.send(bad)
                    self.assertIn("is not what it has to be", self.failed(program))

    def test_an_end_that_leaves_fails_the_trial(self) -> None:
        for row in ROWS:
            if row.link != "descriptors" or row.name in ("udp", "unix-dgram") or row.missing():
                continue
            for role in ("caller", "callee"):
                with self.subTest(row.name, role=role):
                    program, other = self.end(row.name, row.carrier or row.name, role)
                    other.leave()
                    gone = None if "websocket" in row.name else "partner-gone"
                    self.assertTrue(self.failed(program, gone))

    def test_the_skeleton_fails_likewise(self) -> None:
        for role in ("caller", "callee"):
            program, other = self.end("pipe", "pipe", role, SKELETON)
            other.send(b"x" * 64)
            self.assertIn("is wrong", self.failed(program))
            program, other = self.end("pipe", "pipe", role, SKELETON)
            other.leave()
            self.assertTrue(self.failed(program))

    def test_every_byte_is_looked_at(self) -> None:
        for payload in (1, 64, 100):
            for at in range(payload):
                wrong = bytearray(message(1, payload))
                wrong[at] ^= 0x80
                end = End()
                end.send, end.receive = lambda _: None, lambda wrong=wrong: bytes(wrong)
                for player in (Caller(end, payload), Callee(end, payload)):
                    with self.assertRaises(Failure):
                        player.run(Order.of({"count": 1, "stamp": EACH}))

    def test_a_message_that_comes_again_is_wrong_wherever_it_comes(self) -> None:
        for stamp in (EACH, {"kind": "batch", "n": 2}):
            for at in range(2, 6):
                order = Order.of({"count": 4, "stamp": stamp})
                for make in (blocking, on_a_loop):
                    for role in ("caller", "callee"):
                        with self.subTest(stamp=stamp, at=at, make=make, role=role):
                            make(role, repeating=99).run(order)
                            with self.assertRaises(Failure):
                                make(role, repeating=at).run(order)

    def test_nonsense_is_answered_by_one_line(self) -> None:
        attach = {
            "do": "attach",
            "case": case("pipe", 64, "thread"),
            "seats": [{"role": "caller"}, {"role": "callee"}],
            "deadline_ms": 30_000,
        }
        run = {"do": "run", "phase": "pilot", "count": 9, "stamp": EACH}
        for commands in (
            [{"do": "fly"}],
            [{}],
            [[1]],
            [run],
            [{"do": "meet"}],
            [attach, attach],
            [attach, run | {"stamp": {"kind": "batch", "n": 2}}],
            [attach, run | {"count": None}],
            [attach | {"case": "pipe"}],
            [attach | {"case": case("nothing", 64, "thread")}],
            [attach | {"case": case("pipe", 1 << 30, "thread")}],
            [attach | {"case": case("pipe", 64, "process")}],
            [attach | {"case": case("tcp", 64, "thread", "&nodelay=perhaps")}],
            [attach | {"seats": []}],
            [attach | {"seats": "both"}],
            [attach | {"seats": [{"role": "callee"}, {"role": "caller"}]}],
            [attach | {"seats": [{"role": "caller"}]}],
            [attach | {"seats": [{"role": "caller", "link": {"fds": [77, 78]}}]}],
            [attach | {"seats": [{"role": "caller", "link": {"fds": [0]}}]}],
            [attach | {"deadline_ms": None}],
            [attach | {"samples_fd": 77}],
        ):
            with self.subTest(commands=commands), Program(WORKER) as program:
                *good, last = commands
                for command in good:
                    self.assertEqual(program.ask(**command)["is"], "attached")
                assert program.process.stdin
                program.process.stdin.write(json.dumps(last).encode() + b"\n")
                self.failed(program)

    def test_unknown_fields_are_ignored_and_the_end_of_input_is_the_end(self) -> None:
        with Program(WORKER) as program:
            reply = program.ask(do="describe", colour="blue")
            self.assertEqual((reply["is"], reply["protocol"]), ("described", 3))
            names = [mechanism["name"] for mechanism in reply["mechanisms"]]
            self.assertEqual(names, [row.name for row in ROWS])
            self.assertEqual(len(set(names)), len(names))
            clock = program.ask(do="clock", cpu=min(os.sched_getaffinity(0)))
            self.assertEqual(clock["runtime"], "python")
            self.assertLessEqual(clock["stamp_min_ns"], clock["stamp_p50_ns"])
            self.assertLessEqual(clock["stamp_p50_ns"], clock["stamp_p99_ns"])
            self.assertEqual(program.ended(), (0, b"", b""))

    def test_a_line_without_end_is_refused(self) -> None:
        with Program(WORKER) as program:
            assert program.process.stdin
            with suppress(BrokenPipeError):
                program.process.stdin.write(b"x" * 300_000)
            self.assertEqual(program.hear()["is"], "failed")
