//! Where the time of a hop goes: its segments, and those of several cases side by side.

use std::collections::BTreeSet;

use hopcost_model::finding::Code;
use hopcost_read::results::{
    ComparedSegment, Contrast, ExplainedCase, ExplainedSegment, Explanation, LeftOutHops, Ratio,
    Results,
};

use super::model::{
    Block, Cell, Interval, Medium, Rows, Scale, Section, Tone, Value, estimates, note, numbers,
    says, words,
};
use crate::names::quantile;
use crate::number;

/// Which of two cases is spoken of.
const WHICH: [&str; 2] = ["first", "second"];

pub(super) fn screen(results: &Results, found: &Explanation) -> Vec<Block> {
    let changed = results.findings.iter().filter(|finding| finding.code == Code::TracingChanged);
    let changed = changed.map(|of| {
        let case = of.case.as_deref().unwrap_or_default();
        Block::Text(
            Tone::Alert,
            format!("Tracing changed what it watched: {case}: {}", of.evidence),
        )
    });
    let is_brief = found.cases.len() > 1;
    blocks(found, is_brief).into_iter().chain(changed).collect()
}

/// What a page begins with.
pub(super) fn conclusion(found: &Explanation) -> Vec<Block> {
    sentences(found).into_iter().map(says).collect()
}

/// All of it, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("explanation", blocks(results.explanation.as_ref()?, false))
}

/// What was found, in sentences to paste.
pub(super) fn sentences(found: &Explanation) -> Vec<String> {
    let cases = found.cases.iter().map(whole);
    cases.chain(found.untraced.iter().map(untraced)).collect()
}

fn blocks(found: &Explanation, is_brief: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    if found.cases.len() > 1 {
        blocks.extend(sentences(found).into_iter().map(says));
        blocks.push(beside(found));
    }
    for case in &found.cases {
        if !is_brief {
            // Where their cost is taken off, what they cost is no news.
            let is_bare = case.segments.iter().any(|of| of.without_events_ns.is_some());
            let without = if is_bare { "events" } else { "without_events_ns" };
            let table = Rows::of(&case.segments).fields(&[without], Some).table();
            blocks.extend([says(whole(case)), table]);
        }
        blocks.extend(notes(case).into_iter().map(note));
    }
    blocks
}

/// `roundtrip/pipe?…: 5.12 µs a typical hop, 2.51 µs untraced; most in switch (0.9 µs) and send (0.8 µs)`
fn whole(case: &ExplainedCase) -> String {
    let Some(ns) = case.total_ns.point else {
        return format!("{}: no hop could be cut into segments", case.case);
    };
    let untraced =
        case.untraced_p50_ns.point.map(|ns| format!(", {} untraced", number::time(ns, 3)));
    let segments = case.segments.iter();
    let mut parts: Vec<(f64, String)> =
        segments.filter_map(|of| Some((of.typical_ns.point?, of.segment.to_string()))).collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts = parts.into_iter().take(2);
    let parts: Vec<String> =
        parts.map(|(ns, name)| format!("{name} ({})", number::time(ns, 2))).collect();
    let most =
        if parts.is_empty() { String::new() } else { format!("; most in {}", parts.join(" and ")) };
    format!(
        "{}: {} a typical hop{}{most}",
        case.case,
        number::time(ns, 3),
        untraced.unwrap_or_default(),
    )
}

fn untraced(of: &Contrast) -> String {
    let ends = of.ends().map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", number::plain(low, 3), number::plain(high, 3))
    });
    let ratio = number::plain(of.ratio, 3);
    format!("Without events, the second takes {ratio} times{ends} as long as the first.")
}

/// What each segment typically takes in each case.
fn beside(found: &Explanation) -> Block {
    let gaps: BTreeSet<Option<u64>> = found.cases.iter().map(|case| case.gap_ns).collect();
    let is_by_gap = gaps.len() == found.cases.len();
    let first =
        Rows::of(&found.compared).column(words("segment"), |of| Cell::text(of.segment.to_string()));
    let all = found.cases.iter().enumerate().fold(first, |rows, (at, case)| {
        let gap = case.gap_ns.filter(|_| is_by_gap);
        let which = WHICH.get(at).copied().unwrap_or_default().to_owned();
        let head = gap.map_or(which, |ns| format!("after {}", number::exact(ns)));
        rows.column(estimates(&head), |of| {
            let own = case.segments.iter().find(|own| own.segment == of.segment);
            Cell::estimate(own.map(|own| &own.typical_ns), Scale::Difference)
        })
    });
    all.column(numbers("second / first"), times).table()
}

fn times(of: &ComparedSegment) -> Cell {
    let Some(of) = of.contrast else { return Cell::none() };
    let baseline = String::new();
    let ratio = Ratio { baseline, point: of.ratio, low: of.low, high: of.high, n_rounds: of.n };
    Value::Ratio(ratio, Interval::Told).into()
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
fn notes(case: &ExplainedCase) -> Vec<String> {
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
    said.extend(case.slow.map(|slow| {
        let (from, ns) = (quantile(slow.quantile), number::time(slow.ns, 3));
        format!(
            "Slow: the mean of {} hops from the {from} of their trial on, {ns} each.",
            slow.hops
        )
    }));
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

#[cfg(test)]
mod tests {
    use hopcost_model::case::Role;
    use hopcost_read::results::{Estimate, Leg, Segment, SegmentKind, SlowHops};

    use super::*;
    use crate::stored;

    fn case(id: &str, times_ns: &[(Leg, Role, SegmentKind, f64)]) -> ExplainedCase {
        let estimate = |ns: f64| Estimate::exact(ns, 8, "typical".to_owned());
        let total_ns: f64 = times_ns.iter().map(|of| of.3).sum();
        let segment = |(leg, end, kind, ns): &(Leg, Role, SegmentKind, f64)| ExplainedSegment {
            segment: Segment { leg: *leg, end: *end, kind: *kind },
            typical_ns: estimate(*ns),
            share: ns / total_ns,
            p50_ns: *ns,
            p99_ns: 3.0 * ns,
            slow_ns: Some(4.0 * ns),
            events: 2.0,
            without_events_ns: Some(*ns - 110.0),
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
            slow: Some(SlowHops { quantile: 0.99, hops: 80, ns: 4.0 * total_ns }),
        }
    }

    fn explained() -> Results {
        use Leg::{Back, Forth};
        use Role::{Callee, Caller};
        use SegmentKind::{IdleExit, Send, User};
        let pipe = [
            (Forth, Caller, User, 120.0),
            (Forth, Caller, Send, 480.0),
            (Forth, Callee, IdleExit, 1500.0),
            (Back, Callee, User, 100.0),
            (Back, Callee, Send, 3700.0),
        ];
        let cases = vec![case("roundtrip/pipe?place=same-llc", &pipe)];
        Results {
            explanation: Some(Explanation { cases, untraced: None, compared: Vec::new() }),
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
            "Slow: the mean of 80 hops from the p99 of their trial on, 23.6 µs each.",
            "Bare below 0, since events cost more there than it took: “callee in user space”.",
            "Left out: 10 of 8000 hops: no event shows it.",
            "Not seen: ipi:ipi_send_cpu: this kernel does not have it.",
        ] {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(said), "{said}\n{text}");
        }
        assert!(text.lines().count() < 25, "{text}");
        let ascii = crate::text::TextStyle { charset: crate::text::Charset::Ascii, ..style };
        assert!(crate::text::answer(&results, None, &ascii).is_ascii());
        let page = crate::html::report(&results);
        assert!(page.contains("Where the time of a hop goes"));
        let csv = crate::answer::Answer::of_run(&results).csv(None).unwrap();
        assert!(csv.contains("same-llc,forth,caller,send,480,,,8,"), "{csv}");
        assert_eq!(csv.lines().count(), 6);
    }
}
