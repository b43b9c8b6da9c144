"""The report: its rule by simulation, its tests by oracles, and fleets whose truth is known."""

import json
import os
import sqlite3
import subprocess
import sys
import unittest

from .support import HAS_PANDAS, TESTS, FleetTest

if HAS_PANDAS:
    import numpy as np
    from hopcost_fleet import index, page, report, rule
    from scipy import optimize, special, stats
MAKE = TESTS.parent.parent / "tests" / "support" / "fleet.py"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n"
LEFT_OUT = "Values and rows that no driver wrote, left out"
WHY_NOT = "NOT CHECKED: pandas is not here"


def put(table: str, path: str, value: str, column: str = "document") -> str:
    """SQL that sets a part of every document of a table."""
    return f"UPDATE {table} SET {column} = json_set({column}, '$.{path}', {value})"


def run(path: str, value: str) -> str:
    """The same of what every run file holds."""
    return put("task", path, value, "run")


def of(task: str) -> str:
    """Where the task of a host is meant."""
    return f" WHERE json_extract(document, '$.a') = '{task}'"


def drawn(hosts: int, fleets: int, rng) -> "np.ndarray":
    """Fleets without outliers: the median with a host far above or far below, and the scale.

    A host far off adds nothing to the scale but that it is there, so what it takes to be an outlier
    is known from the others.
    """
    first, second = np.triu_indices(hosts - 1, 1)
    half = hosts // 2 + 1
    rank = half * (half - 1) // 2
    found = []
    for _ in range(fleets):
        others = np.sort(rng.standard_normal(hosts - 1))
        distance = np.partition(others[second] - others[first], rank - 1)[rank - 1]
        factor = rule.qn(np.arange(float(hosts))) / unscaled(hosts)
        below, above = (hosts - 1) // 2, hosts // 2
        middle = (others[below] + others[min(above, hosts - 2)]) / 2
        lower = (others[below - 1] + others[above - 1]) / 2
        found.append((middle, lower, factor * distance))
    return np.array(found)


def unscaled(hosts: int) -> float:
    """The distance of the numbers below `hosts` by which `qn` multiplies its factor."""
    distances = np.subtract.outer(np.arange(hosts), np.arange(hosts))[np.tril_indices(hosts, -1)]
    half = hosts // 2 + 1
    return float(np.sort(distances)[half * (half - 1) // 2 - 1])


def alarms(fleets: "np.ndarray", hosts: int, threshold: float) -> float:
    """The mean number of outliers in a case of such fleets."""
    middle, lower, scale = fleets.T
    far = threshold * scale
    return hosts * (special.ndtr(-middle - far) + special.ndtr(lower - far)).mean()


def played(
    rng,
    fleets: int,
    hosts: int,
    cases: int,
    spread=0.05,
    own=0.0,
    margin=0.0,
    slow=(0, 1.0),
):
    """Fleets through the whole rule: shares with a false outlier, and of slow ones found."""
    least, sound = rule.threshold(hosts, cases), hosts - slow[0]
    false = found = 0.0
    for _ in range(fleets):
        is_off = np.zeros(hosts, dtype=bool)
        for _ in range(cases):
            errors = spread * own * np.exp(rng.uniform(-1.1, 1.1, hosts))
            logs = spread * rng.standard_normal(hosts) + errors * rng.standard_normal(hosts)
            logs[sound:] += np.log(slow[1])
            middle, _, scores = rule.place(logs, errors)
            is_off |= (np.abs(scores) > least) & (np.abs(logs - middle) > np.log1p(margin))
        false += is_off[:sound].any() / fleets
        found += is_off[sound:].mean() / fleets if slow[0] else 0.0
    return false, found


@unittest.skipUnless(HAS_PANDAS, WHY_NOT)
class Rule(unittest.TestCase):
    """The stated rate holds, slow hosts are found."""

    def setUp(self) -> None:
        self.rng = np.random.default_rng(11)

    def test_thresholds_have_the_stated_alarms(self) -> None:
        for hosts, cases, fleets in [
            (8, 1, 20_000),
            (9, 6, 20_000),
            (13, 3, 10_000),
            (22, 5, 6000),
            (28, 8, 8000),
            (40, 1, 4000),
            (80, 6, 2000),
            (150, 20, 500),
            (500, 4, 200),
        ]:
            mean = (
                alarms(drawn(hosts, fleets, self.rng), hosts, rule.threshold(hosts, cases)) * cases
            )
            self.assertLess(
                abs(mean / rule.FALSE_ALARMS - 1), 0.15, f"{hosts} hosts, {cases} cases: {mean}"
            )

    def test_the_rows_of_the_table_are_simulated_anew(self) -> None:
        for hosts, fleets in [(8, 20_000), (15, 10_000), (48, 3000)]:
            fleets = drawn(hosts, fleets, self.rng)
            for cases in (1, 20):
                off = lambda threshold: alarms(fleets, hosts, threshold) * cases - rule.FALSE_ALARMS
                exact = optimize.brentq(off, 1, 100)
                self.assertLess(
                    abs(rule.threshold(hosts, cases) / exact - 1), 0.03, f"{hosts} {cases}"
                )

    def test_at_most_one_fleet_in_twenty_has_a_false_outlier(self) -> None:
        for hosts, cases, fleets in [
            (8, 1, 2000),
            (20, 3, 2000),
            (100, 6, 500),
            (400, 2, 400),
            (1000, 1, 400),
        ]:
            share, _ = played(self.rng, fleets, hosts, cases)
            # Three standard errors; a rule that never names a host is broken too.
            spread = np.sqrt(0.05 * 0.95 / fleets)
            self.assertLess(abs(share - 0.05), 3.5 * spread, f"{hosts} hosts, {cases} cases")

    def test_what_hosts_do_not_know_of_themselves_raises_no_alarms(self) -> None:
        self.assertLess(played(self.rng, 400, 100, 3, own=1.0)[0], 0.085)

    def test_slow_hosts_are_found(self) -> None:
        for hosts in (20, 100):
            self.assertGreater(
                played(self.rng, 100, hosts, 3, spread=0.03, margin=0.03, slow=(4, 1.4))[1], 0.9
            )
        # A tenth of a thousand hosts, slower by a fifth; ten of them, slower by a tenth.
        self.assertGreater(
            played(self.rng, 20, 1000, 3, spread=0.02, margin=0.03, slow=(100, 1.2))[1], 0.95
        )
        self.assertGreater(
            played(self.rng, 20, 1000, 3, spread=0.01, margin=0.03, slow=(10, 1.1))[1], 0.99
        )

    def test_pairs_that_share_hosts_raise_no_more_alarms(self) -> None:
        for hosts, own in [(8, 1.0), (8, 0.3), (16, 1.0)]:
            a, b = np.triu_indices(hosts, 1)
            least, alarmed = rule.threshold(len(a), 1), 0
            for _ in range(1000):
                of = self.rng.standard_normal(hosts)
                logs = 0.01 * (of[a] + of[b] + own * self.rng.standard_normal(len(a)))
                alarmed += (np.abs(rule.place(logs, np.zeros(len(a)))[2]) > least).any()
            self.assertLessEqual(alarmed / 1000, 0.05, f"{hosts} {own}")

    def test_thresholds_grow_with_cases_and_have_a_least_size(self) -> None:
        self.assertEqual(rule.threshold(rule.HOSTS_MIN - 1, 1), np.inf)
        few, many = rule.threshold(100, 1), rule.threshold(100, 50)
        self.assertTrue(3.4 < few < many < 6 and rule.threshold(8, 1) > few)
        self.assertGreater(rule.threshold(10_000, 1), rule.threshold(1000, 1))

    def test_a_host_that_knows_its_value_less_well_counts_by_less(self) -> None:
        logs = np.append(np.arange(-20, 21) / 400, [0.5, 0.5, 0.5])
        errors = np.append(np.full(41, 0.01), [0.01, 0.3, 0.0])
        sure, unsure, unknown = rule.place(logs, errors)[2][41:]
        self.assertTrue(sure > 10 and unsure < 2 and sure == unknown)
        self.assertTrue((rule.place(np.ones(9), np.full(9, 0.1))[2] == 0).all())
        self.assertEqual(rule.place(np.append(np.ones(9), 2.0), np.zeros(10))[2][9], np.inf)


@unittest.skipUnless(HAS_PANDAS, WHY_NOT)
class Oracles(unittest.TestCase):
    """What is computed by ranks is what the definitions and SciPy say."""

    def setUp(self) -> None:
        self.rng = np.random.default_rng(5)

    def rank_sum_error(self, few: int, hosts: int, ranks: float) -> float:
        return rule.rank_sum_error(np.array([few]), np.array([hosts]), np.array([ranks]))[0]

    def test_qn_is_a_quantile_of_all_distances_and_the_standard_deviation(self) -> None:
        self.assertEqual(rule.qn(np.full(4, 3.0)), 0)
        for hosts in (9, 10, 50, 51):
            mean = np.mean([rule.qn(self.rng.standard_normal(hosts)) for _ in range(2000)])
            self.assertLess(abs(mean - 1), 0.04, hosts)
        values = self.rng.standard_normal(31)
        distances = np.sort(np.abs(np.subtract.outer(values, values))[np.triu_indices(31, 1)])
        self.assertAlmostEqual(
            rule.qn(values), 2.2219 * 31 / 32.4 * distances[16 * 15 // 2 - 1], 10
        )

    def test_differences_are_the_ranked_ones_of_all(self) -> None:
        a, b = self.rng.standard_normal(7), self.rng.standard_normal(12)
        for rank, wanted in enumerate(np.sort(np.subtract.outer(a, b).ravel()), 1):
            self.assertAlmostEqual(rule.ranked_difference(a, b, rank), wanted, 10)

    def test_rank_sums_are_those_of_the_exact_distribution(self) -> None:
        for few, all_hosts in [(4, 96), (12, 40), (20, 120), (30, 80)]:
            ranks = stats.rankdata(
                self.rng.standard_normal(all_hosts) + (np.arange(all_hosts) < few)
            )
            error = self.rank_sum_error(few, all_hosts, ranks[:few].sum())
            is_exact = few <= rule.EXACT_MAX and error <= 0.05
            how = (
                {"method": "exact"}
                if is_exact
                else {"method": "asymptotic", "use_continuity": True}
            )
            self.assertAlmostEqual(
                error / stats.mannwhitneyu(ranks[:few], ranks[few:], **how).pvalue, 1, 6
            )
        # 1 of C(100, 4) orders has four hosts above all others.
        self.assertAlmostEqual(rule.rank_sum_tail(4, 96, 0) * 3_921_225, 1, 9)

    def test_a_group_is_wrong_as_often_as_stated_and_its_interval_covers(self) -> None:
        for hosts in (40, 300):
            few, wrong, covered = hosts // 4, 0, 0
            for _ in range(400):
                values = self.rng.standard_normal(hosts)
                sums = stats.rankdata(values)[:few].sum()
                wrong += self.rank_sum_error(few, hosts, sums) <= 0.05
                point, low, high = rule.shift(values[:few] + 2, values[few:])
                covered += low <= 2 <= high
                self.assertTrue(low <= point <= high)
            # 5 % of 400, with three standard errors.
            self.assertTrue(
                7 <= wrong <= 34 and 366 <= covered <= 395, f"{hosts} {wrong} {covered}"
            )

    def test_medians_are_covered(self) -> None:
        self.assertTrue(np.isnan(rule.median_interval(np.arange(5.0))).all())
        self.assertEqual(rule.median_interval(np.arange(6.0)), (0, 5))
        ends = [rule.median_interval(self.rng.standard_normal(30)) for _ in range(1000)]
        self.assertGreaterEqual(sum(low <= 0 <= high for low, high in ends), 935)

    def test_published_examples(self) -> None:
        # Fisher's tea: 3 of 4 right by chance in 17 of 70, all in 1.
        tea = rule.fisher(np.array([3, 4, 0]), 4, np.array([4, 4, 4]), 8)
        np.testing.assert_allclose(tea, [17 / 70, 1 / 70, 1])
        # R: p.adjust(c(0.01, 0.04, 0.03), "holm") is 0.03 0.06 0.06.
        np.testing.assert_allclose(rule.holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
        self.assertEqual(len(rule.holm(np.array([]))), 0)


@unittest.skipUnless(HAS_PANDAS, WHY_NOT)
class Reports(FleetTest):
    """Fleets whose truth is known, and indices that lie."""

    def fleet(self, *words: object, sql: str = "") -> None:
        """The index of a fleet, edited."""
        subprocess.run([sys.executable, MAKE, self.out, *map(str, words)], check=True)
        db = sqlite3.connect(self.out / "fleet.sqlite")
        db.executescript(sql)
        db.close()

    def run_report(self, *words: object, code: int = 0) -> str:
        """stdout of the program, or its one line where it fails."""
        out, err = self.drive("report", self.out, *words, code=code)
        self.assertTrue(not code or err.count("\n") == 1, err)
        return out or err

    def report(self, form: str = "text", details: bool = False) -> str:
        """The same in this process, which has loaded pandas."""
        return page.written(report.report(index.read(self.out), 0.03), form, details)

    def found(self) -> dict:
        return json.loads(self.report("json"))

    def test_slow_hosts_are_on_one_screen_with_what_they_share(self) -> None:
        self.fleet(100, "--slow", "4:1.4", "--failed", 4, "--pairs", 8)
        screen = self.run_report()
        flat = " ".join(screen.split())
        for part in (
            "4 slower, 0 faster",
            "All 4 slow hosts have kernel.release 6.1.9; none of the 92 others",
            "kernel.release 6.1.9 and label rack r0 are of the same hosts",
            "its agent died",
            "no route to host",
            "Slower in most of their pairs: h00003 (×1.",
            "measuring it failed: exit code 1: no space left",
        ):
            self.assertIn(part, flat)
        self.assertLessEqual(screen.count("\n"), 55)
        self.assertTrue(all(len(line) <= 100 for line in screen.splitlines()))
        found = self.found()
        self.assertEqual({of["a"] for of in found["outliers"]}, {f"h0000{at}" for at in range(4)})
        group, shared = found["groups"][0], found["shared"][0]
        said = (group["key"], group["hosts"], group["off"])
        self.assertEqual(said, ("kernel.release", 4, "slower"))
        self.assertTrue(group["low"] < 1.4 < group["high"] and shared["error"] < 1e-4)
        said = (shared["key"], shared["slow_with"], shared["others_with"])
        self.assertEqual(said, ("kernel.release", 4, 0))
        slow = found["pair_hosts"][0]
        self.assertEqual((slow["host"], slow["slower"]), ("h00003", 7))
        html = self.report("html")
        self.assertEqual((html.count("<svg"), html.count("<script")), (2, 0))
        self.assertNotIn("http", html.split("<h1>")[0])

    def test_a_group_of_near_half_the_hosts_is_no_outlier_but_a_group(self) -> None:
        slower = "".join(
            run(f"estimates[0].{key}", f"1.2 * json_extract(run, '$.estimates[0].{key}')")
            + " WHERE json_extract(document, '$.a') < 'h00024';"
            for key in ("point", "low", "high")
        )
        self.fleet(60, "--cases", 1, sql=slower + put("host", "labels.rack", "'' || (name < 'h00024')"))
        found = self.found()
        said = [(of["value"], of["off"], of["hosts"]) for of in found["groups"]]
        self.assertEqual(said, [("1", "slower", 24)])

    def test_the_last_run_counts_and_hosts_without_one_say_why(self) -> None:
        twice = ", ".join(f"'$.estimates[0].{key}', {value}" for key, value in [
            ("point", "2 * json_extract(run, '$.estimates[0].point')"), ("low", "NULL"), ("high", "NULL"),
        ])  # fmt: skip
        self.fleet(
            12, "--cases", 2,
            sql=f"""INSERT INTO task SELECT NULL, json_set(document, '$.attempt', 2), json_set(run, {twice})
                FROM task{of("h00000")};
            UPDATE task SET document = json_remove(json_set(document, '$.state', 'failed', '$.reason', 'it died'),
                '$.file'), run = NULL{of("h00003")};
            {run("error", "'it is damaged'")}{of("h00005")};
            {run("estimates[0].validity", "'invalid'")}{of("h00006")};""",
        )  # fmt: skip
        found = self.found()
        hosts = {host["name"]: host for host in found["hosts"]}
        self.assertEqual(hosts["h00003"]["reason"], "measuring it failed: it died")
        self.assertEqual(hosts["h00005"]["reason"], "its run file cannot be read: it is damaged")
        again = [value["ratio"] for value in found["values"] if value["a"] == "h00000"]
        self.assertTrue(abs(again[0] - 2) < 0.2 and abs(again[1] - 1) < 0.2, again)
        self.assertEqual(found["about"]["host_tasks"], {"done": 11, "failed": 1})
        self.assertEqual(sum(of["a"] == "h00006" for of in found["values"]), 1)
        self.assertIn("Tasks measured more than once, whose last run counts: 1.", found["remarks"])

    def test_fleets_are_reported_at_any_moment(self) -> None:
        running = "json_remove(json_set(document, '$.state', 'running'), '$.file')"
        self.fleet(20, sql=f"UPDATE task SET run = NULL, document = {running} WHERE id > 12")
        self.assertIn("12 done, 8 running", self.report())
        self.out = self.root / "few"
        self.fleet(5)
        self.assertIn("No outliers in 4 of 4 cases: fewer than 8 hosts.", self.report())
        self.out = self.root / "empty"
        self.fleet(0)
        for form in ("text", "json", "html"):
            self.assertTrue("no host yet" in self.report(form) or form == "json")

    def test_hostile_indices_are_a_remark_or_one_line(self) -> None:
        escape = "char(27) || '[2Jgone' || char(8238)"
        for number, (sql, says) in enumerate([
            ("UPDATE host SET name = '../../x' WHERE name = 'h00001'", f"{LEFT_OUT}: 1"),
            (put("host", "labels", "json('[1]')"), "10 hosts"),
            (put("host", "state", "7"), f"{LEFT_OUT}: 10"),
            ("UPDATE host SET document = '[1' WHERE name = 'h00001'", f"{LEFT_OUT}: 1"),
            (f"UPDATE host SET document = '{'[' * 100000}'", f"{LEFT_OUT}: 10"),
            ("UPDATE task SET run = x'00ff'", "10 hosts"),
            (run("estimates[0].point", "-1"), f"{LEFT_OUT}: 10"),
            (run("estimates[0].point", "json('1e999')"), f"{LEFT_OUT}: 10"),
            (run("estimates[0].point", "'fast'"), f"{LEFT_OUT}: 10"),
            (run("estimates[0].statistic", "json('[]')"), "10 hosts"),
            (run("estimates", "7"), "10 hosts"),
            (run("facts", "json('[1]')"), "10 hosts"),
            (put("task", "a", "'nobody'"), "the table of hosts does not have their host: 1"),
            (put("task", "kind", "'moon'"), f"{LEFT_OUT}: 10"),
            (put("host", "state", "'lost'") + ";" + put("host", "reason", escape), "[2Jgone"),
            (run('facts."host.id"', "char(27) || ']0;x' || char(7)"), "10 hosts"),
            (run("estimates[0].case", "'a' || char(10) || '<script>'"), "script"),
            ("DELETE FROM fleet; DELETE FROM task", "10 hosts"),
        ]):  # fmt: skip
            self.out = self.root / f"hostile-{number}"
            self.fleet(10, sql=sql)
            for form in ("text", "json", "html"):
                said = self.report(form, details=True)
                self.assertFalse({"\x1b", "\x07", "\u202e"} & set(said), sql[:200])
                self.assertFalse("<script" in said and form == "html", sql[:200])
                if form == "text":
                    self.assertIn(says, " ".join(said.split()), sql[:200])
        for number, (sql, why) in enumerate([
            ("DROP TABLE task", "no such table: task"),
            ("ALTER TABLE host RENAME COLUMN document TO other", "no such column: document"),
            (f"DROP TABLE task; CREATE VIEW task AS {ENDLESS}", "no such table: task"),
            ("UPDATE host SET document = zeroblob(50000000)", "too big"),
        ]):  # fmt: skip
            self.out = self.root / f"refused-{number}"
            self.fleet(10, sql=sql)
            self.assertRaisesRegex((sqlite3.Error, ValueError), why, self.report)

    def test_bad_input_is_one_line_and_nothing_is_written(self) -> None:
        self.fleet(9)
        self.assertIn("--margin", self.run_report("--margin", "lots", code=2))
        self.out.chmod(0o555)
        before = (self.out / "fleet.sqlite").read_bytes()
        self.assertIn("9 hosts", self.run_report())
        self.assertEqual((self.out / "fleet.sqlite").read_bytes(), before)
        self.out.chmod(0o755)
        os.mkfifo(self.out / "fleet.sqlite-journal")
        self.assertIn("fleet.sqlite-journal is no file", self.run_report(code=2))
        self.out = self.root / "nothing"
        self.out.mkdir()
        self.assertIn("fleet.sqlite is no file", self.run_report(code=2))


if __name__ == "__main__":
    unittest.main()
