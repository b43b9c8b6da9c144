//! What a workload is, apart from its loop: one description each, so that what holds of a
//! new one is stated once.

use crate::case::{Placement, Role, Workload};
use crate::results::Statistic;

/// A workload.
pub struct WorkloadSpec {
    /// What one operation is called.
    pub operation: &'static str,
    /// How its ends go together.
    pub ends: EndsOf,
    /// Messages of one operation.
    pub messages: u32,
    /// Whether they are the smallest that the mechanism can carry, where no size is asked for.
    pub is_least: bool,
    /// Whether the callee stamps too, so that two clocks have to be compared.
    pub is_stamped_by_both: bool,
    /// How many operations a stamp is for.
    pub sampling: Sampling,
    /// When a phase is over.
    pub length: PhaseLength,
    /// Operations of a phase, of one flow, beside those that are counted: the lead-in before
    /// the first stamp, which keeps the two ends' different starting times out of the phase,
    /// and a stream's end marker.
    pub uncounted: u64,
    /// Whether an exchange may lose its message and be counted as lost.
    pub loses: bool,
    /// Statistics that it has besides those of every workload.
    pub statistics: &'static [Statistic],
    /// Keys on which two cases have to agree for a multiple of theirs to mean something.
    pub alike: &'static [&'static str],
    /// Where its ends run by default; absent: on one CPU, and on the nearest two.
    pub place: Option<Placement>,
}

/// How the ends of a workload go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndsOf {
    /// There is but one.
    One,
    /// Each goes on when the other has had its turn.
    InTurn,
    /// They run side by side.
    SideBySide,
}

/// How many operations a stamp is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Batches of two lengths, whose difference is free of the stamps.
    TwoLengths,
    /// One, or a batch where one is short beside a stamp.
    BatchIfShort,
    /// One.
    Each,
}

/// When a phase is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseLength {
    /// After as many operations as fit the time, by a pilot.
    Fitted,
    /// The same, or after as many as were asked for.
    FittedOrAsked,
    /// After as many as the plan says, each after its gap.
    Paced,
    /// After as many as the rate has in the time, each at its own.
    Scheduled,
    /// When the time is up.
    Timed,
}

const CALL: WorkloadSpec = WorkloadSpec {
    operation: "call",
    ends: EndsOf::One,
    messages: 1,
    is_least: false,
    is_stamped_by_both: false,
    sampling: Sampling::TwoLengths,
    length: PhaseLength::Fitted,
    uncounted: 0,
    loses: false,
    statistics: &[],
    alike: &[],
    place: None,
};
const ROUNDTRIP: WorkloadSpec = WorkloadSpec {
    operation: "round trip",
    ends: EndsOf::InTurn,
    messages: 2,
    sampling: Sampling::BatchIfShort,
    length: PhaseLength::FittedOrAsked,
    uncounted: 2,
    loses: true,
    alike: &["payload", "touch", "place"],
    ..CALL
};
const WAKE: WorkloadSpec = WorkloadSpec {
    operation: "wake-up",
    ends: EndsOf::SideBySide,
    is_least: true,
    is_stamped_by_both: true,
    sampling: Sampling::Each,
    length: PhaseLength::Paced,
    uncounted: 1,
    statistics: &[Statistic::P95, Statistic::Stdev],
    alike: &["payload", "touch", "gap", "place"],
    ..CALL
};
const STREAM: WorkloadSpec = WorkloadSpec {
    operation: "message",
    ends: EndsOf::SideBySide,
    sampling: Sampling::Each,
    length: PhaseLength::Timed,
    uncounted: 2,
    alike: &["payload", "touch", "fields", "flows", "ack", "ack-size", "place"],
    place: Some(Placement::Free),
    ..CALL
};
const LOAD: WorkloadSpec = WorkloadSpec {
    operation: "message",
    ends: EndsOf::SideBySide,
    is_stamped_by_both: true,
    sampling: Sampling::Each,
    length: PhaseLength::Scheduled,
    uncounted: 1,
    alike: &["payload", "touch", "rate", "arrivals", "senders", "place"],
    ..CALL
};

impl Workload {
    /// What it is.
    pub const fn spec(self) -> &'static WorkloadSpec {
        match self {
            Workload::Call => &CALL,
            Workload::Roundtrip => &ROUNDTRIP,
            Workload::Wake => &WAKE,
            Workload::Stream => &STREAM,
            Workload::Load => &LOAD,
        }
    }

    /// Whether an end of this role stamps and hands over samples.
    pub fn is_stamped_by(self, role: Role) -> bool {
        role == Role::Caller || self.spec().is_stamped_by_both
    }

    /// Whether it takes a second end.
    pub fn has_two_ends(self) -> bool {
        self.spec().ends != EndsOf::One
    }
}
