//! `hopcost judge`: which sentences about costs are true on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use hopcost_model::plan::{ClaimsPlan, Plan, Question};
use hopcost_model::results::{Judged, JudgedClaim, Results, Ruling};
use hopcost_model::text::shell_word;
use hopcost_plan::{Ask, CLAIMS, SuiteSource};
use hopcost_probe::orphans::Orphans;

use super::exit::{self, usage};
use super::run::{MeasuredArgs, RESUME, finish, prepare, text_of};
use super::shown::{Printed, Shown};
use super::{host, report};
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// Arguments of `judge`.
#[derive(clap::Args)]
pub struct Args {
    /// Claims files: TOML files (docs/claims.md), or names of hopcost's own
    #[arg(required = true, value_name = "CLAIMS")]
    claims: Vec<String>,
    /// Answer only these questions of the files, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    question: Vec<String>,
    /// Rounds at most
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(hopcost_plan::ROUNDS_MAX)))]
    rounds: Option<u32>,
    /// Measure nothing and judge by this stored run (`last`, an id, a path); may be repeated
    #[arg(long, value_name = "RUN", conflicts_with_all = ["rounds", "measured"])]
    run: Vec<String>,
    /// Exit with code 4 if a claim fails
    #[arg(long)]
    gate: bool,
    /// With --gate, exit with code 5 if a claim is undecided
    #[arg(long, requires = "gate")]
    strict: bool,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
    /// Print the plan, with the skipped cases and why, and measure nothing
    #[arg(long, conflicts_with_all = ["html", "plots", "run", "gate"])]
    dry_run: bool,
}

/// The arguments of `judge` by themselves.
#[derive(Parser)]
struct SelfTest {
    #[command(flatten)]
    args: Args,
}

/// Measures what the claims need, or takes stored runs, and judges.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let judged = judged(args, words)?;
    Ok(judged.map_or_else(
        |code| code,
        |results| code(args, &results).unwrap_or_else(|| report::verdict(&results)),
    ))
}

/// The verdicts of a run that was shown, or an exit code.
fn judged(args: &Args, words: &[OsString]) -> anyhow::Result<Result<Results, u8>> {
    let files: Vec<SuiteSource> =
        args.claims.iter().map(|name| claims(name.as_str())).collect::<Result<_, _>>()?;
    for file in args.claims.iter().map(Path::new).filter(|file| file.exists()) {
        args.shown.spare(file)?;
    }
    if !args.run.is_empty() {
        return stored(args, &files).map(Err);
    }
    let _orphans = Orphans::adopt()?;
    if args.dry_run {
        let runtimes = args.measured.runtimes();
        let plan = plan(args, &files, &runtimes)?;
        return args.shown.dry_run(&plan, runtimes.expected(&plan, None)).map(Err);
    }
    prepare(&args.shown, args.measured.out.as_deref())?;
    let plan = |runtimes: &Runtimes| plan(args, &files, runtimes);
    let Some(mut session) = args.measured.session(words, RESUME, plan)? else {
        return Ok(Err(exit::INTERRUPTED));
    };
    finish(&mut session, &args.shown).map(Ok)
}

/// Judges hopcost itself by cases whose answers are known.
pub fn self_test() -> anyhow::Result<u8> {
    let words = ["hopcost", "judge", "self-test", "--gate", "--budget", "2m"];
    let of_judge = words.iter().filter(|word| **word != "judge");
    let SelfTest { args } = SelfTest::try_parse_from(of_judge)?;
    let judged = judged(&args, &words.map(OsString::from))?;
    // Some of its cases fail if all is well.
    Ok(judged.map_or_else(|code| code, |results| code(&args, &results).unwrap_or(exit::OK)))
}

/// A claims file by name, or the text of a file: what looks like a path is one.
fn claims(name: &str) -> anyhow::Result<SuiteSource> {
    if name.contains('/') || name.ends_with(".toml") {
        return text_of(name);
    }
    hopcost_plan::claims(name).ok_or_else(|| {
        let known: Vec<&str> = CLAIMS.iter().map(|(known, _)| *known).collect();
        let (name, known) = (shell_word(name), known.join(", "));
        usage(format!("no claims file {name}; known: {known}; name a file by its path"))
    })
}

fn plan(args: &Args, files: &[SuiteSource], runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let ask = Ask { rounds: args.rounds, ..args.measured.ask("judge")? };
    let machine = host::machine(&args.measured.cpus)?;
    hopcost_plan::judging(&ask, files, &args.question, &runtimes.catalog(), &machine).map_err(usage)
}

/// Judges by stored runs, each by itself; what one leaves undecided another may decide.
fn stored(args: &Args, files: &[SuiteSource]) -> anyhow::Result<u8> {
    let files = files.iter().filter_map(|source| match source {
        SuiteSource::Text { file, text } => Some(ClaimsPlan::of(file, text, &args.question)),
        SuiteSource::Shipped(_) => None,
    });
    let files: Vec<ClaimsPlan> = files.collect();
    for file in &files {
        hopcost_plan::parse_claims(&file.file, &file.text()).map_err(usage)?;
    }
    let mut all: Option<(PathBuf, Results)> = None;
    for spec in &args.run {
        let path = report::find(spec)?;
        args.shown.spare(&path)?;
        let mut raw = hopcost_file::open(&path, &Scratch::for_copy).map_err(usage)?;
        raw.plan.question = Some(Question::Claims(files.clone()));
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

/// Adds what another run decides; a claim on which two differ depends on the run.
fn join(first: &mut Results, other: Results) {
    let run = other.about.id;
    let (Some(Judged { claims, .. }), Some(other)) = (&mut first.judged, other.judged) else {
        return;
    };
    let is_open = |claim: &JudgedClaim| claim.verdict.is_none_or(|v| v == Ruling::Undecided);
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

/// The exit code of a gate; `None` if it lets the claims pass.
fn code(args: &Args, results: &Results) -> Option<u8> {
    let claims = &results.judged.as_ref()?.claims;
    let has = |ruling| claims.iter().any(|claim| claim.verdict == Some(ruling));
    match () {
        () if args.gate && has(Ruling::Fails) => Some(exit::REGRESSION),
        () if args.strict && has(Ruling::Undecided) => Some(exit::INCONCLUSIVE),
        () => None,
    }
}
