//! Machines and users that may do little: few descriptors, little memory, no rights, no /proc.

use std::os::unix::process::CommandExt;
use std::process::Output;

use serde::Deserialize;
use serde_json::Value;

use super::processes::endless_with;
use super::{BRIEF, Fault, MEASURED, Play, Played, fault, said};
use crate::support::wait::InTime;
use crate::support::{Home, filter};

/// A row of little.toml, which says what its keys mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Little {
    name: String,
    codes: Vec<i32>,
    says: Vec<String>,
    words: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    by_stranger: bool,
    denied: Option<String>,
    unshare: Option<String>,
    #[serde(default)]
    change: String,
}

/// The rows of the file.
pub fn faults() -> Vec<Fault> {
    #[derive(Deserialize)]
    struct File {
        fault: Vec<Little>,
    }
    let file: File = toml::from_str(include_str!("little.toml")).expect("little.toml");
    let of = |row: &'static Little| Fault {
        name: &row.name,
        codes: &row.codes,
        says: row.says.iter().map(String::as_str).collect::<Vec<_>>().leak(),
        within_s: 30,
        play: Play::Little(row),
    };
    file.fault.leak().iter().map(of).collect()
}

pub const FAULTS: &[Fault] = &[
    fault("ENOMEM: ever more address space, until it is enough", MEASURED, &[], 60, little_memory),
    fault("a trial's CPU is taken from it", &[0], &["\"pinned\":false"], 30, |home| {
        let id = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
        let (child, workers) = endless_with(home, &[id, "--count", "200000"]);
        for pid in workers {
            hopcost_probe::sys::confine(pid, &[1]).map_err(|_| "there is one CPU")?;
        }
        Ok(child.finish())
    }),
];

/// Runs the words of a row, those of a run briefly, with something taken away.
pub fn played(home: &Home, row: &Little) -> Played {
    let mut words: Vec<&str> = row.words.split(' ').collect();
    let is_run = words[0] == "run";
    if is_run && !words.contains(&"--rounds") {
        words.extend(["--rounds", "1", "--measure", "2ms"]);
    }
    if is_run {
        words.extend(["--format", "json"]);
    }
    if words[0] == "explain" && hopcost_probe::sys::user_id() != 0 {
        return Err("this user may record no events anyway");
    }
    let by: Vec<&str> = row.by.split_whitespace().collect();
    let output = match (row.unshare.as_deref(), row.denied.as_deref()) {
        (Some(option), _) => super::in_namespace(home, option, &row.change, &words)?,
        (_, Some(call)) => {
            let number = match call {
                "io_uring_setup" => libc::SYS_io_uring_setup,
                "memfd_create" => libc::SYS_memfd_create,
                "mq_open" => libc::SYS_mq_open,
                "perf_event_open" => libc::SYS_perf_event_open,
                other => panic!("which number has {other}?"),
            };
            let answers = [libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, libc::SECCOMP_RET_ALLOW];
            let mut command = home.hopcost(&words);
            // SAFETY: the filter is set by system calls, and nothing is allocated.
            unsafe { command.pre_exec(move || filter(number, answers)) };
            command.finish()
        }
        _ if row.by_stranger => {
            let command = home.hopcost_by_stranger(&by, &words);
            command.ok_or("this user has no rights to lose")?.finish()
        }
        _ => home.hopcost_by(&by, &words).finish(),
    };
    Ok(if is_run { counted(output) } else { output })
}

/// Adds to the output how many results there are of which kind.
fn counted(mut output: Output) -> Output {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    for status in ["measured", "skipped", "failed"] {
        let results = document["cases"].as_array().into_iter().flatten();
        let n = results.filter(|result| result["status"] == status).count();
        output.stderr.extend(format!("{n} {status}\n").bytes());
    }
    output
}

/// A run with ever more address space: with too little the loader fails, with more the run is refused,
/// and then it is made.
fn little_memory(home: &Home) -> Played {
    let mut refused = 0;
    for mib in [24, 40, 56, 72, 96, 128, 160, 192] {
        let limit = format!("--as={}", mib << 20);
        let output = home.hopcost_by(&["prlimit", &limit], &BRIEF).finish();
        match output.status.code() {
            Some(2) => {
                assert!(said(&output).contains("ulimit -v"), "{mib} MiB: {}", said(&output));
                refused += 1;
            }
            // Before `main`.
            None | Some(127) if refused == 0 => {}
            _ => {
                assert!(refused > 0, "no limit was refused");
                return Ok(output);
            }
        }
    }
    Err("192 MiB are not enough here")
}
