//! Where the time of a hop goes: its segments on one time axis, and two cases side by side.

use hopcost_model::case::Role;
use hopcost_model::finding::Code;
use hopcost_model::results::{
    EventsCost, ExplainedCase, ExplainedDifference, ExplainedSegment, ExplainedTail, Explanation,
    LeftOutHops, Results, Segment, TracedDifference,
};

use super::model::{
    Block, Cell, Frame, Medium, Rows, Scale, Section, Tone, Unit, estimates, note, numbers, says,
    words,
};
use super::shapes::{About, Named, rows};
use crate::chart::model::{Axis, Chart, Scale::Linear};
use crate::chart::unit::Unit as ChartUnit;
use crate::names::plain_id;
use crate::number;

/// Columns of a terminal for the time axis.
const AXIS: usize = 68;

/// Segments of slow hops on a screen: those that are longer by most.
const SLOW_LINES: usize = 4;

/// Which of two cases is spoken of.
const WHICH: [&str; 2] = ["First", "Second"];

/// The letter of a line.
fn letter(at: usize) -> char {
    ('a'..='z').nth(at).unwrap_or('.')
}

pub(super) fn screen(results: &Results, found: &Explanation) -> Vec<Block> {
    let changed = results.findings.iter().filter(|finding| finding.code == Code::TracingChanged);
    let changed = changed.map(|of| {
        let case = of.case.as_deref().unwrap_or_default();
        Block::Text(
            Tone::Alert,
            format!("Tracing changed what it watched: {case}: {}", of.evidence),
        )
    });
    let blocks = match &found.difference {
        Some(difference) => {
            let mut blocks = vec![says(format!("{}.", difference.says))];
            let all: Vec<Segment> = difference.segments.iter().map(|of| of.segment).collect();
            for (case, which) in found.cases.iter().zip(WHICH) {
                blocks.push(says(format!("{which}: {}", whole(case))));
                blocks.extend(lanes(case, &all));
            }
            blocks.push(beside(difference));
            blocks.push(note(cost_in(&difference.traced)));
            for (case, which) in found.cases.iter().zip(WHICH) {
                let tail = case.tail.as_ref().map(slowest);
                let said = doubts(case).into_iter().chain(tail);
                blocks.extend(said.map(|line| note(format!("{which}: {line}"))));
            }
            blocks
        }
        None if !found.by_gap.is_empty() => {
            let mut blocks: Vec<Block> = found.cases.iter().map(|case| says(whole(case))).collect();
            blocks.push(by_gap(found));
            blocks.extend(found.cases.iter().flat_map(doubts).map(note));
            blocks
        }
        None => found.cases.iter().flat_map(|case| of_case(case, SLOW_LINES)).collect(),
    };
    blocks.into_iter().chain(changed).collect()
}

/// All of it, where other sections follow.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let found = results.explanation.as_ref()?;
    let mut blocks = Vec::new();
    if let Some(difference) = &found.difference {
        blocks.extend([says(format!("{}.", difference.says)), beside(difference)]);
        blocks.push(note(cost_in(&difference.traced)));
    }
    if !found.by_gap.is_empty() {
        blocks.push(by_gap(found));
    }
    if medium == Medium::Page {
        blocks.push(Block::Charts(waterfalls(found), Frame::Titled));
    }
    for case in &found.cases {
        blocks.push(Block::Heading(case.case.clone()));
        let of_case = of_case(case, usize::MAX);
        // A page draws the lanes.
        let is_shown = |block: &Block| medium != Medium::Page || !matches!(block, Block::Paste(..));
        blocks.extend(of_case.into_iter().filter(is_shown));
    }
    Section::of("explanation", blocks)
}

/// On which CPU a segment is spent.
const ENDS: [&str; 2] = ["CPU of the caller", "CPU of the callee"];

/// The segments of a typical hop, a chart for each case that has some.
pub(super) fn waterfalls(found: &Explanation) -> Vec<Chart> {
    let cases = found.cases.iter().enumerate().filter(|(_, case)| !case.segments.is_empty());
    let chart = |(at, case): (usize, &ExplainedCase)| {
        let ends = |of: &ExplainedSegment, end: Role| {
            let ns = of.begins_ns + of.typical_ns.point.unwrap_or(0.0);
            Cell::maybe((of.segment.end == end).then_some(ns), Unit::Time(3))
        };
        let table = Rows::of(&case.segments)
            .column(words("segment"), |of| Cell::text(of.segment.to_string()))
            .column(numbers("begins"), |of| Cell::number(of.begins_ns, Unit::Time(3)))
            .column(numbers(ENDS[0]), |of| ends(of, Role::Caller))
            .column(numbers(ENDS[1]), |of| ends(of, Role::Callee))
            .into_table();
        let about = About {
            id: format!("hop-{}-{at}", plain_id(&case.case)),
            title: case.case.clone(),
            says: "The segments of a typical hop, each a bar on one time axis from the caller's \
                   stamp to its next."
                .to_owned(),
        };
        let axis = Axis::new("time in the hop", Linear, ChartUnit::Ns);
        let names = &["segment"][..];
        rows(about, &table, Named { names, values: &ENDS, axis, lane: None, from: Some("begins") })
    };
    cases.filter_map(chart).collect()
}

fn of_case(case: &ExplainedCase, lines: usize) -> Vec<Block> {
    let mut blocks = vec![says(whole(case))];
    let own: Vec<Segment> = case.segments.iter().map(|of| of.segment).collect();
    blocks.extend(lanes(case, &own));
    blocks.push(table(case));
    blocks.extend(doubts(case).into_iter().map(note));
    blocks.extend(case.tail.iter().flat_map(|tail| slow(tail, lines)));
    blocks
}

/// `roundtrip/pipe?…: 5.12 µs a typical hop`
fn whole(case: &ExplainedCase) -> String {
    let Some(ns) = case.total_ns.point else {
        return format!("{}: no hop could be cut into segments", case.case);
    };
    format!("{}: {} a typical hop", case.case, number::time(ns, 3))
}

/// A line for each end, in which a segment is as many letters of its place among `all` as it takes time, and the axis.
fn lanes(case: &ExplainedCase, all: &[Segment]) -> Option<Block> {
    let ends_ns = |of: &ExplainedSegment| of.begins_ns + of.typical_ns.point.unwrap_or(0.0);
    let length_ns = case.segments.iter().map(ends_ns).fold(0.0, f64::max);
    if length_ns <= 0.0 {
        return None;
    }
    let column = |ns: f64| ((ns / length_ns * AXIS as f64).round() as usize).min(AXIS);
    let lane = |end: Role| {
        let mut line = vec![' '; AXIS];
        for of in case.segments.iter().filter(|of| of.segment.end == end) {
            let at = all.iter().position(|one| *one == of.segment);
            let letter = letter(at.unwrap_or(usize::MAX));
            line[column(of.begins_ns)..column(ends_ns(of))].fill(letter);
        }
        format!("{end:<8}{}", line.into_iter().collect::<String>())
    };
    let end = number::time(length_ns, 3);
    let axis = format!("{:<8}0{end:>width$}", "", width = AXIS - 1);
    let lines = vec![lane(Role::Caller), lane(Role::Callee), axis];
    Some(Block::Paste(String::new(), lines))
}

fn table(case: &ExplainedCase) -> Block {
    let rows: Vec<(usize, &ExplainedSegment)> = case.segments.iter().enumerate().collect();
    let quantile = |ns: f64| Cell::number(ns, Unit::Time(3));
    let is_bare = case.segments.iter().any(|of| of.without_events_ns.is_some());
    let rows = Rows::of(&rows)
        .column(words(""), |(at, _)| Cell::text(letter(*at).to_string()))
        .column(words("segment"), |(_, of)| Cell::text(of.segment.to_string()))
        .column(estimates("typical"), |(_, of)| {
            Cell::estimate(Some(&of.typical_ns), Scale::Difference)
        })
        .column(numbers("share"), |(_, of)| Cell::number(of.share, Unit::Share))
        .column(numbers("p50").fold(3), |(_, of)| quantile(of.p50_ns))
        .column(numbers("p99").fold(1), |(_, of)| quantile(of.p99_ns));
    // Where their cost cannot be taken off, their number says how much of a segment it may be.
    match is_bare {
        true => rows.column(numbers("bare"), |(_, of)| {
            of.without_events_ns.map_or_else(Cell::none, |ns| Cell::number(ns, Unit::Time(3)))
        }),
        false => rows
            .column(numbers("events").fold(2), |(_, of)| Cell::number(of.events, Unit::Plain(2))),
    }
    .table()
}

fn beside(difference: &ExplainedDifference) -> Block {
    let time = |ns: f64| if ns == 0.0 { Cell::none() } else { Cell::number(ns, Unit::Time(3)) };
    let rows: Vec<_> = difference.segments.iter().enumerate().collect();
    Rows::of(&rows)
        .column(words(""), |(at, _)| Cell::text(letter(*at).to_string()))
        .column(words("segment"), |(_, of)| Cell::text(of.segment.to_string()))
        .column(numbers("first"), |(_, of)| time(of.first_ns))
        .column(numbers("second"), |(_, of)| time(of.second_ns))
        .column(estimates("second less first"), |(_, of)| {
            Cell::estimate(Some(&of.ns), Scale::Difference)
        })
        .table()
}

/// Each segment after each gap.
fn by_gap(found: &Explanation) -> Block {
    let first = Rows::of(&found.by_gap)
        .column(words("after a gap of"), |of| Cell::text(of.segment.to_string()));
    let gaps = found.cases.iter().enumerate();
    let all = gaps.fold(first, |rows, (at, case)| {
        let gap = case.gap_ns.map_or(String::new(), number::exact);
        rows.column(estimates(&gap), |of| {
            let ns = of.typical_ns.get(at).filter(|ns| ns.point.is_some_and(|ns| ns > 0.0));
            Cell::estimate(ns, Scale::Difference)
        })
    });
    all.table()
}

/// Whether what events cost is part of a difference, and what it is without them.
fn cost_in(difference: &TracedDifference) -> String {
    let cost = match difference.events {
        EventsCost::TakenOff => "Of both the cost of the kernel's events is taken off",
        EventsCost::Included => {
            "The cost of the kernel's events is part of it, since it cannot be taken off both"
        }
    };
    let untraced = &difference.untraced_ns;
    let Some(ns) = untraced.point else { return format!("{cost}.") };
    let ends = untraced.low.zip(untraced.high);
    let interval = ends.map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", number::time(low, 3), number::time(high, 3))
    });
    let agrees = match difference.agrees {
        Some(true) => ", which this agrees with",
        Some(false) => {
            ", which this does NOT agree with: tracing changed more than what its events cost"
        }
        None => "",
    };
    format!("{cost}; untraced, the medians differ by {}{interval}{agrees}.", number::time(ns, 3))
}

/// `; bare of these, trial by trial, it would be 4.61 µs, 3 % more than untraced`
fn without_events(case: &ExplainedCase) -> String {
    let Some((ns, off)) = case.without_events_ns.point.zip(case.off) else { return String::new() };
    let side = if off < 0.0 { "less" } else { "more" };
    let off = number::share(off.abs());
    format!(
        "; bare of these, trial by trial, it would be {}, {off} {side} than untraced",
        number::time(ns, 3)
    )
}

/// What is to be known of a case's segments.
fn doubts(case: &ExplainedCase) -> Vec<String> {
    let of = |ns: Option<f64>| ns.map_or("not known".to_owned(), |ns| number::time(ns, 3));
    let cost = match case.event_cost_ns {
        Some(ns) => format!("each of which costs {}", number::time(ns, 2)),
        None => "whose cost is not known".to_owned(),
    };
    let mut said = vec![format!(
        "Median hop: {} traced, {} untraced; a hop waits for {} events, {cost}{}; events and stamps are at most {} apart.",
        of(case.traced_p50_ns.point),
        of(case.untraced_p50_ns.point),
        number::plain(case.events, 2),
        without_events(case),
        number::exact(case.clock_bound_ns),
    )];
    let is_below = |of: &&ExplainedSegment| of.without_events_ns.is_some_and(|ns| ns < 0.0);
    let below: Vec<String> =
        case.segments.iter().filter(is_below).map(|of| of.segment.to_string()).collect();
    if !below.is_empty() {
        let below = below.join("”, “");
        said.push(format!("Bare below 0, since events cost more there than it took: “{below}”."));
    }
    let left_out = |of: &LeftOutHops| {
        let all = case.left_out.iter().fold(case.hops, |sum, one| sum.saturating_add(one.hops));
        format!("Left out: {} of {all} hops: {}.", of.hops, of.reason)
    };
    said.extend(case.left_out.iter().map(left_out));
    said.extend(case.missing.iter().map(|what| format!("Not seen: {what}.")));
    said
}

/// What is different in slow hops, in a sentence.
fn slowest(tail: &ExplainedTail) -> String {
    format!("Of {} slow hops: {}.", tail.hops, tail.says)
}

fn slow(tail: &ExplainedTail, lines: usize) -> Vec<Block> {
    let time = |ns: f64| Cell::number(ns, Unit::Time(3));
    let segments = Rows::of(tail.segments.get(..lines).unwrap_or(&tail.segments))
        .column(words("slow hops"), |of| Cell::text(of.segment.to_string()))
        .column(numbers("typical, mean"), |of| time(of.typical_ns))
        .column(numbers("slow, mean"), |of| time(of.slow_ns))
        .table();
    let occurrences = Rows::of(&tail.occurrences)
        .column(words("what happens"), |of| Cell::text(of.what.clone()))
        .column(numbers("typical"), |of| Cell::number(of.typical_share, Unit::Share))
        .column(numbers("slow"), |of| Cell::number(of.slow_share, Unit::Share))
        .table();
    vec![says(slowest(tail)), segments, occurrences]
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::{Estimate, Leg, SegmentKind};

    use super::*;
    use crate::stored;

    fn case(id: &str, times_ns: &[(Leg, Role, SegmentKind, f64)]) -> ExplainedCase {
        let estimate = |ns: f64| Estimate::exact(ns, 8, "typical".to_owned());
        let total_ns: f64 = times_ns.iter().map(|of| of.3).sum();
        let mut begins_ns = 0.0;
        let segment = |(leg, end, kind, ns): &(Leg, Role, SegmentKind, f64)| {
            begins_ns += ns;
            ExplainedSegment {
                segment: Segment { leg: *leg, end: *end, kind: *kind },
                begins_ns: begins_ns - ns,
                typical_ns: estimate(*ns),
                share: ns / total_ns,
                p50_ns: *ns,
                p99_ns: 3.0 * ns,
                events: 2.0,
                without_events_ns: Some(*ns - 110.0),
            }
        };
        ExplainedCase {
            case: id.to_owned(),
            hops: 7_990,
            left_out: vec![LeftOutHops { reason: "no event shows it".to_owned(), hops: 10 }],
            total_ns: estimate(total_ns),
            traced_p50_ns: estimate(total_ns),
            untraced_p50_ns: estimate(0.8 * total_ns),
            events: 12.0,
            event_cost_ns: Some(91.0),
            without_events_ns: estimate(0.82 * total_ns),
            off: Some(0.025),
            clock_bound_ns: 40,
            gap_ns: None,
            missing: vec!["ipi:ipi_send_cpu: this kernel does not have it".to_owned()],
            segments: times_ns.iter().map(segment).collect(),
            tail: None,
        }
    }

    fn explained() -> Results {
        use Leg::{Back, Forth};
        use Role::{Callee, Caller};
        use SegmentKind::{IdleExit, Receive, Send, Switch, User, WakeUp};
        let pipe = [
            (Forth, Caller, User, 120.0),
            (Forth, Caller, Send, 480.0),
            (Forth, Caller, WakeUp, 300.0),
            (Forth, Callee, IdleExit, 1500.0),
            (Forth, Callee, Switch, 200.0),
            (Forth, Callee, Receive, 400.0),
            (Back, Callee, User, 100.0),
            (Back, Callee, Send, 500.0),
            (Back, Caller, Switch, 1900.0),
            (Back, Caller, Receive, 400.0),
        ];
        let cases = vec![case("roundtrip/pipe?place=same-llc", &pipe)];
        Results {
            explanation: Some(Explanation { cases, difference: None, by_gap: Vec::new() }),
            ..stored::results("copies")
        }
    }

    #[test]
    fn each_end_has_a_lane_and_each_segment_its_letter() {
        let case = &explained().explanation.unwrap().cases[0];
        let all: Vec<Segment> = case.segments.iter().map(|of| of.segment).collect();
        let Some(Block::Paste(_, lines)) = lanes(case, &all) else { panic!("no lanes") };
        assert_eq!(
            lines,
            [
                "caller  abbbbbbccc                               iiiiiiiiiiiiiiiiiiiiiijjjjj",
                "callee            ddddddddddddddddddeefffffghhhhh                           ",
                "        0                                                            5.90 µs",
            ]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn on_a_screen_stands_what_must_be_known() {
        let results = explained();
        let style = crate::text::TextStyle::plain(100);
        let text = crate::text::answer(&results, None, &style);
        for said in [
            "roundtrip/pipe?place=same-llc: 5.90 µs a typical hop",
            "Median hop: 5.90 µs traced, 4.72 µs untraced; a hop waits for 12 events, each of which costs 91 ns; \
             bare of these, trial by trial, it would be 4.84 µs, 2.5 % more than untraced",
            "Bare below 0, since events cost more there than it took: “callee in user space”.",
            "Left out: 10 of 8000 hops: no event shows it.",
            "Not seen: ipi:ipi_send_cpu: this kernel does not have it.",
        ] {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(said), "{said}\n{text}");
        }
        assert!(text.lines().count() < 30, "{text}");
        let ascii = crate::text::TextStyle { charset: crate::text::Charset::Ascii, ..style };
        assert!(crate::text::answer(&results, None, &ascii).is_ascii());
        let page = crate::html::report(&results);
        assert!(page.contains("Where the time of a hop goes") && page.contains("hop-roundtrip"));
        let markdown = crate::markdown::report(&results);
        assert!(markdown.contains("\n\n```text\ncaller  abbbbbb"), "{markdown}");
        assert!(markdown.contains("5.90 µs\n```\n\n|"), "{markdown}");
        let csv = crate::explanation::csv(results.explanation.as_ref().unwrap());
        assert!(csv.contains("same-llc,forth,caller,send in the kernel,120,480,,,,8,"), "{csv}");
        assert_eq!(csv.lines().count(), 11);
    }
}
