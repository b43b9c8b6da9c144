//! Mechanisms and machines to plan with, without the probe crate.

pub mod runtimes;

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Workload};
use hopcost_model::mechanism::{
    Argument, Facts, Mechanism, Parameter, Payload, PerOperation, Senders, Shape, WaitFacts,
};
use hopcost_model::plan::Plan;
use hopcost_model::units::parse_duration_ns;
use hopcost_plan::{Ask, Catalog, Machine, PlanError, RuntimeFacts, SuiteSource};

pub const SECOND: u64 = 1_000_000_000;

const ONE: PerOperation = PerOperation::Exactly(1.0);

const fn wait(wait: WaitKind) -> WaitFacts {
    WaitFacts { wait, system_calls: ONE, switches_one_cpu: ONE, switches_two_cpus: ONE }
}

const WAITS: &[WaitFacts] = &[
    wait(WaitKind::Block),
    wait(WaitKind::Spin),
    wait(WaitKind::Yield),
    wait(WaitKind::SpinThenBlock),
];
const BLOCK: &[WaitFacts] = &[wait(WaitKind::Block)];
const SPINNING: &[WaitFacts] = &[wait(WaitKind::Spin), wait(WaitKind::Yield)];
const THREAD: &[Boundary] = &[Boundary::Thread];
const CROSSING: &[Boundary] =
    &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host];

const fn bytes(min: u32, max: u32, default: u32) -> Payload {
    Payload::Bytes { min, max, default }
}
const CALL: Facts = Facts {
    shape: Shape::Call,
    workloads: &[Workload::Call],
    boundaries: &[Boundary::Inline],
    ..Facts::BASE
};
const CHANNEL: Facts = Facts {
    workloads: &[Workload::Roundtrip, Workload::Wake, Workload::Load],
    boundaries: &[Boundary::Thread, Boundary::Process],
    waits: WAITS,
    payload: bytes(1, 65_507, 64),
    ..Facts::BASE
};
const NOTIFIER: Facts = Facts { shape: Shape::Notifier, payload: bytes(0, 1 << 20, 0), ..CHANNEL };
const STREAM: Facts = Facts {
    workloads: &[Workload::Stream],
    waits: BLOCK,
    payload: bytes(8, 16 << 20, 32_768),
    ..CHANNEL
};
const OFF: &[&str] = &["off", "on"];
const NODELAY: Parameter = parameter("nodelay", OFF);
const TCP_STREAM: Facts = Facts { boundaries: CROSSING, parameters: &[NODELAY], ..STREAM };
const ENGINE: Facts = Facts {
    hidden: true,
    workloads: &[Workload::Call, Workload::Roundtrip],
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Inline],
    payload: bytes(0, 1 << 20, 0),
    ..CHANNEL
};

const fn parameter(name: &'static str, values: &'static [&'static str]) -> Parameter {
    Parameter { name, values, default: values[0], about: "" }
}

const fn engine(form: &'static str, fits: fn(Option<&str>) -> bool) -> Facts {
    Facts { argument: Some(Argument { form, fits }), ..ENGINE }
}

fn deferred(case: &Case) -> Result<(), String> {
    match case.parameter("setup") {
        Some("deferred") => Err("io_uring_setup: invalid argument".to_owned()),
        _ => Ok(()),
    }
}

/// Mechanisms that have the same facts, by their names.
const ALL: &[(&str, Facts)] = &[
    ("call-inline call call-indirect atomic-rmw mutex-uncontended", CALL),
    (
        "ring-inline",
        Facts { payload: bytes(0, 4096, 44), parameters: &[parameter("reply", OFF)], ..CALL },
    ),
    ("coroutine-switch thread-start", CALL),
    ("udp-send", Facts { payload: bytes(1, 65_507, 64), ..CALL }),
    ("vdso-clock syscall sched-yield", CALL),
    ("pipe-inline", Facts { payload: bytes(1, 65_536, 64), ..CALL }),
    ("flag", Facts { waits: SPINNING, ..NOTIFIER }),
    ("futex semaphore", NOTIFIER),
    ("condvar", Facts { waits: BLOCK, ..NOTIFIER }),
    ("eventfd", NOTIFIER),
    ("signal uring-msg", Facts { waits: BLOCK, ..NOTIFIER }),
    ("park", Facts { boundaries: THREAD, waits: BLOCK, ..NOTIFIER }),
    (
        "pipe",
        Facts { senders: Senders::Several { share: "the pipe", whole_bytes: 4096 }, ..CHANNEL },
    ),
    ("fifo socketpair unix-stream unix-dgram unix-seqpacket", CHANNEL),
    (
        "tcp",
        Facts {
            parameters: &[
                parameter("nodelay", &["on", "off"]),
                parameter("congestion", &["cubic", "reno"]),
            ],
            boundaries: CROSSING,
            ..CHANNEL
        },
    ),
    ("udp websocket", Facts { boundaries: CROSSING, ..CHANNEL }),
    (
        "websocket-threaded",
        Facts {
            waits: BLOCK,
            parameters: &[parameter("answer", &["thread", "handler"])],
            ..CHANNEL
        },
    ),
    (
        "posix-mq",
        Facts { available: || Err("mq_open: function not\nimplemented".to_owned()), ..CHANNEL },
    ),
    ("sysv-msg", CHANNEL),
    ("shm-ring", Facts { payload: bytes(0, 1 << 20, 0), ..CHANNEL }),
    ("channel-std channel-crossbeam", Facts { boundaries: THREAD, ..CHANNEL }),
    ("tcp-send", Facts { parameters: &[NODELAY, parameter("more", OFF)], ..TCP_STREAM }),
    ("tcp-sendmsg tcp-zerocopy tcp-gather tcp-writev", TCP_STREAM),
    (
        "tcp-uring",
        Facts {
            parameters: &[NODELAY, parameter("setup", &["plain", "deferred"])],
            available_as: deferred,
            ..TCP_STREAM
        },
    ),
    ("tcp-uring-zc", TCP_STREAM),
    ("tcp-vmsplice tcp-sendfile", Facts { keeps_buffers: true, ..TCP_STREAM }),
    ("vm-readv", Facts { keeps_buffers: true, ..STREAM }),
    ("shm-stream unix-sendmsg", STREAM),
    ("null", engine("null", |argument| argument.is_none())),
    ("sleep", engine("sleep:1ms", |text| text.is_some_and(|t| parse_duration_ns(t).is_ok()))),
    ("spin", engine("spin:1000", |text| text.is_some_and(|n| n.parse::<u64>().is_ok()))),
    ("replay", engine("replay:FILE", |text| text.is_some_and(|file| !file.is_empty()))),
];

pub fn mechanisms() -> Vec<Mechanism> {
    let of = |(names, facts): &(&'static str, Facts)| {
        let one = |name| Mechanism::of(&Facts { name, ..*facts });
        names.split(' ').map(one).collect::<Vec<_>>()
    };
    ALL.iter().flat_map(of).collect()
}

/// Two CPUs, as the machine that this was written on.
pub fn two() -> Machine {
    Machine {
        allowed_cpus: vec![0, 1],
        pairs: BTreeMap::from([(Placement::SameLlc, (0, 1))]),
        cross: Some(Placement::SameLlc),
        asked: None,
        peer_cpu: None,
        dma_latency: || Ok(()),
        namespaces: || Ok(()),
        one_way: |_, _| Ok(()),
    }
}
/// A container with one CPU.
pub fn one() -> Machine {
    Machine { allowed_cpus: vec![3], ..Machine::default() }
}
/// Two sockets with hardware threads.
pub fn big() -> Machine {
    let pairs =
        [(Placement::Smt, (0, 32)), (Placement::SameLlc, (0, 1)), (Placement::CrossNode, (0, 16))];
    Machine { allowed_cpus: (0..64).collect(), pairs: pairs.into(), ..two() }
}

pub fn ask(selectors: &[&str]) -> Ask {
    Ask { selectors: strings(selectors), seed: 7, ..Ask::default() }
}
/// With a text on each of these axes.
pub fn on<const N: usize>(axes: [(&'static str, &str); N], ask: Ask) -> Ask {
    Ask { axes: axes.map(|(axis, text)| (axis, strings(&[text]))).into(), ..ask }
}
pub fn shipped(name: &str) -> Ask {
    Ask { suite: Some(SuiteSource::Shipped(name.into())), ..ask(&[]) }
}
pub fn file(text: &str) -> Ask {
    Ask { suite: Some(SuiteSource::Text { file: "my.toml".into(), text: text.into() }), ..ask(&[]) }
}
pub fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}
pub fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    planned_on(&two(), ask)
}
pub fn planned_on(machine: &Machine, ask: &Ask) -> Result<Plan, PlanError> {
    hopcost_plan::plan(ask, &Catalog::new(mechanisms(), Vec::new), machine)
}
pub fn planned_beside(
    workers: impl Fn() -> Vec<RuntimeFacts>,
    ask: &Ask,
) -> Result<Plan, PlanError> {
    hopcost_plan::plan(ask, &Catalog::new(mechanisms(), workers), &two())
}
pub fn cases(plan: &Plan) -> Vec<Case> {
    plan.cases.iter().map(|case| case.case.clone().unwrap()).collect()
}
pub fn ids(plan: &Plan) -> Vec<String> {
    plan.cases.iter().map(|case| case.id()).collect()
}
pub fn skips(plan: &Plan) -> Vec<Option<&str>> {
    plan.cases.iter().map(|case| case.skip.as_deref()).collect()
}
/// Every case selects exactly itself.
pub fn select_themselves(plan: &Plan, planned: impl Fn(&Ask) -> Result<Plan, PlanError>) {
    for case in &plan.cases {
        let parsed: Case = case.case.clone().unwrap();
        assert_eq!(parsed.to_string(), &*case.id());
        let again = planned(&ask(&[&case.id()])).unwrap();
        assert_eq!(&again.cases, std::slice::from_ref(case));
    }
}
/// The error's line, checked to be one.
pub fn error(ask: &Ask) -> String {
    one_line(planned(ask).unwrap_err())
}
pub fn one_line(error: PlanError) -> String {
    let text = error.to_string();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(text.len() < 1000, "{text}");
    text
}
