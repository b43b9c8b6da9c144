//! The controller: what hopcost speaks to. It starts broker and ends, forwards commands, and notices when
//! one of them is gone.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::script::now;
use crate::{Ask, Library, Result, free_port, until};

/// The processes of a trial.
struct Trial {
    /// The callee's first, as they were started.
    ends: Vec<Process>,
    broker: Option<Broker>,
    /// In the order of the seats, which is the caller's first.
    roles: Vec<String>,
}

struct Process {
    role: &'static str,
    lines: BufReader<UnixStream>,
    _child: Child,
}

struct Broker {
    child: Child,
    /// Readable once it is gone (pidfd_open(2)).
    life: OwnedFd,
    log: std::path::PathBuf,
}

/// Serves commands on standard input until `stop` or its end.
pub fn serve<L: Library>() -> Result<()> {
    let mut trial: Option<Trial> = None;
    for line in std::io::stdin().lines() {
        let line = line?;
        let reply = obey::<L>(&line, &mut trial);
        let failed = reply.as_ref().err().map(|why| why.to_string().replace('\n', " "));
        let said = reply.unwrap_or_else(|_| json!({ "is": "failed", "reason": failed }));
        writeln!(std::io::stdout(), "{said}")?;
        if failed.is_some() {
            return Err("failed".into());
        }
        if said["is"] == "stopped" {
            return Ok(());
        }
    }
    Ok(())
}

fn obey<L: Library>(line: &str, trial: &mut Option<Trial>) -> Result<Value> {
    let command: Value = serde_json::from_str(line)?;
    match (command["do"].as_str().unwrap_or_default(), &mut *trial) {
        ("describe", _) => {
            let mut said = L::describe();
            (said["is"], said["protocol"], said["spoils"]) =
                ("described".into(), 3.into(), true.into());
            Ok(said)
        }
        ("clock", _) => Ok(clock(&command["cpu"])),
        ("attach", None) => {
            let (started, seats) = attach::<L>(line, &command)?;
            *trial = Some(started);
            Ok(json!({ "is": "attached", "pid": std::process::id(), "seats": seats }))
        }
        ("run", Some(trial)) => {
            let ends = trial.all(line)?;
            for role in ["caller", "callee"] {
                trial.tell(r#"{"do":"hand-over"}"#, role)?;
                trial.reply(role)?;
            }
            Ok(json!({ "is": "ran", "ends": ends }))
        }
        ("stop", _) => Ok(json!({ "is": "stopped" })),
        (other, _) => Err(format!("`{other}` is not possible here").into()),
    }
}

fn attach<L: Library>(line: &str, command: &Value) -> Result<(Trial, Vec<Value>)> {
    let port = free_port()?;
    let ask = Ask::of(command, port, false)?;
    let facts = L::describe();
    let mut mechanisms = facts["mechanisms"].as_array().into_iter().flatten();
    let known = mechanisms.find(|of| of["name"] == ask.mechanism);
    let known = known.ok_or_else(|| format!("there is no mechanism `{}` here", ask.mechanism))?;
    if let Some(why) = known["unavailable"].as_str() {
        return Err(why.into());
    }
    let seats = command["seats"].as_array().into_iter().flatten();
    let roles: Vec<String> =
        seats.filter_map(|seat| seat["role"].as_str().map(str::to_owned)).collect();
    if roles.len() != 2 {
        return Err("both ends are played here, or none".into());
    }
    let mut trial = Trial { ends: Vec::new(), broker: broker::<L>(&ask)?, roles };
    let mut seats = Vec::new();
    for role in ["callee", "caller"] {
        trial.ends.push(Process::start(role, port, known["loses"] == true)?);
        trial.tell(line, role)?;
        seats.push(trial.reply(role)?);
    }
    seats.reverse();
    trial.all(r#"{"do":"meet"}"#)?;
    Ok((trial, seats))
}

fn broker<L: Library>(ask: &Ask) -> Result<Option<Broker>> {
    let Some(mut command) = L::broker(ask)? else { return Ok(None) };
    let log = ask.path("broker.log");
    let output = File::create(&log)?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .current_dir(&ask.scratch);
    let name = command.get_program().to_string_lossy().into_owned();
    let child = spawn(command).map_err(|error| format!("starting {name}: {error}"))?;
    // SAFETY: pidfd_open(2) of a child that nobody has reaped; a new descriptor is this process's own.
    let life = unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, child.id(), 0);
        if fd < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        OwnedFd::from_raw_fd(fd as i32)
    };
    let broker = Broker { child, life, log };
    until(&format!("{name} does not answer"), || match L::answers(ask) {
        true => Ok(()),
        false => Err(broker.last_line()),
    })?;
    Ok(Some(broker))
}

impl Broker {
    fn last_line(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }
}

impl Process {
    /// This program again, as one end.
    fn start(role: &'static str, port: u16, loses: bool) -> Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["end", role, &port.to_string(), &loses.to_string()]);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null());
        Ok(Self { role, lines: BufReader::new(socket), _child: spawn(command)? })
    }
}

/// Starts a program that dies with this process.
fn spawn(mut command: Command) -> std::io::Result<Child> {
    let parent = std::process::id();
    // SAFETY: between fork and exec the closure makes two system calls.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            match libc::getppid() as u32 == parent {
                true => Ok(()),
                false => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
    command.spawn()
}

impl Trial {
    fn tell(&mut self, line: &str, role: &str) -> Result<()> {
        let end =
            self.ends.iter_mut().find(|end| end.role == role).ok_or("there is no such end")?;
        Ok(end.lines.get_ref().write_all(format!("{line}\n").as_bytes())?)
    }

    /// Tells both ends, and waits for both: the first failure, a death included, is the trial's.
    fn all(&mut self, line: &str) -> Result<Vec<Value>> {
        for role in ["callee", "caller"] {
            self.tell(line, role).map_err(|_| format!("the {role}'s process is gone"))?;
        }
        let mut replies: Vec<Option<Value>> = vec![None; 2];
        while replies.contains(&None) {
            let waiting = self.ends.iter().zip(&replies).filter(|(_, reply)| reply.is_none());
            let waiting: Vec<&'static str> = waiting.map(|(end, _)| end.role).collect();
            let role = self.readable(&waiting)?;
            let reply = self.reply(role)?;
            let at =
                self.ends.iter().position(|end| end.role == role).ok_or("there is no such end")?;
            replies[at] = Some(reply);
        }
        // The callee was started first.
        let (callee, caller) = (replies.swap_remove(0), replies.pop().flatten());
        let ordered =
            self.roles.iter().map(|role| if role == "caller" { &caller } else { &callee });
        Ok(ordered.flatten().cloned().collect())
    }

    /// Which of these ends has something to say.
    fn readable(&mut self, waiting: &[&'static str]) -> Result<&'static str> {
        let awaited = self.ends.iter().filter(|end| waiting.contains(&end.role));
        let mut all: Vec<(Option<&'static str>, i32)> =
            awaited.map(|end| (Some(end.role), end.lines.get_ref().as_raw_fd())).collect();
        all.extend(self.broker.as_ref().map(|broker| (None, broker.life.as_raw_fd())));
        let entry = |&(_, fd): &(_, i32)| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds: Vec<libc::pollfd> = all.iter().map(entry).collect();
        loop {
            // SAFETY: the array is valid for reading and writing.
            let found = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) };
            if found > 0 {
                break;
            }
        }
        let ready = all.iter().zip(&fds).find(|(_, fd)| fd.revents != 0);
        match ready.map(|((role, _), _)| *role) {
            Some(Some(role)) => Ok(role),
            _ => Err(self.broker.as_mut().map_or(String::new(), Broker::epitaph).into()),
        }
    }

    fn reply(&mut self, role: &str) -> Result<Value> {
        let end =
            self.ends.iter_mut().find(|end| end.role == role).ok_or("there is no such end")?;
        let mut line = String::new();
        if end.lines.read_line(&mut line).unwrap_or(0) == 0 {
            return Err(format!("the {role}'s process is gone").into());
        }
        let reply: Value = serde_json::from_str(&line)?;
        match reply["failed"].as_str() {
            Some(why) => Err(format!("{role}: {why}").into()),
            None => Ok(reply),
        }
    }
}

impl Broker {
    fn epitaph(&mut self) -> String {
        let how = self
            .child
            .try_wait()
            .ok()
            .flatten()
            .map_or(String::new(), |status| format!(" ({status})"));
        let said = self.last_line();
        format!("the broker is gone{how}{}{said}", if said.is_empty() { "" } else { ": " })
    }
}

/// What a stamp costs.
fn clock(cpu: &Value) -> Value {
    let mut costs: Vec<u64> = (0..10_000)
        .map(|_| {
            let before = now();
            now() - before
        })
        .collect();
    costs.sort_unstable();
    json!({
        "is": "clock", "cpu": cpu, "source": "CLOCK_MONOTONIC", "ticks_per_second": 1e9,
        "stamp_min_ns": costs[0], "stamp_p50_ns": costs[5_000], "stamp_p99_ns": costs[9_900],
    })
}
