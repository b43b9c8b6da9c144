"""Slurm: the script that asks for the nodes and runs the driver on the first of them, which starts an agent on each by srun."""

import re
import shlex
import shutil
import sys
from pathlib import Path

from .agent import secret
from .engine import STOP
from .hosts import Usage, printable


def script(options: list[str], directory: Path, words: list[str]) -> str:
    """What is given to sbatch."""
    for option in options:
        if not re.fullmatch(r"-{1,2}[A-Za-z][A-Za-z-]*(=?[^\x00-\x1f]*)", option):
            raise Usage(f"--slurm: `{printable(option, 60)}` is no option of sbatch")
    lines = [
        "#!/bin/sh",
        "#SBATCH --job-name=hopcost-fleet",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --exclusive",
        "#SBATCH --no-requeue",
        # A node that fails is a host that is lost, and ends no other.
        "#SBATCH --no-kill",
        f"#SBATCH --output={directory}/slurm-%j.out",
        *(f"#SBATCH {option}" for option in options),
        "# One driver, on the first node. It starts an agent on each node with `srun --overlap`, and measures",
        "# hosts, then pairs. When the job ends, for whatever reason, Slurm ends the agents, and they what they started.",
        f"exec {shlex.join(words)}",
    ]
    return "\n".join(lines) + "\n"


def submit(options: str, directory: Path, arguments: list[str]) -> str:
    """Writes DIR/job.sh and submits it; what sbatch said."""
    words = [sys.executable, "-m", "hopcost_fleet", "run", *arguments, "--srun"]
    path = directory / "job.sh"
    try:
        made = script(shlex.split(options), directory, words)
        directory.mkdir(parents=True, exist_ok=True)
        secret(path, made)
    except ValueError as error:
        raise Usage(f"--slurm: {error}") from None
    except OSError as error:
        raise Usage(f"{path}: {error.strerror}") from None
    if shutil.which("sbatch") is None:
        raise Usage(f"there is no sbatch here; the script that it would get is {path}")
    # Slurm gives a job the limits of its sbatch, and the job has to write the program that it ships.
    code, out, err = STOP.output_of(["sbatch", "--parsable", path], 60, most_bytes=0)
    if code != 0:
        raise Usage(f"sbatch refuses {path}: {printable(err.strip(), 200)}")
    return out.strip()
