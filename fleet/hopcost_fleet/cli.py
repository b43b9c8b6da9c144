"""The command line. stdout gets one document, stderr the rest; bad input is one line and exit code 2."""

import argparse
import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

from . import VERSION, plan
from .driver import Driver, Settings
from .engine import Engine
from .hosts import Usage, printable, read_hosts, read_labels, seconds
from .journal import SCHEMA, Journal
from .slurm import submit

PAIR_CASES = ["roundtrip/tcp?boundary=host", "roundtrip/udp?boundary=host"]


class Aborted(BaseException):
    """SIGINT or SIGTERM."""


def main(arguments: list[str] | None = None) -> int:
    """The exit code."""
    options = parser().parse_args(arguments)
    try:
        return options.do(options)
    except Usage as error:
        print(f"hopcost-fleet: {printable(error, 2000)}", file=sys.stderr)
        return 2
    except Aborted:
        print("hopcost-fleet: aborted before anything was measured", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """All options."""
    made = argparse.ArgumentParser(
        prog="hopcost-fleet", description="Measures many hosts and the pairs between them: Dask, ssh or Slurm drives, hopcost measures."
    )
    made.add_argument("--version", action="version", version=f"hopcost-fleet {VERSION}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="measure a fleet", description="Measures a suite or cases on every host, then pairs.")
    run.set_defaults(do=start)
    add = run.add_argument
    add("what", nargs="*", metavar="SUITE|CASE", help="a suite (a name or a TOML file) or cases, once a host")
    engine = run.add_mutually_exclusive_group()
    engine.add_argument("--dask", metavar="tcp://HOST:PORT", help="a Dask scheduler, each of whose workers is a host")
    engine.add_argument("--ssh", metavar="FILE", type=Path, help="a list: [USER@]ADDRESS [name=NAME] [bind=ADDRESS] [KEY=VALUE…]")
    engine.add_argument("--slurm", metavar="OPTIONS", nargs="?", const="", help="submit a job with these options of sbatch")
    engine.add_argument("--srun", action="store_true", help=argparse.SUPPRESS)
    engine.add_argument("--simulate", metavar="N", type=int, help=argparse.SUPPRESS)
    add("--pairs", metavar="KIND", help="which pairs: all, ring, sample:N, none (none)")
    add("--pair-cases", metavar="CASE", nargs="+", help="what is measured between two hosts (round trips over tcp and udp)")
    add("--out", metavar="DIR", type=Path, help="where to put the fleet (hopcost-fleet-ID)")
    add("--resume", metavar="DIR", type=Path, help="go on with a fleet; give the engine again")
    add("--budget", metavar="TIME", help="time for all of it: rounds of pairs that do not fit are not begun")
    add("--host-time", metavar="TIME", help="time for the suite on a host (the suite's own)")
    add("--pair-time", metavar="TIME", help="time for a pair (10s)")
    add("--lease", metavar="TIME", help="after this a task has failed (15m on a host; from --host-time and --pair-time)")
    add("--label", metavar="FILE", type=Path, help="labels of hosts: NAME KEY=VALUE… a line")
    add("--seed", metavar="N", type=int, help="of the order and choice of pairs (random, stored)")
    add("--hopcost", metavar="FILE", type=Path, help="the binary to ship (the one beside this program)")
    add("--installed", metavar="PROGRAM", nargs="?", const="hopcost", help="ship nothing: use what the hosts have")
    add("--ssh-command", metavar="WORDS", help="in place of ssh: gets the address and a command")
    add("--no-report", action="store_true", help="end without `hopcost fleet report`")
    add("--cost-time", metavar="TIME", default="2s", help=argparse.SUPPRESS)
    add("--recorded", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    agent = commands.add_parser("agent", help="be the quiet Dask worker of this host", description="Starts a Dask worker in the quiet profile.")
    agent.add_argument("scheduler", metavar="tcp://HOST:PORT")
    agent.add_argument("more", nargs=argparse.REMAINDER, metavar="OPTION", help="options of `dask worker` (--name, --host, --interface …)")
    agent.set_defaults(do=be_agent)
    return made


def be_agent(options: argparse.Namespace) -> int:
    """Becomes a Dask worker."""
    from .dask import QUIET, WORKER

    words = [sys.executable, "-m", "distributed.cli.dask_worker", options.scheduler, *WORKER, *options.more]
    os.execve(sys.executable, words, {**os.environ, **QUIET})


def start(options: argparse.Namespace) -> int:
    """Measures a fleet, or goes on with one."""
    if options.slurm is not None:
        return start_job(options)
    binary = find_binary(options.hopcost)
    facts = own_facts(binary)
    settings, labels = (None, None) if options.resume else read_settings(options, binary)
    if options.resume and (options.what or options.pairs or options.pair_cases or options.out):
        raise Usage("--resume measures what the fleet was to measure: give only the engine beside it")
    # From here on a signal ends the fleet, not this process.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, abort_once)
    if options.resume:
        journal = Journal(options.resume, new=False)
        settings = stored_settings(journal)
    engine = make_engine(options, facts)
    if not options.resume:
        fleet = f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        journal = Journal(options.out or Path(f"hopcost-fleet-{fleet}"), new=True)
        seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
        journal.set(
            schema=SCHEMA, id=fleet, created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}", suite=settings.suite or "",
            cases=settings.cases, pairs=settings.pairs, engine=engine.name, seed=str(seed), hopcost=str(facts["hopcost"]),
            checksum=str(facts["checksum"]), settings=asdict(settings), labels=labels,
        )  # fmt: skip
    journal.set(status="running")
    driver = Driver(journal, engine, settings, binary, facts, seconds(options.cost_time))
    try:
        driver.run()
    except Aborted:
        driver.abort()
    except (sqlite3.Error, OSError) as error:
        # The driver's own disk, above all. What is done is in the journal; nothing goes on without it.
        print(f"hopcost-fleet: {journal.directory}: {error}; nothing goes on without its journal", file=sys.stderr)
        engine.abort()
        return 1
    finally:
        engine.close()
    return finish(journal, binary, options)


def start_job(options: argparse.Namespace) -> int:
    """Writes the script for sbatch, and submits it."""
    words = [*options.what]
    for name in ("pairs", "budget", "host_time", "pair_time", "lease", "label", "seed", "hopcost", "installed"):
        value = getattr(options, name)
        if value is not None:
            given = str(value.resolve() if isinstance(value, Path) else value)
            words.append(f"--{name.replace('_', '-')}={given}")
    words += ["--pair-cases", *options.pair_cases] if options.pair_cases else []
    words += ["--no-report"] if options.no_report else []
    directory = options.resume or options.out or Path(f"hopcost-fleet-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}")
    words += ["--resume" if options.resume else "--out", str(directory.resolve())]
    job = submit(options.slurm, directory.resolve(), words)
    print(f"job {job} submitted; its script is {directory}/job.sh\nhopcost fleet report {directory}")
    return 0


def finish(journal: Journal, binary: Path, options: argparse.Namespace) -> int:
    """The report, and what the exit code is."""
    counts, hosts = journal.counts(), journal.host_rows()
    aborted = journal.get("status") == "aborted"
    out = [row for row in hosts if row["state"] != "ready"]
    journal.close()
    directory = journal.directory
    failed = counts.get("failed", 0) + counts.get("skipped", 0)
    said = f"{len(hosts) - len(out)} of {len(hosts)} hosts, {counts.get('done', 0)} tasks done, {failed} not"
    print(f"hopcost-fleet: {said}; {directory}{'; aborted, --resume goes on' if aborted else ''}", file=sys.stderr)
    for row in out[:5]:
        print(f"hopcost-fleet: {row['name']} is {row['state']}: {printable(row['reason'])}", file=sys.stderr)
    code = 130 if aborted else 1 if failed or out else 0
    if options.no_report or aborted:
        return code
    sys.stdout.flush()
    shown = subprocess.call([str(binary), "fleet", "report", str(directory)])
    return code or shown


def abort_once(_number: int, _frame: object) -> None:
    """A signal; the next of the same kind ends the driver at once."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    raise Aborted


def find_binary(given: Path | None) -> Path:
    """The binary that is shipped: given, or beside this program, or on the path."""
    beside = Path(sys.argv[0]).resolve().parent / "hopcost"
    found = given or (beside if beside.is_file() else Path(shutil.which("hopcost") or beside))
    if not found.is_file() or not os.access(found, os.X_OK):
        raise Usage(f"{found}: no hopcost to ship; pip installs it beside this program, or give --hopcost FILE")
    return found.resolve()


def own_facts(binary: Path) -> dict:
    """What the binary says of itself here."""
    try:
        done = subprocess.run([binary, "facts"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        facts = json.loads(done.stdout) if done.returncode == 0 else {}
        if all(key in facts for key in ("hopcost", "checksum", "protocol")):
            return facts
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        pass
    raise Usage(f"{binary}: does not know `facts`; fleets need a hopcost that does")


def read_settings(options: argparse.Namespace, binary: Path) -> tuple[Settings, dict]:
    """What is to be measured, judged before any host is asked."""
    settings = Settings(pairs=options.pairs or "none", pair_cases=options.pair_cases or PAIR_CASES)
    plan.check(settings.pairs)
    what = options.what
    if len(what) == 1 and what[0].endswith(".toml"):
        try:
            settings.suite_text = Path(what[0]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(f"{what[0]}: {getattr(error, 'strerror', None) or error}") from None
        words = ["--suite", what[0]]
    elif len(what) == 1 and what[0] in suites(binary):
        settings.suite = what[0]
        words = ["--suite", what[0]]
    else:
        settings.cases = words = what
    if not what and settings.pairs == "none":
        raise Usage("nothing to measure: name a suite or cases, or give --pairs")
    if any(case.startswith("-") for case in [*what, *settings.pair_cases]):
        raise Usage("options of hopcost run are not options of a fleet")
    if what:
        dry_run(binary, words)
    if options.host_time:
        settings.host_time, settings.host_time_s = options.host_time, seconds(options.host_time)
    if options.pair_time:
        settings.pair_time, settings.pair_time_s = options.pair_time, seconds(options.pair_time)
    settings.budget_s = seconds(options.budget) if options.budget else None
    settings.lease_s = seconds(options.lease) if options.lease else None
    settings.installed = options.installed
    return settings, read_labels(options.label) if options.label else {}


def suites(binary: Path) -> set[str]:
    """The names of suites that the binary has."""
    done = subprocess.run([binary, "list", "--suites"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return {line.split()[0] for line in done.stdout.splitlines() if line.strip()}


def dry_run(binary: Path, words: list[str]) -> None:
    """Has the binary refuse here what it would refuse on every host."""
    done = subprocess.run([binary, "run", *words, "--dry-run"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Usage((done.stderr.strip().splitlines() or [f"hopcost ended with {done.returncode}"])[-1].removeprefix("hopcost: "))


def stored_settings(journal: Journal) -> Settings:
    """Of a fleet that is gone on with."""
    try:
        settings = Settings(**json.loads(journal.get("settings") or ""))
        plan.check(settings.pairs)
    except (ValueError, TypeError):
        raise Usage(f"{journal.directory}: fleet.sqlite does not say what was to be measured") from None
    journal.check()
    return settings


def make_engine(options: argparse.Namespace, facts: dict) -> Engine:
    """The engine that was asked for."""
    if options.dask:
        from .dask import Dask

        return Dask(options.dask)
    if options.simulate is not None:
        from .simulated import Simulated

        return Simulated(options.simulate, options.recorded, options.seed or 1, facts)
    from .remote import by_srun, by_ssh

    if options.ssh:
        return by_ssh(read_hosts(options.ssh), options.ssh_command)
    if options.srun:
        return by_srun()
    raise Usage("give an engine: --dask tcp://HOST:PORT, --ssh FILE or --slurm")
