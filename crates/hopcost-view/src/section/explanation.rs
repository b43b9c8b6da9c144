//! Where the time of a hop goes: its segments, and those of two cases side by side.

use hopcost_model::Code;
use hopcost_read::results::{
    ComparedSegment, ExplainedCase, ExplainedSegment, Explanation, LeftOutHops, Results,
};

use super::comparison::placed;
use super::contrasts::{difference, name, sentence};
use super::headline::{Headline, rests_on};
use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Tone, estimates, notes, numbers, says, words,
};
use crate::number;

/// By how much two cases differ and in which segment most, and each case with its longest segment.
pub(super) fn headline(found: &Explanation, results: &Results) -> Headline {
    let cases = found.cases.iter().map(whole);
    let mut facts: Vec<(String, String)> = names(found).into_iter().zip(cases).collect();
    let title = match (&found.untraced, facts.as_slice()) {
        (Some(untraced), [(first, _), (second, _)]) => {
            let said = format!("Untraced, {}.", sentence(second, first, Some(untraced)));
            let most = widest(found).map(|most| ("difference".to_owned(), most));
            facts.splice(..0, most);
            said
        }
        _ => {
            let said = facts.drain(..).map(|(name, said)| format!("{name}: {said}."));
            said.collect::<Vec<_>>().join(" ")
        }
    };
    let ids = found.cases.iter().map(|case| case.case.as_str());
    let says = vec![placed(ids, &format!("{}.", rests_on(results)))];
    Headline { title, facts, says }
}

/// All of it, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let found = results.explanation.as_ref()?;
    let cases = found.cases.iter().zip(names(found)).flat_map(|(case, name)| {
        [says(format!("{name}: {}.", whole(case))), table(case)].into_iter().chain(known(case))
    });
    let beside = (found.cases.len() > 1).then(|| beside(found));
    Section::of("explanation", beside.into_iter().chain(cases))
}

/// The segments of one case, or of two side by side, with their notes.
pub(super) fn blocks(results: &Results, found: &Explanation) -> Vec<Block> {
    let changed = results.findings.iter().filter(|finding| finding.code == Code::TracingChanged);
    let changed = changed.map(|of| {
        let case = of.case.as_deref().unwrap_or_default();
        let text = format!("Tracing changed what it watched: {case}: {}", of.evidence);
        Block::Text(Tone::Alert, text)
    });
    let table = match found.cases.as_slice() {
        [only] => table(only),
        _ => beside(found),
    };
    std::iter::once(table).chain(found.cases.iter().flat_map(known)).chain(changed).collect()
}

/// What each case is called: in what it differs from the other.
fn names(found: &Explanation) -> Vec<String> {
    let others = found.cases.iter().rev();
    found.cases.iter().zip(others).map(|(case, other)| name(&case.case, &other.case)).collect()
}

/// `2.51 µs ±3% a hop, 5.12 µs while traced; most in switch (0.9 µs)`
fn whole(case: &ExplainedCase) -> String {
    let Some(traced) = case.total_ns.point else {
        return "no hop could be cut into segments".to_owned();
    };
    let untraced = Some(&case.untraced_p50_ns).filter(|of| of.point.is_some());
    let untraced = untraced
        .map_or("not known".to_owned(), |of| Cell::brief(Some(of), Scale::Time).shown.to_string());
    let ns = |of: &ExplainedSegment| of.typical_ns.point.unwrap_or(0.0);
    let most = case.segments.iter().max_by(|a, b| ns(a).total_cmp(&ns(b)));
    let most = most.map(|of| format!("; most in {} ({})", of.segment, number::time(ns(of), 2)));
    let most = most.unwrap_or_default();
    format!("{untraced} a hop, {} while traced{most}", number::time(traced, 3))
}

/// The segment in which two cases differ most, and by how much.
fn widest(found: &Explanation) -> Option<String> {
    let [first, second] = found.cases.as_slice() else { return None };
    let ns = |case: &ExplainedCase, of: &ComparedSegment| {
        let own = case.segments.iter().find(|own| own.segment == of.segment);
        own.and_then(|own| own.typical_ns.point).unwrap_or(0.0)
    };
    let more = |of: &ComparedSegment| ns(second, of) - ns(first, of);
    let most = found.compared.iter().max_by(|a, b| more(a).abs().total_cmp(&more(b).abs()))?;
    let sign = if more(most) < 0.0 { '-' } else { '+' };
    Some(format!("most in {} ({sign}{})", most.segment, number::time(more(most).abs(), 2)))
}

/// The segments of a case. Where the cost of events is taken off, what they cost is no news.
fn table(case: &ExplainedCase) -> Block {
    let is_bare = case.segments.iter().any(|of| of.without_events_ns.is_some());
    let without = if is_bare { "events" } else { "without_events_ns" };
    Rows::of(&case.segments).fields(without, Some).table()
}

/// What each segment typically takes in each case.
fn beside(found: &Explanation) -> Block {
    let first =
        Rows::of(&found.compared).column(words("segment"), |of| Cell::text(of.segment.to_string()));
    let all = found.cases.iter().zip(names(found)).fold(first, |rows, (case, name)| {
        rows.column(estimates(&name), |of| {
            let own = case.segments.iter().find(|own| own.segment == of.segment);
            Cell::estimate(own.map(|own| &own.typical_ns), Scale::Difference)
        })
    });
    all.column(numbers("difference [interval]"), |of| difference(of.contrast)).table()
}

/// Notes on a case's segments.
fn known(case: &ExplainedCase) -> impl Iterator<Item = Block> {
    let of = |ns: Option<f64>| ns.map_or("not known".to_owned(), |ns| number::time(ns, 3));
    let cost = case.event_cost_ns.map_or("an unknown time".to_owned(), |ns| number::time(ns, 2));
    let without = case.without_events_ns.point.zip(case.off).map_or(String::new(), |(ns, off)| {
        let side = if off < 0.0 { "less" } else { "more" };
        let off = number::share(off.abs());
        format!("; less that, {}, {off} {side} than untraced", number::time(ns, 3))
    });
    let mut said = vec![format!(
        "Median hop: {} traced, {} untraced. Tracing adds {} events of {cost} to a hop{without}. Events \
         and stamps are at most {} apart.",
        of(case.traced_p50_ns.point),
        of(case.untraced_p50_ns.point),
        number::plain(case.events, 2),
        number::exact(case.clock_bound_ns),
    )];
    let is_below = |of: &&ExplainedSegment| of.without_events_ns.is_some_and(|ns| ns < 0.0);
    let below = case.segments.iter().filter(is_below).map(|of| format!("“{}”", of.segment));
    let below: Vec<String> = below.collect();
    if !below.is_empty() {
        let below = below.join(", ");
        said.push(format!("Below 0 less its events, which cost more than it took: {below}."));
    }
    let left_out = |of: &LeftOutHops| {
        let all = case.left_out.iter().fold(case.hops, |sum, one| sum.saturating_add(one.hops));
        format!("Left out: {} of {all} hops: {}.", of.hops, of.reason)
    };
    said.extend(case.left_out.iter().map(left_out));
    said.extend(case.missing.iter().map(|what| format!("Not seen: {what}.")));
    notes(said)
}

#[cfg(test)]
mod tests {
    use hopcost_model::Role;
    use hopcost_read::results::{Contrast, Estimate, Leg, Segment, SegmentKind, Verdict};

    use super::*;
    use crate::answer::Content;
    use crate::stored::{self, shown};
    use crate::style::TextStyle;

    fn case(id: &str, receive_ns: f64) -> ExplainedCase {
        let estimate = |ns: f64| Estimate::exact(ns, 8);
        let kinds = [(SegmentKind::Send, 480.0), (SegmentKind::Receive, receive_ns)];
        let segment = |(kind, ns): (SegmentKind, f64)| ExplainedSegment {
            segment: Segment { leg: Leg::Forth, end: Role::Caller, kind },
            typical_ns: estimate(ns),
            share: 0.5,
            p50_ns: ns,
            p99_ns: 3.0 * ns,
            events: 6.0,
            without_events_ns: Some(ns - 500.0),
        };
        ExplainedCase {
            case: format!("roundtrip/{id}?place=same-llc"),
            hops: 7_990,
            left_out: vec![LeftOutHops { reason: "no event shows it".to_owned(), hops: 10 }],
            total_ns: estimate(480.0 + receive_ns),
            traced_p50_ns: estimate(480.0 + receive_ns),
            untraced_p50_ns: estimate(receive_ns),
            events: 12.0,
            event_cost_ns: Some(91.0),
            without_events_ns: estimate(1.1 * receive_ns),
            off: Some(0.1),
            clock_bound_ns: 40,
            missing: vec!["ipi:ipi_send_cpu: this kernel does not have it".to_owned()],
            segments: kinds.map(segment).into(),
        }
    }

    fn explained(cases: Vec<ExplainedCase>) -> Results {
        let segments = cases[0].segments.iter();
        let compared = segments.map(|of| ComparedSegment { segment: of.segment, contrast: None });
        let untraced = (cases.len() == 2).then_some(Contrast {
            ratio: 2.0,
            low: Some(1.9),
            high: Some(2.1),
            coverage: 0.95,
            n: 8,
            verdict: Verdict::Outside,
            more: None,
        });
        let compared = compared.collect();
        Results {
            explanation: Some(Explanation { cases, untraced, compared }),
            ..stored::results("copies")
        }
    }

    #[test]
    fn an_answer_begins_with_the_difference_and_its_segment() {
        let cases = vec![case("pipe", 1000.0), case("tcp", 2000.0)];
        let text = shown(&explained(cases)).text(false, &TextStyle::plain(100));
        let first = "Untraced, tcp is slower than pipe, by at least 90.0 % (+100.0 % [+90.0, +110.0]).\n\
                     difference  most in receive in the kernel (+1.0 µs)\n";
        assert!(text.starts_with(first), "{text}");
        for said in [
            "\npipe        1.00 µs a hop, 1.48 µs while traced; most in receive in the kernel (1.0 µs)\n",
            "Tracing adds 12 events of 91 ns",
            "took: “send in the kernel”.",
            "Left out: 10 of 8000 hops: no event shows it.",
            "Not seen: ipi:ipi_send_cpu: this kernel does not have it.",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
        assert!(text.lines().count() < 25, "{text}");
        let results = explained(vec![case("pipe", 1000.0)]);
        let one = shown(&results).text(false, &TextStyle::plain(100));
        assert!(one.starts_with("pipe: 1.00 µs a hop, 1.48 µs while traced; most in "), "{one}");
        assert!(shown(&results).html().contains("Where the time of a hop goes"));
        let csv = crate::answer::Answer::of_run(&results).csv(None).unwrap();
        assert!(csv.contains("same-llc,forth,caller,send,480,,,8,"), "{csv}");
    }
}
