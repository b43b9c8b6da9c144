//! Wake-ups: one table a mechanism, placement and idle knob, one row a gap.

use hopcost_model::case::{IdleKnob, Workload};
use hopcost_model::results::{
    CaseResult, Estimate, Estimates, Results, Statistic, Status, WakeResult,
};

use super::{Cell, Column, Part, Row, Section, grouped, mechanism, missing, setting, trials};
use crate::number::{self, DIGITS_MAX};

/// Microseconds as a power of ten in nanoseconds: all wake-ups in one unit, so
/// that they can be compared down the column and across tables.
const MICROSECONDS: i32 = 3;

const LEAD: &str = "One way: from just before the sender notifies, after having slept for the gap, \
    to the moment when the receiver runs. “Clock”: how far the clocks of the two CPUs may be \
    apart, which no number of that row is more exact than; “one clock”: both ends read the same. “Gap \
    found”: mean time from one notification to the next, with what the kernel's timer adds to the \
    sleep. Min and max are of all trials together.";

pub(super) fn section(results: &Results) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    let cases: Vec<(usize, &CaseResult)> =
        cases.filter(|(_, case)| case.case.workload == Workload::Wake).collect();
    if cases.is_empty() {
        return None;
    }
    let mut parts: Vec<Part> =
        grouped(cases.clone(), |(_, case)| title(case)).into_iter().filter_map(part).collect();
    let missing = missing(&cases);
    match parts.last_mut() {
        Some(last) => last.notes.extend(missing),
        None => parts.push(Part { notes: missing, ..Part::default() }),
    }
    Some(Section { id: "wake", title: "Wake-up after a gap", lead: LEAD.to_owned(), parts })
}

/// `semaphore, process, same-llc, block`
fn title(case: &CaseResult) -> String {
    let mut words = vec![mechanism(case)];
    words.extend(case.case.payload_bytes.filter(|bytes| *bytes > 0).map(number::bytes));
    words.extend(setting(case));
    if case.case.idle_knob != IdleKnob::None {
        words.push(format!("idle knob {}", case.case.idle_knob));
    }
    format!("{}; times in µs", words.join(", "))
}

fn part((title, cases): (String, Vec<(usize, &CaseResult)>)) -> Option<Part> {
    let mut measured: Vec<(usize, &CaseResult, &WakeResult)> = cases
        .into_iter()
        .filter(|(_, case)| case.status == Status::Measured)
        .filter_map(|(index, case)| Some((index, case, case.wake.as_ref()?)))
        .collect();
    measured.sort_by_key(|(_, _, wake)| wake.gap_asked_ns);
    if measured.is_empty() {
        return None;
    }
    let put_off = measured.iter().any(|(_, _, wake)| wake.overrun_share > 0.0);
    let mut columns = vec![
        Column::number("gap"),
        Column::number("gap found").fold(8),
        Column::of("mean ± stdev", "µs"),
        Column::of("min", "µs").fold(4),
        Column::of("p50 [interval]", "µs"),
        Column::of("p95", "µs").fold(2),
        Column::of("p99", "µs"),
        Column::of("max", "µs").fold(5),
        Column::number("clock").fold(3),
        Column::number("n").fold(7),
        Column::words("valid?"),
    ];
    if put_off {
        columns.insert(9, Column::number("put off").fold(6));
    }
    let row = |(index, case, wake): (usize, &CaseResult, &WakeResult)| {
        let mut cells = cells(case, wake);
        if put_off {
            let share = Some(wake.overrun_share).filter(|share| *share > 0.0);
            cells.insert(9, Cell::maybe(share, number::share));
        }
        Row { cells, case: Some(index) }
    };
    let rows = measured.into_iter().map(row).collect();
    Some(Part { title, columns, rows, ..Part::default() })
}

fn cells(case: &CaseResult, wake: &WakeResult) -> Vec<Cell> {
    let estimates = case.estimates.as_ref();
    let of = |pick: fn(&Estimates) -> Option<&Estimate>| estimates.and_then(pick);
    let micro = |estimate: &Estimate| number::scaled(estimate, MICROSECONDS, DIGITS_MAX);
    let clock = match wake.clock_bound_ns {
        None => Cell::Text("not known".to_owned()),
        Some(0.0) => Cell::Number("one clock".to_owned(), 0.0),
        Some(bound) => Cell::Number(format!("±{}", number::rough(bound, number::UNICODE)), bound),
    };
    let max = estimates.and_then(|estimates| estimates.exact(Statistic::Max));
    let least = estimates.and_then(|estimates| estimates.exact(Statistic::Least));
    vec![
        Cell::Number(number::exact(wake.gap_asked_ns), wake.gap_asked_ns as f64),
        Cell::maybe(wake.gap_found_ns, |ns| number::duration(ns, 3, number::UNICODE)),
        mean_and_spread(of(|e| e.get(Statistic::Mean)), of(|e| e.get(Statistic::Stdev))),
        Cell::maybe(least, |ns| number::plain(ns / 1e3, 3)),
        Cell::estimate(of(|e| e.get(Statistic::P50)), micro),
        Cell::point(of(|e| e.get(Statistic::P95)), micro),
        Cell::point(of(|e| e.get(Statistic::P99)), micro),
        Cell::maybe(max, |ns| number::plain(ns / 1e3, 3)),
        clock,
        trials(case),
        Cell::Validity(case.validity),
    ]
}

/// `63.2 ± 22.0`
fn mean_and_spread(mean: Option<&Estimate>, stdev: Option<&Estimate>) -> Cell {
    let value = |estimate| number::scaled(estimate, MICROSECONDS, DIGITS_MAX).value;
    match (mean, stdev) {
        (Some(mean), Some(stdev)) if mean.point.is_some() && stdev.point.is_some() => Cell::Number(
            format!("{} ± {}", value(mean), value(stdev)),
            mean.point.unwrap_or_default(),
        ),
        (Some(mean), _) => Cell::point(Some(mean), |e| number::scaled(e, MICROSECONDS, DIGITS_MAX)),
        _ => Cell::none(),
    }
}
