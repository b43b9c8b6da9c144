//! What a comparison found: a line a case, its verdict first.

use hopcost_model::results::{Compared, Comparison, Ratio, Results, Verdict};
use hopcost_model::text::count;

use super::model::{
    Block, Cell, Frame, Interval, Medium, Rows, Section, Tone, Unit as Digits, Value, notes,
    numbers, words,
};
use super::shapes::{About, Swept, lines};
use crate::chart::model::{Axis, Chart, Scale};
use crate::chart::unit::Unit;
use crate::names::plain_id;
use crate::number;

/// The comparison, where other sections follow.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let found = results.comparison.as_ref()?;
    let charts = (medium == Medium::Page).then(|| charts(&found.compared)).flatten();
    Section::of("comparison", blocks(found).into_iter().chain(charts))
}

fn charts(compared: &[Compared]) -> Option<Block> {
    let charts = shifts(compared);
    (!charts.is_empty()).then_some(Block::Charts(charts, Frame::Small))
}

/// Each decile over the baseline's, a chart for each case whose operations were timed singly.
pub(crate) fn shifts(compared: &[Compared]) -> Vec<Chart> {
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
        ratios(&about, x, &points.collect::<Vec<_>>())
    };
    several.flat_map(chart).collect()
}

/// Ratios along an axis, with the line on which both are equal.
pub(super) fn ratios(
    about: &About,
    x: Axis,
    points: &[(f64, f64, Option<(f64, f64)>)],
) -> Vec<Chart> {
    let ends = points.first().into_iter().chain(points.last());
    let equal = ends.map(|(at, ..)| ("equal", *at, 1.0, None));
    let own = points.iter().map(|(at, ratio, ends)| ("ratio", *at, *ratio, *ends));
    let all: Vec<_> = own.chain(equal).collect();
    let table = Rows::of(&all)
        .column(words("line"), |(line, ..)| Cell::text(*line))
        .column(numbers(&x.label), |(_, at, ..)| Value::Sorted(x.unit.text(*at), *at).into())
        .column(numbers("× baseline"), |(.., ratio, ends)| {
            let (low, high) = ends.unzip();
            let ratio = Ratio { baseline: String::new(), point: *ratio, low, high, n_rounds: 0 };
            Value::Ratio(ratio, Interval::Told).into()
        })
        .into_table();
    let y = Axis::new("time as a multiple of the baseline's", Scale::Log, Unit::COUNT);
    lines(about, &table, &Swept { series: "line", x, y, values: &["× baseline"] })
}

pub(super) fn blocks(found: &Comparison) -> Vec<Block> {
    let invalid =
        found.invalid.as_ref().map(|why| Block::Text(Tone::Alert, format!("Invalid: {why}.")));
    let table = Rows::of(&found.compared)
        .column(words("verdict"), |of| Cell::text(of.word()))
        .column(numbers("difference [interval]"), difference)
        .column_if(
            found.compared.iter().any(|of| of.again.is_some()),
            numbers("measured again"),
            |of| of.again.as_ref().map_or(Cell::none(), |again| difference(again)),
        )
        .column(words("of"), |of| Cell::code(beside(&of.case, &found.baseline)))
        .column(numbers("time").fold(1), |of| Cell::maybe(of.value_ns, Digits::Time(3)))
        .column(numbers("blocks").fold(2), |of| Cell::number(of.n_blocks, Digits::Whole));
    let paired = "Differences are between neighbours of a block; times are medians.".to_owned();
    let mut said = vec![against(found), paired, itself(found)];
    said.extend(found.compared.iter().filter_map(|of| undecided(of, found)));
    invalid.into_iter().chain([table.table()]).chain(notes(said)).collect()
}

/// Each case in a line to paste; what is said of all of them is `besides`.
pub(super) fn sentences(compared: &[Compared], besides: &str) -> Vec<String> {
    let sentence = |of: &Compared| {
        let shown = difference(of).value.shown().map(|shown| format!(", {shown}"));
        let after = of.runs.as_ref().and_then(|runs| runs.baseline.clone());
        let after = after.map_or(String::new(), |baseline| format!(" against {baseline}"));
        let shown = shown.unwrap_or_default();
        format!("{}: {}{after}{shown} ({besides})", of.word(), of.case)
    };
    compared.iter().map(sentence).collect()
}

/// What the sentences of a live comparison have in common.
pub(super) fn in_common(found: &Comparison) -> String {
    let invalid = found.invalid.as_ref().map_or(String::new(), |why| format!("invalid: {why}; "));
    format!("{invalid}{}", against(found).trim_end_matches('.'))
}

/// `+5.1 % [+4.2, +6.0]`; a multiple from twice on.
pub(super) fn difference(of: &Compared) -> Cell {
    of.ratio.map_or(Cell::none(), |ratio| times(ratio, of.low.zip(of.high)))
}

/// The same of a ratio and the ends of its interval.
pub(super) fn times(ratio: f64, ends: Option<(f64, f64)>) -> Cell {
    let multiple = !(0.5..=2.0).contains(&ratio);
    // So many digits that the interval has two that say something.
    let width = ends.map_or(1.0, |(low, high)| (high - low).abs());
    let digits = if width * 100.0 < 0.3 { 2 } else { 1 };
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

/// What they are compared with, and how.
fn against(found: &Comparison) -> String {
    let time = found
        .baseline_ns
        .map_or("not measured".to_owned(), |ns| number::quantity(ns, 3).to_string());
    format!(
        "Baseline: {}, {time}. {} of adjacent trials in {}, margin {} %.",
        found.baseline,
        count(found.blocks as usize, "block"),
        number::expected((found.took_s * 1e9) as u64),
        number::plain(found.margin * 100.0, 2),
    )
}

fn itself(found: &Comparison) -> String {
    let shown = difference(&found.copy)
        .value
        .shown()
        .map_or("not measured".to_owned(), |shown| shown.to_string());
    format!("The baseline against itself: {shown}.")
}

/// What would decide.
fn undecided(of: &Compared, found: &Comparison) -> Option<String> {
    if of.verdict != Verdict::Inconclusive || of.n_blocks == 0 {
        return None;
    }
    let name = beside(&of.case, &found.baseline);
    Some(match of.blocks_to_decide.zip(of.seconds_to_decide) {
        Some((blocks, seconds)) => format!(
            "{name} is not decided; {blocks} blocks probably would: --duration {}s.",
            seconds.ceil()
        ),
        None => format!("{name} is not decided, and {}.", out_of_reach(found.margin)),
    })
}

/// What is left where no number of blocks or runs in reach decides.
pub(crate) fn out_of_reach(margin: f64) -> String {
    format!(
        "the difference lies too near the margin of {} % for an interval so wide: a quieter machine \
         or another --margin decides, and not more of the same",
        number::plain(margin * 100.0, 2)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(ratio: f64, low: f64, high: f64) -> Compared {
        Compared {
            case: "roundtrip/tcp?payload=64&place=same-cpu".into(),
            verdict: Verdict::Inconclusive,
            ratio: Some(ratio),
            low: Some(low),
            high: Some(high),
            coverage: 0.97,
            value_ns: Some(2_000.0),
            n_blocks: 24,
            blocks_to_decide: Some(80),
            seconds_to_decide: Some(33.2),
            deciles: Vec::new(),
            runs: None,
            again: None,
        }
    }

    #[test]
    fn differences_have_a_sign_and_as_many_digits_as_they_deserve() {
        let shown = |ratio, low, high| {
            difference(&compared(ratio, low, high)).value.shown().unwrap().to_string()
        };
        assert_eq!(shown(1.051, 1.042, 1.06), "+5.1 % [+4.2, +6.0]");
        assert_eq!(shown(0.9012, 0.9004, 0.9021), "-9.88 % [-9.96, -9.79]");
        assert_eq!(shown(3.21, 3.1, 3.3), "×3.21 [3.10, 3.30]");
        let none = Compared { low: None, ..compared(1.05, 1.0, 1.1) };
        assert_eq!(difference(&none).value.shown().unwrap().to_string(), "+5.0 % [–]");
    }

    #[test]
    fn a_case_is_told_by_what_it_differs_in() {
        let baseline = "roundtrip/pipe?payload=64&place=same-cpu&wait=block";
        assert_eq!(
            beside(&baseline.replace("block", "spin"), baseline),
            "roundtrip/pipe?wait=spin"
        );
        assert_eq!(beside("roundtrip/tcp?payload=64&place=same-cpu", baseline), "roundtrip/tcp");
        assert_eq!(beside("call/syscall", "call/vdso-clock"), "call/syscall");
    }
}
