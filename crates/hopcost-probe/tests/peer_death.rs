//! What an end sees whose partner is gone. Where a mechanism cannot tell, its row
//! says so, and the supervisor's deadline ends the trial.

use std::sync::mpsc;
use std::time::Duration;

use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::Stamp;
use hopcost_probe::mechanism;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::workload::Order;

/// An end that sends to a dead partner, or waits for its answer, gets an error.
const SENDER_NOTICES: &[&str] = &[
    "pipe",
    "fifo",
    "socketpair",
    "unix-stream",
    "unix-dgram",
    "unix-seqpacket",
    "tcp",
    "udp",
    "websocket",
    "websocket-threaded",
    "sysv-msg",
    "channel-std",
    "channel-crossbeam",
];

/// An end whose partner dies while it waits gets an error too.
const WAITER_NOTICES: &[&str] = &[
    "pipe",
    "fifo",
    "socketpair",
    "unix-stream",
    "unix-seqpacket",
    "tcp",
    "websocket",
    "websocket-threaded",
    "sysv-msg",
    "channel-std",
    "channel-crossbeam",
];

fn case(name: &str, wait: &str) -> Case {
    let row = mechanism::find(name).unwrap();
    let mut id = format!("roundtrip/{name}?payload=64&boundary=thread&place=free&wait={wait}");
    if wait == "spin-then-block" {
        id.push_str("&spin=20000");
    }
    for parameter in row.facts.parameters {
        id.push_str(&format!("&{}={}", parameter.name, parameter.default));
    }
    id.parse().unwrap()
}

/// Attaches an end, then waits for `go` and either runs or lets go.
fn end(case: &Case, half: Half, role: Role, deed: Deed) -> Result<(), String> {
    let row = mechanism::find(&case.mechanism).unwrap();
    let attaching =
        Attaching { case, role, budget_ticks: 20_000, trial: 0, flow: 0, meeting: None };
    let mut endpoint = (row.attach)(half, &attaching).map_err(|e| format!("attach: {e}"))?;
    match deed {
        Deed::LetGo { attached } => {
            drop(endpoint);
            let _ = attached.send(());
            Ok(())
        }
        Deed::RunAfter { go } => {
            let _ = go.recv();
            endpoint.run(&Order::of(10, Stamp::Each), &mut []).map(drop).map_err(|e| e.to_string())
        }
        Deed::RunAtOnce => {
            endpoint.run(&Order::of(10, Stamp::Each), &mut []).map(drop).map_err(|e| e.to_string())
        }
    }
}

enum Deed {
    LetGo { attached: mpsc::Sender<()> },
    RunAfter { go: mpsc::Receiver<()> },
    RunAtOnce,
}

/// Runs one end while the other lets go; the error that the survivor gets.
fn survivor_error(name: &str, wait: &str, survivor: Role, deed: Deed, victim: Deed) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let case = case(name, wait);
    let row = mechanism::find(name).unwrap();
    let link = (row.open)(&Opening { case: &case, scratch: scratch.path() }).unwrap();
    let (own, other, dying) = match survivor {
        Role::Caller => (link.caller, link.callee, Role::Callee),
        Role::Callee => (link.callee, link.caller, Role::Caller),
    };
    let (result_out, result) = mpsc::channel();
    let (own_case, other_case) = (case.clone(), case);
    std::thread::spawn(move || end(&other_case, other, dying, victim));
    std::thread::spawn(move || result_out.send(end(&own_case, own, survivor, deed)));
    // A watchdog and no expectation: far beyond what any machine needs.
    match result.recv_timeout(Duration::from_secs(60)) {
        Ok(Err(error)) => error,
        Ok(Ok(())) => panic!("{name} under {wait}: ran on without its partner"),
        Err(_) => panic!("{name} under {wait}: the {survivor} still waits for a dead partner"),
    }
}

fn waits(name: &str) -> impl Iterator<Item = &'static str> {
    mechanism::find(name).unwrap().facts.waits.iter().map(|facts| facts.wait.word())
}

#[test]
fn an_end_that_sends_to_a_dead_partner_gets_an_error() {
    for name in SENDER_NOTICES {
        for wait in waits(name) {
            let (attached, go) = mpsc::channel();
            let error = survivor_error(
                name,
                wait,
                Role::Caller,
                Deed::RunAfter { go },
                Deed::LetGo { attached },
            );
            assert!(!error.is_empty() && !error.contains("attach:"), "{name} {wait}: {error}");
        }
    }
}

#[test]
fn an_end_that_waits_for_a_dead_partner_gets_an_error() {
    for name in WAITER_NOTICES {
        for wait in waits(name) {
            let (attached, _attached) = mpsc::channel();
            let error =
                survivor_error(name, wait, Role::Callee, Deed::RunAtOnce, Deed::LetGo { attached });
            assert!(!error.is_empty() && !error.contains("attach:"), "{name} {wait}: {error}");
        }
    }
}

#[test]
fn a_mechanism_that_cannot_tell_says_so() {
    for name in ["unix-dgram", "udp", "posix-mq", "shm-ring"] {
        let limits = mechanism::find(name).unwrap().facts.limits;
        assert!(limits.contains("supervisor") && limits.contains("dead partner"), "{name}");
    }
}
