//! `hopcost trial CASE --count N`: one trial with a fixed number of operations
//! and no pilot, as JSON. For tests that count system calls, and for looking at
//! one trial with strace or perf.

use anyhow::Context;
use hopcost_model::case::{Case, Placement};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_plan::TRIAL_DEFAULT;
use hopcost_probe::{mechanism, sys};

use super::{exit, host, output, usage};
use crate::run::scratch::Scratch;
use crate::run::trial::{Exactly, Order, Outcome};
use crate::run::worker::Program;
use crate::run::{clocks, trial};

/// Arguments of `trial`.
#[derive(clap::Args)]
pub struct Args {
    /// A complete case in its canonical spelling
    case: String,
    /// Operations
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    count: u64,
    /// Operations before them that leave no samples
    #[arg(long, default_value = "0")]
    warm_up: u64,
    /// The clock's rate, if it is known: saves its calibration (0.1 s)
    #[arg(long)]
    ticks_per_second: Option<f64>,
    /// Operations between two stamps; one stamp each if absent
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    batch: Option<u64>,
    /// A trial that takes longer is killed
    #[arg(long, default_value = "10000", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    deadline_ms: u64,
}

/// Runs one trial.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    sys::close_on_exec_from_3();
    let case: Case = args.case.parse().map_err(usage)?;
    let row = mechanism::find(case.mechanism_name())
        .ok_or_else(|| usage(format!("unknown mechanism `{}`", case.mechanism)))?;
    let interrupt = sys::catch_interrupts()?;
    let program = Program::own()?;
    let plan = plan(&case, args)?;
    let clocks = match args.ticks_per_second {
        Some(rate) if rate > 0.0 && rate.is_finite() => vec![known_clock(rate)],
        Some(_) => return Err(usage("--ticks-per-second: want a rate over 0")),
        None => clocks::calibrate(&plan, &program, &interrupt)?.context("interrupted")?,
    };
    let scratch = Scratch::create("trial")?;
    let outcome = trial::run(&Order {
        case: &case,
        row,
        cpus: plan.cpus_for(case.placement),
        shape: plan.trial,
        stamp: args.batch.map(|n| Stamp::Batch { n }),
        exactly: Some(Exactly { warm_up: args.warm_up, measure: args.count }),
        clock: clocks::of(&clocks, plan.cpus.first().copied())?,
        program: &program,
        scratch: scratch.path(),
        number: 0,
        padding: 0,
        seed: 0,
        interrupt: &interrupt,
    });
    let Outcome::Row(row) = outcome else { return Ok(exit::INTERRUPTED) };
    output::write(format!("{}\n", serde_json::to_string(&row)?).as_bytes(), None)?;
    Ok(if row.error.is_some() { exit::ERROR } else { exit::OK })
}

/// A clock of which only the rate is known, which is all that a trial without pilot needs.
fn known_clock(ticks_per_second: f64) -> ClockReading {
    ClockReading {
        cpu: 0,
        runtime: "rust".into(),
        source: "given".into(),
        ticks_per_second,
        rate_spread_ppm: 0.0,
        resolution_ticks: 1,
        stamp_min_ns: 0.0,
        stamp_p50_ns: 0.0,
        stamp_p99_ns: 0.0,
        clock_gettime_p50_ns: 0.0,
    }
}

fn plan(case: &Case, args: &Args) -> anyhow::Result<Plan> {
    let machine = host::machine(&[])?;
    let needs_two = !matches!(case.placement, None | Some(Placement::SameCpu | Placement::Free));
    let pair = case.placement.and_then(|placement| machine.pairs.get(&placement));
    if needs_two && pair.is_none() {
        return Err(usage("this machine does not have the placement of this case"));
    }
    let mut cpus: Vec<u32> = machine.allowed_cpus.first().copied().into_iter().collect();
    if let Some(&(caller, callee)) = pair {
        cpus = vec![caller, callee];
    }
    let mut shape = TRIAL_DEFAULT;
    shape.deadline_ms = args.deadline_ms;
    Ok(Plan {
        suite: "trial".into(),
        seed: 0,
        rounds: 1,
        budget_ns: None,
        trial: shape,
        baseline: None,
        cpus,
        relation: None,
        pairs: machine.pairs,
        cases: Vec::new(),
    })
}
