//! A worker process seen from the control plane: spawned, spoken to, waited
//! for with a deadline, killed and reaped. No threads, no unsafe code.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hopcost_model::{Command, FailureCause, LINE_MAX, Reply};
use hopcost_probe::interrupt;
use hopcost_probe::orphans::{Launch, launched, lead_session, tie_to_parent};
use hopcost_probe::sys::{self, Doing};
use serde_json::Value;

/// Which program to run as a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path; also what `ps` shows.
    pub path: PathBuf,
    pub arguments: Vec<String>,
    /// The directory to run it in; this process's if absent.
    pub directory: Option<PathBuf>,
}

impl Program {
    /// This very binary.
    pub fn own() -> io::Result<Self> {
        let path = std::env::current_exe()?;
        Ok(Self { path, arguments: vec!["worker".into()], directory: None })
    }

    /// Starts it in a process group of its own. It inherits these descriptors, which are to be open until then.
    fn command(&self, inherited: &[OwnedFd], padding: usize) -> io::Result<Process> {
        inherited.iter().try_for_each(sys::keep_over_exec)?;
        let mut command = Process::new(&self.path);
        command.args(&self.arguments).process_group(0);
        command.env("HOPCOST_PADDING", "x".repeat(padding));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }
}

/// How long a worker may take to end that was killed.
const KILLED_WITHIN: Duration = Duration::from_millis(500);

/// No number that a worker counts takes 2^62, and the run file holds no more than 2^63.
const NUMBER_MAX: f64 = (1u64 << 62) as f64;

/// Characters of a worker's reason that are kept.
const REASON_MAX: usize = 400;

/// Lines that a shell on the way to a far worker may print before that worker's first reply.
const BANNER_LINES_MAX: usize = 64;
/// How long a far worker may take to end at the end of its input, before its command is killed.
const FAREWELL: Duration = Duration::from_millis(300);

/// Where a conversation with workers is written down.
pub type Transcript = Rc<RefCell<String>>;

/// A running worker.
pub struct Worker {
    child: Child,
    stream: UnixStream,
    received: Vec<u8>,
    /// Whether it had said something that nobody had asked for when it was asked.
    said_unasked: bool,
    /// Lines that may still come before its first reply.
    banner_lines: usize,
    /// How long it may take to end by itself.
    farewell: Duration,
    diagnostics: File,
    transcript: Option<(&'static str, Transcript)>,
    status: Option<ExitStatus>,
    killed: bool,
}

/// Why there is no reply.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ReplyError {
    /// The worker closed its output and said nothing.
    #[error("it closed its output")]
    Closed,
    /// It answered that the other end of its link is gone, in these words.
    #[error("{0}")]
    PartnerClosed(String),
    /// It answered that it failed, for this reason.
    #[error("{0}")]
    Said(String),
    /// What it sent is no reply, or it could not be waited for.
    #[error("{0}")]
    Implausible(String),
    /// The deadline passed.
    #[error("no answer within its deadline")]
    Deadline,
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl ReplyError {
    /// Whether the worker itself answered that it cannot go on.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Said(_) | Self::PartnerClosed(_))
    }
}

impl Worker {
    /// Starts a worker in a process group of its own that inherits `inherited`
    /// (which are closed here) and nothing else, and dies with this process. Layout is part of a trial's
    /// chance: the environment is padded by `padding` bytes.
    pub fn spawn(program: &Program, inherited: Vec<OwnedFd>, padding: usize) -> io::Result<Self> {
        Self::start(program.command(&inherited, padding)?)
    }

    /// Starts the worker of a far host by a command for the shell, in a session of its own: ssh has
    /// no terminal there on which it could ask for a password.
    pub fn of_far_host(line: &str) -> io::Result<Self> {
        let mut command = Process::new("/bin/sh");
        command.args(["-c", line]).env("SSH_ASKPASS_REQUIRE", "never");
        lead_session(&mut command);
        let mut worker = Self::start(command)?;
        (worker.banner_lines, worker.farewell) = (BANNER_LINES_MAX, FAREWELL);
        Ok(worker)
    }

    fn start(mut command: Process) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        let diagnostics = File::from(sys::memfd("hopcost-stderr", 0)?);
        tie_to_parent(&mut command);
        let child = command
            .stdin(Stdio::from(OwnedFd::from(theirs.try_clone()?)))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::from(diagnostics.try_clone()?))
            .spawn()
            .doing(format_args!("starting {}", command.get_program().display()))?;
        Ok(Self {
            child,
            stream,
            received: Vec::new(),
            said_unasked: false,
            banner_lines: 0,
            farewell: Duration::ZERO,
            diagnostics,
            transcript: None,
            status: None,
            killed: false,
        })
    }

    /// Starts a worker of another runtime.
    pub fn launch(
        program: &Program,
        launch: Launch,
        inherited: Vec<OwnedFd>,
        padding: usize,
    ) -> io::Result<Self> {
        let mut command = program.command(&inherited, padding)?;
        let is_fifo = launch.fifo.is_some();
        launched(&mut command, launch);
        Self::start(command).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied if is_fifo => sys::context(error, sys::FIFO_NEEDS),
            _ => error,
        })
    }

    /// From now on, keeps a transcript of its commands and answers.
    pub fn write_down(&mut self, name: &'static str, transcript: &Transcript) {
        self.transcript = Some((name, transcript.clone()));
    }

    fn note(&self, arrow: char, line: &[u8]) {
        if let Some((name, transcript)) = &self.transcript {
            let line = String::from_utf8_lossy(line);
            transcript.borrow_mut().push_str(&format!("{name} {arrow} {}\n", line.trim_end()));
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command. A worker that does not read it is found out by the reply that does
    /// not come.
    pub fn send(&mut self, command: &Command) {
        let _ = self.receive();
        self.said_unasked = self.banner_lines == 0 && !self.received.is_empty();
        if let Ok(line) = serde_json::to_string(command) {
            self.note('\u{2192}', line.as_bytes());
            self.send_line(&line);
        }
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &str) {
        let _ = self.stream.write_all(format!("{line}\n").as_bytes());
    }

    /// Says that no further command will come.
    pub fn close_input(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Whether it had to be killed.
    pub fn was_killed(&self) -> bool {
        self.killed
    }

    /// Sends a command and waits for the reply.
    pub fn ask(&mut self, command: &Command, deadline: Instant) -> Result<Reply, ReplyError> {
        self.send(command);
        self.reply(deadline)
    }

    /// Waits for one reply until `deadline`.
    pub fn reply(&mut self, deadline: Instant) -> Result<Reply, ReplyError> {
        self.reply_unless(interrupt::event(), deadline)
    }

    /// The same, or until a descriptor is readable that stands for an interrupt.
    pub fn reply_unless(&mut self, event: RawFd, deadline: Instant) -> Result<Reply, ReplyError> {
        let mut replies = replies(&mut [self], deadline, event).map_err(|(_, error)| error)?;
        replies.pop().ok_or(ReplyError::Closed)
    }

    /// A complete reply among what was received so far.
    fn take_reply(&mut self) -> Result<Option<Reply>, ReplyError> {
        if self.said_unasked {
            return Err(ReplyError::Implausible("it answered more than it was asked".to_owned()));
        }
        let end = self.received.iter().position(|&b| b == b'\n');
        if end.unwrap_or(self.received.len()) > LINE_MAX {
            let said = format!("it sent a line of more than {LINE_MAX} bytes");
            return Err(ReplyError::Implausible(said));
        }
        let Some(end) = end else { return Ok(None) };
        let line: Vec<u8> = self.received.drain(..=end).collect();
        self.note('\u{2190}', &line);
        let said = serde_json::from_slice::<Value>(&line);
        if let Some(number) = said.as_ref().ok().map(largest).filter(|most| *most >= NUMBER_MAX) {
            let why = format!("it reported {number}, which is impossible");
            return Err(ReplyError::Implausible(why));
        }
        match said.and_then(serde_json::from_value) {
            Ok(Reply::Failed { reason, cause }) => {
                // It is to be one line, and to be read.
                let reason = reason.chars().take(REASON_MAX).collect();
                Err(match cause {
                    Some(FailureCause::PartnerGone) => ReplyError::PartnerClosed(reason),
                    None => ReplyError::Said(reason),
                })
            }
            Ok(reply) => {
                self.banner_lines = 0;
                Ok(Some(reply))
            }
            Err(_) if self.banner_lines > 0 => {
                self.banner_lines -= 1;
                self.take_reply()
            }
            Err(error) => {
                let line = String::from_utf8_lossy(&line);
                let shown: String = line.trim_end().chars().take(80).collect();
                let shown = shown.escape_debug();
                let why = format!("it sent `{shown}`, which is no reply ({error})");
                Err(ReplyError::Implausible(why))
            }
        }
    }

    /// Takes in what has arrived; an error means that the worker is gone.
    fn receive(&mut self) -> Result<(), ReplyError> {
        let mut chunk = [0; 4096];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ReplyError::Closed),
                Ok(n) => {
                    self.received.extend_from_slice(&chunk[..n]);
                    if self.received.len() > 2 * LINE_MAX {
                        // A flood: let take_reply say so.
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(ReplyError::Closed),
            }
        }
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_none()
    }

    /// Kills its process group and takes its exit status, which one in the middle of a slow
    /// system call still owes.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && !self.farewell.is_zero() {
            self.close_input();
            self.wait(self.farewell);
        }
        if self.status.is_none() {
            sys::kill_group(self.child.id());
            self.wait(KILLED_WITHIN);
            self.killed = true;
        }
        self.status
    }

    /// Waits at most so long for it to end.
    fn wait(&mut self, patience: Duration) {
        interrupt::stall("wait");
        let until = Instant::now() + patience;
        while self.is_alive() && Instant::now() < until {
            // Its closing the stream says that it is about to be gone.
            let look = until.min(Instant::now() + Duration::from_millis(2));
            let _ = interrupt::poll_readable(&[self.stream.as_raw_fd()], look);
        }
    }

    /// Waits a moment for it to end by itself, then sees to it.
    pub fn leave(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.wait(patience);
        if self.status.is_some() {
            // It may have left processes of its own in its group.
            sys::kill_group(self.child.id());
        }
        self.end()
    }

    /// How it ended, in words, with the last line it wrote to standard error.
    pub fn epitaph(&mut self) -> String {
        // What one that was killed ended with is our own doing.
        let how = match self.status.filter(|_| !self.killed) {
            None => "closed its output without a reply".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(0), _) => "left without a word".to_owned(),
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
        };
        let said = self.last_line().map(|line| format!(" (it said: {line})"));
        how + &said.unwrap_or_default()
    }

    /// The last line that it wrote to standard error.
    pub fn last_line(&self) -> Option<String> {
        let mut tail = [0; 2048];
        let end = self.diagnostics.metadata().ok()?.len();
        let n = self.diagnostics.read_at(&mut tail, end.saturating_sub(2048)).ok()?;
        let tail = String::from_utf8_lossy(&tail[..n]);
        let last = tail.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let line: String = last.chars().take(160).collect();
        Some(line.escape_debug().to_string())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// The largest number in a reply, whatever its sign.
fn largest(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().map_or(f64::INFINITY, f64::abs),
        Value::Array(all) => all.iter().map(largest).fold(0.0, f64::max),
        Value::Object(all) => all.values().map(largest).fold(0.0, f64::max),
        Value::Null | Value::Bool(_) | Value::String(_) => 0.0,
    }
}

/// Waits for one reply from each of `workers` until `deadline`, asleep in one
/// wait, or until `event` is readable. The first failure ends the waiting: its worker's index comes
/// with it.
pub fn replies(
    workers: &mut [&mut Worker],
    deadline: Instant,
    event: RawFd,
) -> Result<Vec<Reply>, (usize, ReplyError)> {
    let mut replies: Vec<Option<Reply>> = workers.iter().map(|_| None).collect();
    loop {
        for (at, worker) in workers.iter_mut().enumerate() {
            if replies[at].is_none() {
                replies[at] = worker.take_reply().map_err(|error| (at, error))?;
            }
        }
        // A worker that is asked before the rest of a run is set up.
        if interrupt::came() {
            return Err((0, ReplyError::Interrupted));
        }
        let waiting: Vec<usize> = (0..workers.len()).filter(|&at| replies[at].is_none()).collect();
        if waiting.is_empty() {
            return Ok(replies.into_iter().flatten().collect());
        }
        if Instant::now() >= deadline {
            return Err((waiting[0], ReplyError::Deadline));
        }
        let awaited = |at: &usize| interrupt::awaited("reply", &workers[*at].stream);
        let mut fds: Vec<_> = waiting.iter().map(awaited).collect();
        fds.push(event);
        let ready = interrupt::poll_readable(&fds, deadline).map_err(|e| {
            (waiting[0], ReplyError::Implausible(format!("waiting for it failed: {e}")))
        })?;
        if ready.last() == Some(&true) {
            return Err((waiting[0], ReplyError::Interrupted));
        }
        for (&at, _) in waiting.iter().zip(&ready).filter(|&(_, &ready)| ready) {
            workers[at].receive().or_else(|error| {
                // What it sent before it went may still hold the reply.
                if workers[at].received.contains(&b'\n') { Ok(()) } else { Err((at, error)) }
            })?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(reason: &str) -> Worker {
        let line = format!(r#"echo '{{"is":"failed","reason":"{reason}"}}'"#);
        let arguments = vec!["-c".to_owned(), line];
        let program = Program { path: "/bin/sh".into(), arguments, directory: None };
        let mut worker = Worker::spawn(&program, Vec::new(), 0).unwrap();
        worker.child.wait().unwrap();
        worker
    }

    #[test]
    fn of_two_that_fail_at_once_both_reasons_are_heard() {
        let until = Instant::now() + Duration::from_secs(5);
        let mut workers = [says("Connection refused"), says("a message of 3 bytes came")];
        // Both have arrived before either is looked at.
        for worker in &mut workers {
            let _ = worker.receive();
        }
        let Err((0, ReplyError::Said(first))) = replies(&mut workers.each_mut(), until, -1) else {
            panic!("the first one failed");
        };
        assert_eq!(first, "Connection refused");
        let Err(ReplyError::Said(second)) = workers[1].reply(until) else {
            panic!("the second one failed too");
        };
        assert_eq!(second, "a message of 3 bytes came");
    }
}
