//! Columns that follow from others.

use crate::finding::{Cited, Finding, rounded, shown};
use crate::number::{Number, Span, Told};
use crate::prose::Prose;
use crate::role::Role;
use crate::sheet::{Column, Sheet};
use crate::unit::Dimension;

/// How far a total may be from mean times number to be meant as that.
const MEANT_SHARE: f64 = 0.1;

/// Numbers of operations of a row: of its columns, of headings, or named in the text.
pub fn counts(sheet: &Sheet, prose: &Prose, row: usize) -> Vec<f64> {
    let of_row = sheet.having(|role| role == Role::Count).filter_map(|column| column.at(row));
    let of_row: Vec<f64> = of_row.map(|number| number.value).filter(|n| *n > 0.0).collect();
    let of_heads: Vec<f64> = sheet.columns.iter().filter_map(|column| column.is.count).collect();
    [of_row, of_heads, prose.counts.clone()].into_iter().find(|n| !n.is_empty()).unwrap_or_default()
}

/// Totals against mean × n.
pub fn total(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let total = sheet.only(|role| role == Role::Total);
    let mean = sheet.only(|role| role == Role::Mean).or_else(|| sheet.only(Role::is_typical));
    let Some((total, mean)) = total.zip(mean) else { return Vec::new() };
    if total.dimension() != mean.dimension() {
        return Vec::new();
    }
    // Rounded: total, mean, number, and the quotient of total and number.
    let quotient = |row: usize| {
        let (total, mean) = (total.at(row)?, mean.at(row)?);
        let near = |n: &f64| (total.value / n / mean.value - 1.0).abs() < MEANT_SHARE;
        let of = |n: f64| total.span.over(Span::exactly(n)).map(|span| (n, span));
        let all: Vec<_> =
            counts(sheet, prose, row).into_iter().filter(near).filter_map(of).collect();
        let fits = all.iter().any(|(_, span)| span.meets(mean.span));
        Some((mean.span, *all.first()?, fits))
    };
    let rows: Vec<_> = sheet.rows().filter_map(|row| Some((row, quotient(row)?))).collect();
    let some_fit = rows.iter().any(|(_, (.., fits))| *fits);
    let wrong = rows.into_iter().filter(|(_, (mean, (_, span), fits))| {
        // More than that may be the loop around what was timed.
        !fits && (span.high < mean.low || some_fit)
    });
    let finding = |(row, (_, (n, span), _)): (usize, (Span, (f64, Span), bool))| {
        let scale = mean.is.unit.or(mean.at(row).and_then(|n| n.unit)).map_or(1.0, |u| u.scale);
        let (low, high) = (span.low / scale, span.high / scale);
        Finding {
            check: "total",
            cells: vec![Cited::cell(sheet, mean, row), Cited::cell(sheet, total, row)],
            arithmetic: format!(
                "{} ÷ {n} = {}, {} to {} with rounding, and not {}",
                total.cells[row].text,
                shown(span.mid() / scale),
                shown(low),
                shown(high),
                mean.cells[row].text
            ),
            explanation: "the two are not of the same run, or n is another in this row, or one was typed by hand",
        }
    };
    wrong.map(finding).collect()
}

/// Columns that are not of each other although their units agree.
fn comparable(column: &&Column) -> bool {
    let role = column.is.role;
    role.is_measured() || matches!(role, Role::Min | Role::Max | Role::Quantile(_))
}

/// Rows with a multiple of 1 above which multiples are not compared with each of them.
const BASES_MAX: usize = 200;

/// The rows of which a column's multiples may be.
fn bases(sheet: &Sheet, column: &Column) -> Vec<usize> {
    let is_base = |row: &usize| column.at(*row).is_some_and(|ratio| ratio.value == 1.0);
    sheet.rows().filter(is_base).collect()
}

/// What is said where there are too many of them.
pub fn note(sheets: &[Sheet]) -> Option<String> {
    let many = |sheet: &&Sheet| {
        sheet.having(|role| role == Role::Ratio).any(|c| bases(sheet, c).len() > BASES_MAX)
    };
    let sheet = sheets.iter().find(many)?;
    Some(format!(
        "the table of line {} has more than {BASES_MAX} rows with a multiple of 1, which is the limit: its multiples are not checked",
        sheet.line
    ))
}

/// Two columns of which multiples may be; where both are the same one, of its row and of a baseline's.
type Pair<'a> = (&'a Column, &'a Column);

/// Multiples against the columns that they may be of: one pair of columns, one way round, is that
/// of a whole column of multiples.
pub fn ratio(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let columns: Vec<&Column> = sheet.columns.iter().filter(comparable).collect();
    let pairs = || columns.iter().flat_map(|a| columns.iter().map(move |b| (*a, *b)));
    let alike = |(a, b): &Pair| {
        a.dimension() == b.dimension() && (std::ptr::eq(*a, *b) || a.head != b.head)
    };
    let pairs: Vec<Pair> = pairs().filter(alike).collect();
    let of = |column: &Column| -> Vec<Finding> {
        let bases = bases(sheet, column);
        if bases.len() > BASES_MAX {
            return Vec::new();
        }
        let ways: &[Way] = match either_way(column) {
            true => &[Way::Either],
            false => &[Way::Over, Way::Under],
        };
        let rows = || {
            let is_told = |row: &usize| !bases.contains(row) && column.at(*row).is_some();
            sheet.rows().filter(is_told)
        };
        let fit = |(a, b): Pair, way: Way| {
            let far = rows().filter_map(|row| Some(nearest(column, row, (a, b), way, &bases)?.far));
            let (fit, unfit): (Vec<f64>, Vec<f64>) = far.partition(|far| *far == 0.0);
            (fit.len(), unfit.iter().sum::<f64>())
        };
        // The one that most rows fit, and of these the nearest one.
        let all = pairs.iter().flat_map(|pair| ways.iter().map(move |way| (*pair, *way)));
        let all = all.map(|(pair, way)| (fit(pair, way), pair, way));
        let best = all.max_by(|(a, ..), (b, ..)| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let Some((_, pair, way)) = best else { return Vec::new() };
        let judge = |row: usize| {
            let is_range = column.at(row)?.told == Told::Range;
            match is_range {
                false => Some(unfit(sheet, column, row, &nearest(column, row, pair, way, &bases)?)),
                // A range is one over all that was seen, and holds the quotient of every column.
                true => {
                    let across = pairs.iter().filter(|(a, b)| a.head == b.head);
                    let all = across.filter_map(|p| nearest(column, row, *p, Way::Either, &bases));
                    let nearest_unfit = all.min_by(|a, b| {
                        (a.far == 0.0).cmp(&(b.far == 0.0)).then(a.far.total_cmp(&b.far))
                    });
                    Some(unfit(sheet, column, row, &nearest_unfit?))
                }
            }
        };
        let judged: Vec<_> = rows().filter_map(judge).collect();
        // Where no row fits, it is a multiple of something that is not in the table.
        let of_others = judged.len() > 2 && judged.iter().all(Option::is_some);
        if of_others { Vec::new() } else { judged.into_iter().flatten().collect() }
    };
    sheet.having(|role| role == Role::Ratio).flat_map(of).collect()
}

/// Which way round a multiple is a quotient.
#[derive(Clone, Copy)]
enum Way {
    /// The first over the second.
    Over,
    /// The second over the first.
    Under,
    /// Whichever is nearer.
    Either,
}

/// Whether the multiples of a column may be of either way: some are said to be faster and others
/// slower, or they have a ±, as those of hyperfine, which are never below 1.
fn either_way(column: &Column) -> bool {
    let says = |word: &str| column.cells.iter().any(|c| c.text.to_lowercase().contains(word));
    (says("faster") && says("slower"))
        || column.numbers.iter().flatten().any(|n| n.spread.is_some())
}

/// What a multiple may be a quotient of.
struct Near<'a> {
    /// The cells: the columns, and their rows.
    of: [(&'a Column, usize); 2],
    /// The quotient of what is printed.
    printed: f64,
    /// The same, with what rounding leaves open.
    quotient: Span,
    /// How far the multiple is from it (logarithm of their quotient); 0 where it fits.
    far: f64,
}

/// The quotient of a pair of columns that is nearest to a row's multiple; `None` where there is none.
fn nearest<'a>(
    ratio: &Column,
    row: usize,
    (a, b): Pair<'a>,
    way: Way,
    bases: &[usize],
) -> Option<Near<'a>> {
    let told = ratio.at(row)?;
    let open = told.spread.map_or(0.0, |spread| spread.high);
    let span = Span { low: told.span.low - open, high: told.span.high + open };
    let own = [row];
    let rows = if a.head == b.head { bases } else { &own };
    let of_row = |base: &usize| {
        let (x, y) = (a.at(row)?, b.at(*base)?);
        let over = || Some((x.value / y.value, x.span.over(y.span)?));
        let under = || Some((y.value / x.value, y.span.over(x.span)?));
        let ways = match way {
            Way::Over => [over(), None],
            Way::Under => [under(), None],
            Way::Either => [over(), under()],
        };
        let near = ways.into_iter().flatten().map(|(printed, quotient)| {
            let far = (quotient.mid() / span.mid()).ln().abs();
            let far = if quotient.meets(span) { 0.0 } else { far };
            Near { of: [(a, row), (b, *base)], printed, quotient, far }
        });
        near.min_by(|a, b| a.far.total_cmp(&b.far))
    };
    rows.iter().filter_map(of_row).min_by(|a, b| a.far.total_cmp(&b.far))
}

/// What is wrong with a multiple that does not fit.
fn unfit(sheet: &Sheet, ratio: &Column, row: usize, near: &Near) -> Option<Finding> {
    (near.far > 0.0).then_some(())?;
    let [a, b] = near.of;
    let cells = [(ratio, row), a, b].map(|(column, row)| Cited::cell(sheet, column, row));
    let arithmetic = format!(
        "{} against {} is {}, {} to {} with rounding, and not {}",
        cells[1].text,
        cells[2].text,
        rounded(near.printed),
        rounded(near.quotient.low),
        rounded(near.quotient.high),
        cells[0].text
    );
    let explanation = "the multiple is of another column, run or baseline, a range over several runs, or a median of ratios and no ratio of medians";
    Some(Finding { check: "ratio", cells: cells.into(), arithmetic, explanation })
}

/// How far what is under way may vary to be called the same.
const SAME_SHARE: f64 = 0.05;
/// Rounding that leaves more open than this says nothing of a row.
const ROUNDED_SHARE: f64 = 0.05;
/// Rows without which nothing is said.
const ROWS_MIN: usize = 4;

/// Throughput × latency against the size of a message and the number of flows.
pub fn little(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let rate = sheet.only(|role| role == Role::Throughput);
    let latency = sheet.only(|role| matches!(role, Role::Mean | Role::Latency));
    let flows = sheet.only(|role| role == Role::Flows);
    let (Some(rate), Some(latency), Some(flows)) = (rate, latency, flows) else {
        return Vec::new();
    };
    let size = sheet.only(|role| role == Role::Payload);
    let is_time = latency.dimension() == Some(Dimension::Time);
    // Messages under way, in units of what stands in the column of sizes.
    let under_way = |row: usize| {
        let of = |column: &Column| column.at(row).map(|number: &Number| number.span);
        let product = of(rate)?.times(of(latency)?).times(Span::exactly(1e-9));
        let messages = match (rate.dimension()?, size.and_then(|size| size.at(row))) {
            (Dimension::Rate, _) => product,
            (Dimension::BitRate, Some(size)) => product.over(Span::exactly(8.0 * size.value))?,
            _ => return None,
        };
        let is_known = messages.mid() > 0.0 && messages.relative() < ROUNDED_SHARE;
        is_known.then_some((row, messages.mid(), flows.at(row)?.value))
    };
    let rows: Vec<_> = sheet.rows().filter_map(under_way).collect();
    let most = |of: fn(&(usize, f64, f64)) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    let least = |of: fn(&(usize, f64, f64)) -> f64| rows.iter().map(of).fold(f64::MAX, f64::min);
    let (low, high) = (least(|row| row.1), most(|row| row.1));
    let (fewest, flows_most) = (least(|row| row.2), most(|row| row.2));
    if !is_time
        || rows.len() < ROWS_MIN
        || flows_most < 2.0 * fewest
        || high > low * (1.0 + SAME_SHARE)
    {
        return Vec::new();
    }
    let ends =
        [fewest, flows_most].map(|n| rows.iter().find(|row| row.2 == n).map_or(0, |row| row.0));
    let cell = |row: usize| [rate, latency].map(|column| Cited::cell(sheet, column, row));
    let what = size.filter(|_| rate.dimension() == Some(Dimension::BitRate));
    let what = what.map_or("messages".to_owned(), |size| format!("× {}", size.head));
    vec![Finding {
        check: "little",
        cells: ends.into_iter().flat_map(cell).collect(),
        arithmetic: format!(
            "throughput × latency is {} to {} {what} in {} rows, with {fewest} as with {flows_most} {}",
            shown(low),
            shown(high),
            rows.len(),
            flows.head
        ),
        explanation: "either the throughput is that of one thread or flow and not of all, or the latency is the time over the messages of all of them, which nobody waited",
    }]
}
