//! Cases between two hosts: the far end is another process on loopback, or in a network namespace.

use std::process::Stdio;

use hopcost_model::case::{Boundary, Workload};

use crate::faults::hosts::{Namespaces, near, worker};
use crate::support::wait::InTime;
use crate::support::{Home, alone, measured, mechanisms, stored, trace};

/// Every mechanism that crosses hosts, by a workload that it crosses them with.
fn selectors() -> Vec<String> {
    let all = mechanisms().filter(|facts| facts.boundaries.contains(&Boundary::Host));
    let first = |facts: &&hopcost_model::mechanism::Mechanism| match facts.workloads[0] {
        Workload::Stream => {
            format!("stream/{}?flows=2&payload=4096&fields=1&ack=per-message", facts.name)
        }
        _ => format!("roundtrip/{}?place=pinned,free", facts.name),
    };
    all.map(|facts| first(&facts)).collect()
}

#[test]
fn every_mechanism_that_crosses_hosts_does() {
    let home = Home::alone();
    let selectors = selectors();
    assert!(selectors.len() >= 10, "only {selectors:?}");
    let selectors: Vec<&str> = selectors.iter().map(String::as_str).collect();
    // What a shell prints on the way is none of the worker's replies.
    let command = format!("echo Welcome; echo '{{}}'; {}", worker(&home));
    let output = near(&home, &command, &selectors);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(measured()), "{said}");
    let run = stored(&home.run_file()).expect("a run");
    let kept = || run.plan.live_cases();
    assert!(
        kept().all(|case| case.boundary == Boundary::Host) && kept().count() >= selectors.len()
    );
    for trial in &run.trials {
        let case = run.plan.case(trial.case).expect("a case");
        assert_eq!(trial.error, None, "{case}");
        let flows = case.flows.unwrap_or(1) as usize;
        assert_eq!(trial.ends.len(), 2 * flows, "{case}: an end is missing");
        // The far end's counters come with its replies.
        assert!(trial.ends.iter().all(|end| end.thread_cpu_ns > 0 && end.count > 0), "{case}");
    }
    for key in
        ["peer.address", "peer.kernel.release", "peer.net.path", "net.path", "peer.load.switch"]
    {
        assert!(run.host_before.get(key).is_some(), "no {key}");
    }
    assert_eq!(run.host_before.get("net.path"), Some("loopback"));
}

/// What crosses a veth pair is measured there, and the paths differ.
#[test]
fn a_pair_over_veth() {
    let _alone = alone();
    let two = match Namespaces::make() {
        Ok(two) => two,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let home = Home::new();
    let far = two.far(&home);
    let fixed = ["run", "--peer", &far, "--rounds", "1", "--measure", "5ms"];
    let measured_there = |more: &[&str]| {
        let mut run = two.near(&home, &[&fixed[..], more].concat());
        let output = run.stdin(Stdio::null()).finish();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(measured()), "{more:?}: {said}");
    };
    // Its link-local address by the interface here, of which it has another that goes before.
    for (zone, out) in [("fe80::2%near", "by-name"), ("[fe80::2%2]", "by-number")] {
        measured_there(&["tcp", "udp", "--peer-address", zone, "--out", out]);
    }
    measured_there(&[]);
    let run = stored(&home.run_file()).expect("a run");
    assert_eq!(run.plan.suite, "pair");
    for key in ["net.path", "peer.net.path"] {
        assert_eq!(run.host_before.get(key), Some("veth"), "{key}");
    }
    assert!(run.trials.iter().all(|trial| trial.error.is_none()));
    // A veth pair hands packets on within one kernel, which copies what it may not lend (Documentation/networking/msg_zerocopy.rst).
    let copied = run.trials.iter().flat_map(|trial| &trial.ends).filter_map(|end| end.zero_copy);
    assert!(copied.map(|sends| sends.copied).sum::<u64>() > 0);
}

/// What listens in a run is a measured link. Beside it, hopcost asks once whether loopback passes TCP, by
/// a listener that it connects to itself and closes.
#[test]
fn nothing_listens_but_a_measured_link() {
    let home = Home::alone();
    let peer = worker(&home);
    let within = "payload=64&boundary=process&place=same-cpu&wait=block";
    let between = "payload=64&boundary=host&place=free&wait=block";
    let trial = |name: &str, rest: &str| format!("roundtrip/{name}?{rest}");
    for (case, listens) in [
        (trial("pipe", within), 0),
        (trial("udp", within), 0),
        (trial("tcp", within), 1),
        (trial("unix-stream", within), 1),
        (trial("udp", between), 1),
        (trial("tcp", between), 1 + 1),
    ] {
        let mut arguments = vec!["trial", &case, "--count", "10"];
        if case.ends_with(between) {
            arguments.extend(["--peer", &peer]);
        }
        let (code, calls) = trace::count(&mut home.hopcost(&arguments), trace::Window::Everywhere);
        let called = (code, calls.of(libc::SYS_listen));
        assert_eq!(called, (0, listens), "exit code and calls of listen(2) of {case}");
    }
}
