//! Lines in, lines out: bounded, so that neither side can make the other grow.

use std::io::{self, BufRead, Read, Write};

use hopcost_model::{Command, FailureCause, LINE_MAX, Reply};

use crate::sys::{self, ensure};

/// The next command on standard input, or `None` at the end of input.
pub fn next() -> io::Result<Option<Command>> {
    let mut line = Vec::new();
    io::stdin().lock().take(LINE_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    ensure!(line.len() <= LINE_MAX, "a command is longer than {LINE_MAX} bytes");
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    let command = serde_json::from_slice(&line).map(Some);
    command.map_err(|error| sys::failure(format!("not a command of the protocol: {error}")))
}

/// Writes one reply as one line to standard output.
pub fn reply(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Says why the trial is over, which may be that the other end is gone, and ends the process, from
/// whichever thread.
pub fn give_up(error: &io::Error) -> ! {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
    let gone = [BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof];
    let cause = gone.contains(&error.kind()).then_some(FailureCause::PartnerGone);
    let _ = reply(&Reply::Failed { reason: error.to_string().replace('\n', " "), cause });
    // SAFETY: no arguments that could be invalid; skips destructors on purpose,
    // because the other seat's thread may be in the middle of its loop.
    unsafe { libc::_exit(1) }
}
