"""The command line. stdout gets one document, stderr the rest; bad input is one line and exit code 2."""

import argparse
import json
import os
import re
import secrets
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

from . import VERSION, agent
from .driver import Driver, Settings
from .engine import STOP, Aborted, Engine
from .hosts import Usage, printable, read_hosts, read_labels, seconds
from .journal import SCHEMA, Journal, index_runs, own
from .slurm import submit

INSTALL = "pip install 'hopcost[fleet]', or Debian's python3-pandas python3-scipy python3-matplotlib"
PAIR_CASES = ["roundtrip/tcp?boundary=host", "roundtrip/udp?boundary=host"]


def main(arguments: list[str] | None = None) -> int:
    """The exit code."""
    options = parser().parse_args(arguments)
    try:
        return options.do(options)
    except Usage as error:
        print(f"hopcost-fleet: {printable(error, 2000)}", file=sys.stderr)
        return 2
    except Aborted:
        print("hopcost-fleet: aborted", file=sys.stderr)
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
    add("what", nargs="*", metavar="SUITE|CASE", help="a suite (a name or a TOML file) or cases, once per host")
    engine = run.add_mutually_exclusive_group()
    engine.add_argument("--dask", metavar="tcp://HOST:PORT", help="a Dask scheduler, each of whose workers is a host")
    engine.add_argument("--ssh", metavar="FILE", type=Path, help="a list: [USER@]ADDRESS [name=NAME] [bind=ADDRESS] [KEY=VALUE…]")
    engine.add_argument("--slurm", metavar="OPTIONS", nargs="?", const="", help="submit a job with these options of sbatch")
    engine.add_argument("--srun", action="store_true", help=argparse.SUPPRESS)
    add("--pairs", metavar="KIND", help="which pairs: all, ring, sample:N, none (none)")
    add("--pair-cases", metavar="CASE", nargs="+", help="what is measured between two hosts (round trips over tcp and udp)")
    add("--out", metavar="DIR", type=Path, help="where to put the fleet (hopcost-fleet-ID)")
    add("--resume", metavar="DIR", type=Path, help="continue a fleet; give the engine again, and --installed if it was given")
    add("--budget", metavar="TIME", help="time for everything; rounds of pairs that do not fit are left out")
    add("--host-time", metavar="TIME", help="time for the suite on a host (the suite's own)")
    add("--pair-time", metavar="TIME", help="time for a pair (10s)")
    add("--lease", metavar="TIME", help="after this a task has failed (15m on a host; from --host-time and --pair-time)")
    add("--label", metavar="FILE", type=Path, help="labels of hosts: NAME KEY=VALUE… per line")
    add("--seed", metavar="N", type=int, help="of the order and choice of pairs (random, stored)")
    add("--hopcost", metavar="FILE", type=Path, help="the binary to ship (the one beside this program)")
    add("--installed", metavar="PROGRAM", nargs="?", const="hopcost", help="ship nothing: use what the hosts have")
    add("--ssh-command", metavar="WORDS", help="instead of ssh: gets the address and a command")
    add("--peer-command", metavar="WORDS", help="how a host of a pair starts a command on the other: gets the address and a command (as the engine; ssh of Dask's hosts)")
    add("--no-report", action="store_true", help="end without the report")
    add("--cost-time", metavar="TIME", default="2s", help=argparse.SUPPRESS)
    report = commands.add_parser("report", help="show what a fleet measured", description="Shows outliers among hosts, what they share, and slow pairs.")
    report.set_defaults(do=show)
    add = report.add_argument
    add("directory", metavar="DIR", type=Path, help="the fleet's directory, also while the fleet is measured")
    add("--format", choices=["text", "json", "html"], default="text", help="how to print it (text)")
    add("--details", action="store_true", help="print every case, host and group, not one screen")
    add("--output", "-o", metavar="FILE", type=Path, help="print to this file (stdout)")
    add("--margin", metavar="PERCENT", default="3%", help="treat ratios within this as equal (3%%)")
    add("--hopcost", metavar="FILE", type=Path, help="the binary that reads run files (the one beside this program)")
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
    STOP.listen()
    # What the driver writes nobody else may change.
    os.umask(os.umask(0) | 0o022)
    if options.slurm is not None:
        return start_job(options)
    binary = find_binary(options.hopcost)
    facts = own_facts(binary)
    if options.resume:
        given = (options.what, options.pairs, options.pair_cases, options.out, options.budget, options.host_time,
                 options.pair_time, options.lease, options.label)  # fmt: skip
        if any(given):
            raise Usage("--resume measures what the fleet planned: give only the engine with it")
        journal = Journal(options.resume, new=False)
        settings = stored_settings(journal, options, binary)
    else:
        settings = read_settings(options, binary)
    engine = make_engine(options)
    if not options.resume:
        fleet = f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        journal = Journal(options.out or Path(f"hopcost-fleet-{fleet}"), new=True)
        seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
        journal.set(
            schema=SCHEMA, id=fleet, created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}", suite=settings.suite or "",
            cases=settings.cases, pairs=settings.pairs, engine=engine.name, seed=str(seed), hopcost=str(facts["hopcost"]),
            checksum=str(facts["checksum"]), settings=asdict(settings),
        )  # fmt: skip
    journal.set(status="running")
    driver = Driver(journal, engine, settings, binary, facts, seconds(options.cost_time), options.installed or "",
                    options.peer_command or "")  # fmt: skip
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
    for name in ("pairs", "budget", "host_time", "pair_time", "lease", "label", "seed", "hopcost", "installed", "peer_command"):
        value = getattr(options, name)
        if value is not None:
            given = str(value.resolve() if isinstance(value, Path) else value)
            words.append(f"--{name.replace('_', '-')}={given}")
    words += ["--pair-cases", *options.pair_cases] if options.pair_cases else []
    words += ["--no-report"] if options.no_report else []
    directory = options.resume or options.out or Path(f"hopcost-fleet-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}")
    words += ["--resume" if options.resume else "--out", str(directory.resolve())]
    if options.resume:
        own(directory)
    job = submit(options.slurm, directory.resolve(), words)
    print(f"job {job} submitted; its script is {directory}/job.sh\nhopcost fleet report {directory}")
    return 0


def finish(journal: Journal, binary: Path, options: argparse.Namespace) -> int:
    """The report, and the exit code, which says what became of the tasks."""
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
    if aborted:
        return code
    is_indexed = bring_up_to_date(directory, binary)
    if options.no_report:
        return code
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(report_of(directory, is_indexed, 0.03, "text", False))
        sys.stdout.buffer.flush()
    except Usage as error:
        # What was measured is there all the same.
        print(f"hopcost-fleet: no report: {error}", file=sys.stderr)
    return code


def show(options: argparse.Namespace) -> int:
    """Prints the report of a fleet."""
    STOP.listen()
    share = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", options.margin)
    margin = float(share[1]) / 100 if share else 0.0
    if not 0.001 <= margin <= 1:
        raise Usage(f"--margin {printable(options.margin, 40)} is not a percentage from 0.1% to 100%")
    if not (options.directory / "fleet.sqlite").exists():
        raise Usage(f"{options.directory}: holds no fleet.sqlite")
    is_indexed = bring_up_to_date(options.directory, find_binary(options.hopcost))
    text = report_of(options.directory, is_indexed, margin, options.format, options.details)
    try:
        if options.output:
            options.output.write_bytes(text)
        else:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
    except OSError as error:
        raise Usage(f"{options.output or 'stdout'}: {error.strerror}") from None
    return 0


def report_of(directory: Path, is_indexed: bool, margin: float, form: str, details: bool) -> bytes:
    """The report of an index."""
    try:
        from . import index, page, report

        if form == "html":
            import matplotlib  # noqa: F401
    except ImportError as error:
        raise Usage(f"{error.name} is not here: {INSTALL}") from None
    try:
        found = report.report(index.open_index(directory, is_indexed), margin)
    except (sqlite3.Error, ValueError) as error:
        raise Usage(f"{directory}: fleet.sqlite cannot be read: {error}") from None
    write = {"text": lambda: page.to_text(found, details), "json": lambda: page.to_json(found), "html": lambda: page.to_html(found)}
    return write[form]().encode()


def bring_up_to_date(directory: Path, binary: Path) -> bool:
    """Has hopcost read new run files, and stores in the index what they hold; whether it could be written."""
    try:
        index_runs(directory, lambda files: run_documents(binary, files))
        return True
    except (Usage, OSError, sqlite3.Error) as error:
        STOP.check()
        print(f"hopcost-fleet: not indexed: {printable(error, 1000)}", file=sys.stderr)
        return False


def run_documents(binary: Path, files: list[Path]) -> list[str]:
    """What run files hold, a JSON text each."""
    if not files:
        return []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # They may be as large as they have to, and take as long.
        child = agent.begin([binary, "fleet", "index", "--", *files], out, err, None)
        agent.wait(child, float("inf"), STOP)
        STOP.check()
        out.seek(0)
        err.seek(0)
        lines = out.read().decode().split("\n")[:-1]
        if child.returncode or len(lines) != len(files):
            raise Usage(f"{binary} fleet index ended with {child.returncode}: {agent.tail(err.read(agent.CHUNK_BYTES))}")
    return lines


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
        code, out, _ = STOP.output_of([binary, "facts"])
        facts = json.loads(out) if code == 0 else {}
        if all(key in facts for key in ("hopcost", "checksum", "protocol")):
            return facts
    except (ValueError, TypeError, RecursionError):
        pass
    raise Usage(f"{binary}: does not know `facts`; fleets need a hopcost that does")


def read_settings(options: argparse.Namespace, binary: Path) -> Settings:
    """What is to be measured, judged before any host is asked."""
    what, suite, text = options.what, None, None
    if len(what) == 1 and what[0].endswith(".toml"):
        try:
            text = Path(what[0]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(f"{what[0]}: {getattr(error, 'strerror', None) or error}") from None
    elif len(what) == 1 and what[0] in suites(binary):
        suite = what[0]
    if not what and (options.pairs or "none") == "none":
        raise Usage("nothing to measure: name a suite or cases, or give --pairs")
    settings = Settings(
        suite=suite, suite_text=text, cases=[] if suite or text is not None else what, pairs=options.pairs or "none",
        pair_cases=options.pair_cases or PAIR_CASES, pair_time=options.pair_time or "10s", host_time=options.host_time,
        budget=options.budget, lease=options.lease, labels=read_labels(options.label) if options.label else {},
        installed=bool(options.installed),
    )  # fmt: skip
    check(settings, binary, what[0] if text is not None else "")
    return settings


def suites(binary: Path) -> set[str]:
    """The names of suites that the binary has."""
    _code, out, _ = STOP.output_of([binary, "list", "--suites"])
    return {line.split()[0] for line in out.splitlines() if line.strip()}


def check(settings: Settings, binary: Path, suite_file: str) -> None:
    """Has the binary refuse here what it would refuse on every host."""
    with tempfile.NamedTemporaryFile(mode="w", suffix=".toml", encoding="utf-8") as file:
        file.write(settings.suite_text or "")
        file.flush()
        suite = settings.suite or (file.name if settings.suite_text is not None else None)
        for words in ([f"--suite={suite}"] if suite else [], ["--", *settings.cases], ["--", *settings.pair_cases]):
            if words in ([], ["--"]):
                continue
            code, _, err = STOP.output_of([binary, "run", "--dry-run", *words], 60)
            if code != 0:
                why = (err.strip().splitlines() or [f"hopcost ended with {code}"])[-1]
                raise Usage(why.removeprefix("hopcost: ").replace(file.name, suite_file))


def stored_settings(journal: Journal, options: argparse.Namespace, binary: Path) -> Settings:
    """Of a fleet that is gone on with. None of it names a program."""
    try:
        settings = Settings(**json.loads(journal.get("settings") or ""))
        int(journal.get("seed") or "")
        if not re.fullmatch(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}", journal.get("id") or ""):
            raise ValueError
        journal.check()
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError, sqlite3.Error, Usage) as error:
        why = f": {error}" if isinstance(error, Usage) else ""
        raise Usage(f"{journal.directory}: fleet.sqlite does not say what was to be measured{why}") from None
    if settings.installed != bool(options.installed):
        began = "with" if settings.installed else "without"
        raise Usage(f"{journal.directory}: this fleet began {began} --installed; go on {began} it")
    if settings.suite and settings.suite not in suites(binary):
        raise Usage(f"{journal.directory}: `{printable(settings.suite, 80)}` is no suite of {binary}")
    check(settings, binary, "its suite")
    return settings


def make_engine(options: argparse.Namespace) -> Engine:
    """The engine that was asked for."""
    if options.dask:
        from .dask import Dask

        return Dask(options.dask)
    from .remote import by_srun, by_ssh

    if options.ssh:
        return by_ssh(read_hosts(options.ssh), options.ssh_command)
    if options.srun:
        return by_srun()
    raise Usage("give an engine: --dask tcp://HOST:PORT, --ssh FILE or --slurm")
