//! The ladder: each group's chart and its table.

use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic, Status};

use super::parts::{self, NONE, Twin};
use crate::chart::{self, Heading};
use crate::markup::{Esc, put};
use crate::names::{Place, capitalised, headline, row_label};
use crate::number;
use crate::section::{counters, covers};
use crate::text::{is_calls, units};

pub(super) fn write(out: &mut String, results: &Results) {
    if results.ladder.iter().all(|group| covers(group, results)) {
        return;
    }
    parts::section(
        out,
        "ladder",
        "The ladder",
        "Cheapest first. Only numbers under one heading mean the same thing and may be compared.",
    );
    for (group, drawn) in results.ladder.iter().zip(chart::ladder::charts(results)) {
        if covers(group, results) {
            continue;
        }
        put!(
            out,
            "<h3>{}</h3>\n<p class=\"meaning\">{}</p>\n",
            Esc(&capitalised(&group.title)),
            Esc(&group.meaning)
        );
        if let Some(drawn) = drawn {
            parts::figure(out, &drawn, Heading::Elsewhere, Twin::Elsewhere);
        }
        table(out, group, results);
        if is_calls(group) {
            let cases = group.rows.iter().filter_map(|row| Place::One.of(row, results));
            for note in counters::unavailable(cases.map(|(_, case)| case)) {
                put!(out, "<p class=\"note\">{}</p>\n", Esc(&note));
            }
        }
    }
    put!(out, "</section>\n");
}

/// Which columns a group's table has.
struct Columns {
    ends: bool,
    percentiles: bool,
    ticks: bool,
    cycles: bool,
    ratio: bool,
}

impl Columns {
    fn of(group: &LadderGroup, results: &Results) -> Self {
        let cases = || {
            group
                .rows
                .iter()
                .flat_map(|row| Place::ALL.iter().filter_map(move |p| p.of(row, results)))
        };
        Self {
            ends: group.rows.iter().any(|row| row.wait.is_some()),
            percentiles: !group.batched,
            ticks: cases().any(|(_, case)| case.cost_ticks.is_some()),
            cycles: cases().any(|(_, case)| case.cost_cycles.is_some()),
            ratio: cases().any(|(_, case)| case.ratio.is_some()),
        }
    }
    fn numbers(&self) -> usize {
        let optional = [self.ticks, self.cycles, self.ratio, self.ratio];
        let optional: usize = optional.into_iter().map(usize::from).sum();
        4 + if self.percentiles { 2 } else { 0 } + optional
    }
}

fn table(out: &mut String, group: &LadderGroup, results: &Results) {
    let columns = Columns::of(group, results);
    put!(out, "<div class=\"scroll\"><table class=\"sortable ladder\"><thead><tr>");
    let mut head = |class: &str, text: &str| put!(out, "<th scope=\"col\"{class}>{text}</th>");
    head("", "Mechanism");
    if columns.ends {
        head("", "Boundary");
        head("", "Wait");
        head("", "Placement");
    }
    let number = " class=\"n\"";
    head(number, if columns.percentiles { "p50" } else { "Cost" });
    head(" class=\"n nosort\"", "Interval");
    if columns.percentiles {
        head(number, "p99");
        head(" class=\"n nosort\"", "Interval");
    }
    if columns.ticks {
        head(number, "Ticks");
    }
    if columns.cycles {
        head(number, "Cycles");
    }
    if columns.ratio {
        head(number, "× baseline");
        head(" class=\"n nosort\"", "Interval");
    }
    head(number, if is_calls(group) { "CPU per<br>operation" } else { "CPU per<br>message" });
    head(number, "Trials");
    head("", "Validity");
    head("", "Findings");
    put!(out, "</tr></thead><tbody>\n");
    for row in &group.rows {
        let cases = Place::ALL.into_iter().filter_map(|p| Some((p, p.of(row, results)?)));
        let mut named = Named::Here;
        for (place, (index, case)) in cases {
            let label = row_label(row, results);
            line(out, (row, &label, named), place, (index, case), &columns);
            if case.status == Status::Measured {
                named = Named::Above;
            }
        }
    }
    put!(out, "</tbody></table></div>\n");
}

/// Whether a line is the first with numbers of its row of the ladder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Here,
    Above,
}

fn line(
    out: &mut String,
    (row, label, named): (&LadderRow, &str, Named),
    place: Place,
    (index, case): (usize, &CaseResult),
    columns: &Columns,
) {
    let class = if case.status == Status::Measured { "" } else { " class=\"absent\"" };
    // Repeated for the sake of sorting, and quiet until then.
    let again = if named == Named::Here { "" } else { " class=\"again\"" };
    put!(
        out,
        "<tr{class}><th scope=\"row\"{again}><a href=\"#case-{index}\">{}</a></th>",
        Esc(label)
    );
    if columns.ends {
        let place = case.case.placement.map_or(place.name(), |placement| placement.word());
        let wait = row.wait.as_deref().unwrap_or("");
        put!(out, "<td{again}>{}</td><td{again}>{}</td><td>{place}</td>", row.boundary, Esc(wait));
    }
    if case.status == Status::Measured {
        numbers_of(out, case, columns);
        put!(
            out,
            "<td data-v=\"{}\">{}</td><td>{}</td></tr>\n",
            case.validity as u8,
            parts::validity(case.validity),
            parts::finding_links(&case.findings)
        );
    } else {
        put!(
            out,
            "<td class=\"why\" colspan=\"{}\">{}: {}</td></tr>\n",
            columns.numbers() + 2,
            parts::status(case.status),
            Esc(case.reason.as_deref().unwrap_or("no reason was stored"))
        );
    }
}

fn numbers_of(out: &mut String, case: &CaseResult, columns: &Columns) {
    parts::estimate_cells(out, headline(case).map(|(_, e)| e));
    if columns.percentiles {
        parts::estimate_cells(out, case.estimates.as_ref().and_then(|e| e.get(Statistic::P99)));
    }
    let (ticks, cycles) = units(case, number::DIGITS_MAX);
    for (shown, value, text) in
        [(columns.ticks, case.cost_ticks, ticks), (columns.cycles, case.cost_cycles, cycles)]
    {
        match value.filter(|_| shown) {
            Some(value) => put!(out, "<td class=\"n\" data-v=\"{value}\">{text}</td>"),
            None if shown => out.push_str(NONE),
            None => {}
        }
    }
    if columns.ratio {
        match &case.ratio {
            Some(ratio) => {
                let (point, interval) = number::multiple(ratio);
                put!(out, "<td class=\"n\" data-v=\"{}\">{point}</td>", ratio.point);
                match interval.filter(|_| ratio.baseline != case.id) {
                    Some(interval) => put!(out, "<td class=\"n iv\">{interval}</td>"),
                    None => out.push_str(NONE),
                }
            }
            None => put!(out, "{NONE}{NONE}"),
        }
    }
    match case.cpu_ns_per_message {
        Some(cpu) => out.push_str(&parts::time_cell(cpu, 2)),
        None => out.push_str(NONE),
    }
    put!(out, "<td class=\"n\" data-v=\"{}\">{}</td>", case.n_trials, parts::trials(case));
}
