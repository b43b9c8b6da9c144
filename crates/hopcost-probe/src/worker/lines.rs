//! Lines in, lines out: bounded, so that neither side can make the other grow.

use std::io::{self, BufRead, Read, Write};

use hopcost_model::{FailureCause, LINE_MAX, Reply};

use crate::sys;

/// The next line of standard input without its end, or `None` at the end of input.
pub fn next() -> io::Result<Option<String>> {
    let mut line = Vec::new();
    io::stdin().lock().take(LINE_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    if line.len() > LINE_MAX {
        return Err(sys::failure(format!("a command is longer than {LINE_MAX} bytes")));
    }
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    let text = String::from_utf8(line).map_err(|_| sys::failure("a command is not UTF-8"))?;
    Ok(Some(text.trim_end().to_owned()))
}

/// Writes one reply as one line to standard output.
pub fn reply(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Says why the trial is over and ends the process, from whichever thread.
pub fn give_up(reason: &str) -> ! {
    end(reason, None)
}

/// The same after an error, which may be that the other end is gone.
pub fn give_up_after(error: &io::Error) -> ! {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
    let gone = [BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof];
    end(&error.to_string(), gone.contains(&error.kind()).then_some(FailureCause::PartnerGone))
}

fn end(reason: &str, cause: Option<FailureCause>) -> ! {
    let _ = reply(&Reply::Failed { reason: reason.replace('\n', " "), cause });
    // SAFETY: no arguments that could be invalid; skips destructors on purpose,
    // because the other seat's thread may be in the middle of its loop.
    unsafe { libc::_exit(1) }
}
