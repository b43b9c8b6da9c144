//! Files and disks: no room, no right, taken away, in use, made by somebody else; and whom
//! sockets listen to.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use hopcost_model::case::{Boundary, Placement, Workload};

use super::processes::endless_with;
use super::{BRIEF, Fault, MEASURED, Played, fault, in_namespace, said, shown, until};
use crate::support::wait::InTime;
use crate::support::{Home, edit, mechanisms, roundtrip, stored, text, works};

/// A run that would go on for minutes.
const LONG: [&str; 6] = ["run", BRIEF[1], "--rounds", "10000", "--out", A];
const A: &str = "a.hopcost";

pub const FAULTS: &[Fault] = &[
    fault("the disk is full", &[1], &["full", "finished trials are kept"], 60, |home| {
        // The report of what is kept comes last.
        let script = "mkdir small && mount -t tmpfs -o size=400k none small && ( \"$@\"; \
                          code=$?; \"$1\" report small/x --format json >report; exit $code ); exit";
        let case = ["run", "pipe?place=same-cpu", "--rounds", "400", "--measure", "30ms"];
        let output =
            in_namespace(home, "-m", script, &[&case[..], &["--out", "small/x"]].concat())?;
        let report = fs::read(home.path().join("report")).expect("a report");
        let document: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        let plan = &document["runs"][0];
        assert!(plan["trials_done"].as_u64() > Some(5) && plan["complete"] == false, "{plan}");
        Ok(output)
    }),
    fault(
        "a run's file is moved while it runs",
        &[1],
        &["the run stopped;", "finished trials are kept in", "b.hopcost", "somebody moved"],
        60,
        |home| {
            while_it_runs(home, |path| {
                fs::rename(path, home.path().join("b.hopcost")).expect("to rename");
            })
        },
    ),
    fault(
        "a run's file is removed while it runs",
        &[1],
        &["a.hopcost: the file was deleted", "lost"],
        60,
        |home| while_it_runs(home, |path| fs::remove_file(path).expect("to remove")),
    ),
    fault("a run's file is cut off while it runs", &[1], &["the run stopped;"], 60, |home| {
        let cut = |path: &Path| fs::File::options().write(true).open(path)?.set_len(0);
        let output = while_it_runs(home, |path| cut(path).expect("to cut"))?;
        assert!(!said(&output).contains("are kept"), "{}", said(&output));
        fs::remove_file(home.path().join(A)).expect("to remove what is broken");
        Ok(output)
    }),
    fault("a home that is read-only, for a run", &[2], &["hopcost: "], 10, |home| {
        let mount = "mkdir tmp data && mount --bind data data && mount -o remount,ro,bind data \
                     && export TMPDIR=\"$PWD/tmp\"";
        let output = in_namespace(home, "-m", mount, &BRIEF[..4])?;
        assert_eq!(said(&output).trim_end().lines().count(), 1, "{}", said(&output));
        Ok(output)
    }),
    fault("no temporary directory, for a trial", &[2], &["TMPDIR"], 10, |home| {
        let mut command = home.hopcost(&["trial", "call/syscall"]);
        Ok(command.env("TMPDIR", "/nonexistent").finish())
    }),
    fault("a second run into the same file", &[2], &["a.hopcost", "exist"], 30, |home| {
        second(home, &LONG)
    }),
    fault(
        "a second hopcost goes on with a run that is being made",
        &[2],
        &["a.hopcost", "another hopcost"],
        30,
        |home| second(home, &["run", "--resume", A]),
    ),
    fault("two hopcosts at once: a finding in both", MEASURED, &["TWO_HOPCOSTS"], 60, |home| {
        let first = begun(home, A, "30");
        super::signal(first.id(), libc::SIGSTOP);
        let second = begun(home, "b.hopcost", "10000");
        super::signal(first.id(), libc::SIGCONT);
        let output = first.finish();
        super::signal(second.id(), libc::SIGINT);
        assert!(said(&second.finish()).contains("TWO_HOPCOSTS"));
        Ok(output)
    }),
    fault("the clock of the day is set back while it runs", MEASURED, &["hopcost "], 10, |home| {
        let ended = "json_set(document, '$.about.ended', '1999-12-31T23:59:59Z')";
        edited(home, &format!("UPDATE run SET document = {ended}"))
    }),
    fault(
        "a run file edited by hand: its trial begins before the one before is over",
        &[0],
        &["the file contradicts itself"],
        10,
        |home| edited(home, "UPDATE trial SET document = json_set(document, '$.started_ns', 0)"),
    ),
    fault(
        "a stranger sends datagrams to the sockets of a trial",
        &[0],
        &["\"operations\":50000", "\"lost\":0"],
        60,
        |home| {
            let id = "roundtrip/udp?payload=64&timeout=1s&boundary=process&place=free&wait=block";
            let (child, _) = endless_with(home, &[id, "--count", "50000"]);
            let stranger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let ports = || {
                let table = fs::read_to_string("/proc/net/udp").unwrap_or_default();
                let of = |line: &str| {
                    let address = line.split_whitespace().nth(1)?;
                    u16::from_str_radix(address.strip_prefix("0100007F:")?, 16).ok()
                };
                table.lines().filter_map(of).collect::<Vec<_>>()
            };
            let own = stranger.local_addr().expect("an address").port();
            let others: Vec<_> = ports().into_iter().filter(|&port| port != own).collect();
            assert!(!others.is_empty(), "no sockets");
            for port in others.iter().cycle().take(2000) {
                let _ = stranger.send_to(&[1; 64], ("127.0.0.1", *port));
            }
            Ok(child.finish())
        },
    ),
    fault(
        "every name that a mechanism binds is of loopback or of the run's own folder",
        &[0],
        &[],
        60,
        bound,
    ),
];

/// A long run, once it has finished some trials.
fn begun(home: &Home, out: &str, rounds: &str) -> Child {
    let options = ["--rounds", rounds, "--out", out, "--format", "json"];
    let child = home.start(&[&LONG[..2], &options].concat());
    let begun = || stored(&home.path().join(out)).is_ok_and(|run| run.trials.len() > 2);
    until(Duration::from_secs(10), "trials", begun);
    child
}

/// A run whose file is changed between two commits: SQLite notices it at the next.
fn while_it_runs(home: &Home, change: impl Fn(&Path)) -> Played {
    let (child, journal) = (begun(home, A, LONG[3]), home.path().join("a.hopcost-journal"));
    let stat = format!("/proc/{}/stat", child.id());
    until(Duration::from_secs(10), "a moment without a commit", || {
        super::signal(child.id(), libc::SIGSTOP);
        let is_stopped = || fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        until(Duration::from_secs(10), "it stops", is_stopped);
        let is_idle = fs::metadata(&journal).map_or(true, |found| found.len() == 0);
        if is_idle {
            change(&home.path().join(A));
        }
        super::signal(child.id(), libc::SIGCONT);
        is_idle
    });
    Ok(child.finish())
}

/// What another hopcost does beside a run, which is not disturbed.
fn second(home: &Home, arguments: &[&str]) -> Played {
    let first = begun(home, A, LONG[3]);
    let output = home.run(arguments);
    super::signal(first.id(), libc::SIGINT);
    let first = first.finish();
    assert_eq!(first.status.code(), Some(130), "{}", said(&first));
    Ok(output)
}

/// The report of a run whose file somebody has changed: it writes nothing.
fn edited(home: &Home, sql: &str) -> Played {
    home.run(&["run", BRIEF[1], "--rounds", "3", "--out", "edited"]);
    edit(&home.path().join("edited"), sql);
    let seen = || {
        let entries = fs::read_dir(home.path()).expect("home").flatten();
        let mut all: Vec<_> = entries
            .map(|entry| (entry.path(), entry.metadata().and_then(|m| m.modified()).ok()))
            .collect();
        all.sort();
        all
    };
    let before = seen();
    let output = home.run(&["report", "edited"]);
    assert_eq!(seen(), before, "a report has written something");
    Ok(output)
}

/// Plays a trial by every mechanism under strace(1) and looks at each name that is bound.
fn bound(home: &Home) -> Played {
    if !works("strace", &["-V"]) {
        return Err("strace is not here");
    }
    let (log, own) = (home.path().join("log"), format!("sun_path=\"{}/", shown(home.path())));
    let strace = ["strace", "-f", "--seccomp-bpf", "-e", "trace=bind", "-o", text(&log)];
    let mut names = 0;
    for facts in mechanisms().filter(|facts| facts.boundaries.contains(&Boundary::Process)) {
        let case = match facts.workloads.contains(&Workload::Roundtrip) {
            true => roundtrip,
            false => crate::streams::case,
        };
        let id = case(facts, Boundary::Process, Placement::Free, facts.waits[0]).id();
        let output = home.hopcost_by(&strace, &["trial", &id, "--count", "10"]).finish();
        assert!(output.status.success(), "{id}: {}", said(&output));
        let log = fs::read_to_string(&log).expect("a log");
        for line in log.lines().filter(|line| line.contains(" bind(")) {
            let is_private = line.contains("inet_addr(\"127.0.0.1\")") || line.contains(&own);
            assert!(is_private, "{id}: {line}");
            names += 1;
        }
    }
    assert!(names > 10, "{names}");
    Ok(home.run(&["list"]))
}
