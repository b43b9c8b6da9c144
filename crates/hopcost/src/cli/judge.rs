//! `hopcost judge`: which sentences about costs are true on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_model::plan::{DocketPlan, Plan, Question};
use hopcost_model::results::{Judged, JudgedClaim, Results, Ruling};
use hopcost_model::text::shell_word;
use hopcost_plan::{Ask, DOCKETS, SuiteSource};
use hopcost_probe::orphans::Orphans;

use super::exit::{self, usage};
use super::run::{MeasuredArgs, RESUME, duration, finish, interrupted, measure, prepare, text_of};
use super::session::{RunSession, begun};
use super::shown::{Printed, Shown};
use super::{host, report};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// Arguments of `judge`.
#[derive(clap::Args)]
pub struct Args {
    /// Dockets of claims and their checks: TOML files (docs/dockets.md), or names of hopcost's own
    #[arg(required = true, value_name = "DOCKET")]
    dockets: Vec<String>,
    /// Answer these questions of the dockets alone, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    question: Vec<String>,
    /// Time at most; it ends when every claim is decided
    #[arg(long, value_name = "TIME", visible_alias = "duration", default_value = "10m")]
    budget: String,
    /// Rounds at most
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(hopcost_plan::ROUNDS_MAX)))]
    rounds: Option<u32>,
    /// Measure nothing and judge by this stored run (`last`, an id, a path); given several times, by each
    #[arg(long, value_name = "RUN", conflicts_with_all = ["budget", "rounds", "measure", "measured"])]
    run: Vec<String>,
    /// Fail if a claim fails (exit code 4)
    #[arg(long)]
    gate: bool,
    /// Fail too if one cannot be told (exit code 5)
    #[arg(long, requires = "gate")]
    strict: bool,
    /// Aimed length of a trial's measured phase (20ms)
    #[arg(long, value_name = "TIME")]
    measure: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
    /// Print the plan with what is skipped and why, and measure nothing
    #[arg(long, conflicts_with_all = ["html", "plots", "run", "gate"])]
    dry_run: bool,
}

/// Measures what the claims need, or takes stored runs, and judges.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let files: Vec<SuiteSource> =
        args.dockets.iter().map(|name| docket(name.as_str())).collect::<Result<_, _>>()?;
    for file in args.dockets.iter().map(Path::new).filter(|file| file.exists()) {
        args.shown.spare(file)?;
    }
    if !args.run.is_empty() {
        return stored(args, &files);
    }
    let _orphans = Orphans::adopt()?;
    let runtimes = Runtimes::new(args.measured.worker.clone());
    if args.dry_run {
        let plan = plan(args, &files, &runtimes)?;
        return args.shown.dry_run(&plan, runtimes.expected(&plan, None));
    }
    prepare(&args.shown, args.measured.out.as_deref())?;
    let (about, setup) = begun(words, runtimes)?;
    let plan = plan(args, &files, &setup.runtimes)?;
    let mut session = RunSession::begin(setup, &about, plan, args.measured.out.as_deref())?;
    if measure(&mut session)? == Ending::Interrupted {
        return interrupted(&session, RESUME, &args.measured.worker);
    }
    let results = finish(&mut session, &args.shown)?;
    Ok(code(args, &results).unwrap_or_else(|| report::verdict(&results)))
}

/// A docket by name, or the text of a file: what looks like a path is one.
fn docket(name: &str) -> anyhow::Result<SuiteSource> {
    if name.contains('/') || name.ends_with(".toml") {
        return text_of(name);
    }
    hopcost_plan::docket(name).ok_or_else(|| {
        let known: Vec<&str> = DOCKETS.iter().map(|(known, _)| *known).collect();
        let (name, known) = (shell_word(name), known.join(", "));
        usage(format!("no docket {name}; known: {known}; a file is named by its path"))
    })
}

fn plan(args: &Args, files: &[SuiteSource], runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let ask = Ask {
        rounds: args.rounds,
        measure_ns: duration("--measure", &args.measure)?,
        ..args.measured.ask("--budget", &args.budget)?
    };
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let facts = || runtimes.facts();
    hopcost_plan::judging(&ask, files, &args.question, &rust, &facts, &machine).map_err(usage)
}

/// Judges by stored runs, each by itself; what one leaves open another may decide.
fn stored(args: &Args, files: &[SuiteSource]) -> anyhow::Result<u8> {
    let dockets = files.iter().filter_map(|source| match source {
        SuiteSource::Text { file, text } => Some(DocketPlan::of(file, text, &args.question)),
        SuiteSource::Shipped(_) => None,
    });
    let dockets: Vec<DocketPlan> = dockets.collect();
    for docket in &dockets {
        hopcost_plan::parse_docket(&docket.file, &docket.text()).map_err(usage)?;
    }
    let mut all: Option<(PathBuf, Results)> = None;
    for spec in &args.run {
        let path = report::find(spec)?;
        args.shown.spare(&path)?;
        let mut raw = hopcost_file::open(&path, &Scratch::for_copy).map_err(usage)?;
        raw.plan.question = Some(Question::Dockets(dockets.clone()));
        let results = report::results(&raw);
        match &mut all {
            None => all = Some((path, results)),
            Some((_, first)) => join(first, results),
        }
    }
    let (path, results) = all.context("no run")?;
    args.shown.show(&results, &path, Printed::WhereNothingElse)?;
    Ok(code(args, &results).unwrap_or(exit::OK))
}

/// Adds what another run decides; where two decide otherwise, it depends on the run.
fn join(first: &mut Results, other: Results) {
    let run = other.about.id;
    let (Some(Judged { claims, .. }), Some(other)) = (&mut first.judged, other.judged) else {
        return;
    };
    let is_open = |claim: &JudgedClaim| claim.verdict.is_none_or(|v| v == Ruling::CannotTell);
    for (one, other) in claims.iter_mut().zip(other.claims) {
        if is_open(one) && !is_open(&other) {
            *one = other;
        } else if !is_open(&other) && one.verdict != other.verdict {
            one.because = format!("{}; in the run {run}: {}", one.because, other.because);
            one.verdict = Some(Ruling::Depends);
            one.parts.extend(other.parts);
        }
    }
}

/// The exit code of a gate; `None` where nothing stands against the claims.
fn code(args: &Args, results: &Results) -> Option<u8> {
    let claims = &results.judged.as_ref()?.claims;
    let has = |ruling| claims.iter().any(|claim| claim.verdict == Some(ruling));
    match () {
        () if args.gate && has(Ruling::Fails) => Some(exit::REGRESSION),
        () if args.strict && has(Ruling::CannotTell) => Some(exit::INCONCLUSIVE),
        () => None,
    }
}
