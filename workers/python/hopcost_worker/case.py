"""A case as hopcost spells it, as far as a worker has to look at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


class Failure(Exception):
    """The trial cannot go on; the message is the reason, on one line."""


class PartnerGone(Failure):
    """The other end is gone: what the other worker says explains more."""


@dataclass(frozen=True)
class Case:
    """`workload/mechanism?key=value&…`"""

    workload: str
    mechanism: str
    keys: Mapping[str, str]

    @classmethod
    def parse(cls, spelling: str) -> Self:
        """Raises `Failure` where it is none."""
        path, _, query = spelling.partition("?")
        workload, slash, mechanism = path.partition("/")
        pairs = [pair.partition("=") for pair in query.split("&") if pair]
        if not (workload and slash and mechanism and all(sep for _, sep, _ in pairs)):
            raise Failure(f"not a case: {spelling!r}")
        return cls(workload, mechanism, {key: value for key, _, value in pairs})

    @property
    def payload(self) -> int:
        """Bytes of a message; 0 where it has none."""
        given = self.keys.get("payload", "0")
        if not given.isdecimal():
            raise Failure(f"a payload of {given!r} bytes is none")
        return int(given)

    @property
    def boundary(self) -> str:
        """`thread`, `process`, or nothing of a call."""
        return self.keys.get("boundary", "")

    def choice(self, name: str, values: tuple[str, ...], default: str) -> str:
        """A parameter's value."""
        value = self.keys.get(name, default)
        if value not in values:
            raise Failure(f"{name} is one of {', '.join(values)}, not {value!r}")
        return value
