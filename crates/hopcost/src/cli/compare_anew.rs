//! `hopcost compare BASELINE --fail-if-slower 5%`: new runs against a stored baseline.

use std::ffi::OsString;

use anyhow::{Context, ensure};
use hopcost_file::Runs;
use hopcost_model::case::Case;
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_model::raw::RawRun;
use hopcost_model::text::count;
use hopcost_plan::Selector;
use hopcost_probe::interrupt;
use hopcost_read::results::{Compared, RunComparison};
use hopcost_read::stored::{self, Asked, RunSummary, Side};
use hopcost_stats::contrast::RUNS_MIN;
use hopcost_view::number;

use super::compare_args::Args;
use super::compare_runs::{Read, refusal, side};
use super::exit::usage;
use super::measured::prepare;
use super::peer::Lease;
use super::session::{RunSession, begun, program};
use super::shown::Printed;
use super::{host, output, runs};
use crate::about;

/// Runs to measure: one that was disturbed does not hide a regression among so many.
const RUNS_DEFAULT: u32 = 5;

/// Measures new runs and compares them; measures again what looks slower.
pub fn run(args: &Args, selectors: &[String], words: &[OsString]) -> anyhow::Result<u8> {
    args.shown.ensure_answer(&RunComparison::default())?;
    let _orphans = prepare()?;
    let baseline = side(&args.what[..1], args.statistic)?;
    let cases = chosen(args, selectors, &baseline)?;
    let n = ensure_able(args, &baseline.runs, &cases)?;
    let plan = planned(&baseline, &cases)?;
    ensure_comparable(args, &baseline.runs, &plan)?;
    let mut new = New { args, words, baseline: &baseline.runs, n, runs: Vec::new() };
    let mut found = new.compared(&plan)?;
    let mut second = Vec::new();
    args.confirm(&mut found.compared, |slower| {
        let mut plan = plan.clone();
        plan.cases.retain(|case| slower.contains(&case.id()));
        let again = new.compared(&plan)?;
        second = again.other;
        Ok(again.compared)
    })?;
    found.other.extend(second);
    args.shown.show(&found, Printed::WhereNothingElse)?;
    let mut runs = baseline.runs.iter().chain(&new.runs).flat_map(RunSummary::measured);
    let is_invalid = runs.any(|(case, is_invalid)| is_invalid && cases.contains(case));
    Ok(args.code(&found.compared, is_invalid))
}

/// The cases of the baseline's first run that the selectors name; all of them without selectors.
fn chosen(args: &Args, selectors: &[String], baseline: &Read) -> anyhow::Result<Vec<Case>> {
    let first = baseline.runs.first().into_iter().flat_map(RunSummary::measured);
    let mut chosen: Vec<Case> = first.map(|(case, _)| case.clone()).collect();
    let with = args
        .statistic
        .map_or(String::new(), |by| format!(" that has a {} (longer trials have one)", by.label()));
    let mut known = Vec::new();
    for text in selectors {
        let selector = Selector::parse(text).map_err(usage)?;
        if !chosen.iter().any(|case| selector.fits(case)) {
            return Err(usage(format!("{text} selects no case of the baseline{with}")));
        }
        known.push(selector);
    }
    chosen.retain(|case| known.is_empty() || known.iter().any(|one| one.fits(case)));
    if chosen.is_empty() {
        return Err(usage(format!("the baseline has no case to compare{with}")));
    }
    Ok(chosen)
}

/// The runs to measure. Refuses so few that they show no spread.
fn ensure_able(args: &Args, baseline: &[RunSummary], cases: &[Case]) -> anyhow::Result<u32> {
    let runs_of = |case: &Case| {
        baseline.iter().filter(|run| run.measured().any(|(of, _)| of == case)).count()
    };
    let of_baseline = cases.iter().map(runs_of).min().unwrap_or(0);
    let n = args.runs.unwrap_or(RUNS_DEFAULT);
    let (a_side, in_all) = RUNS_MIN;
    if of_baseline.min(n as usize) >= a_side && of_baseline + n as usize >= in_all {
        return Ok(n);
    }
    Err(usage(format!(
        "{} against the baseline's {of_baseline} show no spread: want {a_side} a side, and \
         {in_all} in all",
        count(n as usize, "run")
    )))
}

/// The plan of the baseline's first run, with these of its cases.
fn planned(baseline: &Read, cases: &[Case]) -> anyhow::Result<Plan> {
    let plan = baseline.plan.clone().context("a baseline has runs")?;
    let cases = cases.iter().map(|case| PlannedCase::live(case.clone()));
    Ok(Plan { cases: cases.collect(), baseline: None, ..plan })
}

/// Refuses to measure what could not be compared, or not be measured here.
fn ensure_comparable(args: &Args, baseline: &[RunSummary], plan: &Plan) -> anyhow::Result<()> {
    let runtimes = args.measured.runtimes();
    let now = RawRun {
        workers: runtimes.taking_part(plan).iter().filter_map(hopcost_file::as_read).collect(),
        about: about::run(Vec::new(), None),
        plan: plan.clone(),
        host_before: host::fingerprint(plan),
        ..RawRun::default()
    };
    let rust = hopcost_probe::worker::mechanisms();
    let differences = stored::differences_before(baseline, &now, &rust, &args.across);
    if !differences.is_empty() {
        return Err(refusal(&differences));
    }
    let machine = host::machine(&plan.cpus)?;
    hopcost_plan::check_resumed(plan, &runtimes.catalog(), &machine)
        .map_err(|why| usage(format!("cannot measure the baseline's cases: {why}")))
}

/// The runs that are measured now.
struct New<'a> {
    args: &'a Args,
    words: &'a [OsString],
    baseline: &'a [RunSummary],
    n: u32,
    runs: Vec<RunSummary>,
}

impl New<'_> {
    /// Measures runs of a plan, and compares them with the baseline's.
    fn compared(&mut self, plan: &Plan) -> anyhow::Result<RunComparison> {
        let before = self.runs.len();
        for at in 0..self.n {
            let run = self.measured(plan, at == 0)?;
            self.runs.push(run);
        }
        let names: Vec<String> = plan.live_cases().map(Case::id).collect();
        let (margin, across) = (self.args.margin(), self.args.across.as_slice());
        let asked = Asked { margin, across, geomean: self.args.summary.is_some() };
        let baseline: Vec<RunSummary> =
            self.baseline.iter().map(|run| run.with_cases_of(&names)).collect();
        let new = [Side { name: "other", runs: &self.runs[before..] }];
        let found = stored::of_runs(&baseline, &new, &asked);
        let mut found = found.map_err(|of| refusal(&of))?;
        for name in names {
            if !found.compared.iter().any(|of| of.case == name) {
                found.compared.push(Compared::unmeasured(&name));
            }
        }
        Ok(found)
    }

    /// Measures a run and stores it.
    fn measured(&self, plan: &Plan, is_first: bool) -> anyhow::Result<RunSummary> {
        let measured = &self.args.measured;
        let (about, setup) = begun(self.words, program(None)?, measured.runtimes())?;
        let plan = Plan { seed: about::random() >> 32, ..plan.clone() };
        if is_first {
            let all_ns = setup.runtimes.estimate_ns(&plan).saturating_mul(self.n.into());
            output::say(&format!(
                "hopcost: {} of {}, about {}",
                count(self.n as usize, "run"),
                count(plan.cases.len(), "case"),
                number::expected(all_ns)
            ));
        }
        let folder = measured.out.as_deref();
        let runs = folder.map_or_else(Runs::of_user, |folder| Ok(Runs::new(folder)));
        let path = runs.and_then(|runs| runs.path_for(&about.id)).map_err(usage)?;
        let session = RunSession::begin(setup, &about, plan, Some(&path))?;
        let measured = session.measured(Lease::default(), measured.live()?)?;
        ensure!(
            measured.cut_off.is_none() && !interrupt::came(),
            "interrupted; nothing is decided"
        );
        let raw = runs::open(&path)?;
        Ok(RunSummary::of(&raw, &hopcost_probe::worker::mechanisms(), self.args.statistic))
    }
}
