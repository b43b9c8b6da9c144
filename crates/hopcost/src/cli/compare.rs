//! `hopcost compare`: stored runs against others, or cases against a baseline in blocks of adjacent
//! trials.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hopcost_file::Runs;
use hopcost_model::case::{Case, Workload};
use hopcost_model::plan::{ComparedBuild, ComparisonPlan, Plan, ROUNDS_A_BLOCK};
use hopcost_model::results::Across;
use hopcost_model::text::count;
use hopcost_plan::Ask;
use hopcost_probe::mechanism;
use hopcost_probe::orphans::Orphans;
use hopcost_stats::compare::gate::least_blocks;

use super::compare_fleets;
use super::compare_runs::{self, Question, across, across_words};
use super::exit::{self, not_comparable, usage};
use super::run::{
    AxisArgs, MeasuredArgs, REPORT, duration, finish, interrupted, measure, percent, prepare,
};
use super::session::{RunSession, begun};
use super::shown::Shown;
use super::{host, report};
use crate::about;
use crate::run::Ending;
use crate::run::runtimes::{self, Runtimes};
use crate::run::worker::Program;

/// Arguments of `compare`.
#[derive(clap::Args, Default)]
#[command(group = clap::ArgGroup::new("how").args(["live", "live_binaries"]))]
#[command(mut_group("measured", |group| group.requires("how")))]
#[command(override_usage = "hopcost compare [OPTIONS] OLD NEW
       hopcost compare [OPTIONS] OLD... -- NEW...
       hopcost compare [OPTIONS] --live CASE CASE...
       hopcost compare [OPTIONS] --live-binaries OLD NEW CASE")]
pub struct Args {
    /// Runs (as `report` takes them), directories of runs or two fleets, the baseline first; with --live
    /// cases, each of which selects one, the baseline first
    #[arg(value_name = "RUN|CASE", required = true)]
    what: Vec<String>,
    /// Runs, where a side has several: those before `--` are the baseline
    #[arg(last = true, value_name = "NEW", conflicts_with = "how")]
    new: Vec<String>,
    /// What the runs may differ in
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = across, conflicts_with = "how",
          long_help = across_help())]
    across: Vec<Across>,
    /// Measure cases now, side by side
    #[arg(long)]
    live: bool,
    /// Measure one case now with two builds of hopcost, the baseline first
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    live_binaries: Vec<PathBuf>,
    /// Ratios off 1 by no more than this are those of equals
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "3%")]
    margin: f64,
    /// Time at most; a comparison stops when it is decided
    #[arg(
        long,
        value_name = "TIME",
        visible_alias = "budget",
        default_value = "20s",
        requires = "how"
    )]
    duration: String,
    #[command(flatten)]
    axes: AxisArgs,
    /// Aimed length of a trial's measured phase (20ms)
    #[arg(long, value_name = "TIME", requires = "how")]
    measure: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

impl Args {
    /// The comparison of one case by a gate's two builds.
    pub(super) fn of_gate(gate: &super::gate_args::Args, case: &str) -> Self {
        Self {
            what: vec![case.to_owned()],
            live_binaries: gate.live_binaries.clone(),
            margin: gate.margin,
            duration: gate.duration.clone(),
            measure: gate.measure.clone(),
            measured: MeasuredArgs {
                cpus: gate.cpus.clone(),
                worker: gate.worker.clone(),
                ..MeasuredArgs::default()
            },
            ..Self::default()
        }
    }
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
    if args.live || !args.live_binaries.is_empty() {
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
    let orphans = Orphans::adopt()?;
    prepare(&args.shown, args.measured.out.as_deref())?;
    let mut session = begin(args, words, None, None)?;
    if measure(&mut session)? == Ending::Interrupted {
        return interrupted(&session, REPORT, &[]);
    }
    let results = finish(&mut session, orphans, &args.shown)?;
    let is_invalid = results.comparison.as_ref().is_some_and(|found| found.invalid.is_some());
    Ok(match report::verdict(&results) {
        exit::OK if is_invalid => exit::INVALID,
        code => code,
    })
}

/// The run of a comparison, for a gate one of so many that share an error, before its first trial;
/// stored among these runs, or where `--out` says.
pub(super) fn begin(
    args: &Args,
    words: &[OsString],
    sharing: Option<usize>,
    kept: Option<&Runs>,
) -> anyhow::Result<RunSession> {
    let (about, setup) = begun(words, Runtimes::new(args.measured.worker.clone()))?;
    let plan = plan(args, &setup.runtimes, sharing)?;
    let kept = kept.map(|runs| runs.path_for(&about.id)).transpose().map_err(usage)?;
    RunSession::begin(setup, &about, plan, kept.as_deref().or(args.measured.out.as_deref()))
}

/// The plan of a comparison; for a gate one of so many that share an error, refused where it could
/// tell nothing.
pub(super) fn plan(
    args: &Args,
    runtimes: &Runtimes,
    sharing: Option<usize>,
) -> anyhow::Result<Plan> {
    let builds = builds(args)?;
    let ask = Ask {
        selectors: args.what.clone(),
        axes: args.axes.0.clone(),
        measure_ns: duration("--measure", &args.measure)?,
        ..args.measured.ask("--duration", &args.duration)?
    };
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let shared = sharing.filter(|sharing| *sharing > 1);
    let shared = shared.and_then(|sharing| u32::try_from(sharing).ok());
    let compared = ComparisonPlan { margin: args.margin, sharing: shared, builds };
    let facts = || runtimes.facts();
    let plan = hopcost_plan::comparison(&ask, compared, &rust, &facts, &machine).map_err(usage)?;
    comparable(plan.live_cases())?;
    able(&plan)?;
    let planned = plan.rounds / ROUNDS_A_BLOCK;
    let least = sharing.map_or(0, least_blocks);
    if planned < least {
        return Err(usage(format!(
            "{} of {} can tell nothing of it, {least} can: want a longer --duration or fewer cases",
            count(planned as usize, "block"),
            args.what.join(" ")
        )));
    }
    Ok(plan)
}

/// Refuses, before anything is measured, a program that cannot play the case.
fn able(plan: &Plan) -> anyhow::Result<()> {
    let Some(compared) = &plan.comparison else { return Ok(()) };
    let mechanism = plan.live_cases().next().map_or("", Case::mechanism_name);
    for build in compared.builds.iter().skip(1) {
        runtimes::is_build_with(&Program::of(&build.path), mechanism)
            .map_err(|why| usage(format!("cannot use {}: {why}", build.path)))?;
    }
    Ok(())
}

/// The builds that play the baseline, its copy and what is compared with it; none where cases are
/// compared.
fn builds(args: &Args) -> anyhow::Result<Vec<ComparedBuild>> {
    let (old, new) = match (args.live_binaries.as_slice(), args.what.len()) {
        ([old, new], 1) => (old, new),
        ([_, _], n) => {
            let cases = count(n, "case");
            return Err(usage(format!("--live-binaries compares builds by one case, not {cases}")));
        }
        (_, 1) => return Err(usage("--live compares with the first case: name a second")),
        _ => return Ok(Vec::new()),
    };
    let build = |path: &Path| {
        let path = path.canonicalize();
        path.and_then(|path| {
            let checksum = about::checksum(&path)?;
            Ok(ComparedBuild { path: path.to_string_lossy().into_owned(), checksum })
        })
    };
    let build = |path: &Path| {
        build(path).map_err(|error| usage(format!("cannot use {}: {error}", path.display())))
    };
    let old = build(old)?;
    Ok(vec![old.clone(), old, build(new)?])
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
