//! Round trips with what was counted in them: system calls, switches, losses.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic, Status};

use super::model::{Block, Cell, Column, Rows, Scale, Section, Unit};
use super::words::{estimated, setting, sum, uncounted};
use crate::names::{Place, row_label};

const LEAD: &str = "System calls and context switches of both ends together in one round trip; \
    system calls were counted in exchanges of their own, which are in no time shown here. The \
    total time of so many round trips is their number times the mean.";

pub(super) fn section(results: &Results) -> Option<Section> {
    let groups = results.ladder.iter().filter_map(|group| part(group, results));
    let blocks: Vec<Block> = groups.flatten().collect();
    let section = Section::new("counted", "Round trips, counted", LEAD);
    (!blocks.is_empty()).then(|| section.with(blocks))
}

type Row<'a> = (&'a LadderRow, usize, &'a CaseResult);

fn part(group: &LadderGroup, results: &Results) -> Option<Vec<Block>> {
    let at = |row| {
        let places = Place::ALL.into_iter();
        places.filter_map(move |place| place.of(row, results).map(|(i, case)| (row, i, case)))
    };
    let is_round_trip = |(.., case): &Row<'_>| {
        case.case.workload == Workload::Roundtrip && case.status == Status::Measured
    };
    let rows: Vec<Row<'_>> = group.rows.iter().flat_map(at).filter(is_round_trip).collect();
    let counted = |case: &CaseResult| case.counters.iter().any(|c| c.event == "system-calls");
    let lost = rows.iter().any(|(.., case)| case.lost > 0);
    if !lost && !rows.iter().any(|(.., case)| counted(case)) {
        return None;
    }
    let table = Rows::of(&rows)
        .column(Column::words("mechanism"), |(row, index, _)| {
            Cell::text(row_label(row, results)).of(*index)
        })
        .column(Column::words("how").fold(1), |(.., case)| Cell::text(setting(case).join(", ")))
        .column(Column::estimate("mean"), |(.., case)| {
            let mean = estimated(case, Statistic::Mean).or(estimated(case, Statistic::Cost));
            Cell::estimate(mean, Scale::Time)
        })
        .column(Column::number("p50").fold(3), |(.., case)| {
            Cell::point(estimated(case, Statistic::P50), Scale::Time)
        })
        .column(Column::number("p99").fold(2), |(.., case)| {
            Cell::point(estimated(case, Statistic::P99), Scale::Time)
        })
        .column(Column::estimate("multiple").fold(4), |(.., case)| {
            Cell::ratio(case.ratio.as_ref(), &case.id)
        })
        .column(Column::number("system calls"), |(.., case)| {
            Cell::maybe(sum(case, "system-calls", |c| c.per_operation), Unit::Count)
        })
        .column(Column::number("switches"), |(.., case)| {
            Cell::maybe(case.switches_per_operation, Unit::Count)
        })
        .column_if(lost, Column::number("lost"), |(.., case)| Cell::whole(case.lost))
        .column(Column::words("valid?"), |(.., case)| Cell::grade(case.validity));
    let uncounted = uncounted(rows.iter().map(|(.., case)| *case));
    Some(
        [Block::Heading(group.title.clone()), table.table()].into_iter().chain(uncounted).collect(),
    )
}
