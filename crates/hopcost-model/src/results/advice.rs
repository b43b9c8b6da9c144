//! Which mechanism to use for what was asked.

use super::statistic::Estimate;
use crate::axis::Axis;
use crate::case::{Boundary, Case, Placement, Role, Workload};
use crate::document;
use crate::mechanism::{Loss, Mechanism};
use crate::units::format_number;

document! {
    /// What is asked of a mechanism.
    #[derive(Default)]
    pub struct AdviceRequest {
        /// Bytes of a message.
        pub payload_bytes: u32,
        /// Messages per second; `null`: round trips, one after the other.
        pub rate: Option<u32>,
        /// Limit of the 99th percentile.
        pub p99_ns: Option<u64>,
        /// What separates the ends.
        pub boundary: Boundary,
        /// Where the ends run; `null`: where most cases of a stored run have them.
        pub placement: Option<Placement>,
        /// What the ends are written in, spelled as in a case.
        pub runtimes: String,
        /// Whether an end may spin while it waits.
        pub spinning: bool,
        /// Whether messages may be lost.
        pub loss: bool,
        /// What the cases are sorted by.
        pub sort: SortedBy,
    }
}

document! {
    /// What cases are sorted by, the least first.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum SortedBy {
        /// The median, or the cost in batches.
        #[default]
        P50,
        /// The 99th percentile.
        P99,
        /// CPU time of both ends per message.
        Cpu,
    }
}

impl AdviceRequest {
    /// Whether a case is what is asked for, wherever its ends run.
    pub fn is_about(&self, case: &Case) -> bool {
        let workload = match self.rate {
            Some(_) => Workload::Load,
            None => Workload::Roundtrip,
        };
        case.workload == workload
            && case.payload_bytes == Some(self.payload_bytes)
            && case.rate == self.rate
            && case.boundary == self.boundary
            && case.runtimes.to_string() == self.runtimes
            && Axis::unusual(case).next().is_none()
    }

    /// Why a case does not meet the requirements, whatever is measured of it.
    pub fn rules_out(&self, case: &Case, mechanism: Option<&Mechanism>) -> Option<&'static str> {
        let own = mechanism.and_then(|mechanism| mechanism.own.as_ref());
        let spins = own.is_some_and(|own| own.spins_first)
            || [Role::Caller, Role::Callee].into_iter().any(|role| case.wait(role).spins());
        let loses = mechanism.is_some_and(|mechanism| mechanism.here.loss == Loss::Possible);
        match () {
            () if spins && !self.spinning => Some("spins while it waits"),
            () if loses && !self.loss => Some("may lose messages (--allow-loss)"),
            () => None,
        }
    }

    /// `20k messages per second`, or `round trips`
    pub fn what(&self) -> String {
        match self.rate {
            Some(rate) => format!("{} messages per second", format_number(rate.into())),
            None => "round trips, one after the other".to_owned(),
        }
    }
}

document! {
    /// Which mechanism to use.
    #[derive(Default)]
    pub struct Advice {
        /// What was asked.
        pub request: AdviceRequest,
        /// The run that it rests on.
        pub run: String,
        /// Whether there is an answer.
        pub answer: Answer,
        /// The same in a sentence.
        pub says: String,
        /// The cases that are asked for: what meets the requirements, sorted, then what may, then
        /// what does not.
        pub candidates: Vec<Candidate>,
        /// What casts doubt on the run as a whole.
        pub notes: Vec<String>,
        /// The command that measures them again.
        pub command: String,
    }
}

document! {
    /// Whether there is an answer.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum Answer {
        /// The first candidate.
        Recommended,
        /// No candidate meets the requirements; the first comes nearest.
        NothingMeets,
        /// It is not known whether one does.
        #[default]
        Open,
        /// The numbers are invalid.
        Invalid,
    }
}

document! {
    /// A mechanism with its wait, and what it takes.
    pub struct Candidate {
        /// The case.
        pub case: String,
        /// Mechanism, wait, and parameters in which others differ.
        pub name: String,
        /// Where it lies against the requirements.
        pub fit: Fit,
        /// The median, or the cost in batches.
        pub p50: Option<Estimate>,
        /// The 99th percentile.
        pub p99: Option<Estimate>,
        /// CPU time of both ends per message.
        pub cpu_ns_per_message: Option<f64>,
        /// Whether the interval that it is sorted by overlaps that of the first.
        pub overlaps: bool,
        /// Why it does not meet the requirements, or may not.
        pub reason: Option<String>,
    }
}

document! {
    /// Where a case lies against the requirements.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Fit {
        /// It meets them.
        Inside,
        /// Its interval holds the limit, or there is none yet.
        Open,
        /// It does not meet them.
        Outside,
    }
}
