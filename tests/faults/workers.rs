//! Workers that crash, fall silent, lie and flood.

use super::{Fault, MEASURED, Played};
use crate::support::Home;

const MOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/mock_worker.py");
const ROGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/rogue_worker.py");

/// A failed case, and why it failed.
macro_rules! told {
    ($name:literal, $says:literal, $play:expr) => {
        Fault { name: $name, codes: &[1], says: &[$says], within_s: 30, play: $play }
    };
}

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a worker answers late",
        codes: MEASURED,
        says: &["\"status\": \"measured\""],
        within_s: 30,
        play: |home| mock(home, "slow@attach"),
    },
    told!(
        "a worker aborts while it attaches",
        "killed by signal 6 (it said: mock: something dreadful)",
        |home| mock(home, "crash@attach")
    ),
    told!("a worker aborts in a phase", "killed by signal 6", |home| mock(home, "crash@run")),
    told!("a worker leaves in a phase", "ended with exit code 7", |home| mock(home, "exit@run")),
    told!("a worker gives up", "the mock does not feel well", |home| mock(home, "fail@run")),
    told!("a worker floods its output", "a line of more than 262144 bytes", |home| mock(
        home,
        "flood@run"
    )),
    told!("a worker floods with replies", "does not answer `attach`", |home| mock(
        home,
        "flood-lines@attach"
    )),
    told!("a worker answers with control characters", "which is no reply", |home| mock(
        home,
        "garbage@attach"
    )),
    told!("a worker answers something else", "does not answer `run`", |home| mock(
        home,
        "wrong-reply@run"
    )),
    told!("a worker answers twice", "it answered more than it was asked", |home| mock(
        home,
        "twice@run"
    )),
    told!("a worker closes its output", "closed its output", |home| mock(home, "close@run")),
    told!("a worker hands over fewer samples than it says", "promised", |home| mock(
        home,
        "lie-count@run"
    )),
    told!("a worker's clock is a thousand times too slow", "cover only", |home| mock(
        home,
        "lie-time@run"
    )),
    told!("a worker's samples do not add up", "add up to", |home| mock(home, "lie-sum@run")),
    told!("a worker never answers", "no answer within its deadline", |home| {
        let suite = "name = \"brief\"\nabout = \"a\"\nrounds = 1\n[trial]\nmeasure = \"1ms\"\n\
                     deadline = \"500ms\"\n[[cases]]\nselect = \"call/syscall\"\n";
        std::fs::write(home.path().join("brief.toml"), suite).expect("to write");
        let case = ["run", "--suite", "brief.toml", "--stand-in", MOCK, "--format", "json"];
        Ok(home.hopcost(&case).env("HOPCOST_MOCK", "silent@run").output().expect("it starts"))
    }),
    told!(
        "a worker of another runtime floods its sample memory, which has a limit",
        "File too large",
        |home| rogue(home, "flood-samples")
    ),
    told!(
        "a worker of another runtime runs ahead of the clock",
        "seen from outside",
        |home| rogue(home, "fast-clock")
    ),
    told!("a peer hangs at its first message", "deadline", |home| peer(home, "hang")),
    told!("the other peer hangs at its first message", "deadline", |home| peer(
        home,
        "hang-callee"
    )),
    told!("a peer aborts at a message", "was killed by signal 6", |home| peer(home, "crash")),
    told!("the other peer aborts at a message", "was killed by signal 6", |home| peer(
        home,
        "crash-callee"
    )),
    told!("a peer sends a message with a flipped bit", "did not arrive as it was sent", |home| {
        peer(home, "corrupt")
    }),
    told!("a peer answers with a flipped bit", "did not arrive as it was sent", |home| peer(
        home,
        "corrupt-callee"
    )),
];

/// A run of one case whose worker misbehaves, without a line that could be taken for another's.
fn mock(home: &Home, behaviour: &str) -> Played {
    let case = ["run", "call/syscall", "--rounds", "1", "--measure", "5ms", "--format", "json"];
    let mut command = home.hopcost(&[&case[..], &["--stand-in", MOCK]].concat());
    let output = command.env("HOPCOST_MOCK", behaviour).output().expect("it starts");
    assert!(!output.stdout.contains(&0x1b), "control characters get through");
    Ok(output)
}

/// A run of a worker of another runtime.
fn rogue(home: &Home, behaviour: &str) -> Played {
    let case = ["run", "--worker", ROGUE, "--rounds", "1", "--measure", "10ms"];
    let mut command = home.hopcost(&[&case[..], &["--placement", "same-cpu"]].concat());
    Ok(command.env("HOPCOST_ROGUE", behaviour).output().expect("it starts"))
}

/// A trial with a peer of the engine `fault`.
fn peer(home: &Home, kind: &str) -> Played {
    let id = format!("roundtrip/fault:{kind}?payload=64&boundary=process&place=free&wait=block");
    let rate = ["--ticks-per-second", "1e9"];
    Ok(home.run(&[&["trial", &id, "--count", "200", "--deadline-ms", "500"], &rate[..]].concat()))
}
