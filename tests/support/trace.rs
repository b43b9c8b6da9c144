//! Counts the system calls of hopcost's workers by ptrace(2): no privileges
//! needed, and independent of everything that hopcost says.
//!
//! Only what happens within a phase counts: a seat calls getrusage right before
//! and right after it, and threads without a seat (a library's I/O threads) are
//! counted while a seat of their process is in its phase. Whether a thread has one is
//! known when its phase begins: what it did before that does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::Home;

/// System calls by number, threads included; of the first process, which is the control process, only
/// with [`Window::Everywhere`].
#[derive(Debug, Default, Clone)]
pub struct Counts {
    by_number: BTreeMap<u64, u64>,
    /// Those of futex(2) by operation, flags included.
    pub futexes: BTreeMap<u64, u64>,
    /// The most threads that a worker had.
    pub threads_max: usize,
}

impl Counts {
    /// All calls.
    pub fn total(&self) -> u64 {
        self.by_number.values().sum()
    }
    /// Calls of this number.
    pub fn of(&self, number: i64) -> u64 {
        self.by_number.get(&(number as u64)).copied().unwrap_or(0)
    }
    fn add(&mut self, other: &Self) {
        let both = [(&mut self.by_number, &other.by_number), (&mut self.futexes, &other.futexes)];
        for (own, others) in both {
            others.iter().for_each(|(what, n)| *own.entry(*what).or_default() += n);
        }
    }
    fn note(&mut self, call: Entered) {
        *self.by_number.entry(call.number).or_default() += 1;
        if call.number == libc::SYS_futex as u64 {
            *self.futexes.entry(call.second_argument).or_default() += 1;
        }
    }
}

fn ptrace(request: libc::c_uint, pid: i32, address: usize, data: usize) -> i64 {
    // SAFETY: only requests that take integers or a pointer to valid memory are made below.
    unsafe { libc::ptrace(request, pid, address as *mut c_void, data as *mut c_void) }
}

/// Which calls count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Those within a phase of hopcost's own worker.
    Phase,
    /// All of them, start and end included: for workers of other runtimes, of which
    /// the difference between two counts is taken.
    Lifetime,
    /// All of them, those of the control process too.
    Everywhere,
}

/// The system calls of a trial of so many operations, all of them one batch where there are batches.
pub fn of_trial(home: &Home, id: &str, operations: u64, window: Window) -> Counts {
    let operations = operations.to_string();
    let mut arguments = vec!["trial", id, "--count", &operations];
    if id.starts_with("roundtrip/") || id.starts_with("call/") {
        arguments.extend(["--batch", &operations]);
    }
    let (code, counts) = count(&mut home.hopcost(&arguments), window);
    assert_eq!(code, 0, "{id} under ptrace");
    counts
}

/// System calls of one operation of a trial, start and end left out: a trial of twice as many makes more.
pub fn of_operation(home: &Home, id: &str, operations: u64) -> f64 {
    let total = |operations| of_trial(home, id, operations, Window::Lifetime).total() as f64;
    (total(2 * operations) - total(operations)) / operations as f64
}

/// Runs a command to its end under ptrace and counts. Returns its exit code too.
pub fn count(command: &mut Command, window: Window) -> (i32, Counts) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
            // One stop a call, where PTRACE_SYSCALL has two. There is no tracer to be told of the first
            // program that is executed.
            let told = [libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRACE];
            super::filter(libc::SYS_execve, told)
        });
    }
    // Reaped below, by waitpid, as ptrace wants it.
    #[allow(clippy::zombie_processes)]
    let child = command.spawn().expect("the traced command starts");
    let _limit = super::wait::limit(format!("{command:?}"));
    let root = child.id() as i32;
    let mut counts = Counts::default();
    let mut groups: BTreeMap<i32, i32> = BTreeMap::new();
    let mut threads: BTreeMap<i32, BTreeSet<i32>> = BTreeMap::new();
    let mut seats: BTreeMap<i32, bool> = BTreeMap::new();
    let mut without_seat: BTreeMap<i32, Counts> = BTreeMap::new();
    let mut begun = false;
    loop {
        let mut status = 0;
        // SAFETY: `status` is valid for writing. __WNOTHREAD: other tests' children are not ours.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        assert!(pid > 0, "waitpid: {}", std::io::Error::last_os_error());
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            if pid == root {
                let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
                without_seat.values().for_each(|own| counts.add(own));
                return (code, counts);
            }
            if let Some(group) = groups.remove(&pid) {
                threads.entry(group).or_default().remove(&pid);
            }
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        if !begun {
            begun = true;
            let options = libc::PTRACE_O_TRACESECCOMP
                | libc::PTRACE_O_TRACEFORK
                | libc::PTRACE_O_TRACEVFORK
                | libc::PTRACE_O_TRACECLONE
                | libc::PTRACE_O_TRACEEXEC
                | libc::PTRACE_O_EXITKILL;
            ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options as usize);
        }
        let group = *groups.entry(pid).or_insert_with(|| group_of(pid));
        let members = threads.entry(group).or_default();
        members.insert(pid);
        if group != root {
            counts.threads_max = counts.threads_max.max(members.len());
        }
        let mut deliver = 0;
        if status >> 16 == libc::PTRACE_EVENT_SECCOMP {
            // No call where the thread has been killed in its stop.
            if (group != root || window == Window::Everywhere)
                && let Some(call) = entered(pid)
            {
                if window != Window::Phase {
                    counts.note(call);
                } else if call.number == libc::SYS_getrusage as u64 {
                    let within = seats.entry(pid).or_default();
                    *within = !*within;
                    without_seat.remove(&pid);
                } else if let Some(within) = seats.get(&pid) {
                    if *within {
                        counts.note(call);
                    }
                } else if members.iter().any(|thread| seats.get(thread) == Some(&true)) {
                    without_seat.entry(pid).or_default().note(call);
                }
            }
        } else if signal != libc::SIGTRAP && signal != libc::SIGSTOP {
            deliver = signal;
        }
        ptrace(libc::PTRACE_CONT, pid, 0, deliver as usize);
    }
}

/// A call that a thread is entering.
struct Entered {
    number: u64,
    second_argument: u64,
}

/// The call that a stopped thread is entering; `None` where SIGKILL has ended its stop (ESRCH in ptrace(2)).
fn entered(pid: i32) -> Option<Entered> {
    // struct ptrace_syscall_info: seccomp.nr (u64) at 24, its arguments behind it; ptrace(2).
    let mut info = [0u64; 16];
    let request = 0x420e; // PTRACE_GET_SYSCALL_INFO
    let read = ptrace(request, pid, size_of_val(&info), info.as_mut_ptr() as usize);
    let is_seccomp = info[0] as u8 == 3; // PTRACE_SYSCALL_INFO_SECCOMP
    (read > 0 && is_seccomp).then_some(Entered { number: info[3], second_argument: info[5] })
}

fn group_of(pid: i32) -> i32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:"))
        .and_then(|tgid| tgid.trim().parse().ok())
        .unwrap_or(pid)
}
