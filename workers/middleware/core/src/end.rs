//! One end, in a process of its own: commands come over a socket, which is its standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::script::now;
use crate::{Ask, End, Library, Result, Script};

/// An end that is open.
struct Open {
    end: Box<dyn End>,
    script: Script,
    samples_fd: Option<RawFd>,
    /// Whether the samples of the last phase are to be handed over.
    keeps: bool,
    /// Of a load; its caller finds its times there.
    schedule: Option<File>,
    is_load: bool,
}

/// What an end saw in a phase beside its samples.
#[derive(Default)]
struct Seen {
    longest: u64,
    elapsed: u64,
    first: u64,
    late: u64,
}

/// Serves commands until the controller stops it or is gone.
pub fn serve<L: Library>() -> Result<()> {
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut lines = BufReader::new(&socket);
    let mut open: Option<Open> = None;
    loop {
        if let Some(open) = &mut open {
            open.end.idle(socket.as_fd())?;
        }
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let done = obey::<L>(&serde_json::from_str(&line)?, &mut open);
        let reply = match &done {
            Ok(reply) => reply.clone(),
            Err(why) => json!({ "failed": why.to_string().replace('\n', " ") }),
        };
        (&socket).write_all(format!("{reply}\n").as_bytes())?;
        done?;
    }
}

fn obey<L: Library>(command: &Value, open: &mut Option<Open>) -> Result<Value> {
    let role = || std::env::args().nth(2).unwrap_or_default();
    match (command["do"].as_str().unwrap_or_default(), &mut *open) {
        ("attach", None) => {
            let port = std::env::args().nth(3).and_then(|port| port.parse().ok()).unwrap_or(0);
            let ask = Ask::of(command, port, role() == "caller")?;
            let script = Script::new(ask.is_caller, ask.size, ask.spoil);
            let fd = |key: &str| command[key].as_i64().map(|fd| fd as RawFd);
            // SAFETY: the descriptor was inherited for this.
            let schedule =
                fd("schedule_fd").map(|fd| File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
            let is_load = command["workload"] == "load";
            let end = L::open(&ask)?;
            let samples_fd = fd("samples_fd");
            *open = Some(Open { end, script, samples_fd, keeps: false, schedule, is_load });
            // SAFETY: gettid(2) has no arguments.
            let tid = unsafe { libc::gettid() };
            Ok(json!({ "role": role(), "tid": tid, "pid": std::process::id() }))
        }
        ("meet", Some(open)) => open.end.meet().map(|()| json!({})),
        ("run", Some(open)) => run(command, open, &role()),
        ("hand-over", Some(open)) => hand_over(open).map(|()| json!({})),
        (other, _) => Err(format!("an end cannot do `{other}` now").into()),
    }
}

fn run(command: &Value, open: &mut Open, role: &str) -> Result<Value> {
    let count = command["count"].as_u64().ok_or("a phase has a count")?;
    let batch = command["stamp"]["n"].as_u64().unwrap_or(1);
    if command["stamp"]["kind"] == "two-lengths" || batch == 0 || count % batch > 0 {
        return Err("this cannot be stamped so".into());
    }
    let is_alone = open.is_load && command["phase"] == "pilot";
    let stamps = open.script.is_caller() || open.is_load && !is_alone;
    let keeps = stamps && (is_alone || command["phase"] == "measure");
    open.script.reserve(if stamps { (count / batch) as usize } else { 0 });
    let seen = match open.is_load {
        true => load(open, count, is_alone)?,
        false => exchanges(open, count, batch)?,
    };
    open.keeps = keeps;
    Ok(json!({
        "role": role,
        "count": count,
        "samples": if keeps { open.script.ticks.len() } else { 0 },
        "max_ticks": seen.longest,
        "elapsed_ticks": seen.elapsed,
        "first_tick": seen.first,
        "overruns": seen.late,
    }))
}

/// Writes the samples of the last phase: one end after the other.
fn hand_over(open: &mut Open) -> Result<()> {
    let Some(fd) = open.samples_fd.filter(|_| open.keeps) else { return Ok(()) };
    // SAFETY: the descriptor was inherited for this, and is left open.
    let mut file = ManuallyDrop::new(File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
    let bytes: Vec<u8> = open.script.ticks.iter().flat_map(|ticks| ticks.to_le_bytes()).collect();
    Ok(file.write_all(&bytes)?)
}

fn exchanges(open: &mut Open, count: u64, batch: u64) -> Result<Seen> {
    let Open { end, script, .. } = open;
    end.exchange(2, script)?;
    let first = now();
    if script.is_caller() {
        script.start(batch, first);
    }
    end.exchange(count, script)?;
    script.stop();
    let longest = script.ticks.iter().copied().max().unwrap_or(0);
    Ok(Seen { longest, elapsed: script.ticks.iter().sum(), first, ..Seen::default() })
}

/// Of a stamp: the sender came to its message late.
const LATE: u64 = 1 << 63;

/// A load: its caller sends each message at its time, and both ends keep their stamps.
fn load(open: &mut Open, count: u64, is_alone: bool) -> Result<Seen> {
    let Open { end, script, schedule, .. } = open;
    let is_caller = script.is_caller();
    if is_alone && !is_caller {
        return Ok(Seen::default());
    }
    let mut times = vec![0; count as usize * 8];
    if let Some(schedule) = schedule.as_ref().filter(|_| is_caller) {
        schedule.read_exact_at(&mut times, 0)?;
    }
    let (times, _) = times.as_chunks();
    if !is_alone {
        end.exchange(2, script)?;
    }
    let mut seen = Seen { first: now(), ..Seen::default() };
    for (at, time) in times.iter().enumerate() {
        if !is_caller {
            end.pass(script)?;
        }
        let mut then = now();
        let due = if is_caller { seen.first + u64::from_le_bytes(*time) } else { then };
        let late = u64::from(then > due);
        while then < due {
            then = now();
        }
        if !is_caller && at == 0 {
            seen.first = then;
        }
        script.ticks.push(then | late * LATE);
        seen.late += late;
        seen.elapsed = then - seen.first;
        if is_caller && !is_alone {
            end.pass(script)?;
        }
        if !is_alone {
            script.skip();
        }
    }
    Ok(seen)
}
