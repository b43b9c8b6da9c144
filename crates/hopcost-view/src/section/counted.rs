//! Round trips with what was counted in them: system calls, switches, losses.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic, Status};

use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, verdicts, words,
};
use super::words::{Of, setting, sum, uncounted};
use crate::names::{Place, row_label};

type Row<'a> = Of<'a, (&'a LadderRow, Place)>;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("counted", results.ladder.iter().flat_map(|group| part(group, results)))
}

fn part(group: &LadderGroup, results: &Results) -> Vec<Block> {
    let mut rows = Row::rows(group, results);
    rows.retain(|row| {
        row.case.case.workload == Workload::Roundtrip && row.case.status == Status::Measured
    });
    let has_calls = |case: &CaseResult| case.counters.iter().any(|c| c.event == "system-calls");
    let lost = rows.iter().any(|row| row.case.lost > 0);
    if !lost && !rows.iter().any(|row| has_calls(row.case)) {
        return Vec::new();
    }
    let mean = |r: &Row<'_>| match r.estimate(Statistic::Mean, Scale::Time) {
        mean if mean.is_empty() => r.estimate(Statistic::Cost, Scale::Time),
        mean => mean,
    };
    let calls = |r: &Row<'_>| sum(r.case, "system-calls", |c| c.per_operation);
    let table = Rows::of(&rows)
        .column(words("mechanism"), |r| Cell::text(row_label(r.with.0, results)).of(r.index))
        .column(words("how").fold(1), |r| Cell::text(setting(r.case).join(", ")))
        .column(estimates("mean"), mean)
        .column(numbers("p50").fold(3), |r| r.point(Statistic::P50, Scale::Time))
        .column(numbers("p99").fold(2), |r| r.point(Statistic::P99, Scale::Time))
        .column(estimates("multiple").fold(4), |r| Cell::ratio(r.case.ratio.as_ref(), &r.case.id))
        .column(numbers("system calls"), |r| Cell::maybe(calls(r), Unit::Count))
        .column(numbers("switches"), |r| Cell::maybe(r.case.switches_per_operation, Unit::Count))
        .column_if(lost, numbers("lost"), |r| Cell::whole(r.case.lost))
        .column(verdicts(), Row::grade)
        .table();
    let uncounted = uncounted(rows.iter().map(|row| row.case));
    [Block::Heading(group.title.clone()), table].into_iter().chain(uncounted).collect()
}
