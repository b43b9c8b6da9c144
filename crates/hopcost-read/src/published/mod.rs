//! Published tables beside what was measured.
//!
//! There is a table for each group of rows, and each placement for which the run has a
//! case; published/README.md describes the form of a file. Absolute numbers of another machine are shown and not judged; ratios
//! are paired by round like any other.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hopcost_model::group::distinct;
use hopcost_model::{Case, Estimate, Placement, Ratio, Statistic, Touch, document};
use hopcost_plan::Selector;
use serde::Deserialize;

use crate::case::Reading;
use crate::ranking::Place;
use crate::ratio;
use crate::trials::PerTrial;

document! {
    /// A published table beside what was measured. Absolute numbers of another
    /// machine are shown and not judged; ratios are lined up.
    pub struct PublishedTable {
        /// The file that it is from, without its ending.
        #[serde(default)]
        pub file: String,
        /// Title of the file.
        #[serde(alias = "title")]
        pub file_title: String,
        /// What the published numbers are called beside those of another source.
        pub name: Option<String>,
        /// The rows of the file that are in this table; empty where it has no groups.
        #[serde(default)]
        pub group: String,
        /// Where the cases beside it were measured; `null` where its rows have no placement.
        pub place: Option<Place>,
        /// Operations that a `total` is of.
        pub operations: Option<u64>,
        /// How it is laid out in the source.
        pub layout: PublishedLayout,
        /// Where it was published.
        pub source: String,
        /// On which machine.
        pub machine: String,
        /// What was really timed there; empty where nothing was.
        #[serde(default)]
        pub timed: String,
        /// Rows, in the order of the source.
        #[serde(default)]
        pub rows: Vec<PublishedRow>,
    }

    /// One published number.
    #[derive(Default)]
    pub struct PublishedRow {
        /// Its label in the source.
        pub label: String,
        /// Which number it is (`mean`, `p50`, `throughput`).
        pub statistic: String,
        /// Unit of `published` and `measured` (`µs`, `Gbit/s`, `ticks`).
        pub unit: String,
        /// As published; the lower end of a published range; `null` where the source names it and
        /// gives no number.
        pub published: Option<f64>,
        /// The upper end of a published range.
        pub published_high: Option<f64>,
        /// Both as the source writes them.
        pub written: String,
        /// Multiple of the table's baseline as published.
        pub published_ratio: Option<f64>,
        /// The case that measures the same here; `null` where none does.
        pub case: Option<String>,
        /// Measured here.
        pub measured: Option<Estimate>,
        /// Multiple of the same baseline here.
        pub measured_ratio: Option<Ratio>,
        /// Where the published number has another meaning than its label.
        pub note: Option<String>,
    }

    /// What makes a row and what a column of a published table.
    pub struct PublishedLayout {
        /// What names a row.
        pub rows: Vec<PublishedField>,
        /// What names a column.
        pub columns: PublishedField,
        /// Names of the parts of a group, which are separated by a comma.
        pub group: Vec<String>,
        /// Name of the labels.
        pub label: String,
        /// How it is laid out where there is little room; `null`: in the same way.
        pub brief: Option<PublishedBrief>,
    }

    /// A published table in brief: one statistic of it.
    pub struct PublishedBrief {
        /// What names a row.
        pub rows: Vec<PublishedField>,
        /// What names a column.
        pub columns: PublishedField,
        /// The statistic.
        pub statistic: String,
    }

    /// The names of a published number.
    #[derive(Copy, Eq)]
    pub enum PublishedField {
        /// The group of its row.
        Group,
        /// The label of its row.
        Label,
        /// Which number it is.
        Statistic,
    }
}

/// The files of published/, by name, in the order of their tables.
const FILES: [(&str, &str); 7] = [
    ("threads-udp-websocket", include_str!("../../../../published/threads-udp-websocket.toml")),
    ("python-and-cpp", include_str!("../../../../published/python-and-cpp.toml")),
    ("microkernel", include_str!("../../../../published/microkernel.toml")),
    ("microkernel-claims", include_str!("../../../../published/microkernel-claims.toml")),
    ("wakeup-i9-9900k", include_str!("../../../../published/wakeup-i9-9900k.toml")),
    ("wakeup-i5-m460", include_str!("../../../../published/wakeup-i5-m460.toml")),
    ("copies", include_str!("../../../../published/copies.toml")),
];

/// Every table that the run has a case for.
pub fn tables(readings: &[Reading]) -> Vec<PublishedTable> {
    SOURCES.iter().flat_map(|source| of_source(readings, source)).collect()
}

/// The files as they are read. (One that cannot be is a mistake that a test finds, and shows nothing.)
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    FILES.iter().filter_map(|(file, text)| Source::parse(file, text).ok()).collect()
});

fn of_source(readings: &[Reading], source: &Source) -> Vec<PublishedTable> {
    let groups = distinct(source.rows.0.iter().map(|row| row.group.as_str()));
    let own = source.places.iter().map(|place| Some(place.as_str()));
    let places: Vec<Option<&str>> = own.chain(source.places.is_empty().then_some(None)).collect();
    let mut tables = Vec::new();
    for place in places {
        let beside = |row| Beside { row, found: find(readings, row, place) };
        let rows: Vec<Beside> = source.rows.0.iter().map(beside).collect();
        if rows.iter().all(|row| row.found.is_none()) {
            continue;
        }
        for group in &groups {
            let own: Vec<&Beside> = rows.iter().filter(|row| row.row.group == *group).collect();
            tables.push(table(source, group, place, &own));
        }
    }
    tables
}

/// A published row and the case that measures the same.
struct Beside<'a> {
    row: &'a Row,
    found: Option<&'a Reading<'a>>,
}

/// The first case of the best selector, one that was measured before one that was not.
fn find<'a>(all: &'a [Reading<'a>], row: &Row, place: Option<&str>) -> Option<&'a Reading<'a>> {
    let of = |measured: bool| {
        row.cases.iter().find_map(|selector| {
            let mut all = all.iter().filter(|of| !measured || of.is_measured());
            all.find(|of| fits_at(selector, of.case, place))
        })
    };
    of(true).or_else(|| of(false))
}

/// Whether a case is selected, whole messages are compared, and it has the placement that is asked for
/// (`cross`: any two CPUs). A call has neither and fits any. Without a runtime, both ends must be
/// in Rust.
fn fits_at(selector: &Selector, case: &Case, place: Option<&str>) -> bool {
    let is_there = |of: Placement| match place {
        None => true,
        Some("cross") => of.is_two_cpu(),
        Some(place) => of.word() == place,
    };
    (case.runtimes.are_rust() || selector.says_runtime())
        && case.placement.is_none_or(is_there)
        && case.touch == Touch::Verify
        && selector.fits(case)
}

fn table(source: &Source, group: &str, place: Option<&str>, rows: &[&Beside]) -> PublishedTable {
    let shown = (0..rows.len()).map(|at| published_row(source, rows[at], base(source, rows, at)));
    PublishedTable {
        group: group.to_owned(),
        place: place.map(|place| match place {
            "free" => Place::Free,
            "same-cpu" => Place::One,
            _ => Place::Two,
        }),
        rows: shown.collect(),
        ..source.table.clone()
    }
}

/// The row that a row's multiple or difference refers to: of the baselines' rows of the same
/// statistic the nearest above, or else the first. A difference is of means.
fn base<'a>(source: &Source, rows: &[&'a Beside<'a>], at: usize) -> Option<&'a Beside<'a>> {
    let statistic = match rows[at].row.shown.statistic.as_str() {
        DIFFERENCE => RELATIVE,
        HALF_DIFFERENCE => HALF,
        statistic => statistic,
    };
    let is_base = |of: &&&Beside| {
        let row = &of.row.shown;
        source.baseline.contains(&row.label) && row.statistic == statistic
    };
    let above = rows[..=at].iter().rev().find(is_base);
    above.or_else(|| rows.iter().find(is_base)).copied()
}

fn published_row(source: &Source, beside: &Beside, base: Option<&Beside>) -> PublishedRow {
    let row = &beside.row.shown;
    let of_published = match row.statistic.as_str() {
        RELATIVE => row.published,
        DIFFERENCE | HALF_DIFFERENCE => None,
        _ => base.and_then(|base| Some(row.published? / base.row.shown.published?)),
    };
    let found = base.and_then(|base| base.found);
    PublishedRow {
        published_ratio: of_published.filter(|ratio| ratio.is_finite() && *ratio > 0.0),
        case: beside.found.map(|reading| reading.result.id.clone()),
        measured: beside.found.and_then(|of| measured(source, row, of, found)),
        measured_ratio: base.and_then(|base| measured_ratio(beside, base)),
        ..row.clone()
    }
}

fn measured_ratio(beside: &Beside, base: &Beside) -> Option<Ratio> {
    let (found, base) = (beside.found?, base.found?);
    let values = |of: &Reading| by_round(of, &beside.row.shown.statistic);
    ratio::multiple((found, &values(found)), (base, &values(base)))
}

/// What a number stands for: a total of operations, a multiple or a difference.
const TOTAL: &str = "total";
const RELATIVE: &str = "relative";
const DIFFERENCE: &str = "difference";

/// One of the two ways of a round trip.
const HALF: &str = "half";
const HALF_DIFFERENCE: &str = "half-difference";

/// The statistic that totals, multiples and differences are of.
const MEAN: &str = "mean";
/// The one that halves are of.
const P50: &str = "p50";

/// The estimate of a published statistic in its unit. `None` where it is not measured.
fn measured(
    source: &Source,
    row: &PublishedRow,
    of: &Reading,
    base: Option<&Reading>,
) -> Option<Estimate> {
    let statistic = row.statistic.as_str();
    if row.unit == "Gbit/s" {
        let stream = of.result.stream.as_ref().filter(|_| statistic == "throughput-per-flow")?;
        return stream.per_flow_gbps.clone();
    }
    let unit = per_ns(of, &row.unit)?;
    let (estimate, factor) = match statistic {
        // Of the median: in a mean are the turns of other tasks on the CPU too.
        HALF => (of_time(of, P50)?, unit / 2.0),
        HALF_DIFFERENCE => (difference(of, base?, P50)?, unit / 2.0),
        TOTAL => (of_time(of, MEAN)?, unit * source.table.operations? as f64),
        DIFFERENCE => (difference(of, base?, MEAN)?, unit),
        statistic => (of_time(of, statistic)?, unit),
    };
    Some(estimate.times(factor))
}

/// How much of a unit a nanosecond is.
fn per_ns(of: &Reading, unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "µs" => Some(1e-3),
        "s" => Some(1e-9),
        "ticks" => of.ticks_per_ns(),
        _ => None,
    }
}

/// How much longer an operation takes than the baseline's, paired by round.
fn difference(of: &Reading, base: &Reading, statistic: &str) -> Option<Estimate> {
    let longer = ratio::difference(&by_round(of, statistic), &by_round(base, statistic));
    // As with a multiple: without an interval it is nobody's number.
    longer.filter(|longer| longer.low.is_some())
}

fn of_time(reading: &Reading, statistic: &str) -> Option<Estimate> {
    let estimates = reading.result.estimates.as_ref()?;
    let statistic = Statistic::of_label(statistic)?;
    match statistic {
        // What a published minimum is of; it has no interval, and no multiple.
        Statistic::Min => {
            let least_ns = estimates.exact(Statistic::Least)?;
            Some(Estimate::exact(least_ns, reading.result.n_trials))
        }
        // A batch has nothing but its mean.
        Statistic::Mean => estimates.get(statistic).or(estimates.get(Statistic::Cost)).cloned(),
        // One table is of one set of samples: all, where its mean is of all.
        _ => reading.pooled_quantiles.get(statistic).or(estimates.get(statistic)).cloned(),
    }
}

/// The statistic of each measured trial by its round, for a multiple; empty where a trial alone
/// has none.
fn by_round(reading: &Reading, statistic: &str) -> BTreeMap<u32, f64> {
    let of = |trial: &PerTrial| match statistic {
        "throughput-per-flow" => trial.rates.map(|rates| rates.per_flow_gbps * trial.slower),
        MEAN | TOTAL | RELATIVE => Some(trial.get(Statistic::Mean).unwrap_or(trial.value_ns)),
        P50 => Some(trial.value_ns),
        // A least of all trials has no value a trial.
        "min" => None,
        _ => trial.get(Statistic::of_label(statistic)?),
    };
    reading.by_round(of)
}

/// A file of published/.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Source {
    /// Labels of the rows that multiples and differences refer to.
    #[serde(default)]
    baseline: Vec<String>,
    /// Placements that it is shown beside; none where its rows have none.
    #[serde(default)]
    places: Vec<String>,
    pub rows: Rows,
    /// What its tables have in common.
    #[serde(flatten)]
    table: PublishedTable,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<[String; 8]>")]
pub struct Rows(pub Vec<Row>);

/// A row as published.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Rows shown together.
    group: String,
    /// Cases that measure the same, the best first.
    cases: Vec<Selector>,
    pub shown: PublishedRow,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// In one line, what is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let source: Self =
            toml::from_str(text).map_err(|error| error.message().replace('\n', " "))?;
        Ok(Self { table: PublishedTable { file: file.to_owned(), ..source.table }, ..source })
    }
}

impl TryFrom<Vec<[String; 8]>> for Rows {
    type Error = String;

    fn try_from(all: Vec<[String; 8]>) -> Result<Self, String> {
        let rows = all.into_iter().try_fold(Vec::new(), |mut rows, fields| {
            rows.push(row(fields, rows.last())?);
            Ok::<_, String>(rows)
        });
        rows.map(Self)
    }
}

/// A row; without a case of its own, it has those of the row above with its group and label.
fn row(fields: [String; 8], above: Option<&Row>) -> Result<Row, String> {
    let [group, label, statistic, value, high, unit, case, note] = fields;
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a number in the row of `{label}`")),
    };
    let some = |text: &str| (!text.is_empty()).then(|| number(text)).transpose();
    let (published, published_high) = (some(&value)?, some(&high)?);
    let cases = match above.filter(|row| row.group == group && row.shown.label == label) {
        Some(above) if case.is_empty() => above.cases.clone(),
        _ => {
            let patterns = case.split(" or ").filter(|pattern| !pattern.is_empty());
            patterns.map(selector).collect::<Result<_, _>>()?
        }
    };
    let shown = PublishedRow {
        label,
        statistic,
        unit,
        published,
        published_high,
        written: if high.is_empty() { value } else { format!("{value}–{high}") },
        note: (!note.is_empty()).then_some(note),
        ..PublishedRow::default()
    };
    Ok(Row { group, cases, shown })
}

fn selector(text: &str) -> Result<Selector, String> {
    match Selector::parse(text)? {
        said if said.says_workload() => Ok(said),
        _ => Err(format!("`{text}` does not say the workload of its number")),
    }
}

#[cfg(test)]
mod tests;
