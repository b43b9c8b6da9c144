//! Machines and users that may do little: few descriptors, little memory, no rights, no /proc.

use std::os::unix::process::CommandExt;
use std::process::Output;

use serde_json::Value;

use super::processes::endless_with;
use super::{BRIEF, Fault, MEASURED, Play, Played, fault, said};
use crate::support::wait::InTime;
use crate::support::{Home, filter};

/// What of the machine is taken away from a command.
#[derive(Clone, Copy)]
pub enum Without {
    /// A resource, but for so much of it (setrlimit(2)).
    Resource(u32, u64),
    /// The same from a user without rights, and any rights.
    RightsAnd(u32, u64),
    /// Memory that may be locked, and root's right to lock more.
    Locks,
    /// A system call, which fails so (seccomp(2)).
    Call(i64, i32),
    /// All CPUs but one.
    Cpus,
    /// In a namespace of its own (unshare(1)): these options, and what a shell does there.
    Namespace(&'static str, &'static str),
}
use Without::{Call, Cpus, Locks, Namespace, Resource, RightsAnd};

/// linux/capability.h
const CAP_IPC_LOCK: libc::c_ulong = 14;

/// A row: name, exit codes, words of the error, what is taken away, and the words of the command.
const fn little(
    name: &'static str,
    codes: &'static [i32],
    says: &'static [&'static str],
    without: Without,
    words: &'static str,
) -> Fault {
    Fault { name, codes, says, within_s: 30, play: Play::Little(without, words) }
}

/// Where a hop's time goes is only seen by the kernel's events.
const EXPLAIN: &str = "explain pipe --place same-cpu";
const FAST_OPEN: &str = "run tcp-connect?place=same-cpu&fast-open=on";
const NO_ROOM: &str = "umount /dev/shm 2>/dev/null; mount -t tmpfs -o ro,size=4k none /dev/shm";
/// A queue without room drops every packet.
const DROPS: &str = "ip link set lo up && tc qdisc add dev lo root pfifo limit 0";
/// Has a shell execute its arguments as root of a container, where nobody has mounted tracefs.
const CONTAINER: &str = "for at in /sys/kernel/tracing /sys/kernel/debug; do \
                         test ! -d $at || mount -t tmpfs none $at; done; \
                         set -- setpriv --bounding-set=-sys_admin \"$@\"";

pub const FAULTS: &[Fault] = &[
    little(
        "forty descriptors",
        MEASURED,
        &["3 measured"],
        Resource(libc::RLIMIT_NOFILE, 40),
        "run pipe,tcp,websocket?place=same-cpu",
    ),
    little(
        "a hundred and twenty descriptors, and a stream of eight flows",
        MEASURED,
        &["1 measured"],
        Resource(libc::RLIMIT_NOFILE, 120),
        "run stream/tcp-sendmsg?flows=8",
    ),
    little(
        "sixteen descriptors, and a stream of eight flows",
        &[2],
        &["ulimit -n", "0 measured"],
        Resource(libc::RLIMIT_NOFILE, 16),
        "run stream/tcp-sendmsg?flows=8",
    ),
    little(
        "256 descriptors, and 1024 connections",
        &[2],
        &["connections=1024 take 4160 open files, and the limit is 256"],
        Resource(libc::RLIMIT_NOFILE, 256),
        "run tcp --connections 1024",
    ),
    little(
        "a run's file may grow no further (RLIMIT_FSIZE)",
        &[1],
        &["finished trials are kept in"],
        Resource(libc::RLIMIT_FSIZE, 200 << 10),
        "run pipe?place=same-cpu --rounds 400 --measure 30ms",
    ),
    little(
        "no POSIX message queues (RLIMIT_MSGQUEUE is 0)",
        &[1],
        &["ulimit -q"],
        Resource(libc::RLIMIT_MSGQUEUE, 0),
        "run posix-mq?place=same-cpu",
    ),
    little(
        "no real-time priorities (RLIMIT_RTPRIO is 0, and no rights)",
        &[1],
        &["SCHED_FIFO"],
        RightsAnd(libc::RLIMIT_RTPRIO, 0),
        "run pipe?place=same-cpu --sched fifo:10",
    ),
    little(
        "pages that may be pinned (RLIMIT_MEMLOCK is 64 KiB, and no rights)",
        &[1],
        &["ulimit -l"],
        RightsAnd(libc::RLIMIT_MEMLOCK, 64 << 10),
        "run stream/tcp-uring-zc?place=free",
    ),
    little(
        "a user without rights",
        MEASURED,
        &["4 measured"],
        RightsAnd(libc::RLIMIT_CORE, 0),
        "run pipe,posix-mq,sysv-msg,signal?place=same-cpu",
    ),
    little(
        "no IPv4 loopback",
        MEASURED,
        &["3 measured"],
        Namespace("-rn", "ip link set lo up; ip address delete 127.0.0.1/8 dev lo"),
        "run tcp,udp,tcp-connect?place=same-cpu",
    ),
    little(
        "the kernel sends and accepts data with the SYN",
        MEASURED,
        &["1 measured"],
        Namespace("-rn", "ip link set lo up; echo 3 >/proc/sys/net/ipv4/tcp_fastopen"),
        FAST_OPEN,
    ),
    little(
        "the kernel accepts no data with the SYN",
        &[2],
        &["fast-open=on needs net.ipv4.tcp_fastopen=3, and it is 1"],
        Namespace("-rn", "ip link set lo up; echo 1 >/proc/sys/net/ipv4/tcp_fastopen"),
        FAST_OPEN,
    ),
    little(
        "seccomp denies io_uring, and the list says so",
        &[0],
        &["tcp-uring-zc        not here: io_uring"],
        Call(libc::SYS_io_uring_setup, libc::EPERM),
        "list",
    ),
    little(
        "seccomp denies POSIX message queues",
        &[1],
        &["1 measured", "1 failed", "opening the queue"],
        Call(libc::SYS_mq_open, libc::EPERM),
        "run posix-mq,pipe?place=same-cpu",
    ),
    little(
        "seccomp denies memfd_create",
        &[2],
        &["memfd_create(2), which a seccomp policy denies"],
        Call(libc::SYS_memfd_create, libc::EPERM),
        "run pipe?place=same-cpu",
    ),
    little(
        "explain where seccomp denies perf events",
        &[2],
        &["cannot record the kernel's events", "seccomp profile"],
        Call(libc::SYS_perf_event_open, libc::EPERM),
        EXPLAIN,
    ),
    little(
        "explain as root of a container without CAP_SYS_ADMIN",
        &[2],
        &["--cap-add SYS_ADMIN"],
        Namespace("-m", CONTAINER),
        EXPLAIN,
    ),
    little(
        "explain in a time namespace whose clock is not that of the events",
        &[2],
        &["cannot be tied"],
        Namespace("-fT --monotonic=1000", "true"),
        EXPLAIN,
    ),
    little(
        "explain by a user without rights",
        &[2],
        &["cannot record the kernel's events", "run as root"],
        RightsAnd(libc::RLIMIT_MEMLOCK, 0),
        EXPLAIN,
    ),
    little(
        "explain without memory that may be locked for the buffers of events",
        &[1],
        &["no memory for 8192 KiB of events", "kernel.perf_event_mlock_kb", "1 case failed"],
        Locks,
        EXPLAIN,
    ),
    little(
        "no /proc",
        &[1, 2],
        &["/proc"],
        Namespace("-m", "mount -t tmpfs none /proc"),
        "run pipe",
    ),
    little(
        "no room in /dev/shm",
        MEASURED,
        &["5 measured"],
        Namespace("-m", NO_ROOM),
        "run futex,semaphore,condvar,shm-ring,posix-mq?place=same-cpu",
    ),
    little(
        "a loopback that is down",
        MEASURED,
        &["1 measured", "4 skipped", "`ip link set lo up`"],
        Namespace("-n", "true"),
        "run tcp,udp,websocket,pipe?place=same-cpu stream/tcp-sendmsg?place=free",
    ),
    little(
        "a loopback that drops everything, and a run over it",
        &[2],
        &["loopback carries nothing"],
        Namespace("-n", DROPS),
        "run tcp",
    ),
    little(
        "one CPU: what needs two is skipped",
        MEASURED,
        &["two CPUs", "1 measured"],
        Cpus,
        "run pipe",
    ),
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

/// Runs the words, those of a run briefly, with something taken away.
pub fn played(home: &Home, without: Without, words: &str) -> Played {
    let mut words: Vec<&str> = words.split(' ').collect();
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
    let mut command = match without {
        RightsAnd(..) => {
            home.hopcost_by_stranger(&words).ok_or("this user has no rights to lose")?
        }
        _ => home.hopcost(&words),
    };
    let take = move || match without {
        Resource(resource, most) | RightsAnd(resource, most) => limit(resource, most),
        Locks => {
            // SAFETY: no pointers.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) };
            limit(libc::RLIMIT_MEMLOCK, 0)
        }
        Call(call, errno) => {
            filter(call, [libc::SECCOMP_RET_ERRNO | errno as u32, libc::SECCOMP_RET_ALLOW])
        }
        Cpus => hopcost_probe::sys::pin(0),
        Namespace(..) => Ok(()),
    };
    // SAFETY: the changes are system calls, which allocate nothing.
    unsafe { command.pre_exec(take) };
    let output = match without {
        Namespace(option, change) => super::in_namespace(home, option, change, &words)?,
        _ => command.finish(),
    };
    Ok(if is_run { counted(output) } else { output })
}

fn limit(resource: u32, most: u64) -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure is valid for reading.
    match unsafe { libc::setrlimit(resource, &limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
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
        let mut command = home.hopcost(&BRIEF);
        // SAFETY: one system call.
        unsafe { command.pre_exec(move || limit(libc::RLIMIT_AS, mib << 20)) };
        let output = command.finish();
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
