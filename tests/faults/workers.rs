//! Workers that crash, fall silent, lie and flood.

use std::process::Stdio;
use std::time::Duration;

use super::{Fault, MEASURED, Played, children_of, fault, terminated, until};
use crate::support::Home;
use crate::support::wait::InTime;

const MOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/mock_worker.py");
const ROGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/rogue_worker.py");

/// Failed cases: a name, why it failed, and what the worker or the peer is told to do.
macro_rules! told {
    ($play:ident: $($name:literal, $says:literal, $how:literal;)+) => {
        &[$(fault($name, &[1], &[$says], 30, |home| $play(home, $how))),+]
    };
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
];

pub const OF_HOPCOST: &[Fault] = told! { mock:
    "a worker aborts while it attaches", "6 (it said: mock: something dreadful)", "crash@attach";
    "a worker aborts in a phase", "killed by signal 6", "crash@run";
    "a worker leaves in a phase", "ended with exit code 7", "exit@run";
    "a worker gives up", "the mock does not feel well", "fail@run";
    "a worker floods its output", "a line of more than 262144 bytes", "flood@run";
    "a worker answers with control characters", "which is no reply", "garbage@attach";
    "a worker answers something else", "does not answer `run`", "wrong-reply@run";
    "a worker answers twice", "it answered more than it was asked", "twice@run";
    "a worker closes its output", "closed its output", "close@run";
    "a worker hands over fewer samples than it says", "promised", "lie-count@run";
    "a worker's clock is a thousand times too slow", "cover only", "lie-time@run";
    "a worker's samples do not add up", "add up to", "lie-sum@run";
};

pub const OF_OTHERS: &[Fault] = told! { rogue:
    "a worker of another runtime floods its sample memory, which has a limit", "File too large", "flood-samples";
    "a worker of another runtime runs ahead of the clock", "seen from outside", "fast-clock";
};

pub const SILENT: &[Fault] = told! { silent:
    "a worker of another runtime never answers", "passed its deadline", "never@run";
    "a worker of another runtime answers half a line", "passed its deadline", "half@run";
};

pub const STOPPED: &[Fault] = &[
    fault(
        "SIGTERM while a worker of another runtime does not describe itself",
        &[130],
        &["interrupted"],
        20,
        |home| stopped(home, "never@describe"),
    ),
    fault(
        "SIGTERM while a worker of another runtime has answered half a line",
        &[130],
        &[],
        20,
        |home| stopped(home, "half@run"),
    ),
];

pub const PEERS: &[Fault] = told! { peer:
    "a peer hangs at its first message", "deadline", "hang";
    "a peer aborts at a message", "was killed by signal 6", "crash";
    "a peer sends a message with a flipped bit", "did not arrive as it was sent", "corrupt";
    "a peer answers with a flipped bit", "did not arrive as it was sent", "corrupt-callee";
};

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
    let mut command = home.hopcost(&[&case[..], &["--placement", "same-cpu"]].concat());
    Ok(command.env("HOPCOST_ROGUE", behaviour).finish())
}

const ECHO: &str = "roundtrip/echo?payload=8&boundary=thread&place=free&wait=block&runtime=rogue";

/// A trial whose worker does not answer, or never stops.
fn silent(home: &Home, behaviour: &str) -> Played {
    let trial = ["trial", ECHO, "--worker", ROGUE];
    let mut command =
        home.hopcost(&[&trial[..], &["--count", "9", "--deadline-ms", "500"]].concat());
    Ok(command.env("HOPCOST_ROGUE", behaviour).finish())
}

/// The same with half a minute, terminated soon after its worker was started.
fn stopped(home: &Home, behaviour: &str) -> Played {
    let trial = ["trial", ECHO, "--worker", ROGUE];
    let mut command =
        home.hopcost(&[&trial[..], &["--count", "9", "--deadline-ms", "30000"]].concat());
    let command = command.env("HOPCOST_ROGUE", behaviour).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
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
