"""The command line. stdout gets one document, stderr the rest; bad input is one line, exit 2."""

import argparse
import asyncio
import json
import os
import re
import resource
import secrets
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from . import VERSION
from .driver import Driver, say
from .hosts import Usage, printable, read_hosts, seconds, text_of
from .journal import SCHEMA, Journal
from .launch import by_srun, by_ssh, run_here
from .plan import kind_of_pairs

PAIR_CASES = ["roundtrip/tcp?boundary=host", "roundtrip/udp?boundary=host"]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# After a signal the driver waits this long for what it has begun.
END_S = 2.0
DEBIAN = "python3-pandas python3-scipy python3-matplotlib"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> None:
        raise Usage(message)


def main(words: list[str] | None = None) -> int:
    """The exit code."""
    on_signal(interrupt)
    try:
        options = parser().parse_args(words)
        return options.do(options)
    except Usage as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        say("aborted")
        return 130


def on_signal(do: Callable[[], None]) -> None:
    """Has the first signal do this; one that is ignored, as nohup has it, stays so."""

    def heard(*_: object) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        do()

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, heard)


def interrupt() -> None:
    raise KeyboardInterrupt


def parser() -> Parser:
    """All options."""
    about = "Measures many hosts and the pairs between them: Dask, ssh or Slurm start hopcost."
    made = Parser(prog="hopcost-fleet", description=about)
    made.add_argument("--version", action="version", version=f"hopcost-fleet {VERSION}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    about = "Measures a suite or cases on every host, then pairs of hosts."
    run = commands.add_parser("run", help="measure a fleet", description=about, parents=[what()])
    run.set_defaults(do=start)
    launcher = run.add_mutually_exclusive_group()
    add = launcher.add_argument
    add("--dask", metavar="tcp://HOST:PORT", help="the workers of a scheduler of Dask")
    add("--ssh", metavar="FILE", type=Path,
        help="a list: [USER@]ADDRESS [name=NAME] [bind=ADDRESS] [KEY=VALUE…]")  # fmt: skip
    add("--slurm", action="store_true", help="the nodes of this allocation")
    add = run.add_argument
    add("--out", metavar="DIR", type=Path, help="where to put the fleet (hopcost-fleet-ID)")
    add("--resume", metavar="DIR", type=Path, help="continue a fleet; name the launcher again")
    add("--label", metavar="FILE", type=Path, help="labels of hosts: NAME KEY=VALUE… per line")
    add("--hopcost", metavar="FILE", type=Path, help="what to bring (the one beside this program)")
    add("--ssh-command", metavar="WORDS", help="instead of ssh: gets the address and a command")
    add("--peer-command", metavar="WORDS",
        help="instead of ssh between hosts: gets the address and a command")  # fmt: skip

    about = "Shows outliers among hosts, what they share, and slow pairs."
    report = commands.add_parser("report", help="show what was measured", description=about)
    report.set_defaults(do=show)
    add = report.add_argument
    add("directory", metavar="DIR", type=Path, help="the fleet, also while it is measured")
    add("--format", choices=["text", "json", "html"], default="text", help="how to print it (text)")
    add("--details", action="store_true", help="print every case, host and group")
    add("--margin", metavar="PERCENT", type=share, default=0.03, help="as good as equal (3%%)")
    return made


def what() -> Parser:
    """What a fleet measures. A fleet keeps these words, and nothing of them names a program."""
    made = Parser(add_help=False)
    add = made.add_argument
    add("cases", nargs="*", metavar="CASE", help="cases, once per host")
    add("--suite", metavar="NAME|FILE", help="a suite, once per host: a name or a TOML file")
    add("--pairs", metavar="KIND", type=kind_of_pairs, default="none",
        help="which pairs: all, ring, sample:N, none (none)")  # fmt: skip
    add("--pair-cases", metavar="CASE", nargs="+", default=PAIR_CASES,
        help="what is measured between two hosts (round trips over tcp and udp)")  # fmt: skip
    add("--host-time", metavar="TIME", type=seconds, help="time on a host (the suite's own)")
    add("--pair-time", metavar="TIME", type=seconds, default=10.0, help="time for a pair (10s)")
    add("--lease", metavar="TIME", type=seconds,
        help="a task fails after this (1.5 of its time and 60s; 15m)")  # fmt: skip
    return made


def share(text: str) -> float:
    """A percentage from 0.1% to 100%."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", text)
    value = float(found[1]) / 100 if found else 0.0
    if not 0.001 <= value <= 1:
        raise Usage(f"--margin {printable(text, 40)} is not a percentage from 0.1% to 100%")
    return value


def start(options: argparse.Namespace) -> int:
    """Measures a fleet, or goes on with one; the exit code says what came of the tasks."""
    # Nobody else may change what the driver writes.
    os.umask(os.umask(0) | 0o022)
    # Each host takes a few.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    binary = find_binary(options.hopcost)
    journal = resumed(options) if options.resume else None
    check(options, binary)
    labelled = read_hosts(options.label) if options.label else []
    options.labels = {host.name: host.labels for host in labelled}
    try:
        journal = asyncio.run(drive(options, binary, journal))
        on_signal(interrupt)
        latest, hosts = journal.latest("done", "failed", "skipped"), journal.hosts()
        is_aborted = journal.get("status") == "aborted"
        journal.close()
    except (sqlite3.Error, OSError) as error:
        # The driver's own disk, above all.
        say(f"{error}; nothing goes on without its journal")
        return 1
    done = sum(task["state"] == "done" for task in latest)
    failed = len(latest) - done
    out = {name: host for name, host in hosts.items() if host["state"] != "ready"}
    for name, host in list(out.items())[:5]:
        say(f"{name} is {host['state']}: {host['reason']}")
    said = f"{len(hosts) - len(out)} of {len(hosts)} hosts, {done} tasks done, {failed} not"
    if is_aborted:
        say(f"{said}; aborted, --resume {journal.directory} goes on")
        return 130
    say(f"{said}; hopcost fleet report {journal.directory}")
    return 1 if out or failed else 0


async def drive(options: argparse.Namespace, binary: Path, journal: Journal | None) -> Journal:
    """The fleet, to its end or the first signal; its journal."""
    launcher = launcher_of(options)
    hosts = await launcher.hosts()
    journal = journal or begun(options, launcher.name)
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    on_signal(lambda: loop.call_soon_threadsafe(stopped.set))
    journal.set(status="running")
    work = asyncio.create_task(Driver(journal, launcher, options, binary).run(hosts))
    stop = asyncio.create_task(stopped.wait())
    await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if not work.done():
        work.cancel()
        await asyncio.wait([work], timeout=END_S)
        journal.end_running("the fleet was aborted")
        journal.set(status="aborted")
    await launcher.close()
    if work.done() and not work.cancelled():
        work.result()
    return journal


def find_binary(given: Path | None) -> Path:
    """The hopcost that is brought: given, or beside this program, or on the path."""
    beside = Path(sys.argv[0]).resolve().parent / "hopcost"
    found = given or (beside if beside.is_file() else Path(shutil.which("hopcost") or beside))
    if not found.is_file() or not os.access(found, os.X_OK):
        why = "pip installs it beside this program, or give --hopcost FILE"
        raise Usage(f"{found}: no hopcost to bring; {why}")
    return found.resolve()


def check(options: argparse.Namespace, binary: Path) -> None:
    """Refuses here what every host would refuse."""
    suite, options.suite_text = options.suite, None
    if suite and suite.endswith(".toml"):
        # A fleet keeps its own copy.
        suite = options.resume / "suite.toml" if options.resume else Path(suite)
        options.suite_text = text_of(suite)
    of_hosts = [*([f"--suite={suite}"] if suite else []), "--", *options.cases]
    of_pairs = ["--", *(options.pair_cases if options.pairs != "none" else [])]
    if of_hosts == of_pairs == ["--"]:
        raise Usage("nothing to measure: name cases or a --suite, or give --pairs")
    for words in (of_hosts, of_pairs):
        if words != ["--"]:
            try:
                run_here([binary, "run", "--dry-run", *words])
            except Usage as error:
                raise Usage(str(error).removeprefix("hopcost: ")) from None


def begun(options: argparse.Namespace, engine: str) -> Journal:
    """The journal of a new fleet."""
    now = datetime.now(timezone.utc)
    fleet = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    journal = Journal(options.out or Path(f"hopcost-fleet-{fleet}"), new=True)
    if options.suite_text is not None:
        (journal.directory / "suite.toml").write_text(options.suite_text, encoding="utf-8")
    words = ["--pair-cases", *options.pair_cases, f"--pairs={options.pairs}"]
    words += [f"--suite={options.suite}"] if options.suite else []
    for name in ("host_time", "pair_time", "lease"):
        value = getattr(options, name)
        words += [f"--{name.replace('_', '-')}={value:g}s"] if value else []
    journal.set(
        schema=SCHEMA, id=fleet, created=f"{now:%Y-%m-%dT%H:%M:%SZ}", engine=engine,
        suite=options.suite or "", words=json.dumps([*words, "--", *options.cases]),
    )  # fmt: skip
    return journal


def resumed(options: argparse.Namespace) -> Journal:
    """The journal of a fleet that goes on; what it measures is parsed as if it were given again."""
    default = vars(what().parse_args([]))
    if options.out or any(getattr(options, key) != value for key, value in default.items()):
        raise Usage("--resume measures what the fleet planned: give only the launcher with it")
    journal = Journal(options.resume, new=False)
    try:
        what().parse_args([*json.loads(journal.get("words"))], options)
        if not re.fullmatch(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}", journal.get("id")):
            raise ValueError
        journal.check()
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, sqlite3.Error, Usage):
        why = "fleet.sqlite does not say what was to be measured"
        raise Usage(f"{journal.directory}: {why}") from None
    return journal


def launcher_of(options: argparse.Namespace):
    """The launcher that was asked for."""
    if options.dask:
        from .dask import Dask

        return Dask(options.dask)
    if options.ssh:
        return by_ssh(read_hosts(options.ssh), options.ssh_command)
    if options.slurm:
        return by_srun()
    raise Usage("give a launcher: --dask tcp://HOST:PORT, --ssh FILE or --slurm")


def show(options: argparse.Namespace) -> int:
    """Prints the report of a fleet."""
    try:
        from . import index, page, report

        if options.format == "html":
            import matplotlib  # noqa: F401
    except ImportError as error:
        how = f"pip install 'hopcost[fleet]', or Debian's {DEBIAN}"
        raise Usage(f"{error.name} is not here: {how}") from None
    try:
        found = report.report(index.read(options.directory), options.margin)
    except (sqlite3.Error, ValueError) as error:
        why = f"fleet.sqlite cannot be read: {error}"
        raise Usage(f"{options.directory}: {why}") from None
    try:
        sys.stdout.buffer.write(page.written(found, options.format, options.details).encode())
        sys.stdout.buffer.flush()
    except OSError as error:
        raise Usage(f"stdout: {error.strerror}") from None
    return 0
