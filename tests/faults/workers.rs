//! Workers that crash, fall silent, lie and flood.

use std::process::Command;
use std::time::Duration;

use super::{Fault, MEASURED, Play, Played, children_of, fault, terminated, until};
use crate::runtimes::{MOCK, ROGUE};
use crate::support::wait::InTime;
use crate::support::{Home, start};

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
    told("another runtime never answers", &["passed its deadline"], silent, "never@run"),
    told("another runtime answers half a line", &["passed its deadline"], silent, "half@run"),
    ended("SIGTERM while another runtime does not describe itself", "never@describe"),
    ended("SIGTERM while another runtime has answered half a line", "half@run"),
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
    let mut command = home.hopcost(&[&case[..], &["--place", "same-cpu"]].concat());
    Ok(command.env("HOPCOST_ROGUE", behaviour).finish())
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
