//! Lines in, lines out: bounded, so that neither side can make the other grow.

use std::io::{self, Read, Write};

use hopcost_model::protocol::{FailureCause, LINE_MAX, Reply};

/// Reads lines from standard input.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Over a reader that need not be buffered.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new() }
    }

    /// The next line without its end, or `None` at the end of input.
    pub fn next_line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&b| b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let text = String::from_utf8(line)
                    .map_err(|_| crate::sys::failure("a command is not UTF-8"))?;
                return Ok(Some(text.trim_end().to_owned()));
            }
            if self.buffer.len() > LINE_MAX {
                return Err(crate::sys::failure(format!(
                    "a command is longer than {LINE_MAX} bytes"
                )));
            }
            let mut chunk = [0; 4096];
            match self.input.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.buffer.extend_from_slice(&chunk[..n]),
                // A timer by which an end notices lost messages.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
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
