//! Whether a worker keeps to the protocol: what it says of itself, every mechanism in
//! both roles and several sizes, with itself and with the worker in Rust at the other
//! end, and what it does when something is wrong.

mod bench;
mod peer;

use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};
use hopcost_model::group::distinct;
use hopcost_model::{
    Ack, Boundary, Case, Command, LinkSource, Mechanism, Peers, Placement, Plan, RawTrial, Reply,
    Sampling, Senders, Stamp, Workload,
};
use hopcost_plan::Ask;
use hopcost_probe::mechanism;
use hopcost_read::plausible::Measure;

use super::runtimes::Workers;
use super::scratch::SHARED;
use super::trial;
use super::trial::spec::TrialSpec;
use super::trial::workers::unexpected;
use super::yardstick::Beside;
pub use bench::{Bench, Check};
use bench::{answer, start};

/// How long leaving may take.
const FAREWELL: Duration = Duration::from_secs(2);
/// Sizes of a message that are tried, as far as a mechanism has them, and the largest of all.
const SIZES: [u32; 3] = [1, 63, 4097];
const SIZE_MAX: u32 = 1 << 20;
/// Fewer exchanges of more bytes than this will do.
const LARGE: u32 = 1 << 14;
/// How long the phase has to be in which a worker's clock is held against hopcost's.
const CLOCK_NS: f64 = 400e6;
/// Operations of a batch, where stamps would be too much beside one.
const CLOCK_BATCH: u64 = 256;
/// A message of a load or a stream in which a byte is changed.
const SPOILT: u64 = 101;
/// Messages a second of a load that no sender keeps up with.
const TOO_MANY: u32 = 5_000_000;
/// A phase beside which getting ready is little.
const LONG_NS: u64 = 100_000_000;

/// A check, and what makes it.
type Step = (&'static str, fn(&Bench<'_>) -> Result<()>);

/// What needs no mechanism.
const STEPS: [Step; 7] = [
    ("refuses an unknown command", |bench| refuses(bench, r#"{"do":"dance"}"#)),
    ("refuses invalid JSON", |bench| refuses(bench, "hello")),
    ("refuses an unknown mechanism", |bench| {
        refuses(
            bench,
            r#"{"do":"attach","case":"call/no-such-mechanism","workload":"call","mechanism":"no-such-mechanism","payload":0,"boundary":"inline","waits":{},"parameters":{},"seats":[{"role":"caller"}],"deadline_ms":5000}"#,
        )
    }),
    ("refuses to run before it is attached", |bench| {
        refuses(bench, r#"{"do":"run","phase":"measure","count":1,"stamp":{"kind":"each"}}"#)
    }),
    ("leaves when asked to stop", |bench| leaves(bench, true)),
    ("leaves when its input ends", |bench| leaves(bench, false)),
    ("ignores fields that it does not know", |bench| {
        let mut worker = start(bench)?;
        worker.send_line(r#"{"do":"describe","a-field-of-the-future":{"x":[1,2]}}"#);
        described(answer(&mut worker)?)
    }),
];

/// Makes every check; an error is one of `say`.
pub fn all(bench: &Bench<'_>, say: &mut dyn FnMut(Check) -> Result<()>) -> Result<()> {
    let about = &bench.ready.description;
    let (runtime, version, n) = (&about.runtime, &about.version, about.mechanisms.len());
    say(Check::of(format!("describes itself: {runtime} {version}, {n} mechanisms"), Ok(())))?;
    let left_before = shared_memory();
    for (what, step) in STEPS {
        say(Check::of(what, step(bench)))?;
    }
    let is_played = |m: &&Mechanism| m.unavailable.is_none();
    // An exchange is long enough for its stamps to be little beside it.
    let exchanges = |m: &&Mechanism| m.workloads.contains(&Workload::Roundtrip);
    let played = || about.mechanisms.iter().filter(is_played);
    if let Some(mechanism) = played().find(exchanges).or_else(|| played().next()) {
        let what = format!("samples cover their phase ({})", mechanism.name);
        say(Check::of(what, covers(bench, mechanism)))?;
    }
    for mechanism in &about.mechanisms {
        match &mechanism.unavailable {
            Some(reason) => say(Check::skipped(&mechanism.name, reason))?,
            None => of_mechanism(bench, mechanism, say)?,
        }
    }
    let mut left = shared_memory();
    left.retain(|name| !left_before.contains(name));
    let nothing = left.is_empty().then_some(());
    let nothing = nothing.with_context(|| format!("/dev/shm holds {}", left.join(", ")));
    say(Check::of("leaves nothing in /dev/shm", nothing))
}

/// Every way of playing one mechanism.
fn of_mechanism(
    bench: &Bench<'_>,
    mechanism: &Mechanism,
    say: &mut dyn FnMut(Check) -> Result<()>,
) -> Result<()> {
    let name = &mechanism.name;
    let plan = match plan(bench, mechanism) {
        Ok(plan) => plan,
        Err(why) => return say(Check::of(name, Err(why))),
    };
    for planned in &plan.cases {
        if let Some(why) = &planned.skip {
            say(Check::skipped(planned.id(), why))?;
        }
    }
    for case in plan.live_cases() {
        for &phase in stamps(case, mechanism) {
            let what = format!("{} ({})", case.id(), phase.0);
            say(Check::of(what, plays(bench, &plan, case, phase)))?;
            if is_one_way(case) && bench.ready.description.spoils {
                let what = format!("{}: fails when a byte of a message was changed", case.id());
                let failed = trial(bench, &plan, case, phase, Some(SPOILT)).is_err();
                say(Check::of(what, failed.then_some(()).context("it went on")))?;
            }
        }
    }
    peer::checks(bench, mechanism, &plan).into_iter().try_for_each(&mut *say)?;
    if mechanism.system_calls.is_some() {
        let what = format!("{name}: makes the system calls that it describes");
        say(Check::skipped(what, "counting them takes ptrace; hopcost's own tests do that"))?;
    }
    Ok(())
}

fn is_one_way(case: &Case) -> bool {
    matches!(case.workload, Workload::Load | Workload::Stream)
}

/// How the trials of a case are stamped, and how many operations they have: all sizes are tried
/// where the ends are free, and batches of the default size where both are of the worker.
fn stamps(case: &Case, mechanism: &Mechanism) -> &'static [(Stamp, u64)] {
    let default = case.payload_bytes == mechanism.payload.map(|payload| payload.default);
    match case.workload.spec().sampling {
        Sampling::Each => &[(Stamp::Each, 120)],
        Sampling::TwoLengths => {
            &[(Stamp::Each, 48), (Stamp::Batch { n: 8 }, 48), (Stamp::TwoLengths { n: 8 }, 48)]
        }
        _ if default && case.runtimes.are_mixed() => &[(Stamp::Each, 120)],
        // A library may take 88 ms: Nagle's algorithm and a delayed acknowledgement.
        _ if default && mechanism.link == LinkSource::Own => {
            &[(Stamp::Each, 40), (Stamp::Batch { n: 16 }, 64)]
        }
        _ if default => &[(Stamp::Each, 120), (Stamp::Batch { n: 16 }, 160)],
        _ if case.placement != Some(Placement::Free) => &[],
        _ if case.payload_bytes.is_some_and(|bytes| bytes > LARGE) => &[(Stamp::Each, 8)],
        _ => &[(Stamp::Each, 120)],
    }
}

/// Every way of playing a mechanism that is tried, as `hopcost run` would resolve it: with itself
/// over every boundary, and with Rust at either end where both can meet.
fn plan(bench: &Bench<'_>, mechanism: &Mechanism) -> Result<Plan> {
    let (name, own) = (&mechanism.name, &bench.found.runtime);
    let mut selectors = Vec::new();
    if mechanism.workloads.contains(&Workload::Call) {
        selectors.push(format!("call/{name}?runtime={own}"));
    }
    if mechanism.workloads.contains(&Workload::Roundtrip) {
        let has = |p: &&str| {
            let mut placements = mechanism.placements.iter();
            mechanism.placements.is_empty() || placements.any(|of| of.word() == *p)
        };
        let places: Vec<&str> = ["free", "same-cpu"].into_iter().filter(has).collect();
        let payload = sizes(mechanism).map_or(String::new(), |sizes| format!("&payload={sizes}"));
        let boundaries: Vec<_> = mechanism.boundaries.iter().map(|of| of.word()).collect();
        let (boundaries, all_places) = (boundaries.join(","), places.join(","));
        let all = format!("boundary={boundaries}&place={all_places}{payload}");
        selectors.push(format!("roundtrip/{name}?runtime={own}&{all}"));
        // A library is taken by all its ways; a broker is where hopcost puts it.
        let ways = mechanism.parameters.iter().filter(|of| of.name != "broker");
        let ways: String = ways.map(|of| format!("&{}={}", of.name, of.values.join(","))).collect();
        if mechanism.link == LinkSource::Own && !ways.is_empty() {
            let all = format!("boundary={boundaries}&place=free{ways}");
            selectors.push(format!("roundtrip/{name}?runtime={own}&{all}"));
        }
        let meets_rust = mechanism.peers == Peers::Any
            && mechanism.link != LinkSource::Own
            && mechanism.boundaries.contains(&Boundary::Process)
            && mechanism::find(mechanism.carrier()).is_some();
        if meets_rust {
            // An end is pinned like this with any partner.
            let place = places.first().unwrap_or(&"");
            let each = format!("boundary=process&place={place}{payload}");
            selectors.push(format!("roundtrip/{name}?runtime={own}:rust,rust:{own}&{each}"));
        }
    }
    if mechanism.workloads.contains(&Workload::Load) {
        let several = matches!(mechanism.senders, Senders::Several { .. });
        let senders = if several { "&senders=1,3" } else { "" };
        selectors
            .push(format!("load/{name}?runtime={own}&rate=20k,{TOO_MANY}&place=free{senders}"));
    }
    if mechanism.workloads.contains(&Workload::Stream) {
        selectors
            .push(format!("stream/{name}?runtime={own}&fields=1&ack=none,window:4&place=free"));
    }
    let itself = || vec![bench.found.facts()];
    let ask = Ask { selectors, ..Ask::default() };
    let catalog = hopcost_plan::Catalog::new(hopcost_probe::worker::mechanisms(), itself);
    Ok(hopcost_plan::plan(&ask, &catalog, bench.machine)?)
}

/// The sizes to try, the default first.
fn sizes(mechanism: &Mechanism) -> Option<String> {
    let payload = mechanism.payload?;
    let max = payload.max.min(SIZE_MAX);
    let within = SIZES.into_iter().filter(|size| (payload.min..=max).contains(size));
    let tried = distinct([payload.default, payload.min, max].into_iter().chain(within));
    Some(tried.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

/// A trial of so many operations, after half as many that warm up.
fn trial(
    bench: &Bench<'_>,
    plan: &Plan,
    case: &Case,
    (stamp, count): (Stamp, u64),
    spoil: Option<u64>,
) -> Result<RawTrial> {
    let workers = Workers::assemble(case, &bench.setup.runtimes)?;
    let (cpus, counts) = (plan.cpus_for(case.placement), (count / 2, count));
    let spec = TrialSpec::exactly(bench.setup, case.clone(), workers, cpus, counts);
    let mut row = trial::run(&TrialSpec { stamp: Some(stamp), spoil, ..spec }, Beside::NONE)?;
    row.error.take().map_or(Ok(row), |why| bail!(why))
}

/// Whether a trial has as many samples as it was asked for.
fn plays(bench: &Bench<'_>, plan: &Plan, case: &Case, phase: (Stamp, u64)) -> Result<()> {
    let row = trial(bench, plan, case, phase, None)?;
    let (stamp, count) = phase;
    let samples = match stamp {
        _ if case.ack == Some(Ack::None) => 0,
        Stamp::Each => count,
        Stamp::Batch { n } => count / n,
        Stamp::TwoLengths { n } => count / (3 * n) * 2,
    };
    let lost: u64 = row.ends.iter().map(|end| end.lost).sum();
    let late: u64 = row.ends.iter().map(|end| end.overruns).sum();
    let (sum, longest) = (row.samples.iter().sum::<u64>(), row.samples_max_ticks);
    let caller = row.ends.first().map(|end| (end.elapsed_ticks, end.max_ticks));
    let are_durations = !is_one_way(case) && lost == 0;
    ensure!(row.pin_errors.is_empty(), row.pin_errors.join("; "));
    let tells_late = late > 0 || case.rate != Some(TOO_MANY.into());
    ensure!(tells_late, "it says of no message that it was late");
    let taken = row.samples_taken;
    ensure!(taken + lost == samples, "{taken} samples instead of {samples}");
    let are_its = !are_durations || caller == Some((sum, longest));
    ensure!(are_its, "its samples are not those whose sum and maximum it says");
    Ok(())
}

/// Whether the samples of a long phase cover it: a clock that runs slow, or samples
/// that are less than what was timed, show here.
fn covers(bench: &Bench<'_>, mechanism: &Mechanism) -> Result<()> {
    let plan = plan(bench, mechanism)?;
    let exchange = plan.live_cases().find(|case| case.workload == Workload::Roundtrip);
    let (case, stamp) = match (exchange, plan.live_cases().next()) {
        (Some(exchange), _) => (exchange, Stamp::Each),
        (None, Some(call)) => (call, Stamp::Batch { n: CLOCK_BATCH }),
        (None, None) => bail!("it cannot be played here"),
    };
    // Half as many warm up, whole batches too.
    let unit = 2 * CLOCK_BATCH;
    let first = trial(bench, &plan, case, (stamp, unit), None)?;
    let each_ns = (first.wall_ns as f64 / unit as f64).max(50.0);
    let count = (CLOCK_NS / each_ns).clamp(unit as f64, 4e6) as u64 / unit * unit;
    let row = trial(bench, &plan, case, (stamp, count), None)?;
    let ticks_per_ns = bench.ready.description.clock.ticks_per_second / 1e9;
    let phase = Measure { outside_ns: row.wall_ns, ticks_per_ns };
    let ticks = row.ends.first().map_or(0, |end| end.elapsed_ticks);
    let what = "the samples add up to";
    let share = if phase.outside_ns < LONG_NS { 0.0 } else { 0.6 };
    let held = phase.holds(ticks, what).and_then(|()| phase.covered(ticks, share, 0.0, what));
    held.map_err(Error::msg)
}

/// Names in /dev/shm, but for those that hopcost removes after each trial.
fn shared_memory() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with(SHARED)).collect()
}

fn described(reply: Reply) -> Result<()> {
    ensure!(matches!(reply, Reply::Described(_)), unexpected("describe"));
    Ok(())
}

/// Whether a line is answered with `failed`, and the worker then leaves with an exit
/// code that says so.
fn refuses(bench: &Bench<'_>, line: &str) -> Result<()> {
    let mut worker = start(bench)?;
    worker.send_line(line);
    let error = answer(&mut worker).err().context("it did not answer `failed`")?;
    let reason = error.to_string();
    ensure!(error.is_answer(), error);
    ensure!(!reason.trim().is_empty(), "it says `failed` without a reason");
    let status = worker.leave(FAREWELL);
    let late_s = FAREWELL.as_secs();
    ensure!(!worker.was_killed(), "it says `failed` and is still there {late_s} s later");
    let fails = status.is_none_or(|status| !status.success());
    ensure!(fails, "it says `failed` and leaves with exit code 0");
    Ok(())
}

/// Whether the worker leaves, told to or without further input.
fn leaves(bench: &Bench<'_>, told: bool) -> Result<()> {
    let mut worker = start(bench)?;
    // So that it is up, and what is timed is its leaving.
    worker.send(&Command::Describe);
    described(answer(&mut worker)?)?;
    if told {
        worker.send(&Command::Stop);
        ensure!(answer(&mut worker)? == Reply::Stopped, unexpected("stop"));
    } else {
        worker.close_input();
    }
    let status = worker.leave(FAREWELL).context("how it left is not known")?;
    ensure!(!worker.was_killed(), "it is still there {} s later", FAREWELL.as_secs());
    ensure!(status.success(), "it leaves with {status}");
    Ok(())
}
