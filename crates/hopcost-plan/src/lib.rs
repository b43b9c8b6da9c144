#![forbid(unsafe_code)]
//! What a user asked for, resolved into a [`Plan`]: suites and selectors are
//! expanded, defaults filled in, what cannot be done here is kept with its
//! reason, and the time is shared out.
//!
//! Pure: no clock, no randomness, no files. The caller reads a suite file and
//! the machine, and brings the seed.
//!
//! # What is asked for, from the bottom up
//!
//! Three layers say what is measured, and the more particular one wins key by
//! key: the suite's `[[cases]]`, then the options (`--payload 4KiB`), then the
//! keys of a selector (`pipe?payload=64`).
//!
//! - With a suite, selectors, `--mechanism` and `--workload` choose among its
//!   cases; the other options and a selector's keys replace the suite's values
//!   wherever they mean something (a `call` has no placement and stays as it is).
//! - Without a suite, selectors name what is measured, out of all mechanisms;
//!   without selectors, `--mechanism` does, or every mechanism where only other
//!   options are given.
//! - With none of them, the suite is `ladder`.
//!
//! # Runtimes
//!
//! Rust's mechanisms are given; those of other runtimes are found out, once, when
//! one of these is named or a mechanism is that Rust has not. See [`assign`] for what
//! the ends of two runtimes play.
//!
//! # Time
//!
//! `--rounds` and `--budget` replace both of the suite's. A suite's own budget
//! is for the suite as written: where the command line adds cases to it, only
//! its rounds count. See [`estimate_ns`].

mod advise;
mod along;
mod ask;
mod asked;
mod catalog;
mod claims;
mod compare;
mod error;
mod expand;
mod explain;
mod feasible;
mod glob;
mod judging;
mod machine;
mod order;
mod request;
mod resolve;
mod resume;
mod roles;
mod select;
mod selection;
mod shipped;
mod shown;
mod suite;
mod time;
mod yardstick;

pub use hopcost_model::describe::RuntimeFacts;
use hopcost_model::plan::Plan;

pub use advise::advice;
pub use along::{along, between, spelled};
pub use ask::{Ask, SuiteSource};
pub use claims::{Asking, Check, Claim, Claims, Number, Quantity, claims_of, level, parse_claims};
pub use compare::{comparison, order_of};
pub use error::{PlanError, nearest};
pub use explain::explanation;
pub use judging::judging;
pub use machine::Machine;
pub use order::order;
pub use resolve::plan;
pub use resume::check_resumed;
pub use roles::{RoleAssignment, Roles, assign};
pub use select::{CASES_MAX, Selector};
pub use shipped::{CLAIMS, SHIPPED, claims, shown, shown_by};
pub use shown::{Export, ExportColumn, Label, Published, Shown, Variance};
pub use suite::{Suite, parse_suite};
pub use time::{
    Expected, MEASURE_FLOOR_NS, ROUNDS_DEFAULT, ROUNDS_FOR_INTERVAL, ROUNDS_MAX, RUN_FIXED_NS,
    TRACED_MAX, TRIAL_DEFAULT, TRIAL_FIXED_NS, estimate_ns, expected, rests, rounds_needed,
    spacing_ns, traced_ns, trial_ns,
};
pub use yardstick::{Yardsticks, class, yardsticks};

/// An error where no case of the plan can be measured: then a run has nothing to
/// do, while a dry run still shows every case with its reason.
pub fn ensure_live(plan: &Plan) -> Result<(), PlanError> {
    if plan.live().next().is_some() {
        return Ok(());
    }
    let skipped = plan.cases.iter().find_map(|case| Some((case, case.skip.as_ref()?)));
    let Some((first, reason)) = skipped else {
        return Err(PlanError::NothingLeft("the plan has no cases".to_owned()));
    };
    Err(PlanError::NothingLeft(match plan.cases.len() {
        1 => format!("{}: {reason}", first.id()),
        n => format!("all {n} cases are skipped, the first because: {}: {reason}", first.id()),
    }))
}
