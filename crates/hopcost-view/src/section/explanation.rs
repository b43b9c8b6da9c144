//! Where the time of a hop goes: the segments of each case that was traced.

use hopcost_model::finding::Code;
use hopcost_model::results::{
    ExplainedCase, ExplainedSegment, ExplainedTail, Explanation, LeftOutHops, Results,
};

use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Tone, Unit, estimates, note, numbers, says, words,
};
use crate::number;

/// Segments of slow hops on a screen: those that are longer by most.
const SLOW_LINES: usize = 4;

pub(super) fn screen(results: &Results, found: &Explanation) -> Vec<Block> {
    let changed = results.findings.iter().filter(|finding| finding.code == Code::TracingChanged);
    let changed = changed.map(|of| {
        let case = of.case.as_deref().unwrap_or_default();
        Block::Text(
            Tone::Alert,
            format!("Tracing changed what it watched: {case}: {}", of.evidence),
        )
    });
    found.cases.iter().flat_map(|case| of_case(case, SLOW_LINES)).chain(changed).collect()
}

/// What a page begins with.
pub(super) fn conclusion(found: &Explanation) -> Vec<Block> {
    found.cases.iter().map(|case| says(whole(case))).collect()
}

/// All of it, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let found = results.explanation.as_ref()?;
    let cases = found.cases.iter().flat_map(|case| {
        std::iter::once(Block::Heading(case.case.clone())).chain(of_case(case, usize::MAX))
    });
    Section::of("explanation", cases)
}

fn of_case(case: &ExplainedCase, lines: usize) -> Vec<Block> {
    let mut blocks = vec![says(whole(case)), table(case)];
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

fn table(case: &ExplainedCase) -> Block {
    let quantile = |ns: f64| Cell::number(ns, Unit::Time(3));
    let is_bare = case.segments.iter().any(|of| of.without_events_ns.is_some());
    let rows = Rows::of(&case.segments)
        .column(words("segment"), |of| Cell::text(of.segment.to_string()))
        .column(estimates("typical"), |of| Cell::estimate(Some(&of.typical_ns), Scale::Difference))
        .column(numbers("share"), |of| Cell::number(of.share, Unit::Share))
        .column(numbers("p50").fold(3), |of| quantile(of.p50_ns))
        .column(numbers("p99").fold(1), |of| quantile(of.p99_ns));
    // Where their cost cannot be taken off, their number says how much of a segment it may be.
    match is_bare {
        true => rows.column(numbers("bare"), |of| Cell::maybe(of.without_events_ns, Unit::Time(3))),
        false => {
            rows.column(numbers("events").fold(2), |of| Cell::number(of.events, Unit::Plain(2)))
        }
    }
    .table()
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
    vec![says(format!("Of {} slow hops: {}.", tail.hops, tail.says)), segments, occurrences]
}

#[cfg(test)]
mod tests {
    use hopcost_model::case::Role;
    use hopcost_model::results::{Estimate, Leg, Segment, SegmentKind};

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
        assert!(page.contains("Where the time of a hop goes"));
        let markdown = crate::markdown::report(&results);
        assert!(markdown.contains("| send in the kernel |"), "{markdown}");
        let csv = crate::explanation::csv(results.explanation.as_ref().unwrap());
        assert!(csv.contains("same-llc,forth,caller,send in the kernel,120,480,,,,8,"), "{csv}");
        assert_eq!(csv.lines().count(), 11);
    }
}
