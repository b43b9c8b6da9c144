"""Every mechanism in every boundary, role and place that it says it has, as programs."""

import os
import signal
import time
import unittest
from typing import Any

from hopcost_worker.case import Failure
from hopcost_worker.mechanism import ROWS
from hopcost_worker.mechanism.base import Row
from hopcost_worker.seat import ProcessSeat
from hopcost_worker.stamps import Endpoint

from .support import PATIENCE_S, SKELETON, WORKER, Program, Samples, attach_end, case, link

PHASES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("pilot", 40, {"kind": "batch", "n": 10}),
    ("measure", 100, {"kind": "each"}),
    ("measure", 60, {"kind": "batch", "n": 20}),
    ("count", 30, {"kind": "each"}),
)


def sizes(row: Row) -> list[int]:
    """The payloads to try: the least and the most."""
    assert row.payload
    return [row.payload[0], row.payload[1]]


def carrier(row: Row) -> str:
    return row.carrier or row.name


class Mechanisms(unittest.TestCase):
    def rows(self) -> list[Row]:
        """Those that can be used here."""
        usable = []
        for row in ROWS:
            if reason := row.missing():
                print(f"skipped {row.name}: {reason}")
            else:
                usable.append(row)
        self.assertIn("pipe", [row.name for row in usable])
        return usable

    def phase(self, programs: list[Program], samples: Samples, phase: Any, two_ends: bool) -> None:
        """Runs a phase and looks at what is said of it."""
        name, count, stamp = phase
        for program in programs:
            program.tell(do="run", phase=name, count=count, stamp=stamp)
        replies = [program.hear() for program in programs]
        self.assertEqual({reply["is"] for reply in replies}, {"ran"}, replies)
        ends = [end for reply in replies for end in reply["ends"]]
        roles = ["caller", "callee"] if two_ends else ["caller"]
        self.assertEqual([end["role"] for end in ends], roles)
        self.assertEqual({end["count"] for end in ends}, {count})
        n = (
            count // stamp.get("n", 1)
            if stamp["kind"] != "two-lengths"
            else count // stamp["n"] // 3 * 2
        )
        want = n if name == "measure" else 0
        self.assertEqual(ends[0]["samples"], want)
        ticks = samples.take(want)
        self.assertEqual(len(ticks), want)
        self.assertTrue(samples.empty())
        self.assertGreater(ends[0]["elapsed_ticks"], 0)
        if want:
            self.assertEqual(sum(ticks), ends[0]["elapsed_ticks"])
            self.assertEqual(max(ticks), ends[0]["max_ticks"])

    def stop(self, programs: list[Program]) -> None:
        for program in programs:
            self.assertEqual(program.ask(do="stop"), {"is": "stopped"})
        for program in programs:
            self.assertEqual(program.ended(), (0, b"", b""))

    def test_both_ends_in_one_worker(self) -> None:
        for row in self.rows():
            for boundary in row.boundaries:
                if row.link != "own" and boundary == "process":
                    continue
                for payload in sizes(row):
                    with self.subTest(row.name, boundary=boundary, payload=payload):
                        self.play_both(row.name, case(row.name, payload, boundary), boundary)

    def test_parameters(self) -> None:
        for name, boundary, more in (
            ("mp-pipe", "process", "&pickle=off"),
            ("mp-pipe", "process", "&pickle=on"),
            ("tcp", "thread", "&nodelay=off"),
            ("udp", "thread", "&timeout=1s"),
        ):
            with self.subTest(name, more=more):
                self.play_both(name, case(name, 64, boundary, more), boundary)

    def play_both(self, name: str, spelling: str, boundary: str) -> None:
        samples = Samples()
        self.addCleanup(samples.close)
        with Program(WORKER, [samples.fd]) as program:
            reply = program.ask(
                do="attach",
                case=spelling,
                seats=[{"role": "caller", "cpu": 0}, {"role": "callee", "cpu": 0}],
                samples_fd=samples.fd,
                deadline_ms=PATIENCE_S * 1000,
                trial=0,
            )
            self.assertEqual(reply["is"], "attached", reply)
            self.assertEqual(reply["pid"], program.process.pid)
            caller, callee = reply["seats"]
            self.assertEqual((caller["role"], callee["role"]), ("caller", "callee"))
            self.assertNotEqual(callee["tid"], caller["tid"])
            if boundary == "process":
                self.assertEqual(len({caller["pid"], callee["pid"], program.process.pid}), 3)
                self.assertEqual(os.listdir("/dev/shm"), SHM_BEFORE)
            else:
                self.assertEqual(caller["tid"], program.process.pid)
                self.assertNotIn("pid", caller)
                self.assertNotIn("pid", callee)
                threads = 4 if name == "websocket" else 2
                self.assertEqual(len(os.listdir(f"/proc/{program.process.pid}/task")), threads)
            for phase in PHASES:
                self.phase([program], samples, phase, two_ends=True)
            self.stop([program])
            self.assertFalse(os.path.exists(f"/proc/{caller['tid']}"))
            self.assertFalse(os.path.exists(f"/proc/{callee['tid']}"))

    def test_two_workers_over_descriptors(self) -> None:
        for row in self.rows():
            if row.link == "descriptors":
                # One that comes whole, and one that a stream may deliver in parts.
                for payload in (64, 5000):
                    with self.subTest(row.name, payload=payload):
                        self.play_two([WORKER, row.name], [WORKER, row.name], carrier(row), payload)

    def test_libraries_speak_their_carriers_bytes(self) -> None:
        for row in self.rows():
            if row.carrier:
                for ends in ((row.name, row.carrier), (row.carrier, row.name)):
                    with self.subTest(ends):
                        self.play_two([WORKER, ends[0]], [WORKER, ends[1]], row.carrier, 300)

    def test_the_skeleton_plays_either_end(self) -> None:
        for payload in (1, 4096):
            self.play_two([SKELETON, "pipe"], [WORKER, "pipe"], "pipe", payload)
            self.play_two([WORKER, "pipe"], [SKELETON, "pipe"], "pipe", payload)

    def play_two(self, caller: list[Any], callee: list[Any], over: str, payload: int) -> None:
        samples, ends = Samples(), link(over)
        self.addCleanup(samples.close)
        with (
            Program(caller[0], [*ends[0], samples.fd]) as asking,
            Program(callee[0], ends[1]) as answering,
        ):
            for fd in (*ends[0], *ends[1]):
                os.close(fd)
            asked_of = case(caller[1], payload, "process")
            attach_end(asking, asked_of, "caller", ends[0], samples_fd=samples.fd)
            attach_end(answering, case(callee[1], payload, "process"), "callee", ends[1])
            for program in (asking, answering):
                reply = program.hear()
                self.assertEqual(reply["is"], "attached", reply)
                self.assertEqual(reply["seats"][0]["tid"], program.process.pid)
            for phase in PHASES:
                self.phase([asking, answering], samples, phase, two_ends=True)
            self.stop([asking, answering])

    def test_calls(self) -> None:
        for row in self.rows():
            if row.workloads != ("call",):
                continue
            for payload in sizes(row) if row.payload else [None]:
                samples = Samples()
                self.addCleanup(samples.close)
                spelling = f"call/{row.name}" + (f"?payload={payload}" if row.payload else "")
                with self.subTest(spelling), Program(WORKER, [samples.fd]) as program:
                    reply = program.ask(
                        do="attach",
                        case=spelling,
                        seats=[{"role": "caller", "cpu": 0}],
                        samples_fd=samples.fd,
                        deadline_ms=PATIENCE_S * 1000,
                    )
                    self.assertEqual(reply["is"], "attached", reply)
                    for phase in (
                        ("pilot", 64, {"kind": "batch", "n": 64}),
                        ("warm-up", 96, {"kind": "two-lengths", "n": 16}),
                        ("measure", 144, {"kind": "two-lengths", "n": 16}),
                        ("measure", 20, {"kind": "each"}),
                    ):
                        self.phase([program], samples, phase, two_ends=False)
                    self.stop([program])


class Gone(unittest.TestCase):
    """The processes of a worker of its own die with each other."""

    def test_whichever_is_killed(self) -> None:
        for name in ("mp-queue", "mp-pipe", "mp-shared-memory"):
            for who in ("caller", "callee", "parent", "all"):
                with self.subTest(name, killed=who), Program(WORKER) as program:
                    self.kill(program, name, who)

    def kill(self, program: Program, name: str, who: str) -> None:
        seats = [{"role": "caller"}, {"role": "callee"}]
        spelling = case(name, 64, "process")
        reply = program.ask(do="attach", case=spelling, seats=seats, deadline_ms=30_000)
        children = {seat["role"]: seat["pid"] for seat in reply["seats"]}
        program.tell(do="run", phase="pilot", count=1 << 40, stamp={"kind": "batch", "n": 1 << 20})
        time.sleep(0.2)
        if who in children:
            os.kill(children[who], signal.SIGKILL)
            reply = program.hear()
            self.assertEqual(reply["is"], "failed")
            self.assertRegex(reply["reason"], "was killed by signal 9|closed the link")
            self.assertEqual(program.ended()[:2], (1, b""))
        elif who == "parent":
            program.process.kill()
            program.process.wait()
        else:
            program.kill()
        for _ in range(500):
            if not any(map(alive, children.values())):
                break
            time.sleep(0.01)
        self.assertFalse(any(map(alive, children.values())))
        self.assertEqual(os.listdir("/dev/shm"), SHM_BEFORE)

    def test_a_child_that_fails_says_why(self) -> None:
        def fails() -> Endpoint:
            raise Failure("because")

        family: list[ProcessSeat] = []
        waits = ProcessSeat("caller", lambda: time.sleep(PATIENCE_S) or fails(), family)
        seat = ProcessSeat("callee", fails, family)
        try:
            for asked in (seat, waits):
                with self.assertRaisesRegex(Failure, "callee: (because|its process ended with 1)"):
                    asked.attached()
        finally:
            for each in family:
                each.stop()


def alive(pid: int) -> bool:
    """Whether a process runs, and is not only waiting to be reaped."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


SHM_BEFORE = os.listdir("/dev/shm")
