//! Workers that crash, fall silent, lie and flood.

use std::process::Command;
use std::time::Duration;

use super::{Fault, MEASURED, Play, Played, children_of, fault, terminated, until};
use crate::runtimes::{LIAR, MOCK, ROGUE};
use crate::support::wait::InTime;
use crate::support::{Home, hopcost_path, start, stderr};

/// A failed case: a name, why it failed, and what the worker or the peer is told to do.
const fn told(
    name: &'static str,
    says: &'static [&'static str],
    play: fn(&Home, &str) -> Played,
    word: &'static str,
) -> Fault {
    Fault { name, codes: &[1], says, within_s: 30, play: Play::Told(play, word) }
}

/// The same of one that SIGTERM ends.
const fn ended(name: &'static str, word: &'static str) -> Fault {
    Fault { name, codes: &[130], says: &[], within_s: 20, play: Play::Told(stopped, word) }
}

/// A worker of another runtime that is refused in one line.
const fn refused(name: &'static str, says: &'static [&'static str], word: &'static str) -> Fault {
    let play = |home: &Home, word: &str| {
        let output = rogue(home, word)?;
        let lines = stderr(&output).lines().count();
        assert!(output.stdout.is_empty() && lines == 1, "{output:?}");
        Ok(output)
    };
    Fault { name, codes: &[2], says, within_s: 30, play: Play::Told(play, word) }
}

pub const FAULTS: &[Fault] = &[
    fault("a worker answers late", MEASURED, &["\"status\": \"measured\""], 30, |home| {
        mock(home, "slow@attach")
    }),
    fault("a worker never answers", &[1], &["no answer within its deadline"], 30, |home| {
        let suite = "name = \"brief\"\nabout = \"a\"\nrounds = 1\n[trial]\nmeasure = \"1ms\"\n\
                         deadline = \"500ms\"\n[[cases]]\nselect = \"call/syscall\"\n";
        std::fs::write(home.path().join("brief.toml"), suite).expect("to write");
        let case = ["run", "--suite", "brief.toml", "--stand-in", MOCK, "--format", "json"];
        Ok(home.hopcost(&case).env("HOPCOST_MOCK", "silent@run").finish())
    }),
    told("a worker aborts as it attaches", &["6 (it said: mock: something"], mock, "crash@attach"),
    told("a worker aborts in a phase", &["killed by signal 6"], mock, "crash@run"),
    told("a worker leaves in a phase", &["ended with exit code 7"], mock, "exit@run"),
    told("a worker gives up", &["the mock does not feel well"], mock, "fail@run"),
    told("a worker floods its output", &["line of more than 262144 bytes"], mock, "flood@run"),
    told("a worker answers with control characters", &["is no reply"], mock, "garbage@attach"),
    told("a worker answers something else", &["not answer `run`"], mock, "wrong-reply@run"),
    told("a worker answers twice", &["answered more than it was asked"], mock, "twice@run"),
    told("a worker closes its output", &["closed its output"], mock, "close@run"),
    told("a worker promises more samples than it has", &["promised"], mock, "lie-count@run"),
    told("a worker's clock is far too slow", &["cover only"], mock, "lie-time@run"),
    told("a worker's samples do not add up", &["add up to"], mock, "lie-sum@run"),
    told("another runtime floods its sample memory", &["File too large"], rogue, "flood-samples"),
    told("another runtime runs ahead of the clock", &["seen from outside"], rogue, "fast-clock"),
    told("another runtime claims a foreign thread", &["no thread 1"], rogue, "foreign-thread"),
    told("another runtime claims a process", &["none of its own"], rogue, "foreign-process"),
    told("another runtime attaches one end", &["attached other ends"], rogue, "one-seat"),
    told("another runtime attaches other roles", &["attached other ends"], rogue, "wrong-roles"),
    told("another runtime did less than asked", &["reports that its caller did"], rogue, "fewer"),
    told("another runtime forgets an end", &["not answer for the ends"], rogue, "forgets-callee"),
    told("a stream's bytes are too few", &["bytes in all"], stream, "ran:end.bytes=0"),
    told("a stream's messages are too many", &["bytes in all"], stream, "ran:end.count=99999999"),
    told("a time is of centuries", &["is impossible"], stream, "ran:wall_ns=18446744073709551615"),
    told("ticks far off", &["is impossible"], stream, "ran:end.elapsed_ticks=9223372036854775807"),
    told("wake-ups are too many", &["stamps"], wake, "ran:end.count=99999"),
    told("stamps of wake-ups are missing", &["promised"], wake, "ran:end.samples=3"),
    told("clocks far apart", &["is impossible"], wake, "gate:bound_ticks=18446744073709551615"),
    told("a clock runs backwards", &["ran backwards"], wake, "gate:backward_steps=5"),
    told("a spinner does not spin", &["spinner ended"], spinner, "spinning:"),
    refused("a worker of an old protocol", &["version 2 of the protocol"], "old-protocol"),
    refused("a worker says that it is Rust", &["inside hopcost"], "is-rust"),
    refused("a runtime with a bad name", &["runtime"], "bad-name"),
    refused("a mechanism is described twice", &["twice"], "twice"),
    refused("a payload that is too large", &["64 MiB"], "huge-payload"),
    refused("a worker aborts as it is described", &["no describing today"], "crash-describe"),
    told("another runtime never answers", &["passed its deadline"], silent, "never@run"),
    told("another runtime answers half a line", &["passed its deadline"], silent, "half@run"),
    ended("SIGTERM while another runtime does not describe itself", "never@describe"),
    ended("SIGTERM while another runtime has answered half a line", "half@run"),
    told("an engine gets an argument", &["null:1", "want null"], engine, "null:1?clock=real"),
    told("a count below none", &["spin:-1", "want spin:1000"], engine, "spin:-1?clock=virtual"),
    told("a time without a unit", &["sleep:10", "want sleep:1ms"], engine, "sleep:10?clock=real"),
    told("an unknown series", &["want known:level"], engine, "known:nothing?clock=virtual"),
    told("an unknown clock", &["spin:1", "has no clock=wrong"], engine, "spin:1?clock=wrong"),
    told("a peer hangs at its first message", &["deadline"], peer, "hang"),
    told("a peer aborts at a message", &["was killed by signal 6"], peer, "crash"),
    told("a message arrives with a flipped bit", &["not arrive as it was sent"], peer, "corrupt"),
    told("an answer has a flipped bit", &["not arrive as it was sent"], peer, "corrupt-callee"),
];

/// A run of one case whose worker misbehaves, without a line that could be taken for another's.
fn mock(home: &Home, behaviour: &str) -> Played {
    let case = ["run", "call/syscall", "--rounds", "1", "--measure", "5ms", "--format", "json"];
    let mut command = home.hopcost(&[&case[..], &["--stand-in", MOCK]].concat());
    let output = command.env("HOPCOST_MOCK", behaviour).finish();
    assert!(!output.stdout.contains(&0x1b), "control characters get through");
    Ok(output)
}

/// A run of a worker of another runtime.
fn rogue(home: &Home, behaviour: &str) -> Played {
    let case = ["run", "--worker", ROGUE, "--rounds", "1", "--measure", "10ms"];
    let more = ["--place", "same-cpu", "--format", "json"];
    Ok(home.hopcost(&[&case[..], &more].concat()).env("HOPCOST_ROGUE", behaviour).finish())
}

/// A run of the real worker, one number of whose replies lies.
fn liar(home: &Home, case: &str, lie: &str) -> Played {
    let run = ["run", case, "--stand-in", LIAR, "--rounds", "1", "--format", "json"];
    Ok(home.hopcost(&run).env("HOPCOST_REAL", hopcost_path()).env("HOPCOST_LIE", lie).finish())
}

fn stream(home: &Home, lie: &str) -> Played {
    liar(home, "stream/tcp-sendmsg?field=256", lie)
}

fn wake(home: &Home, lie: &str) -> Played {
    liar(home, "wake/semaphore?gap=10us&place=same-cpu", lie)
}

fn spinner(home: &Home, lie: &str) -> Played {
    liar(home, "wake/pipe?gap=10us&place=same-cpu&idle-knob=spinner", lie)
}

const ECHO: &str = "roundtrip/echo?payload=8&boundary=thread&place=free&wait=block&runtime=rogue";

/// A trial whose worker does not answer, or never stops.
fn silent(home: &Home, behaviour: &str) -> Played {
    Ok(patient(home, behaviour, "500").finish())
}

fn patient(home: &Home, behaviour: &str, ms: &str) -> Command {
    let trial = ["trial", ECHO, "--worker", ROGUE, "--count", "9", "--deadline-ms", ms];
    let mut command = home.hopcost(&trial);
    command.env("HOPCOST_ROGUE", behaviour);
    command
}

/// The same with half a minute, terminated soon after its worker was started.
fn stopped(home: &Home, behaviour: &str) -> Played {
    let mut child = start(&mut patient(home, behaviour, "30000"));
    until(Duration::from_secs(10), "a worker", || !children_of(child.id()).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    terminated(&mut child);
    Ok(child.finish())
}

/// A trial with a peer of the engine `fault`.
fn peer(home: &Home, kind: &str) -> Played {
    let id = format!("roundtrip/fault:{kind}?payload=64&boundary=process&place=free&wait=block");
    Ok(home.run(&["trial", &id, "--count", "200", "--deadline-ms", "500"]))
}

/// A trial of an engine with known answers.
fn engine(home: &Home, engine: &str) -> Played {
    let id = format!("roundtrip/{engine}&boundary=inline&place=same-cpu&wait=block");
    Ok(home.run(&["trial", &id, "--count", "9"]))
}
