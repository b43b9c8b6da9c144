//! Mechanisms and machines to plan with, without the probe crate.
#![allow(missing_docs)]

pub mod runtimes;

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Workload};
use hopcost_model::mechanism::{
    Argument, Facts, Mechanism, Parameter, Payload, PerOperation, Senders, Shape, WaitFacts,
};
use hopcost_model::plan::Plan;
use hopcost_model::units::parse_duration_ns;
use hopcost_plan::{Ask, Machine, PlanError};

const ONE: PerOperation = PerOperation::Exactly(1.0);

const fn wait(wait: WaitKind) -> WaitFacts {
    WaitFacts { wait, system_calls: ONE, switches_one_cpu: ONE, switches_two_cpus: ONE }
}

const BLOCKING: &[WaitFacts] = &[
    wait(WaitKind::Block),
    wait(WaitKind::Spin),
    wait(WaitKind::Yield),
    wait(WaitKind::SpinThenBlock),
];
const BLOCK: &[WaitFacts] = &[wait(WaitKind::Block)];
const SPINNING: &[WaitFacts] = &[wait(WaitKind::Spin), wait(WaitKind::Yield)];
const ANY: &[Boundary] = &[Boundary::Thread, Boundary::Process];
const THREAD: &[Boundary] = &[Boundary::Thread];
const CROSSING: &[Boundary] =
    &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host];
const CARRIED: Payload = Payload::Bytes { min: 1, max: 65_507, default: 64 };
const BARE: Payload = Payload::Bytes { min: 0, max: 1 << 20, default: 0 };

fn yes() -> Result<(), String> {
    Ok(())
}
fn no() -> Result<(), String> {
    Err("mq_open: function not\nimplemented".to_owned())
}

const fn facts(name: &'static str, shape: Shape) -> Facts {
    Facts {
        name,
        family: "test",
        shape,
        workloads: &[Workload::Roundtrip, Workload::Wake, Workload::Load],
        boundaries: ANY,
        waits: BLOCKING,
        payload: CARRIED,
        available: yes,
        ..Facts::BASE
    }
}
const fn call(name: &'static str) -> Facts {
    Facts {
        workloads: &[Workload::Call],
        boundaries: &[Boundary::Inline],
        waits: &[],
        payload: Payload::None,
        ..facts(name, Shape::Call)
    }
}
const fn notifier(name: &'static str) -> Facts {
    Facts { payload: BARE, ..facts(name, Shape::Notifier) }
}
const fn channel(name: &'static str) -> Facts {
    facts(name, Shape::Channel)
}
const OFF: &[&str] = &["off", "on"];
const NODELAY: Parameter = Parameter { name: "nodelay", values: OFF, default: "off", about: "" };
const SETUP: Parameter =
    Parameter { name: "setup", values: &["plain", "deferred"], default: "plain", about: "" };
const ANSWER: Parameter =
    Parameter { name: "answer", values: &["thread", "handler"], default: "thread", about: "" };
const REPLY: Parameter = Parameter { name: "reply", values: OFF, default: "off", about: "" };
const MORE: Parameter = Parameter { name: "more", values: OFF, default: "off", about: "" };

const fn stream(name: &'static str) -> Facts {
    Facts {
        workloads: &[Workload::Stream],
        waits: BLOCK,
        payload: Payload::Bytes { min: 8, max: 16 << 20, default: 32_768 },
        ..facts(name, Shape::Channel)
    }
}
const fn tcp_stream(name: &'static str) -> Facts {
    Facts { boundaries: CROSSING, parameters: &[NODELAY], ..stream(name) }
}
const fn engine(name: &'static str, form: &'static str, fits: fn(Option<&str>) -> bool) -> Facts {
    Facts { argument: Some(Argument { form, fits }), ..hidden(name) }
}
const fn hidden(name: &'static str) -> Facts {
    Facts {
        hidden: true,
        workloads: &[Workload::Call, Workload::Roundtrip],
        boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Inline],
        payload: BARE,
        ..facts(name, Shape::Channel)
    }
}

static ALL: &[Facts] = &[
    call("call-inline"),
    call("call"),
    call("call-indirect"),
    call("atomic-rmw"),
    call("mutex-uncontended"),
    Facts {
        payload: Payload::Bytes { min: 0, max: 4096, default: 44 },
        parameters: &[REPLY],
        ..call("ring-inline")
    },
    call("coroutine-switch"),
    call("thread-start"),
    Facts { payload: CARRIED, ..call("udp-send") },
    call("vdso-clock"),
    call("syscall"),
    call("sched-yield"),
    Facts { payload: Payload::Bytes { min: 1, max: 65_536, default: 64 }, ..call("pipe-inline") },
    Facts { waits: SPINNING, ..notifier("flag") },
    notifier("futex"),
    notifier("semaphore"),
    Facts { waits: BLOCK, ..notifier("condvar") },
    notifier("eventfd"),
    Facts { waits: BLOCK, ..notifier("signal") },
    Facts { waits: BLOCK, ..notifier("uring-msg") },
    Facts { boundaries: THREAD, waits: BLOCK, ..notifier("park") },
    Facts { senders: Senders::Several { share: "the pipe", whole_bytes: 4096 }, ..channel("pipe") },
    channel("fifo"),
    channel("socketpair"),
    channel("unix-stream"),
    channel("unix-dgram"),
    channel("unix-seqpacket"),
    Facts {
        parameters: &[
            Parameter { name: "nodelay", values: &["on", "off"], default: "on", about: "" },
            Parameter {
                name: "congestion",
                values: &["cubic", "reno"],
                default: "cubic",
                about: "",
            },
        ],
        boundaries: CROSSING,
        ..channel("tcp")
    },
    Facts { boundaries: CROSSING, ..channel("udp") },
    Facts { boundaries: CROSSING, ..channel("websocket") },
    Facts { waits: BLOCK, parameters: &[ANSWER], ..channel("websocket-threaded") },
    Facts { available: no, ..channel("posix-mq") },
    channel("sysv-msg"),
    Facts { payload: BARE, ..channel("shm-ring") },
    Facts { boundaries: THREAD, ..channel("channel-std") },
    Facts { boundaries: THREAD, ..channel("channel-crossbeam") },
    Facts { parameters: &[NODELAY, MORE], ..tcp_stream("tcp-send") },
    tcp_stream("tcp-sendmsg"),
    tcp_stream("tcp-zerocopy"),
    tcp_stream("tcp-gather"),
    tcp_stream("tcp-writev"),
    Facts {
        parameters: &[NODELAY, SETUP],
        available_as: |case| match case.parameter("setup") {
            Some("deferred") => Err("io_uring_setup: invalid argument".to_owned()),
            _ => Ok(()),
        },
        ..tcp_stream("tcp-uring")
    },
    tcp_stream("tcp-uring-zc"),
    Facts { keeps_buffers: true, ..tcp_stream("tcp-vmsplice") },
    Facts { keeps_buffers: true, ..tcp_stream("tcp-sendfile") },
    Facts { keeps_buffers: true, ..stream("vm-readv") },
    stream("shm-stream"),
    stream("unix-sendmsg"),
    engine("null", "null", |argument| argument.is_none()),
    engine("sleep", "sleep:1ms", |argument| argument.is_some_and(|t| parse_duration_ns(t).is_ok())),
    engine("spin", "spin:1000", |argument| argument.is_some_and(|n| n.parse::<u64>().is_ok())),
    engine("replay", "replay:FILE", |argument| argument.is_some_and(|file| !file.is_empty())),
];

pub fn mechanisms() -> Vec<Mechanism> {
    ALL.iter().map(Mechanism::of).collect()
}

/// Two CPUs, as the machine that this was written on.
pub fn two() -> Machine {
    Machine {
        allowed_cpus: vec![0, 1],
        pairs: BTreeMap::from([(Placement::SameLlc, (0, 1))]),
        cross: Some(Placement::SameLlc),
        asked: None,
        peer_cpu: None,
        dma_latency: yes,
        namespaces: yes,
        one_way: |_, _| Ok(()),
    }
}
/// The same where a plain user may do neither.
pub fn unprivileged() -> Machine {
    let denied = || Err("permission\ndenied".to_owned());
    Machine { dma_latency: denied, namespaces: denied, ..two() }
}
/// A container with one CPU.
pub fn one() -> Machine {
    Machine { allowed_cpus: vec![3], ..Machine::default() }
}
/// Two sockets with hardware threads.
pub fn big() -> Machine {
    Machine {
        allowed_cpus: (0..64).collect(),
        pairs: BTreeMap::from([
            (Placement::Smt, (0, 32)),
            (Placement::SameLlc, (0, 1)),
            (Placement::CrossNode, (0, 16)),
        ]),
        cross: Some(Placement::SameLlc),
        asked: None,
        peer_cpu: None,
        dma_latency: yes,
        namespaces: yes,
        one_way: |_, _| Ok(()),
    }
}

pub fn ask(selectors: &[&str]) -> Ask {
    Ask { selectors: strings(selectors), seed: 7, ..Ask::default() }
}
/// With a text on each of these axes.
pub fn on<const N: usize>(axes: [(&'static str, &str); N], ask: Ask) -> Ask {
    Ask { axes: axes.map(|(axis, text)| (axis, strings(&[text]))).into(), ..ask }
}
pub fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}
pub fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    hopcost_plan::plan(ask, mechanisms(), &Vec::new, &two())
}
pub fn planned_on(machine: &Machine, selectors: &[&str]) -> Plan {
    hopcost_plan::plan(&ask(selectors), mechanisms(), &Vec::new, machine).unwrap()
}
pub fn cases(plan: &Plan) -> Vec<Case> {
    plan.cases.iter().map(|case| case.case.clone().unwrap()).collect()
}
pub fn ids(plan: &Plan) -> Vec<String> {
    plan.cases.iter().map(|case| case.id()).collect()
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
