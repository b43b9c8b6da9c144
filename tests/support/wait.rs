//! What a test waits for comes in time, or is killed, so that the test fails. The programs that it starts
//! act on every signal, even where the tests were started in the background.

use std::io;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long a test waits for anything: longer than any program that it starts takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs before `main`: a shell without job control has its background ignore SIGINT and SIGQUIT,
/// nohup(1) SIGHUP, and what a test starts would inherit that.
#[used]
// SAFETY: the loader calls what stands in this section once, with one thread running.
#[unsafe(link_section = ".init_array")]
static ACT_ON_SIGNALS: extern "C" fn() = {
    extern "C" fn act() {
        for signal in 1..32 {
            // SAFETY: sets the default action of a signal; SIGKILL and SIGSTOP keep theirs.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
    act
};

/// Programs that end in time.
pub trait InTime: Sized {
    /// Starts it if need be, waits for its end and takes what it printed; an error is that it did not start.
    fn try_finish(self) -> io::Result<Output>;
    /// The same of one that starts.
    fn finish(self) -> Output {
        self.try_finish().expect("the program starts")
    }
}

impl InTime for &mut Command {
    fn try_finish(self) -> io::Result<Output> {
        let _limit = limit(format!("{self:?}"));
        loop {
            match self.output() {
                // A child that another test has just forked still holds a fresh copy open for writing.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                output => return output,
            }
        }
    }
}

impl InTime for Child {
    fn try_finish(self) -> io::Result<Output> {
        let line = std::fs::read_to_string(format!("/proc/{}/cmdline", self.id()));
        let _limit = limit(line.unwrap_or_default().replace('\0', " "));
        self.wait_with_output()
    }
}

/// Waits for the end of a child that is held by reference.
pub fn reap(child: &mut Child) -> ExitStatus {
    let _limit = limit(format!("process {}", child.id()));
    child.wait().expect("our child")
}

/// A process that is killed when it is dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        reap(&mut self.0);
    }
}

/// Kills what this thread has started and what is still there when this wait is over, unless what it
/// returns is dropped before.
pub fn limit(what: String) -> mpsc::Sender<()> {
    let (over, ended) = mpsc::channel();
    let children = format!("/proc/self/task/{}/children", hopcost_probe::sys::thread_id());
    std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("not within {PATIENCE:?}: the end of {what}");
            let children = std::fs::read_to_string(children).unwrap_or_default();
            for pid in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
                // SAFETY: kill with integer arguments, to a process that this test started.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
            let still = ended.recv_timeout(Duration::from_secs(60));
            still.is_err_and(|error| error == RecvTimeoutError::Timeout).then(std::process::abort);
        }
    });
    over
}
