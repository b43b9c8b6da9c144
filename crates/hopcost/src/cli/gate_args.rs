//! What is asked of a gate, at most how many cases it takes, and that what looks slower is measured
//! again.

use std::path::{Path, PathBuf};

use hopcost_model::case::Case;
use hopcost_model::results::{Across, Compared, GatedCase, Statistic, Verdict};
use hopcost_plan::{Ask, Selector};
use hopcost_stats::compare::gate::CASES_MAX;

use super::compare_runs::across;
use super::exit::usage;
use super::run::percent;
use super::shown::{ensure_spared, percentile};
use super::{output, run};

/// Arguments of `gate`.
#[derive(clap::Args)]
pub struct Args {
    /// Cases, 8 at most (all of the baseline's)
    #[arg(value_name = "CASE")]
    pub(super) cases: Vec<String>,
    /// A stored run of this machine or a directory of them; several times: all of them
    #[arg(long, value_name = "RUN|DIR", required = true)]
    pub(super) baseline: Vec<String>,
    /// The cases of a suite: a name (`hopcost list --suites`) or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    suite: Option<String>,
    /// Ratios off 1 by no more than this are those of equals
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "5%")]
    pub(super) margin: f64,
    /// Runs to measure against the baseline's (as many as can tell anything, 5 at least)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: Option<u32>,
    /// What the new runs may differ in from the baseline's, as in `compare`
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = across)]
    pub(super) across: Vec<Across>,
    /// Compare by this percentile (50, 90, 95, 99, 99.9) instead of the p50 or cost
    #[arg(long, value_name = "PERCENTILE", value_parser = percentile)]
    pub(super) statistic: Option<Statistic>,
    /// Use an additional worker executable (workers/PROTOCOL.md)
    #[arg(long, value_name = "PATH")]
    pub(super) worker: Vec<PathBuf>,
    /// Fail (exit code 5) where a case is not decided
    #[arg(long)]
    pub(super) strict: bool,
    /// Keep the runs that are measured in this directory; they are removed where nothing is said
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
    /// Write what was decided as Markdown, for a pull request
    #[arg(long, value_name = "FILE")]
    pub(super) summary: Option<PathBuf>,
}

/// What a gate found, before anything is decided.
pub struct Found {
    /// What was compared with what, in a sentence.
    pub sides: String,
    /// Each case.
    pub cases: Vec<GatedCase>,
    /// Why numbers do not count, in sentences.
    pub invalid: Vec<String>,
}

impl Args {
    /// Refuses to write over a run of the baseline.
    pub fn spare(&self, run: &Path) -> anyhow::Result<()> {
        ensure_spared(&[("--summary", self.summary.as_deref())], run)
    }

    /// What is asked for of the planner, where the cases are those of a suite.
    pub fn ask(&self) -> anyhow::Result<Option<Ask>> {
        let suite = self.suite.as_deref().map(run::suite).transpose()?;
        Ok(suite.map(|suite| Ask { suite: Some(suite), ..Ask::default() }))
    }

    /// Those of a baseline's cases that are asked for; `of_suite` are the cases of the suite.
    pub fn chosen(&self, all: Vec<Case>, of_suite: &[Case]) -> anyhow::Result<Vec<Case>> {
        let mut chosen = all;
        if self.suite.is_some() {
            chosen.retain(|case| of_suite.contains(case));
        }
        let selectors = self.cases.iter().map(|text| Selector::parse(text).map_err(usage));
        let selectors = selectors.collect::<anyhow::Result<Vec<Selector>>>()?;
        for (text, selector) in self.cases.iter().zip(&selectors) {
            if !chosen.iter().any(|case| selector.fits(case)) {
                return Err(usage(format!(
                    "{text} selects no case of the baseline{}",
                    self.with()
                )));
            }
        }
        if !selectors.is_empty() {
            chosen.retain(|case| selectors.iter().any(|selector| selector.fits(case)));
        }
        match chosen.as_slice() {
            [] => Err(usage(format!("the baseline has no case to be gated{}", self.with()))),
            _ => ensure_few(chosen),
        }
    }

    /// What a case of the baseline has to have, as the end of a complaint.
    fn with(&self) -> String {
        let with = |by: Statistic| format!(" that has a {} (longer trials have one)", by.label());
        self.statistic.map_or(String::new(), with)
    }
}

/// Refuses more cases than can share an error.
fn ensure_few(cases: Vec<Case>) -> anyhow::Result<Vec<Case>> {
    match cases.as_slice() {
        [] => Err(usage("no case is left to be gated")),
        [first, ..] if cases.len() > CASES_MAX => Err(usage(format!(
            "{} cases, of which {CASES_MAX} at most are gated, since each takes a share of the error: \
             name them, such as '{first}'",
            cases.len()
        ))),
        _ => Ok(cases),
    }
}

/// Each case with what was found of it; what looked slower is measured again by `again`. `None`
/// where that is interrupted.
pub fn confirmed(
    first: Vec<Compared>,
    again: impl FnOnce(&[String]) -> anyhow::Result<Option<Vec<Compared>>>,
) -> anyhow::Result<Option<Vec<GatedCase>>> {
    let slower = first.iter().filter(|of| of.verdict == Verdict::Slower);
    let slower: Vec<String> = slower.map(|of| of.case.clone()).collect();
    let mut second = Vec::new();
    if !slower.is_empty() {
        let count = hopcost_model::text::count(slower.len(), "case");
        output::say(&format!("hopcost: {count} looked slower: measured again"));
        let Some(found) = again(&slower)? else { return Ok(None) };
        second = found;
    }
    let of = |first: Compared| {
        let again = second.iter().find(|of| of.case == first.case).cloned();
        GatedCase { first, again }
    };
    Ok(Some(first.into_iter().map(of).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::Parser;
    use hopcost_model::results::Decision;

    /// The page with the workflows.
    const PAGE: &str = include_str!("../../../../docs/gate.md");

    fn found(case: &str, verdict: Verdict) -> Compared {
        Compared { verdict, ratio: Some(1.2), ..hopcost_read::unmeasured(case) }
    }

    #[test]
    fn only_what_looked_slower_is_measured_again() {
        let first = [("a", Verdict::Slower), ("b", Verdict::Faster), ("c", Verdict::Slower)];
        let first: Vec<Compared> = first.map(|(case, verdict)| found(case, verdict)).into();
        let again = |names: &[String]| {
            assert_eq!(names, ["a", "c"]);
            Ok(Some(vec![found("a", Verdict::Slower), found("c", Verdict::Inconclusive)]))
        };
        let gated = confirmed(first.clone(), again).unwrap().unwrap();
        let decisions: Vec<Decision> = gated.iter().map(|of| of.decision(0.05)).collect();
        let [regression, faster, not] = decisions[..] else { panic!("{decisions:?}") };
        assert_eq!((regression, faster), (Decision::Regression, Decision::Improvement));
        assert_eq!(not, Decision::Unconfirmed);
        assert_eq!(confirmed(first, |_| Ok(None)).unwrap(), None, "interrupted");
        let equal = vec![found("a", Verdict::Equivalent)];
        assert!(confirmed(equal, |_| panic!("nothing is measured again")).unwrap().is_some());
    }

    #[test]
    fn the_commands_on_the_page_are_commands() {
        let joined = PAGE.replace("\\\n", " ");
        let commands = joined.lines().map(|line| line.trim().trim_start_matches("- run: "));
        let commands: Vec<&str> = commands.filter(|line| line.starts_with("hopcost ")).collect();
        assert!(commands.len() >= 2, "{commands:?}");
        for command in commands {
            let words = command.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
            Cli::try_parse_from(words).map(drop).unwrap_or_else(|e| panic!("{command}: {e}"));
        }
    }
}
