//! What a file may ask of its reader. No run comes near any of these; a file made by
//! somebody else may hold anything, and is refused where reading it could take long.

/// A text, or one string of a JSON value. Linux takes no longer argument of a command.
pub(crate) const TEXT_MAX_BYTES: usize = 128 << 10;

/// A JSON value.
pub(crate) const JSON_MAX_BYTES: usize = 16 << 20;

/// The longest value that SQLite may hand over, in bytes: more than the samples of a
/// trial can take.
pub(crate) const VALUE_MAX_BYTES: i32 = 16 << 20;

/// Cases of a plan, as many as a suite may have.
pub(crate) const CASES_MAX: usize = 10_000;

/// Rows of a table.
pub(crate) fn rows_max(table: &str) -> usize {
    match table {
        "run" => 1,
        "worker" => 100,
        "host_reading" | "clock" => 10_000,
        "trial" | "stamp_check" => 200_000,
        _ => 2_000_000,
    }
}
