#![forbid(unsafe_code)]
//! What a user asked for, resolved into a [`Plan`]: suites and selectors are
//! expanded, defaults filled in, what cannot be done here is kept with its
//! reason, and the time is shared out.
//!
//! Pure: no clock, no randomness, no files. The caller reads a suite file and
//! the machine, and brings the seed.
//!
//! What was asked for has one shape, the [`Selector`], whether it stands on the command line, in a
//! suite or in a table; what will be done has another, the [`Plan`]. The planner makes the cases of a
//! selector from the mechanisms that it means.
//!
//! # What is asked for, from the bottom up
//!
//! Three layers say what is measured, and the more particular one wins key by
//! key: the suite's `[[cases]]`, then the options (`--payload 4KiB`), then the
//! keys of a selector (`pipe?payload=64`).
//!
//! - With a suite, selectors choose among its cases; options and a selector's keys replace the suite's
//!   values wherever they mean something (a `call` has no placement and stays as it is).
//! - Without a suite, selectors name what is measured, out of all mechanisms; options alone are for
//!   every mechanism.
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
//! its rounds count. See [`expected`].

mod ask;
mod catalog;
mod claims;
mod error;
mod feasible;
mod machine;
mod order;
mod questions;
mod resolve;
mod roles;
mod shipped;
mod subject;
mod suite;
mod time;
mod yardstick;

use hopcost_model::Plan;
pub use hopcost_model::describe::RuntimeFacts;
use hopcost_model::group::grouped;

use error::Result;

pub use ask::{Ask, CASES_MAX, Selector, SuiteSource};
pub use catalog::Catalog;
pub use claims::{Asking, Check, Claim, Claims, Number, Quantity, level, parse_claims};
pub use error::{PlanError, nearest, unknown};
pub use machine::Machine;
pub use order::{look_after, order, order_of};
pub use questions::{advice, along, between, comparison, explanation, judging, spelled};
pub use resolve::{check_resumed, plan};
pub use roles::{RoleAssignment, Roles, assign};
pub use shipped::{
    CLAIMS, Export, ExportColumn, Label, Published, SHIPPED, Shown, claims, shown, shown_by, suite,
};
pub use suite::{Suite, parse_suite};
pub use time::{
    COUNTED_TRIALS, Expected, MEASURE_FLOOR_NS, ROUNDS_FOR_INTERVAL, ROUNDS_MAX, RUN_FIXED_NS,
    TRACED_MAX, TRIAL_DEFAULT, expected, rests, rounds_needed, spacing_ns, traced_ns, trial_ns,
};
pub use yardstick::{Yardsticks, class, yardsticks};

/// An error where no case of the plan can be measured: then a run has nothing to
/// do, while a dry run still shows every case with its reason.
pub fn ensure_live(plan: &Plan) -> Result<()> {
    if plan.live().next().is_some() {
        return Ok(());
    }
    let skipped = plan.cases.iter().filter(|case| case.skip.is_some());
    let reasons = grouped(skipped, |case| case.skip.as_deref());
    let commonest = reasons.iter().rev().max_by_key(|(_, cases)| cases.len());
    let Some((Some(reason), [first, ..])) = commonest.map(|(why, of)| (why, of.as_slice())) else {
        return Err(PlanError::nothing_left("the plan has no cases".to_owned()));
    };
    Err(PlanError::nothing_left(match plan.cases.len() {
        1 => format!("{}: {reason}", first.id()),
        n => format!("all {n} cases are skipped, such as {}: {reason}", first.id()),
    }))
}
