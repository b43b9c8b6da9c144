//! What is asked of a mechanism that is to be recommended.

use crate::axis::Axis;
use crate::case::{Boundary, Case, Placement, Role, Workload};
use crate::mechanism::Mechanism;
use crate::units::Rate;
use crate::{document, words};

document! {
    /// What is asked of a mechanism.
    #[derive(Default)]
    pub struct AdviceRequest {
        /// Bytes of a message.
        pub payload_bytes: u32,
        /// Messages per second; `null`: round trips, one after the other.
        pub rate: Option<Rate>,
        /// Limit of the 99th percentile.
        pub p99_ns: Option<u64>,
        /// What separates the ends.
        pub boundary: Boundary,
        /// Where the ends run; `null`: where most cases of a stored run have them.
        pub placement: Option<Placement>,
        /// What the ends are written in, spelled as in a case; several with commas.
        pub runtimes: String,
        /// Whether an end may spin while it waits.
        pub spinning: bool,
        /// Whether messages may be lost.
        pub loss: bool,
        /// What the cases are sorted by.
        pub sort: SortedBy,
    }
}

words! {
    /// What cases are sorted by, the least first.
    #[derive(Default)]
    SortedBy, "order" {
        /// The median, or the cost in batches.
        #[default]
        P50 = "p50",
        /// The 99th percentile.
        P99 = "p99",
        /// CPU time of both ends per message.
        Cpu = "cpu",
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
            && self.runtimes.split(',').any(|of| of == case.runtimes.to_string())
            && Axis::unusual(case).next().is_none()
    }

    /// Why a case does not meet the requirements, whatever is measured of it.
    pub fn rules_out(&self, case: &Case, mechanism: Option<&Mechanism>) -> Option<&'static str> {
        let own = mechanism.and_then(|mechanism| mechanism.own.as_ref());
        let spins = own.is_some_and(|own| own.spins_first)
            || [Role::Caller, Role::Callee].into_iter().any(|role| case.wait(role).spins());
        let here = mechanism.map(|mechanism| &mechanism.here);
        let loses = here.is_some_and(|here| here.loses);
        match () {
            () if spins && !self.spinning => Some("spins while it waits"),
            () if loses && !self.loss => Some("may lose messages (--allow-loss)"),
            () if here.is_some_and(|here| here.connects) => Some("connects anew each time"),
            () => None,
        }
    }

    /// `20k messages per second`, or `round trips`
    pub fn what(&self) -> String {
        match self.rate {
            Some(rate) => format!("{} messages per second", rate.brief()),
            None => "round trips, one after the other".to_owned(),
        }
    }
}
