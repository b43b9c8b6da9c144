//! The workers of a trial: spawned, told what to do all at once, listened to, and
//! explained when one fails.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use hopcost_model::case::Role;
use hopcost_model::protocol::{Command, EndCounters, GateReading, Phase, Reply, Stamp};
use hopcost_model::raw::{CpuSentinel, ThreadUse};

use super::outside::{self, Looked};
use super::{Failure, Order};
use crate::run::worker::{Silence, Worker, replies};

/// The signal of a worker's own deadline (signal(7)).
const SIGALRM: i32 = 14;
/// Time that the control plane grants beyond the workers' own deadline.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// What a worker of another runtime may take to start.
const START_UP_MS: u64 = 5_000;
/// What one that compiles while it runs may take to start and to warm up.
const STEADY_START_UP_MS: u64 = 20_000;
/// The share of a phase that its operations take at least, beyond what a worker of
/// another runtime may need to get ready: to collect, to compile, to be scheduled.
const COVERED_LEAST: f64 = 0.5;
const UNCOVERED_NS: f64 = 300e6;
/// How long the other worker may take to say why, after the first fell silent.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The workers of one trial, the caller's first.
pub struct Stage<'a> {
    pub(super) workers: Vec<Worker>,
    /// What is known of each worker.
    pub(super) casts: Vec<Casting>,
    /// Who runs the sentinel.
    pub(super) watch: Watch,
    /// What each worker hands its samples over in.
    pub samples: Vec<File>,
    pub(super) deadline: Instant,
    pub(super) interrupt: &'a OwnedFd,
}

/// Who runs the sentinel.
pub enum Watch {
    /// The workers themselves, which are all of hopcost: as many of them as there are CPUs.
    Ends(usize),
    /// A worker beside them, on each of these CPUs in turn (on any where none is named).
    Beside(Box<Worker>, Vec<Option<u32>>),
}

/// What is known of a worker.
pub struct Casting {
    /// Whether it is hopcost's own.
    pub native: bool,
    /// Nanoseconds of a tick of its clock; of hopcost's own it is not looked at.
    pub tick_ns: f64,
    /// The seats it plays, in the order of attaching.
    pub seats: Vec<Seated>,
}

/// An end that has attached.
#[derive(Debug, Clone)]
pub struct Seated {
    /// Which end.
    pub role: Role,
    /// Its process.
    pub pid: u32,
    /// Its thread; 0 where it is none of its own.
    pub tid: u32,
    /// The CPU it is to stay on.
    pub cpu: Option<u32>,
}

/// What one phase brought.
pub struct Ran {
    /// CPU time of all workers.
    pub process_cpu_ns: u64,
    /// Wall time, as the caller's worker saw it.
    pub wall_ns: u64,
    /// How long it took for the control plane.
    pub outside_ns: u64,
    /// Every end, the callers first.
    pub ends: Vec<EndCounters>,
    /// Every thread, seen from outside; where an end is of another runtime.
    pub threads: Vec<ThreadUse>,
}

impl<'a> Stage<'a> {
    /// Has both ends compare their clocks.
    pub fn gate(&mut self, exchanges: u64, steps: u64) -> Result<GateReading, Failure> {
        let doing = "comparing clocks";
        for at in (0..self.workers.len()).rev() {
            self.send(at, &Command::Gate { exchanges, steps }, doing)?;
        }
        let mut found = None;
        for reply in self.replies(self.workers.len(), doing)? {
            let Reply::Gate { reading } = reply else { return Err(unexpected("gate")) };
            found = found.or(reading);
        }
        let found = found.ok_or_else(|| unexpected("gate"))?;
        storable([found.offset_ticks.unsigned_abs(), found.bound_ticks, found.exchanges])?;
        Ok(found)
    }

    /// Runs a phase on every worker; the callee's is told first.
    pub fn phase(
        &mut self,
        phase: Phase,
        count: u64,
        stamp: Stamp,
        cap_ns: Option<u64>,
    ) -> Result<Ran, Failure> {
        let doing = match phase {
            Phase::Pilot => "piloting",
            Phase::WarmUp => "warming up",
            Phase::Measure => "measuring",
            Phase::Count => "counting system calls",
        };
        let looked = self.look();
        let started = Instant::now();
        for at in (0..self.workers.len()).rev() {
            self.send(at, &Command::Run { phase, count, stamp, cap_ns }, doing)?;
        }
        let replies = self.replies(self.workers.len(), doing)?;
        let outside_ns = started.elapsed().as_nanos() as u64;
        let did = self.did_since(&looked);
        let mut all = Ran {
            process_cpu_ns: 0,
            wall_ns: 0,
            outside_ns,
            ends: Vec::new(),
            threads: Vec::new(),
        };
        for (at, reply) in replies.into_iter().enumerate() {
            let Reply::Ran { mut process_cpu_ns, mut wall_ns, mut ends } = reply else {
                return Err(unexpected("run"));
            };
            let casting = &self.casts[at];
            if !casting.native {
                casting.fits(self.name(at), &ends, count, outside_ns)?;
                wall_ns = outside_ns;
                process_cpu_ns = did.iter().filter(|p| p.worker == at).map(|p| p.did.cpu_ns).sum();
                for (end, seat) in ends.iter_mut().zip(&casting.seats) {
                    outside::fill(end, seat, &casting.seats, &did);
                }
            }
            if at == 0 {
                all.wall_ns = wall_ns;
            }
            for end in &ends {
                storable([
                    end.count,
                    end.samples,
                    end.max_ticks,
                    end.elapsed_ticks,
                    end.first_tick,
                    end.bytes,
                    end.thread_cpu_ns,
                    end.voluntary,
                    end.involuntary,
                    end.minor_faults,
                    end.major_faults,
                    end.run_delay_ns.unwrap_or(0),
                    end.cpu_changes,
                    end.lost,
                    end.overruns,
                ])?;
            }
            storable([wall_ns, process_cpu_ns])?;
            all.process_cpu_ns = all.process_cpu_ns.saturating_add(process_cpu_ns);
            all.ends.extend(ends);
        }
        all.threads = did.iter().flat_map(|process| process.rows()).collect();
        // A worker that plays both ends tells them in the order of its seats.
        all.ends.sort_by_key(|end| (end.role, end.flow));
        Ok(all)
    }

    /// The processes of the workers right now; none where every end is hopcost's own
    /// and counts for itself.
    fn look(&self) -> Vec<Looked> {
        if self.casts.iter().all(|casting| casting.native) {
            return Vec::new();
        }
        let of = |(at, casting): (usize, &Casting)| {
            let own = self.workers[at].id();
            let mut pids = vec![own];
            pids.extend(casting.seats.iter().map(|seat| seat.pid));
            pids.sort_unstable();
            pids.dedup();
            let seats = casting.seats.clone();
            pids.into_iter().map(move |pid| Looked::now(at, pid, &seats))
        };
        self.casts.iter().enumerate().flat_map(of).collect()
    }

    fn did_since(&self, before: &[Looked]) -> Vec<Looked> {
        before.iter().map(Looked::until_now).collect()
    }

    /// Times the sentinel on every used CPU.
    pub fn sentinels(&mut self) -> Result<Vec<CpuSentinel>, Failure> {
        let doing = "timing the sentinel";
        if let Watch::Beside(worker, cpus) = &mut self.watch {
            let mut readings = Vec::new();
            for cpu in cpus {
                worker
                    .send(&Command::Sentinel { cpu: *cpu })
                    .map_err(|_| unexpected("sentinel"))?;
                match worker.reply(self.deadline, self.interrupt) {
                    Ok(reply) => readings.push(sentinel(reply)?),
                    Err(Silence::Interrupted) => return Err(Failure::Interrupted),
                    Err(_) => return Err(unexpected("sentinel")),
                }
            }
            return Ok(readings);
        }
        let Watch::Ends(watchers) = self.watch else { return Ok(Vec::new()) };
        let watchers = watchers.min(self.workers.len());
        for at in 0..watchers {
            self.send(at, &Command::Sentinel { cpu: None }, doing)?;
        }
        self.replies(watchers, doing)?.into_iter().map(sentinel).collect()
    }

    /// Asks the workers to leave and sees that they do.
    pub fn dismiss(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.send(&Command::Stop);
        }
        // Nobody waits for the answer but whoever reads all of the conversation.
        if self.workers.iter().any(Worker::is_written_down) {
            let until = Instant::now() + LAST_WORDS;
            let _ = replies(&mut self.workers, until, self.interrupt);
        }
        for worker in &mut self.workers {
            worker.leave(LAST_WORDS);
        }
    }

    pub(super) fn send(
        &mut self,
        at: usize,
        command: &Command,
        doing: &str,
    ) -> Result<(), Failure> {
        self.workers[at].send(command).map_err(|silence| self.failure(at, silence, doing))
    }

    pub(super) fn replies(&mut self, count: usize, doing: &str) -> Result<Vec<Reply>, Failure> {
        replies(&mut self.workers[..count], self.deadline, self.interrupt)
            .map_err(|(at, silence)| self.failure(at, silence, doing))
    }

    pub(super) fn name(&self, at: usize) -> &'static str {
        match (self.workers.len(), at) {
            (1, _) => "the worker",
            (_, 0) => "the caller's worker",
            _ => "the callee's worker",
        }
    }

    /// Says why a trial failed: a worker that died explains better than its
    /// partner, who only saw the link close.
    pub(super) fn failure(&mut self, at: usize, silence: Silence, doing: &str) -> Failure {
        let reason = match silence {
            Silence::Interrupted => return Failure::Interrupted,
            Silence::Deadline => format!("no answer within its deadline while {doing}"),
            Silence::Broken(reason) => reason,
        };
        let mut stories = vec![(self.name(at), reason)];
        for other in (0..self.workers.len()).filter(|&other| other != at) {
            let until = Instant::now() + LAST_WORDS;
            if let Err(Silence::Broken(reason)) = self.workers[other].reply(until, self.interrupt) {
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

fn sentinel(reply: Reply) -> Result<CpuSentinel, Failure> {
    match reply {
        Reply::Sentinel { mut chunks_ns, calls, cpu } if !chunks_ns.is_empty() && calls > 0 => {
            chunks_ns.sort_unstable();
            let median_ns = chunks_ns[chunks_ns.len() / 2];
            Ok(CpuSentinel { cpu, call_ns: median_ns as f64 / calls as f64 })
        }
        _ => Err(unexpected("sentinel")),
    }
}

impl Casting {
    /// Whether what a worker of another runtime says is about what it was told to do.
    fn fits(
        &self,
        who: &str,
        ends: &[EndCounters],
        count: u64,
        outside_ns: u64,
    ) -> Result<(), Failure> {
        let roles = |ends: &[EndCounters]| ends.iter().map(|end| end.role).collect::<Vec<_>>();
        if roles(ends) != self.seats.iter().map(|seat| seat.role).collect::<Vec<_>>() {
            return Err(Failure::Reason(format!("{who} does not answer for the ends it plays")));
        }
        if let Some(caller) = ends.iter().find(|end| end.role == Role::Caller && end.lost == 0) {
            let (said_ns, outside_ns) =
                (caller.elapsed_ticks as f64 * self.tick_ns, outside_ns as f64);
            let too_long = said_ns > outside_ns * 1.001 + 100_000.0;
            if too_long || said_ns < outside_ns * COVERED_LEAST - UNCOVERED_NS {
                return Err(Failure::Reason(format!(
                    "{who} says that {count} operations took {:.1} ms; seen from outside it took \
                     {:.1} ms",
                    said_ns / 1e6,
                    outside_ns / 1e6
                )));
            }
        }
        match ends.iter().find(|end| end.count != count) {
            None => Ok(()),
            Some(end) => Err(Failure::Reason(format!(
                "{who} was told to do {count} operations and says that its {} did {}",
                end.role, end.count
            ))),
        }
    }
}

/// Whether numbers can be true: none that is counted here takes 2^62, and the run
/// file holds no more than 2^63.
fn storable<const N: usize>(numbers: [u64; N]) -> Result<(), Failure> {
    match numbers.iter().find(|number| **number >= 1 << 62) {
        Some(number) => {
            Err(Failure::Reason(format!("a worker says {number}, which cannot be true")))
        }
        None => Ok(()),
    }
}

/// A reply of the wrong kind.
pub fn unexpected(command: &str) -> Failure {
    Failure::Reason(format!("the worker's reply does not answer `{command}`"))
}

/// The trial's deadline, longer where its wake-ups alone take long.
pub fn deadline_ms(order: &Order<'_>) -> u64 {
    let start_up_ms = match () {
        () if order.crew.warms_up_until_steady() => STEADY_START_UP_MS,
        () if order.crew.has_foreign() => START_UP_MS,
        () => 0,
    };
    start_up_ms + own_deadline_ms(order)
}

fn own_deadline_ms(order: &Order<'_>) -> u64 {
    let Some(gap_ns) = order.case.gap_ns else { return order.shape.deadline_ms };
    let wake_ups = match order.exactly {
        Some(exactly) => exactly.measure + exactly.warm_up,
        None => {
            let measure = order.shape.operations.unwrap_or(super::WAKE_UPS);
            measure + order.shape.warm_up_operations.unwrap_or(measure)
        }
    };
    // Three times as long as if a wake-up took a millisecond.
    let each_ns = gap_ns.saturating_add(1_000_000).saturating_mul(3);
    order.shape.deadline_ms.saturating_add(wake_ups.saturating_mul(each_ns) / 1_000_000)
}
