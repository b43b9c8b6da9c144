//! Machines and users that may do little: few descriptors, little memory, no rights, no /proc.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::processes::endless_with;
use super::{BRIEF, Fault, MEASURED, Played, fault, said};
use crate::support::wait::InTime;
use crate::support::{Home, filter};

const JSON: [&str; 6] = ["--rounds", "1", "--measure", "2ms", "--format", "json"];

pub const FAULTS: &[Fault] = &[
    fault("EMFILE at early descriptors of a stream", MEASURED, &[], 60, |home| {
        few_descriptors(home, "stream/tcp-writev?flows=8")
    }),
    fault("forty descriptors", MEASURED, &["3 measured"], 30, |home| {
        let case = [&["run", "pipe,tcp,websocket?place=same-cpu"], &JSON[..]].concat();
        Ok(counted(limited(home, &case, || limit(libc::RLIMIT_NOFILE, 40))))
    }),
    fault("ENOMEM: ever more address space, until it is enough", MEASURED, &[], 60, little_memory),
    fault("no POSIX message queues (RLIMIT_MSGQUEUE is 0)", &[1], &["ulimit -q"], 30, |home| {
        let case = [&["run", "posix-mq?place=same-cpu"], &JSON[..]].concat();
        Ok(limited(home, &case, || limit(libc::RLIMIT_MSGQUEUE, 0)))
    }),
    fault(
        "no real-time priorities (RLIMIT_RTPRIO is 0, and no rights)",
        &[1],
        &["SCHED_FIFO"],
        30,
        |home| {
            let case = ["run", "pipe?place=same-cpu", "--sched", "fifo:10"];
            by_nobody(home, &[&case[..], &JSON[..]].concat())
        },
    ),
    fault("a user without rights", MEASURED, &["4 measured"], 30, |home| {
        let case = ["run", "pipe,posix-mq,sysv-msg,signal?place=same-cpu"];
        by_nobody(home, &[&case[..], &JSON[..]].concat()).map(counted)
    }),
    fault(
        "seccomp denies io_uring",
        MEASURED,
        &["\"status\": \"measured\"", "\"status\": \"skipped\"", "io_uring"],
        30,
        |home| {
            let case = [&["run", "uring-pipe,pipe?place=same-cpu"], &JSON[..]].concat();
            Ok(limited(home, &case, || deny(libc::SYS_io_uring_setup)))
        },
    ),
    fault(
        "seccomp denies POSIX message queues",
        &[1],
        &["\"status\": \"measured\"", "opening the queue", "Operation not permitted"],
        30,
        |home| {
            let case = [&["run", "posix-mq,pipe?place=same-cpu"], &JSON[..]].concat();
            Ok(limited(home, &case, || deny(libc::SYS_mq_open)))
        },
    ),
    fault(
        "explain where seccomp denies perf events",
        &[2],
        &["cannot record the kernel's events", "seccomp profile"],
        30,
        |home| unexplained(home, || deny(libc::SYS_perf_event_open)),
    ),
    fault(
        "explain without tracefs in the kernel",
        &[2],
        &["this kernel has no tracefs", "CONFIG_FTRACE"],
        30,
        |home| match tracefs_is_mounted() {
            true => Err("tracefs is mounted here"),
            false => unexplained(home, || fail(libc::SYS_fsopen, libc::ENODEV)),
        },
    ),
    fault(
        "explain as root of a container without CAP_SYS_ADMIN",
        &[2],
        &["--cap-add SYS_ADMIN"],
        30,
        |home| super::in_namespace(home, "-m", WITHOUT_RIGHT, &UNEXPLAINED),
    ),
    fault(
        "explain without memory that may be locked for the buffers of events",
        &[1],
        &["no memory for 8192 KiB of events", "kernel.perf_event_mlock_kb", "1 case failed"],
        30,
        |home| {
            unexplained(home, || {
                // SAFETY: no pointers. Root has this right, and with it no limit.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) };
                limit(libc::RLIMIT_MEMLOCK, 0)
            })
        },
    ),
    fault(
        "explain in a time namespace whose clock is not that of the events",
        &[2],
        &["clocks of events and stamps cannot be tied"],
        30,
        |home| match hopcost_probe::trace::refused(0) {
            Some(_) => Err("the kernel's events cannot be recorded here"),
            None => super::in_namespace(home, "-fT --monotonic=1000", "true", &UNEXPLAINED),
        },
    ),
    fault(
        "explain by a user without rights",
        &[2],
        &["cannot record the kernel's events", "run as root"],
        30,
        |home| by_nobody(home, &UNEXPLAINED),
    ),
    fault("no /proc", &[1, 2], &["/proc"], 30, |home| {
        super::in_namespace(home, "-m", "mount -t tmpfs none /proc", &BRIEF)
    }),
    fault("no room in /dev/shm", MEASURED, &["5 measured"], 30, |home| {
        let case = ["run", "futex,semaphore,condvar,shm-ring,posix-mq?place=same-cpu"];
        let shm = "umount /dev/shm 2>/dev/null; mount -t tmpfs -o ro,size=4k none /dev/shm";
        super::in_namespace(home, "-m", shm, &[&case[..], &JSON[..]].concat()).map(counted)
    }),
    fault(
        "a loopback that is down",
        MEASURED,
        &["1 measured", "4 skipped", "`ip link set lo up`"],
        30,
        |home| {
            let stream = "stream/tcp-sendmsg?place=free";
            let case = ["run", "tcp,udp,websocket,pipe?place=same-cpu", stream];
            super::in_namespace(home, "-n", "true", &[&case[..], &JSON[..]].concat()).map(counted)
        },
    ),
    fault(
        "one CPU: what needs two is skipped",
        MEASURED,
        &["two CPUs", "\"status\": \"measured\""],
        30,
        |home| {
            let one = || hopcost_probe::sys::pin(0);
            Ok(limited(home, &[&["run", "pipe"], &JSON[..]].concat(), one))
        },
    ),
    fault("a trial's CPU is taken from it", &[0], &["\"pinned\":false"], 30, |home| {
        let id = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
        let (child, workers) = endless_with(home, &[id, "--count", "200000"]);
        for pid in workers {
            hopcost_probe::sys::confine(pid, &[1]).map_err(|_| "there is one CPU")?;
        }
        Ok(child.finish())
    }),
];

/// Runs a command with limits or rights changed between fork and exec.
fn limited(home: &Home, arguments: &[&str], change: fn() -> std::io::Result<()>) -> Output {
    let mut command = home.hopcost(arguments);
    // SAFETY: the changes are system calls, which allocate nothing.
    unsafe { command.pre_exec(change) };
    command.finish()
}

fn limit(resource: u32, most: u64) -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure is valid for reading.
    match unsafe { libc::setrlimit(resource, &limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Has a system call fail with EPERM from now on, as a container's profile has.
fn deny(call: i64) -> std::io::Result<()> {
    fail(call, libc::EPERM)
}

/// Has it fail so, as that of another kernel does.
fn fail(call: i64, errno: i32) -> std::io::Result<()> {
    filter(call, [libc::SECCOMP_RET_ERRNO | errno as u32, libc::SECCOMP_RET_ALLOW])
}

/// Slow hops are only seen by the kernel's events.
const UNEXPLAINED: [&str; 6] = ["explain", "pipe", "--placement", "same-cpu", "--tail", "p99"];

/// linux/capability.h
const CAP_IPC_LOCK: libc::c_ulong = 14;

fn unexplained(home: &Home, change: fn() -> std::io::Result<()>) -> Played {
    match hopcost_probe::sys::user_id() {
        0 => Ok(limited(home, &UNEXPLAINED, change)),
        _ => Err("this user may record no events anyway"),
    }
}

/// Has a shell execute its arguments as root of a container, where nobody has mounted tracefs.
const WITHOUT_RIGHT: &str = "for at in /sys/kernel/tracing /sys/kernel/debug; do \
                             test ! -d $at || mount -t tmpfs none $at; done; \
                             set -- setpriv --bounding-set=-sys_admin \"$@\"";

fn tracefs_is_mounted() -> bool {
    let events = ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"];
    events.iter().any(|folder| Path::new(folder).exists())
}

/// Runs it by a user who owns nothing, in a folder where all may write.
fn by_nobody(home: &Home, arguments: &[&str]) -> Played {
    let command = home.hopcost_by_stranger(arguments);
    let mut command =
        command.ok_or("this user is nobody special, so all other rows have tried it")?;
    Ok(command.finish())
}

/// Adds to what was said how many results there are of which kind.
pub fn counted(mut output: Output) -> Output {
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    let results = document["cases"].as_array().expect("cases");
    for status in ["measured", "skipped", "failed"] {
        let n = results.iter().filter(|result| result["status"] == status).count();
        output.stderr.extend(format!("{n} {status}\n").bytes());
    }
    output
}

/// A run with six limits on descriptors, by bisection. With too few it is refused in one line that says
/// why, and leaves no file; with enough nothing of it fails.
fn few_descriptors(home: &Home, case: &str) -> Played {
    let out = home.path().join("run.hopcost");
    let arguments = ["run", case, "--rounds", "1", "--measure", "1ms", "--out", "run.hopcost"];
    let (mut few, mut enough, mut measured) = (8, 120, None);
    let mut descriptors = enough;
    for _ in 0..6 {
        let mut command = home.hopcost(&arguments);
        // SAFETY: one system call.
        unsafe { command.pre_exec(move || limit(libc::RLIMIT_NOFILE, descriptors)) };
        let output = command.finish();
        if output.status.code() == Some(2) {
            let line = said(&output);
            let is_one = line.contains("ulimit -n") && line.lines().count() == 1;
            assert!(is_one && !out.exists(), "{descriptors}: {line}");
            few = descriptors;
        } else {
            let run = hopcost_file::open(&out, &|| Ok(Box::new(tempfile::tempdir()?)));
            let run = run.unwrap_or_else(|error| panic!("{descriptors}: {error}"));
            let errors: Vec<_> = run.trials.iter().filter_map(|one| one.error.clone()).collect();
            assert_eq!((run.trials.len(), errors), (1, vec![]), "{descriptors}");
            assert!(run.yardsticks.iter().all(|one| one.gone.is_none()), "{descriptors}");
            std::fs::remove_file(&out).expect("a run file");
            (enough, measured) = (descriptors, Some(output));
        }
        descriptors = (few + enough) / 2;
    }
    assert!(few > 8, "no limit was refused");
    Ok(measured.expect("120 descriptors are enough"))
}

/// A run with six limits on its address space, by bisection: with too little the loader fails, with more
/// the run is refused, and then it is made.
fn little_memory(home: &Home) -> Played {
    let (mut little, mut enough, mut refused, mut measured) = (24, 160, None, None);
    let mut mib = enough;
    for _ in 0..6 {
        let mut command = home.hopcost(&BRIEF);
        // SAFETY: one system call.
        unsafe { command.pre_exec(move || limit(libc::RLIMIT_AS, mib << 20)) };
        let output = command.finish();
        match output.status.code() {
            Some(2) => {
                assert!(said(&output).contains("ulimit -v"), "{mib} MiB: {}", said(&output));
                (little, refused) = (mib, refused.or(Some(mib)));
            }
            // Before `main`.
            None | Some(127) if refused.is_none_or(|least| mib < least) => little = mib,
            _ => {
                std::fs::remove_file(home.path().join("next")).expect("a run file");
                (enough, measured) = (mib, Some(output));
            }
        }
        mib = (little + enough) / 2;
    }
    assert!(refused.is_some(), "no limit was refused");
    Ok(measured.expect("160 MiB are enough"))
}
