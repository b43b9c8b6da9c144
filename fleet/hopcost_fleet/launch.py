"""Launchers: how a driver has a job done on a host. Here by a command, such as ssh or srun.

A launcher has a `name`; `hosts()` says who is there; `ask(host, job, most_s, send, receive)` has
the reply to a job. The file `send` goes with it, and the file behind the reply becomes `receive`.
`ask` raises `Lost` if there is no reply in time, and OSError if the file cannot be written here.
`words(host)` is the command by which another host has this one's shell run the line that follows.
"""

import asyncio
import base64
import json
import os
import shlex
import shutil
import signal
import subprocess
import zlib
from contextlib import suppress
from pathlib import Path

from .agent import CHUNK_BYTES, MARK
from .hosts import Host, Usage, distinct, name_of, printable

SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=3"
SRUN = "srun --nodes=1 --ntasks=1 --overlap --quiet --unbuffered --cpu-bind=none --mem=0"
# What a command takes beside its job.
START_S = 30.0
# How long an agent may take to end by itself, and then the command.
HANG_UP_S = 0.8
NOISE_MAX_BYTES = 1 << 20
FILE_MAX_BYTES = 1 << 30
# What a reply may hold.
REPLY = {"error": str, "missing": bool, "exit": int, "said": str, "bytes": int, "sha256": str}


class Lost(Exception):
    """Why a host gave no reply: one line."""


class Command:
    """Starts an agent for each job. Its stdin is the leash: when it ends, so does the agent."""

    def __init__(self, name: str, hosts: list[Host], words) -> None:
        self.name = name
        self.words = words
        self._hosts = hosts

    async def hosts(self) -> list[Host]:
        return self._hosts

    async def ask(self, host, job, most_s, send=None, receive=None) -> dict:
        with open(send or os.devnull, "rb") as file:
            try:
                child = await asyncio.create_subprocess_exec(
                    *self.words(host), line_of(job), stdin=file if send else subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                    limit=NOISE_MAX_BYTES,
                )  # fmt: skip
            except OSError as error:  # no file descriptors or processes are left
                raise Lost(f"it could not be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(START_S + most_s):
                return await reply_from(child.stdout, receive)
        except TimeoutError:
            raise Lost("no answer in time") from None
        finally:
            if child.stdin:
                child.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), HANG_UP_S)
            if child.returncode is None:
                with suppress(ProcessLookupError, TimeoutError):
                    os.killpg(child.pid, signal.SIGKILL)
                    await asyncio.wait_for(child.communicate(), HANG_UP_S)

    async def close(self) -> None:
        """Nothing is left of a job that has ended."""


def line_of(job: dict) -> str:
    """The line that does a job; its words are in base64, which no shell takes for anything else."""
    source = base64.b64encode(zlib.compress(Path(__file__).with_name("agent.py").read_bytes()))
    boot = f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{source.decode()}')))"
    return f'exec python3 -I -c "{boot}" {base64.b64encode(json.dumps(job).encode()).decode()}'


async def reply_from(stream: asyncio.StreamReader, receive: Path | None) -> dict:
    """The reply behind what shells and ssh have to say; the file behind that becomes `receive`."""
    noise, noise_bytes = "", 0
    try:
        async for line in stream:
            if line.startswith(MARK):
                break
            noise = printable(line.decode(errors="replace").strip(), 200) or noise
            noise_bytes += len(line)
            if noise_bytes > NOISE_MAX_BYTES:
                raise ValueError
        else:
            raise Lost(f"it ended without a reply{': ' if noise else ''}{noise}")
    except ValueError:  # of a line too, that is longer
        raise Lost("it writes more than 1 MiB and no reply") from None
    reply = checked(line.removeprefix(MARK).decode(errors="replace"))
    left = reply.get("bytes") or 0
    if receive and left <= FILE_MAX_BYTES:
        with open(receive, "wb") as file:
            while left > 0 and (block := await stream.read(min(left, CHUNK_BYTES))):
                file.write(block)
                left -= len(block)
    return reply


def checked(text: str) -> dict:
    """A reply, if it holds what an agent may answer."""
    try:
        reply = json.loads(text)
        if all(value is None or type(value) is REPLY[key] for key, value in reply.items()):
            return reply
    except (ValueError, KeyError, AttributeError, RecursionError):
        pass
    raise Lost(f"it answers `{printable(text, 60)}`, which no agent answers")


def by_ssh(hosts: list[Host], command: str | None) -> Command:
    """Hosts of a list, by ssh or by what stands in for it, which gets the address and a command."""
    words = shlex.split(command or SSH)
    if not words or shutil.which(words[0]) is None:
        raise Usage(f"`{words[0] if words else ''}`: no such program here")
    return Command("ssh", hosts, lambda host: [*words, host.address])


def by_srun() -> Command:
    """The nodes of the allocation of Slurm that this process runs in."""
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    if not nodes:
        raise Usage("--slurm works inside an allocation: start it by sbatch or salloc")
    listed = run_here(["scontrol", "show", "hostnames", nodes]).split()
    hosts = distinct([Host(name_of(node), node) for node in listed], "the allocation")
    words = lambda host: [*SRUN.split(), f"--nodelist={host.address}", "sh", "-c"]
    return Command("slurm", hosts, words)


def run_here(words: list[object]) -> str:
    """What a program prints here; raises `Usage` with its last line if it fails."""
    nowhere = subprocess.DEVNULL
    try:
        done = subprocess.run(words, stdin=nowhere, capture_output=True, timeout=60, text=True)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Usage(f"{words[0]}: {getattr(error, 'strerror', 'no answer in time')}") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Usage(said[-1] if said else f"{words[0]} ended with {done.returncode}")
    return done.stdout
