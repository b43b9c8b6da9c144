//! Statistics of one distribution against each other, and against the number of samples.

use super::arithmetic::counts;
use crate::finding::{Cited, Finding, shown};
use crate::number::Span;
use crate::prose::Prose;
use crate::read::{Form, SUMMARY};
use crate::role::{Role, is_in};
use crate::sheet::{Column, Sheet};
use crate::unit::Dimension;

/// What classes of a histogram may add to a percentile, against exact extremes.
const CLASSES_SHARE: f64 = 0.02;
/// The same, in a mean over classes.
const CLASSES_MEAN_SHARE: f64 = 0.05;
/// Samples beyond a percentile without which it rests on too few.
const BEYOND_MIN: f64 = 10.0;
/// Units of the last digit in a standard error above which two digits are too many.
const DIGITS_BEYOND: f64 = 500.0;

/// The share of samples below a column's value.
fn rank(column: &Column) -> Option<f64> {
    let is_rate = matches!(column.dimension(), Some(Dimension::Rate | Dimension::BitRate));
    match column.is.role {
        Role::Min => Some(0.0),
        // Of rates, some tell what is reached so often at least.
        Role::Quantile(_) if is_rate => None,
        Role::Quantile(q) => Some(q),
        Role::Max => Some(1.0),
        _ => None,
    }
}

/// Whether two columns are of one distribution.
fn of_one(a: &Column, b: &Column) -> bool {
    a.is.subject == b.is.subject && a.dimension() == b.dimension()
}

/// The columns with a rank of the distribution that a column is of, by rank.
fn ranked<'a>(sheet: &'a Sheet, of: &'a Column) -> Vec<(f64, &'a Column)> {
    let known = sheet.columns.iter().filter(|column| of_one(column, of));
    let mut ranked: Vec<_> = known.filter_map(|column| Some((rank(column)?, column))).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked
}

/// Messages that sockperf received and did not send.
fn received(sheet: &Sheet) -> Vec<Finding> {
    let named = |name: &str| sheet.columns.iter().find(|column| column.head == name);
    let both = named("ReceivedMessages").zip(named("SentMessages"));
    let Some((received, sent)) = both.filter(|_| sheet.form == Form::Tool) else {
        return Vec::new();
    };
    let more = |row: &usize| match (received.at(*row), sent.at(*row)) {
        (Some(received), Some(sent)) => received.value > sent.value,
        _ => false,
    };
    let finding = |row: usize| Finding {
        check: "order",
        cells: [received, sent].map(|column| Cited::cell(sheet, column, row)).into(),
        arithmetic: format!("{} > {}", received.cells[row].text, sent.cells[row].text),
        explanation: "messages came twice or of another sender, or the lines are of different runs",
    };
    sheet.rows().filter(more).map(finding).collect()
}

/// Min ≤ p50 ≤ p99 ≤ max.
pub fn order(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let of = |column: &Column| -> Vec<Finding> {
        let Some(here) = rank(column) else { return Vec::new() };
        let ranked = ranked(sheet, column);
        let next = ranked.iter().find(|(rank, _)| *rank > here).map(|(_, next)| *next);
        let Some(next) = next else { return Vec::new() };
        let extreme = here == 0.0 || next.is.role == Role::Max;
        let slack = if extreme { 1.0 + CLASSES_SHARE } else { 1.0 };
        let wrong = |row: &usize| match (column.at(*row), next.at(*row)) {
            (Some(low), Some(high)) => low.span.low > high.span.high * slack,
            _ => false,
        };
        let finding = |row: usize| Finding {
            check: "order",
            cells: vec![Cited::cell(sheet, column, row), Cited::cell(sheet, next, row)],
            arithmetic: format!(
                "{} {} > {} {}",
                column.head, column.cells[row].text, next.head, next.cells[row].text
            ),
            explanation: "columns are swapped, or are of different runs",
        };
        sheet.rows().filter(wrong).map(finding).collect()
    };
    sheet.columns.iter().flat_map(of).chain(received(sheet)).collect()
}

/// Estimates against the ends of their intervals: the columns with the same name and `low` or `high`.
pub fn interval(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let of = |column: &Column| -> Option<Vec<Finding>> {
        let end = |behind: &str| {
            let own = |head: &str| head.strip_suffix(behind) == Some(&column.head);
            sheet.columns.iter().find(|other| own(&other.head))
        };
        let (low, high) = (end(" low")?, end(" high")?);
        let wrong = |row: &usize| match (low.at(*row), column.at(*row), high.at(*row)) {
            (Some(low), Some(told), Some(high)) => {
                low.span.low > told.span.high || told.span.low > high.span.high
            }
            _ => false,
        };
        let finding = |row: usize| Finding {
            check: "interval",
            cells: [column, low, high].map(|column| Cited::cell(sheet, column, row)).into(),
            arithmetic: format!(
                "{} does not lie in {} to {}",
                column.cells[row].text, low.cells[row].text, high.cells[row].text
            ),
            explanation: "the three are of different runs, or one was typed by hand",
        };
        Some(sheet.rows().filter(wrong).map(finding).collect())
    };
    sheet.columns.iter().filter_map(of).flatten().collect()
}

/// Means that a tool tells twice or of parts: sockperf's summary is its mean, and the `lat` of fio
/// is at least the `slat` and `clat` above it.
fn of_tools(sheet: &Sheet) -> Vec<Finding> {
    let named = |name: &str| sheet.columns.iter().find(|column| column.head == name);
    let Some(avg) = named("avg").filter(|_| sheet.form == Form::Tool) else { return Vec::new() };
    let twice = |row: usize| {
        let again = named(SUMMARY)?;
        let differs = !again.at(row)?.span.meets(avg.at(row)?.span);
        differs.then(|| Finding {
            check: "mean",
            cells: [again, avg].map(|column| Cited::cell(sheet, column, row)).into(),
            arithmetic: format!("{} is not {}", again.cells[row].text, avg.cells[row].text),
            explanation: "the two are of different runs, or one was typed by hand",
        })
    };
    let of_parts = |row: usize| {
        let job = sheet.names[row].strip_suffix("lat").filter(|job| !job.ends_with(['s', 'c']))?;
        let is_part = |at: &usize| {
            let part = sheet.names[*at].strip_prefix(job);
            part.is_some_and(|part| ["slat", "clat"].contains(&part)) && avg.at(*at).is_some()
        };
        let parts: Vec<usize> = (row.saturating_sub(2)..row).filter(is_part).collect();
        let least: f64 = parts.iter().filter_map(|at| avg.at(*at)).map(|n| n.span.low).sum();
        let told = avg.at(row)?;
        let scale = told.unit.map_or(1.0, |unit| unit.scale);
        (told.span.high < least).then(|| Finding {
            check: "mean",
            cells: std::iter::once(row)
                .chain(parts)
                .map(|at| Cited::cell(sheet, avg, at))
                .collect(),
            arithmetic: format!(
                "its parts are {} at least, and not {}",
                shown(least / scale),
                avg.cells[row].text
            ),
            explanation: "the lines are of different runs, or one was typed by hand",
        })
    };
    sheet.rows().flat_map(|row| [twice(row), of_parts(row)]).flatten().collect()
}

/// Means against minimum, percentiles and maximum.
pub fn mean(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let of = |mean: &Column| -> Vec<Finding> {
        let ranked = ranked(sheet, mean);
        let finding = |row: usize| {
            let points: Vec<(f64, Span)> = ranked
                .iter()
                .filter_map(|(rank, column)| Some((*rank, column.at(row)?.span)))
                .collect();
            let told = mean.at(row)?;
            let (low, high) = (least_mean(&points), most_mean(&points));
            let (side, bound) = match () {
                () if told.span.high < low => ("least", low),
                () if told.span.low > high => ("most", high),
                () => return None,
            };
            let scale = told.unit.map_or(1.0, |unit| unit.scale);
            let others = ranked.iter().filter(|(_, column)| column.at(row).is_some());
            let cells = others.map(|(_, column)| Cited::cell(sheet, column, row));
            Some(Finding {
                check: "mean",
                cells: std::iter::once(Cited::cell(sheet, mean, row)).chain(cells).collect(),
                arithmetic: format!(
                    "with these the mean is at {side} {}, and not {}",
                    shown(bound / scale),
                    mean.cells[row].text
                ),
                explanation: "columns are swapped, are of different runs, or some samples were left out of one of them",
            })
        };
        sheet.rows().filter_map(finding).collect()
    };
    sheet.having(|role| role == Role::Mean).flat_map(of).chain(of_tools(sheet)).collect()
}

/// The least that a mean can be: the samples between two points are as small as the lower one.
fn least_mean(points: &[(f64, Span)]) -> f64 {
    let exact = points.first().filter(|(rank, _)| *rank == 0.0).map_or(0.0, |(_, span)| span.low);
    let ends = points.iter().skip(1).map(|point| point.0).chain([1.0]);
    let parts = points.iter().zip(ends).map(|((rank, span), end)| (end - rank) * span.low);
    // Below what is not known, times are not negative.
    exact.max(parts.sum::<f64>() * (1.0 - CLASSES_MEAN_SHARE))
}

/// The most that it can be: they are as large as the upper one.
fn most_mean(points: &[(f64, Span)]) -> f64 {
    let Some((_, max)) = points.last().filter(|(rank, _)| *rank == 1.0) else { return f64::MAX };
    let starts = std::iter::once(0.0).chain(points.iter().map(|point| point.0));
    let parts = points.iter().zip(starts).map(|((rank, span), start)| (rank - start) * span.high);
    max.high.min(parts.sum::<f64>() * (1.0 + CLASSES_MEAN_SHARE))
}

/// The standard deviation of a row's mean, with the column in which it stands.
fn deviation<'a>(
    sheet: &'a Sheet,
    prose: &Prose,
    mean: &'a Column,
    row: usize,
) -> Option<(&'a Column, Span)> {
    let own = sheet.having(|role| role == Role::Stdev).find(|column| of_one(column, mean));
    if let Some(own) = own {
        return Some((own, own.at(row)?.span));
    }
    let says =
        |text: &str| ["standard deviation", "stdev", "std dev"].iter().any(|w| text.contains(w));
    let said = says(&mean.head.to_lowercase())
        || prose.sentences.iter().any(|sentence| says(&sentence.text.to_lowercase()));
    Some((mean, mean.at(row)?.spread.filter(|_| said)?))
}

/// Standard deviations against range, mean and median.
pub fn stdev(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let of = |mean: &Column| -> Vec<Finding> {
        let ranked = ranked(sheet, mean);
        let at = |rank: f64| ranked.iter().find(|(r, _)| *r == rank).map(|(_, column)| *column);
        let finding = |row: usize| {
            let (column, deviation) = deviation(sheet, prose, mean, row)?;
            let n = counts(sheet, prose, row).into_iter().fold(f64::MAX, f64::min);
            let n = if n == f64::MAX { 2.0 } else { n.max(2.0) };
            let scale = mean.at(row)?.unit.map_or(1.0, |unit| unit.scale);
            let told = |cells: Vec<&Column>, arithmetic, explanation| Finding {
                check: "stdev",
                cells: cells.into_iter().map(|c| Cited::cell(sheet, c, row)).collect(),
                arithmetic,
                explanation,
            };
            if let (Some(min), Some(max)) = (at(0.0), at(1.0))
                && let (Some(low), Some(high)) = (min.at(row), max.at(row))
            {
                let most = (high.span.high - low.span.low) / 2.0 * (n / (n - 1.0)).sqrt();
                if deviation.low > most {
                    let text = format!(
                        "(max − min)/2 · √(n/(n−1)) is {}, and the standard deviation {}",
                        shown(most / scale),
                        shown(deviation.mid() / scale)
                    );
                    let why = "the range leaves samples out, or the deviation is of other samples";
                    return Some(told(vec![column, min, max], text, why));
                }
            }
            let median = at(0.5)?;
            let (a, b) = (mean.at(row)?.span, median.at(row)?.span);
            let apart = (a.low - b.high).max(b.low - a.high);
            (apart > deviation.high).then(|| {
                let text = format!(
                    "mean and median are at least {} apart, more than the standard deviation, at most {}",
                    shown(apart / scale),
                    shown(deviation.high / scale)
                );
                told(vec![mean, median, column], text, "the three are not of the same samples")
            })
        };
        sheet.rows().filter_map(finding).collect()
    };
    sheet.having(|role| role == Role::Mean).flat_map(of).collect()
}

/// Samples beyond a percentile below which nobody would have told it of so many.
const BEYOND_BY_TEXT_MIN: f64 = 0.5;
/// Percentiles that are of the tail.
const TAIL: f64 = 0.9;
/// What a column of numbers is called where they may be of runs, of each of which there are many
/// samples.
const OF_RUNS: &str = "n count";

/// Samples of a row, where it is said that they are samples.
fn samples_of(sheet: &Sheet, prose: &Prose, row: usize) -> f64 {
    let of_runs = |c: &Column| c.head.split_whitespace().all(|word| is_in(OF_RUNS, word));
    if sheet.having(|role| role == Role::Count).any(of_runs) {
        return 0.0;
    }
    let mut said = counts(sheet, prose, row);
    said.dedup();
    if let [n] = said[..] { n } else { 0.0 }
}

/// Percentiles that rest on few samples.
pub fn samples(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    // A tool tells the same percentiles of every run.
    if sheet.form == Form::Tool {
        return Vec::new();
    }
    let of = |column: &Column| {
        let Role::Quantile(q) = column.is.role else { return None };
        let few = |row: &usize| {
            let n = samples_of(sheet, prose, *row);
            let is_tail = !(1.0 - TAIL..TAIL).contains(&q);
            // Shares are not exact in binary.
            let beyond = n * q.min(1.0 - q) * (1.0 + 1e-9);
            // What the text counts may be runs, of which each has many samples.
            let by_text =
                sheet.columns.iter().all(|c| c.is.role != Role::Count && c.is.count.is_none());
            let known = n > 0.0 && !(by_text && beyond < BEYOND_BY_TEXT_MIN);
            column.at(*row).is_some() && is_tail && known && beyond < BEYOND_MIN
        };
        let rows: Vec<usize> = sheet.rows().filter(few).collect();
        let n = samples_of(sheet, prose, *rows.first()?);
        Some(Finding {
            check: "samples",
            cells: rows.iter().map(|row| Cited::cell(sheet, column, *row)).collect(),
            arithmetic: format!(
                "of {n} samples, {} lie beyond {}",
                shown(n * q.min(1.0 - q)),
                column.is.role.word()
            ),
            explanation: "it is the largest sample or near it, and another run gives another; measure longer or tell a lower percentile",
        })
    };
    sheet.columns.iter().filter_map(of).collect()
}

/// Means with more digits than their standard error supports.
pub fn digits(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let of = |mean: &Column| {
        let error = |row: usize| {
            let (_, deviation) = deviation(sheet, prose, mean, row)?;
            let n = counts(sheet, prose, row).into_iter().fold(0.0, f64::max);
            (n >= 2.0).then(|| deviation.low / n.sqrt())
        };
        let many = |row: &usize| match (error(*row), mean.at(*row)) {
            (Some(error), Some(told)) => {
                error > DIGITS_BEYOND * (told.span.high - told.span.low) / 2.0
            }
            _ => false,
        };
        let rows: Vec<usize> = sheet.rows().filter(many).collect();
        let first = *rows.first()?;
        let scale = mean.at(first)?.unit.map_or(1.0, |unit| unit.scale);
        Some(Finding {
            check: "digits",
            cells: rows.iter().map(|row| Cited::cell(sheet, mean, *row)).collect(),
            arithmetic: format!(
                "the standard error is {}, the last digit {}",
                shown(error(first)? / scale),
                shown((mean.at(first)?.span.high - mean.at(first)?.value) / scale)
            ),
            explanation: "the last digits are noise: another run has others",
        })
    };
    if matches!(sheet.form, Form::Csv | Form::Estimates | Form::Tool) {
        return Vec::new();
    }
    sheet.having(|role| role == Role::Mean).filter_map(of).collect()
}
