//! What a comparison found, live or of stored runs: a line per case, its verdict first.

use hopcost_model::text::count;
use hopcost_read::results::{Compared, Comparison, Contrast, Results, Verdict};

use super::model::{
    Block, Cell, Medium, Rows, Section, Tone, Unit as Digits, Value, notes, numbers, says, words,
};
use super::shapes::{About, Point, lines};
use crate::chart::Unit;
use crate::chart::model::{Axis, Chart, Scale};
use crate::names::plain_id;
use crate::number;

/// The live comparison, where other sections follow.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let found = results.comparison.as_ref()?;
    let charts = framed(shifts(&found.compared), medium);
    Section::of("comparison", blocks(found).into_iter().chain(charts))
}

/// A live comparison.
pub(super) fn blocks(found: &Comparison) -> Vec<Block> {
    let invalid =
        found.invalid.as_ref().map(|why| Block::Text(Tone::Alert, format!("Invalid: {why}.")));
    let mut said = vec![
        format!("Baseline: {}. {}.", found.copy.baseline, in_common(found)),
        "Differences are between neighbours of a block; times are medians.".to_owned(),
    ];
    let itself = difference(&found.copy).value.shown();
    said.extend(itself.map(|shown| format!("The baseline against itself: {shown}.")));
    let block_s = found.took_s / f64::from(found.blocks.max(1));
    said.extend(undecided(&found.compared, found.margin, |blocks| {
        format!("{blocks} blocks (--budget {}s)", (f64::from(blocks) * block_s).ceil())
    }));
    let table = table(&found.compared, &found.copy.baseline, "blocks");
    invalid.into_iter().chain([table]).chain(notes(said)).collect()
}

/// What a page begins with: the verdicts.
pub(super) fn conclusion(found: &Comparison) -> Vec<Block> {
    let one = |of: &Compared| says(format!("{}: {}", name(&of.case, &of.baseline), in_words(of)));
    found.compared.iter().map(one).collect()
}

/// Each case of a live comparison in a sentence to paste.
pub(super) fn live_sentences(found: &Comparison, besides: &str) -> Vec<String> {
    let invalid = found.invalid.as_ref().map_or(String::new(), |why| format!("invalid: {why}; "));
    let besides = format!("{invalid}{}; {besides}", in_common(found));
    let one = |of: &Compared| {
        let name = name(&of.case, &of.baseline);
        sentence(of, &name, &name_beside(&of.baseline, &of.case, &name), &besides)
    };
    found.compared.iter().map(one).collect()
}

/// The charts of a page.
pub(super) fn framed(charts: Vec<Chart>, medium: Medium) -> Option<Block> {
    (medium == Medium::Page && !charts.is_empty()).then_some(Block::Charts(charts))
}

/// Each decile over the baseline's, a chart for each case whose operations were timed singly.
pub(super) fn shifts(compared: &[Compared]) -> Vec<Chart> {
    let several = compared.iter().enumerate().filter(|(_, of)| of.deciles.len() > 1);
    let chart = |(at, of): (usize, &Compared)| {
        let number = if at == 0 { String::new() } else { format!("-{}", at + 1) };
        let about = About {
            id: format!("shift-{}{number}", plain_id(&of.case)),
            title: of.case.clone(),
            says: "Each decile as a multiple of the same decile of the baseline. The band holds \
                   all deciles together with 95 %."
                .to_owned(),
        };
        let points = of.deciles.iter().map(|of| (of.q, of.ratio, of.low.zip(of.high)));
        let x =
            Axis { domain: Some((0.1, 0.9)), ..Axis::new("decile", Scale::Linear, Unit::Quantile) };
        ratios(&about, &x, &points.collect::<Vec<_>>())
    };
    several.flat_map(chart).collect()
}

/// A value of an axis, the ratio there, and the ends of its interval.
pub(super) type Along = (f64, f64, Option<(f64, f64)>);

/// Ratios along an axis, with the line on which both are equal.
pub(super) fn ratios(about: &About, x: &Axis, points: &[Along]) -> Vec<Chart> {
    let point = |line: &str, x, y, ends| Point { line: line.to_owned(), x, y, ends };
    let ends = points.first().into_iter().chain(points.last());
    let equal = ends.map(|(at, ..)| point("equal", *at, 1.0, None));
    let own = points.iter().map(|(at, ratio, ends)| point("ratio", *at, *ratio, *ends));
    let y = Axis::new("time as a multiple of the baseline's", Scale::Log, Unit::Count);
    lines(about, own.chain(equal).collect(), x, &y)
}

/// A line per case without the keys in which it is like another; what has changed goes first.
pub(super) fn table(compared: &[Compared], like: &str, unit: &str) -> Block {
    let mut compared: Vec<&Compared> = compared.iter().collect();
    compared.sort_by_key(|of| match of.contrast.map(|of| of.verdict) {
        Some(Verdict::Outside) => u8::from(!of.looks_slower()),
        Some(Verdict::Open) | None => 2,
        Some(Verdict::Inside) => 3,
    });
    let percent = |ratio: f64| Cell::text(format!("{:+.1} %", (ratio - 1.0) * 100.0));
    Rows::of(&compared)
        .column(words("verdict"), |of| Cell::text(in_words(of)))
        .column(numbers("difference [interval]"), |of| difference(of))
        .column(numbers("measured again"), |of| {
            of.again.as_ref().map_or(Cell::none(), |again| difference(again))
        })
        .column(numbers("met"), move |of| of.met_ratio.map_or(Cell::none(), percent))
        .column(words("of"), |of| Cell::code(beside(&of.case, like)))
        .column(numbers("baseline").fold(2), |of| Cell::maybe(of.baseline_ns, Digits::Time(3)))
        .column(numbers("time").fold(1), |of| Cell::maybe(of.value_ns, Digits::Time(3)))
        .column(numbers(unit).fold(3), |of| {
            Cell::maybe(of.contrast.map(|of| f64::from(of.n)), Digits::Whole)
        })
        .table()
}

/// The bound that an interval sets, for a case beside another.
struct Bound {
    is: &'static str,
    than: &'static str,
    by: String,
}

impl Bound {
    /// `None` without an interval.
    fn of(found: &Contrast) -> Option<Self> {
        let (low, high) = found.ends()?;
        let digits = digits((low, high));
        let by = |what: &str, ratio: f64| match is_multiple(ratio) {
            true => format!("{what} {} ×", number::plain(ratio.max(1.0 / ratio), 3)),
            false => format!("by {what} {:.digits$} %", (ratio - 1.0).abs() * 100.0),
        };
        Some(match () {
            () if found.verdict == Verdict::Inside => {
                let most = if high - 1.0 > 1.0 - low { high } else { low };
                let most = format!(", within {:.digits$} %", (most - 1.0).abs() * 100.0);
                Self { is: "as fast", than: "as", by: most }
            }
            () if low > 1.0 => {
                Self { is: "slower", than: "than", by: format!(", {}", by("at least", low)) }
            }
            () if high < 1.0 => {
                Self { is: "faster", than: "than", by: format!(", {}", by("at least", high)) }
            }
            () => {
                Self { is: "not slower", than: "than", by: format!(" {}", by("more than", high)) }
            }
        })
    }
}

/// What is wrong with the answer of a case, where there is none.
fn lacking(of: &Compared) -> Option<&'static str> {
    match () {
        () if !of.is_measured() => Some("not measured"),
        () if of.looks_slower() && !of.is_slower() => Some("not confirmed"),
        () => None,
    }
}

/// `slower, by at least 4.2 %`
pub(super) fn in_words(of: &Compared) -> String {
    let bound = of.contrast.as_ref().and_then(Bound::of);
    match (lacking(of), bound) {
        (Some(why), _) => why.to_owned(),
        (None, None) => "no interval".to_owned(),
        (None, Some(bound)) => format!("{}{}", bound.is, bound.by),
    }
}

/// `tcp is slower than pipe, by at least 4.2 % (+5.1 % [+4.2, +6.0]; 24 blocks …).`
pub(super) fn sentence(of: &Compared, name: &str, base: &str, besides: &str) -> String {
    let bound = of.contrast.as_ref().and_then(Bound::of);
    let said = match (lacking(of), bound) {
        (Some("not confirmed"), _) => {
            format!("{name} is slower than {base} at first, which a second measurement denies")
        }
        (Some(_), _) => format!("{name} was not measured beside {base}"),
        (None, None) => format!("{name} has no interval beside {base}"),
        (None, Some(bound)) => format!("{name} is {} {} {base}{}", bound.is, bound.than, bound.by),
    };
    let shown = difference(of).value.shown().map_or(String::new(), |shown| format!("{shown}; "));
    format!("{said} ({shown}{besides}).")
}

/// What a sentence calls a case: its mechanism, and in what else it differs from another.
pub(super) fn name(case: &str, other: &str) -> String {
    let own = beside(case, other);
    let (path, keys) = own.split_once('?').unwrap_or((&own, ""));
    let mechanism = path.split_once('/').map_or(path, |(_, mechanism)| mechanism);
    match keys.is_empty() {
        true => mechanism.to_owned(),
        false => format!("{mechanism} with {}", keys.replace('=', " ").replace('&', ", ")),
    }
}

/// What it calls the case beside one of this name.
pub(super) fn name_beside(baseline: &str, case: &str, name_of_case: &str) -> String {
    let name = name(baseline, case);
    if name == name_of_case { "the baseline".to_owned() } else { name }
}

/// `+5.1 % [+4.2, +6.0]`; a multiple from twice on.
pub(super) fn difference(of: &Compared) -> Cell {
    of.contrast.map_or(Cell::none(), |of| times(of.ratio, of.ends()))
}

/// The same of a ratio and the ends of its interval.
pub(super) fn times(ratio: f64, ends: Option<(f64, f64)>) -> Cell {
    let multiple = is_multiple(ratio);
    let digits = ends.map_or(1, digits);
    let written = |ratio: f64| match multiple {
        true => number::plain(ratio, 3),
        false => format!("{:+.digits$}", (ratio - 1.0) * 100.0),
    };
    let interval = ends
        .map_or("[–]".to_owned(), |(low, high)| format!("[{}, {}]", written(low), written(high)));
    let point = written(ratio);
    let text =
        if multiple { format!("×{point} {interval}") } else { format!("{point} % {interval}") };
    Value::Sorted(text, ratio).into()
}

/// What a case is: its path, and the keys in which it differs from the baseline.
pub(super) fn beside(case: &str, baseline: &str) -> String {
    let parts = |id: &str| {
        let (path, keys) = id.split_once('?').unwrap_or((id, ""));
        (path.to_owned(), keys.split('&').map(str::to_owned).collect::<Vec<String>>())
    };
    let ((path, keys), (_, of_baseline)) = (parts(case), parts(baseline));
    let is_own = |key: &String| !key.is_empty() && !of_baseline.contains(key);
    let own: Vec<String> = keys.into_iter().filter(is_own).collect();
    if own.is_empty() { path } else { format!("{path}?{}", own.join("&")) }
}

fn is_multiple(ratio: f64) -> bool {
    !(0.5..=2.0).contains(&ratio)
}

/// Decimals of a percentage, so that two digits of its interval mean something.
fn digits((low, high): (f64, f64)) -> usize {
    if (high - low).abs() * 100.0 < 0.3 { 2 } else { 1 }
}

/// What the cases of a live comparison have in common.
fn in_common(found: &Comparison) -> String {
    format!(
        "{} of adjacent trials in {}, {}",
        count(found.blocks as usize, "block"),
        number::expected((found.took_s * 1e9) as u64),
        margin(found.margin)
    )
}

pub(super) fn margin(margin: f64) -> String {
    format!("margin {}", percent(margin))
}

fn percent(share: f64) -> String {
    format!("{} %", number::plain(share * 100.0, 2))
}

/// What would decide the cases that the margin leaves open.
pub(super) fn undecided(
    compared: &[Compared],
    within: f64,
    enough: impl Fn(u32) -> String,
) -> Option<String> {
    let open = compared.iter().filter_map(|of| of.contrast);
    let open: Vec<Option<u32>> =
        open.filter(|of| of.verdict == Verdict::Open).map(|of| of.more).collect();
    let what = format!("{} undecided at {}", count(open.len(), "case"), percent(within));
    let most = open.iter().flatten().max();
    match most {
        Some(most) => Some(format!("{what}: {} would probably decide.", enough(*most))),
        None if open.is_empty() => None,
        None => Some(format!(
            "{what}: the difference lies too near the margin. A quieter machine or another \
             --margin decides."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "roundtrip/tcp?payload=64&place=same-cpu";

    fn compared(verdict: Verdict, ratio: f64, ends: Option<(f64, f64)>) -> Compared {
        let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        let contrast =
            Some(Contrast { ratio, low, high, coverage: 0.97, n: 24, verdict, more: Some(80) });
        let baseline = CASE.replace("tcp", "pipe");
        Compared { baseline, contrast, ..Compared::unmeasured(CASE) }
    }

    #[test]
    fn differences_have_as_many_digits_as_they_deserve_and_verdicts_are_bounds() {
        use Verdict::{Inside, Open, Outside};
        for (verdict, ratio, ends, shown, said) in [
            (Outside, 1.051, (1.042, 1.06), "+5.1 % [+4.2, +6.0]", "slower, by at least 4.2 %"),
            (Outside, 0.897, (0.83, 0.972), "-10.3 % [-17.0, -2.8]", "faster, by at least 2.8 %"),
            (Inside, 0.9912, (0.9904, 0.9921), "-0.88 % [-0.96, -0.79]", "as fast, within 0.96 %"),
            (Open, 1.005, (0.985, 1.045), "+0.5 % [-1.5, +4.5]", "not slower by more than 4.5 %"),
            (Open, 1.04, (1.01, 1.07), "+4.0 % [+1.0, +7.0]", "slower, by at least 1.0 %"),
            (Outside, 3.21, (3.1, 3.3), "×3.21 [3.10, 3.30]", "slower, at least 3.10 ×"),
            (Outside, 0.3, (0.2, 0.4), "×0.300 [0.200, 0.400]", "faster, at least 2.50 ×"),
        ] {
            let of = compared(verdict, ratio, Some(ends));
            let difference = difference(&of).value.shown().unwrap().to_string();
            assert_eq!((difference.as_str(), in_words(&of).as_str()), (shown, said));
        }
        let none = compared(Open, 1.05, None);
        assert_eq!(difference(&none).value.shown().unwrap().to_string(), "+5.0 % [–]");
        assert_eq!(in_words(&none), "no interval");
        assert_eq!(in_words(&Compared::unmeasured(CASE)), "not measured");
    }

    #[test]
    fn a_sentence_has_no_spelling_of_a_case() {
        let of = compared(Verdict::Outside, 1.051, Some((1.042, 1.06)));
        let spinning = format!("{CASE}&wait=spin");
        for (case, base, want) in [
            (CASE, of.baseline.as_str(), "tcp is slower than pipe, by at least 4.2 %"),
            (CASE, CASE, "tcp is slower than the baseline, by at least 4.2 %"),
            (&spinning, CASE, "tcp with wait spin is slower than tcp, by at least 4.2 %"),
        ] {
            let name = name(case, base);
            let said = sentence(&of, &name, &name_beside(base, case, &name), "24 blocks");
            assert_eq!(said, format!("{want} (+5.1 % [+4.2, +6.0]; 24 blocks)."));
        }
        let again = Compared { again: Some(Box::new(Compared::unmeasured(CASE))), ..of.clone() };
        assert!(sentence(&again, "a", "b", "c").starts_with("a was not measured beside b"));
        let equal = compared(Verdict::Inside, 1.0, Some((0.99, 1.01)));
        let again = Compared { again: Some(Box::new(equal)), ..of };
        assert!(sentence(&again, "a", "b", "c").contains("a second measurement denies"));
    }

    #[test]
    fn a_case_is_shown_by_what_it_differs_in() {
        let baseline = "roundtrip/pipe?payload=64&place=same-cpu&wait=block";
        for (case, shown) in [
            (baseline.replace("block", "spin"), "roundtrip/pipe?wait=spin"),
            (CASE.to_owned(), "roundtrip/tcp"),
        ] {
            assert_eq!(beside(&case, baseline), shown);
        }
        assert_eq!(beside("call/syscall", "call/vdso-clock"), "call/syscall");
    }
}
