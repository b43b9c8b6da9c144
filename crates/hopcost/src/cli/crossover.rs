//! `hopcost crossover`: where one case overtakes another along an axis.

use std::ffi::OsString;

use hopcost_model::plan::Plan;
use hopcost_plan::{Ask, CrossoverAsk, SEARCHED};
use hopcost_probe::orphans::Orphans;

use super::compare::comparable;
use super::exit::usage;
use super::run::{
    AxisArgs, MeasuredArgs, REPORT, duration, finish, interrupted, measure, percent, prepare,
};
use super::session::{RunSession, begun};
use super::shown::Shown;
use super::{host, report};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;

/// Arguments of `crossover`.
#[derive(clap::Args)]
pub struct Args {
    /// Two cases, each of which selects one at every value of the axis; the second may overtake the first
    #[arg(value_name = "CASE", num_args = 2, required = true)]
    cases: Vec<String>,
    #[arg(long, value_name = "AXIS", default_value = "payload", help = axes())]
    axis: String,
    /// The first value (64, 1us, 1k)
    #[arg(long, value_name = "VALUE")]
    from: Option<String>,
    /// The last value (1MiB, 1ms, 1M)
    #[arg(long, value_name = "VALUE")]
    to: Option<String>,
    /// Ratios off 1 by no more than this are those of equals
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "3%")]
    margin: f64,
    /// Time at most; a search stops when it is answered
    #[arg(long, value_name = "TIME", visible_alias = "duration", default_value = "60s")]
    budget: String,
    #[command(flatten)]
    axes: AxisArgs,
    /// Aimed length of a trial's measured phase (20ms)
    #[arg(long, value_name = "TIME")]
    measure: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

fn axes() -> String {
    let keys: Vec<&str> = SEARCHED.iter().map(|(key, ..)| *key).collect();
    format!("What is varied ({})", keys.join(", "))
}

/// Plans, measures, reads back and shows; the words of the command line are stored with the run.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let _orphans = Orphans::adopt()?;
    prepare(&args.shown, args.measured.out.as_deref())?;
    let (about, setup) = begun(words, Runtimes::new(args.measured.worker.clone()))?;
    let plan = plan(args, &setup.runtimes)?;
    let mut session = RunSession::begin(setup, &about, plan, args.measured.out.as_deref())?;
    if measure(&mut session)? == Ending::Interrupted {
        return interrupted(&session, REPORT, &[]);
    }
    Ok(report::verdict(&finish(&mut session, &args.shown)?))
}

/// Resolves the command line into a plan.
fn plan(args: &Args, runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let ask = Ask {
        selectors: args.cases.clone(),
        axes: args.axes.0.clone(),
        measure_ns: duration("--measure", &args.measure)?,
        ..args.measured.ask("--budget", &args.budget)?
    };
    let asked = CrossoverAsk {
        axis: args.axis.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
        margin: args.margin,
    };
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let plan = hopcost_plan::crossover(&ask, &asked, &rust, &|| runtimes.facts(), &machine);
    let plan = plan.map_err(usage)?;
    for pair in plan.cases.chunks_exact(2) {
        comparable(pair.iter().filter_map(|planned| planned.known()))?;
    }
    hopcost_plan::ensure_live(&plan).map_err(usage)?;
    Ok(plan)
}
