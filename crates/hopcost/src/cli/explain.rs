//! `hopcost explain`: where the time of a hop goes, by the kernel's events or, where these cannot be
//! recorded, by differences between cases.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::anyhow;
use hopcost_model::plan::{AblationPlan, ExplanationPlan, Plan};
use hopcost_model::text::shell_word;
use hopcost_plan::Ask;
use hopcost_probe::orphans::Orphans;

use super::exit::usage;
use super::run::{AxisArgs, MeasuredArgs, REPORT, duration, finish, interrupted, measure, prepare};
use super::session::{RunSession, begun};
use super::shown::{Shown, ensure_spared, percentile};
use super::{host, output, report};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// Arguments of `explain`.
#[derive(clap::Args)]
pub struct Args {
    /// A case, or two that are put side by side: `pipe`, `'unix-stream?place=same-cpu'`; wake-ups after
    /// several gaps: `wake/pipe --gap 10us,1ms`; the CPU time of a stream: `stream/tcp-send`
    #[arg(value_name = "CASE", num_args = 1..=2, required = true)]
    cases: Vec<String>,
    /// Take it apart by cases that do a part of its work, not by the kernel's events: bounds that need no rights
    #[arg(long, conflicts_with_all = ["tail", "perfetto"])]
    ablation: bool,
    /// What is different in the slowest hops: those from this percentile of a trial on (p99)
    #[arg(long, value_name = "PERCENTILE", value_parser = tail)]
    tail: Option<f64>,
    /// Write the events of one trial of each case as a trace that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Time at most
    #[arg(long, value_name = "TIME", visible_alias = "duration", default_value = "30s")]
    budget: String,
    #[command(flatten)]
    axes: AxisArgs,
    /// Aimed length of a trial's measured phase, which is not the one that is traced (20ms)
    #[arg(long, value_name = "TIME")]
    measure: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

/// A percentile above the median.
fn tail(text: &str) -> Result<f64, String> {
    let quantile = percentile(text)?.quantile().filter(|quantile| *quantile > 0.5);
    quantile.ok_or_else(|| "want a percentile above the median, such as p99".to_owned())
}

/// Plans, measures, reads back and shows; the words of the command line are stored with the run.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let orphans = Orphans::adopt()?;
    prepare(&args.shown, args.measured.out.as_deref())?;
    if args.cases.len() > 2 {
        return Err(usage("want one case or two"));
    }
    let files = [("--perfetto", args.perfetto.as_deref())];
    if let Some(file) = &args.perfetto {
        output::ensure_writable(file)?;
        args.shown.spare(file)?;
    }
    args.measured.out.as_deref().map_or(Ok(()), |run| ensure_spared(&files, run))?;
    let (about, setup) = begun(words, Runtimes::new(args.measured.worker.clone()))?;
    let plan = planned(args, &setup.runtimes)?;
    let mut session = RunSession::begin(setup, &about, plan, args.measured.out.as_deref())?;
    if measure(&mut session)? == Ending::Interrupted {
        return interrupted(&session, REPORT, &[]);
    }
    let results = finish(&mut session, orphans, &args.shown)?;
    if let Some(file) = &args.perfetto {
        ensure_spared(&files, session.path())?;
        let raw = hopcost_file::open(session.path(), &Scratch::for_copy).map_err(usage)?;
        let trace = hopcost_view::perfetto::trace(&raw);
        let trace = trace.ok_or_else(|| anyhow!("no trial of the run was traced"))?;
        output::write(trace.as_bytes(), Some(file))?;
        output::say(&format!("wrote {}", file.display()));
    }
    Ok(report::verdict(&results))
}

/// The plan: by the kernel's events, unless they are not asked for or cannot be recorded.
fn planned(args: &Args, runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let by_cases = |refused| Some(AblationPlan { refused, cases: Vec::new() });
    if args.ablation {
        return plan(args, runtimes, by_cases(None));
    }
    let traced = plan(args, runtimes, None)?;
    let refused = traced.cpus.first().and_then(|cpu| hopcost_probe::trace::refused(*cpu));
    let Some(why) = refused else { return Ok(traced) };
    if args.tail.is_some() || args.perfetto.is_some() {
        let cases: Vec<String> = args.cases.iter().map(|case| shell_word(case)).collect();
        return Err(usage(format!(
            "the kernel's events cannot be recorded: {why}; bounds without them: hopcost explain --ablation {}",
            cases.join(" ")
        )));
    }
    let without = |error| usage(format!("the kernel's events cannot be recorded: {why}; {error}"));
    plan(args, runtimes, by_cases(Some(why.clone()))).map_err(without)
}

/// Resolves the command line into a plan.
fn plan(args: &Args, runtimes: &Runtimes, ablation: Option<AblationPlan>) -> anyhow::Result<Plan> {
    let ask = Ask {
        selectors: args.cases.clone(),
        axes: args.axes.0.clone(),
        measure_ns: duration("--measure", &args.measure)?,
        ..args.measured.ask("--budget", &args.budget)?
    };
    let asked = ExplanationPlan { tail: args.tail, ablation };
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let plan = hopcost_plan::explanation(&ask, asked, &rust, &|| runtimes.facts(), &machine);
    let plan = plan.map_err(usage)?;
    hopcost_plan::ensure_live(&plan).map_err(usage)?;
    Ok(plan)
}
