"""What runs on a host: it does one job, asleep while hopcost measures, and ends with its driver.

This file alone travels: in the command of ssh and srun, by value to Dask's workers. So it imports
nothing of this package, and Python 3.9 is enough. A job and its reply are JSON objects; a reply has
an `error` if the job was not done. The bytes of a file may follow it.
"""

import base64
import hashlib
import json
import math
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

# Precedes a reply: shells and ssh write to the same pipe.
MARK = b"hopcost-fleet-reply "
CHUNK_BYTES = 1 << 20
# From SIGTERM to SIGKILL.
GRACE_S = 5.0
# The exit code of a hopcost whose lease is over: that of timeout(1).
LEASE_OVER = 124
OVER = "the lease is over"
# Becomes the program of its arguments, which gets SIGTERM when the agent is gone (prctl(2):
# PR_SET_PDEATHSIG).
END_WITH_AGENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15); os.execv(sys.argv[1], sys.argv[1:])"
)


class Refusal(Exception):
    """Why a job was not done: one line."""


def perform(job, sent, leash):
    """Does a job and never raises: its reply, and the file that follows it, if there is one.

    `sent` is the file that came with the job; `leash` knows whether the driver is gone.
    """
    try:
        return JOBS[job["do"]](job, sent, leash)
    except Refusal as refusal:
        error = str(refusal)
    except OSError as found:
        error = f"{found.filename or job['do']}: {found.strerror}"
    except Exception as found:  # whatever it is, the driver has to hear of it
        error = f"{job.get('do')}: {type(found).__name__}: {found}"
    return {"error": error}, None


def own_folder(*parts):
    """A folder in hopcost's cache, made if it is missing, that only this user can change."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    path = Path(base) if base.startswith("/") else Path.home() / ".cache"
    for part in ("hopcost", *parts):
        path = path / part
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not is_own or found.st_mode & 0o022:
            raise Refusal(f"{path}: is not a folder that only this user can write to")
    return path


def program_of(job):
    """The hopcost that the driver brings."""
    return own_folder("bin") / f"hopcost-{job['sha256']}"


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def last_line(text):
    """The last line that a program wrote, fit to be shown."""
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    shown = "".join(c if c.isprintable() else " " for c in lines[-1])[:300] if lines else ""
    return shown or "it wrote nothing"


# --- jobs ---


def bring(job, sent, _leash):
    """Stores the hopcost that was sent, under its name only if all of it is right; tries it."""
    program = program_of(job)
    # Many hosts may share this folder.
    part = program.with_name(f".{program.name}.{socket.gethostname()[:64]}")
    if job.get("sent"):
        try:
            with open(part, "wb") as file:
                shutil.copyfileobj(sent, file, CHUNK_BYTES)
            part.chmod(0o700)
            if sha256(part) == job["sha256"]:
                part.rename(program)
        finally:
            part.unlink(missing_ok=True)
    if not program.is_file() or sha256(program) != job["sha256"]:
        return {"missing": True}, None
    words = [program, "--version"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    if done.returncode != 0:
        raise Refusal(f"hopcost ended with {done.returncode}: {last_line(done.stderr)}")
    return {}, None


def run(job, _sent, leash):
    """Measures, until the lease is over. The run file stays here."""
    for name in job["stored"]:
        shutil.rmtree(own_folder("fleet", job["fleet"]) / name, ignore_errors=True)
    place = own_folder("fleet", job["fleet"], job["task"])
    words = [sys.executable, "-c", END_WITH_AGENT, program_of(job), "run", *job["arguments"]]
    words += ["--out", place / "run.hopcost"]
    if job["suite_text"] is not None:
        (place / "suite.toml").write_text(job["suite_text"], encoding="utf-8")
        words += ["--suite", place / "suite.toml"]
    # Whatever a case is called, it is no option.
    words += ["--", *job["cases"]] if job["cases"] else []
    nowhere = subprocess.DEVNULL
    with open(place / "stderr", "wb") as stderr:
        child = subprocess.Popen(
            words, stdin=nowhere, stdout=nowhere, stderr=stderr, cwd=place, start_new_session=True
        )
        why = wait(child, job["lease_s"], leash)
    said = last_line((place / "stderr").read_bytes())
    code = LEASE_OVER if why == OVER else child.returncode
    ended = {"exit": code, "said": f"{why}: {said}" if why else said}
    # For a driver that has lost this reply, or a later one.
    (place / "ended").write_text(json.dumps(ended))
    return fetch(job, None, leash)[0], None


def fetch(job, _sent, _leash):
    """How a task ended, and its run file; nothing of a task that did not end here."""
    place = own_folder("fleet", job["fleet"], job["task"])
    if not (place / "ended").is_file():
        return {}, None
    reply, file = json.loads((place / "ended").read_text()), place / "run.hopcost"
    if not file.is_file():
        return reply, None
    return {**reply, "bytes": file.stat().st_size, "sha256": sha256(file)}, file


def drop(job, _sent, _leash):
    """Forgets the fleet; the program stays for the next one."""
    shutil.rmtree(own_folder("fleet", job["fleet"]), ignore_errors=True)
    return {}, None


JOBS = {"bring": bring, "run": run, "fetch": fetch, "drop": drop}


def wait(child, most_s, leash):
    """Waits for the end of a program, asleep; ends it if it takes too long or the driver is gone.

    Says why it ended it.
    """
    until = time.monotonic() + most_s
    fd = os.pidfd_open(child.pid)
    try:
        while True:
            rest_s = max(0.0, until - time.monotonic())
            if fd in select.select([fd, *leash.fds], [], [], min(rest_s, leash.poll_s))[0]:
                return ""
            if leash.gone():
                return "the driver went away"
            if rest_s == 0.0:
                return OVER
    finally:
        os.close(fd)
        for sent in (signal.SIGTERM, signal.SIGKILL):
            try:
                if child.poll() is None:
                    # It leads a session, whose other processes end too.
                    os.killpg(child.pid, sent)
                    child.wait(GRACE_S)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass  # it has just ended, or hears SIGKILL alone


class Pipe:
    """The leash of ssh and srun: whatever comes over stdin, its end above all, takes a job back."""

    fds = (0,)
    poll_s = math.inf

    def gone(self):
        return bool(select.select([0], [], [], 0)[0])


def main():
    """Does the job of the command line. When SIGTERM ends it, nothing that it started is left."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # The end of the pipe says it too, and lets clean up. Ignored here, it would be so in hopcost.
    signal.signal(signal.SIGHUP, lambda *_: None)
    job = json.loads(base64.b64decode(sys.argv[1]))
    reply, path = perform(job, sys.stdin.buffer, Pipe())
    out = sys.stdout.buffer
    out.write(MARK + json.dumps(reply).encode() + b"\n")
    if path:
        with open(path, "rb") as file:
            shutil.copyfileobj(file, out, CHUNK_BYTES)
    out.flush()


if __name__ == "__main__":
    main()
