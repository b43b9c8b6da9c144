//! `hopcost compare`: stored runs against others, or cases against a baseline in blocks of adjacent
//! trials.

use std::ffi::OsString;

use hopcost_model::units::parse_duration_ns;

pub use super::compare_args::Args;
use super::compare_args::{BUDGET, is_case, plan};
use super::exit::{self, usage};
use super::measured::{MeasuredArgs, prepare};
use super::{compare_along, compare_runs, runs};
use crate::run::runtimes::Runtimes;

impl Args {
    /// Compares stored runs, or measures.
    pub fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        if let Some(along) = &self.along {
            return compare_along::run(self, along, words);
        }
        if self.is_live() {
            return live(self, words);
        }
        if let Some((key, _)) = self.axes.0.iter().find(|(_, values)| !values.is_empty()) {
            return Err(usage(format!("--{key} goes with --live: stored runs have their cases")));
        }
        let budget = parse_duration_ns(BUDGET).ok();
        if self.measured != (MeasuredArgs { budget, ..MeasuredArgs::default() }) {
            return Err(usage(
                "--budget, --measure, --seed, --cpus, --worker, --out, --interval and --progress go with \
                 --live: stored runs have their own",
            ));
        }
        let (baseline, others) = match (self.what.as_slice(), self.new.as_slice()) {
            ([_], []) => {
                return Err(usage(
                    "want two or more runs or directories of runs, or OLD... -- NEW...; to measure \
                     cases now: --live",
                ));
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
    prepare()?;
    let out = args.measured.out.as_deref();
    let mut first = args.measured.measured(words, out, |of| plan(args, &args.what, of))?;
    let (mut is_invalid, mut confirmed) = (false, Ok(()));
    let mut second = None;
    if let (Some(found), None) = (&mut first.results.comparison, first.cut_off) {
        is_invalid = found.invalid.is_some();
        let named = args.what[1..].iter().zip(found.compared.clone());
        confirmed = args.confirm(&mut found.compared, |slower| {
            let slower = named.filter(|(_, of)| slower.contains(&of.case)).map(|(word, _)| word);
            let what: Vec<String> = args.what[..1].iter().chain(slower).cloned().collect();
            let out = out.map(|out| out.with_extension("again.hopcost"));
            let plan = |runtimes: &Runtimes| plan(args, &what, runtimes);
            let mut again = args.measured.measured(words, out.as_deref(), plan)?;
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
