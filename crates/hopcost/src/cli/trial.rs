//! `hopcost trial CASE --count N`: one trial with a fixed number of operations
//! and no pilot, as JSON. For tests that count system calls, and for looking at
//! one trial with strace or perf.

use anyhow::Context;
use hopcost_model::case::{Case, Placement, Role, Runtime};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_plan::TRIAL_DEFAULT;
use hopcost_probe::orphans::Orphans;
use hopcost_probe::sys;

use super::{exit, host, output, usage};
use crate::run::crew::Crew;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;
use crate::run::trial::spec::{Exactly, Outcome, TrialSpec};
use crate::run::worker::{Program, Transcript};
use crate::run::{clocks, trial};

/// Arguments of `trial`.
#[derive(clap::Args)]
pub struct Args {
    /// A complete case in its canonical spelling
    case: String,
    /// Operations
    #[arg(long, default_value = "100", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    count: u64,
    /// Print what is said to the workers and what they answer, in place of the trial
    #[arg(long)]
    transcript: bool,
    /// A worker program of your own
    #[arg(long, value_name = "PATH")]
    worker: Vec<std::path::PathBuf>,
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
    let (interrupt, orphans) = (sys::catch_interrupts()?, Orphans::adopt()?);
    let program = Program::own()?;
    let runtimes = Runtimes::new(args.worker.clone());
    let crew = Crew::assemble(&case, &program, &runtimes).map_err(usage)?;
    let plan = plan(&case, args)?;
    let clocks = match args.ticks_per_second {
        Some(rate) if rate > 0.0 && rate.is_finite() => vec![known_clock(rate, &Runtime::RUST)],
        Some(_) => return Err(usage("--ticks-per-second: want a rate over 0")),
        None => {
            let clocks = clocks::calibrate(&plan, &program, &runtimes, &interrupt)?;
            clocks.context("interrupted")?
        }
    };
    let mut clocks = clocks;
    let caller = &case.runtimes.caller;
    if let Some(ready) = crew.foreign(Role::Caller) {
        clocks.push(known_clock(ready.description.clock.ticks_per_second, caller));
    }
    let transcript = args.transcript.then(Transcript::default);
    let scratch = Scratch::create("trial")?;
    let outcome = trial::run(&TrialSpec {
        case: &case,
        crew: &crew,
        cpus: plan.cpus_for(case.placement),
        shape: plan.trial,
        stamp: args.batch.map(|n| Stamp::Batch { n }),
        exactly: Some(Exactly { warm_up: args.warm_up, measure: args.count }),
        clock: clocks::of(&clocks, caller, plan.cpus.first().copied())?,
        callee_clock: clocks::of(&clocks, &Runtime::RUST, plan.cpus.get(1).copied())?,
        transcript: transcript.as_ref(),
        scratch: scratch.path(),
        number: 0,
        padding: 0,
        seed: 0,
        interrupt: &interrupt,
        orphans: &orphans,
    });
    let Outcome::Row(row) = outcome else { return Ok(exit::INTERRUPTED) };
    match transcript {
        None => output::write(format!("{}\n", serde_json::to_string(&row)?).as_bytes(), None)?,
        Some(transcript) => output::write(transcript.borrow().as_bytes(), None)?,
    }
    if let (true, Some(error)) = (args.transcript, &row.error) {
        output::say(&format!("hopcost: the trial failed: {error}"));
    }
    Ok(if row.error.is_some() { exit::ERROR } else { exit::OK })
}

/// A clock of which only the rate is known, which is all that a trial without pilot needs.
fn known_clock(ticks_per_second: f64, runtime: &Runtime) -> ClockReading {
    ClockReading::of_rate(runtime.word(), "given", ticks_per_second)
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
