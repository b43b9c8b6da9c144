//! What `hopcost compare` is asked, how cases are measured for it, and when it fails.

use std::path::{Path, PathBuf};

use hopcost_model::text::count;
use hopcost_model::{Case, ComparisonPlan, Plan, Workload};
use hopcost_plan::Ask;
use hopcost_probe::mechanism;
use hopcost_read::results::{Across, Compared, Statistic};

use super::exit::{self, ensure, not_comparable, usage};
use super::input::percent;
use super::measured::{AxisArgs, MeasuredArgs};
use super::run::with;
use super::shown::{Shown, statistic};
use super::{host, output};
use crate::run::runtimes::{Found, Runtimes};

/// Time for cases that are measured.
pub const BUDGET: &str = "20s";

/// Report which is faster, stored runs or cases side by side; fail CI if slower
#[derive(clap::Args)]
#[command(mut_arg("budget", |arg| arg.default_value(BUDGET)))]
#[command(override_usage = "hopcost compare [OPTIONS] OLD NEW... | OLD... -- NEW...
       hopcost compare [OPTIONS] {--live | --along AXIS=FROM..TO | --worker OLD --worker NEW} CASE...")]
pub struct Args {
    /// Runs as `report` takes them, their directories, or cases; the baseline first. Also two fleets,
    /// and with two workers the case of both
    #[arg(value_name = "RUN|CASE", required = true)]
    pub what: Vec<String>,
    /// Runs, if a side has several: those before `--` are the baseline
    #[arg(last = true, value_name = "NEW", conflicts_with = "live")]
    pub new: Vec<String>,
    /// Add the geometric mean of each side over its cases, or over the values of --along
    #[arg(long, value_name = "geomean", value_parser = ["geomean"], conflicts_with = "live")]
    pub summary: Option<String>,
    /// What the runs may differ in
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "live",
          long_help = across_help())]
    pub across: Vec<Across>,
    /// Measure cases now, side by side
    #[arg(long)]
    pub live: bool,
    /// Compare cases along payload=64..1MiB, with --budget for each value. The axis is payload, flows, gap
    /// or rate. Where one case overtakes the other, hopcost adds up to 8 values. AXIS alone shows stored
    /// comparisons again
    #[arg(long, value_name = "AXIS=FROM..TO", conflicts_with_all = ["new", "across", "fail_if_slower", "statistic"])]
    pub along: Option<String>,
    /// Treat cases within this ratio of each other as equal
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "3%")]
    margin: f64,
    /// Fail (exit code 4) if a case is slower by more than this. What looks slower is measured
    /// again first, unless both sides are stored
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "margin")]
    pub fail_if_slower: Option<f64>,
    /// Fail (exit code 5) if a case may be slower and is undecided
    #[arg(long, requires = "fail_if_slower")]
    pub strict: bool,
    /// Compare runs by this percentile (50, 90, 95, 99, 99.9) instead of the p50 or cost
    #[arg(long, value_name = "PERCENTILE", value_parser = statistic, conflicts_with = "live")]
    pub statistic: Option<Statistic>,
    #[command(flatten)]
    pub axes: AxisArgs,
    #[command(flatten)]
    pub measured: MeasuredArgs,
    #[command(flatten)]
    pub shown: Shown,
}

fn across_help() -> String {
    let words: Vec<&str> = Across::ALL.iter().map(|across| across.word()).collect();
    format!(
        "What the runs may differ in, separated by commas: {}. Without it nothing is compared that \
         differs in any of them (exit code 6)",
        words.join(", ")
    )
}

impl Args {
    /// Whether cases are measured side by side: those that are named, or the one of two workers.
    pub fn is_live(&self) -> bool {
        let is_one_case = matches!(self.what.as_slice(), [case] if !Path::new(case).exists());
        self.live || self.measured.worker.len() == 2 && self.new.is_empty() && is_one_case
    }

    /// Cases within this share of each other count as equal.
    pub fn margin(&self) -> f64 {
        self.fail_if_slower.unwrap_or(self.margin)
    }

    /// Measures again what looks slower, where that would fail.
    pub fn confirm(
        &self,
        first: &mut [Compared],
        again: impl FnOnce(&[String]) -> anyhow::Result<Vec<Compared>>,
    ) -> anyhow::Result<()> {
        let slower = first.iter().filter(|of| of.looks_slower());
        let slower: Vec<String> = slower.map(|of| of.case.clone()).collect();
        if self.fail_if_slower.is_none() || slower.is_empty() {
            return Ok(());
        }
        let looked = count(slower.len(), "case");
        output::say(&format!("hopcost: {looked} looked slower: measured again"));
        let second = again(&slower)?;
        for of in first.iter_mut().filter(|of| slower.contains(&of.case)) {
            let found = second.iter().find(|again| again.case == of.case).cloned();
            let found = found.unwrap_or_else(|| Compared::unmeasured(&of.case));
            of.again = Some(Box::new(found));
        }
        Ok(())
    }

    /// The exit code of a comparison; a case fails only with `--fail-if-slower`.
    pub fn code(&self, compared: &[Compared], is_invalid: bool) -> u8 {
        let any = |is_it: &dyn Fn(&Compared) -> bool| {
            self.fail_if_slower.is_some() && compared.iter().any(is_it)
        };
        // What has no interval is neither faster nor slower.
        let is_judged = |of: &Compared| of.contrast.is_some_and(|of| of.low.is_some());
        match () {
            () if any(&|of| !of.is_measured()) => exit::ERROR,
            () if !compared.iter().any(is_judged) => exit::NOT_COMPARABLE,
            () if is_invalid => exit::INVALID,
            () if any(&Compared::is_slower) => exit::REGRESSION,
            () if self.strict && any(&|of| of.is_open(self.margin())) => exit::INCONCLUSIVE,
            () => exit::OK,
        }
    }
}

/// Whether a word is a case's and no file's.
pub fn is_case(word: &str) -> bool {
    let first = word.split(['/', '?', ':']).next().unwrap_or_default();
    let is_known = first.parse::<Workload>().is_ok() || mechanism::find(first).is_some();
    is_known && !Path::new(word).exists()
}

pub fn plan(args: &Args, what: &[String], runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let selectors = match what {
        [case] => of_two_workers(args, case, runtimes)?,
        _ => what.to_vec(),
    };
    let ask = Ask { selectors, axes: args.axes.0.clone(), ..args.measured.ask() };
    let machine = host::machine(&args.measured.cpus)?;
    let compared = ComparisonPlan { margin: args.margin() };
    let plan = hopcost_plan::comparison(&ask, compared, &runtimes.catalog(), &machine);
    let plan = plan.map_err(usage)?;
    comparable(plan.live_cases())?;
    Ok(plan)
}

/// One case by each of two workers, such as two builds of one.
fn of_two_workers(args: &Args, case: &str, runtimes: &Runtimes) -> anyhow::Result<Vec<String>> {
    let are_two = args.measured.worker.len() == 2;
    ensure(are_two, "--live compares with the first case: name a second")?;
    let by = |(path, found): (&PathBuf, &Found)| match &found.state {
        Ok(_) => Ok(with(case, &format!("runtime={}", found.runtime.word()))),
        Err(why) => Err(usage(format!("worker {}: {why}", path.display()))),
    };
    args.measured.worker.iter().zip(runtimes.named()).map(by).collect()
}

/// Refuses to divide what does not mean the same.
fn comparable<'a>(mut cases: impl Iterator<Item = &'a Case>) -> anyhow::Result<()> {
    let Some(baseline) = cases.next() else { return Ok(()) };
    let Some(other) = cases.find(|case| !case.is_alike(baseline)) else { return Ok(()) };
    let wanted = match other.unlike_in(baseline) {
        Some(axis) if other.workload == baseline.workload => {
            let values = [other, baseline].into_iter().filter_map(|case| axis.get(case));
            let named = values.map(|value| value.to_string()).find(|value| value != "0");
            format!("{0}; give both --{0} {1}", axis.key, named.unwrap_or_default())
        }
        _ => "workload".to_owned(),
    };
    Err(not_comparable(format!(
        "{other} means something else than {baseline}: a ratio of the two wants the same {wanted}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;
    use clap::FromArgMatches;
    use hopcost_read::results::{Compared, Contrast, Verdict};

    /// The page with the workflow.
    const PAGE: &str = include_str!("../../../../docs/ci.md");

    fn args(words: &[&str]) -> Args {
        let all = ["hopcost", "compare", "old", "--fail-if-slower", "5%"];
        let matches = command().try_get_matches_from(all.iter().chain(words)).unwrap();
        Args::from_arg_matches(matches.subcommand().unwrap().1).unwrap()
    }

    fn found(case: &str, verdict: Verdict, ratio: f64) -> Compared {
        let contrast = Contrast {
            ratio,
            low: Some(ratio - 0.02),
            high: Some(ratio + 0.02),
            coverage: 0.95,
            n: 9,
            verdict,
            more: None,
        };
        Compared { contrast: Some(contrast), ..Compared::unmeasured(case) }
    }

    fn slower(case: &str) -> Compared {
        found(case, Verdict::Outside, 1.2)
    }

    #[test]
    fn only_what_looked_slower_is_measured_again() {
        let faster = found("b", Verdict::Outside, 0.8);
        let mut first = [slower("a"), faster, slower("c"), slower("d")];
        let again = |names: &[String]| {
            assert_eq!(names, ["a", "c", "d"]);
            Ok(vec![slower("a"), found("c", Verdict::Open, 1.0)])
        };
        args(&[]).confirm(&mut first, again).unwrap();
        let of = first.each_ref().map(|of| (of.is_measured(), of.is_slower()));
        assert_eq!(of, [(true, true), (true, false), (true, false), (false, false)]);
        let mut equal = [found("a", Verdict::Inside, 1.0)];
        args(&[]).confirm(&mut equal, |_| panic!("nothing is measured again")).unwrap();
    }

    #[test]
    fn what_is_slower_in_both_measurements_fails() {
        let again = |again: Compared| Compared { again: Some(Box::new(again)), ..slower("a") };
        let unmeasured = Compared::unmeasured("a");
        let equal = found("b", Verdict::Inside, 1.0);
        let (passing, strict) = (args(&[]), args(&["--strict"]));
        for (of, code, when_strict) in [
            (again(slower("a")), exit::REGRESSION, exit::REGRESSION),
            (slower("a"), exit::REGRESSION, exit::REGRESSION),
            (again(equal.clone()), exit::OK, exit::INCONCLUSIVE),
            (found("a", Verdict::Open, 1.04), exit::OK, exit::INCONCLUSIVE),
            (found("a", Verdict::Open, 1.02), exit::OK, exit::OK),
            (found("a", Verdict::Outside, 0.8), exit::OK, exit::OK),
            (unmeasured.clone(), exit::ERROR, exit::ERROR),
            (again(unmeasured.clone()), exit::ERROR, exit::ERROR),
        ] {
            let all = [equal.clone(), of];
            assert_eq!((passing.code(&all, false), strict.code(&all, false)), (code, when_strict));
        }
        assert_eq!(strict.code(&[slower("a")], true), exit::INVALID);
        assert_eq!(strict.code(&[], false), exit::NOT_COMPARABLE);
        let mut of_one_run = [found("a", Verdict::Open, 1.04)];
        of_one_run[0].contrast = of_one_run[0].contrast.map(|of| Contrast { low: None, ..of });
        assert_eq!(passing.code(&of_one_run, false), exit::NOT_COMPARABLE);
        let mut unasked = args(&[]);
        unasked.fail_if_slower = None;
        assert_eq!(unasked.code(&[unmeasured], false), exit::NOT_COMPARABLE);
    }

    #[test]
    fn the_commands_on_the_page_are_commands() {
        let joined = PAGE.replace("\\\n", " ");
        let commands = joined.lines().map(|line| line.trim().trim_start_matches("- run: "));
        let commands: Vec<&str> = commands.filter(|line| line.starts_with("hopcost ")).collect();
        assert!(commands.len() >= 4, "{commands:?}");
        for command in commands {
            let words = command.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
            let parsed = crate::cli::command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
        }
    }
}
