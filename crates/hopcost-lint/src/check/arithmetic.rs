//! Columns that follow from others.

use crate::finding::{Cited, Finding, rounded, shown};
use crate::number::{Number, Span, Told};
use crate::prose::Prose;
use crate::role::{Role, is_in};
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

/// What a number of operations is called that may be of a part of them.
const OF_A_PART: &str = "sample samples observations n";

/// Numbers of operations of a row that are all of them, as its columns and headings say.
fn all_of(sheet: &Sheet, row: usize) -> Vec<f64> {
    let of_a_part = |column: &Column| says(&column.head, OF_A_PART);
    if sheet.having(|role| role == Role::Count).any(of_a_part) {
        return Vec::new();
    }
    counts(sheet, &Prose::default(), row)
}

/// Whether a name has a word of a list.
fn says(name: &str, list: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| is_in(list, word))
}

/// Totals against mean × n, throughput, and what they are the sum of.
pub fn total(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let found = [of_means(sheet, prose), of_rates(sheet), of_rows(sheet), of_columns(sheet, prose)];
    found.concat()
}

/// How far what is to be the same may vary.
const SAME_SHARE: f64 = 0.05;
/// Rows up to which a total that is nowhere near is told of although no row fits.
const ALONE_MAX: usize = 2;

/// How a total lies to mean × n.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// It is that.
    Fits,
    /// It is meant as that.
    Near,
    /// It is something else.
    Far,
}

/// Totals against mean × n.
fn of_means(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let total = sheet.only(|role| role == Role::Total);
    let mean = sheet.only(|role| role == Role::Mean).or_else(|| sheet.only(Role::is_typical));
    let Some((total, mean)) = total.zip(mean) else { return Vec::new() };
    if total.dimension() != mean.dimension() {
        return Vec::new();
    }
    // With several at once, or pauses, a total is another; a median is no mean.
    let is_plain = sheet.set().all(|column| column.is.role == Role::Payload)
        && matches!(mean.is.role, Role::Mean | Role::Latency);
    // Rounded: total, mean, number, and the quotient of total and number.
    let quotient = |row: usize| {
        let (total, mean) = (total.at(row)?, mean.at(row)?);
        let times = |n: f64| total.value / n / mean.value;
        let near = |n: &f64| (times(*n) - 1.0).abs() < MEANT_SHARE;
        let of = |n: f64| total.span.over(Span::exactly(n)).map(|span| (n, span));
        let all = counts(sheet, prose, row).into_iter().filter(near);
        let near: Vec<_> = all.filter_map(of).collect();
        // There and back, a total is twice that.
        let far = |n: &f64| is_plain && (times(*n) / 2.0 - 1.0).abs() > MEANT_SHARE;
        let far: Vec<_> = all_of(sheet, row).into_iter().filter(far).filter_map(of).collect();
        let fits = near.iter().any(|(_, span)| span.meets(mean.span));
        let one = near.first().or(far.first().filter(|(_, span)| !span.meets(mean.span)))?;
        let lies = match near.is_empty() {
            true => Lies::Far,
            false if fits => Lies::Fits,
            false => Lies::Near,
        };
        Some((row, *one, lies))
    };
    let rows: Vec<_> = sheet.rows().filter_map(quotient).collect();
    let some_fit = rows.iter().any(|(.., lies)| *lies == Lies::Fits);
    let few = rows.len() <= ALONE_MAX;
    let wrong = rows.into_iter().filter(|(row, (_, span), lies)| match lies {
        Lies::Fits => false,
        // A little more than that may be the loop around what was timed.
        Lies::Near => some_fit || mean.at(*row).is_some_and(|mean| span.high < mean.span.low),
        Lies::Far => some_fit || few,
    });
    let finding = |(row, (n, span), lies): (usize, (f64, Span), Lies)| {
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
            explanation: match lies {
                Lies::Fits | Lies::Near => {
                    "the two are not of the same run, or n is another in this row, or one was typed by hand"
                }
                Lies::Far => {
                    "the two are not of the same run, or n is another in this row, or the total holds what was not timed, or operations were under way at the same time"
                }
            },
        }
    };
    wrong.map(finding).collect()
}

/// Messages a second of a row; where no unit says what is told a second, messages.
fn rate_per_s(sheet: &Sheet, rate: &Column, row: usize) -> Option<Span> {
    let told = rate.at(row)?.span;
    match rate.dimension() {
        Some(Dimension::Rate) | None => Some(told),
        Some(Dimension::BitRate) => {
            let size = sheet.only(|role| role == Role::Payload)?.at(row)?.value;
            told.over(Span::exactly(8.0 * size))
        }
        _ => None,
    }
}

/// How many times as much a throughput without a unit may be to be one of messages.
const MESSAGES_TIMES: f64 = 10.0;

/// Throughputs against number ÷ total.
fn of_rates(sheet: &Sheet) -> Vec<Finding> {
    let rate = sheet.only(|role| role == Role::Throughput);
    let total = sheet.only(|role| role == Role::Total);
    let Some((rate, total)) = rate.zip(total) else { return Vec::new() };
    if total.dimension() != Some(Dimension::Time) {
        return Vec::new();
    }
    let flows = sheet.only(|role| role == Role::Flows);
    let quotient = |row: usize| {
        let told = rate_per_s(sheet, rate, row)?;
        // Rounding adds half of the last digit at most: 2 s are not 1 s.
        let time = total.at(row)?;
        let time_s = Span { low: f64::midpoint(time.span.low, time.value), ..time.span };
        let time_s = time_s.times(Span::exactly(1e-9));
        let flows = flows.and_then(|flows| flows.at(row)).map_or(1.0, |flows| flows.value);
        // There and back are two messages; each flow may have as many.
        let meant = [1.0, 2.0, flows, 2.0 * flows];
        let of = |n: f64| {
            let done = Span::exactly(n).over(time_s)?;
            let printed = n / time.value * 1e9;
            let times = |by: &f64| (told.mid() / printed / by).max(printed * by / told.mid());
            let least = meant.iter().map(times).fold(f64::MAX, f64::min);
            let is_known = rate.dimension().is_some() || least < MESSAGES_TIMES;
            let fits = done.meets(told) || least < 1.0 + SAME_SHARE;
            is_known.then_some((least, n, done, fits))
        };
        let all = all_of(sheet, row).into_iter().filter_map(of);
        all.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let rows: Vec<_> = sheet.rows().filter_map(|row| Some((row, quotient(row)?))).collect();
    let some_fit = rows.iter().any(|(_, (.., fits))| *fits);
    let time_s = |row| total.at(row).map_or(0.0, |total: &Number| total.value / 1e9);
    // A mean of throughputs is a little more than that of all.
    let wrong = rows
        .into_iter()
        .filter(|(_, (times, _, _, fits))| !fits && (some_fit || *times > 1.0 + MEANT_SHARE));
    let finding = |(row, (_, n, done, _)): (usize, (f64, f64, Span, bool))| Finding {
        check: "total",
        cells: vec![Cited::cell(sheet, rate, row), Cited::cell(sheet, total, row)],
        arithmetic: format!(
            "{n} ÷ {} s = {} a second, {} to {} with rounding, and not {}",
            shown(time_s(row)),
            shown(n / time_s(row)),
            shown(done.low),
            shown(done.high),
            rate.cells[row].text
        ),
        explanation: "the two are not of the same run, or n is another in this row, or the total holds what the throughput leaves out",
    };
    wrong.map(finding).collect()
}

/// What a row or column is called that is the sum of others, and what may also be measured by itself.
const SUMS: &str = "sum Σ";
const SUMS_OR_TOTALS: &str = "sum Σ total";
/// Words of a row's name above which it is another thing (`total order broadcast`).
const SUM_WORDS_MAX: usize = 2;
/// How many times its parts a total may be to be meant as their sum.
const SUM_TIMES: f64 = 3.0;

/// Whether a told sum is that of its parts; `None` where it is not meant as that.
fn adds_up(name: &str, told: &Number, parts: &[Span]) -> Option<(Span, bool)> {
    let add = |a: Span, b: &Span| Span { low: a.low + b.low, high: a.high + b.high };
    let sum = parts.iter().fold(Span::exactly(0.0), add);
    let most = parts.iter().map(|part| part.mid()).fold(0.0, f64::max);
    // A total may also be a mean over all, or of more than these.
    let is_meant = says(name, SUMS)
        || (most * (1.0 + MEANT_SHARE)..sum.mid() * SUM_TIMES).contains(&told.value);
    (parts.len() > 1 && is_meant).then(|| (sum, sum.meets(told.span)))
}

fn wrong_sum(cells: Vec<Cited>, parts: &[&str], sum: Span, scale: f64) -> Finding {
    Finding {
        check: "total",
        arithmetic: format!(
            "{} = {}, {} to {} with rounding, and not {}",
            parts.join(" + "),
            shown(sum.mid() / scale),
            shown(sum.low / scale),
            shown(sum.high / scale),
            cells[0].text
        ),
        cells,
        explanation: "a part was left out or changed, or the total was measured by itself and holds more than its parts",
    }
}

/// Rows that are the sum of those above them.
fn of_rows(sheet: &Sheet) -> Vec<Finding> {
    let is_sum = |row: usize| {
        let name = &sheet.names[row];
        says(name, SUMS_OR_TOTALS) && name.split_whitespace().count() <= SUM_WORDS_MAX
    };
    let sums: Vec<usize> = sheet.rows().filter(|row| is_sum(*row)).collect();
    // One of several may be of the others.
    let [sum] = sums[..] else { return Vec::new() };
    if sum + 1 != sheet.names.len() {
        return Vec::new();
    }
    let adds = |role| matches!(role, Role::Mean | Role::Latency | Role::Total | Role::Count);
    let of = |column: &Column| {
        let told = column.at(sum)?;
        let parts: Vec<Span> =
            (0..sum).map(|row| Some(column.at(row)?.span)).collect::<Option<_>>()?;
        let (span, fits) = adds_up(&sheet.names[sum], told, &parts)?;
        let texts: Vec<&str> = (0..sum).map(|row| column.cells[row].text.as_str()).collect();
        let cells = std::iter::once(sum).chain(0..sum);
        let cells = cells.map(|row| Cited::cell(sheet, column, row)).collect();
        let scale = told.unit.map_or(1.0, |unit| unit.scale);
        (!fits).then(|| wrong_sum(cells, &texts, span, scale))
    };
    sheet.having(adds).filter_map(of).collect()
}

/// Columns that are the sum of others, each of which says of what it is.
fn of_columns(sheet: &Sheet, prose: &Prose) -> Vec<Finding> {
    let Some(total) = sheet.only(|role| role == Role::Total) else { return Vec::new() };
    let is_part = |column: &&Column| {
        column.is.role == Role::Latency
            && column.dimension() == total.dimension()
            && !column.is.subject.is_empty()
    };
    let parts: Vec<&Column> = sheet.columns.iter().filter(is_part).collect();
    // Of many operations, a total is another thing.
    let is_of_many = sheet
        .having(|role| matches!(role, Role::Count | Role::Mean | Role::Throughput))
        .next()
        .is_some()
        || sheet.rows().any(|row| !counts(sheet, prose, row).is_empty());
    if is_of_many || sheet.having(|role| role == Role::Latency).count() != parts.len() {
        return Vec::new();
    }
    let of = |row: usize| {
        let told = total.at(row)?;
        let spans: Vec<Span> = parts.iter().filter_map(|c| Some(c.at(row)?.span)).collect();
        let (sum, fits) =
            adds_up(&total.head, told, &spans).filter(|_| spans.len() == parts.len())?;
        let texts: Vec<&str> = parts.iter().map(|c| c.cells[row].text.as_str()).collect();
        let cells = std::iter::once(&total).chain(&parts);
        let cells = cells.map(|column| Cited::cell(sheet, column, row)).collect();
        let scale = told.unit.map_or(1.0, |unit| unit.scale);
        Some((!fits).then(|| wrong_sum(cells, &texts, sum, scale)))
    };
    let judged: Vec<_> = sheet.rows().filter_map(of).collect();
    // Where no row fits, it is the total of something else.
    let of_others = judged.len() > ALONE_MAX && judged.iter().all(Option::is_some);
    let is_sum = says(&total.head, SUMS);
    if of_others && !is_sum { Vec::new() } else { judged.into_iter().flatten().collect() }
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

/// Rounding that leaves more open than this says nothing of a row.
const ROUNDED_SHARE: f64 = 0.05;
/// Rows without which nothing is said.
const ROWS_MIN: usize = 4;

/// What says how many operations are under way at once.
const AT_ONCE: &str = "flows flight inflight outstanding concurrency iodepth depth qd";

/// Throughput × latency above what is said to be under way at once.
fn more_under_way(sheet: &Sheet, rate: &Column, latency: &Column, flows: &Column) -> Vec<Finding> {
    let of = |row: usize| {
        let (told, each) = (flows.at(row)?, latency.at(row)?);
        let rate_per_s = rate_per_s(sheet, rate, row)?;
        let under_way = rate_per_s.times(each.span).times(Span::exactly(1e-9));
        (under_way.low > told.span.mid() * (1.0 + MEANT_SHARE)).then(|| Finding {
            check: "little",
            cells: [flows, rate, latency].map(|column| Cited::cell(sheet, column, row)).into(),
            arithmetic: format!(
                "throughput × latency is {}, {} to {} with rounding, and not {}",
                shown(rate_per_s.mid() * each.value * 1e-9),
                shown(under_way.low),
                shown(under_way.high),
                flows.cells[row].text
            ),
            explanation: "more were under way than was set, or the two are of different runs, or the latency holds a wait ahead of what was set",
        })
    };
    sheet.rows().filter_map(of).collect()
}

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
    if is_time && rate.dimension().is_some() && says(&flows.head, AT_ONCE) {
        return more_under_way(sheet, rate, latency, flows);
    }
    // Messages under way, in units of what stands in the column of sizes.
    let under_way = |row: usize| {
        rate.dimension()?;
        let rate = rate_per_s(sheet, rate, row)?;
        let messages = rate.times(latency.at(row)?.span).times(Span::exactly(1e-9));
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
