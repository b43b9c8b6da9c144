"""Workers as hopcost would start them, for tests."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hopcost_worker.mechanism import base, descriptors, kernel

HERE = Path(__file__).resolve().parent.parent
WORKER = [sys.executable, "-I", str(HERE / "worker.py")]
SKELETON = [sys.executable, str(HERE.parent / "skeleton" / "skeleton.py")]
PATIENCE_S = 60
"""After which a worker counts as hanging; nothing here takes long."""


class Program:
    """A worker in a process of its own."""

    def __init__(self, command: list[str], fds: Sequence[int] = ()) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            pass_fds=fds,
            bufsize=0,
            start_new_session=True,
        )
        self._pending = b""

    def tell(self, **command: Any) -> None:
        """Sends a command."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """The next reply."""
        assert self.process.stdout
        until = time.monotonic() + PATIENCE_S
        while b"\n" not in self._pending:
            left = max(0.0, until - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError("the worker is silent")
            if not (part := os.read(self.process.stdout.fileno(), 65536)):
                raise EOFError(f"the worker ended: {self.ended()}")
            self._pending += part
        line, self._pending = self._pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, **command: Any) -> dict[str, Any]:
        """A command and its reply."""
        self.tell(**command)
        return self.hear()

    def ended(self) -> tuple[int, bytes, bytes]:
        """Exit status, what was written after the last reply, and standard error."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, self._pending + out, err

    def __enter__(self) -> "Program":
        return self

    def kill(self) -> None:
        """Kills it and all that it has started, as hopcost does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.process.communicate()


def case(mechanism: str, payload: int, boundary: str, more: str = "") -> str:
    """A case of round trips."""
    return (
        f"roundtrip/{mechanism}?payload={payload}&boundary={boundary}&place=free&wait=block{more}"
    )


def attach_end(program: Program, spelling: str, role: str, fds: list[int], **more: Any) -> None:
    """Tells a worker to play one end."""
    seats = [{"role": role, "link": {"fds": fds, "names": []}}]
    program.tell(do="attach", case=spelling, seats=seats, deadline_ms=PATIENCE_S * 1000, **more)


def link(carrier: str) -> tuple[list[int], list[int]]:
    """The caller's and the callee's descriptors of a link."""
    if carrier == "pipe":
        opening = base.Opening(kernel.Case("roundtrip", carrier, {}), Path())
        caller, callee = kernel.make_pipes(opening)
        return list(caller), list(callee)
    kinds = {
        "unix-stream": socket.SOCK_STREAM,
        "unix-dgram": socket.SOCK_DGRAM,
        "unix-seqpacket": socket.SOCK_SEQPACKET,
    }
    if carrier == "udp":
        ends = descriptors.udp_pair()
    elif carrier in kinds:
        ends = socket.socketpair(socket.AF_UNIX, kinds[carrier])
    else:
        ends = descriptors.tcp_pair()
    return [ends[0].detach()], [ends[1].detach()]


class Samples:
    """The descriptor that takes samples."""

    def __init__(self) -> None:
        self._read, self.fd = os.pipe()

    def take(self, count: int) -> list[int]:
        """So many of them, which must be there already."""
        data = b""
        while len(data) < 8 * count and select.select([self._read], [], [], 0)[0]:
            data += os.read(self._read, 8 * count - len(data))
        return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]

    def empty(self) -> bool:
        """Whether there is none left."""
        return not select.select([self._read], [], [], 0)[0]

    def close(self) -> None:
        os.close(self._read)
        os.close(self.fd)
