//! Wake-ups: one table a mechanism, placement and idle knob, one row a gap.

use hopcost_model::case::{IdleKnob, Workload};
use hopcost_model::group::grouped;
use hopcost_model::results::{CaseResult, Results, Statistic, WakeResult};

use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, Value, estimates, numbers, verdicts,
};
use super::words::{Of, cases_of, mechanism, payload, setting};
use crate::number;

/// Microseconds as a power of ten in nanoseconds: all wake-ups in one unit, so
/// that they can be compared down the column and across tables.
const MICRO: Scale = Scale::Power(3);

type Wake<'a> = Of<'a, &'a WakeResult>;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let cases = cases_of(results, Workload::Wake);
    let measured = Wake::measured(cases.iter().copied(), |case| case.wake.as_ref());
    let groups = grouped(measured, |wake| title(wake.case)).into_iter();
    let tables = groups.flat_map(|(title, rows)| [Block::Heading(title), table(rows)]);
    Section::of("wake", tables)
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
    rows.sort_by_key(|row| row.with.gap_asked_ns);
    let exact = |row: &Wake<'_>, statistic| {
        let ns = row.case.estimates.as_ref().and_then(|estimates| estimates.exact(statistic));
        Cell::maybe(ns.map(|ns| ns / 1e3), Unit::Plain(3))
    };
    let late = |wake: &WakeResult| Some(wake.overrun_share).filter(|share| *share > 0.0);
    Rows::of(&rows)
        .column(numbers("gap"), |r| {
            Cell::number(r.with.gap_asked_ns as f64, Unit::Exact).of(r.index)
        })
        .column(numbers("gap found").fold(8), |r| Cell::maybe(r.with.gap_found_ns, Unit::Time(3)))
        .column(numbers("mean ± stdev").unit("µs"), mean_and_spread)
        .column(numbers("min").unit("µs").fold(4), |r| exact(r, Statistic::Least))
        .column(estimates("p50").unit("µs"), |r| r.estimate(Statistic::P50, MICRO))
        .column(numbers("p95").unit("µs").fold(2), |r| r.point(Statistic::P95, MICRO))
        .column(numbers("p99").unit("µs"), |r| r.point(Statistic::P99, MICRO))
        .column(numbers("max").unit("µs").fold(5), |r| exact(r, Statistic::Max))
        .column(numbers("clock").fold(3), |r| clock(r.with.clock_bound_ns))
        .column(numbers("deferred").fold(6), |r| Cell::maybe(late(r.with), Unit::Share))
        .column(numbers("n").fold(7), Wake::trials)
        .column(verdicts(), Wake::grade)
        .table()
}

fn clock(bound_ns: Option<f64>) -> Cell {
    match bound_ns {
        None => Cell::text("not known"),
        Some(0.0) => Value::Sorted("one clock".to_owned(), 0.0).into(),
        Some(ns) => Value::Sorted(format!("±{}", number::time(ns, 2)), ns).into(),
    }
}

/// `63.2 ± 22.0`
fn mean_and_spread(row: &Wake<'_>) -> Cell {
    let known = |cell: &Cell| cell.value.key().and(cell.value.shown());
    let [mean, stdev] = [Statistic::Mean, Statistic::Stdev].map(|of| row.point(of, MICRO));
    match (known(&mean), known(&stdev), mean.value.key()) {
        (Some(of), Some(spread), Some(key)) => {
            Value::Sorted(format!("{of} ± {spread}"), key).into()
        }
        _ => mean,
    }
}
