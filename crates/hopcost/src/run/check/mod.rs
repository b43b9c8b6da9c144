//! Whether a worker keeps to the protocol: what it says of itself, every mechanism in
//! both roles and several sizes, with itself and with the worker in Rust at the other
//! end, and what it does when something is wrong.

mod manners;
mod peer;

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::Context;
use hopcost_model::case::{
    Boundary, Case, IdleKnob, Placement, Runtime, Runtimes as Both, Sched, WaitKind, Waits,
    Workload,
};
use hopcost_model::mechanism::{LinkSource, Mechanism, Peers};
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_model::raw::RawTrial;
use hopcost_plan::TRIAL_DEFAULT;
use hopcost_probe::mechanism;
use hopcost_probe::orphans::Orphans;

use super::crew::Crew;
use super::runtimes::{Ready, Runtimes};
use super::trial;
use super::trial::spec::{Exactly, Outcome, TrialSpec};
use super::worker::Program;

/// What a check needs.
pub struct Bench<'a> {
    /// The worker.
    pub ready: &'a Ready,
    /// Its name.
    pub runtime: &'a Runtime,
    /// Where it was found.
    pub runtimes: &'a Runtimes,
    /// The worker inside this binary.
    pub native: &'a Program,
    /// Directory for names.
    pub scratch: &'a Path,
    /// Readable once the user has interrupted.
    pub interrupt: &'a OwnedFd,
    /// What workers leave behind.
    pub orphans: &'a Orphans,
    /// A CPU that this process may use.
    pub cpu: u32,
    /// Mechanisms to check; every one if empty.
    pub only: &'a [String],
}

/// How a check ended.
pub enum Verdict {
    /// As it has to be.
    Passed,
    /// Not, for this reason.
    Failed(String),
    /// Not made, for this reason.
    Skipped(String),
}

/// One check.
pub struct Check {
    /// What was checked.
    pub what: String,
    /// How it ended.
    pub verdict: Verdict,
}

/// Where checks are told to.
pub type Say<'a> = dyn FnMut(Check) -> anyhow::Result<()> + 'a;

impl Check {
    fn of(what: impl Into<String>, result: Result<(), String>) -> Self {
        let verdict = match result {
            Ok(()) => Verdict::Passed,
            Err(why) => Verdict::Failed(why),
        };
        Self { what: what.into(), verdict }
    }
    fn skipped(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), verdict: Verdict::Skipped(why.into()) }
    }
}

/// Sizes of a message that are tried, as far as a mechanism has them.
const SIZES: [u32; 3] = [1, 63, 4097];
/// Fewer exchanges of more bytes than this will do.
const LARGE: u32 = 1 << 14;
/// The largest size that is tried.
const SIZE_MAX: u32 = 1 << 20;

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
    let left_before = manners::shared_memory();
    for check in manners::checks(bench) {
        say(check)?;
    }
    let usable = |m: &&Mechanism| {
        m.unavailable.is_none()
            && m.workloads.iter().any(|w| matches!(w, Workload::Call | Workload::Roundtrip))
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
        manners::shared_memory().into_iter().filter(|name| !left_before.contains(name)).collect();
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
        match workload {
            Workload::Call => {
                let case = case_of(mechanism, Workload::Call, Both::both(bench.runtime.clone()));
                for stamp in [Stamp::Each, Stamp::Batch { n: 8 }, Stamp::TwoLengths { n: 8 }] {
                    if !one(bench, &case, stamp, 48, say)? {
                        return Ok(false);
                    }
                }
            }
            Workload::Roundtrip => {
                for boundary in &mechanism.boundaries {
                    if !of_boundary(bench, mechanism, *boundary, say)? {
                        return Ok(false);
                    }
                }
            }
            Workload::Wake | Workload::Stream => {
                let what = format!("{workload}/{}", mechanism.name);
                say(Check::skipped(what, "only hopcost's own worker plays this so far"))?;
            }
        }
    }
    for check in peer::checks(bench, mechanism) {
        say(check)?;
    }
    if mechanism.system_calls.is_some() {
        let what = format!("{}: system calls are those it says", mechanism.name);
        say(Check::skipped(what, "counting them takes ptrace, which the tests of hopcost do"))?;
    }
    Ok(true)
}

/// How long the phase has to be in which a worker's clock is held against hopcost's.
const CLOCK_NS: f64 = 400e6;
/// The share of such a phase that its samples cover at least.
const CLOCK_SHARE: f64 = 0.6;
/// Operations of a batch, where stamps would be too much beside one.
const CLOCK_BATCH: u64 = 256;

/// Whether the samples of a long phase cover it: a clock that runs slow, or samples
/// that are less than what was timed, show here.
fn covers(bench: &Bench<'_>, mechanism: &Mechanism) -> Result<(), String> {
    let (workload, stamp) = match mechanism.workloads.contains(&Workload::Roundtrip) {
        true => (Workload::Roundtrip, Stamp::Each),
        false => (Workload::Call, Stamp::Batch { n: CLOCK_BATCH }),
    };
    let mut case = case_of(mechanism, workload, Both::both(bench.runtime.clone()));
    if let Some(boundary) = mechanism.boundaries.first().filter(|_| workload != Workload::Call) {
        case.boundary = *boundary;
    }
    // Half as many warm up, whole batches too.
    let unit = 2 * CLOCK_BATCH;
    let first = row_of(bench, &case, stamp, unit)?;
    let each_ns = (first.wall_ns as f64 / unit as f64).max(50.0);
    let count = (CLOCK_NS / each_ns).clamp(unit as f64, 4e6) as u64 / unit * unit;
    let row = row_of(bench, &case, stamp, count)?;
    let ticks = row.ends.first().map_or(0, |end| end.elapsed_ticks) as f64;
    let samples_ns = ticks / bench.ready.description.clock.ticks_per_second * 1e9;
    let wall_ns = row.wall_ns as f64;
    match samples_ns / wall_ns {
        share if share > 1.001 => Err(format!(
            "the samples of a phase of {:.0} ms add up to {:.0} ms",
            wall_ns / 1e6,
            samples_ns / 1e6
        )),
        share if share < CLOCK_SHARE && wall_ns > CLOCK_NS / 4.0 => Err(format!(
            "the samples of {count} operations add up to {:.0} ms of the {:.0} ms that the phase \
             took, seen from outside",
            samples_ns / 1e6,
            wall_ns / 1e6
        )),
        _ => Ok(()),
    }
}

fn row_of(bench: &Bench<'_>, case: &Case, stamp: Stamp, count: u64) -> Result<RawTrial, String> {
    match trial_of(bench, case, stamp, count)? {
        Outcome::Interrupted => Err("interrupted".to_owned()),
        Outcome::Row(row) => match &row.error {
            Some(error) => Err(error.clone()),
            None => Ok(*row),
        },
    }
}

fn of_boundary(
    bench: &Bench<'_>,
    mechanism: &Mechanism,
    boundary: Boundary,
    say: &mut Say<'_>,
) -> anyhow::Result<bool> {
    let mut pairs = vec![Both::both(bench.runtime.clone())];
    let meets_rust = mechanism.peers == Peers::Any
        && mechanism.link != LinkSource::Own
        && mechanism::find(mechanism.carrier()).is_some();
    if meets_rust && boundary == Boundary::Process {
        let own = bench.runtime.clone();
        pairs.push(Both { caller: own.clone(), callee: Runtime::RUST });
        pairs.push(Both { caller: Runtime::RUST, callee: own });
    }
    for runtimes in pairs {
        let mut case = case_of(mechanism, Workload::Roundtrip, runtimes);
        case.boundary = boundary;
        for placement in placements(mechanism) {
            case.placement = Some(placement);
            for bytes in sizes(mechanism) {
                case.payload_bytes = bytes;
                let count = if bytes.is_some_and(|bytes| bytes > LARGE) { 8 } else { 120 };
                if !one(bench, &case, Stamp::Each, count, say)? {
                    return Ok(false);
                }
                if placement != Placement::Free {
                    break;
                }
            }
        }
        case.payload_bytes = mechanism.payload.map(|payload| payload.default);
        if !one(bench, &case, Stamp::Batch { n: 16 }, 160, say)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn placements(mechanism: &Mechanism) -> Vec<Placement> {
    let has = |p: &Placement| mechanism.placements.is_empty() || mechanism.placements.contains(p);
    [Placement::Free, Placement::SameCpu].into_iter().filter(has).collect()
}

/// The sizes to try; the first is the default.
fn sizes(mechanism: &Mechanism) -> Vec<Option<u32>> {
    let Some(payload) = mechanism.payload else { return vec![None] };
    let max = payload.max.min(SIZE_MAX);
    let mut sizes = vec![payload.default, payload.min, max];
    sizes.extend(SIZES.into_iter().filter(|size| (payload.min..=max).contains(size)));
    let mut tried = Vec::new();
    for size in sizes {
        if !tried.contains(&Some(size)) {
            tried.push(Some(size));
        }
    }
    tried
}

fn case_of(mechanism: &Mechanism, workload: Workload, runtimes: Both) -> Case {
    let two_ends = workload != Workload::Call;
    let wait = mechanism.waits.first().copied().unwrap_or(WaitKind::Block);
    let parameters = mechanism.parameters.iter();
    Case {
        workload,
        mechanism: mechanism.name.clone(),
        payload_bytes: mechanism.payload.map(|payload| payload.default),
        fields: None,
        flows: None,
        ack: None,
        gap_ns: None,
        boundary: Boundary::Inline,
        placement: two_ends.then_some(Placement::Free),
        waits: two_ends.then_some(Waits::both(wait)),
        spin_budget_ns: None,
        parameters: parameters.map(|p| (p.name.clone(), p.default.clone())).collect(),
        idle_knob: IdleKnob::None,
        sched: Sched::Other,
        runtimes,
    }
}

/// One trial of given counts; `false` if the user interrupted.
fn one(
    bench: &Bench<'_>,
    case: &Case,
    stamp: Stamp,
    count: u64,
    say: &mut Say<'_>,
) -> anyhow::Result<bool> {
    let what = format!("{} ({stamp})", case.id());
    let row = match trial_of(bench, case, stamp, count) {
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

fn trial_of(bench: &Bench<'_>, case: &Case, stamp: Stamp, count: u64) -> Result<Outcome, String> {
    let crew = Crew::assemble(case, bench.native, bench.runtimes)?;
    let cpu = (case.placement != Some(Placement::Free)).then_some(bench.cpu);
    let caller = &case.runtimes.caller;
    let rate = match caller.is_rust() {
        true => 1e9,
        false => bench.ready.description.clock.ticks_per_second,
    };
    let clock = ClockReading::of_rate(caller.word(), "given", rate);
    Ok(trial::run(&TrialSpec {
        case,
        crew: &crew,
        cpus: (cpu, cpu),
        shape: TRIAL_DEFAULT,
        stamp: Some(stamp),
        exactly: Some(Exactly { warm_up: count / 2, measure: count }),
        clock: &clock,
        callee_clock: &clock,
        transcript: None,
        scratch: bench.scratch,
        number: 0,
        padding: 0,
        seed: 0,
        interrupt: bench.interrupt,
        orphans: bench.orphans,
    }))
}
