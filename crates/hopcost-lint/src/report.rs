//! What was read of a file, and what was found.

use serde::Serialize;

use crate::finding::Finding;

/// How a column was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnRead {
    /// Its heading.
    pub name: String,
    /// What it was taken for.
    pub role: String,
}

/// A table that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRead {
    /// Line of its heading.
    pub line: usize,
    /// How many rows it has.
    pub rows: usize,
    /// What its columns of numbers were taken for.
    pub columns: Vec<ColumnRead>,
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file.
    pub file: String,
    /// The tables that were checked: those with a cost, a total or a throughput.
    pub tables: Vec<TableRead>,
    /// What is wrong with them, by line.
    pub findings: Vec<Finding>,
    /// What of it was not checked, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
