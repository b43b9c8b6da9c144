"""Hosts, their names and labels, and what else of the command line is text to be judged."""

import re
from dataclasses import dataclass, field
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,31}")
MOST_VALUE_BYTES = 200


class Usage(Exception):
    """What the user gave cannot be used: one line, exit code 2."""


@dataclass
class Host:
    """A host as an engine or a list names it."""

    name: str
    # How the engine reaches it.
    address: str
    # Where the near end of a pair connects; empty where only the host itself can say.
    data_address: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    # Why nothing can be measured there, known before anything was asked of it.
    refused: str = ""


def is_name(text: str) -> bool:
    """Whether files may be called so: the name of a host."""
    return bool(NAME.fullmatch(text)) and "--" not in text


def name_of(text: str) -> str:
    """The nearest name to what somebody else calls a host; empty where there is none."""
    made = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]", "-", text)).strip(".-")[:64].rstrip("-")
    return made if is_name(made) else ""


def lines_of(path: Path) -> list[tuple[int, list[str]]]:
    """Words of the lines that say something, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    words = [(number, line.split("#")[0].split()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in words if line]


def labels_of(words: list[str], where: str) -> dict[str, str]:
    """`rack=r7 zone=a` as labels."""
    labels = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not KEY.fullmatch(key) or not value or not value.isprintable():
            raise Usage(f"{where}: `{printable(word)}` is not KEY=VALUE")
        if len(value.encode()) > MOST_VALUE_BYTES:
            raise Usage(f"{where}: the value of {key} is longer than {MOST_VALUE_BYTES} bytes")
        labels[key] = value
    return labels


def read_hosts(path: Path) -> list[Host]:
    """A list for ssh: `[USER@]ADDRESS [name=NAME] [bind=ADDRESS] [KEY=VALUE…]` a line."""
    hosts = []
    for number, words in lines_of(path):
        where = f"{path}:{number}"
        address = words[0]
        if address.startswith("-") or not re.fullmatch(r"[A-Za-z0-9@._:%\[\]-]{1,255}", address):
            raise Usage(f"{where}: `{printable(address)}` is not an address")
        labels = labels_of(words[1:], where)
        name = labels.pop("name", None) or name_of(address.rpartition("@")[2])
        if not is_name(name):
            raise Usage(f"{where}: `{printable(name)}` cannot name a host: letters, digits, `.`, `_` and `-`, no `--`")
        hosts.append(Host(name, address, labels.pop("bind", ""), labels))
    return distinct(hosts, str(path))


def distinct(hosts: list[Host], where: str) -> list[Host]:
    """The same hosts, unless two share a name."""
    seen: set[str] = set()
    for host in hosts:
        # Names are those of files, and some file systems fold case.
        if host.name.lower() in seen:
            raise Usage(f"{where}: two hosts are called {host.name}; give one another name")
        seen.add(host.name.lower())
    for name in seen:
        # NAME.2.hopcost is the second attempt of NAME.
        first = re.sub(r"\.\d+$", "", name)
        if first != name and first in seen:
            raise Usage(f"{where}: {first} and {name} would share names of files; give one another name")
    if not hosts:
        raise Usage(f"{where}: no hosts")
    return hosts


def read_labels(path: Path) -> dict[str, dict[str, str]]:
    """`NAME KEY=VALUE…` a line."""
    labels: dict[str, dict[str, str]] = {}
    for number, words in lines_of(path):
        if not is_name(words[0]):
            raise Usage(f"{path}:{number}: `{printable(words[0])}` is not the name of a host")
        labels.setdefault(words[0], {}).update(labels_of(words[1:], f"{path}:{number}"))
    return labels


def seconds(text: str) -> float:
    """A time as hopcost writes it: 90s, 2m, 1h30m."""
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+", text):
        raise Usage(f"`{printable(text)}` is not a time: write 90s, 15m or 2h")
    units = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    total = sum(float(n) * units[unit] for n, _, unit in re.findall(r"(\d+(\.\d+)?)(ms|s|m|h|d)", text))
    if not 0 < total <= 366 * 86400:
        raise Usage(f"`{printable(text)}` is not a time between a millisecond and a year")
    return total


def printable(text: object, most: int = 300) -> str:
    """What others wrote, fit for a terminal and a line."""
    made = "".join(c if c.isprintable() else " " for c in str(text))
    return made if len(made) <= most else made[: most - 1] + "…"
