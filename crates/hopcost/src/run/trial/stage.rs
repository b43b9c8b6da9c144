//! The workers of a trial: spawned, told what to do all at once, listened to, and
//! explained when one fails.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Role, Workload};
use hopcost_model::protocol::{
    Command, EndCounters, GateReading, LinkHalf, Phase, Reply, Seat, Stamp,
};
use hopcost_model::raw::CpuSentinel;
use hopcost_probe::meeting;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::sys;

use super::{Failure, Order};
use crate::run::worker::{Silence, Worker, replies};

/// The signal of a worker's own deadline (signal(7)).
const SIGALRM: i32 = 14;
/// Time that the control plane grants beyond the workers' own deadline.
const GRACE: Duration = Duration::from_millis(500);
/// How long the other worker may take to say why, after the first fell silent.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The workers of one trial, the caller's first.
pub struct Stage<'a> {
    workers: Vec<Worker>,
    /// Workers that run the sentinel: one a CPU.
    watchers: usize,
    /// What each worker hands its samples over in.
    pub samples: Vec<File>,
    deadline: Instant,
    interrupt: &'a OwnedFd,
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
}

impl<'a> Stage<'a> {
    /// Opens the links, spawns the workers and has them attach.
    pub fn open(order: &Order<'a>) -> Result<Self, Failure> {
        let case = order.case;
        let flows = case.flows.unwrap_or(1);
        let meeting = (case.workload == Workload::Wake && case.two_processes())
            .then(meeting_memory)
            .transpose()?;
        let mut hires = Vec::new();
        if case.two_processes() {
            let mut caller = Hire::default();
            let mut callee = Hire::default();
            for flow in 0..flows {
                let opening = Opening { case, scratch: order.scratch };
                let link = (order.row.open)(&opening)
                    .map_err(|e| Failure::Reason(format!("opening the link: {e}")))?;
                caller.seat(Role::Caller, flow, order.cpus.0, Some(link.caller));
                callee.seat(Role::Callee, flow, order.cpus.1, Some(link.callee));
            }
            hires.extend([caller, callee]);
        } else {
            let mut both = Hire::default();
            for flow in 0..flows {
                both.seat(Role::Caller, flow, order.cpus.0, None);
            }
            if case.boundary == Boundary::Thread {
                for flow in 0..flows {
                    both.seat(Role::Callee, flow, order.cpus.1, None);
                }
            }
            hires.push(both);
        }
        let deadline_ms = deadline_ms(order);
        let mut samples = Vec::new();
        let mut commands = Vec::new();
        for hire in &mut hires {
            let file = File::from(sys::memfd("hopcost-samples", 0)?);
            let stamps = hire
                .seats
                .iter()
                .any(|seat| seat.role == Role::Caller || case.workload == Workload::Wake);
            let samples_fd =
                stamps.then(|| hire.lend(OwnedFd::from(file.try_clone()?))).transpose();
            let samples_fd = samples_fd.map_err(|e: std::io::Error| Failure::from(e))?;
            let meeting_fd = match &meeting {
                Some(fd) => Some(hire.lend(fd.try_clone()?)?),
                None => None,
            };
            samples.push(file);
            commands.push(Command::Attach {
                case: case.id(),
                seats: std::mem::take(&mut hire.seats),
                samples_fd,
                meeting_fd,
                deadline_ms,
                parent: Some(std::process::id()),
                scratch: Some(order.scratch.display().to_string()),
                trial: order.number,
            });
        }
        // The callee first, so that the caller's worker, which is the one that
        // waits for nobody, is not spawned into a half-open link.
        let mut workers = Vec::new();
        for hire in hires.into_iter().rev() {
            workers.insert(0, Worker::spawn(order.program, hire.fds, order.padding)?);
        }
        let watchers = if order.cpus.0 == order.cpus.1 { 1 } else { workers.len() };
        let deadline = Instant::now() + Duration::from_millis(deadline_ms) + GRACE;
        let mut stage = Stage { workers, watchers, samples, deadline, interrupt: order.interrupt };
        for (at, command) in commands.iter().enumerate() {
            stage.send(at, command, "attaching")?;
        }
        Ok(stage)
    }

    /// Waits until every end has attached; says which could not be pinned, and why.
    pub fn attached(&mut self) -> Result<Vec<String>, Failure> {
        let mut pin_errors = Vec::new();
        for reply in self.replies(self.workers.len(), "attaching")? {
            let Reply::Attached { seats, .. } = reply else {
                return Err(unexpected("attach"));
            };
            pin_errors.extend(
                seats.into_iter().filter_map(|seat| {
                    seat.pin_error.map(|error| format!("{}: {error}", seat.role))
                }),
            );
        }
        Ok(pin_errors)
    }

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
        let started = Instant::now();
        for at in (0..self.workers.len()).rev() {
            self.send(at, &Command::Run { phase, count, stamp, cap_ns }, doing)?;
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
        // A worker that plays both ends tells them in the order of its seats.
        all.ends.sort_by_key(|end| (end.role, end.flow));
        Ok(all)
    }

    /// Times the sentinel on every used CPU.
    pub fn sentinels(&mut self) -> Result<Vec<CpuSentinel>, Failure> {
        for at in 0..self.watchers.min(self.workers.len()) {
            self.send(at, &Command::Sentinel { cpu: None }, "timing the sentinel")?;
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
    pub fn dismiss(&mut self) {
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

/// A half as descriptors to inherit and their numbers.
fn split(half: Half) -> (Vec<OwnedFd>, LinkHalf) {
    let link = LinkHalf {
        fds: half.fds.iter().map(AsRawFd::as_raw_fd).collect(),
        names: half.names,
        ..LinkHalf::default()
    };
    (half.fds, link)
}

/// What a worker is spawned with.
#[derive(Default)]
struct Hire {
    fds: Vec<OwnedFd>,
    seats: Vec<Seat>,
}

impl Hire {
    fn seat(&mut self, role: Role, flow: u32, cpu: Option<u32>, half: Option<Half>) {
        let link = half.map(|half| {
            let (fds, link) = split(half);
            self.fds.extend(fds);
            link
        });
        self.seats.push(Seat { role, flow, cpu, link });
    }
    /// Has the worker inherit a descriptor; its number there is its number here.
    fn lend(&mut self, fd: OwnedFd) -> std::io::Result<i32> {
        let number = fd.as_raw_fd();
        self.fds.push(fd);
        Ok(number)
    }
}

/// Memory for the two ends of a `wake` to meet in.
fn meeting_memory() -> Result<OwnedFd, Failure> {
    Ok(sys::memfd("hopcost-meeting", meeting::BYTES as u64)?)
}

/// The trial's deadline, longer where its wake-ups alone take long.
pub fn deadline_ms(order: &Order<'_>) -> u64 {
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
