//! Every case: with all that is known of it on a page, and what became of those that
//! have no numbers in a document.

use hopcost_model::case::Role;
use hopcost_model::results::{
    CaseResult, Estimates, Placed, PlacedShare, Results, Status, TouchCost,
};

use super::model::{
    Block, Cell, Fold, Medium, Rows, Scale, Section, Tone, Unit, facts, numbers, words,
};
use super::words::{fate, trials, uncounted};
use super::{findings, threads};
use crate::names::headline;
use crate::number;

/// Every case with its details.
pub(super) fn details(results: &Results, _: Medium) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    let uncounted = uncounted(results.results.iter());
    Section::of("cases", cases.map(|(index, case)| one(index, case)).chain(uncounted))
}

/// The cases that were not measured, or not in every trial.
pub(super) fn missing(results: &Results, _: Medium) -> Option<Section> {
    let missing = results.results.iter().filter_map(|case| Some((case, fate(case)?)));
    let missing: Vec<(&CaseResult, (String, &str))> = missing.collect();
    let table = Rows::of(&missing)
        .column(words("case"), |(case, _)| Cell::code(&case.id))
        .column(words("what"), |(_, (what, _))| Cell::text(what))
        .column(words("reason"), |(_, (_, why))| Cell::text(*why))
        .column(words("replay by hand"), |(case, _)| {
            Cell::code(case.replay.as_deref().unwrap_or(""))
        });
    Section::of("missing", [table.table()])
}

fn one(index: usize, case: &CaseResult) -> Block {
    let measured = case.status == Status::Measured;
    let mut brief = vec![Cell::code(&case.id)];
    match headline(case).filter(|_| measured) {
        Some((what, estimate)) => {
            brief.extend([Cell::text(what), Cell::estimate(Some(estimate), Scale::Time)]);
        }
        None => brief.push(Cell::text(case.status.word())),
    }
    brief.extend(measured.then(|| Cell::validity(case.validity)));
    let mut blocks = Vec::new();
    if let Some(reason) = &case.reason {
        let word = if measured { "failed trials" } else { case.status.word() };
        blocks.push(Block::Text(Tone::Alert, format!("{word}: {reason}")));
    }
    if measured {
        let estimates = case.estimates.as_ref().map(found);
        let tables = [
            Some(("", facts(own(case)))),
            estimates.map(|table| ("", table)),
            (!case.counters.is_empty()).then(|| ("Counted per operation", counters(case))),
            (!case.threads.is_empty()).then(|| ("Threads", threads::of_case(case))),
            (!case.placed.is_empty())
                .then(|| ("Where the scheduler put the ends", placed(&case.placed))),
            (!case.modes.is_empty()).then(|| ("Typical durations", modes(case))),
        ];
        for (heading, table) in tables.into_iter().flatten() {
            let named = !heading.is_empty();
            blocks.extend(named.then(|| Block::Heading(heading.to_owned())));
            blocks.push(table);
        }
    }
    if !case.findings.is_empty() {
        blocks.push(findings::of_case(&case.findings));
    }
    Block::Fold(Fold { id: format!("case-{index}"), open: false, brief, blocks })
}

fn own(case: &CaseResult) -> Vec<(&'static str, Cell)> {
    let cpu_time = match case.case.workload.has_two_ends() {
        false => "CPU time per operation",
        true => "CPU time per message",
    };
    let stamp = case.stamp.map_or(String::new(), |stamp| stamp.to_string());
    let multiple = case.ratio.as_ref().map_or(String::new(), |ratio| {
        let of = format!("of {}, paired over {} rounds", ratio.baseline, ratio.n_rounds);
        format!("{} {of}", number::ratio(ratio))
    });
    let lost = Some(case.lost as f64).filter(|lost| *lost > 0.0);
    vec![
        ("Stamp", Cell::text(stamp)),
        ("Trials", trials(case)),
        ("Operations", Cell::whole(case.operations)),
        ("Samples", Cell::whole(case.samples)),
        (cpu_time, Cell::maybe(case.cpu_ns_per_message, Unit::Time(2))),
        ("Context switches per operation", Cell::maybe(case.switches_per_operation, Unit::Count)),
        ("Multiple", Cell::text(multiple)),
        ("Lost exchanges, in no estimate", Cell::maybe(lost, Unit::Whole)),
        ("Cost in ticks of the clock", Cell::maybe(case.cost_ticks, Unit::Plain(3))),
        ("p50 in ticks of the clock", Cell::maybe(case.p50_ticks, Unit::Plain(3))),
        ("Cost in core cycles", Cell::maybe(case.cost_cycles, Unit::Plain(3))),
        ("Writing and comparing", Cell::text(case.touch.map_or(String::new(), touched))),
    ]
}

/// What writing and comparing messages takes, and how much of the number that is.
fn touched(cost: TouchCost) -> String {
    let [fill, verify] = [cost.fill_ns, cost.verify_ns].map(|ns| number::time(ns, 2));
    let within = match cost.operation_ns {
        Some(0.0) => "; outside the stamps".to_owned(),
        Some(ns) => format!("; {} of an operation, not subtracted", number::time(ns, 2)),
        None => String::new(),
    };
    format!("{fill} and {verify} a message{within}")
}

/// What was counted; why the rest was not stands below all cases.
fn counters(case: &CaseResult) -> Block {
    let counted = case.counters.iter().filter_map(|counter| {
        let count = counter.per_operation?;
        let end = counter.role.map_or("both", Role::word);
        Some((format!("{}, {end}", counter.event), Cell::number(count, Unit::Plain(3))))
    });
    Block::Facts(counted.collect())
}

fn found(found: &Estimates) -> Block {
    let known = found.intervals().map(|(statistic, estimate)| {
        (statistic.label().to_owned(), Cell::estimate(Some(estimate), Scale::Time))
    });
    let bare = found.exact_values().filter(|(statistic, _)| statistic.bare().is_some());
    let bare =
        bare.map(|(statistic, ns)| (statistic.label().to_owned(), Cell::number(ns, Unit::Time(3))));
    Block::Facts(known.chain(bare).collect())
}

fn where_placed(placed: Placed) -> &'static str {
    match placed {
        Placed::OneCpu => "on one CPU",
        Placed::SeveralCpus => "on several CPUs",
        Placed::Moved => "moved between CPUs",
    }
}

fn placed(shares: &[PlacedShare]) -> Block {
    Rows::of(shares)
        .column(words("where"), |share| Cell::text(where_placed(share.placed)))
        .column(numbers("p50 or cost"), |share| Cell::number(share.p50_ns, Unit::Time(3)))
        .column(numbers("trials"), |share| Cell::number(share.n_trials, Unit::Whole))
        .column(numbers("share"), |share| Cell::number(share.share, Unit::Share))
        .table()
}

fn modes(case: &CaseResult) -> Block {
    let modes: Vec<_> = case.modes.iter().enumerate().collect();
    Rows::of(&modes)
        .column(words("mode"), |(i, _)| Cell::text((i + 1).to_string()))
        .column(numbers("at"), |(_, mode)| Cell::number(mode.ns, Unit::Time(3)))
        .column(numbers("share of samples"), |(_, mode)| Cell::number(mode.share, Unit::Share))
        .table()
}
