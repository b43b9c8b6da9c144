//! A case taken apart, which JSON, CSV and the tables of a run file share.

use std::collections::BTreeMap;

use crate::case::{
    AckSize, Arrivals, Boundary, Case, IdleKnob, Placement, Touch, WaitKind, Workload,
};
use crate::units::Rate;

/// Declares the columns: name, type and value.
macro_rules! columns {
    ($($(#[doc = $help:literal])* $name:ident: $type:ty = $value:expr;)+) => {
        document! {
            /// A case taken apart, for programs.
            #[derive(Default)]
            pub struct CaseParts { $($(#[doc = $help])* pub $name: $type,)+ }
        }
        impl CaseParts {
            /// Takes a case apart.
            pub fn of(case: &Case) -> Self {
                fn value<T>(case: &Case, of: fn(&Case) -> T) -> T { of(case) }
                CaseParts { $($name: value(case, $value),)+ }
            }
        }
    };
}

columns! {
    /// What was done.
    workload: Workload = |case| case.workload;
    /// With what.
    mechanism: String = |case| case.mechanism.clone();
    /// Bytes a message; `null` where the mechanism carries none.
    payload_bytes: Option<u32> = |case| case.payload_bytes;
    /// Fields of a message of a stream.
    fields: Option<u32> = |case| case.fields;
    /// Bytes of one of them.
    field_bytes: Option<u32> = |case| case.field_bytes();
    /// Flows of a stream.
    flows: Option<u32> = |case| case.flows;
    /// When a stream is acknowledged.
    ack: Option<String> = |case| Some(case.ack?.to_string());
    /// How long the acknowledgement of a stream's message is.
    ack_size: Option<AckSize> = |case| case.ack?.window().map(|_| case.ack_size);
    /// How long the sender of a wake-up sleeps before it.
    gap_ns: Option<u64> = |case| case.gap_ns;
    /// What keeps the receiver's CPU from idling deeply; `none` for all but wake-ups.
    idle_knob: IdleKnob = |case| case.idle_knob;
    /// What separates the ends.
    boundary: Boundary = |case| case.boundary;
    /// Where they run; `null` for `call`.
    placement: Option<Placement> = |case| case.placement;
    /// How the caller waits; `null` for `call`.
    wait_caller: Option<WaitKind> = |case| Some(case.waits?.caller);
    /// How the callee waits; `null` for `call`.
    wait_callee: Option<WaitKind> = |case| Some(case.waits?.callee);
    /// Both waits in one word (`block`, `block:spin`); `null` for `call`.
    wait: Option<String> = |case| Some(case.waits?.to_string());
    /// Budget of `spin-then-block`.
    spin_budget_ns: Option<u64> = |case| case.spin_budget_ns;
    /// What the ends are written in, in one word (`python`, `python:rust`).
    runtime: String = |case| case.runtimes.to_string();
    /// What the caller is written in.
    runtime_caller: String = |case| case.runtimes.caller.to_string();
    /// What the callee is written in; the caller's for `call`.
    runtime_callee: String = |case| case.runtimes.callee.to_string();
    /// Scheduling policy.
    sched: String = |case| case.sched.to_string();
    /// The mechanism's own parameters.
    parameters: BTreeMap<String, String> = |case| case.parameters.clone();
    /// How much of a message is written and compared; `null` for `call`.
    touch: Option<Touch> = |case| (case.workload != Workload::Call).then_some(case.touch);
    /// Round trips in flight; `null` for all but `roundtrip`.
    window: Option<u32> = |case| (case.workload == Workload::Roundtrip).then_some(case.window);
    /// Connections that they use in turn; `null` for all but `roundtrip`.
    connections: Option<u32> =
        |case| (case.workload == Workload::Roundtrip).then_some(case.connections);
    /// The congestion control of TCP that is asked for; `system` is what new sockets have.
    congestion: String = |case| case.congestion.clone();
    /// The send buffer of TCP that is asked for; 0 where the kernel sizes it.
    sndbuf_bytes: u32 = |case| case.sndbuf_bytes;
    /// The receive buffer of TCP that is asked for; 0 where the kernel sizes it.
    rcvbuf_bytes: u32 = |case| case.rcvbuf_bytes;
    /// How long a receive polls the device's queue; 0 where sockets do as they are set up.
    busy_poll_ns: u32 = |case| case.busy_poll_ns;
    /// Messages a second that a load offers.
    rate: Option<Rate> = |case| case.rate;
    /// When they are to be sent; `null` for all but `load`.
    arrivals: Option<Arrivals> = |case| case.rate.map(|_| case.arrivals);
    /// Ends that send to the one receiver; `null` for all but `load`.
    senders: Option<u32> = |case| case.rate.map(|_| case.senders);
}
