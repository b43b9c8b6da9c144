"""Writes the report of a fleet: text for a screen, JSON, or one page with its pictures inside."""

import html
import io
import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .hosts import printable

WIDTH = 100
# Rows of a table and cases that a screen, and that a page has room for.
SCREEN, PAGE = (4, 8), (200, 10_000)
# Names beside a picture, hosts of a square, squares of a page, and dots that stay lines of the picture.
NAMES_MAX, SQUARE_MAX, SQUARES_MAX, DOTS_MAX = 40, 1000, 4, 3000
# Seconds from which a clock is off.
CLOCK_OFF_S = 60.0
STYLE = """body{font:15px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
body{color:#222;background:#fff}
table{border-collapse:collapse;font-size:13px}td,th{padding:.15rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f4f4f4}
svg{max-width:100%;height:auto}"""


@dataclass
class Section:
    """A heading with sentences, and perhaps a table or pictures."""

    title: str
    sentences: list[str] = field(default_factory=list)
    # Of words.
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    # How many more rows there are than have room.
    more: int = 0
    pictures: list[str] = field(default_factory=list)


def to_json(found: dict) -> str:
    """Each table as an array of objects; what is not known is null."""
    plain = {name: of.to_dict("records") if isinstance(of, pd.DataFrame) else of for name, of in found.items()}
    # What others wrote is escaped, so that no terminal takes it for a command.
    return json.dumps(cleaned(plain), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def cleaned(of):
    """The same with plain numbers, and null for those that are not finite."""
    if isinstance(of, dict):
        return {key: cleaned(value) for key, value in of.items()}
    if isinstance(of, list):
        return [cleaned(value) for value in of]
    of = of.item() if isinstance(of, np.generic) else of
    return None if isinstance(of, float) and not np.isfinite(of) else of


def to_text(found: dict, details: bool) -> str:
    """For a terminal: one screen, or all of it."""
    room = (1 << 30, 1 << 30) if details else SCREEN
    lines = [title(found), *wrapped(head(found))]
    for section in sections(found, room, details):
        lines += ["", *wrapped(section.title)]
        lines += [line for said in section.sentences for line in wrapped(said, "  ")]
        lines += aligned(section.table, not details)
        lines += [f"  And {section.more} more: --details has them."] if section.more else []
    return "\n".join(lines) + "\n"


def wrapped(said: str, indent: str = "") -> list[str]:
    """A sentence as lines of a screen."""
    shown = printable(said, 2000)
    return textwrap.wrap(shown, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def aligned(table: pd.DataFrame, is_screen: bool) -> list[str]:
    """A table as lines, the first column and words to the left."""
    if table.empty:
        return []
    columns = [[name, *map(printable, table[name])] for name in table]
    widths = [max(map(len, column)) for column in columns]
    over = sum(widths) + 2 * len(widths) - WIDTH
    if is_screen and over > 0:
        # The name of a case, mostly, whose end says least.
        widest = widths.index(max(widths))
        widths[widest] = max(widths[widest] - over, 12)
        columns[widest] = [printable(cell, widths[widest]) for cell in columns[widest]]
    for at, (column, width) in enumerate(zip(columns, widths)):
        is_number = at > 0 and all(re.match(r"[-+×<\d]|$", cell) for cell in column[1:])
        columns[at] = [cell.rjust(width) if is_number else cell.ljust(width) for cell in column]
    return ["  " + "  ".join(row).rstrip() for row in zip(*columns)]


def to_html(found: dict) -> str:
    """One page without script, that needs nothing but itself."""
    escape = lambda text: html.escape(printable(text, 2000))
    parts = [f"<h1>{escape(title(found))}</h1>", f"<p>{escape(head(found))}</p>"]
    for section in sections(found, PAGE, True, True):
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [f"<p>{escape(said)}</p>" for said in section.sentences] + section.pictures
        if not section.table.empty:
            shown = section.table.apply(lambda column: column.map(lambda cell: printable(cell, 2000)))
            with pd.option_context("display.max_colwidth", None):
                parts.append(shown.to_html(index=False, border=0))
        parts += [f"<p>And {section.more} more: --format json has them.</p>"] if section.more else []
    top = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title(found))}</title>'
    return f"{top}<style>{STYLE}</style>" + "\n".join(parts) + "</html>\n"


def title(found: dict) -> str:
    """What was measured, on one line."""
    about = found["about"]
    by = f" by {about['engine']}" if about["engine"] else ""
    parts = ["hopcost", f"fleet {about['id']}", about["suite"], f"{len(found['hosts'])} hosts{by}", about["status"]]
    return printable(" · ".join(part for part in parts if part), WIDTH)


def head(found: dict) -> str:
    """The conclusion first: how many hosts there are, and how many are outliers."""
    about, said = found["about"], []
    if found["hosts"].empty:
        return "The fleet has no host yet."
    for what, key, first in [
        ("Hosts", "hosts", "ready"),
        ("Runs of hosts", "host_tasks", "done"),
        ("Runs of pairs", "pair_tasks", "done"),
    ]:
        ordered = sorted(about[key].items(), key=lambda of: of[0] != first)
        said += [f"{what}: {', '.join(f'{n} {state}' for state, n in ordered)}."] if ordered else []
    if found["rule"]:
        hosts = found["outliers"].groupby("off").host.nunique()
        slower, faster = hosts.get("slower", 0), hosts.get("faster", 0)
        said.append(f"Outliers by more than {percent(about['margin'])}: {slower} slower, {faster} faster.")
    return " ".join(said)


def sections(found: dict, room: tuple[int, int], details: bool, is_page: bool = False) -> list[Section]:
    """All that has something to say."""
    made = [
        cases(found, room[1], is_page),
        outliers(found, room[0]),
        shared(found, room[0]),
        groups(found, room[0]),
        *pairs(found, room[0], is_page),
        not_measured(found, room[0]),
        *([hosts(found, room[0])] if details else []),
        how(found),
    ]
    return [of for of in made if len(of.table) or of.sentences or of.pictures]


def table(title: str, rows: pd.DataFrame, room: int, columns: dict[str, Callable]) -> Section:
    """A section of a table: a function of a row for each column."""
    shown = [[str(cell(row)) for cell in columns.values()] for row in rows.head(room).itertuples()]
    return Section(title, table=pd.DataFrame(shown, columns=list(columns)), more=max(len(rows) - room, 0))


def cases(found: dict, room: int, is_page: bool) -> Section:
    """Each case over the fleet; on a screen those with outliers first."""
    of, short = found["cases"], shorter(found["cases"].case)
    if len(of) > room:
        of = of.assign(off=of.slower + of.faster).sort_values("off", ascending=False, kind="stable")
    made = table("Cases", of, room, {
        "case": lambda row: short(row.case),
        "hosts": lambda row: row.hosts,
        "median [95 %]": lambda row: measured(row.median, row),
        "spread": lambda row: percent(row.spread),
        "slowest": lambda row: f"×{plain(row.slowest_ratio)} {row.slowest}",
        "slower": lambda row: row.slower or "",
        "faster": lambda row: row.faster or "",
    })  # fmt: skip
    made.sentences = [f"All: {short.common}."] if short.common else []
    made.pictures = [strip(found)] if is_page and len(of) else []
    return made


def outliers(found: dict, room: int) -> Section:
    """The hosts that deviate most."""
    short = shorter(found["cases"].case)
    return table("Outliers", found["outliers"], room, {
        "host": lambda row: row.host,
        "is": lambda row: row.off,
        "by [95 % of its run]": lambda row: times(row.ratio, row.low_ratio, row.high_ratio),
        "its run": lambda row: row.validity or "",
        "in": lambda row: short(row.case),
        "scales": lambda row: plain(abs(row.score)),
    })  # fmt: skip


def shared(found: dict, room: int) -> Section:
    """What the slow hosts have in common."""
    said = []
    for row in found["shared"].head(room).itertuples():
        slow = f"All {row.slow}" if row.slow_with == row.slow else f"{row.slow_with} of {row.slow}"
        others = f"{row.others_with or 'none'} of the {row.others} others"
        said.append(f"{slow} slow hosts have {row.key} {row.value}; {others} (error {error(row.error)}).")
    return Section("What the slow hosts have in common", said + found["confounded"])


def groups(found: dict, room: int) -> Section:
    """Hosts that have a reading or a label in common, against the others."""
    short, of = shorter(found["cases"].case), found["groups"][found["groups"].off != ""]
    made = table("Groups of hosts against the others", of, room, {
        "hosts with": lambda row: f"{row.key} {row.value}",
        "are": lambda row: f"{row.hosts} of {row.hosts + row.others}",
        "and": lambda row: row.off,
        "by [95 %]": lambda row: times(row.ratio, row.low, row.high),
        "in": lambda row: short(row.case),
        "error": lambda row: error(row.error),
    })  # fmt: skip
    n, margin = found["groups_compared"], percent(found["about"]["margin"])
    if n and of.empty:
        made.sentences = [f"No group differs by more than {margin} in {n} comparisons."]
    return made


def pairs(found: dict, room: int, is_page: bool) -> list[Section]:
    """A section per case of pairs, with its outliers and, on a page, its square."""
    made = []
    for at, case in enumerate(found["pair_cases"].itertuples()):
        own = found["pairs"][found["pairs"].case == case.case]
        off = own[own.off != ""].sort_values("ratio", ascending=False)
        of = table(f"Pairs, {case.case}: median {quantity(case.median, case.unit)} of {case.hosts} pairs", off, room, {
            "pair": lambda row: f"{row.a} to {row.b}",
            "off the median": lambda row: times(row.ratio),
            "value [95 %]": lambda row: measured(row.value, row),
        })  # fmt: skip
        slow = found["pair_hosts"][found["pair_hosts"].case == case.case]
        slow = slow[2 * slow.slower > slow.pairs].head(5).itertuples()
        named = [f"{row.host} (×{plain(row.ratio)}, {row.slower} of {row.pairs})" for row in slow]
        of.sentences += [f"Slower in most of their pairs: {', '.join(named)}."] if named else []
        if off.empty:
            few = pd.isna(case.threshold)
            of.sentences.append("Fewer than 8 pairs: no rule for outliers." if few else "No pair is an outlier.")
        names = sorted({*own.a, *own.b})
        if is_page and at < SQUARES_MAX and len(names) <= SQUARE_MAX:
            of.pictures.append(square(own, names, case))
        made.append(of)
    return made


def not_measured(found: dict, room: int) -> Section:
    """Hosts without a run, those of one reason together."""
    of = found["hosts"]
    of = of[(of.state != "ready") | of.reason.notna()].fillna({"reason": "no reason is given"})
    alike = of.groupby(["state", "reason"]).name.agg(["size", "first"]).reset_index()
    alike = alike.sort_values("size", ascending=False, kind="stable").rename(columns={"size": "n"})
    made = table("Not measured, or measured with a remark", alike, room, {
        "hosts": lambda row: row.n,
        "state": lambda row: row.state,
        "such as": lambda row: row.first,
        "why": lambda row: row.reason,
    })  # fmt: skip
    made.sentences = found["missing_pairs"]
    return made


def hosts(found: dict, room: int) -> Section:
    """Every host, with its value that is farthest off."""
    of, values, short = found["hosts"], found["values"], shorter(found["cases"].case)
    far = values.assign(is_off=values.off != "", far=np.log(values.ratio.astype(float)).abs())
    far = far.sort_values(["is_off", "far"]).drop_duplicates("host", keep="last").set_index("host")
    n_off = far.index.to_series().map(values[values.off != ""].groupby("host").size())
    of = of.join(far[["case", "ratio"]].assign(n_off=n_off), on="name")
    word = lambda text: "" if pd.isna(text) else text
    return table("Hosts", of, room, {
        "host": lambda row: row.name,
        "state": lambda row: row.state,
        "cases off": lambda row: "" if pd.isna(row.n_off) else int(row.n_off),
        "farthest": lambda row: times(row.ratio),
        "in": lambda row: short(row.case) if word(row.case) else "",
        "kernel": lambda row: word(row.kernel),
        "labels": lambda row: ", ".join(f"{key} {value}" for key, value in list(row.labels.items())[:3]),
    })  # fmt: skip


def how(found: dict) -> Section:
    """The rule, what agents cost, clocks, and remarks."""
    said, of, agents = [], found["rule"], found["agents"]
    if of:
        ends = dict.fromkeys([plain(of["threshold_min"]), plain(of["threshold_max"])])
        margin, most = percent(found["about"]["margin"]), percent(of["false_alarms"])
        said += [
            f"An outlier is more than {' to '.join(ends)} scales (Qn of logarithms) and {margin}"
            f" off the median. At most {most} of fleets of {of['hosts']} hosts and {of['cases']} cases"
            " without outliers have any if logarithms spread normally (simulated). With a heavier"
            " tail (Student's t of 5) and no margin a fleet has about"
            f" {plain(of['false_alarms_heavy'], 2)}."
        ]
    costs = [
        f"{plain(agents[f'{kind}_cpu_percent'], 2)} % CPU and {plain(agents[f'{kind}_wakeups_per_s'], 2)} wake-ups a second {when}"
        for kind, when in [("agent", "between trials"), ("frozen", "during a trial")]
        if not pd.isna(agents[f"{kind}_cpu_percent"])
    ]
    if costs:
        said.append(f"Agents took {' and '.join(costs)} (medians over {agents['hosts']} hosts).")
    off = found["hosts"][found["hosts"].clock_off_s.abs() > CLOCK_OFF_S]
    named = [f"{row.name} by {plain(abs(row.clock_off_s))} s" for row in off.head(5).itertuples()]
    named += [f"{len(off) - 5} more"] if len(off) > 5 else []
    said += [f"Clocks more than a minute off the driver's: {', '.join(named)}."] if named else []
    return Section("How", said + found["remarks"])


class shorter:
    """The name of a case without the keys that all cases have in common."""

    def __init__(self, cases: pd.Series) -> None:
        keys = [set(case.partition("?")[2].split("&")) - {""} for case in cases]
        keys = [of for of in keys if of]
        self.shared = set.intersection(*keys) if len(keys) > 1 else set()
        self.common = ", ".join(sorted(self.shared))

    def __call__(self, case: str) -> str:
        path, _, keys = case.partition("?")
        own = [key for key in keys.split("&") if key and key not in self.shared]
        return f"{path}?{'&'.join(own)}" if own else path


def plain(value: float, digits: int = 3) -> str:
    """A number of so many digits, without an exponent."""
    if pd.isna(value) or value == 0 or not np.isfinite(value):
        return "–" if pd.isna(value) else f"{value:g}"
    return f"{value:.{max(digits - 1 - int(np.floor(np.log10(abs(value)))), 0)}f}"


def quantity(value: float, unit: str) -> str:
    """A value with its unit: times in that which is read most easily."""
    if unit != "ns":
        return f"{plain(value)} {unit}"
    power = min(max(int(np.floor(np.log10(value) + 1e-9)) // 3, 0), 3)
    return f"{plain(value / 1000**power)} {('ns', 'µs', 'ms', 's')[power]}"


def measured(value: float, row) -> str:
    """A value with the interval of its row."""
    return quantity(value, row.unit) + interval(row.low, row.high, lambda x: quantity(x, row.unit))


def percent(share: float) -> str:
    return "–" if pd.isna(share) else f"{plain(share * 100, 2)} %"


def interval(low: float, high: float, show: Callable) -> str:
    return "" if pd.isna(low) else f" [{show(low)}, {show(high)}]"


def times(ratio: float, low: float = np.nan, high: float = np.nan) -> str:
    """A ratio: in per cent, or as a multiple from half and twice on."""
    if pd.isna(ratio):
        return ""
    multiple = not 0.5 <= ratio <= 2
    show = (lambda x: plain(x)) if multiple else (lambda x: f"{(x - 1) * 100:+.1f}")
    point = f"×{show(ratio)}" if multiple else f"{show(ratio)} %"
    return point + interval(low, high, show)


def error(of: float) -> str:
    return "<0.0001" if of < 1e-4 else plain(of, 2)


def strip(found: dict) -> str:
    """A dot per host and case at its ratio to the median; outliers are red."""
    values, short = found["values"], shorter(found["cases"].case)
    names = list(found["cases"].case)[:NAMES_MAX]
    place = {case: at for at, case in enumerate(names)}
    own = values[values.case.isin(names)]
    figure, axes = canvas(9, 1 + 0.35 * len(names))
    height = own.case.map(place) + np.resize(np.linspace(-0.3, 0.3, 7), len(own))
    colour = np.where(own.off != "", "#c22", "#36a")
    axes.scatter(own.ratio, height, s=6, c=colour, linewidths=0, rasterized=len(own) > DOTS_MAX)
    axes.set_yticks(range(len(names)), [printable(short(name), 60) for name in names])
    axes.invert_yaxis()
    axes.set_xscale("log")
    for set_format in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_format("{x:.3g}")
    axes.set_xlabel("time over the median of the hosts")
    axes.axvline(1, color="#888", linewidth=0.8)
    return svg(figure, "Each host's time over the median of its case; the table of hosts has the numbers")


def square(own: pd.DataFrame, names: list[str], case) -> str:
    """Pairs as a square, the near end in the rows; darker is slower."""
    cells = own.pivot_table("ratio", "a", "b", aggfunc="median").reindex(index=names, columns=names)
    named = range(0, len(names), -(-len(names) // NAMES_MAX))
    size = 1.5 + 0.3 * len(named)
    figure, axes = canvas(size, size)
    picture = axes.imshow(cells.to_numpy(dtype=float), cmap="YlOrRd", interpolation="nearest")
    axes.set_xticks(named, [names[at] for at in named], rotation=90)
    axes.set_yticks(named, [names[at] for at in named])
    axes.set_xlabel("to host")
    axes.set_ylabel("from host")
    figure.colorbar(picture, label="time over the median of the pairs")
    return svg(figure, f"{case.case}: time of each pair over the median of all")


def canvas(width: float, height: float):
    """An empty picture, without a window."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    # Text stays text, and the same numbers make the same bytes.
    rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hopcost", "font.size": 8})
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def svg(figure, what: str) -> str:
    """The picture as part of a page, with what it shows in words."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    drawn = out.getvalue()
    label = html.escape(printable(what), quote=True)
    return drawn[drawn.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
