//! What the threads of a worker's processes have done, read from /proc by their
//! owner: a worker of another runtime does not have to count, and cannot lie.
//! (proc_pid_stat(5), proc_pid_status(5), Documentation/scheduler/sched-stats.rst)

use std::collections::BTreeMap;
use std::path::PathBuf;

use hopcost_probe::sys;

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

    /// How long its threads were runnable and did not run until now (the second number of
    /// schedstat); 0 where the kernel does not say.
    pub fn waited_ns(pid: u32) -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let waited = tasks.filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        waited.sum()
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

    #[test]
    fn this_process_has_worked() {
        let id = std::process::id();
        let before = Process::look(id);
        let mut sum = 0u64;
        while Process::look(id).cpu_ns < before.cpu_ns + 2_000_000 {
            sum = sum.wrapping_add(std::hint::black_box(1));
        }
        let did = Process::look(id).since(&before);
        assert!(did.cpu_ns >= 2_000_000 && !did.threads.is_empty());
        assert!(did.threads.contains_key(&id));
    }
}
