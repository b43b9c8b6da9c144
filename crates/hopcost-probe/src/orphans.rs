//! Processes that a worker started and that outlive it, in a session of their own where
//! the signal to the worker's process group does not reach them.

use std::io;
use std::time::{Duration, Instant};

use crate::sys;

/// Where orphans of this process's descendants become its children (a child subreaper,
/// prctl(2)), so that they can be found and ended; ends them when dropped.
pub struct Orphans {
    /// Whether all children are of this process's own making.
    adopted: bool,
}

/// How long to go on ending what starts ever new processes.
const PATIENCE: Duration = Duration::from_secs(2);

impl Orphans {
    /// From now on. Not where this process has children already, as after `exec` in a
    /// shell: those are somebody else's.
    pub fn adopt() -> io::Result<Self> {
        let adopted = !has_children();
        if adopted {
            // SAFETY: prctl with integer arguments.
            sys::check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) })?;
        }
        Ok(Self { adopted })
    }

    /// Ends and reaps every child: call it where no worker is meant to live.
    pub fn end(&self) {
        let until = Instant::now() + PATIENCE;
        while self.adopted && has_children() && Instant::now() < until {
            for child in children() {
                // SAFETY: kill with integer arguments, to a child that nobody has reaped.
                unsafe { libc::kill(child as libc::pid_t, libc::SIGKILL) };
            }
            // SAFETY: no status is written.
            while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether this process has children, dead or alive.
fn has_children() -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the structure is plain data and valid for writing; nothing is reaped.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &mut info, options) == 0
    }
}

/// Processes whose parent this one is, by the fourth field of their stat (proc(5)).
fn children() -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| parent(pid) == Some(std::process::id())).collect()
}
