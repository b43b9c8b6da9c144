//! The Rust worker: speaks the protocol on stdin and stdout, plays one or two
//! ends of one trial, and dies with its parent or at its deadline.

mod calibrate;
mod counters;
mod lines;
mod seat;
mod sentinel;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::{self, Command, Phase, Reply, Stamp};

use crate::mechanism;
use crate::shape::{Half, Opening};
use crate::sys;
use counters::Time;
use lines::Lines;
use seat::{Seat, Start, ThreadSeat};

/// The most samples a phase may ask for: 512 MiB of them.
const SAMPLES_MAX: u64 = 1 << 26;

/// Runs the worker until its input ends or it is told to stop.
pub fn main() -> ExitCode {
    sys::set_name("hopcost-worker");
    std::panic::set_hook(Box::new(|panic| {
        lines::give_up(&format!("the worker panicked: {panic}"))
    }));
    // Unbuffered: a buffered reader would hold bytes that a later command needs.
    let mut input = Lines::new(io::stdin());
    let mut worker = Worker::default();
    loop {
        let line = match input.next() {
            Ok(Some(line)) if line.is_empty() => continue,
            Ok(Some(line)) => line,
            Ok(None) => return ExitCode::SUCCESS,
            Err(error) => lines::give_up(&error.to_string()),
        };
        let command: Command = match serde_json::from_str(&line) {
            Ok(command) => command,
            Err(error) => lines::give_up(&format!("not a command of the protocol: {error}")),
        };
        let stop = command == Command::Stop;
        match worker.obey(command) {
            Ok(reply) => {
                if lines::reply(&reply).is_err() || stop {
                    return ExitCode::SUCCESS;
                }
            }
            Err(error) => lines::give_up(&error.to_string()),
        }
    }
}

#[derive(Default)]
struct Worker {
    trial: Option<Trial>,
}

struct Trial {
    first: Seat,
    second: Option<ThreadSeat>,
    samples: Option<File>,
    time: Time,
}

impl Worker {
    fn obey(&mut self, command: Command) -> io::Result<Reply> {
        match command {
            Command::Describe => Ok(describe()),
            Command::Attach { case, seats, samples_fd, deadline_ms, parent, scratch, trial } => {
                if self.trial.is_some() {
                    return Err(sys::failure("already attached"));
                }
                if let Some(parent) = parent {
                    sys::die_with_parent(parent)?;
                }
                sys::arm_deadline(deadline_ms)?;
                let case: Case = case.parse().map_err(|e| sys::failure(format!("case: {e}")))?;
                let (attached, trial) = attach(case, seats, samples_fd, scratch, trial)?;
                self.trial = Some(trial);
                Ok(Reply::Attached { pid: std::process::id(), seats: attached })
            }
            Command::Sentinel => {
                let time = self.trial.as_ref().map_or(Time::Real, |trial| trial.time);
                Ok(sentinel::time(time))
            }
            Command::Clock { cpu } => calibrate::clock(cpu).map(Reply::Clock),
            Command::Run { phase, count, stamp } => {
                if let Stamp::Batch { n } | Stamp::TwoLengths { n } = stamp
                    && !(1..=1 << 40).contains(&n)
                {
                    return Err(sys::failure(format!("a batch of {n} operations is none")));
                }
                let trial =
                    self.trial.as_mut().ok_or_else(|| sys::failure("nothing is attached"))?;
                trial.run(phase, count, stamp)
            }
            Command::Stop => Ok(Reply::Stopped),
        }
    }
}

fn describe() -> Reply {
    Reply::Described {
        protocol: protocol::VERSION,
        runtime: "rust".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        mechanisms: mechanism::ALL
            .iter()
            .filter(|row| !row.facts.hidden)
            .map(|row| row.facts.name.to_owned())
            .collect(),
    }
}

fn attach(
    case: Case,
    seats: Vec<protocol::Seat>,
    samples_fd: Option<i32>,
    scratch: Option<String>,
    trial: u32,
) -> io::Result<(Vec<protocol::Attached>, Trial)> {
    let row = mechanism::find(case.mechanism_name()).ok_or_else(|| {
        sys::failure(format!("this worker has no mechanism `{}`", case.mechanism))
    })?;
    let time = if case.has_virtual_clock() { Time::Virtual } else { Time::Real };
    let mut seats = seats.into_iter();
    let (first, second) = match (seats.next(), seats.next(), seats.next()) {
        (Some(first), second, None) => (first, second),
        _ => return Err(sys::failure("a worker plays one end or two")),
    };
    if second
        .as_ref()
        .is_some_and(|second| first.role != Role::Caller || second.role != Role::Callee)
    {
        return Err(sys::failure("a worker that plays both ends is told the caller first"));
    }
    let samples = samples_fd
        .map(|fd| sys::adopt(&[fd]))
        .transpose()?
        .and_then(|mut fds| fds.pop())
        .map(File::from);
    let (first_half, second_half) = match (&first.link, &second) {
        (Some(link), None) => (
            Half { fds: sys::adopt(&link.fds)?, names: link.names.clone(), local: None },
            Half::default(),
        ),
        (None, _) => {
            let scratch = scratch.map_or_else(std::env::temp_dir, PathBuf::from);
            let link = (row.open)(&Opening { case: &case, scratch: &scratch })
                .map_err(|e| sys::context(e, "opening the link"))?;
            (link.caller, link.callee)
        }
        (Some(_), Some(_)) => {
            return Err(sys::failure("a worker that plays both ends opens the link itself"));
        }
    };
    let start = |seat: &protocol::Seat, half| Start {
        row,
        case: case.clone(),
        role: seat.role,
        cpu: seat.cpu,
        half,
        trial,
        time,
    };
    let thread =
        second.as_ref().map(|seat| ThreadSeat::start(start(seat, second_half))).transpose()?;
    let (seat, attached) = Seat::take(start(&first, first_half))?;
    let mut all = vec![attached];
    if let Some(thread) = &thread {
        all.push(thread.attached()?);
    }
    Ok((all, Trial { first: seat, second: thread, samples, time }))
}

impl Trial {
    fn run(&mut self, phase: Phase, count: u64, stamp: Stamp) -> io::Result<Reply> {
        let mut out = match (phase, &self.samples) {
            (Phase::Measure, Some(_)) => room_for(count, stamp)?,
            _ => Vec::new(),
        };
        if let Some(second) = &self.second {
            second.order(phase, count, stamp);
        }
        let (wall_before, cpu_before) = (self.time.wall_ns(), self.time.process_cpu_ns());
        let first = self.first.run(phase, count, stamp, &mut out)?;
        let (wall_ns, process_cpu_ns) =
            (self.time.wall_ns() - wall_before, self.time.process_cpu_ns() - cpu_before);
        let samples = first.samples as usize;
        let mut ends = vec![first];
        if let Some(second) = &self.second {
            ends.push(second.collect()?);
        }
        if let Some(file) = &mut self.samples {
            let bytes: Vec<u8> =
                out[..samples].iter().flat_map(|ticks| ticks.to_le_bytes()).collect();
            file.write_all(&bytes).map_err(|e| sys::context(e, "handing over the samples"))?;
        }
        Ok(Reply::Ran { process_cpu_ns, wall_ns, ends })
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
    if samples > SAMPLES_MAX {
        return Err(sys::failure(format!("{samples} samples are more than a phase may ask for")));
    }
    Ok(vec![1; samples as usize])
}
