//! The Rust worker: speaks the protocol on stdin and stdout, plays one or two
//! ends of one trial, and dies with its parent or at its deadline.

mod calibrate;
mod counters;
mod describe;
mod distances;
pub mod events;
pub mod lines;
mod seat;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::iter::once;
use std::path::PathBuf;
use std::sync::Arc;

use hopcost_model::{
    Case, Command, GateReading, Phase, PhaseSpec, Reply, Role, Stamp, Workload, protocol,
};

use crate::mechanism;
use crate::meeting;
use crate::memory::Shared;
use crate::shape::{Half, Opening};
use crate::sys::{self, Doing, ensure};
use counters::Time;
pub use describe::{description, description_of, mechanisms};
use seat::{Common, Seat, ThreadSeat, awaited};

/// The most samples a phase may ask for: 512 MiB of them.
const SAMPLES_MAX: u64 = 1 << 26;

/// Ends that a worker may play at most.
const SEATS_MAX: usize = 256;

/// Runs the worker until its input ends or a command stops it; `far` continues in its place if the
/// worker is to be the far host of a run. The exit code.
pub fn main(far: impl FnOnce(Command) -> u8) -> u8 {
    // For `ps`, `pgrep` and `perf`.
    let _ = rustix::thread::set_name(c"hopcost-worker");
    std::panic::set_hook(Box::new(|panic| {
        lines::give_up(&sys::failure(format!("the worker panicked: {panic}")))
    }));
    let mut attached = None;
    loop {
        let next = lines::next().unwrap_or_else(|error| lines::give_up(&error));
        let Some(command) = next else { return 0 };
        if attached.is_none() && matches!(command, Command::Host { .. }) {
            return far(command);
        }
        let stop = command == Command::Stop;
        match obey(&mut attached, command) {
            Ok(reply) if lines::reply(&reply).is_ok() && !stop => {}
            Ok(_) => return 0,
            Err(error) => lines::give_up(&error),
        }
    }
}

struct Trial {
    first: Seat,
    others: Vec<ThreadSeat>,
    /// How many samples an operation leaves at each seat, in their order.
    samples_each: Vec<u64>,
    /// Whether the pilot leaves samples too.
    generates: bool,
    samples: Option<File>,
    time: Time,
}

/// Does what a command says, to the trial that is attached or is to be.
fn obey(attached: &mut Option<Trial>, command: Command) -> io::Result<Reply> {
    let nothing = || sys::failure("nothing is attached");
    match command {
        Command::Describe => Ok(Reply::Described(serde_json::to_value(description())?)),
        Command::Attach(mut asked) => {
            ensure!(attached.is_none(), "already attached");
            tied(asked.parent, asked.deadline_ms)?;
            let case: Case = asked.case.parse().map_err(|e| sys::failure(format!("case: {e}")))?;
            let row = mechanism::find(case.mechanism_name()).ok_or_else(|| {
                sys::failure(format!("this worker has no mechanism `{}`", case.mechanism))
            })?;
            let time = if case.has_virtual_clock() { Time::Virtual } else { Time::Real };
            let seats = std::mem::take(&mut asked.seats);
            let meeting = sys::adopt(asked.meeting_fd.as_slice())?.pop();
            let samples = sys::adopt(asked.samples_fd.as_slice())?.pop().map(File::from);
            let (seats, trial) =
                attach(Common { row, case, meeting, time, asked }, seats, samples)?;
            *attached = Some(trial);
            Ok(Reply::Attached { pid: std::process::id(), seats })
        }
        Command::Clock { cpu } => calibrate::clock(cpu).map(Reply::Clock),
        Command::Distances { cpus } => distances::between(&cpus),
        Command::Gate { exchanges, steps } => {
            attached.as_mut().ok_or_else(nothing)?.gate(exchanges, steps)
        }
        Command::IdleSpin { cpu, deadline_ms, parent } => {
            tied(parent, deadline_ms)?;
            match idle(cpu)? {}
        }
        Command::Run(spec) => {
            if let Stamp::Batch { n } | Stamp::TwoLengths { n } = spec.stamp {
                ensure!((1..=1 << 40).contains(&n), "a batch cannot have {n} operations");
            }
            attached.as_mut().ok_or_else(nothing)?.run(spec)
        }
        Command::Meet | Command::Host { .. } => {
            Err(sys::failure("this worker offers no addresses, and is no far host"))
        }
        Command::Stop => Ok(Reply::Stopped),
    }
}

/// From now on the process ends with its parent and at its deadline.
fn tied(parent: Option<u32>, deadline_ms: u64) -> io::Result<()> {
    if let Some(parent) = parent {
        sys::die_with_parent(parent)?;
    }
    sys::arm_deadline(deadline_ms)
}

/// Keeps a CPU from idling deeply, until the process is killed. It has the policy SCHED_IDLE, so it runs
/// only when nothing else on that CPU wants to, and gives way at once. Answers when it is about to begin;
/// returns only if it cannot.
fn idle(cpu: u32) -> io::Result<Infallible> {
    sys::pin(cpu).doing(format_args!("pinning to CPU {cpu}"))?;
    sys::set_scheduler(libc::SCHED_IDLE, 0).doing("SCHED_IDLE")?;
    lines::reply(&Reply::Spinning)?;
    loop {
        std::hint::spin_loop();
    }
}

fn attach(
    mut common: Common,
    seats: Vec<protocol::Seat>,
    samples: Option<File>,
) -> io::Result<(Vec<protocol::Attached>, Trial)> {
    let case = &common.case;
    let both_ends =
        [Role::Caller, Role::Callee].iter().all(|role| seats.iter().any(|seat| seat.role == *role));
    let can_play = (1..=SEATS_MAX).contains(&seats.len());
    ensure!(can_play, "a worker plays between 1 and {SEATS_MAX} ends");
    let is_caller_first = !both_ends || seats[0].role == Role::Caller;
    ensure!(is_caller_first, "a worker that plays both ends needs the caller first");
    if case.workload.is_stamped_by(Role::Callee) && common.meeting.is_none() && both_ends {
        common.meeting = Some(Shared::create(meeting::BYTES * case.senders as usize)?);
    }
    let halves = halves(&common, &seats, both_ends)?;
    let samples_each = |seat: &protocol::Seat| match seat.role {
        role if !case.workload.is_stamped_by(role) => 0,
        Role::Caller => 1,
        Role::Callee => u64::from(case.senders),
    };
    let samples_each = seats.iter().map(samples_each).collect();
    let (generates, time) = (case.workload == Workload::Load, common.time);
    let common = Arc::new(common);
    let mut ends = seats.into_iter().zip(halves);
    let first = ends.next().ok_or_else(|| sys::failure("a worker plays at least one end"))?;
    let start = |end| ThreadSeat::start(end, Arc::clone(&common));
    let others = ends.map(start).collect::<io::Result<Vec<_>>>()?;
    let (seat, attached) = Seat::take(first, common)?;
    let attached = once(Ok(attached)).chain(others.iter().map(|one| awaited(&one.attached)));
    let all = attached.collect::<io::Result<_>>()?;
    Ok((all, Trial { first: seat, others, samples_each, generates, samples, time }))
}

/// Each seat's half of its link: as given, or of links that this worker opens,
/// one a flow.
fn halves(common: &Common, seats: &[protocol::Seat], both_ends: bool) -> io::Result<Vec<Half>> {
    let given: Vec<_> = seats.iter().filter_map(|seat| seat.link.as_ref()).collect();
    if given.len() == seats.len() && !both_ends {
        let half = |link: &&protocol::LinkHalf| {
            let (fds, names) = (sys::adopt(&link.fds)?, link.names.clone());
            Ok(Half { fds, names, ..Half::default() })
        };
        return given.iter().map(half).collect();
    }
    ensure!(given.is_empty(), "a worker that plays both ends opens the links itself");
    let scratch = common.asked.scratch.as_ref().map_or_else(std::env::temp_dir, PathBuf::from);
    let (mut kept, mut halves) = (BTreeMap::new(), Vec::new());
    for seat in seats {
        let wanted = (seat.role, seat.flow);
        if !kept.contains_key(&wanted) {
            let opening = Opening { case: &common.case, scratch: &scratch };
            let (callers, callee) = common.row.open_for_all(&opening).doing("opening the link")?;
            let callers = (seat.flow..).zip(callers);
            kept.extend(callers.map(|(flow, half)| ((Role::Caller, flow), half)));
            kept.insert((Role::Callee, seat.flow), callee);
        }
        halves.extend(kept.remove(&wanted));
    }
    Ok(halves)
}

impl Trial {
    fn run(&mut self, spec: PhaseSpec) -> io::Result<Reply> {
        let leaves = spec.phase == Phase::Measure || (spec.phase == Phase::Pilot && self.generates);
        let keeps = leaves && self.samples.is_some();
        let room = |each: u64| match keeps && each > 0 {
            true => room_for(spec.count.saturating_mul(each), spec.stamp),
            false => Ok(Vec::new()),
        };
        // All rooms before any end starts: touching their pages takes a while.
        let rooms = self.samples_each.iter().map(|each| room(*each));
        let mut rooms = rooms.collect::<io::Result<Vec<_>>>()?;
        let mut out = rooms.remove(0);
        // Before any end starts too: that of another flow may be done before this thread runs again.
        let (time, clocks) = (self.time, [libc::CLOCK_MONOTONIC, libc::CLOCK_PROCESS_CPUTIME_ID]);
        let before = clocks.map(|clock| time.ns(clock));
        let spent = || [0, 1].map(|at| time.ns(clocks[at]) - before[at]);
        let others = self.others.iter().zip(rooms).map(|(thread, mut room)| {
            thread.tell(move |seat| seat.run(&spec, &mut room).map(|counters| (counters, room)))
        });
        let others: Vec<_> = others.collect();
        let first = self.first.run(&spec, &mut out)?;
        let mut spent_ns = spent();
        let mut samples = vec![(first.samples as usize, out)];
        let mut ends = vec![first];
        for other in &others {
            let (counters, out) = awaited(other)?;
            samples.push((counters.samples as usize, out));
            ends.push(counters);
        }
        if ends.iter().any(|end| end.flow != ends[0].flow) {
            // The first flow may end long before the last.
            spent_ns = spent();
        }
        if let Some(file) = &mut self.samples {
            for (count, out) in samples {
                let bytes: Vec<u8> =
                    out[..count].iter().flat_map(|ticks| ticks.to_le_bytes()).collect();
                file.write_all(&bytes).doing("handing over the samples")?;
            }
        }
        let [wall_ns, process_cpu_ns] = spent_ns;
        Ok(Reply::Ran { process_cpu_ns, wall_ns, ends })
    }

    fn gate(&mut self, exchanges: u64, steps: u64) -> io::Result<Reply> {
        let tell =
            |thread: &ThreadSeat| thread.tell(move |seat| seat.endpoint.gate(exchanges, steps));
        let others: Vec<_> = self.others.iter().map(tell).collect();
        let first = self.first.endpoint.gate(exchanges, steps)?;
        let others = others.iter().map(awaited).collect::<io::Result<Vec<_>>>()?;
        let readings = once(first).chain(others).flatten();
        Ok(Reply::Gate { reading: readings.reduce(GateReading::joined) })
    }
}

/// A buffer for the samples of a phase, every page touched: `vec![0; n]` would
/// be untouched pages, and the first touch would be inside the loop.
fn room_for(count: u64, stamp: Stamp) -> io::Result<Vec<u64>> {
    let samples = match stamp {
        Stamp::Each => count,
        Stamp::Batch { n } => count / n.max(1) + 1,
        Stamp::TwoLengths { n } => (count / (3 * n.max(1)) + 1) * 2,
    };
    ensure!(samples <= SAMPLES_MAX, "{samples} samples are more than a phase may ask for");
    Ok(vec![1; samples as usize])
}
