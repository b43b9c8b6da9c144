//! `hopcost compare`: stored runs against others, or cases against a baseline in blocks of adjacent
//! trials.

use std::ffi::OsString;

use super::compare_args::{Args, is_case, measured};
use super::exit::{self, usage};
use super::measured::{MeasuredArgs, prepare};
use super::subcommand::{Called, Subcommand};
use super::{compare_along, compare_anew, compare_runs, runs};

impl Subcommand for Args {
    const NAME: &str = "compare";
    const BUDGET: Option<&str> = Some("20s");

    fn settle(&mut self) -> anyhow::Result<()> {
        self.put_baseline_first()
    }

    /// Compares stored runs, or measures.
    fn run(&self, called: &Called) -> anyhow::Result<u8> {
        if let Some(along) = &self.along {
            return compare_along::run(self, along, &called.words);
        }
        if self.is_live() {
            return live(self, &called.words);
        }
        if let Some((key, _)) = self.axes.0.iter().find(|(_, values)| !values.is_empty()) {
            return Err(usage(format!("--{key} goes with --live: stored runs have their cases")));
        }
        let MeasuredArgs { budget, measure, seed, cpus, worker, out, interval, progress } =
            &self.measured;
        let is_said = interval.is_some() || progress.is_some() || !cpus.is_empty();
        if budget.is_some() || measure.is_some() || seed.is_some() || is_said {
            return Err(usage(
                "--budget, --measure, --seed, --cpus, --interval and --progress go with --live: stored \
                 runs have their own",
            ));
        }
        if let ([baseline, cases @ ..], []) = (self.what.as_slice(), self.new.as_slice())
            && self.fail_if_slower.is_some()
            && !is_case(baseline)
            && cases.iter().all(|word| is_case(word))
        {
            return compare_anew::run(self, cases, &called.words);
        }
        if !worker.is_empty() || out.is_some() || self.runs.is_some() {
            return Err(usage(
                "--worker, --out and --runs go with what is measured: both sides are stored",
            ));
        }
        let (baseline, others) = match (self.what.as_slice(), self.new.as_slice()) {
            ([_], []) => {
                let sides = "want two or more runs or directories of runs, or OLD... -- NEW...";
                return Err(usage(format!(
                    "{sides}; to measure cases now: --live, or a baseline with --fail-if-slower"
                )));
            }
            (all, []) => (&all[..1], all[1..].chunks(1).collect()),
            (old, new) => (old, vec![new]),
        };
        if let Some(case) = self.what.iter().find(|word| is_case(word)) {
            return Err(usage(format!("{case} is no run; to measure cases now: --live")));
        }
        compare_runs::run(self, baseline, &others)
    }
}

/// Measures, measures again what looks slower, and shows.
fn live(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    args.shown.ensure_run()?;
    let _orphans = prepare()?;
    let out = args.measured.out.as_deref();
    let mut first = measured(args, words, &args.what, out)?;
    let (mut is_invalid, mut confirmed) = (false, Ok(()));
    let mut second = None;
    if let (Some(found), None) = (&mut first.results.comparison, first.cut_off) {
        is_invalid = found.invalid.is_some();
        let named = args.what[1..].iter().zip(found.compared.clone());
        confirmed = args.confirm(&mut found.compared, |slower| {
            let slower = named.filter(|(_, of)| slower.contains(&of.case)).map(|(word, _)| word);
            let what: Vec<String> = args.what[..1].iter().chain(slower).cloned().collect();
            let out = out.map(|out| out.with_extension("again.hopcost"));
            let mut again = measured(args, words, &what, out.as_deref())?;
            anyhow::ensure!(again.cut_off.is_none(), "interrupted; nothing is decided");
            second = Some(runs::verdict(&again.results));
            let found = again.results.comparison.take();
            is_invalid |= found.as_ref().is_some_and(|of| of.invalid.is_some());
            Ok(found.map_or(Vec::new(), |found| found.compared))
        });
    }
    let code = args.shown.show_measured(&first)?;
    confirmed?;
    let codes = [code, second.unwrap_or(exit::OK)];
    let compared = first.results.comparison.as_ref().map_or(&[][..], |found| &found.compared);
    let failed = codes.into_iter().find(|code| *code != exit::OK);
    Ok(failed.unwrap_or_else(|| args.code(compared, is_invalid)))
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
            crate::cli::command()
                .try_get_matches_from(words)
                .map(drop)
                .unwrap_or_else(|e| panic!("{command}: {e}"));
        }
    }
}
