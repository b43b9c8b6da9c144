//! A worker process seen from the control plane: spawned, spoken to, waited
//! for with a deadline, killed and reaped. No threads, no unsafe code.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use hopcost_model::protocol::{Command, LINE_MAX, Reply};
use hopcost_probe::sys::{self, Inherited};

/// Which program to run as a worker.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its path; also what `ps` shows.
    pub path: std::path::PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// This very binary.
    pub fn own() -> io::Result<Self> {
        Ok(Self { path: std::env::current_exe()?, arguments: vec!["worker".into()] })
    }
}

/// A running worker.
pub struct Worker {
    child: Child,
    stream: UnixStream,
    received: Vec<u8>,
    diagnostics: File,
    status: Option<ExitStatus>,
    killed: bool,
}

/// Why no reply came.
#[derive(Debug)]
pub enum Silence {
    /// The deadline passed.
    Deadline,
    /// The user interrupted.
    Interrupted,
    /// The worker's end is closed, or it sent what is no reply.
    Broken(String),
}

impl Worker {
    /// Starts a worker in a process group of its own that inherits `inherited`
    /// (which are closed here) and nothing else. Layout is part of a trial's
    /// chance: the environment is padded by `padding` bytes.
    pub fn spawn(program: &Program, inherited: Vec<OwnedFd>, padding: usize) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        let diagnostics = File::from(sys::memfd("hopcost-stderr", 0)?);
        for fd in &inherited {
            sys::set_inherited(fd, Inherited::Yes)?;
        }
        let child = Process::new(&program.path)
            .args(&program.arguments)
            .env("HOPCOST_PADDING", "x".repeat(padding))
            .stdin(Stdio::from(OwnedFd::from(theirs.try_clone()?)))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::from(diagnostics.try_clone()?))
            .process_group(0)
            .spawn()
            .map_err(|e| sys::context(e, &format!("starting {}", program.path.display())))?;
        Ok(Self { child, stream, received: Vec::new(), diagnostics, status: None, killed: false })
    }

    /// Sends a command. A worker that does not read is found out by the reply
    /// that does not come.
    pub fn send(&mut self, command: &Command) -> Result<(), Silence> {
        let mut line =
            serde_json::to_vec(command).map_err(|e| Silence::Broken(format!("a command: {e}")))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|_| Silence::Broken("it takes no commands".into()))
    }

    /// A complete reply among what was received so far.
    fn take_reply(&mut self) -> Result<Option<Reply>, Silence> {
        let Some(end) = self.received.iter().position(|&b| b == b'\n') else {
            if self.received.len() > LINE_MAX {
                return Err(Silence::Broken(format!(
                    "it sent a line of more than {LINE_MAX} bytes"
                )));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.received.drain(..=end).collect();
        serde_json::from_slice(&line).map(Some).map_err(|error| {
            let shown: String =
                String::from_utf8_lossy(&line).trim_end().chars().take(80).collect();
            Silence::Broken(format!(
                "it sent `{}`, which is no reply ({error})",
                shown.escape_debug()
            ))
        })
    }

    /// Takes in what has arrived; an error means that the worker is gone.
    fn receive(&mut self) -> Result<(), Silence> {
        let mut chunk = [0; 4096];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(Silence::Broken("it closed its output".into())),
                Ok(n) => {
                    self.received.extend_from_slice(&chunk[..n]);
                    if self.received.len() > 2 * LINE_MAX {
                        // A flood: let take_reply say so.
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Silence::Broken("it closed its output".into())),
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

    /// Kills its process group and takes its exit status.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            sys::kill_group(self.child.id());
            self.status = self.child.wait().ok();
            self.killed = true;
        }
        self.status
    }

    /// Waits a moment for it to end by itself, then sees to it.
    pub fn leave(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        while self.status.is_none() && Instant::now() < until {
            match self.child.try_wait() {
                Ok(None) => {
                    // Its closing the stream says that it is about to be gone.
                    let left = until.saturating_duration_since(Instant::now()).as_millis() as i32;
                    let _ = sys::poll_readable(&[self.stream.as_raw_fd()], left.min(2));
                }
                Ok(status) => self.status = status,
                Err(_) => break,
            }
        }
        match self.status {
            None => self.end(),
            Some(_) => {
                // It may have left processes of its own in its group.
                sys::kill_group(self.child.id());
                self.status
            }
        }
    }

    /// How it ended, in words, with the last line it wrote to standard error.
    pub fn epitaph(&mut self) -> String {
        let how = match self.status {
            // What it ended with is our own doing then.
            None => "closed its output without a reply".to_owned(),
            Some(_) if self.killed => "closed its output without a reply".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(0), _) => "left without a word".to_owned(),
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
        };
        let mut tail = String::new();
        let _ = self.diagnostics.seek(SeekFrom::End(0)).and_then(|end| {
            self.diagnostics.seek(SeekFrom::Start(end.saturating_sub(2048)))?;
            let mut bytes = Vec::new();
            Read::by_ref(&mut self.diagnostics).take(2048).read_to_end(&mut bytes)?;
            tail = String::from_utf8_lossy(&bytes).into_owned();
            Ok(())
        });
        match tail.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => {
                let line: String = line.trim().chars().take(160).collect();
                format!("{how} (it said: {})", line.escape_debug())
            }
            None => how,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for one reply from each of `workers` until `deadline`, asleep in one
/// wait. The first failure ends the waiting: its worker's index comes with it.
pub fn replies(
    workers: &mut [Worker],
    deadline: Instant,
    interrupt: &OwnedFd,
) -> Result<Vec<Reply>, (usize, Silence)> {
    let mut replies: Vec<Option<Reply>> = workers.iter().map(|_| None).collect();
    loop {
        for (at, worker) in workers.iter_mut().enumerate() {
            if replies[at].is_none() {
                replies[at] = worker.take_reply().map_err(|silence| (at, silence))?;
            }
        }
        if let Some(at) = replies.iter().position(|r| matches!(r, Some(Reply::Failed { .. }))) {
            let Some(Reply::Failed { reason }) = replies[at].take() else { continue };
            return Err((at, Silence::Broken(reason)));
        }
        let waiting: Vec<usize> = (0..workers.len()).filter(|&at| replies[at].is_none()).collect();
        if waiting.is_empty() {
            return Ok(replies.into_iter().flatten().collect());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err((waiting[0], Silence::Deadline));
        }
        let mut fds: Vec<_> = waiting.iter().map(|&at| workers[at].stream.as_raw_fd()).collect();
        fds.push(interrupt.as_raw_fd());
        let timeout_ms = left.as_millis().min(60_000) as i32 + 1;
        let ready = sys::poll_readable(&fds, timeout_ms)
            .map_err(|error| (waiting[0], Silence::Broken(format!("waiting failed: {error}"))))?;
        if ready.last() == Some(&true) {
            return Err((waiting[0], Silence::Interrupted));
        }
        for (&at, _) in waiting.iter().zip(&ready).filter(|&(_, &ready)| ready) {
            workers[at].receive().or_else(|silence| {
                // What it sent before it went may still hold the reply.
                if workers[at].received.contains(&b'\n') { Ok(()) } else { Err((at, silence)) }
            })?;
        }
    }
}
