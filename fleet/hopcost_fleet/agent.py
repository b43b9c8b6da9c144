"""What runs on a host: obeys one job at a time, keeps no state but files, and is silent while hopcost measures.

This file alone travels: over ssh as text, to Dask workers by value. So it imports nothing of this package.
A job and its reply are dictionaries of JSON; a reply has `ok`, and `error` where that is false.
"""

import base64
import hashlib
import json
import os
import platform
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHUNK_BYTES = 1 << 20
# A file that hopcost writes on a host: its run file, and its stderr.
MOST_FILE_BYTES = 1 << 30
# SIGTERM, and after this SIGKILL.
GRACE_S = 5.0
# hopcost ends itself when its lease is over; what has not by then is ended by its agent.
AFTER_LEASE_S = 10.0


class Refusal(Exception):
    """Why a job was not done: one line."""


class Alone:
    """A watch for jobs that nobody takes back."""

    fds: tuple = ()
    poll_s = None

    def gone(self) -> bool:
        """Whether the driver is gone, or has taken the job back."""
        return False


def perform(job, watch=None):
    """Does a job; never raises."""
    try:
        doing = JOBS.get(job.get("do"))
        if doing is None:
            raise Refusal(f"the agent knows no job {job.get('do')!r}")
        return {"ok": True, **doing(job, watch or Alone())}
    except Refusal as refusal:
        return {"ok": False, "error": str(refusal)}
    except OSError as error:
        return {"ok": False, "error": f"{error.filename or job.get('do')}: {error.strerror}"}
    except Exception as error:  # whatever it is, the driver has to hear of it
        return {"ok": False, "error": f"{job.get('do')}: {type(error).__name__}: {error}"}


# --- places ---


def private(path):
    """A directory that is this user's own, made where it is missing."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.lstat(path)
    if not os.path.isdir(path) or os.path.islink(path) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise Refusal(f"{path}: is not a directory that only this user can write to")
    return path


def cache():
    """Where hopcost keeps what it can get again."""
    set_to = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(set_to) if set_to.startswith("/") else Path.home() / ".cache"
    return private(base / "hopcost")


def word(job, key, pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}"):
    """A field of a job that becomes part of a path."""
    value = job.get(key)
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise Refusal(f"the job's {key} is not what it must be")
    return value


def fleet_folder(job):
    return private(private(cache() / "fleet") / word(job, "fleet"))


def task_folder(job):
    return private(fleet_folder(job) / word(job, "task"))


def binary_of(job):
    """The binary to run: the one that was shipped, or the one that the host has."""
    if job.get("installed"):
        found = shutil.which(job["installed"])
        if found is None:
            raise Refusal(f"{job['installed']}: no such program here")
        return found
    return str(cache() / "bin" / f"hopcost-{word(job, 'sha256', '[0-9a-f]{64}')}")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def secret(path, text):
    """Writes what only this user may read."""
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(text)


# --- programs ---

# Those that this process waits for.
WAITED_FOR = set()


def begin(words, stdout, stderr, most_bytes, cwd=None):
    """Starts a program that leads a session of its own; none of its files grows larger than that."""
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=cwd, start_new_session=True
    )
    try:
        hard = resource.prlimit(child.pid, resource.RLIMIT_FSIZE)[1]
        if most_bytes and (hard == resource.RLIM_INFINITY or most_bytes < hard):
            resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    except ProcessLookupError:
        pass
    return child


def output_of(words, most_s, watch, most_bytes=CHUNK_BYTES):
    """A program to its end: exit code, stdout and stderr, each of less than 1 MiB. It can write no larger file, unless `most_bytes` is 0."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = begin(words, out, err, most_bytes)
        why = wait(child, most_s, watch)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(CHUNK_BYTES))
            if len(texts[-1]) == CHUNK_BYTES:
                why = "wrote more than 1 MiB"
    if why:
        raise Refusal(f"{' '.join(map(str, words[:2]))}: {why}")
    return (child.returncode, *texts)


def tail(text):
    """The last line of what a program wrote to stderr, fit to be shown."""
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return "".join(c if c.isprintable() else " " for c in lines[-1])[:300] if lines else "it wrote nothing"


def tail_of(path):
    """The same of a file, however large."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4096))
        full = "it wrote more than 1 GiB: " if size >= MOST_FILE_BYTES else ""
        return full + tail(file.read())


# --- jobs ---


def hello(job, _watch):
    """Who is there, and whether the binary is."""
    path = Path(binary_of(job))
    reached = os.environ.get("SSH_CONNECTION", "").split()
    return {
        "pid": os.getpid(),
        "machine": platform.machine(),
        "node": socket.gethostname(),
        "address": reached[2] if len(reached) == 4 else "",
        "has_binary": bool(job.get("installed")) or (path.is_file() and sha256(path) == job["sha256"]),
    }


def clock(job, _watch):
    """What time it is here."""
    return {"time_s": time.time()}


def put(job, _watch):
    """A part of the binary. The last one is believed if the hash of all is right, and not before."""
    folder = private(cache() / "bin")
    wanted = word(job, "sha256", "[0-9a-f]{64}")
    # Many hosts may share this directory.
    part = folder / f".{wanted}.{socket.gethostname()[:64]}.{os.getpid()}"
    offset = int(job["offset"])
    for old in folder.glob(".*") if offset == 0 else ():
        if time.time() - old.lstat().st_mtime > 86400:  # of an agent that was killed
            old.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (os.O_TRUNC if offset == 0 else 0)
    fd = os.open(part, flags, 0o700)
    with os.fdopen(fd, "r+b" if offset else "wb") as file:
        file.seek(offset)
        try:
            file.write(base64.b64decode(job["data"]))
            file.flush()
        except OSError:
            part.unlink(missing_ok=True)
            raise
        if not job["last"]:
            return {}
        os.fsync(file.fileno())
    if sha256(part) != wanted:
        part.unlink(missing_ok=True)
        raise Refusal("the binary arrived changed: its SHA-256 is another")
    part.chmod(0o700)
    part.rename(folder / f"hopcost-{wanted}")
    return {}


def facts(job, watch):
    """What `hopcost facts` says, with the clock looked at on either side."""
    code, out, err = output_of([binary_of(job), "facts"], 20, watch)
    if code != 0:
        raise Refusal(f"hopcost facts ended with {code}: {tail(err)}")
    try:
        said = json.loads(out)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise Refusal("hopcost facts did not answer with a JSON object")
    return {"facts": said}


def command(job, place, arguments):
    """The words of a hopcost that measures: it freezes this process in every trial, and ends with it or the lease."""
    words = [binary_of(job), *arguments, "--agent", str(os.getpid()), "--lease", f"{float(job['lease_s']):g}s"]
    if job.get("suite_text") is not None:
        (place / "suite.toml").write_text(job["suite_text"], encoding="utf-8")
        words += ["--suite", str(place / "suite.toml")]
    # Whatever a case is called, it is no option.
    return [*words, "--", *job["cases"]] if job.get("cases") else words


def run(job, watch):
    """Measures. The run file stays here until it is asked for."""
    place = task_folder(job)
    for old in place.iterdir():
        old.unlink()
    words = command(job, place, ["run", *job["arguments"], "--out", str(place / "run.hopcost")])
    with open(place / "stderr", "wb") as stderr:
        child = begin(words, subprocess.DEVNULL, stderr, MOST_FILE_BYTES, place)
        why = wait(child, float(job["lease_s"]) + AFTER_LEASE_S, watch)
    said = tail_of(place / "stderr")
    result = {"exit": child.returncode, "said": f"{why}: {said}" if why else said}
    # Whoever asks after the driver is gone gets it from here.
    (place / "ended").write_text(json.dumps(result))
    return {**result, **left(place)}


def left(place):
    """The run file that a task left: its size and hash, or none."""
    path = place / "run.hopcost"
    if not path.is_file():
        return {"bytes": None}
    return {"bytes": path.stat().st_size, "sha256": sha256(path)}


def wait(child, most_s, watch):
    """Waits until a child has ended, asleep: not even a timer, unless the watch wants one. Why it was ended, if it was."""
    until = time.monotonic() + most_s
    fd = os.pidfd_open(child.pid)
    WAITED_FOR.add(child)
    try:
        while child.poll() is None:
            rest = until - time.monotonic()
            ready = select.select([fd, *watch.fds], [], [], max(0.0, min(rest, watch.poll_s or rest)))[0]
            if fd in ready:
                continue
            if watch.gone():
                return "the driver went away"
            if time.monotonic() >= until:
                return f"it did not end within {most_s:g} s"
    finally:
        os.close(fd)
        if child.returncode is None:
            end(child.pid)
        child.wait()
        WAITED_FOR.discard(child)
    return ""


def end(pid):
    """Ends a process that leads a session of its own, and whatever else is in that."""
    for sent, most_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            os.killpg(pid, sent)
            if select.select([fd], [], [], most_s)[0]:
                return
        except ProcessLookupError:
            return
        finally:
            os.close(fd)


def fetch(job, _watch):
    """A part of the run file."""
    with open(task_folder(job) / "run.hopcost", "rb") as file:
        file.seek(int(job["offset"]))
        return {"data": base64.b64encode(file.read(CHUNK_BYTES)).decode()}


def look(job, _watch):
    """What a task of an earlier driver left here."""
    place = fleet_folder(job) / word(job, "task")
    if not (place / "ended").is_file():
        return {"exit": None}
    return {**json.loads((place / "ended").read_text()), **left(place)}


def drop(job, _watch):
    """Forgets a task, or with no task the whole fleet."""
    shutil.rmtree(task_folder(job) if job.get("task") else fleet_folder(job), ignore_errors=True)
    return {}


# Read from outside, so that reading costs the agent nothing: CPU time of all its threads in
# nanoseconds, and how often they gave up their CPU, which is how often they woke.
COST = r"""
look() { cat /proc/$1/task/*/schedstat | awk '{n += $1} END {printf "%d ", n}'
         cat /proc/$1/task/*/status | awk '/^voluntary/ {n += $2} END {printf "%d ", n}'; cat /proc/uptime; }
trap 'kill -CONT $1' EXIT
[ "$3" = idle ] || kill -STOP $1
sleep 0.2; look $1; sleep $2; look $1
"""


def cost(job, watch):
    """What this agent costs its host while it does nothing, or while it is stopped."""
    seconds = float(job["seconds"])
    words = ["sh", "-c", COST, "sh", str(os.getpid()), f"{seconds:g}", "frozen" if job["frozen"] else "idle"]
    _code, out, err = output_of(words, seconds + 20, watch)
    try:
        before, after = ([float(x) for x in line.split()[:3]] for line in out.decode().splitlines())
    except ValueError:
        raise Refusal(f"what the agent costs could not be read: {tail(err)}") from None
    wall_s = after[2] - before[2]
    return {"cpu_percent": (after[0] - before[0]) / wall_s / 1e7, "wakeups_per_s": (after[1] - before[1]) / wall_s}


JOBS = {
    "hello": hello, "clock": clock, "put": put, "facts": facts, "run": run, "fetch": fetch,
    "look": look, "drop": drop, "cost": cost,
}  # fmt: skip


# --- over a pipe: a job a line, a reply a line ---


class Lines:
    """A watch on the pipe: whatever comes while a job runs, its end above all, takes the job back."""

    fds = (0,)
    poll_s = None

    def gone(self):
        return bool(select.select([0], [], [], 0)[0])


def main():
    """Obeys until the pipe ends, or SIGTERM; then nothing that was started here is left."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # The end of the pipe says it, and lets clean up. What is ignored would be so in hopcost too.
    signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        obey()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def obey():
    """A job after the other."""
    pending = b""
    while True:
        while b"\n" not in pending:
            block = os.read(0, CHUNK_BYTES)
            if not block:
                return
            pending += block
        line, _, pending = pending.partition(b"\n")
        job = json.loads(line)
        reply = perform(job, Lines())
        text = json.dumps({**reply, "id": job.get("id")}) + "\n"
        sys.stdout.write(text)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
