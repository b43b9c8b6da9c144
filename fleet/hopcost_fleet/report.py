"""What a fleet measured: outliers, groups, what the slow hosts share, pairs.

Tables of the index come in and the tables of one document go out. page.py writes it.
"""

from collections import defaultdict

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
ASKED = ("kernel.release", "label ", "cpu.model", "virt.hypervisor", "")
AGENT = ["agent_cpu_percent", "agent_wakeups_per_s", "frozen_cpu_percent", "frozen_wakeups_per_s"]
SETTINGS = ("id", "created", "suite", "engine", "hopcost", "status")
# The columns of what the rule says of a value, and of a case.
JUDGED = ["ratio", "low_ratio", "high_ratio", "score", "off"]
CASE = ["case", "statistic", "unit", "is_rate", "hosts", "median", "low", "high", "spread", "threshold",
        "slowest", "slowest_ratio", "slower", "faster"]  # fmt: skip
SHARED = ["key", "value", "slow_with", "others_with", "slow", "others", "error"]


def report(index: Index, margin: float) -> dict:
    """The document. Ratios within the share `margin` of 1 are of no interest."""
    hosts, tasks = index.hosts(), index.tasks()
    runs = latest(tasks[tasks.error == ""])
    estimates, facts = index.runs(runs.id)
    hosts["task"] = hosts.name.map(runs[runs.b == ""].set_index("a").id)
    measured = hosts.dropna(subset="task")
    of_hosts = measured[["task", "name"]].rename(columns={"name": "host"})
    of_pairs = runs.loc[runs.b != "", ["id", "a", "b"]].rename(columns={"id": "task"})
    values, cases = judge(values_of(estimates, of_hosts), margin)
    pairs, pair_cases = judge(values_of(estimates, of_pairs), margin)
    told = facts_of(measured, facts)
    members = told[told.key.isin(GROUPED) | told.key.str.startswith("label ")]
    groups, compared = compare(values, members, margin)
    shared = shared_facts(told, set(values.host[values.off == "slower"]), len(measured))
    differing = pd.concat([shared[["key", "value"]], groups.loc[groups.off != "", ["key", "value"]]])
    for key, name in GROUPED.items():
        hosts[name] = [facts.get(task, {}).get(key) for task in hosts.task]
    hosts["reason"] = hosts.reason.where(hosts.reason.notna(), reasons(hosts, tasks))
    return {
        "schema": "hopcost-fleet/1",
        "about": about(index, hosts, tasks, margin),
        "rule": applied(cases),
        "hosts": hosts.drop(columns=[*AGENT, "task"]),
        "cases": cases,
        "outliers": values[values.off != ""].sort_values("score", key=abs, ascending=False),
        "values": values.drop(columns=["log", "error", "task"]),
        "missing": missing(estimates.merge(of_hosts, on="task"), values),
        "shared": shared,
        "confounded": confounded(differing, told),
        "groups": groups,
        "groups_compared": compared,
        "pair_cases": pair_cases,
        "pairs": pairs.drop(columns=["log", "error", "task"]),
        "pair_hosts": pair_hosts(pairs),
        "agents": {"hosts": int(hosts[AGENT].notna().any(axis=1).sum()), **hosts[AGENT].median()},
        "missing_pairs": missing_pairs(tasks, runs),
        "remarks": index.remarks + remarks(tasks, runs, hosts, cases),
    }


def about(index: Index, hosts: pd.DataFrame, tasks: pd.DataFrame, margin: float) -> dict:
    """The fleet in brief, with its tasks by state."""
    said, last = index.settings(), latest(tasks)
    counts = lambda states: {state: int(n) for state, n in states.value_counts().sort_index().items()}
    return {
        **{key: said.get(key, "") for key in SETTINGS},
        "hosts": counts(hosts.state),
        "host_tasks": counts(last.state[last.b == ""]),
        "pair_tasks": counts(last.state[last.b != ""]),
        "margin": margin,
    }


def latest(tasks: pd.DataFrame) -> pd.DataFrame:
    """One attempt at each task: one that was done before all others, and then the last. What failed may have left
    trials all the same."""
    order = tasks.assign(done=tasks.state == "done").sort_values(["done", "attempt"], kind="stable")
    return order.drop_duplicates(["a", "b"], keep="last").sort_values(["a", "b"])


def remarks(tasks: pd.DataFrame, runs: pd.DataFrame, hosts: pd.DataFrame, cases: pd.DataFrame) -> list[str]:
    """What readers of the report need to know of its runs."""
    few = int((cases.hosts < rule.HOSTS_MIN).sum())
    said = [
        (int((tasks[tasks.error == ""].groupby(["a", "b"]).size() > 1).sum()),
         "Tasks measured more than once, whose last run counts: {}."),
        (int((~runs.a[runs.b == ""].isin(hosts.name)).sum()),
         "Runs left out because the table of hosts does not have their host: {}."),
        (int((tasks.error.fillna("") != "").sum()), "Run files that cannot be read (`indexed` of their task says why): {}."),
        (few, f"No outliers in {{}} of {len(cases)} cases: fewer than {rule.HOSTS_MIN} hosts."),
    ]  # fmt: skip
    return [what.format(n) for n, what in said if n]


def reasons(hosts: pd.DataFrame, tasks: pd.DataFrame) -> pd.Series:
    """Why hosts have no run: what their last task says, or why its file cannot be read."""
    of = tasks[tasks.b == ""].copy()
    words = of.state.map({"failed": "measuring it failed: ", "skipped": "it was not measured: "})
    failed = words + of.reason.fillna("no reason is given")
    of["why"] = failed.where(words.notna(), "its run file cannot be read: " + of.error.where(of.error != "", None))
    last = of.dropna(subset="why").drop_duplicates("a", keep="last").set_index("a").why
    return hosts.name.map(last).where(hosts.task.isna(), None)


def missing_pairs(tasks: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Why pairs have no run, a few of them."""
    known = set(zip(runs.a, runs.b))
    over = tasks[(tasks.b != "") & tasks.state.isin(["failed", "skipped"])]
    none = [row for row in over.itertuples() if (row.a, row.b) not in known]
    said = [f"Pair {row.a} to {row.b} {row.state}: {row.reason or 'no reason is given'}." for row in none[:NAMED_MAX]]
    more = len(none) - NAMED_MAX
    return said + ([f"More pairs, with their `reason` in the table task: {more}."] if more > 0 else [])


def values_of(estimates: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """A row per run and case. What its run calls invalid is no value of the case."""
    found = estimates[has_own_values(estimates)].merge(runs, on="task").drop(columns="skip")
    place = found.statistic.map(list(HEADLINE).index).astype(float)
    found = found[place == place.groupby(found.case).transform("min")].copy()
    found["is_rate"] = found.statistic.map(HEADLINE).astype(bool)
    # Of a rate the inverse is a time.
    found["log"] = np.log(found.point) * np.where(found.is_rate, -1, 1)
    found["error"] = np.log(found.high.div(found.low).where(found.low > 0, 1.0)) / (2 * rule.HALF)
    return found.rename(columns={"point": "value"}).sort_values(["case", *runs.columns[1:]])


def judge(values: pd.DataFrame, margin: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The values with ratio, score and the side on which they are outliers; and each case."""
    n_cases = int((values.groupby("case").size() >= rule.HOSTS_MIN).sum())
    found = [judge_case(case, own, n_cases, margin) for case, own in values.groupby("case")]
    empty = values.iloc[:0].assign(**{name: [] for name in JUDGED})
    judged = pd.concat([of for of, _ in found]) if found else empty
    return judged, pd.DataFrame([row for _, row in found], columns=CASE)


def judge_case(case: str, own: pd.DataFrame, n_cases: int, margin: float) -> tuple[pd.DataFrame, dict]:
    """A case by the rule."""
    logs, is_rate = own.log.to_numpy(), bool(own.is_rate.iloc[0])
    least = rule.threshold(len(own), n_cases)
    middle, scale, scores = rule.place(logs, own.error.to_numpy())
    is_off = (np.abs(scores) > (least or np.inf)) & (np.abs(logs - middle) > np.log1p(margin))
    ends = np.log(own[["low", "high"]].where(own.low > 0)) * (-1 if is_rate else 1)
    judged = own.assign(
        ratio=np.exp(logs - middle),
        low_ratio=np.exp(ends.min(axis=1) - middle),
        high_ratio=np.exp(ends.max(axis=1) - middle),
        score=scores,
        off=side(is_off, scores),
    )
    value = lambda log: float(np.exp(-log if is_rate else log))
    slowest = int(logs.argmax())
    low, high = sorted(value(end) for end in rule.median_interval(logs))
    who = "host" if "host" in own else ["a", "b"]
    counts = judged.off.value_counts()
    row = [case, own.statistic.iloc[0], own.unit.iloc[0], is_rate, len(own), value(middle), low, high, float(np.expm1(scale)),
           least, " to ".join(np.atleast_1d(own.iloc[slowest][who])), float(judged.ratio.iloc[slowest]),
           int(counts.get("slower", 0)), int(counts.get("faster", 0))]  # fmt: skip
    return judged, dict(zip(CASE, row, strict=True))


def side(is_off: np.ndarray, far: np.ndarray) -> np.ndarray:
    """On which side something is an outlier; empty where it is none."""
    return np.where(is_off, np.where(far > 0, "slower", "faster"), "")


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


def facts_of(measured: pd.DataFrame, facts: dict[float, dict[str, str]]) -> pd.DataFrame:
    """Readings of hosts of which there is more than one value, those that group hosts, and labels, a row each."""
    values = defaultdict(set)
    for of in facts.values():
        for key, value in of.items():
            values[key].add(value)
    telling = {key for key, of in values.items() if len(of) > 1}.union(GROUPED)
    rows = []
    for host in measured.itertuples():
        rows += [(host.name, key, value) for key, value in facts.get(host.task, {}).items() if key in telling]
        rows += [(host.name, f"label {key}", value) for key, value in host.labels.items()]
    return pd.DataFrame(rows, columns=["host", "key", "value"], dtype=object)


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
    groups["off"] = side(far.abs() > np.log1p(margin), far)
    order = groups.assign(sound=groups.off == "", near=-far.abs()).sort_values(["sound", "near"]).index
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
    is_in = own.host.isin(hosts_of(group, members))
    return rule.shift(own.log[is_in].to_numpy(), own.log[~is_in].to_numpy())


def shared_facts(facts: pd.DataFrame, slow: set[str], hosts: int) -> pd.DataFrame:
    """What is commoner among the slow hosts than by chance: of each fact its most telling value."""
    per_key = facts.drop_duplicates(["key", "value"]).groupby("key").size()
    # What nearly every host has a value of its own of is its name, and nothing that it shares.
    facts = facts[facts.key.isin(per_key[(per_key > 1) & (2 * per_key <= hosts)].index)]
    if not 2 <= len(slow) < hosts or facts.empty:
        return pd.DataFrame({name: [] for name in SHARED})
    marked = facts.assign(slow=facts.host.isin(slow).astype(int))
    found = marked.groupby(["key", "value"]).slow.agg(["size", "sum"]).reset_index()
    errors = rule.fisher(found["sum"].to_numpy(), len(slow), found["size"].to_numpy(), hosts)
    found = found.assign(
        slow_with=found["sum"],
        others_with=found["size"] - found["sum"],
        slow=len(slow),
        others=hosts - len(slow),
        error=rule.holm(errors),
        asked=found.key.map(lambda key: [key.startswith(of) for of in ASKED].index(True)),
    )
    found = found[found.error <= ERROR].sort_values(["error", "asked"], kind="stable")
    return found.drop_duplicates("key")[SHARED]


def confounded(differing: pd.DataFrame, members: pd.DataFrame) -> list[str]:
    """Facts that are told of nearly the same hosts, a sentence each."""
    left = [
        (f"{row.key} {row.value}", row.key if row.key.startswith("label ") else row.key.split(".")[0], hosts_of(row, members))
        for row in differing.drop_duplicates("key").itertuples()
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


def pair_hosts(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each host over its pairs, the slowest first: its median ratio, and how many are outliers."""
    both = pd.concat([pairs.assign(host=pairs[end]) for end in ("a", "b")])
    of = both.assign(slower=(both.off == "slower").astype(int)).groupby(["case", "host"])
    found = of.agg(pairs=("ratio", "size"), slower=("slower", "sum"), ratio=("ratio", "median"))
    return found.reset_index().sort_values(["case", "ratio"], ascending=[True, False])
