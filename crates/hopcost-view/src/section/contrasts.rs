//! The words and numbers of a contrast, whatever two sides it is of.

use std::cmp::Ordering;

use hopcost_read::results::{Compared, Contrast, Verdict};

use super::model::Cell;
use super::words::keys;
use crate::number;

/// Whether a case takes less or more, by its interval, or as much, by the margin.
pub(super) fn side(of: &Contrast) -> Option<Ordering> {
    let (low, high) = of.ends()?;
    match () {
        () if of.verdict == Verdict::Inside => Some(Ordering::Equal),
        () if low > 1.0 => Some(Ordering::Greater),
        () if high < 1.0 => Some(Ordering::Less),
        () => None,
    }
}

/// The bound that an interval sets, with what stands in the place of `than`, if that is named: `slower
/// than pipe, by at least 4.2 %`; `None` without an interval.
pub(crate) fn bounded(found: &Contrast, base: Option<&str>) -> Option<String> {
    let (low, high) = found.ends()?;
    let digits = digits((low, high));
    let percent = |ratio: f64| format!("{:.digits$} %", (ratio - 1.0).abs() * 100.0);
    let by = |what: &str, ratio: f64| match is_multiple(ratio) {
        true => format!("by {what} {} ×", number::plain(ratio.max(1.0 / ratio), 3)),
        false => format!("by {what} {}", percent(ratio)),
    };
    let than = base.map_or(String::new(), |base| format!(" than {base}"));
    let as_base = base.map_or(String::new(), |base| format!(" as {base}"));
    Some(match side(found) {
        Some(Ordering::Equal) => {
            let most = if high - 1.0 > 1.0 - low { high } else { low };
            format!("as fast{as_base}, within {}", percent(most))
        }
        Some(Ordering::Greater) => format!("slower{than}, {}", by("at least", low)),
        Some(Ordering::Less) => format!("faster{than}, {}", by("at least", high)),
        None => format!("not slower{than} {}", by("more than", high)),
    })
}

/// `tcp is slower than pipe, by at least 4.2 % (+5.1 % [+4.2, +6.0])`
pub(super) fn sentence(name: &str, base: &str, found: Option<&Contrast>) -> String {
    let said = match found.and_then(|found| Some((side(found), bounded(found, Some(base))?))) {
        Some((Some(_), bounded)) => format!("{name} is {bounded}"),
        Some((None, bounded)) => format!("{name} shows no difference: it is {bounded}"),
        None => {
            let n = found.map_or(0, |found| found.n);
            format!("{name} is undecided, too few values for an interval: {n} a side")
        }
    };
    match difference(found.copied()) {
        none if none.is_empty() => said,
        cell => format!("{said} ({})", cell.shown),
    }
}

/// The same of a case, or why there is none.
pub(super) fn verdict(of: &Compared) -> String {
    match () {
        () if !of.is_measured() => "not measured".to_owned(),
        () if of.looks_slower() && !of.is_slower() => "not confirmed".to_owned(),
        () => of
            .contrast
            .as_ref()
            .and_then(|of| bounded(of, None))
            .unwrap_or("no interval".to_owned()),
    }
}

/// A case by its mechanism, and in what else it differs from another.
pub(super) fn name(case: &str, other: &str) -> String {
    let own = beside(case, other);
    let (path, keys) = own.split_once('?').unwrap_or((&own, ""));
    let mechanism = path.split_once('/').map_or(path, |(_, mechanism)| mechanism);
    match keys.is_empty() {
        true => mechanism.to_owned(),
        false => format!("{mechanism} with {}", keys.replace('=', " ").replace('&', ", ")),
    }
}

/// What a case is: its path, and the keys in which it differs from the baseline.
pub(super) fn beside(case: &str, baseline: &str) -> String {
    let path = case.split('?').next().unwrap_or(case);
    let is_own = |key: &&str| !keys(baseline).any(|of| of == *key);
    let own: Vec<&str> = keys(case).filter(is_own).collect();
    if own.is_empty() { path.to_owned() } else { format!("{path}?{}", own.join("&")) }
}

/// `+5.1 % [+4.2, +6.0]`; a multiple from twice on.
pub(crate) fn difference(found: impl Into<Option<Contrast>>) -> Cell {
    let Some(found) = found.into() else { return Cell::none() };
    let (ratio, ends) = (found.ratio, found.ends());
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
    Cell::worded(text, ratio)
}

fn is_multiple(ratio: f64) -> bool {
    !(0.5..=2.0).contains(&ratio)
}

/// Decimals of a percentage, so that two digits of its interval mean something.
pub(super) fn digits((low, high): (f64, f64)) -> usize {
    if (high - low).abs() * 100.0 < 0.3 { 2 } else { 1 }
}

pub(super) fn margin(margin: f64) -> String {
    format!("margin {} %", number::plain(margin * 100.0, 2))
}
