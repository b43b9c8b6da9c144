//! `hopcost gate`: new runs of a baseline's cases against its stored ones.

use std::ffi::OsString;

use anyhow::Context;
use hopcost_file::Runs;
use hopcost_model::case::Case;
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_model::raw::RawRun;
use hopcost_model::results::{Across, Compared};
use hopcost_model::text::count;
use hopcost_read::stored::{self, Asked, RunSummary};
use hopcost_stats::compare::{ERROR, RUNS_MIN, gate as powers};
use hopcost_view::number;

use super::compare_runs::{Side, refusal, side};
use super::exit::usage;
use super::gate_args::{Args, Found, confirmed};
use super::session::{RunSession, begun};
use super::{host, output, run};
use crate::about;
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// Runs where fewer could tell something too: one that was disturbed does not hide a regression then.
const RUNS_DEFAULT: u32 = 5;

/// Measures new runs and compares them; `None` where that is interrupted.
pub fn found(args: &Args, words: &[OsString], kept: &Runs) -> anyhow::Result<Option<Found>> {
    let baseline = side(&args.baseline, args.statistic, &|path| args.spare(path))?;
    let cases = chosen(args, &baseline)?;
    let n = ensure_able(args, &baseline.runs, &cases)?;
    let plan = planned(&baseline, &cases)?;
    ensure_comparable(args, &baseline.runs, &plan)?;
    let new = New { args, words, kept, baseline: &baseline.runs, n };
    let names: Vec<String> = cases.iter().map(Case::id).collect();
    let mut all = Vec::new();
    let mut measured = |names: &[String]| {
        let live = plan.cases.iter().filter(|case| names.contains(&case.id())).cloned().collect();
        let plan = Plan { cases: live, ..plan.clone() };
        let Some(runs) = new.measured(&plan)? else { return Ok(None) };
        let compared = new.compared(&runs, names)?;
        all.extend(runs);
        Ok::<Option<Vec<Compared>>, anyhow::Error>(Some(compared))
    };
    let Some(first) = measured(&names)? else { return Ok(None) };
    let Some(gated) = confirmed(first, measured)? else { return Ok(None) };
    let is_invalid = |case: &Case| {
        let mut runs = baseline.runs.iter().chain(&all).flat_map(RunSummary::measured);
        runs.any(|(of, invalid)| invalid && of == case)
    };
    let invalid = cases.iter().filter(|case| is_invalid(case));
    let invalid = invalid.map(|case| format!("{case}: `hopcost report` of a run of it says why."));
    Ok(Some(Found {
        sides: format!(
            "{} now against the baseline's {}, each case by {} runs.",
            count(n as usize, "run"),
            baseline.runs.len(),
            args.statistic.map_or("its".to_owned(), |by| format!("the {} of its", by.label()))
        ),
        cases: gated,
        invalid: invalid.collect(),
    }))
}

/// The cases of the baseline's first run that are asked for.
fn chosen(args: &Args, baseline: &Side) -> anyhow::Result<Vec<Case>> {
    let of_suite = match args.ask()? {
        None => Vec::new(),
        Some(ask) => {
            let (rust, machine) = (hopcost_probe::worker::mechanisms(), host::machine(&[])?);
            let runtimes = Runtimes::new(args.worker.clone());
            let plan = hopcost_plan::plan(&ask, rust, &|| runtimes.facts(), &machine);
            plan.map_err(usage)?.live_cases().cloned().collect()
        }
    };
    let first = baseline.runs.first().into_iter().flat_map(RunSummary::measured);
    args.chosen(first.map(|(case, _)| case.clone()).collect(), &of_suite)
}

/// The runs to measure. Refuses those of which no outcome could fail a case.
fn ensure_able(args: &Args, baseline: &[RunSummary], cases: &[Case]) -> anyhow::Result<u32> {
    let runs_of = |case: &Case| {
        baseline.iter().filter(|run| run.measured().any(|(of, _)| of == case)).count() as u32
    };
    let of_baseline = cases.iter().map(runs_of).min().unwrap_or(0);
    let Some(least) = powers::least_new_runs(of_baseline, cases.len()) else {
        return Err(usage(format!(
            "the baseline has {} of a case, and a test over runs wants {RUNS_MIN} or more",
            count(of_baseline as usize, "run")
        )));
    };
    let n = args.runs.unwrap_or(least.max(RUNS_DEFAULT));
    let p = powers::smallest_p(of_baseline, n, cases.len());
    if n >= RUNS_MIN as u32 && p <= 2.0 * ERROR {
        return Ok(n);
    }
    let fewer = match powers::cases_max(of_baseline, n) {
        0 => String::new(),
        most => format!(", or no more than {}", count(most, "case")),
    };
    Err(usage(format!(
        "{} against the baseline's {of_baseline} cannot fail one of {}: the smallest adjusted p is \
         {p:.3}, of which 0.05 is needed; want --runs {least}{fewer}",
        count(n as usize, "run"),
        count(cases.len(), "case")
    )))
}

/// The plan of the baseline's first run, with these of its cases.
fn planned(baseline: &Side, cases: &[Case]) -> anyhow::Result<Plan> {
    let plan = baseline.plan.clone().context("a baseline has runs")?;
    let cases = cases.iter().map(|case| PlannedCase { case: Ok(case.clone()), skip: None });
    Ok(Plan { cases: cases.collect(), baseline: None, ..plan })
}

/// Refuses to measure what could not be compared, or not be measured here.
fn ensure_comparable(args: &Args, baseline: &[RunSummary], plan: &Plan) -> anyhow::Result<()> {
    let runtimes = Runtimes::new(args.worker.clone());
    let now = RawRun {
        about: about::run(Vec::new(), None),
        plan: plan.clone(),
        host_before: host::fingerprint(plan),
        host_after: None,
        clocks: Vec::new(),
        clocks_after: Vec::new(),
        yardsticks: Vec::new(),
        workers: runtimes.taking_part(plan).iter().filter_map(hopcost_file::as_read).collect(),
        trials: Vec::new(),
        accounting: Vec::new(),
    };
    let rust = hopcost_probe::worker::mechanisms();
    let differences = stored::differences_before(baseline, &now, &rust, &args.across);
    if !differences.is_empty() {
        return Err(refusal(&differences));
    }
    let machine = host::machine(&plan.cpus)?;
    hopcost_plan::check_resumed(plan, rust, &|| runtimes.facts(), &machine)
        .map_err(|why| usage(format!("cannot measure the baseline's cases: {why}")))
}

/// The runs that are measured now.
struct New<'a> {
    args: &'a Args,
    words: &'a [OsString],
    kept: &'a Runs,
    baseline: &'a [RunSummary],
    n: u32,
}

impl New<'_> {
    /// Measures the runs; `None` where that is interrupted.
    fn measured(&self, plan: &Plan) -> anyhow::Result<Option<Vec<RunSummary>>> {
        let rust = hopcost_probe::worker::mechanisms();
        let mut runs = Vec::new();
        for at in 0..self.n {
            let (about, setup) = begun(self.words, Runtimes::new(self.args.worker.clone()))?;
            let plan = Plan { seed: about::random() >> 32, ..plan.clone() };
            if at == 0 {
                let all_ns = setup.runtimes.estimate_ns(&plan).saturating_mul(self.n.into());
                output::say(&format!(
                    "hopcost: {} of {}, about {}",
                    count(self.n as usize, "run"),
                    count(plan.cases.len(), "case"),
                    number::expected(all_ns)
                ));
            }
            let path = self.kept.path_for(&about.id).map_err(usage)?;
            let mut session = RunSession::begin(setup, &about, plan, Some(&path))?;
            if run::measure(&mut session)? == Ending::Interrupted {
                return Ok(None);
            }
            session.results()?;
            if session.is_interrupted()? {
                return Ok(None);
            }
            let raw = hopcost_file::open(&path, &Scratch::for_copy)?;
            runs.push(RunSummary::of(&raw, &rust, self.args.statistic));
        }
        Ok(Some(runs))
    }

    /// What runs say of each of these cases.
    fn compared(&self, runs: &[RunSummary], cases: &[String]) -> anyhow::Result<Vec<Compared>> {
        let across: &[Across] = &self.args.across;
        let asked = Asked { margin: self.args.margin, across };
        let gated: Vec<RunSummary> =
            self.baseline.iter().map(|run| run.with_cases_of(cases)).collect();
        let found = stored::of_runs(&gated, runs, &asked).map_err(|of| refusal(&of))?;
        let of = |case: &String| {
            let known = found.compared.iter().find(|of| of.case == *case).cloned();
            known.unwrap_or_else(|| hopcost_read::unmeasured(case))
        };
        Ok(cases.iter().map(of).collect())
    }
}
