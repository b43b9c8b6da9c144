//! `known:KIND`: operations that take what the table below says, in virtual time, so that it is
//! known what has to come out of a run: two typical durations, stalls, a drift, trials that depend
//! on the one before, or trials that vary by chance alone.
//!
//! `host=two-states` makes everything half as slow again for 60 % of the real time, in stretches of
//! 60 and 120 ms, as a host does that has two speeds. A case with a host has a yardstick that
//! is simulated too: `known:level` on the same host.

use std::io;

use hopcost_model::mechanism::{Argument, Facts, Parameter};

use super::{FACTS, bad_argument, boxed, only_caller};
use crate::clock::Virtual;
use crate::registry::Row;
use crate::shape::{Attaching, Call, Half};
use crate::sys;
use crate::workload::Endpoint;

pub static ROW: Row = Row::without_link(
    Facts {
        name: "known",
        parameters: &[
            Parameter {
                name: "clock",
                values: &["virtual"],
                default: "virtual",
                about: "whose time passes: one that only the engine moves",
            },
            Parameter {
                name: "host",
                values: &["none", "steady", "two-states"],
                default: "none",
                about: "the speeds of the simulated host, which a simulated yardstick follows",
            },
        ],
        argument: Some(Argument {
            form: "known:level",
            fits: |argument| argument.is_some_and(|kind| find(kind).is_some()),
        }),
        ..FACTS
    },
    attach,
);

/// What an operation takes, where nothing changes that.
const LEVEL_NS: f64 = 10_000.0;

/// By how much an operation and a trial are longer than the level.
struct Kind {
    name: &'static str,
    /// From the operation's number and from chance.
    operation: fn(u64, &mut Chance) -> f64,
    /// From the trial's number and from chance.
    trial: fn(u32, &mut Chance) -> f64,
}

const LEVEL: Kind = Kind { name: "level", operation: |_, _| 1.0, trial: |_, _| 1.0 };

const KINDS: &[Kind] = &[
    LEVEL,
    // 30 % half as long again, each within 2 %.
    Kind {
        name: "bimodal",
        operation: |_, chance| {
            let at = if chance.uniform() < 0.3 { 1.5 } else { 1.0 };
            at * (0.98 + 0.04 * chance.uniform())
        },
        ..LEVEL
    },
    // Every tenth a hundred times as long.
    Kind {
        name: "stall",
        operation: |number, _| if number % 10 == 9 { 100.0 } else { 1.0 },
        ..LEVEL
    },
    // A hundredth a trial.
    Kind { name: "drift", trial: |trial, _| 1.0 + 0.01 * f64::from(trial), ..LEVEL },
    // Each trial depends on the one before with a correlation of 0.7.
    Kind { name: "ar1", trial: |trial, _| (0.1 * ar1(trial)).exp(), ..LEVEL },
    // The trials of `ar1`, sixty at a time, in an order in which neighbours were far apart.
    Kind {
        name: "shuffled",
        trial: |trial, _| (0.1 * ar1(trial / 60 * 60 + trial * 23 % 60)).exp(),
        ..LEVEL
    },
    // Each trial by 3.5 %, whenever it is measured.
    Kind { name: "noisy", trial: |_, chance| (0.035 * chance.normal()).exp(), ..LEVEL },
    Kind { name: "noisy+5", trial: |_, chance| 1.05 * (0.035 * chance.normal()).exp(), ..LEVEL },
    Kind { name: "noisy+10", trial: |_, chance| 1.1 * (0.035 * chance.normal()).exp(), ..LEVEL },
];

fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Numbers that look drawn (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// A standard normal deviate, as a sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// An AR(1) series of standard deviates at this trial, the same in every run.
fn ar1(trial: u32) -> f64 {
    const RHO: f64 = 0.7;
    let mut chance = Chance(SEED);
    let mut state = chance.normal();
    for _ in 0..trial {
        state = RHO * state + (1.0 - RHO * RHO).sqrt() * chance.normal();
    }
    state
}

/// Sixty trials of it correlate by 0.69 and 0.50 with those one and two before, shuffled by 0.01, with a
/// standard deviation of 1.01.
const SEED: u64 = 787;

/// How much slower the simulated host is now than at its reference.
#[derive(Clone, Copy)]
enum Host {
    Steady,
    TwoStates,
}

impl Host {
    fn slower(self) -> f64 {
        const STRETCH_NS: u64 = 60_000_000;
        match self {
            Host::Steady => 1.0,
            Host::TwoStates => {
                let stretch = sys::clock_ns(libc::CLOCK_MONOTONIC) / STRETCH_NS;
                // Multiples of the golden ratio are spread evenly over whatever time one looks at.
                let place = stretch.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                if place < (1 << 32) * 4 / 10 { 1.0 } else { 1.5 }
            }
        }
    }
}

fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    only_caller(attaching)?;
    boxed::<Known, Virtual>(attaching)
}

struct Known {
    kind: &'static Kind,
    trial_ns: f64,
    host: Host,
    chance: Chance,
    done: u64,
}

impl Call for Known {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        let kind = attaching.case.argument().and_then(find);
        let kind = kind.ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            bad_argument(attaching, &format!("known: and one of {}", names.join(", ")))
        })?;
        let host = match attaching.parameter("host") {
            "two-states" => Host::TwoStates,
            _ => Host::Steady,
        };
        let now_ns = sys::clock_ns(libc::CLOCK_MONOTONIC);
        let mut chance = Chance(now_ns ^ u64::from(std::process::id()) << 40);
        let trial_ns = LEVEL_NS * (kind.trial)(attaching.trial, &mut chance);
        Ok(Known { kind, trial_ns, host, chance, done: 0 })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        let longer = (self.kind.operation)(self.done, &mut self.chance) * self.host.slower();
        Virtual::advance((self.trial_ns * longer) as u64);
        self.done += 1;
        x
    }
}
