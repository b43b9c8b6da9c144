//! Wake-ups: one table a mechanism, placement and idle knob, one row a gap.

use hopcost_model::case::{IdleKnob, Workload};
use hopcost_model::results::{CaseResult, Results, Statistic, Status, WakeResult};

use super::model::{Block, Cell, Column, Rows, Scale, Section, Unit, Value};
use super::words::{estimated, grouped, mechanism, missing, payload, setting, trials};
use crate::number;

/// Microseconds as a power of ten in nanoseconds: all wake-ups in one unit, so
/// that they can be compared down the column and across tables.
const MICROSECONDS: Scale = Scale::Power(3);

const LEAD: &str = "One way: from just before the sender notifies, after having slept for the gap, \
    to the moment when the receiver runs. “Clock”: how far the clocks of the two CPUs may be \
    apart, which no number of that row is more exact than; “one clock”: both ends read the same. “Gap \
    found”: mean time from one notification to the next, with what the kernel's timer adds to the \
    sleep. Min and max are of all trials together.";

type Wake<'a> = (usize, &'a CaseResult, &'a WakeResult);

pub(super) fn section(results: &Results) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    let cases: Vec<(usize, &CaseResult)> =
        cases.filter(|(_, case)| case.case.workload == Workload::Wake).collect();
    if cases.is_empty() {
        return None;
    }
    let measured = cases.iter().filter(|(_, case)| case.status == Status::Measured);
    let measured: Vec<Wake<'_>> =
        measured.filter_map(|(at, case)| Some((*at, *case, case.wake.as_ref()?))).collect();
    let groups = grouped(measured, |(_, case, _)| title(case));
    let missing = missing(cases.into_iter().map(|(_, case)| case));
    let tables = groups.into_iter().flat_map(|(title, rows)| [Block::Heading(title), table(rows)]);
    Some(Section::new("wake", "Wake-up after a gap", LEAD).with(tables).with(missing))
}

/// `semaphore, process, same-llc, block`
fn title(case: &CaseResult) -> String {
    let mut words = vec![mechanism(case)];
    words.extend(payload(case));
    words.extend(setting(case));
    if case.case.idle_knob != IdleKnob::None {
        words.push(format!("idle knob {}", case.case.idle_knob));
    }
    format!("{}; times in µs", words.join(", "))
}

fn table(mut rows: Vec<Wake<'_>>) -> Block {
    rows.sort_by_key(|(_, _, wake)| wake.gap_asked_ns);
    let micro = |case: &CaseResult, statistic| {
        let ns = case.estimates.as_ref().and_then(|estimates| estimates.exact(statistic));
        Cell::maybe(ns.map(|ns| ns / 1e3), Unit::Plain(3))
    };
    let late = |wake: &WakeResult| Some(wake.overrun_share).filter(|share| *share > 0.0);
    Rows::of(&rows)
        .column(Column::number("gap"), |(index, _, wake)| {
            Cell::number(wake.gap_asked_ns as f64, Unit::Exact).of(*index)
        })
        .column(Column::number("gap found").fold(8), |(.., wake)| {
            Cell::maybe(wake.gap_found_ns, Unit::Time(3))
        })
        .column(Column::number("mean ± stdev").unit("µs"), |(_, case, _)| mean_and_spread(case))
        .column(Column::number("min").unit("µs").fold(4), |(_, case, _)| {
            micro(case, Statistic::Least)
        })
        .column(Column::estimate("p50").unit("µs"), |(_, case, _)| {
            Cell::estimate(estimated(case, Statistic::P50), MICROSECONDS)
        })
        .column(Column::number("p95").unit("µs").fold(2), |(_, case, _)| {
            Cell::point(estimated(case, Statistic::P95), MICROSECONDS)
        })
        .column(Column::number("p99").unit("µs"), |(_, case, _)| {
            Cell::point(estimated(case, Statistic::P99), MICROSECONDS)
        })
        .column(Column::number("max").unit("µs").fold(5), |(_, case, _)| {
            micro(case, Statistic::Max)
        })
        .column(Column::number("clock").fold(3), |(.., wake)| clock(wake.clock_bound_ns))
        .column(Column::number("put off").fold(6), |(.., wake)| {
            Cell::maybe(late(wake), Unit::Share)
        })
        .column(Column::number("n").fold(7), |(_, case, _)| trials(case))
        .column(Column::words("valid?"), |(_, case, _)| Cell::grade(case.validity))
        .table()
}

fn clock(bound_ns: Option<f64>) -> Cell {
    match bound_ns {
        None => Cell::text("not known"),
        Some(0.0) => Value::Sorted("one clock".to_owned(), 0.0).into(),
        Some(ns) => Value::Sorted(format!("±{}", number::rough(ns, number::UNICODE)), ns).into(),
    }
}

/// `63.2 ± 22.0`
fn mean_and_spread(case: &CaseResult) -> Cell {
    let mean = Cell::point(estimated(case, Statistic::Mean), MICROSECONDS);
    let stdev = Cell::point(estimated(case, Statistic::Stdev), MICROSECONDS);
    match (mean.value.key().and(mean.value.shown()), stdev.value.key().and(stdev.value.shown())) {
        (Some(of), Some(spread)) => {
            let key = mean.value.key().unwrap_or_default();
            Value::Sorted(format!("{of} ± {spread}"), key).into()
        }
        _ => mean,
    }
}
