//! What a test waits for comes in time, or the test fails and names it. The programs that it starts
//! act on every signal, even where the tests were started in the background.

use std::io;
use std::panic::resume_unwind;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

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

/// Does this beside the test, with a deadline after which `give_up` has the id of the thread that works.
fn in_time<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
    give_up: impl FnMut(u32),
) -> T {
    let ((began, begun), (done, over)) = (mpsc::channel(), mpsc::channel());
    let thread = std::thread::spawn(move || {
        let _ = began.send(hopcost_probe::sys::thread_id());
        let _ = done.send(work());
    });
    match over.recv_timeout(PATIENCE) {
        Ok(value) => value,
        Err(RecvTimeoutError::Disconnected) => resume_unwind(thread.join().expect_err("a panic")),
        Err(RecvTimeoutError::Timeout) => {
            begun.into_iter().take(1).for_each(give_up);
            panic!("not within {PATIENCE:?}: {what}")
        }
    }
}

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
        let what = format!("the end of {self:?}");
        let mut command = std::mem::replace(self, Command::new("true"));
        let work = move || loop {
            match command.output() {
                // A child that another test has just forked still holds a fresh copy open for writing.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                output => return (output, command),
            }
        };
        let (output, command) = in_time(&what, work, |thread| {
            let children = format!("/proc/self/task/{thread}/children");
            let children = std::fs::read_to_string(children).unwrap_or_default();
            children.split_whitespace().filter_map(|pid| pid.parse().ok()).for_each(kill);
        });
        *self = command;
        output
    }
}

impl InTime for Child {
    fn try_finish(self) -> io::Result<Output> {
        let pid = self.id();
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let what = format!("the end of {}", line.replace('\0', " "));
        in_time(&what, || self.wait_with_output(), |_| kill(pid))
    }
}

/// Waits for the end of a child that is held by reference; kills one that stays.
pub fn reap(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait().expect("our child") {
            Some(status) => return status,
            None if Instant::now() > until => {
                kill(child.id());
                panic!("not within {PATIENCE:?}: the end of process {}", child.id());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// A process that is killed when it is dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        reap(&mut self.0);
    }
}

/// Kills a process that is still there when this wait is over, unless what it returns is dropped before.
pub fn limit(pid: u32) -> mpsc::Sender<()> {
    let (over, ended) = mpsc::channel();
    std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("not within {PATIENCE:?}: the end of process {pid}");
            kill(pid);
        }
    });
    over
}

fn kill(pid: u32) {
    // SAFETY: kill with integer arguments, to a process that this test started.
    unsafe { libc::kill(pid as i32, libc::SIGKILL) };
}
