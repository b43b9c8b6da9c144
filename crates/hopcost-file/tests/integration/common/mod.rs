//! Runs made up for tests.

use std::fs;
use std::path::{Path, PathBuf};

use hopcost_file::RunFile;
use hopcost_model::case::{Placement, Role};
use hopcost_model::describe::{Description, WarmUp, WorkerClock};
use hopcost_model::host::{Host, Reading};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{Plan, PlannedCase, TrialShape};
use hopcost_model::protocol::{
    ClockReading, EndCounters, EventReading, GateReading, Stamp, ZeroCopySends,
};
use hopcost_model::raw::{
    Build, CpuAccounting, CpuUse, Moment, RawRun, RawTrial, Reference, RunAbout, StampCheck,
    ThreadUse, Throttling, Yardstick, YardstickClass, YardstickReading,
};
use hopcost_model::trace::{Trace, TraceEvent, TraceKind, TraceThread};
use rusqlite::Connection;
use tempfile::TempDir;

pub const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
pub const SYSCALL: &str = "call/syscall";
pub const SKIPPED: &str = "roundtrip/futex?payload=0&boundary=thread&place=same-llc&wait=spin-then-block:block&spin=20000";

pub const WAKE: &str =
    "wake/pipe?payload=1&gap=10000&boundary=process&place=same-llc&wait=block&idle-knob=spinner";
pub const MIXED: &str =
    "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block&runtime=python:rust";
pub const STREAM: &str = "stream/tcp-send?payload=64&fields=8&flows=2&ack=window:16&boundary=process&place=free&wait=block&more=off";

pub fn about() -> RunAbout {
    RunAbout {
        id: "20261120-201530-4f2a".into(),
        version: "0.1.0".into(),
        commit: "unknown".into(),
        build: Build {
            profile: "release".into(),
            compiler: "rustc 1.95.0".into(),
            target: "x86_64-unknown-linux-gnu".into(),
            slow: vec!["it's \"slow\"".into()],
            checksum: Some("00ff".into()),
        },
        argv: vec!["hopcost".into(), "run".into(), "pip*".into(), "é \"\\".into()],
        started: "2026-11-20T20:15:30Z".into(),
        ended: None,
        resumed: 0,
        group: Some("before the change".into()),
    }
}

pub fn plan() -> Plan {
    let case = PlannedCase::spelled;
    Plan {
        suite: "ladder".into(),
        // Beyond 2^63: seeds are random 64-bit numbers.
        seed: 0xfedc_ba98_7654_3210,
        rounds: 9,
        budget_ns: Some(60_000_000_000),
        comparison: None,
        question: None,
        until: None,
        trial: TrialShape {
            measure_ns: 20_000_000,
            measure_max_ns: 200_000_000,
            operations_min: 1_000,
            warm_up_ns: 5_000_000,
            deadline_ms: 10_000,
            samples_max: 65_536,
            operations: None,
            warm_up_operations: None,
            counted_operations: 0,
            traced_operations: None,
        },
        baseline: Some(PIPE.into()),
        cpus: vec![0, 1],
        relation: Some(Placement::SameLlc),
        pairs: [(Placement::SameLlc, (0, 1)), (Placement::CrossNode, (0, 7))].into(),
        cases: vec![
            case(PIPE, None),
            case(SYSCALL, None),
            case(SKIPPED, Some("only one CPU here")),
            case("not a spelling of today", None),
        ],
    }
}

pub fn host(model: &str) -> Host {
    let reading = |key: &str, value: Option<&str>, reason: Option<&str>| Reading {
        section: "cpu".into(),
        key: key.into(),
        value: value.map(str::to_owned),
        reason: reason.map(str::to_owned),
    };
    Host {
        readings: vec![
            reading("cpu.model", Some(model), None),
            reading("cpu.microcode", None, Some("not available in this VM")),
        ],
    }
}

pub fn clock(cpu: u32) -> ClockReading {
    ClockReading {
        cpu,
        runtime: "rust".into(),
        source: "tsc".into(),
        ticks_per_second: 2_099_998_765.432_1,
        rate_spread_ppm: 0.1 + 0.2,
        resolution_ticks: 2,
        stamp_min_ns: 8.0,
        stamp_p50_ns: 8.25,
        stamp_p99_ns: 1e-310,
        clock_gettime_p50_ns: 21.5,
    }
}

/// The clock of a runtime whose ticks are nanoseconds.
pub fn foreign_clock(cpu: u32) -> ClockReading {
    ClockReading {
        runtime: "python".into(),
        source: "CLOCK_MONOTONIC".into(),
        ticks_per_second: 1e9,
        ..clock(cpu)
    }
}

pub fn worker() -> Description {
    Description {
        protocol: 3,
        runtime: "python".into(),
        version: "0.1.0".into(),
        libraries: [("python".to_owned(), "3.11.7".to_owned())].into(),
        remarks: vec!["the GIL is \"on\"".into()],
        clock: WorkerClock::default(),
        warm_up: WarmUp::UntilSteady,
        mechanisms: vec![
            serde_json::from_str::<Mechanism>(
                r#"{"name":"pipe","workloads":["roundtrip"],"boundaries":["process"],"waits":["block"],
                    "payload":{"min":1,"max":65536,"default":64},"link":"descriptors","peers":"any",
                    "system_calls":{"min":4,"max":4.5}}"#,
            )
            .unwrap(),
        ],
    }
}

pub fn thread(name: &str, seat: Option<Role>) -> ThreadUse {
    let process = seat.unwrap_or(Role::Callee);
    ThreadUse { process, seat, name: name.into(), cpu_ns: 47, voluntary: 11, involuntary: 2 }
}

pub fn end(role: Role) -> EndCounters {
    EndCounters {
        role,
        count: 5,
        samples: 5,
        max_ticks: 90_000,
        elapsed_ticks: 200_000,
        thread_cpu_ns: 50_000,
        voluntary: 5,
        involuntary: 1,
        minor_faults: 2,
        major_faults: 0,
        run_delay_ns: Some(77),
        cpu_before: 0,
        cpu_after: 0,
        cpu_changes: 0,
        pinned: true,
        ..EndCounters::empty(Role::Caller)
    }
}

/// A trial whose numbers follow from its place.
pub fn trial(case: u32, round: u32) -> RawTrial {
    let unit = 18_000 + 100 * round + 7 * case;
    RawTrial {
        case,
        round,
        position: case,
        started_ns: 1_000_000 * u64::from(round + 1),
        took_ns: 900_000,
        phases_ns: 500_000,
        error: None,
        stamp: Some(Stamp::Each),
        wall_ns: 95_238,
        cpu_ns: 60_000,
        ends: vec![end(Role::Caller), end(Role::Callee)],
        cpus_asked: vec![Some(0), None],
        pin_errors: vec![],
        operations: 5,
        samples_taken: 5,
        samples_max_ticks: 90_000,
        samples: vec![unit, unit + 2, 90_000, unit - 4, unit + 600],
        ..RawTrial::empty()
    }
}

pub fn failed(case: u32, round: u32) -> RawTrial {
    RawTrial {
        error: Some("the callee was killed by signal 9".into()),
        stamp: None,
        ends: vec![],
        cpus_asked: vec![],
        pin_errors: vec!["CPU 1 is offline".into()],
        wall_ns: 0,
        cpu_ns: 0,
        operations: 0,
        samples_taken: 0,
        samples_max_ticks: 0,
        samples: vec![],
        ..trial(case, round)
    }
}

pub fn batched(case: u32, round: u32) -> RawTrial {
    RawTrial { stamp: Some(Stamp::TwoLengths { n: 64 }), ..trial(case, round) }
}

pub fn event(name: &str, value: Option<u64>) -> EventReading {
    EventReading {
        event: name.into(),
        value,
        enabled_ns: 50_000,
        running_ns: 25_000,
        unavailable: value.is_none().then(|| "perf_event_paranoid is 3".into()),
    }
}

/// A trace with an event of each kind.
pub fn trace() -> Trace {
    use TraceKind as Kind;
    use TraceThread::{Callee, Caller, Idle, Other};
    let kinds = [
        Kind::Stamp(0),
        Kind::SyscallEnter(1),
        Kind::Waking(Callee),
        Kind::Wakeup(Other(u32::MAX - 3)),
        Kind::IpiSend { to_cpu: 1 },
        Kind::SyscallExit(u32::MAX),
        Kind::Switch { from: Caller, to: Idle },
        Kind::IdleEnter { state: 1 },
        Kind::IdleExit,
        Kind::RescheduleEntry,
        Kind::RescheduleExit,
        Kind::SoftirqEntry(3),
        Kind::NetDevQueue { bytes: 117 },
        Kind::NetifReceive { bytes: 103 },
        Kind::SoftirqExit(3),
        Kind::IrqEntry(24),
        Kind::TimerExpire,
        Kind::IrqExit(24),
        Kind::Migrate { who: Callee, to_cpu: 0 },
        Kind::Stamp(3),
    ];
    let event = |(at, kind)| TraceEvent { at_ns: at << 31, cpu: 1, thread: Caller, kind };
    Trace {
        operations: 1,
        events: (0u64..).zip(kinds).map(event).collect(),
        lost: 2,
        clock_bound_ns: 41,
        untraced_ns: vec![5_000, u32::MAX],
        event_cost_ns: Some(0.1 + 0.2),
        missing: vec!["irq_vectors/reschedule_entry: this kernel has no such tracepoint".into()],
    }
}

/// A trial with everything in it that a plain round trip has not.
pub fn rich(case: u32, round: u32) -> RawTrial {
    let mut trial = trial(case, round);
    let gate = GateReading {
        offset_ticks: -40,
        bound_ticks: 210,
        exchanges: 1_000,
        steps: 100_000,
        backward_steps: 2,
    };
    trial.gates = vec![gate, GateReading { offset_ticks: 38, bound_ticks: 420, ..gate }];
    trial.negative_samples = 3;
    trial.counted = vec![event("system-calls", Some(800)), event("cycles", None)];
    trial.counted_operations = 200;
    trial.ends[0].events = vec![event("context-switches", Some(5))];
    trial.ends[0].zero_copy = Some(ZeroCopySends { completed: 5, copied: 5 });
    trial.ends[0].fill_ns = Some(250.5);
    trial.ends[1].verify_ns = Some(0.1 + 0.2);
    trial.ends[1].flow = 1;
    trial.ends[1].first_tick = 1 << 60;
    trial.ends[1].bytes = 320;
    trial.ends[1].lost = 1;
    trial.ends[1].overruns = 4;
    trial.watched_ns = 99_000;
    trial.throttling = Some(Throttling { times: 2, ns: 40_000 });
    let used = |cpu, steal_ns| CpuUse {
        cpu,
        idle_ns: Some(70_000_000),
        steal_ns,
        interrupt_ns: None,
        interrupts: Some(25),
        softirqs: Some(0),
        network_softirqs: None,
    };
    trial.cpu_uses = vec![used(0, Some(10_000_000)), used(7, None)];
    trial.threads = vec![thread("python3", Some(Role::Caller)), thread("é", None)];
    trial.warm_up_ns = vec![90.5, 0.1 + 0.2, -0.0];
    trial.stamp_check = Some(StampCheck {
        exchanges: 4,
        stamped_ns: 95_238.5,
        stamped_by_caller_ns: 95_238.0,
        bare_before_ns: 0.1 + 0.2,
        bare_after_ns: 90_000.0,
    });
    trial.trace = Some(trace());
    trial
}

/// A yardstick of which everything is known, and one that could not be opened.
pub fn yardsticks() -> Vec<Yardstick> {
    let known = Yardstick {
        class: YardstickClass::Switch,
        case: PIPE.into(),
        cpus: vec![0],
        operations: 288,
        reference: Some(Reference {
            operation_ns: 0.1 + 0.2,
            log_error: 0.0,
            trials: 40,
            runs: 3,
            learnt_from: "20261120-201530-4f2a".into(),
            learnt_on: "2026-11-20T20:15:30Z".into(),
            distance_ns: Some(61.5),
        }),
        gone: None,
    };
    let gone = Some("the caller's worker, attaching: no room".to_owned());
    let never = Yardstick {
        class: YardstickClass::Line,
        cpus: vec![0, 7],
        reference: None,
        gone,
        ..known.clone()
    };
    vec![known, never]
}

/// What the first of them took around a trial.
pub fn readings() -> Vec<YardstickReading> {
    let of = |moment, operation_ns| YardstickReading { yardstick: 0, moment, operation_ns };
    vec![of(Moment::Before, 2_400.5), of(Moment::After, 2_600.5)]
}

/// Where a run file may be made, gone with the directory.
pub fn fresh() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    (dir, path)
}

/// A run begun there.
pub fn begun() -> (TempDir, PathBuf, RunFile) {
    let (dir, path) = fresh();
    let file = RunFile::create(&path, &about(), &plan(), &host("before")).unwrap();
    (dir, path, file)
}

/// A finished run there, and what it should read as.
pub fn made(rounds: u32) -> (TempDir, PathBuf, RawRun) {
    let (dir, path) = fresh();
    let run = make(&path, rounds);
    (dir, path, run)
}

/// A finished run of two cases and `rounds` rounds, and what it should read as.
pub fn make(path: &Path, rounds: u32) -> RawRun {
    make_of(path, rounds, &[])
}

/// The same with further cases, each with one rich trial.
pub fn make_of(path: &Path, rounds: u32, further: &[&str]) -> RawRun {
    let mut plan = plan();
    plan.cases.extend(further.iter().map(|id| PlannedCase::spelled(id, None)));
    let mut file = RunFile::create(path, &about(), &plan, &host("before")).unwrap();
    // A foreign clock first: the views have to choose by runtime.
    let clocks = vec![foreign_clock(0), clock(0), clock(1)];
    let workers = vec![worker()];
    file.put_workers(&workers).unwrap();
    file.put_clocks(&clocks).unwrap();
    file.put_yardsticks(&yardsticks()).unwrap();
    let clocks_after = vec![ClockReading { ticks_per_second: 2.1e9, ..clock(1) }];
    file.put_clocks_after(&clocks).unwrap();
    file.put_clocks_after(&clocks_after).unwrap();
    let (mut trials, mut accounting) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        trials.push(trial(0, round));
        trials.push(if round == 1 { failed(1, round) } else { batched(1, round) });
        let row = CpuAccounting { round, cpu: 0, wall_ns: 5_000_000, steal_ns: 10_000_000 };
        file.put_accounting(&[row, CpuAccounting { cpu: 1, ..row }]).unwrap();
        accounting.extend([row, CpuAccounting { cpu: 1, ..row }]);
    }
    trials.extend((4..plan.cases.len() as u32).map(|case| rich(case, 0)));
    for trial in &mut trials {
        trial.yardsticks = readings();
        file.append_trial(trial).unwrap();
    }
    let ended = "2026-11-20T20:16:30Z".to_owned();
    file.finish(&host("after"), &ended).unwrap();
    RawRun {
        about: RunAbout { ended: Some(ended), ..about() },
        plan,
        host_before: host("before"),
        host_after: Some(host("after")),
        clocks,
        clocks_after,
        yardsticks: yardsticks(),
        workers,
        trials,
        accounting,
    }
}

/// Reads a run; a copy, where one is needed, lies in a folder of this test's.
pub fn open(path: &Path) -> hopcost_file::Result<RawRun> {
    hopcost_file::open(path, &|| Ok(Box::new(tempfile::tempdir()?)))
}

/// A run and its journal as a kill in the middle of a commit leaves them: pages
/// of the file overwritten, the journal that undoes it complete.
pub fn torn(dir: &Path) -> (PathBuf, RawRun) {
    let whole = dir.join("whole");
    let run = make(&whole, 100);
    let conn = Connection::open(&whole).unwrap();
    // A cache of one page makes SQLite write before the commit.
    conn.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE trial SET samples = zeroblob(9000);")
        .unwrap();
    let path = dir.join("torn");
    fs::copy(&whole, &path).unwrap();
    fs::copy(dir.join("whole-journal"), dir.join("torn-journal")).unwrap();
    fs::copy(&whole, dir.join("bare")).unwrap();
    (path, run)
}
