//! One end, in a process of its own: commands come over a socket, which is its standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::{Ask, End, Library, Result, Script};

/// An end that is open.
struct Open {
    end: Box<dyn End>,
    script: Script,
    samples_fd: Option<RawFd>,
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
            let samples_fd = command["samples_fd"].as_i64().map(|fd| fd as RawFd);
            let end = L::open(&ask)?;
            *open = Some(Open { end, script, samples_fd });
            // SAFETY: gettid(2) has no arguments.
            let tid = unsafe { libc::gettid() };
            Ok(json!({ "role": role(), "tid": tid, "pid": std::process::id() }))
        }
        ("meet", Some(open)) => open.end.meet().map(|()| json!({})),
        ("run", Some(open)) => run(command, open, &role()),
        (other, _) => Err(format!("an end cannot do `{other}` now").into()),
    }
}

fn run(command: &Value, open: &mut Open, role: &str) -> Result<Value> {
    let Open { end, script, samples_fd } = open;
    let count = command["count"].as_u64().ok_or("a phase has a count")?;
    let batch = command["stamp"]["n"].as_u64().unwrap_or(1);
    if command["stamp"]["kind"] == "two-lengths" || batch == 0 || count % batch > 0 {
        return Err("this cannot be stamped so".into());
    }
    let keeps = script.is_caller() && command["phase"] == "measure";
    script.reserve(if script.is_caller() { (count / batch) as usize } else { 0 });
    end.exchange(2, script)?;
    if script.is_caller() {
        script.start(batch);
    }
    end.exchange(count, script)?;
    script.stop();
    let ticks = &script.ticks;
    if let Some(fd) = samples_fd.filter(|_| keeps) {
        // SAFETY: the descriptor was inherited for this, and is left open.
        let mut file = ManuallyDrop::new(File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
        let bytes: Vec<u8> = ticks.iter().flat_map(|ticks| ticks.to_le_bytes()).collect();
        file.write_all(&bytes)?;
    }
    Ok(json!({
        "role": role,
        "count": count,
        "samples": if keeps { ticks.len() } else { 0 },
        "max_ticks": ticks.iter().max().unwrap_or(&0),
        "elapsed_ticks": ticks.iter().sum::<u64>(),
    }))
}
