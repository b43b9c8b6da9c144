//! One trial: fresh workers, attach, pilot, sentinel, warm-up, measurement,
//! sentinel, and everything cleaned up whatever happens in between.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Case, Role, Workload};
use hopcost_model::plan::TrialShape;
use hopcost_model::protocol::{
    ClockReading, Command, EndCounters, LinkHalf, Phase, Reply, Seat, Stamp,
};
use hopcost_model::raw::{CpuSentinel, RawTrial};
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::sys;

use super::pace::{self, Pace};
use super::worker::{Program, Silence, Worker, replies};

/// Everything a trial depends on.
pub struct Order<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its mechanism.
    pub row: &'a Row,
    /// CPUs of the caller and the callee; none where free.
    pub cpus: (Option<u32>, Option<u32>),
    /// How it is shaped.
    pub shape: TrialShape,
    /// The stamp that earlier trials of this case used.
    pub stamp: Option<Stamp>,
    /// Run exactly these counts, without pilot and sentinel.
    pub exactly: Option<Exactly>,
    /// The clock of the caller's CPU.
    pub clock: &'a ClockReading,
    /// The worker.
    pub program: &'a Program,
    /// Directory for names.
    pub scratch: &'a Path,
    /// The trial's number among those of its case.
    pub number: u32,
    /// Bytes of padding in the environment.
    pub padding: usize,
    /// Seed for thinning the samples.
    pub seed: u64,
    /// Readable once the user has interrupted.
    pub interrupt: &'a OwnedFd,
}

/// Counts given from outside instead of found by a pilot.
#[derive(Debug, Clone, Copy)]
pub struct Exactly {
    /// Operations of the warm-up; none if 0.
    pub warm_up: u64,
    /// Operations of the measurement.
    pub measure: u64,
}

/// How a trial ended.
pub enum Outcome {
    /// As a row: measured, or failed with its reason.
    Row(Box<RawTrial>),
    /// The user interrupted: no row.
    Interrupted,
}

/// Why a trial has no numbers.
enum Failure {
    Reason(String),
    Interrupted,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Reason(error.to_string())
    }
}

/// The signal of a worker's own deadline (signal(7)).
const SIGALRM: i32 = 14;
/// Time that the control plane grants beyond the workers' own deadline.
const GRACE: Duration = Duration::from_millis(500);
/// How long the other worker may take to say why, after the first fell silent.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Runs one trial.
pub fn run(order: &Order<'_>) -> Outcome {
    let started = Instant::now();
    let mut trial = empty_trial(order);
    let result = Stage::open(order).and_then(|mut stage| {
        let result = stage.perform(order, &mut trial);
        if result.is_ok() {
            stage.dismiss();
        }
        result
    });
    trial.took_ns = started.elapsed().as_nanos() as u64;
    match result {
        Ok(()) => {}
        Err(Failure::Interrupted) => return Outcome::Interrupted,
        Err(Failure::Reason(reason)) => trial.error = Some(reason),
    }
    Outcome::Row(Box::new(trial))
}

fn empty_trial(order: &Order<'_>) -> RawTrial {
    let both = order.case.workload != Workload::Call && order.case.boundary != Boundary::Inline;
    let mut cpus_asked = vec![order.cpus.0];
    if both {
        cpus_asked.push(order.cpus.1);
    }
    RawTrial { cpus_asked, ..RawTrial::empty() }
}

/// The workers of one trial, the caller's first.
struct Stage<'a> {
    workers: Vec<Worker>,
    /// Workers that run the sentinel: one a CPU.
    watchers: usize,
    samples: File,
    deadline: Instant,
    interrupt: &'a OwnedFd,
}

/// What one phase brought.
struct Ran {
    process_cpu_ns: u64,
    wall_ns: u64,
    /// How long it took for the control plane.
    outside_ns: u64,
    ends: Vec<EndCounters>,
}

impl<'a> Stage<'a> {
    /// Opens the link, spawns the workers and has them attach.
    fn open(order: &Order<'a>) -> Result<Self, Failure> {
        let samples = File::from(sys::memfd("hopcost-samples", 0)?);
        let deadline_ms = order.shape.deadline_ms;
        let theirs = OwnedFd::from(samples.try_clone()?);
        let samples_fd = theirs.as_raw_fd();
        let seat = |role, cpu, link| Seat { role, flow: 0, cpu, link };
        let attach = |seats, samples_fd| Command::Attach {
            case: order.case.id(),
            seats,
            samples_fd,
            meeting_fd: None,
            deadline_ms,
            parent: Some(std::process::id()),
            scratch: Some(order.scratch.display().to_string()),
            trial: order.number,
        };
        let mut workers = Vec::new();
        let mut commands = Vec::new();
        if order.case.boundary == Boundary::Process {
            let opening = Opening { case: order.case, scratch: order.scratch };
            let link = (order.row.open)(&opening)
                .map_err(|e| Failure::Reason(format!("opening the link: {e}")))?;
            // The callee first, so that the caller's worker, which is the one
            // that waits for nobody, is not spawned into a half-open link.
            let (callee_fds, callee_link) = split(link.callee);
            let (mut caller_fds, caller_link) = split(link.caller);
            caller_fds.push(theirs);
            let callee = Worker::spawn(order.program, callee_fds, order.padding)?;
            workers.push(Worker::spawn(order.program, caller_fds, order.padding)?);
            workers.push(callee);
            commands.push(attach(
                vec![seat(Role::Caller, order.cpus.0, Some(caller_link))],
                Some(samples_fd),
            ));
            commands.push(attach(vec![seat(Role::Callee, order.cpus.1, Some(callee_link))], None));
        } else {
            workers.push(Worker::spawn(order.program, vec![theirs], order.padding)?);
            let mut seats = vec![seat(Role::Caller, order.cpus.0, None)];
            if order.case.boundary == Boundary::Thread {
                seats.push(seat(Role::Callee, order.cpus.1, None));
            }
            commands.push(attach(seats, Some(samples_fd)));
        }
        let watchers = if order.cpus.0 == order.cpus.1 { 1 } else { workers.len() };
        let deadline = Instant::now() + Duration::from_millis(deadline_ms) + GRACE;
        let mut stage = Stage { workers, watchers, samples, deadline, interrupt: order.interrupt };
        for (at, command) in commands.iter().enumerate() {
            stage.send(at, command, "attaching")?;
        }
        Ok(stage)
    }

    fn perform(&mut self, order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
        for reply in self.replies(self.workers.len(), "attaching")? {
            let Reply::Attached { seats, .. } = reply else {
                return Err(unexpected("attach"));
            };
            trial.pin_errors.extend(
                seats.into_iter().filter_map(|seat| {
                    seat.pin_error.map(|error| format!("{}: {error}", seat.role))
                }),
            );
        }
        let phases = Instant::now();
        let mut pace = Pace::new(order.case, order.clock, order.shape);
        let stamp;
        if let Some(exactly) = order.exactly {
            stamp = order.stamp.unwrap_or(Stamp::Each);
            trial.stamp = Some(stamp);
            if exactly.warm_up > 0 {
                self.phase(Phase::WarmUp, exactly.warm_up, stamp)?;
            }
            let ran = self.phase(Phase::Measure, exactly.measure, stamp)?;
            trial.phases_ns = phases.elapsed().as_nanos() as u64;
            return self.keep(order, trial, stamp, ran);
        }
        loop {
            let count = pace.pilot_count();
            let ran = self.phase(Phase::Pilot, count, pace.pilot_stamp())?;
            if pace.learn(count, ran.ends.first().map_or(0, |end| end.elapsed_ticks)) {
                break;
            }
        }
        stamp = order.stamp.unwrap_or_else(|| pace.choose_stamp());
        trial.stamp = Some(stamp);
        let pilot_ns = phases.elapsed();
        trial.sentinel_before_ns = self.sentinels()?;
        let phases = Instant::now();
        self.phase(Phase::WarmUp, pace.warm_up_count(stamp), stamp)?;
        let ran = self.phase(Phase::Measure, pace.measure_count(stamp), stamp)?;
        trial.phases_ns = (pilot_ns + phases.elapsed()).as_nanos() as u64;
        trial.sentinel_after_ns = self.sentinels()?;
        self.keep(order, trial, stamp, ran)
    }

    fn keep(
        &mut self,
        order: &Order<'_>,
        trial: &mut RawTrial,
        stamp: Stamp,
        ran: Ran,
    ) -> Result<(), Failure> {
        let caller = ran.ends.first().ok_or_else(|| unexpected("run"))?;
        trial.wall_ns = ran.wall_ns;
        trial.cpu_ns = ran.process_cpu_ns;
        trial.operations = caller.count;
        trial.samples_taken = caller.samples;
        trial.samples_max_ticks = caller.max_ticks;
        self.samples.rewind()?;
        // A lying worker may promise more than it wrote, or write more than it promised.
        let mut bytes = Vec::new();
        Read::by_ref(&mut self.samples)
            .take(caller.samples.saturating_mul(8).saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 != caller.samples.saturating_mul(8) || caller.samples == 0 {
            return Err(Failure::Reason(format!(
                "the caller's worker promised {} samples and handed over {} bytes instead of 8 each",
                caller.samples,
                bytes.len()
            )));
        }
        let ticks: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default()))
            .collect();
        // Virtual time passes at any speed, and a trial of given counts may run
        // under a tracer that stretches it, with a clock whose rate was not measured.
        if !order.case.has_virtual_clock() && order.exactly.is_none() {
            let ticks_per_ns = pace::ticks_per_ns(order.case, order.clock);
            pace::plausible(ticks_per_ns, stamp, caller, &ticks, ran.outside_ns)
                .map_err(Failure::Reason)?;
        }
        trial.samples = pace::thin(&ticks, order.shape.samples_max as usize, stamp, order.seed);
        trial.ends = ran.ends;
        Ok(())
    }

    /// Runs a phase on every worker; the callee's is told first.
    fn phase(&mut self, phase: Phase, count: u64, stamp: Stamp) -> Result<Ran, Failure> {
        let doing = match phase {
            Phase::Pilot => "piloting",
            Phase::WarmUp => "warming up",
            Phase::Measure => "measuring",
            Phase::Count => "counting system calls",
        };
        let started = Instant::now();
        for at in (0..self.workers.len()).rev() {
            self.send(at, &Command::Run { phase, count, stamp, cap_ns: None }, doing)?;
        }
        let replies = self.replies(self.workers.len(), doing)?;
        let outside_ns = started.elapsed().as_nanos() as u64;
        let mut all = Ran { process_cpu_ns: 0, wall_ns: 0, outside_ns, ends: Vec::new() };
        for (at, reply) in replies.into_iter().enumerate() {
            let Reply::Ran { process_cpu_ns, wall_ns, ends } = reply else {
                return Err(unexpected("run"));
            };
            if at == 0 {
                all.wall_ns = wall_ns;
            }
            all.process_cpu_ns += process_cpu_ns;
            all.ends.extend(ends);
        }
        Ok(all)
    }

    fn sentinels(&mut self) -> Result<Vec<CpuSentinel>, Failure> {
        for at in 0..self.watchers.min(self.workers.len()) {
            self.send(at, &Command::Sentinel, "timing the sentinel")?;
        }
        self.replies(self.watchers.min(self.workers.len()), "timing the sentinel")?
            .into_iter()
            .map(|reply| match reply {
                Reply::Sentinel { mut chunks_ns, calls, cpu }
                    if !chunks_ns.is_empty() && calls > 0 =>
                {
                    chunks_ns.sort_unstable();
                    let median_ns = chunks_ns[chunks_ns.len() / 2];
                    Ok(CpuSentinel { cpu, call_ns: median_ns as f64 / calls as f64 })
                }
                _ => Err(unexpected("sentinel")),
            })
            .collect()
    }

    /// Asks the workers to leave and sees that they do.
    fn dismiss(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.send(&Command::Stop);
        }
        for worker in &mut self.workers {
            worker.leave(LAST_WORDS);
        }
    }

    fn send(&mut self, at: usize, command: &Command, doing: &str) -> Result<(), Failure> {
        self.workers[at].send(command).map_err(|silence| self.failure(at, silence, doing))
    }

    fn replies(&mut self, count: usize, doing: &str) -> Result<Vec<Reply>, Failure> {
        replies(&mut self.workers[..count], self.deadline, self.interrupt)
            .map_err(|(at, silence)| self.failure(at, silence, doing))
    }

    fn name(&self, at: usize) -> &'static str {
        match (self.workers.len(), at) {
            (1, _) => "the worker",
            (_, 0) => "the caller's worker",
            _ => "the callee's worker",
        }
    }

    /// Says why a trial failed: a worker that died explains better than its
    /// partner, who only saw the link close.
    fn failure(&mut self, at: usize, silence: Silence, doing: &str) -> Failure {
        let reason = match silence {
            Silence::Interrupted => return Failure::Interrupted,
            Silence::Deadline => format!("no answer within its deadline while {doing}"),
            Silence::Broken(reason) => reason,
        };
        let mut stories = vec![(self.name(at), reason)];
        for other in (0..self.workers.len()).filter(|&other| other != at) {
            let until = Instant::now() + LAST_WORDS;
            if let Err((_, Silence::Broken(reason))) =
                replies(std::slice::from_mut(&mut self.workers[other]), until, self.interrupt)
            {
                stories.push((self.name(other), reason));
            }
        }
        // "closed its output" is what is left when a worker could not say why.
        let speechless = |reason: &str| reason.contains("closed its output");
        let partner_only = |reason: &str| {
            ["closed the link", "Broken pipe", "Connection re"]
                .iter()
                .any(|sign| reason.contains(sign))
        };
        let names: Vec<&str> = (0..self.workers.len()).map(|at| self.name(at)).collect();
        for (index, worker) in self.workers.iter_mut().enumerate() {
            // One that closed its output is dying: how it dies is worth waiting for.
            let dying = stories.iter().any(|(who, why)| *who == names[index] && speechless(why));
            let status = worker.leave(if dying { LAST_WORDS } else { Duration::from_millis(5) });
            if status.is_some_and(|status| status.signal() == Some(SIGALRM)) {
                let name = if index == 0 { "the caller" } else { "the callee" };
                return Failure::Reason(format!("{name} passed its deadline while {doing}"));
            }
        }
        let best = stories
            .iter()
            .position(|(_, reason)| !speechless(reason) && !partner_only(reason))
            .or_else(|| stories.iter().position(|(_, reason)| speechless(reason)))
            .unwrap_or(0);
        let (who, mut reason) = stories.swap_remove(best);
        if speechless(&reason) {
            let index = if who == "the callee's worker" { 1 } else { 0 };
            reason = self.workers[index].epitaph();
        }
        Failure::Reason(format!("{who}, {doing}: {reason}"))
    }
}

fn unexpected(command: &str) -> Failure {
    Failure::Reason(format!("the worker's reply does not answer `{command}`"))
}

/// A half as descriptors to inherit and their numbers.
fn split(half: Half) -> (Vec<OwnedFd>, LinkHalf) {
    let link =
        LinkHalf { fds: half.fds.iter().map(AsRawFd::as_raw_fd).collect(), names: half.names };
    (half.fds, link)
}
