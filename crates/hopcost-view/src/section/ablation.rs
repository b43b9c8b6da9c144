//! Where the time of a round trip goes, without the kernel's events: its parts, what they are differences
//! of, and between what the traced segments lie.

use hopcost_model::results::{AblatedBounds, AblatedCase, AblatedPart, Explanation};

use super::model::{Block, Cell, Rows, Scale, Unit, estimates, note, numbers, says, words};
use crate::explanation::arithmetic;
use crate::number;

/// The letter of a line.
pub(super) fn letter(at: usize) -> char {
    ('a'..='z').nth(at).unwrap_or('.')
}

/// Round trips taken apart by differences between cases.
pub(super) fn blocks(found: &Explanation) -> Vec<Block> {
    let Some(of) = &found.ablation else { return Vec::new() };
    let how = "By differences between cases of the same round, which anyone may measure";
    let why = match &of.refused {
        Some(why) => format!("{how}: the kernel's events cannot be recorded: {why}."),
        None => format!("{how}. As root, the kernel's own events say more: without --ablation."),
    };
    let says_difference = found.difference.iter().map(|of| says(format!("{}.", of.says)));
    let mut blocks: Vec<Block> = says_difference.collect();
    for case in &of.cases {
        let Some(ns) = case.total_ns.point else {
            blocks.push(says(format!("{}: no round has all that it takes.", case.case)));
            blocks.extend(left_out(case).map(note));
            continue;
        };
        let whole = format!("{}: {} a round trip", case.case, number::time(ns, 3));
        blocks.extend([says(whole), parts(case), measured(case)]);
        blocks.extend((!case.bounds.is_empty()).then(|| note(bounds(&case.bounds))));
        blocks.extend(left_out(case).map(note));
    }
    blocks.push(note(why));
    blocks
}

/// `2d − 4b`, in the letters of what was measured.
fn in_letters(case: &AblatedCase, part: &AblatedPart) -> String {
    arithmetic(&part.sum, |times, id| {
        let at = case.measured.iter().position(|one| one.case == id);
        let letter = letter(at.unwrap_or(usize::MAX));
        if times == 1 { letter.to_string() } else { format!("{times}{letter}") }
    })
}

fn parts(case: &AblatedCase) -> Block {
    Rows::of(&case.parts)
        .column(words("part"), |of| Cell::text(of.what.clone()))
        .column(estimates("takes"), |of| Cell::estimate(Some(&of.ns), Scale::Difference))
        .column(numbers("share"), |of| Cell::number(of.share, Unit::Share))
        .column(words("is"), |of| Cell::text(in_letters(case, of)))
        .table()
}

fn measured(case: &AblatedCase) -> Block {
    let rows: Vec<_> = case.measured.iter().enumerate().collect();
    Rows::of(&rows)
        .column(words(""), |(at, _)| Cell::text(letter(*at).to_string()))
        .column(words("measured"), |(_, of)| Cell::text(of.case.clone()))
        .column(estimates("takes"), |(_, of)| Cell::estimate(Some(&of.ns), Scale::Difference))
        .table()
}

/// That rounds do not count, and why.
fn left_out(case: &AblatedCase) -> Option<String> {
    let all = case.left_out.saturating_add(case.total_ns.n_trials);
    (case.left_out > 0).then(|| {
        format!(
            "Left out: {} of {all} rounds: a trial failed, or another task had the CPU for most of it.",
            case.left_out
        )
    })
}

/// Between what traced segments lie, as far as the intervals reach.
fn bounds(bounds: &[AblatedBounds]) -> String {
    let time = |ns: Option<f64>| ns.map_or("an unknown time".to_owned(), |ns| number::time(ns, 3));
    let one = |of: &AblatedBounds| {
        let (least, most) = (&of.least_ns, &of.most_ns);
        let ends = (time(least.low.or(least.point)), time(most.high.or(most.point)));
        format!("{} take {} to {}", of.what, ends.0, ends.1)
    };
    let all: Vec<String> = bounds.iter().map(one).collect();
    format!("Of a round trip {}.", all.join(", "))
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::{AblatedTerm, Ablation, AblationCase, Estimate, Results};

    use super::*;
    use crate::stored;

    fn taken_apart(refused: Option<&str>) -> Results {
        let estimate = |ns: f64| Estimate {
            low: Some(ns - 10.0),
            high: Some(ns + 10.0),
            ..Estimate::exact(ns, 8, "median over rounds".to_owned())
        };
        let terms = |sum: &[(i32, &str)]| {
            let term = |(times, case): &(i32, &str)| AblatedTerm {
                times: *times,
                case: (*case).to_owned(),
            };
            sum.iter().map(term).collect()
        };
        let part = |what: &str, sum: &[(i32, &str)], ns: f64| AblatedPart {
            what: what.to_owned(),
            sum: terms(sum),
            ns: estimate(ns),
            share: ns / 4000.0,
        };
        let measured =
            |(case, ns): (&str, f64)| AblationCase { case: case.to_owned(), ns: estimate(ns) };
        let case = AblatedCase {
            case: "roundtrip/pipe".to_owned(),
            total_ns: estimate(4000.0),
            left_out: 2,
            measured: [("roundtrip/pipe", 4000.0), ("call/syscall", 100.0)].map(measured).into(),
            parts: vec![
                part("entering and leaving 4 system calls", &[(4, "call/syscall")], 400.0),
                part("the rest", &[(-4, "call/syscall"), (1, "roundtrip/pipe")], 3600.0),
                part("less than nothing", &[(2, "roundtrip/pipe"), (-1, "gone")], -50.0),
            ],
            bounds: vec![AblatedBounds {
                what: "waking and switching".to_owned(),
                least_ns: estimate(1000.0),
                most_ns: estimate(3000.0),
            }],
        };
        let refused = refused.map(str::to_owned);
        let ablation = Some(Ablation { refused, cases: vec![case] });
        Results {
            explanation: Some(Explanation {
                cases: Vec::new(),
                ablation,
                difference: None,
                by_gap: Vec::new(),
            }),
            ..stored::results("copies")
        }
    }

    #[test]
    fn each_part_stands_beside_what_it_is_the_difference_of() {
        let results = taken_apart(Some("want root"));
        let style = crate::text::TextStyle::plain(100);
        let text = crate::text::answer(&results, None, &style);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "roundtrip/pipe: 4.00 µs a round trip",
            "10 % 4b",
            "90 % −4b + a",
            "2a − .",
            "b call/syscall 100 ns",
            "Of a round trip waking and switching take 990 ns to 3.01 µs.",
            "the kernel's events cannot be recorded: want root.",
            "Left out: 2 of 10 rounds",
        ] {
            assert!(flat.contains(said), "{said}\n{text}");
        }
        assert!(text.contains("-50.0 ns [-60.0, -40.0]"), "{text}");
        let ascii = crate::text::TextStyle { charset: crate::text::Charset::Ascii, ..style };
        assert!(crate::text::answer(&results, None, &ascii).is_ascii());
        let asked = crate::text::answer(&taken_apart(None), None, &style);
        assert!(asked.contains("without --ablation"), "{asked}");
        assert!(crate::html::report(&results).contains("entering and leaving 4 system calls"));
        let csv = crate::explanation::csv(results.explanation.as_ref().unwrap());
        let rest = "roundtrip/pipe,the rest,−4 × call/syscall + 1 × roundtrip/pipe,3600,3590,3610,";
        assert!(csv.contains(rest), "{csv}");
        assert_eq!(csv.lines().count(), 4);
    }
}
