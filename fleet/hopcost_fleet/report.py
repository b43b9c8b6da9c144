"""What a fleet measured: outliers, groups, what the slow hosts share, pairs.

Tables of the index come in and the tables of one document go out. page.py writes it.
"""

import numpy as np
import pandas as pd

from . import rule
from .index import HEADLINE, Index, has_own_values

# The error of every test but that of outliers, which has FALSE_ALARMS.
ERROR = 0.05
# Readings by which hosts are grouped, besides their labels, and what the table of hosts calls them.
GROUPED = {"cpu.model": "cpu", "kernel.release": "kernel", "virt.hypervisor": "hypervisor"}
# The share that two sets of hosts have in common from which nobody can tell which one matters.
SAME = 0.8
NAMED_MAX = 3
# Of facts that say the same, the one that people ask for first.
ASKED = ("kernel.release", "label ", "cpu.model", "virt.hypervisor")
AGENT = ["agent_cpu_percent", "agent_wakeups_per_s", "frozen_cpu_percent", "frozen_wakeups_per_s"]


def report(index: Index, margin: float) -> dict:
    """The document. Ratios within the share `margin` of 1 are of no interest."""
    hosts, tasks, files = index.hosts(), index.tasks(), index.read("run_file", "file error")
    estimates, runs = index.estimates(), best(tasks, files)
    hosts["file"] = hosts.name.map(runs[runs.b == ""].set_index("a").file).astype(object)
    measured = hosts.dropna(subset="file")
    of_hosts = measured[["file", "name"]].rename(columns={"name": "host"})
    values, cases = judge(values_of(estimates, of_hosts), margin)
    pairs, pair_cases = judge(
        values_of(estimates, runs.loc[runs.b != "", ["file", "a", "b"]]), margin
    )
    facts = index.facts("key IN ('" + "', '".join(GROUPED) + "')").merge(of_hosts, on="file")
    members = pd.concat([facts[["host", "key", "value"]], labels(measured)], ignore_index=True)
    groups, compared = compare(values, members, margin)
    slow = set(values.host[values.off == "slower"])
    # What no two slow hosts can share need not be read.
    telling = index.telling_facts().merge(of_hosts, on="file") if len(slow) > 1 else facts
    telling = pd.concat([telling[["host", "key", "value"]], labels(measured)])
    shared = shared_facts(telling, slow, len(measured))
    told = pd.concat([shared[["key", "value"]], groups.loc[groups.off != "", ["key", "value"]]])
    all_members = pd.concat([members, telling]).drop_duplicates()
    named = facts.replace({"key": GROUPED}).pivot_table("value", "host", "key", aggfunc="first")
    hosts = hosts.join(named.reindex(columns=list(GROUPED.values())), on="name")
    hosts["reason"] = hosts.reason.where(hosts.reason.notna(), reasons(hosts, tasks, files))
    few = int((cases.hosts < rule.HOSTS_MIN).sum())
    return {
        "schema": "hopcost-fleet/1",
        "about": about(index, hosts, tasks, margin),
        "rule": applied(cases),
        "hosts": hosts.drop(columns=AGENT),
        "cases": cases,
        "outliers": values[values.off != ""].sort_values("score", key=abs, ascending=False),
        "values": values.drop(columns=["log", "error"]),
        "missing": missing(estimates.merge(of_hosts, on="file"), values),
        "shared": shared,
        "confounded": confounded(told, all_members),
        "groups": groups,
        "groups_compared": compared,
        "pair_cases": pair_cases,
        "pairs": pairs.drop(columns=["log", "error"]),
        "pair_hosts": pair_hosts(pairs),
        "agents": {"hosts": int(hosts[AGENT].notna().any(axis=1).sum()), **hosts[AGENT].median()},
        "missing_pairs": missing_pairs(tasks, runs),
        "remarks": index.remarks
        + remarks(tasks, files, runs, hosts)
        + (
            [f"No outliers in {few} of {len(cases)} cases: fewer than {rule.HOSTS_MIN} hosts."]
            if few
            else []
        ),
    }


def about(index: Index, hosts: pd.DataFrame, tasks: pd.DataFrame, margin: float) -> dict:
    """The fleet in brief, with its tasks by state."""
    said = index.read("fleet", "key value").dropna().set_index("key").value
    last = latest(tasks)
    return {
        **{
            key: said.get(key, "")
            for key in ("id", "created", "suite", "engine", "hopcost", "status")
        },
        "hosts": counts(hosts.state),
        "host_tasks": counts(last.state[last.b == ""]),
        "pair_tasks": counts(last.state[last.b != ""]),
        "margin": margin,
    }


def counts(states: pd.Series) -> dict[str, int]:
    """How many there are of each state."""
    return {state: int(n) for state, n in states.value_counts().sort_index().items()}


def latest(tasks: pd.DataFrame) -> pd.DataFrame:
    """One attempt at each task: one that was done before all others, and then the last."""
    order = tasks.assign(done=tasks.state == "done").sort_values(["done", "attempt"], kind="stable")
    return order.drop_duplicates(["a", "b"], keep="last").sort_values(["a", "b"])


def best(tasks: pd.DataFrame, files: pd.DataFrame) -> pd.DataFrame:
    """The run of each host and pair that counts: what failed may have left trials all the same."""
    return latest(tasks[tasks.file.isin(files.file[files.error.isna()])])


def remarks(tasks: pd.DataFrame, files: pd.DataFrame, runs: pd.DataFrame, hosts: pd.DataFrame):
    """What readers of the report need to know of its runs."""
    readable = tasks[tasks.file.isin(files.file[files.error.isna()])]
    several = int((readable.groupby(["a", "b"]).size() > 1).sum())
    strangers = int((~runs.a[runs.b == ""].isin(hosts.name)).sum())
    broken = int(files.error.notna().sum())
    said = [
        (several, "Tasks measured more than once, whose last run counts"),
        (strangers, "Runs left out because the table of hosts does not have their host"),
        (broken, "Run files that cannot be read (`error` in the table run_file says why)"),
    ]
    return [f"{what}: {n}." for n, what in said if n]


def reasons(hosts: pd.DataFrame, tasks: pd.DataFrame, files: pd.DataFrame) -> pd.Series:
    """Why hosts have no run: what their last task says, or why its file cannot be read."""
    of = tasks[tasks.b == ""].merge(files, on="file", how="left")
    words = of.state.map({"failed": "measuring it failed: ", "skipped": "it was not measured: "})
    failed = words + of.reason.fillna("no reason is given")
    unreadable = "its run file cannot be read: " + of.error.astype(object)
    of["why"] = failed.where(failed.notna(), unreadable)
    last = of.dropna(subset="why").drop_duplicates("a", keep="last").set_index("a").why
    return hosts.name.map(last).where(hosts.file.isna(), None)


def missing_pairs(tasks: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Why pairs have no run, a few of them."""
    known = set(zip(runs.a, runs.b))
    over = tasks[(tasks.b != "") & tasks.state.isin(["failed", "skipped"])]
    none = [row for row in over.itertuples() if (row.a, row.b) not in known]
    said = [
        f"Pair {row.a} to {row.b} {row.state}: {row.reason or 'no reason is given'}."
        for row in none[:NAMED_MAX]
    ]
    more = len(none) - NAMED_MAX
    return said + (
        [f"More pairs, with their `reason` in the table task: {more}."] if more > 0 else []
    )


def values_of(estimates: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """A row per run and case. What its run calls invalid is no value of the case."""
    found = (
        estimates[has_own_values(estimates)].merge(runs, on="file").drop(columns=["file", "skip"])
    )
    place = found.statistic.map(list(HEADLINE).index).astype(float)
    found = found[place == place.groupby(found.case).transform("min")].copy()
    found["is_rate"] = found.statistic.map(HEADLINE).astype(bool)
    # Of a rate the inverse is a time.
    found["log"] = np.log(found.point) * np.where(found.is_rate, -1, 1)
    ends = found.high.div(found.low).where(found.low > 0, 1.0)
    found["error"] = np.log(ends) / (2 * rule.HALF)
    return found.rename(columns={"point": "value"}).sort_values(["case", *runs.columns[1:]])


def judge(values: pd.DataFrame, margin: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The values with ratio, score and the side on which they are outliers; and each case."""
    n_cases = int((values.groupby("case").size() >= rule.HOSTS_MIN).sum())
    parts, cases = [], []
    for case, own in values.groupby("case"):
        judged, row = judge_case(own, n_cases, margin)
        parts.append(judged)
        cases.append({"case": case, **row})
    columns = {"ratio": [], "low_ratio": [], "high_ratio": [], "score": [], "off": []}
    empty = values.iloc[:0].assign(**columns)
    names = [
        "case",
        "statistic",
        "unit",
        "is_rate",
        "hosts",
        "median",
        "low",
        "high",
        "spread",
        "threshold",
        "slowest",
        "slowest_ratio",
        "slower",
        "faster",
    ]
    return pd.concat(parts) if parts else empty, pd.DataFrame(cases, columns=names)


def judge_case(own: pd.DataFrame, n_cases: int, margin: float) -> tuple[pd.DataFrame, dict]:
    """A case by the rule."""
    logs, is_rate = own.log.to_numpy(), bool(own.is_rate.iloc[0])
    least = rule.threshold(len(own), n_cases)
    middle, scale, scores = rule.place(logs, own.error.to_numpy())
    is_off = np.abs(scores) > (least or np.inf)
    is_off &= np.abs(logs - middle) > np.log1p(margin)
    value = lambda log: float(np.exp(-log if is_rate else log))
    ends = np.log(own[["low", "high"]].where(own.low > 0)) * (-1 if is_rate else 1)
    judged = own.assign(
        ratio=np.exp(logs - middle),
        low_ratio=np.exp(ends.min(axis=1) - middle),
        high_ratio=np.exp(ends.max(axis=1) - middle),
        score=scores,
        off=np.where(is_off, np.where(scores > 0, "slower", "faster"), ""),
    )
    slowest = int(logs.argmax())
    low, high = sorted(value(end) for end in rule.median_interval(logs))
    who = "host" if "host" in own else ["a", "b"]
    return judged, {
        "statistic": own.statistic.iloc[0],
        "unit": own.unit.iloc[0],
        "is_rate": is_rate,
        "hosts": len(own),
        "median": value(middle),
        "low": low,
        "high": high,
        "spread": float(np.expm1(scale)),
        "threshold": least,
        "slowest": " to ".join(np.atleast_1d(own.iloc[slowest][who])),
        "slowest_ratio": float(judged.ratio.iloc[slowest]),
        "slower": int((judged.off == "slower").sum()),
        "faster": int((judged.off == "faster").sum()),
    }


def applied(cases: pd.DataFrame) -> dict | None:
    """The rule as it was applied; None if every case has too few hosts."""
    judged = cases[cases.hosts >= rule.HOSTS_MIN]
    if judged.empty:
        return None
    hosts, least = int(judged.hosts.max()), float(judged.threshold.min())
    return {
        "false_alarms": rule.FALSE_ALARMS,
        "false_alarms_heavy": rule.heavy_alarms(hosts, len(judged), least),
        "hosts": hosts,
        "cases": len(judged),
        "threshold_min": least,
        "threshold_max": float(judged.threshold.max()),
    }


def missing(estimates: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Cases without a value on a host that has a run, and why."""
    none = estimates[~has_own_values(estimates)]
    has = pd.MultiIndex.from_frame(values[["host", "case"]])
    none = none[~pd.MultiIndex.from_frame(none[["host", "case"]]).isin(has)]
    invalid = np.where(none.point.notna(), "invalid, by the findings of its run", "no value")
    none = none.assign(reason=none.skip.where(none.skip.notna(), invalid))
    return none.drop_duplicates(["host", "case"])[["host", "case", "reason"]]


def labels(hosts: pd.DataFrame) -> pd.DataFrame:
    """The labels of hosts as facts."""
    rows = [
        (name, f"label {key}", value)
        for name, of in zip(hosts.name, hosts.labels)
        for key, value in of.items()
    ]
    return pd.DataFrame(rows, columns=["host", "key", "value"])


def compare(values: pd.DataFrame, members: pd.DataFrame, margin: float) -> tuple[pd.DataFrame, int]:
    """Groups that differ from the others of their case, and how many were compared."""
    tried = [compared_in(case, own, members) for case, own in values.groupby("case")]
    groups = pd.concat(tried, ignore_index=True) if tried else compared_in("", values, members)
    n = len(groups)
    groups["error"] = rule.holm(groups.error.to_numpy())
    groups = groups[groups.error <= ERROR].copy()
    ends = [shift_of(group, values, members) for group in groups.itertuples()]
    groups[["ratio", "low", "high"]] = np.exp(np.reshape(ends, (-1, 3)))
    far = np.log(groups.ratio)
    is_off = far.abs() > np.log1p(margin)
    groups["off"] = np.where(is_off, np.where(far > 0, "slower", "faster"), "")
    order = groups.assign(sound=~is_off, near=-far.abs()).sort_values(["sound", "near"]).index
    return groups.loc[order], n


def compared_in(case: str, own: pd.DataFrame, members: pd.DataFrame) -> pd.DataFrame:
    """The groups of a case with their errors; more than half are the others of another group."""
    ranks = pd.DataFrame({"host": own.host, "rank": own.log.rank()})
    found = members.merge(ranks, on="host").groupby(["key", "value"])["rank"].agg(["size", "sum"])
    n = len(own)
    found = found[(found["size"] >= rule.GROUP_MIN) & (2 * found["size"] <= n)].reset_index()
    found["error"] = rule.rank_sum_error(found["size"].to_numpy(), n, found["sum"].to_numpy())
    found = found.rename(columns={"size": "hosts"}).drop(columns="sum")
    return found.assign(others=n - found.hosts, case=case)


def shift_of(group, values: pd.DataFrame, members: pd.DataFrame) -> tuple[float, float, float]:
    """By how much a group differs from the others."""
    own = values[values.case == group.case]
    of = members.host[(members.key == group.key) & (members.value == group.value)]
    is_in = own.host.isin(of)
    return rule.shift(own.log[is_in].to_numpy(), own.log[~is_in].to_numpy())


def shared_facts(facts: pd.DataFrame, slow: set[str], hosts: int) -> pd.DataFrame:
    """What is commoner among the slow hosts than by chance: of each fact its most telling value."""
    names = ["key", "value", "slow_with", "others_with", "slow", "others", "error"]
    per_key = facts.drop_duplicates(["key", "value"]).groupby("key").size()
    # What nearly every host has a value of its own of is its name, and nothing that it shares.
    facts = facts[facts.key.isin(per_key[(per_key > 1) & (2 * per_key <= hosts)].index)]
    if not 2 <= len(slow) < hosts or facts.empty:
        return pd.DataFrame({name: [] for name in names})
    marked = facts.assign(slow=facts.host.isin(slow).astype(int))
    found = marked.groupby(["key", "value"]).slow.agg(["size", "sum"]).reset_index()
    errors = rule.fisher(found["sum"].to_numpy(), len(slow), found["size"].to_numpy(), hosts)
    found = found.assign(
        slow_with=found["sum"],
        others_with=found["size"] - found["sum"],
        slow=len(slow),
        others=hosts - len(slow),
        error=rule.holm(errors),
    )
    asked = found.key.map(lambda key: [key.startswith(of) for of in (*ASKED, "")].index(True))
    found = found.assign(asked=asked)[found.error <= ERROR]
    found = found.sort_values(["error", "asked"], kind="stable").drop_duplicates("key")
    return found[names]


def confounded(told: pd.DataFrame, members: pd.DataFrame) -> list[str]:
    """Facts that are told of nearly the same hosts, a sentence each."""
    left = [
        (f"{row.key} {row.value}", section(row.key), hosts_of(row, members))
        for row in told.drop_duplicates("key").itertuples()
    ]
    sentences = []
    while left:
        (name, part, hosts), *left = left
        alike = [of for of in left if len(hosts & of[2]) >= SAME * len(hosts | of[2])]
        left = [of for of in left if of not in alike]
        # What one reading says another of its section says too.
        other = list({of[1]: of for of in reversed(alike) if of[1] != part}.values())[::-1]
        if other:
            names = [name, *(of[0] for of in other[:NAMED_MAX])]
            names += [f"{len(other) - NAMED_MAX} more"] if len(other) > NAMED_MAX else []
            same = "the same" if all(of[2] == hosts for of in other) else "much the same"
            sentences.append(
                f"{', '.join(names[:-1])} and {names[-1]} are of {same} hosts: "
                "this fleet cannot show which of them makes the difference."
            )
    return sentences


def hosts_of(fact, members: pd.DataFrame) -> frozenset[str]:
    """The hosts that have it."""
    return frozenset(members.host[(members.key == fact.key) & (members.value == fact.value)])


def section(key: str) -> str:
    """The part of a key before its first dot; a label stands for itself."""
    return key if key.startswith("label ") else key.split(".")[0]


def pair_hosts(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each host over its pairs, the slowest first: its median ratio, and how many are outliers."""
    ends = [pairs.assign(host=pairs[end]) for end in ("a", "b") if end in pairs]
    both = pd.concat(ends) if ends else pairs.assign(host="")
    both = both.assign(slower=(both.off == "slower").astype(int))
    of = both.groupby(["case", "host"])
    found = of.agg(pairs=("ratio", "size"), slower=("slower", "sum"), ratio=("ratio", "median"))
    return found.reset_index().sort_values(["case", "ratio"], ascending=[True, False])
