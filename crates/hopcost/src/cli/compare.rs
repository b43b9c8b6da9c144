//! `hopcost compare`: stored runs against others, or cases against a baseline in blocks of adjacent
//! trials.

use std::ffi::OsString;
use std::path::Path;

use hopcost_model::case::{Case, Workload};
use hopcost_model::plan::{ComparisonPlan, Plan};
use hopcost_model::results::Across;
use hopcost_plan::Ask;
use hopcost_probe::mechanism;
use hopcost_probe::orphans::Orphans;

use super::compare_fleets;
use super::compare_runs::{self, Question, across, across_words};
use super::exit::{self, not_comparable, usage};
use super::run::{
    AxisArgs, MeasuredArgs, REPORT, duration, finish, interrupted, measure, percent, prepare,
};
use super::session::{RunSession, begun};
use super::shown::Shown;
use super::{host, report};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;

/// Arguments of `compare`.
#[derive(clap::Args)]
#[command(mut_group("measured", |group| group.requires("live")))]
#[command(override_usage = "hopcost compare [OPTIONS] OLD NEW
       hopcost compare [OPTIONS] OLD... -- NEW...
       hopcost compare [OPTIONS] --live CASE CASE...")]
pub struct Args {
    /// Runs (as `report` takes them), directories of runs or two fleets, the baseline first; with --live
    /// cases, each of which selects one, the baseline first
    #[arg(value_name = "RUN|CASE", required = true)]
    what: Vec<String>,
    /// Runs, where a side has several: those before `--` are the baseline
    #[arg(last = true, value_name = "NEW", conflicts_with = "live")]
    new: Vec<String>,
    /// What the runs may differ in
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = across, conflicts_with = "live",
          long_help = across_help())]
    across: Vec<Across>,
    /// Measure cases now, side by side
    #[arg(long)]
    live: bool,
    /// Ratios off 1 by no more than this are those of equals
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "3%")]
    margin: f64,
    /// Time at most; a comparison stops when it is decided
    #[arg(
        long,
        value_name = "TIME",
        visible_alias = "budget",
        default_value = "20s",
        requires = "live"
    )]
    duration: String,
    #[command(flatten)]
    axes: AxisArgs,
    /// Aimed length of a trial's measured phase (20ms)
    #[arg(long, value_name = "TIME", requires = "live")]
    measure: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

fn across_help() -> String {
    format!(
        "What the runs may differ in, separated by commas: {}. Without it nothing is compared that \
         differs in any of them (exit code 6). Across placement, runtime or boundary, cases are \
         paired that differ in that alone",
        across_words()
    )
}

/// Compares stored runs, or measures.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    if args.live {
        return live(args, words);
    }
    if let Some((key, _)) = args.axes.0.iter().find(|(_, values)| !values.is_empty()) {
        return Err(usage(format!("--{key} goes with --live: stored runs have their cases")));
    }
    let (baseline, other) = match (args.what.as_slice(), args.new.as_slice()) {
        ([old, new], []) => (std::slice::from_ref(old), std::slice::from_ref(new)),
        (_, []) => {
            let sides = "want two runs or directories of runs, or OLD... -- NEW...";
            return Err(usage(format!("{sides}; to measure cases now: --live")));
        }
        (old, new) => (old, new),
    };
    if let Some(case) = args.what.iter().find(|word| is_case(word)) {
        return Err(usage(format!("{case} is no run; to measure cases now: --live")));
    }
    let question = Question { baseline, other, margin: args.margin, across: &args.across };
    match compare_fleets::are_asked(&question)? {
        true => compare_fleets::run(&question, &args.shown),
        false => compare_runs::run(&question, &args.shown),
    }
}

/// Whether a word is a case's and no file's.
fn is_case(word: &str) -> bool {
    let first = word.split(['/', '?', ':']).next().unwrap_or_default();
    let is_known = first.parse::<Workload>().is_ok() || mechanism::find(first).is_some();
    is_known && !Path::new(word).exists()
}

/// Plans, measures, reads back and shows; the words of the command line are stored with the run.
fn live(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let _orphans = Orphans::adopt()?;
    prepare(&args.shown, args.measured.out.as_deref())?;
    let (about, setup) = begun(words, Runtimes::new(args.measured.worker.clone()))?;
    let plan = plan(args, &setup.runtimes)?;
    let mut session = RunSession::begin(setup, &about, plan, args.measured.out.as_deref())?;
    if measure(&mut session)? == Ending::Interrupted {
        return interrupted(&session, REPORT, &[]);
    }
    let results = finish(&mut session, &args.shown)?;
    let is_invalid = results.comparison.as_ref().is_some_and(|found| found.invalid.is_some());
    Ok(match report::verdict(&results) {
        exit::OK if is_invalid => exit::INVALID,
        code => code,
    })
}

fn plan(args: &Args, runtimes: &Runtimes) -> anyhow::Result<Plan> {
    if args.what.len() == 1 {
        return Err(usage("--live compares with the first case: name a second"));
    }
    let ask = Ask {
        selectors: args.what.clone(),
        axes: args.axes.0.clone(),
        measure_ns: duration("--measure", &args.measure)?,
        ..args.measured.ask("--duration", &args.duration)?
    };
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let compared = ComparisonPlan { margin: args.margin };
    let facts = || runtimes.facts();
    let plan = hopcost_plan::comparison(&ask, compared, &rust, &facts, &machine).map_err(usage)?;
    comparable(plan.live_cases())?;
    Ok(plan)
}

/// Refuses to divide what does not mean the same.
pub(super) fn comparable<'a>(mut cases: impl Iterator<Item = &'a Case>) -> anyhow::Result<()> {
    let Some(baseline) = cases.next() else { return Ok(()) };
    let Some(other) = cases.find(|case| !case.is_alike(baseline)) else { return Ok(()) };
    let differing = |case: &Case| {
        let keys = baseline.workload.spec().alike.join(", ");
        if case.workload == baseline.workload { keys } else { "workload".to_owned() }
    };
    Err(not_comparable(format!(
        "{other} means something else than {baseline}: a ratio of the two wants the same {}",
        differing(other)
    )))
}
