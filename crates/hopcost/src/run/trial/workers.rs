//! The workers of a trial: told what to do all at once, listened to, and explained when one
//! fails.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow, ensure};
use hopcost_model::{
    Boundary, Case, Command, EndCounters, GateReading, Phase, PhaseSpec, Reply, Stamp, ThreadUse,
    Workload,
};
use hopcost_probe::worker::events::{Events, KERNEL};
use hopcost_probe::workload::schedule;
use hopcost_probe::{interrupt, sys};
use hopcost_read::plausible::{self, Measure};

use super::snapshot::{self, Other, Process, ProcessSnapshot, Seated};
use super::spec::TrialSpec;
use crate::run::pace::Pace;
use crate::run::scratch::TrialScratch;
use crate::run::worker::{ReplyError, Worker, replies};

/// The signal of a worker's own deadline (signal(7)).
const SIGALRM: i32 = 14;
/// How long the other worker may take to say why, after the first fell silent.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Bytes that fit a packet of the least MTU that IPv6 allows, headers included.
const MTU_LEAST: u32 = 1000;

/// The workers of one trial, the caller's first.
pub struct TrialWorkers<'a> {
    pub(crate) spec: TrialSpec<'a>,
    pub(crate) all: Vec<TrialWorker>,
    /// Memory for the two ends of a `wake` to meet in.
    pub(super) meeting: Option<OwnedFd>,
    pub(super) deadline: Instant,
    /// For which reasons ends could not be pinned.
    pub(super) pin_errors: Vec<String>,
    /// Removed after the workers, the last to be dropped.
    pub(super) scratch: Option<TrialScratch>,
}

/// A worker and what is known of it.
pub struct TrialWorker {
    pub(crate) worker: Worker,
    /// Of its clock, where it is of another runtime.
    pub(super) foreign_ticks_per_ns: Option<f64>,
    /// The seats it plays, in the order of attaching.
    pub(super) seats: Vec<Seated>,
    /// The processes it started beside its ends.
    pub(super) others: Vec<Other>,
    /// What it hands its samples over in.
    pub(super) samples: File,
    /// Where it finds when to send the messages of a `load`, if hopcost has to tell it.
    pub(super) schedule: Option<File>,
}

impl TrialWorker {
    /// Its process and those that it has started.
    fn processes(&self) -> Vec<u32> {
        let started = self.started().into_iter().map(|(_, pid)| pid);
        let pids: BTreeSet<u32> = started.chain([self.worker.id()]).collect();
        pids.into_iter().collect()
    }

    /// Whether a seat is alone in its process.
    pub fn has_process(&self, seat: &Seated) -> bool {
        self.seats.iter().filter(|other| other.pid == seat.pid).count() == 1
    }

    /// The processes that it has started, by name: those of its ends, and all others.
    pub fn started(&self) -> Vec<(String, u32)> {
        let ends = self.seats.iter().filter(|seat| seat.pid != self.worker.id());
        let ends = ends.map(|seat| (format!("the {}", seat.role), seat.pid));
        let others = self.others.iter().map(|other| (other.name.clone(), other.pid));
        ends.chain(others).collect()
    }
}

/// What one phase brought.
#[derive(Default)]
pub struct Ran {
    /// CPU time of all workers.
    pub process_cpu_ns: u64,
    /// Wall time, as the caller's worker saw it.
    pub wall_ns: u64,
    /// How long it took for the control plane.
    pub outside_ns: u64,
    /// For how long of it its threads and the control plane were ready and did not run; 0 of
    /// a phase whose samples are not handed over.
    pub waited_ns: u64,
    /// Every end, the callers first.
    pub ends: Vec<EndCounters>,
    /// Every thread, seen from outside; where there are more than ends.
    pub threads: Vec<ThreadUse>,
    /// Whether a worker of this host was stopped (SIGSTOP) and went on.
    pub stopped: bool,
}

/// Operations that lost a message.
pub fn lost(ran: &Ran) -> u64 {
    ran.ends.first().map_or(0, |end| end.lost)
}

impl TrialWorkers<'_> {
    /// Has both ends compare their clocks.
    pub fn gate(&mut self, exchanges: u64, steps: u64) -> Result<GateReading> {
        let mut found = None;
        for reply in self.ask_all(&Command::Gate { exchanges, steps }, "comparing clocks")? {
            let Reply::Gate { reading } = reply else { return Err(unexpected("gate")) };
            found = match (found, reading) {
                (Some(one), Some(other)) => Some(GateReading::joined(one, other)),
                (one, other) => one.or(other),
            };
        }
        found.ok_or_else(|| unexpected("gate"))
    }

    /// From now on, waits this long for all replies together.
    pub fn allow(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
    }

    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.all.iter().map(|one| one.worker.id())
    }

    /// Finds out what an operation takes.
    pub fn pilot(&mut self, pace: &mut Pace) -> Result<()> {
        loop {
            let count = pace.pilot_count();
            let ran = self.phase(Phase::Pilot, count, Stamp::Batch { n: count }, None)?;
            if lost(&ran) > 0 {
                return self.losing_pilot(pace, count, &ran);
            }
            if pace.learn(count, ran.ends.first().map_or(0, |end| end.elapsed_ticks)) {
                return Ok(());
            }
        }
    }

    /// A batch with a lost message says nothing, so operations are timed one by one from here on.
    fn losing_pilot(&mut self, pace: &mut Pace, count: u64, ran: &Ran) -> Result<()> {
        pace.lose(count, ran.outside_ns);
        let count = pace.losing_pilot_count();
        let ran = self.phase(Phase::Pilot, count, Stamp::Each, None)?;
        pace.lose(count, ran.outside_ns);
        let elapsed_ticks = ran.ends.first().map_or(0, |end| end.elapsed_ticks);
        pace.correct(count.saturating_sub(lost(&ran)).max(1), elapsed_ticks);
        Ok(())
    }

    /// Runs a phase on every worker.
    pub fn phase(
        &mut self,
        phase: Phase,
        count: u64,
        stamp: Stamp,
        cap_ns: Option<u64>,
    ) -> Result<Ran> {
        let doing = match phase {
            Phase::Pilot => "piloting",
            Phase::WarmUp => "warming up",
            Phase::Measure => "measuring",
            Phase::Count => "counting system calls",
        };
        // What is compiled while it runs takes more messages to warm up than have their time.
        let is_paced = phase != Phase::WarmUp || !self.spec.workers.warms_up_until_steady();
        for file in self.all.iter().filter_map(|one| one.schedule.as_ref()) {
            let offsets = |sender| match is_paced {
                true => schedule::offsets(&self.spec.case, self.spec.schedule(), sender, count),
                false => vec![0; count as usize],
            };
            let offsets = (0..self.spec.case.senders).flat_map(offsets);
            let bytes: Vec<u8> = offsets.flat_map(u64::to_le_bytes).collect();
            file.write_all_at(&bytes, 0)?;
        }
        self.were_stopped();
        let before = self.snapshots();
        let waited_before_ns = self.waited_ns(phase);
        let started = Instant::now();
        let run = Command::Run(PhaseSpec { phase, count, stamp, cap_ns });
        let replies = self.ask_all(&run, doing)?;
        let outside_ns = started.elapsed().as_nanos() as u64;
        let waited_ns = self.waited_ns(phase).saturating_sub(waited_before_ns);
        let did: Vec<_> = before.into_iter().map(ProcessSnapshot::until_now).collect();
        let threads = did.iter().flat_map(ProcessSnapshot::rows).collect();
        let stopped = self.were_stopped();
        let mut all = Ran { outside_ns, waited_ns, threads, stopped, ..Ran::default() };
        for (at, reply) in replies.into_iter().enumerate() {
            let Reply::Ran { mut process_cpu_ns, mut wall_ns, mut ends } = reply else {
                return Err(unexpected("run"));
            };
            let seats = &self.all[at].seats;
            let who = self.name(at);
            let plays = ends.iter().map(|end| end.role).eq(seats.iter().map(|seat| seat.role));
            ensure!(plays, "{who} does not answer for the ends it plays");
            for (end, seat) in ends.iter_mut().zip(seats) {
                snapshot::add_helpers(end, seat, &did);
            }
            if let Some(ticks_per_ns) = self.all[at].foreign_ticks_per_ns {
                // The time ends a stream; how many messages it had is looked at later.
                if self.spec.case.workload != Workload::Stream {
                    let all = count.saturating_mul(self.spec.case.senders.into());
                    plausible::foreign(Measure { outside_ns, ticks_per_ns }, &ends, count, all)
                        .map_err(|why| anyhow!("{who} {why}"))?;
                }
                wall_ns = outside_ns;
                process_cpu_ns = did.iter().filter(|p| p.worker == at).map(|p| p.did.cpu_ns).sum();
                for (end, seat) in ends.iter_mut().zip(seats) {
                    snapshot::fill(end, seat, seats, &did);
                }
            }
            if let Some(peer) = self.spec.peer().filter(|_| at + 1 == self.all.len()) {
                let ratio = self.spec.ticks_per_second() / peer.far.clock.ticks_per_second;
                ends.iter_mut().for_each(|end| in_near_ticks(end, ratio));
            }
            if at == 0 {
                all.wall_ns = wall_ns;
            }
            all.process_cpu_ns = all.process_cpu_ns.saturating_add(process_cpu_ns);
            all.ends.extend(ends);
        }
        // A worker that plays both ends tells them in the order of its seats.
        all.ends.sort_by_key(|end| (end.role, end.flow));
        Ok(all)
    }

    /// Whether a worker was stopped and went on since this was last asked.
    fn were_stopped(&self) -> bool {
        self.pids().filter(|pid| sys::was_stopped(*pid)).count() > 0
    }

    /// How long the workers and this process have waited for a CPU, where it will be held
    /// against how much of the phase the samples cover.
    fn waited_ns(&self, phase: Phase) -> u64 {
        if phase != Phase::Measure {
            return 0;
        }
        let own = std::process::id();
        let all = self.all.iter().map(|one| one.worker.id()).chain([own]);
        all.map(Process::waited_ns).sum()
    }

    /// Runs a phase that leaves no samples; none if there is nothing to do.
    pub fn warm_up(
        &mut self,
        count: u64,
        stamp: Stamp,
        cap_ns: Option<u64>,
    ) -> Result<Option<Ran>> {
        match count {
            0 => Ok(None),
            _ => self.phase(Phase::WarmUp, count, stamp, cap_ns).map(Some),
        }
    }

    /// The processes of the workers right now; none where every end is hopcost's own, is
    /// but one thread and counts for itself.
    fn snapshots(&self) -> Vec<ProcessSnapshot> {
        let counts_itself = |one: &TrialWorker| {
            one.foreign_ticks_per_ns.is_none() && one.seats.iter().all(|s| s.helpers.is_empty())
        };
        if self.all.iter().all(counts_itself) {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (at, one) in self.all.iter().enumerate() {
            let now = |pid| ProcessSnapshot::now(at, pid, &one.seats, &one.others);
            all.extend(one.processes().into_iter().map(now));
        }
        all
    }

    /// What the kernel counts of every thread that a worker of another runtime has or starts, one for each
    /// process; none where every end is hopcost's own and counts for itself.
    pub fn kernel_events(&self) -> Vec<Events> {
        let foreign = self.all.iter().filter(|one| one.foreign_ticks_per_ns.is_some());
        let of = |pid: u32| {
            let threads: Vec<u32> = Process::look(pid).threads.into_keys().collect();
            Events::of_process(KERNEL, &threads)
        };
        foreign.flat_map(TrialWorker::processes).map(of).collect()
    }

    /// Asks the workers to leave and sees that they do.
    pub fn dismiss(&mut self) {
        for one in &mut self.all {
            one.worker.send(&Command::Stop);
        }
        let peer = self.spec.peer();
        if let Some((peer, far)) = peer.zip(self.all.pop_if(|_| peer.is_some())) {
            peer.give_back(far.worker);
        }
        for one in &mut self.all {
            one.worker.leave(LAST_WORDS);
        }
    }

    /// Tells every worker the same, the callee's first, and waits for all replies.
    pub(super) fn ask_all(&mut self, command: &Command, doing: &str) -> Result<Vec<Reply>> {
        for one in self.all.iter_mut().rev() {
            one.worker.send(command);
        }
        self.replies(self.all.len(), doing)
    }

    /// Waits for a reply of each of the first workers.
    pub(super) fn replies(&mut self, count: usize, doing: &str) -> Result<Vec<Reply>> {
        let mut workers: Vec<_> = self.all.iter_mut().map(|one| &mut one.worker).collect();
        replies(&mut workers[..count], self.deadline, interrupt::event())
            .map_err(|(at, error)| self.failure(at, error, doing))
    }

    pub(super) fn name(&self, at: usize) -> &'static str {
        match (self.all.len(), at) {
            (1, _) => "the worker",
            (all, at) if at + 1 < all => "the caller's worker",
            _ => "the callee's worker",
        }
    }

    /// Says why a trial failed: what every worker knows of it, but for one that only saw its
    /// partner go, where there is more.
    fn failure(&mut self, at: usize, error: ReplyError, doing: &str) -> Error {
        if error == ReplyError::Interrupted {
            return error.into();
        }
        let mut accounts = vec![(at, error)];
        for other in (0..self.all.len()).filter(|&other| other != at) {
            let until = Instant::now() + LAST_WORDS;
            match self.all[other].worker.reply(until) {
                Ok(_) | Err(ReplyError::Deadline | ReplyError::Interrupted) => {}
                Err(error) => accounts.push((other, error)),
            }
        }
        let all = self.all.len();
        for (at, one) in self.all.iter_mut().enumerate() {
            // One that closed its output is dying: how it dies is worth waiting for.
            let dying = accounts.contains(&(at, ReplyError::Closed));
            let patience = if dying { LAST_WORDS } else { Duration::from_millis(5) };
            let status = one.worker.leave(patience);
            if status.is_some_and(|status| status.signal() == Some(SIGALRM)) {
                let name = if at == 0 || at + 1 < all { "the caller" } else { "the callee" };
                let vanish = self.where_packets_vanish();
                return anyhow!(
                    "{name} passed its deadline while {doing}{vanish}; a suite's [trial] may give it a \
                     longer `deadline`"
                );
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
                ReplyError::Closed => self.all[*at].worker.epitaph(),
                ReplyError::Deadline => format!("{error} while {doing}"),
                error => error.to_string(),
            };
            reasons.push(format!("{}, {doing}: {reason}", self.name(*at)));
        }
        let mut reasons = reasons.join("; ");
        // The far host's own deadline among them, at which SIGALRM may end its worker first.
        let by_alarm = format!("was killed by signal {SIGALRM}");
        let silent = ["deadline", "nobody acknowledged", &by_alarm];
        if silent.iter().any(|part| reasons.contains(part)) {
            reasons.push_str(&self.where_packets_vanish());
        }
        Error::msg(reasons)
    }

    /// Over what messages went that never came, and what may have dropped them: a path whose MTU is
    /// smaller than its ends believe drops every packet over it.
    fn where_packets_vanish(&self) -> String {
        let Case { boundary, mechanism, payload_bytes, .. } = &*self.spec.case;
        let bytes = payload_bytes.unwrap_or(0);
        match boundary {
            Boundary::Host | Boundary::Namespace if bytes > MTU_LEAST => format!(
                " (over {mechanism}, {bytes} bytes a message: if --payload {MTU_LEAST} works, the path \
                 drops packets over some size; lower the MTU of the device at both ends, ip link set \
                 dev DEVICE mtu 1280)"
            ),
            _ => String::new(),
        }
    }
}

/// What an end of the far host stamped, in ticks of the near end's clock, so that a run has one clock.
fn in_near_ticks(end: &mut EndCounters, ratio: f64) {
    for ticks in [&mut end.max_ticks, &mut end.elapsed_ticks, &mut end.first_tick] {
        *ticks = (*ticks as f64 * ratio) as u64;
    }
}

/// A reply of the wrong kind.
pub fn unexpected(command: &str) -> Error {
    anyhow!("the worker's reply does not answer `{command}`")
}
