//! What the two hosts say to each other: the proof of the key, and a question and its answer, a JSON
//! object a line each.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hopcost_model::host::Host;
use hopcost_model::protocol::{ClockReading, LINE_MAX};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::key::{self, Key};
use hopcost_probe::sys;

/// Spoken version; another one is refused.
pub const VERSION: u32 = 1;

/// How long the proof may take, and each answer that needs no measuring.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a line of the proof at most: two hexadecimal words of 64 digits and a word.
const PROOF_LINE_MAX: usize = 160;

/// What the near end asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Ask {
    /// Who are you?
    Hello {
        /// The run that asks; a far end that measures for another is busy.
        run: String,
        /// The CPU of its end; one of its own choice where none is named.
        cpu: Option<u32>,
    },
    /// Play the callee of a trial.
    Trial(TrialAsk),
    /// The run is over.
    Bye {
        /// Which.
        run: String,
    },
}

impl Ask {
    /// The run that asks.
    pub fn run(&self) -> &str {
        match self {
            Self::Hello { run, .. } | Self::Bye { run } => run,
            Self::Trial(trial) => &trial.run,
        }
    }
}

/// The trial that a far end is to play the callee of.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrialAsk {
    /// The run that it belongs to.
    pub run: String,
    /// The case's canonical spelling.
    pub case: String,
    /// How long it may take.
    pub deadline_ms: u64,
    /// Ticks of the near end's clock in a second: what the far end's stamps are told in.
    pub ticks_per_second: f64,
}

/// What the far end answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Answer {
    /// To `hello`.
    Hello(Box<FarHost>),
    /// To `trial`: connections with this token are expected, or datagrams with it on this port.
    Expecting {
        /// What shows that a connection is for this trial.
        token: String,
        /// Where a datagram socket is bound, if the mechanism is of datagrams.
        udp_port: Option<u16>,
    },
    /// All that was expected has come; the worker protocol follows.
    Ready,
    /// To `bye`.
    Bye,
    /// It measures for another run.
    Busy {
        /// Which, and until when at most.
        reason: String,
    },
    /// It will not, or cannot.
    Refused {
        /// Why.
        reason: String,
    },
}

/// The far host, as it tells of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FarHost {
    /// Version of the worker protocol.
    pub protocol: u32,
    /// hopcost's version.
    pub version: String,
    /// Its source revision.
    pub commit: String,
    /// A checksum of its binary.
    pub checksum: Option<String>,
    /// Its mechanisms: name, revision, and why it is not available there.
    pub mechanisms: Vec<(String, u32, Option<String>)>,
    /// CPUs that it may use.
    pub cpus: Vec<u32>,
    /// That of its end.
    pub cpu: u32,
    /// The clock of that CPU.
    pub clock: ClockReading,
    /// Its fingerprint.
    pub host: Host,
}

/// The near end proves that it knows the key, and sees that the far end does.
pub fn prove_near(stream: &mut TcpStream, key: &Key) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    let far = greeting(stream, until)?;
    let near = key::nonce()?;
    let proof = key.proof(&["near", &far, &near]);
    stream.write_all(format!("control {near} {proof}\n").as_bytes())?;
    let line = proof_line(stream, until)?;
    match line.strip_prefix("welcome ") {
        Some(proof) if key.proves(&["far", &near, &far], proof) => {
            stream.set_read_timeout(None)?;
            Ok(())
        }
        Some(_) => Err(sys::failure("it does not know the key")),
        None => Err(sys::failure("it does not accept the key")),
    }
}

/// Connects what an end will use: the token is all that it sends.
pub fn show_token(stream: &mut TcpStream, token: &str, flow: u32) -> io::Result<()> {
    greeting(stream, Instant::now() + PATIENCE)?;
    stream.write_all(format!("data {token} {flow}\n").as_bytes())?;
    stream.set_read_timeout(None)
}

/// The far end's first line, which says what it is and holds its nonce.
fn greeting(stream: &mut TcpStream, until: Instant) -> io::Result<String> {
    let line = proof_line(stream, until)?;
    let rest = line.strip_prefix("hopcost-serve ");
    let Some((version, nonce)) = rest.and_then(|rest| rest.split_once(' ')) else {
        return Err(sys::failure("what listens there is no `hopcost serve`"));
    };
    match version.parse() {
        Ok(VERSION) => Ok(nonce.to_owned()),
        _ => Err(sys::failure(format!(
            "it speaks version {} of what two hosts say to each other, this is version {VERSION}: use the \
             same hopcost on both",
            version.escape_debug()
        ))),
    }
}

/// What a visitor of the far end turns out to be.
pub enum Visitor {
    /// One who knows the key.
    Near(TcpStream),
    /// A connection for a trial.
    Data {
        /// The connection, of which nothing but the token has been read.
        stream: TcpStream,
        /// What it shows.
        token: String,
        /// Which flow's it is.
        flow: u32,
    },
}

/// Finds out who has connected; whoever proves nothing in time is turned away with an error.
pub fn receive(mut stream: TcpStream, key: &Key) -> io::Result<Visitor> {
    let until = Instant::now() + PATIENCE;
    let far = key::nonce()?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("hopcost-serve {VERSION} {far}\n").as_bytes())?;
    let line = proof_line(&mut stream, until)?;
    let words: Vec<&str> = line.split(' ').collect();
    let accepted = |stream: TcpStream| {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok::<_, io::Error>(stream)
    };
    match words.as_slice() {
        ["control", near, proof] if key.proves(&["near", &far, near], proof) => {
            let proof = key.proof(&["far", near, &far]);
            stream.write_all(format!("welcome {proof}\n").as_bytes())?;
            stream.set_read_timeout(None)?;
            // Whoever asks and does not read the answer is not waited for.
            Ok(Visitor::Near(stream))
        }
        ["data", token, flow] => {
            let flow = flow.parse().map_err(io::Error::other)?;
            let token = (*token).to_owned();
            Ok(Visitor::Data { stream: accepted(stream)?, token, flow })
        }
        _ => {
            let _ = stream.write_all(b"refused\n");
            Err(sys::failure("it did not prove that it knows the key"))
        }
    }
}

/// A short line; nothing that follows it is read, since that belongs to somebody else.
fn proof_line(stream: &mut TcpStream, until: Instant) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < PROOF_LINE_MAX {
        let left = until.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut byte) {
            Ok(0) => return Err(sys::failure("it hung up")),
            Ok(_) if byte[0] == b'\n' => {
                return String::from_utf8(line).map_err(|_| sys::failure("it sent no text"));
            }
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(sys::failure("it said nothing within 5 s"));
            }
            Err(error) => return Err(error),
        }
    }
    Err(sys::failure("its line is too long"))
}

/// Writes a question or an answer.
pub fn send(stream: &mut TcpStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what).map_err(io::Error::other)?;
    line.push('\n');
    stream.write_all(line.as_bytes())
}

/// Lines of a connection, of which none may be longer than the worker protocol's.
pub struct Lines {
    stream: TcpStream,
    received: Vec<u8>,
    interrupt: Option<OwnedFd>,
}

impl Lines {
    /// Of this connection.
    pub fn of(stream: TcpStream) -> Self {
        Self { stream, received: Vec::new(), interrupt: None }
    }

    /// From now on, waiting for a line ends when this is readable.
    pub fn interrupted_by(&mut self, interrupt: &OwnedFd) -> io::Result<()> {
        self.interrupt = Some(interrupt.try_clone()?);
        Ok(())
    }

    /// The connection, to write to.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// This host's address of it.
    pub fn local_ip(&self) -> io::Result<IpAddr> {
        Ok(self.stream.local_addr()?.ip())
    }

    /// The other host's.
    pub fn peer_ip(&self) -> io::Result<IpAddr> {
        Ok(self.stream.peer_addr()?.ip())
    }

    /// The next line, read as what is expected; `None` where the connection has ended.
    pub fn next<T: DeserializeOwned>(&mut self, until: Instant) -> io::Result<Option<T>> {
        let Some(line) = self.line(until)? else { return Ok(None) };
        let found = serde_json::from_slice(&line);
        found
            .map(Some)
            .map_err(|error| sys::failure(format!("it sent what is not expected: {error}")))
    }

    fn line(&mut self, until: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut chunk = [0; 4096];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(sys::failure("it said nothing in time"));
            }
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.received.drain(..=end).collect()));
            }
            if self.received.len() > LINE_MAX {
                return Err(sys::failure(format!("it sent a line of more than {LINE_MAX} bytes")));
            }
            self.wait(left)?;
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.received.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(sys::failure("it said nothing in time"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until there is something to read.
    fn wait(&self, left: Duration) -> io::Result<()> {
        let Some(interrupt) = &self.interrupt else { return Ok(()) };
        let left_ms = i32::try_from(left.as_millis()).unwrap_or(i32::MAX).saturating_add(1);
        let ready = sys::poll_readable(&[self.stream.as_raw_fd(), interrupt.as_raw_fd()], left_ms)?;
        match ready[1] {
            true => Err(sys::failure("it was interrupted")),
            false => Ok(()),
        }
    }

    /// The connection without what was read ahead, if nothing was.
    pub fn into_stream(self) -> io::Result<TcpStream> {
        match self.received.is_empty() {
            true => {
                self.stream.set_read_timeout(None)?;
                Ok(self.stream)
            }
            false => Err(sys::failure("it said more than it was asked")),
        }
    }
}
