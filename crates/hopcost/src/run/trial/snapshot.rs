//! Ends and their processes seen from outside: where they are, and what they did in a phase, read from
//! /proc by their owner. A worker of another runtime does not have to count, and cannot lie.
//! (proc_pid_stat(5), proc_pid_status(5), Documentation/scheduler/sched-stats.rst)

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use hopcost_model::{Attached, EndCounters, Role, ThreadUse};
use hopcost_probe::{orphans, sys};

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
    pub fn take(&mut self, said: &Attached, worker: u32) -> Result<()> {
        let (pid, tid) = (said.pid.unwrap_or(worker), said.tid);
        let is_its_own = pid == worker || orphans::descendants(worker).contains(&pid);
        ensure!(is_its_own, "process {pid} is none of its own");
        let is_there = tid == 0 || Path::new(&format!("/proc/{pid}/task/{tid}")).exists();
        ensure!(is_there, "there is no thread {tid} in process {pid}");
        (self.pid, self.tid) = (pid, tid);
        Ok(())
    }

    /// Pins it: all threads of its process, or where that plays both ends its own thread.
    pub fn pin(&self, has_process: bool) -> std::io::Result<()> {
        match self.cpu {
            Some(cpu) if has_process => confine(self.pid, &[cpu]),
            Some(cpu) if self.tid != 0 => sys::confine(self.tid, &[cpu]),
            _ => Ok(()),
        }
    }
}

/// A process that a worker started and that is no end's, such as a broker.
#[derive(Debug, Clone)]
pub struct Other {
    pub pid: u32,
    /// Of its program.
    pub name: String,
}

impl Other {
    /// Those of a worker whose ends have attached.
    pub fn of(worker: u32, seats: &[Seated]) -> Vec<Self> {
        let mut all = orphans::descendants(worker);
        all.retain(|pid| seats.iter().all(|seat| seat.pid != *pid));
        let named = |pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            Some(Self { pid, name: name.trim_end().to_owned() })
        };
        all.into_iter().filter_map(named).collect()
    }
}

/// Confines every thread of a process to these CPUs; one that has ended needs no place.
pub fn confine(pid: u32, cpus: &[u32]) -> std::io::Result<()> {
    for tid in Process::look(pid).threads.keys() {
        let is_there = || Path::new(&format!("/proc/{pid}/task/{tid}")).exists();
        sys::confine(*tid, cpus).or_else(|error| if is_there() { Err(error) } else { Ok(()) })?;
    }
    Ok(())
}

/// A process of a worker, at a moment or over a while.
pub struct ProcessSnapshot {
    /// Whose worker's it is: its place among the workers.
    pub worker: usize,
    /// What was seen.
    pub did: Process,
    pid: u32,
    /// Its name, where it is no end's.
    other: Option<String>,
    seats: Vec<Seated>,
}

impl ProcessSnapshot {
    /// A process right now.
    pub fn now(worker: usize, pid: u32, seats: &[Seated], others: &[Other]) -> Self {
        let other = others.iter().find(|other| other.pid == pid).map(|other| other.name.clone());
        Self { worker, did: Process::look(pid), pid, other, seats: seats.to_vec() }
    }

    /// What it did from that moment until now.
    pub fn until_now(self) -> Self {
        Self { did: Process::look(self.pid).since(&self.did), ..self }
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
                other: self.other.clone(),
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

/// One thread at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thread {
    pub name: String,
    pub cpu_ns: u64,
    /// Time runnable but not running; absent where the kernel does not say.
    pub run_delay_ns: Option<u64>,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// Involuntary context switches.
    pub involuntary: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// The CPU it ran on last.
    pub cpu: u32,
    /// CPUs that it may run on, as the kernel lists them (`0-1`).
    pub allowed: String,
}

impl Thread {
    /// What it did since an earlier moment.
    pub fn since(&self, before: &Thread) -> Thread {
        let less = |now: u64, then: u64| now.saturating_sub(then);
        Thread {
            cpu_ns: less(self.cpu_ns, before.cpu_ns),
            run_delay_ns: self
                .run_delay_ns
                .zip(before.run_delay_ns)
                .map(|(now, then)| less(now, then)),
            voluntary: less(self.voluntary, before.voluntary),
            involuntary: less(self.involuntary, before.involuntary),
            minor_faults: less(self.minor_faults, before.minor_faults),
            major_faults: less(self.major_faults, before.major_faults),
            ..self.clone()
        }
    }
}

/// All threads of a process at one moment.
#[derive(Debug, Clone, Default)]
pub struct Process {
    /// CPU time of the process, threads that have ended included.
    pub cpu_ns: u64,
    /// Its threads by id.
    pub threads: BTreeMap<u32, Thread>,
}

impl Process {
    /// Looks at a process; one that is gone has no threads.
    pub fn look(pid: u32) -> Process {
        let mut threads = BTreeMap::new();
        if let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) {
            for task in tasks.flatten() {
                let id = task.file_name().to_str().and_then(|name| name.parse().ok());
                if let Some((id, thread)) = id.zip(look(task.path())) {
                    threads.insert(id, thread);
                }
            }
        }
        Process { cpu_ns: sys::process_cpu_ns(pid).unwrap_or(0), threads }
    }

    /// How long its threads were runnable and did not run until now; 0 where the kernel does not say.
    pub fn waited_ns(pid: u32) -> u64 {
        Self::look(pid).threads.values().filter_map(|thread| thread.run_delay_ns).sum()
    }

    /// What its threads did, page faults aside, as if it were one thread: the main one.
    pub fn together(&self, main: u32) -> Thread {
        let mut all = self.threads.get(&main).cloned().unwrap_or_default();
        for (_, thread) in self.threads.iter().filter(|(id, _)| **id != main) {
            all.cpu_ns += thread.cpu_ns;
            all.run_delay_ns = all.run_delay_ns.zip(thread.run_delay_ns).map(|(a, b)| a + b);
            all.voluntary += thread.voluntary;
            all.involuntary += thread.involuntary;
        }
        all
    }

    /// What each thread did since an earlier moment.
    pub fn since(&self, before: &Process) -> Process {
        let new = Thread::default();
        let threads = self
            .threads
            .iter()
            .map(|(id, thread)| (*id, thread.since(before.threads.get(id).unwrap_or(&new))));
        Process { cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns), threads: threads.collect() }
    }
}

fn look(task: PathBuf) -> Option<Thread> {
    let read = |file: &str| std::fs::read_to_string(task.join(file)).ok();
    parse(&read("stat")?, &read("status")?, read("schedstat").as_deref())
}

/// A thread from its three files.
fn parse(stat: &str, status: &str, schedstat: Option<&str>) -> Option<Thread> {
    // The name stands in parentheses and may hold any character.
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let name = stat.get(open + 1..close)?.to_owned();
    // The first field behind the name is number 3 of proc_pid_stat(5).
    let fields: Vec<&str> = stat.get(close + 2..)?.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let line = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim())
    };
    let mut times = schedstat.into_iter().flat_map(str::split_whitespace);
    let cpu_ns = times.next().and_then(|n| n.parse().ok());
    let run_delay_ns = times.next().and_then(|n| n.parse().ok());
    // Without schedstat, ticks of 10 ms (USER_HZ is 100 on every Linux that is left).
    let ticks_ns = || Some((field(14)? + field(15)?) * 10_000_000);
    Some(Thread {
        name,
        cpu_ns: cpu_ns.or_else(ticks_ns)?,
        run_delay_ns,
        voluntary: line("voluntary_ctxt_switches")?.parse().ok()?,
        involuntary: line("nonvoluntary_ctxt_switches")?.parse().ok()?,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        cpu: u32::try_from(field(39)?).ok()?,
        allowed: line("Cpus_allowed_list")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "4711 (a) b (c) S 1 4711 4711 0 -1 4194560 120 0 3 0 17 5 0 0 20 0 1 0 \
                        100 200 300 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 6 0 0 0 0 0";
    const STATUS: &str = "Name:\ta) b (c\nCpus_allowed_list:\t0-1\n\
                          voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";

    #[test]
    fn a_recorded_thread_reads_as_it_is() {
        let thread = parse(STAT, STATUS, Some("123456 789 15\n")).unwrap();
        assert_eq!(
            thread,
            Thread {
                name: "a) b (c".into(),
                cpu_ns: 123_456,
                run_delay_ns: Some(789),
                voluntary: 12,
                involuntary: 3,
                minor_faults: 120,
                major_faults: 3,
                cpu: 6,
                allowed: "0-1".into(),
            }
        );
        let coarse = parse(STAT, STATUS, None).unwrap();
        assert_eq!((coarse.cpu_ns, coarse.run_delay_ns), (220_000_000, None));
        assert_eq!(parse("4711 (x", STATUS, None), None);
    }
}
