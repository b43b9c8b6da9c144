//! Facts of made-up mechanisms with every kind of entry.

pub mod runtimes;

use hopcost_model::case::{Boundary, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Parameter, Payload, PerOperation, Shape, WaitFacts};

use PerOperation::{Between, Exactly};

const POLLS: &str = "an end that polls makes as many calls as it has to wait for";

pub static PIPE: Facts = Facts {
    name: "pipe",
    family: "pipe",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip],
    boundaries: &[Boundary::Thread, Boundary::Process],
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: Exactly(4.0),
            switches_one_cpu: Exactly(2.0),
            switches_two_cpus: Between(0.0, 2.0, "the message may be there before the end sleeps"),
        },
        WaitFacts {
            wait: WaitKind::Spin,
            system_calls: Between(4.0, 100_000.0, POLLS),
            switches_one_cpu: Between(0.0, 10.0, POLLS),
            switches_two_cpus: Exactly(0.0),
        },
    ],
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 65_536, default: 64 },
    parameters: &[Parameter {
        name: "capacity",
        values: &["default", "1MiB"],
        default: "default",
        about: "size of the ring, set with F_SETPIPE_SZ",
    }],
    ..Facts::BASE
};

pub static POSIX_MQ: Facts = Facts {
    name: "posix-mq",
    family: "message queue",
    payload: Payload::Bytes { min: 0, max: 8_192, default: 64 },
    waits: &[WaitFacts {
        wait: WaitKind::Block,
        system_calls: Exactly(4.0),
        switches_one_cpu: Exactly(2.0),
        switches_two_cpus: Exactly(2.0),
    }],
    parameters: &[],
    available: || Err("mq_open: Function not implemented".to_owned()),
    ..PIPE
};

pub static SYSCALL: Facts = Facts {
    name: "syscall",
    family: "call",
    shape: Shape::Call,
    workloads: &[Workload::Call],
    boundaries: &[Boundary::Inline],
    waits: &[],
    call_system_calls: Some(Exactly(1.0)),
    payload: Payload::None,
    parameters: &[],
    ..PIPE
};

pub static SLEEP: Facts = Facts { name: "sleep", family: "test", hidden: true, ..PIPE };

pub static ALL: [&Facts; 4] = [&SYSCALL, &PIPE, &POSIX_MQ, &SLEEP];
