//! `gaps`: reads the clock in a loop, so that whatever takes the CPU away shows as a gap between
//! two readings: other tasks, interrupts, the hypervisor (hwlat and osnoise count the same way).
//!
//! An operation has the next 100 µs to find a gap of a microsecond or more. It ends with the first
//! and takes as long as that gap in virtual time, or no time at all where there is none. A gap may
//! be longer than the time of many operations, which are over at once then: a phase watches the
//! CPU for as long as it has operations, however busy that is.

use std::io;

use hopcost_model::case::Workload;
use hopcost_model::mechanism::{Argument, Facts, Parameter};

use super::{Alone, FACTS, only_caller};
use crate::clock::{Clock, Hardware, Virtual, rough_ticks};
use crate::registry::Row;
use crate::shape::{Attaching, Call, Half};
use crate::workload::{Endpoint, PhaseSpec, Stamped, roundtrip};

pub static ROW: Row = Row::without_link(
    Facts {
        name: "gaps",
        workloads: &[Workload::Roundtrip],
        parameters: &[Parameter {
            name: "clock",
            values: &["virtual"],
            default: "virtual",
            about: "the time of the gaps alone passes",
        }],
        argument: Some(Argument { form: "gaps", fits: |argument| argument.is_none() }),
        ..FACTS
    },
    attach,
);

/// The shortest gap that is counted: longer than any two readings of the clock.
const GAP_MIN_NS: u64 = 1_000;
/// How long an operation looks for one.
const WINDOW_NS: u64 = 100_000;

fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    only_caller(attaching)?;
    Ok(Box::new(Alone(Gaps::new(attaching)?)))
}

struct Gaps {
    last: u64,
    /// When the time of the operations so far is over.
    until: u64,
    gap_min_ticks: u64,
    window_ticks: u64,
    tick_ns: f64,
}

impl Call for Gaps {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(Gaps {
            last: 0,
            until: 0,
            gap_min_ticks: rough_ticks(GAP_MIN_NS),
            window_ticks: rough_ticks(WINDOW_NS),
            tick_ns: 1e9 / rough_ticks(1_000_000_000).max(1) as f64,
        })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        self.until += self.window_ticks;
        while self.last < self.until {
            let (now, _) = Hardware::stamp();
            let gap = now.saturating_sub(self.last);
            self.last = now;
            if gap >= self.gap_min_ticks {
                Virtual::advance((gap as f64 * self.tick_ns) as u64);
                break;
            }
        }
        x
    }
}

impl Endpoint for Alone<Gaps> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        // What lay between two phases is no gap.
        (self.0.last, self.0.until) = (Hardware::stamp().0, Hardware::stamp().0);
        roundtrip::caller::<_, Virtual>(self, 1, spec.count, spec.stamp, out)
    }
}
