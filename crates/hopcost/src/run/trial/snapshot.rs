//! Ends and their processes seen from outside: where they are, and what they did in a phase.

use std::path::Path;

use hopcost_model::case::Role;
use hopcost_model::protocol::{Attached, EndCounters};
use hopcost_model::raw::ThreadUse;
use hopcost_probe::sys;

use crate::run::threads::{Process, Thread};

/// An end that has attached.
#[derive(Debug, Clone)]
pub struct Seated {
    pub role: Role,
    pub pid: u32,
    /// Its thread; 0 where it is none of its own.
    pub tid: u32,
    /// The CPU it is to stay on.
    pub cpu: Option<u32>,
    /// Other threads of its process that are known to work for it.
    pub helpers: Vec<u32>,
}

impl Seated {
    /// Before anything is known of its thread.
    pub fn new(role: Role, pid: u32, cpu: Option<u32>) -> Self {
        Self { role, pid, tid: 0, cpu, helpers: Vec::new() }
    }

    /// Whether what a thread of its process does is known to be this end's.
    fn has(&self, tid: u32) -> bool {
        (self.tid == tid && tid != 0) || self.helpers.contains(&tid)
    }

    /// Takes over what a worker says of it, if it is one of the worker's own threads.
    pub fn take(&mut self, said: &Attached, worker: u32) -> Result<(), String> {
        let pid = said.pid.unwrap_or(worker);
        // A process that the worker started is in its process group, which dies with the trial.
        let group = |pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields = stat.get(stat.rfind(')')? + 2..)?;
            fields.split_whitespace().nth(2)?.parse::<u32>().ok()
        };
        if pid != worker && group(pid) != Some(worker) {
            return Err(format!("process {pid} is none of its own"));
        }
        let there = |tid: u32| Path::new(&format!("/proc/{pid}/task/{tid}")).exists();
        if said.tid != 0 && !there(said.tid) {
            return Err(format!("there is no thread {} in process {pid}", said.tid));
        }
        (self.pid, self.tid) = (pid, said.tid);
        Ok(())
    }

    /// Pins it: its thread, or all threads of a process of its own.
    pub fn pin(&self, worker: u32) -> std::io::Result<()> {
        let Some(cpu) = self.cpu else { return Ok(()) };
        if self.pid != worker {
            for tid in Process::look(self.pid).threads.keys() {
                sys::confine(*tid, &[cpu])?;
            }
        } else if self.tid != 0 {
            sys::confine(self.tid, &[cpu])?;
        }
        Ok(())
    }
}

/// A process of a worker, at a moment or over a while.
pub struct ProcessSnapshot {
    /// Whose worker's it is: its place among the workers.
    pub worker: usize,
    /// What was seen.
    pub did: Process,
    pid: u32,
    seats: Vec<Seated>,
}

impl ProcessSnapshot {
    /// A process right now.
    pub fn now(worker: usize, pid: u32, seats: &[Seated]) -> Self {
        Self { worker, did: Process::look(pid), pid, seats: seats.to_vec() }
    }

    /// What it did from that moment until now.
    pub fn until_now(&self) -> Self {
        let did = Process::look(self.pid).since(&self.did);
        Self { worker: self.worker, did, pid: self.pid, seats: self.seats.clone() }
    }

    /// Its threads as rows of a trial.
    pub fn rows(&self) -> Vec<ThreadUse> {
        let here = || self.seats.iter().filter(|seat| seat.pid == self.pid);
        let process = here().map(|seat| seat.role).min();
        // A process without a seat is the worker's own beside one that it started.
        let first = self.seats.first().map(|seat| seat.role);
        let process = process.or(first).unwrap_or(Role::Caller);
        // Where one knows which end started a thread, that end takes the place of the process.
        let tells_ends_apart = here().any(|seat| !seat.helpers.is_empty());
        let rows = self.did.threads.iter().map(|(&tid, thread)| {
            let end = here().find(|seat| seat.has(tid));
            ThreadUse {
                process: end.filter(|_| tells_ends_apart).map_or(process, |seat| seat.role),
                seat: end.filter(|seat| seat.tid == tid).map(|seat| seat.role),
                name: thread.name.clone(),
                cpu_ns: thread.cpu_ns,
                voluntary: thread.voluntary,
                involuntary: thread.involuntary,
            }
        });
        rows.collect()
    }

    /// Minor and major page faults of an end: of the threads that are known to be its own, and
    /// of those that are nobody's if it is the first end of the process.
    fn faults(&self, seat: &Seated) -> (u64, u64) {
        let here = || self.seats.iter().filter(|other| other.pid == self.pid);
        let is_first = here().all(|other| other.role >= seat.role);
        let its = self.did.threads.iter().filter(|(tid, _)| {
            seat.has(**tid) || (is_first && !here().any(|other| other.has(**tid)))
        });
        its.fold((0, 0), |(minor, major), (_, thread)| {
            (minor + thread.minor_faults, major + thread.major_faults)
        })
    }
}

/// Adds to an end in Rust, which has counted its own thread, the page faults of its helpers.
pub fn add_helpers(end: &mut EndCounters, seat: &Seated, did: &[ProcessSnapshot]) {
    let Some(process) = did.iter().find(|process| process.pid == seat.pid) else { return };
    for thread in seat.helpers.iter().filter_map(|tid| process.did.threads.get(tid)) {
        end.minor_faults = end.minor_faults.saturating_add(thread.minor_faults);
        end.major_faults = end.major_faults.saturating_add(thread.major_faults);
    }
}

/// Fills in what the kernel counted of an end of another runtime. An end that is no
/// thread of its own is the whole process; where both ends are none, it is all on the
/// caller's account.
pub fn fill(end: &mut EndCounters, seat: &Seated, seats: &[Seated], did: &[ProcessSnapshot]) {
    let Some(process) = did.iter().find(|process| process.pid == seat.pid) else { return };
    let thread = if seat.tid > 0 {
        process.did.threads.get(&seat.tid).cloned().unwrap_or_default()
    } else if seats.iter().any(|other| other.pid == seat.pid && other.role < seat.role) {
        Thread { cpu: seat.cpu.unwrap_or(0), ..Thread::default() }
    } else {
        process.did.together(seat.pid)
    };
    end.thread_cpu_ns = thread.cpu_ns;
    end.run_delay_ns = thread.run_delay_ns;
    end.voluntary = thread.voluntary;
    end.involuntary = thread.involuntary;
    (end.minor_faults, end.major_faults) = process.faults(seat);
    end.cpu_after = thread.cpu;
    end.cpu_before = seat.cpu.unwrap_or(thread.cpu);
    let stayed = seat.cpu.is_none_or(|cpu| thread.allowed == cpu.to_string());
    end.pinned = stayed || (seat.tid == 0 && thread.allowed.is_empty());
}
