//! The suites and claims files inside the binary, and what suites say of reports: tables that others
//! published, an export, and what others call the cases. Each stands in the suite that it
//! belongs to, as `[[published]]`, `[export]` and `[[label]]`. Reports of the suite's runs show tables
//! and labels; the export and the tables for programs are for every run that has such cases.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::ask::{Selector, SuiteSource};
use crate::error::{Origin, Result, unknown};

/// The suites inside the binary: name, text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("ladder", include_str!("../../../suites/ladder.toml")),
    ("quick", include_str!("../../../suites/quick.toml")),
    ("threads-udp-websocket", include_str!("../../../suites/threads-udp-websocket.toml")),
    ("microkernel", include_str!("../../../suites/microkernel.toml")),
    ("wakeup", include_str!("../../../suites/wakeup.toml")),
    ("wakeup-full", include_str!("../../../suites/wakeup-full.toml")),
    ("wakeup-document", include_str!("../../../suites/wakeup-document.toml")),
    ("copies", include_str!("../../../suites/copies.toml")),
    ("load", include_str!("../../../suites/load.toml")),
    ("runtimes", include_str!("../../../suites/runtimes.toml")),
    ("middleware", include_str!("../../../suites/middleware.toml")),
    ("pair", include_str!("../../../suites/pair.toml")),
];

/// The claims files inside the binary: name, text.
pub const CLAIMS: &[(&str, &str)] = &[
    ("threads-udp-websocket", include_str!("../../../claims/threads-udp-websocket.toml")),
    ("runtimes", include_str!("../../../claims/runtimes.toml")),
    ("microkernel", include_str!("../../../claims/microkernel.toml")),
    ("wakeup", include_str!("../../../claims/wakeup.toml")),
    ("copies", include_str!("../../../claims/copies.toml")),
    ("self-test", include_str!("../../../claims/self-test.toml")),
];

/// A suite inside the binary, as if it were a file.
///
/// # Errors
/// Where there is none of this name.
pub fn suite(name: &str) -> Result<SuiteSource> {
    found("suites", "suite", SHIPPED, name)
}

/// The same of a claims file.
///
/// # Errors
/// Where there is none of this name.
pub fn claims(name: &str) -> Result<SuiteSource> {
    found("claims", "claims file", CLAIMS, name)
}

fn found(folder: &str, what: &str, all: &[(&str, &str)], name: &str) -> Result<SuiteSource> {
    if let Some((name, text)) = all.iter().find(|(known, _)| *known == name) {
        return Ok(SuiteSource { file: format!("{folder}/{name}.toml"), text: (*text).to_owned() });
    }
    let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let message = unknown(what, name, &known);
    let message = format!("{message}; a file is named by its path, as in ./mine.toml");
    Err(Origin::option(folder).error(message))
}

/// What the shipped suites say of reports, with their names.
pub fn shown() -> &'static [(&'static str, Shown)] {
    static SHOWN: LazyLock<Vec<(&str, Shown)>> = LazyLock::new(|| {
        let of = |(name, text): &(&'static str, &str)| Some((*name, toml::from_str(text).ok()?));
        SHIPPED.iter().filter_map(of).collect()
    });
    &SHOWN
}

/// What a shipped suite says of reports of its own runs.
pub fn shown_by(suite: &str) -> Option<&'static Shown> {
    shown().iter().find(|(name, _)| *name == suite).map(|(_, shown)| shown)
}

/// What a suite's file says of reports.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Shown {
    /// Tables that others published.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What cases are called where the suite comes from.
    #[serde(default)]
    pub label: Vec<Label>,
    /// Cases in the columns of somebody else's table.
    pub export: Option<Export>,
}

impl Shown {
    /// Whether it names the table of a file.
    pub fn publishes(&self, file: &str) -> bool {
        self.published.iter().any(|table| table.file == file)
    }
}

/// A published table, which reports show beside measured values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Published {
    /// Its file in published/, without its ending.
    pub file: String,
}

/// Cases by a name that stands before their mechanism's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    pub name: String,
    pub cases: Selector,
}

/// Cases in the rows and columns of somebody else's table, as CSV.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Export {
    /// What a run needs so that it has a row.
    pub needs: String,
    /// The streams of a row, by its name.
    pub rows: BTreeMap<String, Selector>,
    pub columns: Vec<ExportColumn>,
}

/// A column of an export.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExportColumn {
    pub name: String,
    /// `row`, a column of the tidy CSV, or one of its statistics; of `EVENT.both.…` where an
    /// event was only counted at each end, the sum.
    pub of: String,
    /// How many of the statistic's units are one of this column's.
    #[serde(default = "one")]
    pub unit: f64,
    /// Decimals of a statistic.
    #[serde(default)]
    pub decimals: usize,
}

fn one() -> f64 {
    1.0
}
