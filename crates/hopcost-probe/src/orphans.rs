//! Processes that a worker started and that outlive it, in a session of their own where
//! the signal to the worker's process group does not reach them.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{self, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::sys;

/// Where orphans of this process's descendants become its children (a child subreaper,
/// prctl(2)), so that they can be found and ended; ends them when dropped.
pub struct Orphans {
    /// Whether all children are of this process's own making.
    adopted: bool,
}

/// How long to go on ending what starts ever new processes.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same where an interrupt ends the process.
const PATIENCE_LAST: Duration = Duration::from_millis(150);

impl Orphans {
    /// From now on. Not where this process has children already, as after `exec` in a
    /// shell: those are somebody else's.
    pub fn adopt() -> Self {
        let own = Some(process::getpid());
        Self { adopted: !has_children() && process::set_child_subreaper(own).is_ok() }
    }

    /// Ends and reaps every child but those to be spared: call it where no other worker is
    /// meant to live.
    pub fn end(&self, spared: &[u32]) {
        if self.adopted {
            end_within(PATIENCE, spared);
        }
    }

    /// Ends every child where the process ends before this is dropped.
    pub fn ender(&self) -> impl FnOnce() + Send + use<> {
        let adopted = self.adopted;
        move || {
            if adopted {
                end_within(PATIENCE_LAST, &[]);
            }
        }
    }
}

fn end_within(patience: Duration, spared: &[u32]) {
    let until = Instant::now() + patience;
    while has_children() && Instant::now() < until {
        let own = children(std::process::id());
        let children = own.into_iter().filter(|child| !spared.contains(child));
        let children: Vec<u32> = children.collect();
        if children.is_empty() && !spared.is_empty() {
            return;
        }
        for child in children.into_iter().filter_map(|child| sys::pid(child).ok()) {
            let _ = process::kill_process(child, Signal::KILL);
            let _ = process::waitpid(Some(child), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        self.end(&[]);
    }
}

/// Has a program die with the thread that starts it, from its first instruction and whatever
/// program it is.
pub fn tie_to_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec the closure makes two system calls.
    unsafe { command.pre_exec(move || sys::die_with_parent(parent)) };
}

/// What a program of another runtime is started with: it outlives execve(2), so that no worker has to see
/// to it.
#[derive(Debug, Clone)]
pub struct Launch {
    /// It dies after this long.
    pub deadline_ms: u64,
    /// CPUs that all its threads are confined to; every one if empty.
    pub cpus: Vec<u32>,
    /// Priority of SCHED_FIFO.
    pub fifo: Option<u8>,
}

/// The largest file that a worker of another runtime may write, memory that memfd_create(2) made
/// included: more than the most samples that a phase may have.
const FILES: Rlimit = Rlimit { current: Some(128 << 20), maximum: Some(128 << 20) };

/// Starts a program like this.
pub fn launched(command: &mut Command, launch: Launch) {
    let prepare = move || {
        sys::arm_deadline(launch.deadline_ms)?;
        process::setrlimit(Resource::Fsize, FILES)?;
        if !launch.cpus.is_empty() {
            sys::confine(0, &launch.cpus)?;
        }
        launch.fifo.map_or(Ok(()), |priority| sys::set_scheduler(libc::SCHED_FIFO, priority))
    };
    // SAFETY: between fork and exec the closure makes system calls.
    unsafe { command.pre_exec(prepare) };
}

/// Has a program lead a session of its own, which has no terminal that it could ask on.
pub fn lead_session(command: &mut Command) {
    // SAFETY: between fork and exec the closure makes one system call.
    unsafe { command.pre_exec(|| Ok(process::setsid().map(drop)?)) };
}

/// Whether this process has children, dead or alive.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    process::waitid(WaitId::All, options).is_ok()
}

/// Processes that a process has started, and that those have.
pub fn descendants(of: u32) -> Vec<u32> {
    let mut found = children(of);
    let mut at = 0;
    while let Some(&next) = found.get(at) {
        found.extend(children(next));
        at += 1;
    }
    found
}

/// Processes whose parent this one is, as the kernel lists them for each of its threads; none where
/// it was built without CONFIG_PROC_CHILDREN (proc_pid_children(5)).
fn children(parent: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let listed =
        threads.filter_map(|one| std::fs::read_to_string(one.path().join("children")).ok());
    listed.collect::<String>().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
