//! `hopcost judge`: which sentences about costs are true on this machine.

use std::ffi::OsString;

use hopcost_model::{ClaimsPlan, Plan, Question};
use hopcost_plan::{Ask, SuiteSource};
use hopcost_read::results::{Results, Ruling};

use super::exit::{self, usage};
use super::measured::MeasuredArgs;
use super::shown::{Printed, Shown};
use super::{host, input, runs};
use crate::run::runtimes::Runtimes;

/// Check published claims about costs on this machine
#[derive(clap::Args, Default)]
#[command(mut_arg("budget", |arg| arg.default_value("10m")))]
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
    /// Measure nothing and judge by this stored run (`last`, an id, a path)
    #[arg(long, value_name = "RUN", conflicts_with_all = ["rounds", "measured"])]
    run: Option<String>,
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
}

impl Args {
    /// Measures what the claims need, or takes a stored run, and judges.
    pub fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        let (gate, verdict) = judged(self, words)?;
        Ok(gate.unwrap_or(verdict))
    }
}

/// The exit code of what stops at the gate, and that of the run.
fn judged(args: &Args, words: &[OsString]) -> anyhow::Result<(Option<u8>, u8)> {
    let source = |name: &String| input::source(name, hopcost_plan::claims);
    let files = args.claims.iter().map(source).collect::<anyhow::Result<Vec<_>>>()?;
    args.shown.ensure_run()?;
    if let Some(run) = &args.run {
        return Ok((stored(args, &files, run)?, exit::OK));
    }
    let measured = args.measured.run(words, |runtimes| plan(args, &files, runtimes))?;
    let verdict = args.shown.show_measured(&measured)?;
    Ok((measured.cut_off.or_else(|| code(args, &measured.results)), verdict))
}

/// Judges hopcost itself by cases whose answers are known.
pub fn self_test() -> anyhow::Result<u8> {
    let words = ["hopcost", "judge", "self-test", "--gate", "--budget", "2m"];
    let measured = MeasuredArgs { budget: Some(120_000_000_000), ..MeasuredArgs::default() };
    let args =
        Args { claims: vec!["self-test".to_owned()], gate: true, measured, ..Args::default() };
    let (gate, _) = judged(&args, &words.map(OsString::from))?;
    // Some of its cases fail if all is well.
    Ok(gate.unwrap_or(exit::OK))
}

fn plan(args: &Args, files: &[SuiteSource], runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let ask = Ask { rounds: args.rounds, ..args.measured.ask() };
    let machine = host::machine(&args.measured.cpus)?;
    hopcost_plan::judging(&ask, files, &args.question, &runtimes.catalog(), &machine).map_err(usage)
}

/// Judges by a stored run; the exit code of a gate.
fn stored(args: &Args, files: &[SuiteSource], run: &str) -> anyhow::Result<Option<u8>> {
    for SuiteSource { file, text } in files {
        hopcost_plan::parse_claims(file, text).map_err(usage)?;
    }
    let path = runs::find(run)?;
    let mut raw = runs::open(&path)?;
    let plan = |source: &SuiteSource| {
        let plan = ClaimsPlan::of(&source.file, &source.text, &args.question);
        // What the run was measured for has the same cases and verdicts again.
        let Some(Question::Claims(own)) = &raw.plan.question else { return plan };
        let cases = own.iter().find(|own| own.lines == plan.lines).map(|own| own.cases.clone());
        ClaimsPlan { cases: cases.unwrap_or_default(), ..plan }
    };
    let files: Vec<ClaimsPlan> = files.iter().map(plan).collect();
    raw.plan.question = Some(Question::Claims(files));
    let results = runs::results(&raw);
    args.shown.show_run(&results, &path, Printed::WhereNothingElse)?;
    Ok(code(args, &results))
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
