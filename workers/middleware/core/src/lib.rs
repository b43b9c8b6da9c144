//! What the workers of libraries in Rust have in common (workers/PROTOCOL.md, ../README.md).
//!
//! The worker that hopcost starts is the controller. It starts the broker, if the library has one, and
//! this program again for each end, and forwards commands. So no end shares a process with anything.

#[cfg(feature = "tokio")]
pub mod asynchronous;
mod control;
mod end;
mod script;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

pub use script::Script;

/// How long a broker or the other end may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Why something failed, in one line.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Failure>;

/// A library that is measured: implement it and call [`main`].
pub trait Library {
    /// The reply to `describe`, without `is` and `protocol`.
    fn describe() -> Value;

    /// The command that starts the broker; none where the library needs none.
    fn broker(_: &Ask) -> Result<Option<Command>> {
        Ok(None)
    }

    /// Whether the broker answers by now: connect to it, do not look for its name.
    fn answers(_: &Ask) -> bool {
        true
    }

    /// Opens an end: the callee's first, then the caller's.
    fn open(ask: &Ask) -> Result<Box<dyn End>>;
}

/// One end of a link.
pub trait End {
    /// Waits until the other end can be reached; both ends do so at the same time.
    fn meet(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes `count` exchanges. The caller sends what [`Script::outgoing`] returns and hands the answer to
    /// [`Script::incoming`]; the callee does the same in the other order. Return when the last answer has left.
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()>;

    /// Sends what [`Script::outgoing`] returns, for loads and streams; it has left when this returns.
    fn send(&mut self, _: &mut Script) -> Result<()> {
        Err("this library sends nothing one way".into())
    }

    /// Hands the next message to [`Script::incoming`].
    fn receive(&mut self, _: &mut Script) -> Result<()> {
        Err("this library receives nothing one way".into())
    }

    /// Whether a message is there within this time: only of mechanisms whose facts have `loses`.
    fn is_there(&mut self, _: Duration) -> Result<bool> {
        Ok(true)
    }

    /// Called between commands. An asynchronous end keeps its runtime going until `commands` is readable.
    fn idle(&mut self, _commands: BorrowedFd<'_>) -> Result<()> {
        Ok(())
    }
}

/// An end of a library that sends and receives. Wrap it in [`Messages`].
pub trait Link {
    fn meet(&mut self) -> Result<()> {
        Ok(())
    }
    fn send(&mut self, message: &[u8]) -> Result<()>;
    /// Receives a message and hands it to `script.incoming`.
    fn receive(&mut self, script: &mut Script) -> Result<()>;
    /// As [`End::is_there`].
    fn is_there(&mut self, _: Duration) -> Result<bool> {
        Ok(true)
    }
}

/// The end that a [`Link`] makes.
pub struct Messages<L>(pub L);

impl<L: Link> End for Messages<L> {
    fn meet(&mut self) -> Result<()> {
        self.0.meet()
    }

    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        if script.is_caller() {
            for _ in 0..count {
                self.0.send(script.outgoing())?;
                self.0.receive(script)?;
            }
        } else {
            for _ in 0..count {
                self.0.receive(script)?;
                self.0.send(script.outgoing())?;
            }
        }
        Ok(())
    }

    fn send(&mut self, script: &mut Script) -> Result<()> {
        self.0.send(script.outgoing())
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        self.0.receive(script)
    }

    fn is_there(&mut self, wait: Duration) -> Result<bool> {
        self.0.is_there(wait)
    }
}

/// What hopcost asks for in `attach`.
#[derive(Clone, Debug)]
pub struct Ask {
    pub mechanism: String,
    /// `roundtrip`, `load` or `stream`.
    pub workload: String,
    pub is_caller: bool,
    /// Bytes of a message.
    pub size: usize,
    /// `block` or `spin`.
    pub wait: String,
    /// A directory of this trial's own, for sockets and files.
    pub scratch: PathBuf,
    /// What names in /dev/shm have to begin with.
    pub prefix: String,
    /// A free loopback port, the same for broker and both ends.
    pub port: u16,
    pub(crate) spoil: Option<u64>,
    values: BTreeMap<String, String>,
}

impl Ask {
    /// The value of a parameter of the mechanism.
    pub fn value(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// Messages of a stream that may be unacknowledged; 0 where none is acknowledged.
    pub fn window(&self) -> u64 {
        let ack = self.value("ack");
        let window = ack.strip_prefix("window:").and_then(|window| window.parse().ok());
        window.unwrap_or(u64::from(ack == "per-message"))
    }

    /// A path in the directory of the trial.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    fn of(command: &Value, port: u16, is_caller: bool) -> Result<Self> {
        let text = |key: &str| command[key].as_str().unwrap_or_default().to_owned();
        let case = text("case");
        let (path, keys) = case.split_once('?').ok_or("the case has no payload")?;
        let (_, mechanism) = path.split_once('/').ok_or("the case has no mechanism")?;
        let pairs = keys.split('&').filter_map(|pair| pair.split_once('='));
        let values: BTreeMap<String, String> =
            pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let value = |key: &str| values.get(key).cloned().unwrap_or_default();
        Ok(Self {
            mechanism: mechanism.to_owned(),
            workload: text("workload"),
            is_caller,
            size: value("payload").parse().map_err(|_| "the case has no payload")?,
            wait: value("wait"),
            scratch: text("scratch").into(),
            prefix: text("prefix"),
            port,
            spoil: command["spoil"].as_u64(),
            values,
        })
    }
}

/// Plays a worker, or one of its ends.
pub fn main<L: Library>() -> ! {
    let done = match std::env::args().nth(1).as_deref() {
        Some("end") => end::serve::<L>(),
        _ => control::serve::<L>(),
    };
    std::process::exit(i32::from(done.is_err()));
}

/// Tries until it works.
pub fn until<T, E: Display>(
    what: &str,
    mut attempt: impl FnMut() -> std::result::Result<T, E>,
) -> Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Ok(done) => return Ok(done),
            Err(error) if begun.elapsed() > PATIENCE => {
                return Err(format!("{what}: {error}").into());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// The first word with a digit that a program prints about itself (`--version`), or why it is not here.
pub fn version_of(
    program: &str,
    arguments: &[&str],
    package: &str,
) -> std::result::Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|_| format!("{program} is not here (Debian: {package})"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let is_version =
        |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    let word = text.split([' ', '\n', ',']).find(is_version).unwrap_or("?");
    Ok(word.trim_start_matches("v=").trim_start_matches('v').to_owned())
}

/// A loopback port that nobody uses now.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
