//! One end, in a process of its own: commands come over a socket, which is its standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

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
    workload: String,
    /// Messages of a stream that may be unacknowledged; 0 where none is acknowledged.
    window: u64,
}

/// What an end saw in a phase beside its samples.
#[derive(Default)]
struct Seen {
    count: u64,
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
            let mut script = Script::new(ask.is_caller, ask.size, ask.spoil);
            let fd = |key: &str| command[key].as_i64().map(|fd| fd as RawFd);
            // SAFETY: the descriptor was inherited for this.
            let schedule =
                fd("schedule_fd").map(|fd| File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
            let loses = std::env::args().nth(4).is_some_and(|loses| loses == "true");
            script.numbered_to = (ask.workload == "load" && loses).then_some(0);
            let window = ask.window();
            let (end, samples_fd) = (L::open(&ask)?, fd("samples_fd"));
            let (workload, keeps) = (ask.workload, false);
            *open = Some(Open { end, script, samples_fd, keeps, schedule, workload, window });
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
    let (is_caller, is_load) = (open.script.is_caller(), open.workload == "load");
    let is_alone = is_load && command["phase"] == "pilot";
    let stamps = is_caller || is_load && !is_alone;
    let keeps = stamps && (is_alone || command["phase"] == "measure");
    open.script.reserve(if stamps { (count / batch) as usize } else { 0 });
    let seen = match (open.workload.as_str(), is_caller) {
        ("load", false) if is_alone => Seen { count, ..Seen::default() },
        ("load", false) if open.script.numbered_to.is_some() => receive_numbered(open, count)?,
        ("load", _) => load(open, count, is_alone)?,
        ("stream", true) => send_stream(open, count, command["cap_ns"].as_u64())?,
        ("stream", false) => receive_stream(open)?,
        _ => exchanges(open, count, batch)?,
    };
    open.keeps = keeps;
    Ok(json!({
        "role": role,
        "count": seen.count,
        "lost": if is_load { count - seen.count } else { 0 },
        "bytes": seen.count * open.script.size() as u64,
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
    let elapsed = script.ticks.iter().sum();
    Ok(Seen { count, longest, elapsed, first, late: 0 })
}

/// Of a stamp: the sender came to its message late.
const LATE: u64 = 1 << 63;

/// A load: its caller sends each message at its time, and both ends keep their stamps.
fn load(open: &mut Open, count: u64, is_alone: bool) -> Result<Seen> {
    let Open { end, script, schedule, .. } = open;
    let is_caller = script.is_caller();
    let mut times = vec![0; count as usize * 8];
    if let Some(schedule) = schedule.as_ref().filter(|_| is_caller) {
        schedule.read_exact_at(&mut times, 0)?;
    }
    let (times, _) = times.as_chunks();
    if !is_alone {
        lead_in(end.as_mut(), script)?;
    }
    let mut seen = Seen { count, first: now(), ..Seen::default() };
    for (at, time) in times.iter().enumerate() {
        if !is_caller {
            end.receive(script)?;
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
            end.send(script)?;
        }
        if !is_alone {
            script.skip();
        }
    }
    // The receiver may lose what says that this is over, too.
    let mut is_over = is_alone || script.numbered_to.is_none();
    while !is_over {
        end.send(script)?;
        let sent = script.number();
        while !is_over && end.is_there(Duration::from_millis(1))? {
            end.receive(script)?;
            is_over = script.number() > sent;
        }
        if !is_over {
            script.again();
        }
    }
    Ok(seen)
}

/// The two exchanges before a load.
fn lead_in(end: &mut dyn End, script: &mut Script) -> Result<()> {
    if script.numbered_to.is_none() {
        return end.exchange(2, script);
    }
    for _ in 0..2 {
        if script.is_caller() {
            end.send(script)?;
            receive_new(end, script)?;
        } else {
            receive_new(end, script)?;
            end.send(script)?;
        }
    }
    Ok(())
}

/// Receives a message that has not come before, and returns its number.
fn receive_new(end: &mut dyn End, script: &mut Script) -> Result<u64> {
    let due = script.number();
    while script.number() == due {
        end.receive(script)?;
    }
    Ok(script.number() - 1)
}

/// The receiver of a load whose messages may be lost. A stamp of 0 is of one that did not come.
fn receive_numbered(open: &mut Open, count: u64) -> Result<Seen> {
    let Open { end, script, .. } = open;
    lead_in(end.as_mut(), script)?;
    let first = script.number();
    let last = first + 2 * count;
    script.numbered_to = Some(last);
    script.ticks.resize(count as usize, 0);
    let mut seen = Seen::default();
    loop {
        let number = receive_new(end.as_mut(), script)?;
        if number == last {
            end.send(script)?;
            return Ok(seen);
        }
        let then = now();
        script.skip();
        script.ticks[((number - first) / 2) as usize] = then;
        if seen.count == 0 {
            seen.first = then;
        }
        seen.count += 1;
        seen.elapsed = then - seen.first;
    }
}

/// The sender of a stream: messages, none after `cap_ns` where there is one, then the marker of the end.
fn send_stream(open: &mut Open, most: u64, cap_ns: Option<u64>) -> Result<Seen> {
    let Open { end, script, window, .. } = open;
    let acknowledged = |end: &mut dyn End, script: &mut Script, number: u64| {
        script.acknowledged = Some(number);
        end.receive(script).map(|()| now())
    };
    end.send(script)?;
    acknowledged(end.as_mut(), script, script.number() - 1)?;
    script.skip();
    let mut seen = Seen { first: now(), ..Seen::default() };
    let (mut then, mut oldest, mut samples) = (seen.first, script.number(), 0);
    let mut sends = true;
    while sends || *window > 0 && samples < seen.count {
        sends = sends && seen.count < most && cap_ns.is_none_or(|cap| then - seen.first < cap);
        if sends {
            script.ticks.push(then);
            end.send(script)?;
            script.skip();
            seen.count += 1;
            then = now();
        }
        let due = seen.count - samples;
        if *window > 0 && due > 0 && (due == *window || !sends) {
            then = acknowledged(end.as_mut(), script, oldest)?;
            let took = then - script.ticks[samples as usize];
            script.ticks[samples as usize] = took;
            (oldest, samples) = (oldest + 2, samples + 1);
            seen.longest = seen.longest.max(took);
        }
    }
    script.ticks.truncate(samples as usize);
    seen.elapsed = then - seen.first;
    // The marker has the contents of a later message.
    script.skip();
    script.skip();
    end.send(script)?;
    acknowledged(end.as_mut(), script, script.number() - 1)?;
    script.skip();
    Ok(seen)
}

fn receive_stream(open: &mut Open) -> Result<Seen> {
    let Open { end, script, window, .. } = open;
    let acknowledge = |end: &mut dyn End, script: &mut Script| {
        script.acknowledged = Some(script.number() - 1);
        end.send(script)?;
        script.skip();
        Ok::<_, crate::Failure>(())
    };
    end.receive(script)?;
    acknowledge(end.as_mut(), script)?;
    let mut seen = Seen { first: now(), ..Seen::default() };
    let mut before = seen.first;
    script.is_stream = true;
    loop {
        end.receive(script)?;
        let then = now();
        if !script.is_stream {
            acknowledge(end.as_mut(), script)?;
            return Ok(seen);
        }
        match *window {
            0 => script.skip(),
            _ => acknowledge(end.as_mut(), script)?,
        }
        seen.count += 1;
        seen.elapsed = then - seen.first;
        seen.longest = seen.longest.max(then - before);
        before = then;
    }
}
