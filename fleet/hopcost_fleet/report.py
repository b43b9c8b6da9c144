"""What a fleet measured: outliers, groups, what the slow hosts share, pairs.

Tables of the index come in and the tables of one document go out. page.py writes it.
"""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd

from . import rule
from .index import HEADLINE, Index

# The error of every test but that of outliers, which has FALSE_ALARMS.
ERROR = 0.05
# Readings by which hosts are grouped, besides their labels, and what the table of hosts calls them.
GROUPED = {"cpu.model": "cpu", "kernel.release": "kernel", "virt.hypervisor": "hypervisor"}
NAMED_MAX = 3
# Of facts that say the same, the one that people ask for first.
ASKED = ("kernel.release", "label ", "cpu.model", "virt.hypervisor", "")
SETTINGS = ("id", "created", "suite", "engine", "status")
CASE = ["case", "unit", "hosts", "median", "low", "high", "spread", "threshold", "slowest",
        "slowest_ratio", "slower", "faster"]  # fmt: skip


def report(index: Index, margin: float) -> dict:
    """The document. Ratios within the share `margin` of 1 are of no interest."""
    hosts, tasks = index.hosts.sort_values("name", ignore_index=True), latest(index.tasks)
    runs = latest(index.tasks[index.tasks.error == ""])
    hosts["task"] = hosts.name.map(runs[runs.b == ""].set_index("a").task)
    facts = [index.facts.get(task, {}) for task in hosts.task]
    for key, name in GROUPED.items():
        hosts[name] = [of.get(key) for of in facts]
    found = index.values.merge(runs[["task", "a", "b"]], on="task")
    is_pair = found.b != ""
    values, cases = judged(found[~is_pair & found.a.isin(hosts.name)], margin)
    pairs, pair_cases = judged(found[is_pair], margin)
    known = facts_of(hosts, facts)
    members = known[known.key.isin(GROUPED) | known.key.str.startswith("label ")]
    groups, compared = groups_of(values, members, margin)
    slow = set(values.a[values.off == "slower"])
    shared = shared_by(slow, known, int(hosts.task.notna().sum()))
    differing = pd.concat([shared, groups[groups.off != ""]])
    counts = lambda states: dict(sorted(Counter(states).items()))
    hosts["reason"] = hosts.reason.where(hosts.reason.notna(), reasons(hosts, index.tasks))
    return {
        "schema": "hopcost-fleet/2",
        "about": {
            **{key: index.settings.get(key, "") for key in SETTINGS},
            "hosts": counts(hosts.state),
            "host_tasks": counts(tasks.state[tasks.b == ""]),
            "pair_tasks": counts(tasks.state[tasks.b != ""]),
            "margin": margin,
            "false_alarms": rule.FALSE_ALARMS,
        },
        "hosts": hosts.drop(columns="task"),
        "cases": cases,
        "outliers": values[values.off != ""].sort_values("score", key=abs, ascending=False),
        "values": values,
        "shared": shared,
        "confounded": confounded(differing, known),
        "groups": groups,
        "groups_compared": compared,
        "pair_cases": pair_cases,
        "pairs": pairs,
        "pair_hosts": pair_hosts(pairs),
        "missing_pairs": missing_pairs(tasks, runs),
        "remarks": remarks(index, runs, hosts, cases),
    }


def latest(tasks: pd.DataFrame) -> pd.DataFrame:
    """One attempt at each task: one that was done before all others, and then the last."""
    order = tasks.assign(done=tasks.state == "done").sort_values(["done", "attempt"], kind="stable")
    return order.drop_duplicates(["a", "b"], keep="last").sort_values(["a", "b"])


def remarks(index: Index, runs: pd.DataFrame, hosts: pd.DataFrame, cases: pd.DataFrame) -> list:
    """What readers of the report need to know of its runs."""
    few = int((cases.hosts < rule.HOSTS_MIN).sum())
    again = index.tasks[index.tasks.error == ""].groupby(["a", "b"]).size() > 1
    said = {
        "Values and rows that no driver wrote, left out: {}.": index.left_out,
        "Tasks measured more than once, whose last run counts: {}.": again.sum(),
        "Runs left out because the table of hosts does not have their host: {}.":
            (~runs.a[runs.b == ""].isin(hosts.name)).sum(),
        "Run files that cannot be read: {}.": (index.tasks.error.fillna("") != "").sum(),
        f"No outliers in {{}} of {len(cases)} cases: fewer than {rule.HOSTS_MIN} hosts.": few,
    }  # fmt: skip
    return [what.format(n) for what, n in said.items() if n]


def reasons(hosts: pd.DataFrame, tasks: pd.DataFrame) -> pd.Series:
    """Why hosts have no run: what their last task says, or why its file cannot be read."""
    of = tasks[tasks.b == ""]
    words = of.state.map({"failed": "measuring it failed: ", "skipped": "it was not measured: "})
    failed = words + of.reason.fillna("no reason is given")
    unread = "its run file cannot be read: " + of.error.where(of.error != "", None)
    why = of.assign(why=failed.where(words.notna(), unread)).dropna(subset="why")
    last = why.drop_duplicates("a", keep="last").set_index("a").why
    return hosts.name.map(last).where(hosts.task.isna(), None)


def missing_pairs(tasks: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Why pairs have no run, a few of them."""
    has_run = tasks.index.isin(runs.index)
    none = tasks[(tasks.b != "") & tasks.state.isin(["failed", "skipped"]) & ~has_run]
    said = [f"Pair {row.a} to {row.b} {row.state}: {row.reason}." for row in
            none.head(NAMED_MAX).itertuples()]  # fmt: skip
    more = len(none) - NAMED_MAX
    return said + ([f"More pairs, with their `reason` in the table task: {more}."] * (more > 0))


def judged(values: pd.DataFrame, margin: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The values, each with its ratio, score and the side on which it is an outlier; the cases."""
    place = values.statistic.map(list(HEADLINE).index).astype(float)
    values = values[place == place.groupby(values.case).transform("min")]
    values = values.sort_values(["case", "a", "b"])
    # Of a rate the inverse is a time.
    sign = np.where(values.statistic.map(HEADLINE).astype(bool), -1.0, 1.0)
    logs = np.log(values[["value", "low", "high"]]).mul(sign, axis=0)
    errors = ((logs.high - logs.low).abs() / (2 * rule.HALF)).fillna(0.0)
    n_cases = int((values.groupby("case").size() >= rule.HOSTS_MIN).sum())
    blank = dict.fromkeys(["ratio", "low_ratio", "high_ratio", "score"], np.nan)
    made, rows = values.assign(**blank, off=""), []
    for case, own in values.groupby("case"):
        log = logs.value[own.index].to_numpy()
        least = rule.threshold(len(own), n_cases)
        middle, scale, scores = rule.place(log, errors[own.index].to_numpy())
        is_off = (np.abs(scores) > least) & (np.abs(log - middle) > np.log1p(margin))
        off = side(is_off, scores)
        ends = np.exp(logs.loc[own.index, ["low", "high"]] - middle)
        made.loc[own.index, "ratio"] = np.exp(log - middle)
        made.loc[own.index, "low_ratio"] = ends.min(axis=1)
        made.loc[own.index, "high_ratio"] = ends.max(axis=1)
        made.loc[own.index, "score"] = scores
        made.loc[own.index, "off"] = off
        back = -1.0 if own.statistic.iloc[0] == "aggregate_gbps" else 1.0
        low, high = sorted(np.exp(back * np.array(rule.median_interval(log))))
        slowest = own.iloc[int(log.argmax())]
        who = f"{slowest.a} to {slowest.b}" if slowest.b else slowest.a
        rows.append((
            case, slowest.unit, len(own), np.exp(back * middle), low, high, np.expm1(scale),
            least if np.isfinite(least) else np.nan, who, np.exp(log.max() - middle),
            (off == "slower").sum(), (off == "faster").sum(),
        ))  # fmt: skip
    return made, pd.DataFrame(rows, columns=CASE)


def side(is_off: np.ndarray, far: np.ndarray) -> np.ndarray:
    """On which side something is an outlier; empty where it is none."""
    return np.where(is_off, np.where(far > 0, "slower", "faster"), "")


def facts_of(hosts: pd.DataFrame, facts: list[dict[str, str]]) -> pd.DataFrame:
    """Labels of hosts, what groups them, and their readings that have more than one value."""
    values = defaultdict(set)
    for of in facts:
        for key, value in of.items():
            values[key].add(value)
    telling = {key for key, of in values.items() if len(of) > 1}.union(GROUPED)
    rows = []
    for host, of in zip(hosts.itertuples(), facts):
        if not pd.isna(host.task):
            rows += [(host.name, key, value) for key, value in of.items() if key in telling]
            rows += [(host.name, f"label {key}", value) for key, value in host.labels.items()]
    return pd.DataFrame(rows, columns=["host", "key", "value"], dtype=object)


def groups_of(values: pd.DataFrame, members: pd.DataFrame, margin: float) -> tuple:
    """Groups that differ from the others of their case, and how many were compared.

    More than half of the hosts are the others of another group.
    """
    ratios = values.groupby("case").ratio
    ranks = pd.DataFrame({"case": values.case, "host": values.a, "rank": ratios.rank(),
                          "all": ratios.transform("size")})  # fmt: skip
    grouped = members.merge(ranks, on="host").groupby(["case", "key", "value"])
    found = grouped.agg(hosts=("rank", "size"), ranks=("rank", "sum"), all=("all", "first"))
    is_group = (found.hosts >= rule.GROUP_MIN) & (2 * found.hosts <= found["all"])
    found = found[is_group].reset_index()
    sizes = [found[name].to_numpy(dtype=float) for name in ("hosts", "all", "ranks")]
    found["error"] = rule.holm(rule.rank_sum_error(*sizes))
    found["others"] = found["all"] - found.hosts
    groups = found[found.error <= ERROR].drop(columns=["ranks", "all"])
    ends = []
    for group in groups.itertuples():
        own = values[values.case == group.case]
        is_in = own.a.isin(hosts_of(group, members))
        logs = np.log(own.ratio)
        ends.append(np.exp(rule.shift(logs[is_in].to_numpy(), logs[~is_in].to_numpy())))
    groups[["ratio", "low", "high"]] = np.reshape(ends, (-1, 3))
    far = np.log(groups.ratio)
    groups["off"] = side(far.abs() > np.log1p(margin), far)
    order = groups.assign(sound=groups.off == "", near=-far.abs()).sort_values(["sound", "near"])
    return groups.loc[order.index], len(found)


def shared_by(slow: set[str], known: pd.DataFrame, hosts: int) -> pd.DataFrame:
    """What is commoner among the slow hosts than by chance: of each fact its most telling value."""
    each = known.drop_duplicates(["key", "value"]).groupby("key").size()
    # What nearly every host has a value of its own of is its name, and nothing that it shares.
    telling = each.index[(each > 1) & (2 * each <= hosts)]
    marked = known[known.key.isin(telling)].assign(slow=lambda of: of.host.isin(slow).astype(int))
    found = marked.groupby(["key", "value"]).slow.agg(["size", "sum"]).reset_index()
    found = found.rename(columns={"sum": "slow_with"}).assign(slow=len(slow))
    found = found.assign(others_with=found["size"] - found.slow_with, others=hosts - len(slow))
    if not 2 <= len(slow) < hosts or found.empty:
        return found.iloc[:0].assign(error=[])
    errors = rule.fisher(found.slow_with.to_numpy(), len(slow), found["size"].to_numpy(), hosts)
    found["error"] = rule.holm(errors)
    asked = found.key.map(lambda key: [key.startswith(of) for of in ASKED].index(True))
    order = found.assign(asked=asked).sort_values(["error", "asked"], kind="stable").index
    found = found.loc[order]
    return found[found.error <= ERROR].drop_duplicates("key").drop(columns="size")


def confounded(differing: pd.DataFrame, known: pd.DataFrame) -> list[str]:
    """Facts of the same hosts, a sentence each; a section of readings is named once."""
    alike: dict[frozenset, dict[str, str]] = defaultdict(dict)
    for row in differing.drop_duplicates("key").itertuples():
        section = row.key if row.key.startswith("label ") else row.key.split(".")[0]
        alike[hosts_of(row, known)].setdefault(section, f"{row.key} {row.value}")
    return [
        f"{', '.join(names[:-1])} and {names[-1]} are of the same hosts: "
        "this fleet cannot show which of them makes the difference."
        for names in ([*of.values()][: NAMED_MAX + 1] for of in alike.values())
        if len(names) > 1
    ]


def hosts_of(fact, known: pd.DataFrame) -> frozenset[str]:
    """The hosts that have it."""
    return frozenset(known.host[(known.key == fact.key) & (known.value == fact.value)])


def pair_hosts(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each host over its pairs, the slowest first: its median ratio, and how many are outliers."""
    both = pd.concat([pairs.assign(host=pairs[end]) for end in ("a", "b")])
    of = both.assign(slower=(both.off == "slower").astype(int)).groupby(["case", "host"])
    found = of.agg(pairs=("ratio", "size"), slower=("slower", "sum"), ratio=("ratio", "median"))
    return found.reset_index().sort_values(["case", "ratio"], ascending=[True, False])
