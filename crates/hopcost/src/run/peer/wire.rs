//! What the two hosts say to each other: the proof of the key, and a question and its answer, a JSON
//! object a line each.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use hopcost_model::host::Host;
use hopcost_model::protocol::{ClockReading, LINE_MAX};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::key::{self, Key};
use hopcost_probe::{interrupt, sys};

/// Spoken version; another one is refused.
pub const VERSION: u32 = 2;

/// How long the proof may take, and each answer that needs no measuring.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a line of the proof at most: two hexadecimal words of 64 digits and a word.
const PROOF_LINE_MAX: usize = 160;

/// Bytes that a connection takes without blocking once poll(2) calls it writable.
const CHUNK: usize = 4096;

/// What the near end asks. The connection of its first question ends with its run.
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
}

impl Ask {
    /// The run that asks.
    pub fn run(&self) -> &str {
        match self {
            Self::Hello { run, .. } => run,
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
    /// It measures for another run.
    Busy {
        /// Which, and until when at most.
        reason: String,
    },
    /// It will not, or cannot.
    Refused { reason: String },
}

/// The far host, as it tells of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FarHost {
    /// Version of the worker protocol.
    pub protocol: u32,
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
    pub host: Host,
    /// Connections that it turned away during this run, because they did not prove that they know the key.
    pub strangers: u64,
}

/// The near end proves that it knows the key, and sees that the far end does.
pub fn prove_near(stream: &mut TcpStream, key: &Key, until: Instant) -> io::Result<()> {
    let far = greeting(stream, until)?;
    let near = key::nonce()?;
    let proof = key.proof(&["near", &far, &near]);
    stream.write_all(format!("control {near} {proof}\n").as_bytes())?;
    let line = proof_line(stream, until)?;
    match line.strip_prefix("welcome ") {
        Some(proof) if key.proves(&["far", &near, &far], proof) => Ok(()),
        Some(_) => Err(sys::failure("it does not know the key")),
        None => Err(sys::failure("it does not accept the key")),
    }
}

/// Connects what an end will use: the token is all that it sends.
pub fn show_token(stream: &mut TcpStream, token: &str, flow: u32) -> io::Result<()> {
    greeting(stream, Instant::now() + PATIENCE)?;
    stream.write_all(format!("data {token} {flow}\n").as_bytes())
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

/// Finds out who has connected; an error is that nothing is proved in time. `proved` is called once the
/// key is, and says whether the connection is still wanted.
pub fn receive(
    mut stream: TcpStream,
    key: &Key,
    proved: impl FnOnce() -> bool,
) -> io::Result<Visitor> {
    let until = Instant::now() + PATIENCE;
    let far = key::nonce()?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("hopcost-serve {VERSION} {far}\n").as_bytes())?;
    let line = proof_line(&mut stream, until)?;
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["control", near, proof] if key.proves(&["near", &far, near], proof) => {
            if !proved() {
                return Err(sys::failure("it came too late"));
            }
            let proof = key.proof(&["far", near, &far]);
            stream.write_all(format!("welcome {proof}\n").as_bytes())?;
            // Whoever asks and does not read the answer is not waited for.
            Ok(Visitor::Near(stream))
        }
        ["data", token, flow] => {
            let flow = flow.parse().map_err(io::Error::other)?;
            let token = (*token).to_owned();
            stream.set_write_timeout(None)?;
            Ok(Visitor::Data { stream, token, flow })
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
        readable(stream, until)?;
        match stream.read(&mut byte) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
            Ok(_) if byte[0] == b'\n' => {
                return String::from_utf8(line).map_err(|_| sys::failure("it sent no text"));
            }
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Err(sys::failure("its line is too long"))
}

/// Waits until there is something to read.
fn readable(stream: &TcpStream, until: Instant) -> io::Result<()> {
    interrupt::until_readable(stream, until).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => sys::failure("it said nothing in time"),
        _ => error,
    })
}

/// Writes a question or an answer.
pub fn send(stream: &mut TcpStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what).map_err(io::Error::other)?;
    line.push('\n');
    let until = Instant::now() + PATIENCE;
    for chunk in line.as_bytes().chunks(CHUNK) {
        interrupt::until_writable(stream, until)?;
        stream.write_all(chunk)?;
    }
    Ok(())
}

/// Lines of a connection, of which none may be longer than the worker protocol's.
pub struct Lines {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Lines {
    /// Of this connection.
    pub fn of(stream: TcpStream) -> Self {
        Self { stream, received: Vec::new() }
    }

    /// The connection, to write to.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// This host's address of it.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
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
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.received.drain(..=end).collect()));
            }
            if self.received.len() > LINE_MAX {
                return Err(sys::failure(format!("it sent a line of more than {LINE_MAX} bytes")));
            }
            readable(&self.stream, until)?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.received.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the other end has hung up, or said something after all.
    pub fn is_over(&self) -> bool {
        sys::poll_readable(&[self.stream.as_raw_fd()], 0).is_ok_and(|ready| ready[0])
    }

    /// The connection without what was read ahead, if nothing was.
    pub fn into_stream(self) -> io::Result<TcpStream> {
        match self.received.is_empty() {
            true => Ok(self.stream),
            false => Err(sys::failure("it said more than it was asked")),
        }
    }
}
