//! What the rows of the stream mechanisms have in common.

use hopcost_model::case::{AckSize, Boundary, Case, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Parameter, Payload, PerOperation, WaitFacts};

use crate::registry::CHANNEL;
use crate::transport::tcp;

/// What the streams within a machine have in common; a row states the rest.
pub const LOCAL: Facts = Facts {
    workloads: &[Workload::Stream],
    // By default eight fields of a page.
    payload: Payload::Bytes { min: 8, max: 16 << 20, default: 32768 },
    ..CHANNEL
};

/// What the streams over TCP have in common.
pub const TCP: Facts = Facts {
    family: "inet stream",
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host],
    parameters: &[NODELAY],
    available: tcp::loopback_available,
    revision: 2,
    ..LOCAL
};

/// The sender's TCP_NODELAY.
pub const NODELAY: Parameter = Parameter {
    name: "nodelay",
    values: &["off", "on"],
    default: "off",
    about: "TCP_NODELAY at the sender's end; off leaves Nagle's algorithm on there, which holds \
            back a part of a segment while an earlier one is unacknowledged (tcp(7)); the \
            receiver always sets it, so that no acknowledgement is held back",
};

/// Refuses a longer acknowledgement where an end acknowledges with the message's number alone.
pub fn number_alone(case: &Case) -> Result<(), String> {
    match case.ack_size {
        AckSize::Number => Ok(()),
        AckSize::Field => {
            Err("it acknowledges with the message's number alone; use ack-size=8".to_owned())
        }
    }
}

/// The reason for a range of system calls where they are one call of the sender,
/// the receiver's receives, and the two of the acknowledgement.
pub const RECEIVES: &str = "one call to send, the receives, and one call at either end for the \
                            acknowledgement; the receiver may find a part of the message and look \
                            again for the rest";

/// A blocking stream that is acknowledged message by message, of a message that
/// fits the buffers: system calls and context switches of a message.
pub const fn block(system_calls: PerOperation, switches_most: f64) -> WaitFacts {
    WaitFacts {
        wait: WaitKind::Block,
        system_calls,
        switches_one_cpu: PerOperation::Between(
            0.9,
            switches_most,
            "the sender sleeps until it is acknowledged and the receiver until it is sent \
             something, which may be a part of a message",
        ),
        switches_two_cpus: PerOperation::Between(
            0.0,
            switches_most,
            "an end that finds what it waits for does not sleep; the receiver may be woken for a \
             part of a message",
        ),
    }
}
