"""Hosts, their names and labels, and times: what people write, and what is wrong with it."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
ADDRESS = re.compile(r"[A-Za-z0-9@._:%\[\]][A-Za-z0-9@._:%\[\]-]{0,254}")
LABEL = re.compile(r"([A-Za-z0-9_][A-Za-z0-9._-]{0,31})=(.{1,200})")
UNITS_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TIME_MAX_S = 168 * 3600.0


class Usage(Exception):
    """What the user gave cannot be used: one line, exit code 2."""


@dataclass
class Host:
    """A host as a launcher or a list names it."""

    name: str
    # How the launcher reaches it.
    address: str
    # Where the near host of a pair connects; empty if only the host itself knows.
    data_address: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    # Why it takes no part, if that is known before it is asked.
    refused: str = ""


def is_name(text: str) -> bool:
    """Whether a host, and so a file, may be called this."""
    return bool(NAME.fullmatch(text)) and "--" not in text


def name_of(text: str) -> str:
    """The nearest name to what others call a host; empty if there is none."""
    made = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]", "-", text))
    made = made.strip(".-")[:64].rstrip("-")
    return made if is_name(made) else ""


def read_hosts(path: Path) -> list[Host]:
    """Reads a list: one `[USER@]ADDRESS [name=NAME] [bind=ADDRESS] [KEY=VALUE…]` per line."""
    hosts = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        where, words = f"{path}:{number}", line.split("#")[0].split()
        if not words:
            continue
        if not ADDRESS.fullmatch(words[0]):
            raise Usage(f"{where}: `{printable(words[0])}` is not an address")
        host = Host(name_of(words[0].rpartition("@")[2]), words[0])
        for word in words[1:]:
            label = LABEL.fullmatch(word)
            if not label or not word.isprintable():
                raise Usage(f"{where}: `{printable(word)}` is not KEY=VALUE")
            host.labels[label[1]] = label[2]
        host.name = host.labels.pop("name", host.name)
        host.data_address = host.labels.pop("bind", "")
        hosts.append(host)
    return distinct(hosts, str(path))


def distinct(hosts: list[Host], where: str) -> list[Host]:
    """The same hosts, if each has a name of its own; some file systems fold case."""
    if not hosts:
        raise Usage(f"{where}: no hosts")
    times = Counter(host.name.lower() for host in hosts)
    for host in hosts:
        if not is_name(host.name):
            rule = "letters, digits, `.`, `_` and `-`, no `--`"
            raise Usage(f"{where}: `{printable(host.name)}` cannot name a host: {rule}")
        if times[host.name.lower()] > 1:
            raise Usage(f"{where}: two hosts are called {host.name}; give one another name")
    return hosts


def text_of(path: Path) -> str:
    """The text of a file that the user names."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def seconds(text: str) -> float:
    """A time as hopcost writes it: 90s, 2m, 1h30m."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    total_s = sum(float(number) * UNITS_S[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text:
        raise Usage(f"`{printable(text)}` is not a time: write 90s, 15m or 2h")
    if not 1e-3 <= total_s <= TIME_MAX_S:
        raise Usage(f"`{printable(text)}` is not a time from 1ms to 168h")
    return total_s


def printable(text: object, most: int = 300) -> str:
    """What others wrote, fit for one line of a terminal."""
    made = "".join(c if c.isprintable() else " " for c in str(text))
    return made if len(made) <= most else made[: most - 1] + "…"
