//! Files and disks: no room, no right, taken away, in use, made by somebody else; and whom
//! sockets listen to.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hopcost_model::case::{Boundary, Placement, Workload};

use super::processes::{FILE_OF_500, endless_with};
use super::{BRIEF, Fault, MEASURED, Played, in_namespace, said, until};
use crate::support::wait::InTime;
use crate::support::{Home, edit, mechanisms, roundtrip};

/// A run that would go on for minutes.
const LONG: [&str; 6] = ["run", BRIEF[1], "--rounds", "10000", "--out", "a.hopcost"];
const A: &str = "a.hopcost";

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "the disk is full",
        codes: &[1],
        says: &["full", "finished trials are kept"],
        within_s: 60,
        play: |home| {
            // The report of what is kept comes last.
            let script = "mkdir small && mount -t tmpfs -o size=400k none small && ( \"$@\"; \
                          code=$?; \"$1\" report small/x --format json >report; exit $code ); exit";
            let case = ["run", "pipe?place=same-cpu", "--rounds", "400", "--measure", "30ms"];
            let output =
                in_namespace(home, "-m", script, &[&case[..], &["--out", "small/x"]].concat())?;
            let report = fs::read(home.path().join("report")).expect("a report");
            let document: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
            let plan = &document["plan"];
            assert!(plan["trials_done"].as_u64() > Some(5) && plan["complete"] == false, "{plan}");
            Ok(output)
        },
    },
    Fault {
        name: "no inode for a run",
        codes: &[2],
        says: &["full"],
        within_s: 10,
        play: |home| no_inodes(home, 1),
    },
    Fault {
        name: "no inode for a run's journal",
        codes: &[2],
        says: &["full"],
        within_s: 10,
        play: |home| no_inodes(home, 2),
    },
    Fault {
        name: "a run's file may grow no further (RLIMIT_FSIZE)",
        codes: &[1],
        says: &["finished trials are kept in"],
        within_s: 60,
        play: |home| {
            let case = ["run", "pipe?place=same-cpu", "--rounds", "400", "--measure", "30ms"];
            let mut command = home.hopcost(&[&case[..], &LONG[4..]].concat());
            let limit = || {
                let most = libc::rlimit { rlim_cur: 200 << 10, rlim_max: 200 << 10 };
                // SAFETY: the structure is valid for reading.
                unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &most) };
                Ok(())
            };
            // SAFETY: one system call.
            unsafe { command.pre_exec(limit) };
            let output = command.finish();
            assert!(super::intact(home, &home.path().join(A)) > 2, "trials are lost");
            Ok(output)
        },
    },
    Fault {
        name: "a run's file is moved while it runs",
        codes: &[1],
        says: &["the run stopped;", "finished trials are kept in", "b.hopcost", "somebody moved"],
        within_s: 60,
        play: |home| {
            while_it_runs(home, |path| {
                fs::rename(path, home.path().join("b.hopcost")).expect("to rename");
            })
        },
    },
    Fault {
        name: "a run's file is removed while it runs",
        codes: &[1],
        says: &["a.hopcost: the file was deleted", "lost"],
        within_s: 60,
        play: |home| while_it_runs(home, |path| fs::remove_file(path).expect("to remove")),
    },
    Fault {
        name: "a run's file is cut off while it runs",
        codes: &[1],
        says: &["the run stopped;"],
        within_s: 60,
        play: |home| {
            let cut = |path: &Path| fs::File::options().write(true).open(path)?.set_len(0);
            let output = while_it_runs(home, |path| cut(path).expect("to cut"))?;
            assert!(!said(&output).contains("are kept"), "{}", said(&output));
            fs::remove_file(home.path().join(A)).expect("to remove what is broken");
            Ok(output)
        },
    },
    Fault {
        name: "a run's file and folder are made read-only while it runs",
        codes: &[1, 130],
        says: &["finished trials are kept in"],
        within_s: 60,
        play: |home| {
            let script = "mkdir small && mount -t tmpfs none small && ( \"$@\" & pid=$!; \
                          while [ ! -s small/x ]; do sleep 0.05; done; sleep 0.5; \
                          chmod 444 small/x; chmod 555 small; sleep 0.3; kill $pid; wait $pid; \
                          code=$?; \"$1\" report small/x --format json >report || true; \
                          grep -q '\"complete\": false' report || exit 99; exit $code ); exit";
            let long = ["run", BRIEF[1], "--rounds", "10000", "--out", "small/x"];
            in_namespace(home, "-m", script, &long)
        },
    },
    Fault {
        name: "a home that is read-only, for a run",
        codes: &[2],
        says: &["hopcost: "],
        within_s: 10,
        play: |home| read_only(home, &BRIEF[..4]),
    },
    Fault {
        name: "no temporary directory, for a trial",
        codes: &[2],
        says: &["TMPDIR"],
        within_s: 10,
        play: |home| {
            let mut command = home.hopcost(&["trial", "call/syscall"]);
            Ok(command.env("TMPDIR", "/nonexistent").finish())
        },
    },
    Fault {
        name: "a second run into the same file",
        codes: &[2],
        says: &["a.hopcost", "exist"],
        within_s: 30,
        play: |home| second(home, &LONG),
    },
    Fault {
        name: "a second hopcost goes on with a run that is being made",
        codes: &[2],
        says: &["a.hopcost", "another hopcost"],
        within_s: 30,
        play: |home| second(home, &["run", "--resume", A]),
    },
    Fault {
        name: "two hopcosts at once: a finding in both",
        codes: MEASURED,
        says: &["TWO_HOPCOSTS"],
        within_s: 60,
        play: |home| {
            let case = ["run", "call/syscall", "--measure", "50ms", "--format", "json"];
            let one = |more: &[&str]| {
                let mut command = home.hopcost(&[&case[..], more].concat());
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
            };
            let (first, second) = (one(&["--rounds", "12"]), one(&["--rounds", "12"]));
            let outputs = [first, second].map(|child| child.finish());
            assert!(outputs.iter().all(|output| said(output).contains("TWO_HOPCOSTS")));
            let [output, _] = outputs;
            Ok(output)
        },
    },
    Fault {
        name: "500 cases",
        codes: MEASURED,
        says: &["500 measured"],
        within_s: 60,
        play: |home| {
            let cases: Vec<_> = (1..=500)
                .map(|us| format!("roundtrip/sleep:{us}us?clock=virtual&place=same-cpu"))
                .collect();
            // In memory: every trial is on the disk before the next begins.
            let file = format!("{FILE_OF_500}{}", std::process::id());
            let mut arguments = vec!["run", "--rounds", "1", "--measure", "1ms", "--out", &file];
            arguments.extend(["--format", "json"]);
            arguments.extend(cases.iter().map(String::as_str));
            let output = super::little::counted(home.run(&arguments));
            assert_eq!(super::intact(home, Path::new(&file)), 500);
            fs::remove_file(&file).expect("to remove it");
            Ok(output)
        },
    },
    Fault {
        name: "the clock of the day is set back while it runs",
        codes: MEASURED,
        says: &["hopcost "],
        within_s: 10,
        play: |home| {
            let ended = "json_set(document, '$.about.ended', '1999-12-31T23:59:59Z')";
            edited(home, &format!("UPDATE run SET document = {ended}"))
        },
    },
    Fault {
        name: "a run file edited by hand: its trial begins before the one before is over",
        codes: &[0],
        says: &["the file says what cannot be"],
        within_s: 10,
        play: |home| {
            edited(home, "UPDATE trial SET document = json_set(document, '$.started_ns', 0)")
        },
    },
    Fault {
        name: "a run file edited by hand: a clock of infinite speed",
        codes: &[2],
        says: &["number out of range"],
        within_s: 10,
        play: |home| {
            let fast = r#"UPDATE run SET document =
                replace(document, '"rate_spread_ppm":', '"rate_spread_ppm":9e999,"rate":')"#;
            edited(home, fast)
        },
    },
    Fault {
        name: "a run file with a trigger that empties it",
        codes: &[2],
        says: &["it has a trigger"],
        within_s: 10,
        play: |home| {
            let trigger = "CREATE TRIGGER t AFTER INSERT ON trial BEGIN DELETE FROM trial; END";
            edited(home, trigger)
        },
    },
    Fault {
        name: "a run file with a view in a table's place",
        codes: &[2],
        says: &["table trial: it is missing"],
        within_s: 10,
        play: |home| {
            let view = "PRAGMA legacy_alter_table = ON; ALTER TABLE trial RENAME TO hidden;
                        CREATE VIEW trial AS SELECT * FROM hidden";
            edited(home, view)
        },
    },
    Fault {
        name: "a run file whose samples are a bomb",
        codes: &[2],
        says: &["samples"],
        within_s: 10,
        play: |home| edited(home, "UPDATE trial SET samples = zeroblob(15000000)"),
    },
    Fault {
        name: "a stranger sends datagrams to the sockets of a trial",
        codes: &[0],
        says: &["\"operations\":50000", "\"lost\":0"],
        within_s: 60,
        play: |home| {
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
    },
    Fault {
        name: "every name that a mechanism binds is of loopback or of the run's own folder",
        codes: &[0],
        says: &[],
        within_s: 60,
        play: bound,
    },
];

fn no_inodes(home: &Home, inodes: u32) -> Played {
    let mount = format!("mkdir small && mount -t tmpfs -o nr_inodes={inodes} none small");
    let case = ["run", BRIEF[1], "--rounds", "1", "--out", "small/x"];
    let output = in_namespace(home, "-m", &mount, &case)?;
    let said = said(&output);
    assert!(!said.contains("permission") && said.lines().count() == 1, "{said}");
    Ok(output)
}

/// Refused in one line, in a home that nothing can be written to.
fn read_only(home: &Home, arguments: &[&str]) -> Played {
    let mount = "mkdir tmp data && mount --bind data data && mount -o remount,ro,bind data \
                 && export TMPDIR=\"$PWD/tmp\"";
    let output = in_namespace(home, "-m", mount, arguments)?;
    assert_eq!(said(&output).trim_end().lines().count(), 1, "{}", said(&output));
    Ok(output)
}

/// A long run, once it has finished some trials.
fn begun(home: &Home) -> Child {
    let mut command = home.hopcost(&LONG);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("to start");
    let read = || hopcost_file::open(&home.path().join(A), &|| Ok(Box::new(tempfile::tempdir()?)));
    until(Duration::from_secs(10), "trials", || read().is_ok_and(|run| run.trials.len() > 2));
    child
}

fn while_it_runs(home: &Home, change: impl Fn(&Path)) -> Played {
    let child = begun(home);
    change(&home.path().join(A));
    Ok(child.finish())
}

/// What another hopcost does beside a run, which is not disturbed.
fn second(home: &Home, arguments: &[&str]) -> Played {
    let first = begun(home);
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
    if !Command::new("strace").arg("-V").try_finish().is_ok_and(|output| output.status.success()) {
        return Err("strace is not here");
    }
    let (log, own) = (home.path().join("log"), format!("sun_path=\"{}/", home.path().display()));
    let mut names = 0;
    for facts in mechanisms().filter(|facts| facts.boundaries.contains(&Boundary::Process)) {
        let id = match facts.workloads.contains(&Workload::Roundtrip) {
            true => roundtrip(facts, Boundary::Process, Placement::Free, facts.waits[0].wait).id(),
            false => {
                crate::streams::case(facts, Boundary::Process, Placement::Free, facts.waits[0].wait)
                    .id()
            }
        };
        let inner = home.hopcost(&["trial", &id, "--count", "10"]);
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-e", "trace=bind", "-o"]).arg(&log);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(home.path());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.finish();
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
