//! What the answer gives times in, and how it names sizes.

use hopcost_model::protocol::ClockReading;
use hopcost_model::results::{Results, TimeUnit};

use crate::number;
use crate::section::model::Scale;

/// The clock whose ticks the times are given in, where they are given in ticks.
fn clock(results: &Results) -> Option<&ClockReading> {
    let mut clocks = results.clocks.iter();
    let rust = clocks.find(|clock| clock.runtime == "rust" && clock.ticks_per_second > 0.0);
    rust.filter(|_| results.plan.unit == TimeUnit::Ticks)
}

/// How a time is written.
pub(super) fn scale(results: &Results) -> Scale {
    clock(results)
        .map_or(Scale::Time, |clock| Scale::Ticks { per_ns: clock.ticks_per_second / 1e9 })
}

/// What is added to the heading of times, which then have no unit of their own.
pub(super) fn heading(results: &Results) -> &'static str {
    if clock(results).is_some() { ", in ticks" } else { "" }
}

/// What a tick is, in a line.
pub(in crate::section) fn ticks(results: &Results) -> Option<String> {
    if results.plan.unit != TimeUnit::Ticks {
        return None;
    }
    let Some(clock) = clock(results) else {
        return Some("The rate of the clock is not known: no times in ticks.".to_owned());
    };
    let name = match clock.source.as_str() {
        "tsc" => "time stamp counter (TSC)",
        "cntvct" => "generic timer (CNTVCT)",
        other => other,
    };
    let rate = clock.ticks_per_second;
    let (ghz, tick) = (number::plain(rate / 1e9, 3), number::plain(1e9 / rate, 3));
    Some(format!("Ticks are of the {name}: {ghz} GHz, 1 tick = {tick} ns."))
}

/// A number of bytes, marked where it is that of the document.
pub(super) fn bytes(bytes: u32, results: &Results) -> String {
    let size = number::bytes(bytes);
    match results.plan.document_payload_bytes == Some(bytes) {
        true => format!("{size} (document)"),
        false => size,
    }
}
