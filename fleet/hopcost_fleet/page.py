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
SCREEN, PAGE, ALL = (4, 8), (200, 10_000), (1 << 30, 1 << 30)
# Names beside a picture, hosts of a square, squares of a page, and dots that stay lines of it.
NAMES_MAX, SQUARE_MAX, SQUARES_MAX, DOTS_MAX = 40, 1000, 4, 3000
STYLE = """body{font:15px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
body{color:#222;background:#fff}
table{border-collapse:collapse;font-size:13px}td,th{padding:.15rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f4f4f4}
svg{max-width:100%;height:auto}"""


@dataclass
class Section:
    """A heading with sentences, and perhaps a table of words or pictures."""

    title: str
    sentences: list[str] = field(default_factory=list)
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    # How many more rows there are than have room.
    more: int = 0
    pictures: list[str] = field(default_factory=list)


def written(found: dict, form: str, details: bool) -> str:
    """The report in one of its forms."""
    if form == "json":
        rows = lambda of: json.loads(of.to_json(orient="records", double_precision=15))
        is_table = lambda of: isinstance(of, pd.DataFrame)
        plain = {name: rows(of) if is_table(of) else of for name, of in found.items()}
        # What others wrote is escaped, so that no terminal takes it for a command.
        return json.dumps(plain, indent=1, allow_nan=False) + "\n"
    return to_page(found) if form == "html" else to_text(found, details)


def to_text(found: dict, details: bool) -> str:
    """For a terminal: one screen, or all of it."""
    lines = [title(found), *wrapped(head(found))]
    for section in sections(found, ALL if details else SCREEN, details):
        lines += ["", *wrapped(section.title)]
        lines += [line for said in section.sentences for line in wrapped(said, "  ")]
        lines += aligned(section.table, not details)
        lines += [f"  And {section.more} more: --details has them."] if section.more else []
    return "\n".join(lines) + "\n"


def wrapped(said: str, indent: str = "") -> list[str]:
    """A sentence as lines of a screen."""
    text = printable(said, 2000)
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def aligned(table: pd.DataFrame, is_screen: bool) -> list[str]:
    """A table as lines, the first column and words to the left."""
    columns = [[name, *map(printable, table[name])] for name in table]
    widths = [max(map(len, column)) for column in columns]
    over = sum(widths) + 2 * len(widths) - WIDTH
    for at, column in enumerate(columns):
        if is_screen and over > 0 and widths[at] == max(widths):
            # The name of a case, mostly, whose end says least.
            widths[at], over = max(widths[at] - over, 12), 0
        is_number = at > 0 and all(re.match(r"[-+×<\d]|$", cell) for cell in column[1:])
        fit = str.rjust if is_number else str.ljust
        columns[at] = [fit(printable(cell, widths[at]), widths[at]) for cell in column]
    return ["  " + "  ".join(row).rstrip() for row in zip(*columns)]


def to_page(found: dict) -> str:
    """One page without script, that needs nothing but itself."""
    escape = lambda text: html.escape(printable(text, 2000))
    parts = [f"<h1>{escape(title(found))}</h1>", f"<p>{escape(head(found))}</p>"]
    for section in sections(found, PAGE, True, True):
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [f"<p>{escape(said)}</p>" for said in section.sentences] + section.pictures
        if not section.table.empty:
            shown = section.table.apply(lambda cells: [printable(cell, 2000) for cell in cells])
            with pd.option_context("display.max_colwidth", None):
                parts.append(shown.to_html(index=False, border=0))
        if section.more:
            parts.append(f"<p>And {section.more} more: --format json has them.</p>")
    top = '<!doctype html><html lang="en"><meta charset="utf-8">'
    top += f"<title>{escape(title(found))}</title><style>{STYLE}</style>"
    return top + "\n".join(parts) + "</html>\n"


def title(found: dict) -> str:
    """What was measured, on one line."""
    about = found["about"]
    by = f" by {about['engine']}" if about["engine"] else ""
    hosts = f"{len(found['hosts'])} hosts{by}"
    parts = ["hopcost", f"fleet {about['id']}", about["suite"], hosts, about["status"]]
    return printable(" · ".join(part for part in parts if part), WIDTH)


def head(found: dict) -> str:
    """The conclusion first: how many hosts there are, and how many are outliers."""
    about, said = found["about"], []
    if found["hosts"].empty:
        return "The fleet has no host yet."
    for what, key in [("Hosts", "hosts"), ("Runs of hosts", "host_tasks"),
                      ("Runs of pairs", "pair_tasks")]:  # fmt: skip
        ordered = sorted(about[key].items(), key=lambda of: of[0] not in ("ready", "done"))
        said += [f"{what}: {', '.join(f'{n} {state}' for state, n in ordered)}."] if ordered else []
    if found["cases"].threshold.notna().any():
        hosts = found["outliers"].groupby("off").a.nunique()
        counts = f"{hosts.get('slower', 0)} slower, {hosts.get('faster', 0)} faster"
        said.append(f"Outliers by more than {percent(about['margin'])}: {counts}.")
    return " ".join(said)


def sections(found: dict, room: tuple, details: bool, is_page: bool = False) -> list[Section]:
    """All that has something to say."""
    rows, short = room[0], shorter(found["cases"].case)
    made = [
        cases(found, room[1], is_page, short),
        table("Outliers", found["outliers"], rows, {
            "host": lambda row: row.a,
            "is": lambda row: row.off,
            "by [95 % of its run]": lambda row: times(row.ratio, row.low_ratio, row.high_ratio),
            "in": lambda row: short(row.case),
            "scales": lambda row: plain(abs(row.score)),
        }),
        shared(found, rows),
        groups(found, rows, short),
        *pairs(found, rows, is_page),
        not_measured(found, rows),
    ]  # fmt: skip
    made += [hosts(found, rows, short)] if details else []
    made.append(how(found))
    return [of for of in made if len(of.table) or of.sentences or of.pictures]


def table(title: str, rows: pd.DataFrame, room: int, columns: dict[str, Callable]) -> Section:
    """A section of a table: a function of a row for each column."""
    shown = [[str(cell(row)) for cell in columns.values()] for row in rows.head(room).itertuples()]
    more = max(len(rows) - room, 0)
    return Section(title, table=pd.DataFrame(shown, columns=[*columns]), more=more)


def cases(found: dict, room: int, is_page: bool, short: Callable) -> Section:
    """Each case over the fleet; on a screen those with outliers first."""
    of = found["cases"]
    if len(of) > room:
        of = of.loc[(of.slower + of.faster).sort_values(ascending=False, kind="stable").index]
    made = table("Cases", of, room, {
        "case": lambda row: short(row.case),
        "hosts": lambda row: row.hosts,
        "median [95 %]": lambda row: measured(row.median, row),
        "spread": lambda row: percent(row.spread),
        "slowest": lambda row: f"×{plain(row.slowest_ratio)} {row.slowest}",
        "slower": lambda row: row.slower or "",
        "faster": lambda row: row.faster or "",
    })  # fmt: skip
    made.pictures = [strip(found, short)] if is_page and len(of) else []
    return made


def shared(found: dict, room: int) -> Section:
    """What the slow hosts have in common."""
    said = []
    for row in found["shared"].head(room).itertuples():
        slow = f"All {row.slow}" if row.slow_with == row.slow else f"{row.slow_with} of {row.slow}"
        others = f"{row.others_with or 'none'} of the {row.others} others"
        what = f"{row.key} {row.value}; {others} (error {error(row.error)})"
        said.append(f"{slow} slow hosts have {what}.")
    return Section("What the slow hosts have in common", said + found["confounded"])


def groups(found: dict, room: int, short: Callable) -> Section:
    """Hosts that have a reading or a label in common, against the others."""
    of = found["groups"][found["groups"].off != ""]
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
        median = quantity(case.median, case.unit)
        of = table(f"Pairs, {case.case}: median {median} of {case.hosts} pairs", off, room, {
            "pair": lambda row: f"{row.a} to {row.b}",
            "off the median": lambda row: times(row.ratio),
            "value [95 %]": lambda row: measured(row.value, row),
        })  # fmt: skip
        slow = found["pair_hosts"][found["pair_hosts"].case == case.case]
        slow = slow[2 * slow.slower > slow.pairs].head(5).itertuples()
        named = [f"{row.host} (×{plain(row.ratio)}, {row.slower} of {row.pairs})" for row in slow]
        of.sentences += [f"Slower in most of their pairs: {', '.join(named)}."] if named else []
        if off.empty:
            few = "Fewer than 8 pairs: no rule for outliers."
            of.sentences.append(few if pd.isna(case.threshold) else "No pair is an outlier.")
        names = sorted({*own.a, *own.b})
        if is_page and at < SQUARES_MAX and len(names) <= SQUARE_MAX:
            of.pictures.append(square(own, names, case))
        made.append(of)
    return made


def not_measured(found: dict, room: int) -> Section:
    """Hosts without a run, those of one reason together."""
    of = found["hosts"][(found["hosts"].state != "ready") | found["hosts"].reason.notna()]
    alike = of.fillna({"reason": "no reason is given"}).groupby(["state", "reason"]).name
    alike = alike.agg(n="size", such="first").reset_index()
    made = table("Not measured", alike.sort_values("n", ascending=False, kind="stable"), room, {
        "hosts": lambda row: row.n,
        "state": lambda row: row.state,
        "such as": lambda row: row.such,
        "why": lambda row: row.reason,
    })  # fmt: skip
    made.sentences = found["missing_pairs"]
    return made


def hosts(found: dict, room: int, short: Callable) -> Section:
    """Every host, with the case in which it is slowest."""
    slowest = found["values"].sort_values("ratio").drop_duplicates("a", keep="last").set_index("a")
    off = found["outliers"].groupby("a").size()
    of = found["hosts"].join(slowest[["case", "ratio"]], on="name").fillna("")
    return table("Hosts", of.assign(off=of.name.map(off).fillna(0)), room, {
        "host": lambda row: row.name,
        "state": lambda row: row.state,
        "cases off": lambda row: int(row.off) or "",
        "slowest": lambda row: times(row.ratio) if row.case else "",
        "in": lambda row: short(row.case),
        "kernel": lambda row: row.kernel,
        "labels": lambda row: ", ".join(f"{key} {value}" for key, value in row.labels.items()),
    })  # fmt: skip


def how(found: dict) -> Section:
    """The rule, and remarks."""
    said, of = [], found["cases"].dropna(subset="threshold")
    if len(of):
        ends = dict.fromkeys([plain(of.threshold.min()), plain(of.threshold.max())])
        margin, most = (percent(found["about"][key]) for key in ("margin", "false_alarms"))
        said.append(
            f"An outlier is more than {' to '.join(ends)} scales (Qn of logarithms) and {margin}"
            f" off the median. At most {most} of fleets of {of.hosts.max()} hosts and {len(of)}"
            " cases without outliers have any if logarithms spread normally (simulated)."
        )
    return Section("How", said + found["remarks"])


def shorter(cases: pd.Series) -> Callable[[str], str]:
    """Names cases without the keys that all of them have in common."""
    keys = [set(case.partition("?")[2].split("&")) for case in cases if "?" in case]
    common = set.intersection(*keys) if len(keys) > 1 else set()

    def short(case: str) -> str:
        path, _, own = case.partition("?")
        left = [key for key in own.split("&") if key and key not in common]
        return f"{path}?{'&'.join(left)}" if left else path

    return short


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


def percent(part: float) -> str:
    return "–" if pd.isna(part) else f"{plain(part * 100, 2)} %"


def interval(low: float, high: float, show: Callable) -> str:
    return "" if pd.isna(low) else f" [{show(low)}, {show(high)}]"


def times(ratio: float, low: float = np.nan, high: float = np.nan) -> str:
    """A ratio: in per cent, or as a multiple from half and twice on."""
    if 0.5 <= ratio <= 2:
        show = lambda x: f"{(x - 1) * 100:+.1f}"
        return f"{show(ratio)} %{interval(low, high, show)}"
    return f"×{plain(ratio)}{interval(low, high, plain)}"


def error(of: float) -> str:
    return "<0.0001" if of < 1e-4 else plain(of, 2)


def strip(found: dict, short: Callable) -> str:
    """A dot per host and case at its ratio to the median; outliers are red."""
    names = list(found["cases"].case)[:NAMES_MAX]
    place = {case: at for at, case in enumerate(names)}
    own = found["values"][found["values"].case.isin(names)]
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
    return svg(figure, "Each host's time over the median of its case")


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
