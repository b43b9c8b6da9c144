//! Published tables beside what was measured.

use super::ladder::Place;
use super::ratio::Ratio;
use super::statistic::Estimate;
use crate::document;

document! {
    /// A published table beside what was measured. Absolute numbers of another
    /// machine are shown and not judged; ratios are lined up.
    pub struct PublishedTable {
        /// Title.
        pub title: String,
        /// The file that it is from, without its ending.
        pub file: String,
        /// Title of the file.
        pub file_title: String,
        /// What the published numbers are called beside those of another source.
        pub name: Option<String>,
        /// The rows of the file that are in this table; empty where it has no groups.
        pub group: String,
        /// Where the cases beside it were measured; `null` where its rows have no placement.
        pub place: Option<Place>,
        /// How much of the messages the cases beside it touch.
        pub touch: String,
        /// Operations that a `total` is of.
        pub operations: Option<u64>,
        /// How it is laid out in the source.
        pub layout: PublishedLayout,
        /// Where it was published.
        pub source: String,
        /// On which machine.
        pub machine: String,
        /// What was really timed there.
        pub timed: String,
        /// Rows, in the order of the source.
        pub rows: Vec<PublishedRow>,
    }
}

document! {
    /// What makes a row and what a column of a published table.
    pub struct PublishedLayout {
        /// What the rows are under headings by; `null` where there are none.
        pub heading: Option<PublishedField>,
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
}

document! {
    /// A published table in brief: one statistic of it.
    pub struct PublishedBrief {
        /// What names a row.
        pub rows: Vec<PublishedField>,
        /// What names a column.
        pub columns: PublishedField,
        /// The statistic.
        pub statistic: String,
    }
}

document! {
    /// The names of a published number.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum PublishedField {
        /// The group of its row.
        Group,
        /// The label of its row.
        Label,
        /// Which number it is.
        Statistic,
    }
}

document! {
    /// One published number.
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
}
