//! Far hosts that are dead, deaf, others or liars, and paths that go down.

use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{
    BRIEF, Fault, MEASURED, Play, Played, alive, children_of, fault, signal, terminated, until,
};
use crate::support::wait::{InTime, reap};
use crate::support::{Home, start, stored, works};

const TCP: &str = "roundtrip/tcp?payload=64";
/// The file of the run that something happens to.
const FIRST: &str = "first.hopcost";

const ANOTHER_VERSION: &str = "echo '{\"is\":\"described\",\"protocol\":99,\"runtime\":\"rust\",\
                               \"version\":\"9\",\"mechanisms\":[]}'; cat";

/// A run of two seconds that is refused: a name, what it says, and the command of the far host.
const fn refused(
    name: &'static str,
    says: &'static [&'static str],
    command: &'static str,
) -> Fault {
    let play = |home: &Home, command: &str| Ok(near(home, command, &[TCP, "--budget", "2s"]));
    Fault { name, codes: &[2], says, within_s: 5, play: Play::Told(play, command) }
}

pub(super) const FAULTS: &[Fault] = &[
    refused(
        "the command of the far host is none",
        &["--peer `nosuch`: it ended with exit code 127 (it said: "],
        "nosuch",
    ),
    refused(
        "the command of the far host prints without end",
        &["it sent `y`, which is no reply"],
        "yes",
    ),
    refused("the far host speaks another version", &["speaks version 99"], ANOTHER_VERSION),
    refused(
        "a far host asks for a password",
        &["did not answer in time (it said: Password:)", "BatchMode"],
        "echo Password: >&2; sleep 60",
    ),
    fault(
        "SIGTERM of a run whose far host does not answer",
        &[130],
        &["interrupted"],
        20,
        |home| {
            let mut run = home.start(&["run", "--peer", "touch reached; sleep 60", TCP]);
            let reached = home.path().join("reached");
            until(Duration::from_secs(20), "the command runs", || reached.exists());
            terminated(&mut run);
            Ok(run.finish())
        },
    ),
    fault(
        "the far host says that it has counted what nobody sent",
        &[1],
        &["the sender sent"],
        60,
        |home| {
            let lies = r#"sed -u 's/"count":[0-9]*,"samples"/"count":1,"samples"/'"#;
            let command = format!("{} | {lies}", worker(home));
            let case = "stream/tcp-send?flows=1&payload=4096&fields=1&ack=per-message";
            Ok(near(home, &command, &[case]))
        },
    ),
    fault(
        "SIGKILL of the far worker in the middle of a run, which goes on",
        &[1],
        &["trials of 1 case failed"],
        60,
        |home| told(home, libc::SIGKILL),
    ),
    fault(
        "SIGSTOP of the far worker in the middle of a run, which goes on",
        &[1],
        &["trials of 1 case failed"],
        90,
        |home| told(home, libc::SIGSTOP),
    ),
    fault(
        "SIGKILL of the near end in the middle of a run, and the far end ends too",
        MEASURED,
        &[],
        60,
        |home| {
            let (far, mut first) = begun(home, "400");
            first.kill().expect("to kill");
            reap(&mut first);
            until(Duration::from_secs(2), "the far end ends", || !alive(far));
            Ok(near(home, &worker(home), &[TCP]))
        },
    ),
    fault(
        "the path to the far host goes down in the middle of a run",
        &[1],
        &["the far host does not answer any more", "finished trials are kept"],
        120,
        partitioned,
    ),
    fault(
        "packets over the MTU of the far device vanish silently",
        &[1],
        &[
            "again, and nobody acknowledged the last (path MTU 9000 bytes)",
            "over tcp, 8192 bytes a message: if --payload 1000 works, the path drops packets",
        ],
        60,
        |home| {
            let two = Namespaces::make()?;
            two.swallow();
            let far = two.far(home);
            let fixed =
                ["run", "--peer", &far, "--rounds", "1", "--budget", "2s", "--format", "json"];
            let run = [&fixed[..], &["tcp", "--payload", "8KiB"]].concat();
            Ok(two.near(home, &run).stdin(Stdio::null()).finish())
        },
    ),
];

/// The command that starts the worker of a far host which is this one.
pub fn worker(home: &Home) -> String {
    format!("'{}' worker", home.hopcost(&[]).get_program().display())
}

/// A brief run between two hosts.
pub fn near(home: &Home, command: &str, cases: &[&str]) -> Output {
    let fixed = ["run", "--peer", command, "--rounds", "2", "--measure", "2ms"];
    home.hopcost(&[&fixed, cases].concat()).finish()
}

/// A far worker, and a run that goes on for so many rounds and has some trials.
fn begun(home: &Home, rounds: &str) -> (u32, Child) {
    let command = format!("echo $$ >far; exec {}", worker(home));
    let fixed = ["run", "--peer", &command, TCP, "--rounds", rounds, "--out", FIRST];
    let run = home.start(&fixed);
    measured_a_few(home);
    let far = std::fs::read_to_string(home.path().join("far")).expect("its process");
    (far.trim().parse().expect("a number"), run)
}

/// A run in which this happens to the far worker.
fn told(home: &Home, what: i32) -> Played {
    let (far, run) = begun(home, "20");
    until(Duration::from_secs(20), "a trial has begun", || !children_of(far).is_empty());
    signal(far, what);
    let output = run.finish();
    assert_eq!(measured_trials(home), 19, "all trials but one");
    // Removes what the far worker has left, as the next start does.
    assert!(MEASURED.contains(&home.run(&BRIEF).status.code().unwrap_or(-1)));
    Ok(output)
}

/// Waits until a run has some trials.
fn measured_a_few(home: &Home) {
    let some = || measured_trials(home) >= 3;
    until(Duration::from_secs(20), "three trials are measured", some);
}

/// Trials of a run that were measured.
fn measured_trials(home: &Home) -> usize {
    let run = stored(&home.path().join(FIRST));
    run.map_or(0, |run| run.trials.iter().filter(|trial| trial.error.is_none()).count())
}

/// Two network namespaces with names of their own, joined by a veth pair; gone with the test.
pub struct Namespaces(String);

impl Namespaces {
    /// Makes them, or says why this machine cannot.
    pub fn make() -> Result<Self, &'static str> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("hopcost-{}-{made}", std::process::id());
        let of = |end: &str| format!("{name}-{end}");
        if !ip(&["netns", "add", &of("near")]) {
            return Err("this user may make no network namespaces, or there is no ip(8)");
        }
        let two = Self(name.clone());
        assert!(ip(&["netns", "add", &of("far")]));
        let veth =
            ["link", "add", "near", "netns", &of("near"), "type", "veth", "peer", "name", "far"];
        assert!(ip(&[&veth[..], &["netns", &of("far")]].concat()));
        for (end, number) in [("near", 1), ("far", 2)] {
            let v4 = format!("10.202.0.{number}/30");
            assert!(ip(&["-n", &of(end), "addr", "add", &v4, "dev", end]));
            // The last is the source of what is bound to no address.
            for v6 in [format!("fe80::{number}/64"), format!("fe80::1{number}/64")] {
                assert!(ip(&["-n", &of(end), "addr", "add", &v6, "dev", end, "nodad"]));
            }
            assert!(ip(&["-n", &of(end), "link", "set", end, "up"]));
            assert!(ip(&["-n", &of(end), "link", "set", "lo", "up"]));
        }
        Ok(two)
    }

    /// From now on longer packets than the far end takes are sent to it, which has asked for them.
    fn swallow(&self) {
        let of = |end: &str| format!("{}-{end}", self.0);
        assert!(ip(&["-n", &of("near"), "link", "set", "near", "mtu", "9000"]));
        let route = ["route", "change", "10.202.0.0/30", "dev", "far", "advmss", "8900"];
        assert!(ip(&[&["-n", &of("far")], &route[..]].concat()));
    }

    /// The hopcost command in the near one.
    pub fn near(&self, home: &Home, arguments: &[&str]) -> Command {
        home.hopcost_by(&["ip", "netns", "exec", &format!("{}-near", self.0)], arguments)
    }

    /// The command that starts a far host's worker in its namespace.
    pub fn far(&self, home: &Home) -> String {
        format!("ip netns exec {}-far {}", self.0, worker(home))
    }

    fn cut(&self) {
        assert!(ip(&["-n", &format!("{}-near", self.0), "link", "set", "near", "down"]));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for end in ["near", "far"] {
            ip(&["netns", "del", &format!("{}-{end}", self.0)]);
        }
    }
}

fn ip(arguments: &[&str]) -> bool {
    works("ip", arguments)
}

/// A run over a veth pair that is switched off.
fn partitioned(home: &Home) -> Played {
    let two = Namespaces::make()?;
    let command = two.far(home);
    let fixed = ["run", "--peer", &command, TCP, "--out", FIRST, "--rounds", "400"];
    let run = start(&mut two.near(home, &fixed));
    measured_a_few(home);
    two.cut();
    Ok(run.finish())
}
