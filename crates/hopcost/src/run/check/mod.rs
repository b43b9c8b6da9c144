//! Whether a worker keeps to the protocol: what it says of itself, every mechanism in
//! both roles and several sizes, with itself and with the worker in Rust at the other
//! end, and what it does when something is wrong.

mod behaviour;
mod bench;
mod peer;

use anyhow::Context;
use hopcost_model::case::{Case, Placement, Workload};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::RawTrial;
use hopcost_model::workload::Sampling;

pub use self::bench::{Bench, Check, Verdict};
use super::trial::plausible::{self, Measure};
use super::trial::spec::Outcome;

/// Where checks are told to.
pub type Say<'a> = dyn FnMut(Check) -> anyhow::Result<()> + 'a;

/// Fewer exchanges of more bytes than this will do.
const LARGE: u32 = 1 << 14;

/// Makes every check; `false` if the user interrupted.
pub fn all(bench: &Bench<'_>, say: &mut Say<'_>) -> anyhow::Result<bool> {
    let about = &bench.ready.description;
    say(Check::of(
        format!(
            "describes itself: {} {}, {} mechanisms",
            about.runtime,
            about.version,
            about.mechanisms.len()
        ),
        Ok(()),
    ))?;
    let left_before = behaviour::shared_memory();
    for check in behaviour::checks(bench) {
        say(check)?;
    }
    let usable = |m: &&Mechanism| {
        m.unavailable.is_none()
            && m.workloads.iter().any(|w| w.spec().is_for_all_runtimes)
            && (bench.only.is_empty() || bench.only.contains(&m.name))
    };
    // An exchange is long enough for its stamps to be little beside it.
    let exchanges = |m: &&Mechanism| m.workloads.contains(&Workload::Roundtrip);
    let candidates = || about.mechanisms.iter().filter(usable);
    if let Some(mechanism) = candidates().find(exchanges).or_else(|| candidates().next()) {
        let what = format!("samples cover the phase they are of ({})", mechanism.name);
        say(Check::of(what, covers(bench, mechanism)))?;
    }
    for mechanism in &about.mechanisms {
        if !bench.only.is_empty() && !bench.only.contains(&mechanism.name) {
            continue;
        }
        if let Some(reason) = &mechanism.unavailable {
            say(Check::skipped(&mechanism.name, reason))?;
            continue;
        }
        if !of_mechanism(bench, mechanism, say)? {
            return Ok(false);
        }
    }
    let left: Vec<String> =
        behaviour::shared_memory().into_iter().filter(|name| !left_before.contains(name)).collect();
    let nothing = match left.as_slice() {
        [] => Ok(()),
        left => Err(format!("/dev/shm holds {}", left.join(", "))),
    };
    say(Check::of("leaves nothing in /dev/shm", nothing))?;
    Ok(true)
}

/// Every way of playing one mechanism.
fn of_mechanism(
    bench: &Bench<'_>,
    mechanism: &Mechanism,
    say: &mut Say<'_>,
) -> anyhow::Result<bool> {
    for workload in &mechanism.workloads {
        if !workload.spec().is_for_all_runtimes {
            let what = format!("{workload}/{}", mechanism.name);
            say(Check::skipped(what, "only hopcost's own worker plays this so far"))?;
        }
    }
    let plan = match bench.plan(mechanism) {
        Ok(plan) => plan,
        Err(why) => {
            say(Check::of(&mechanism.name, Err(why)))?;
            return Ok(true);
        }
    };
    for planned in &plan.cases {
        if let Some(why) = &planned.skip {
            say(Check::skipped(planned.id(), why))?;
        }
    }
    for case in plan.live_cases() {
        for &(stamp, count) in stamps(case, mechanism) {
            if !one(bench, &plan, case, stamp, count, say)? {
                return Ok(false);
            }
        }
    }
    for check in peer::checks(bench, mechanism, &plan) {
        say(check)?;
    }
    if mechanism.system_calls.is_some() {
        let what = format!("{}: system calls are those it says", mechanism.name);
        say(Check::skipped(what, "counting them takes ptrace, which the tests of hopcost do"))?;
    }
    Ok(true)
}

/// How the trials of a case are stamped, and how many operations they have: all sizes are tried
/// where the ends are free, and batches of the default size where both are of the worker.
fn stamps(case: &Case, mechanism: &Mechanism) -> &'static [(Stamp, u64)] {
    let default = case.payload_bytes == mechanism.payload.map(|payload| payload.default);
    match case.workload.spec().sampling {
        Sampling::TwoLengths => {
            &[(Stamp::Each, 48), (Stamp::Batch { n: 8 }, 48), (Stamp::TwoLengths { n: 8 }, 48)]
        }
        _ if default && case.runtimes.are_mixed() => &[(Stamp::Each, 120)],
        _ if default => &[(Stamp::Each, 120), (Stamp::Batch { n: 16 }, 160)],
        _ if case.placement != Some(Placement::Free) => &[],
        _ if case.payload_bytes.is_some_and(|bytes| bytes > LARGE) => &[(Stamp::Each, 8)],
        _ => &[(Stamp::Each, 120)],
    }
}

/// How long the phase has to be in which a worker's clock is held against hopcost's.
const CLOCK_NS: f64 = 400e6;
/// Operations of a batch, where stamps would be too much beside one.
const CLOCK_BATCH: u64 = 256;

/// Whether the samples of a long phase cover it: a clock that runs slow, or samples
/// that are less than what was timed, show here.
fn covers(bench: &Bench<'_>, mechanism: &Mechanism) -> Result<(), String> {
    let plan = bench.plan(mechanism)?;
    let exchange = plan.live_cases().find(|case| case.workload == Workload::Roundtrip);
    let (case, stamp) = match (exchange, plan.live_cases().next()) {
        (Some(exchange), _) => (exchange, Stamp::Each),
        (None, Some(call)) => (call, Stamp::Batch { n: CLOCK_BATCH }),
        (None, None) => return Err("it cannot be played here".to_owned()),
    };
    // Half as many warm up, whole batches too.
    let unit = 2 * CLOCK_BATCH;
    let first = row_of(bench, &plan, case, stamp, unit)?;
    let each_ns = (first.wall_ns as f64 / unit as f64).max(50.0);
    let count = (CLOCK_NS / each_ns).clamp(unit as f64, 4e6) as u64 / unit * unit;
    let row = row_of(bench, &plan, case, stamp, count)?;
    let phase = Measure {
        outside_ns: row.wall_ns,
        ticks_per_ns: bench.ready.description.clock.ticks_per_second / 1e9,
    };
    plausible::long_phase(phase, row.ends.first().map_or(0, |end| end.elapsed_ticks))
}

fn row_of(
    bench: &Bench<'_>,
    plan: &Plan,
    case: &Case,
    stamp: Stamp,
    count: u64,
) -> Result<RawTrial, String> {
    match bench.trial(plan, case, stamp, count)? {
        Outcome::Interrupted => Err("interrupted".to_owned()),
        Outcome::Row(row) => match &row.error {
            Some(error) => Err(error.clone()),
            None => Ok(*row),
        },
    }
}

/// One trial of given counts; `false` if the user interrupted.
fn one(
    bench: &Bench<'_>,
    plan: &Plan,
    case: &Case,
    stamp: Stamp,
    count: u64,
    say: &mut Say<'_>,
) -> anyhow::Result<bool> {
    let what = format!("{} ({stamp})", case.id());
    let row = match bench.trial(plan, case, stamp, count) {
        Err(reason) => {
            say(Check::of(what, Err(reason)))?;
            return Ok(true);
        }
        Ok(Outcome::Interrupted) => return Ok(false),
        Ok(Outcome::Row(row)) => row,
    };
    let samples = match stamp {
        Stamp::Each => count,
        Stamp::Batch { n } => count / n,
        Stamp::TwoLengths { n } => count / (3 * n) * 2,
    };
    let lost: u64 = row.ends.iter().map(|end| end.lost).sum();
    let result = match &row.error {
        Some(error) => Err(error.clone()),
        None if !row.pin_errors.is_empty() => Err(row.pin_errors.join("; ")),
        None if row.samples_taken + lost != samples => {
            Err(format!("{} samples instead of {samples}", row.samples_taken))
        }
        None => Ok(()),
    };
    say(Check::of(what, result)).context("telling a check")?;
    Ok(true)
}
