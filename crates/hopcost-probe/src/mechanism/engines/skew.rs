//! `skew:TIME`: the `flag` notifier, but the callee's clock is ahead of the
//! caller's by TIME (behind, with a minus sign). The clocks' comparison has to find
//! it, and one-way times have to come out as those of `flag` do.

use std::io;

use hopcost_model::case::Role;
use hopcost_model::units::parse_duration_ns;

use super::bad_argument;
use crate::clock::{Shifted, rough_ticks};
use crate::endpoint::notifier;
use crate::mechanism::flag::Flag;
use crate::shape::{Attaching, Half};
use crate::workload::Endpoint;

/// Attaches an end.
pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let ahead = attaching.case.argument().and_then(ticks_ahead);
    let ahead = ahead.ok_or_else(|| {
        bad_argument(attaching, "skew:TIME with a duration such as 500ns or -1us")
    })?;
    Shifted::set_ticks(match attaching.role {
        Role::Caller => 0,
        Role::Callee => ahead,
    });
    notifier::<Flag, Shifted>(half, attaching)
}

/// A time with or without a sign, in ticks that wrap around.
fn ticks_ahead(text: &str) -> Option<u64> {
    let (text, behind) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let ticks = rough_ticks(parse_duration_ns(text).ok()?);
    Some(if behind { ticks.wrapping_neg() } else { ticks })
}
