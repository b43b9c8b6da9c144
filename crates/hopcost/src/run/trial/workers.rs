//! The workers of a trial: spawned, told what to do all at once, listened to, and
//! explained when one fails.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use hopcost_model::protocol::{Command, EndCounters, GateReading, Phase, Reply, Stamp};
use hopcost_model::raw::{CpuSentinel, ThreadUse};

use super::plausible::{self, Measure};
use super::snapshot::{self, ProcessSnapshot, Seated};
use super::spec::{Failure, TrialSpec};
use crate::run::worker::{ReplyError, Worker, replies};

/// The signal of a worker's own deadline (signal(7)).
const SIGALRM: i32 = 14;
/// Time that the control plane grants beyond the workers' own deadline.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long the other worker may take to say why, after the first fell silent.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The workers of one trial, the caller's first.
pub struct TrialWorkers<'a> {
    pub(super) all: Vec<Worker>,
    /// What is known of each worker.
    pub(super) casts: Vec<Casting>,
    /// Who runs the sentinel.
    pub(super) watch: Watch,
    /// What each worker hands its samples over in.
    pub samples: Vec<File>,
    pub(super) deadline: Instant,
    pub(super) spec: &'a TrialSpec<'a>,
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
    /// Of its clock; of hopcost's own it is not looked at.
    pub ticks_per_ns: f64,
    /// The seats it plays, in the order of attaching.
    pub seats: Vec<Seated>,
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

impl<'a> TrialWorkers<'a> {
    /// Has both ends compare their clocks.
    pub fn gate(&mut self, exchanges: u64, steps: u64) -> Result<GateReading, Failure> {
        let doing = "comparing clocks";
        for at in (0..self.all.len()).rev() {
            self.all[at].send(&Command::Gate { exchanges, steps });
        }
        let mut found = None;
        for reply in self.replies(self.all.len(), doing)? {
            let Reply::Gate { reading } = reply else { return Err(unexpected("gate")) };
            found = found.or(reading);
        }
        let found = found.ok_or_else(|| unexpected("gate"))?;
        plausible::storable(&[
            found.offset_ticks.unsigned_abs(),
            found.bound_ticks,
            found.exchanges,
        ])?;
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
        for at in (0..self.all.len()).rev() {
            self.all[at].send(&Command::Run { phase, count, stamp, cap_ns });
        }
        let replies = self.replies(self.all.len(), doing)?;
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
                let phase = Measure { outside_ns, ticks_per_ns: casting.ticks_per_ns };
                plausible::foreign(phase, &ends, &casting.seats, count)
                    .map_err(|why| format!("{} {why}", self.name(at)))?;
                wall_ns = outside_ns;
                process_cpu_ns = did.iter().filter(|p| p.worker == at).map(|p| p.did.cpu_ns).sum();
                for (end, seat) in ends.iter_mut().zip(&casting.seats) {
                    snapshot::fill(end, seat, &casting.seats, &did);
                }
            }
            if at == 0 {
                all.wall_ns = wall_ns;
            }
            ends.iter().try_for_each(plausible::storable_end)?;
            plausible::storable(&[wall_ns, process_cpu_ns])?;
            all.process_cpu_ns = all.process_cpu_ns.saturating_add(process_cpu_ns);
            all.ends.extend(ends);
        }
        all.threads = did.iter().flat_map(|process| process.rows()).collect();
        // A worker that plays both ends tells them in the order of its seats.
        all.ends.sort_by_key(|end| (end.role, end.flow));
        Ok(all)
    }

    /// Runs a phase that leaves no samples; none if there is nothing to do.
    pub fn warm_up(
        &mut self,
        count: u64,
        stamp: Stamp,
        cap_ns: Option<u64>,
    ) -> Result<(), Failure> {
        match count {
            0 => Ok(()),
            _ => self.phase(Phase::WarmUp, count, stamp, cap_ns).map(drop),
        }
    }

    /// The processes of the workers right now; none where every end is hopcost's own
    /// and counts for itself.
    fn look(&self) -> Vec<ProcessSnapshot> {
        if self.casts.iter().all(|casting| casting.native) {
            return Vec::new();
        }
        let of = |(at, casting): (usize, &Casting)| {
            let own = self.all[at].id();
            let mut pids = vec![own];
            pids.extend(casting.seats.iter().map(|seat| seat.pid));
            pids.sort_unstable();
            pids.dedup();
            let seats = casting.seats.clone();
            pids.into_iter().map(move |pid| ProcessSnapshot::now(at, pid, &seats))
        };
        self.casts.iter().enumerate().flat_map(of).collect()
    }

    fn did_since(&self, before: &[ProcessSnapshot]) -> Vec<ProcessSnapshot> {
        before.iter().map(ProcessSnapshot::until_now).collect()
    }

    /// Times the sentinel on every used CPU; on none in a trial of given counts, whose numbers
    /// nobody reads.
    pub fn sentinels(&mut self) -> Result<Vec<CpuSentinel>, Failure> {
        if self.spec.is_exact() {
            return Ok(Vec::new());
        }
        let doing = "timing the sentinel";
        if let Watch::Beside(worker, cpus) = &mut self.watch {
            let mut readings = Vec::new();
            for cpu in cpus {
                worker.send(&Command::Sentinel { cpu: *cpu });
                match worker.reply(self.deadline, &self.spec.setup.interrupt) {
                    Ok(reply) => readings.push(sentinel(reply)?),
                    Err(ReplyError::Interrupted) => return Err(Failure::Interrupted),
                    Err(_) => return Err(unexpected("sentinel")),
                }
            }
            return Ok(readings);
        }
        let Watch::Ends(watchers) = self.watch else { return Ok(Vec::new()) };
        let watchers = watchers.min(self.all.len());
        for at in 0..watchers {
            self.all[at].send(&Command::Sentinel { cpu: None });
        }
        self.replies(watchers, doing)?.into_iter().map(sentinel).collect()
    }

    /// Asks the workers to leave and sees that they do.
    pub fn dismiss(&mut self) {
        for worker in &mut self.all {
            worker.send(&Command::Stop);
        }
        // Nobody waits for the answer but whoever reads all of the conversation.
        if self.all.iter().any(Worker::is_written_down) {
            let until = Instant::now() + LAST_WORDS;
            let _ = replies(&mut self.all, until, &self.spec.setup.interrupt);
        }
        for worker in &mut self.all {
            worker.leave(LAST_WORDS);
        }
    }

    pub(super) fn replies(&mut self, count: usize, doing: &str) -> Result<Vec<Reply>, Failure> {
        replies(&mut self.all[..count], self.deadline, &self.spec.setup.interrupt)
            .map_err(|(at, error)| self.failure(at, error, doing))
    }

    pub(super) fn name(&self, at: usize) -> &'static str {
        match (self.all.len(), at) {
            (1, _) => "the worker",
            (_, 0) => "the caller's worker",
            _ => "the callee's worker",
        }
    }

    /// Says why a trial failed: what every worker knows of it, but for one that only saw its
    /// partner go, where there is more.
    pub(super) fn failure(&mut self, at: usize, error: ReplyError, doing: &str) -> Failure {
        if error == ReplyError::Interrupted {
            return Failure::Interrupted;
        }
        let mut accounts = vec![(at, error)];
        for other in (0..self.all.len()).filter(|&other| other != at) {
            let until = Instant::now() + LAST_WORDS;
            match self.all[other].reply(until, &self.spec.setup.interrupt) {
                Ok(_) | Err(ReplyError::Deadline | ReplyError::Interrupted) => {}
                Err(error) => accounts.push((other, error)),
            }
        }
        for (at, worker) in self.all.iter_mut().enumerate() {
            // One that closed its output is dying: how it dies is worth waiting for.
            let dying = accounts.contains(&(at, ReplyError::Closed));
            let status = worker.leave(if dying { LAST_WORDS } else { Duration::from_millis(5) });
            if status.is_some_and(|status| status.signal() == Some(SIGALRM)) {
                let name = if at == 0 { "the caller" } else { "the callee" };
                return Failure::Reason(format!("{name} passed its deadline while {doing}"));
            }
        }
        let tells = |(_, error): &(usize, ReplyError)| match error {
            ReplyError::PartnerClosed(_) => 2,
            ReplyError::Closed => 1,
            _ => 0,
        };
        accounts.sort_by_key(tells);
        let knowing = accounts.iter().filter(|account| tells(account) < 2).count().max(1);
        let mut reasons = Vec::new();
        for (at, error) in &accounts[..knowing] {
            let reason = match error {
                ReplyError::Closed => self.all[*at].epitaph(),
                ReplyError::Deadline => format!("{error} while {doing}"),
                error => error.to_string(),
            };
            reasons.push(format!("{}, {doing}: {reason}", self.name(*at)));
        }
        Failure::Reason(reasons.join("; "))
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

/// A reply of the wrong kind.
pub fn unexpected(command: &str) -> Failure {
    Failure::Reason(format!("the worker's reply does not answer `{command}`"))
}
