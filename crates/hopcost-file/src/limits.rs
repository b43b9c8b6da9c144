//! What a file may ask of its reader. No run comes near any of these; a file made by
//! somebody else may hold anything, and is refused where reading it could take long.

/// A text, or one string of a JSON value. Linux takes no longer argument of a command.
pub(crate) const TEXT_MAX_BYTES: usize = 128 << 10;

/// A JSON value.
pub(crate) const JSON_MAX_BYTES: usize = 16 << 20;

/// The longest value that SQLite may hand over, in bytes: more than the samples of a
/// trial can take.
pub(crate) const VALUE_MAX_BYTES: i32 = 16 << 20;

/// Trials of a case, as many as a plan may have rounds.
pub(crate) const TRIALS_OF_CASE_MAX: u32 = 10_000;

/// Trials of a file of 100 MB.
pub(crate) const TRIALS_MAX: usize = 200_000;

/// Elements of all lists in the documents of a file of 100 MB.
pub(crate) const ELEMENTS_MAX: usize = 5_000_000;

/// Cases of a plan (as many as a suite may have), clocks, yardsticks, readings of the host, or workers.
pub(crate) const LIST_MAX: usize = 10_000;

/// Operations of a trial: a thousand times as many as the pilot orders at most.
pub(crate) const OPERATIONS_MAX: u64 = 1 << 42;

/// Ticks of a clock, which the supervisor refuses from a worker too: 58 years at 2.5 GHz.
pub(crate) const TICKS_MAX: u64 = 1 << 62;

/// Steps of SQLite's virtual machine in which the names of tables are read, and then
/// everything else of a file of 100 MB.
pub(crate) const SCHEMA_STEPS: usize = 100_000;
pub(crate) const STEPS: usize = 500_000_000;

/// Samples of a file of 100 MB.
pub(crate) const SAMPLES_MAX: usize = 1 << 26;

/// The limit of a file with this many bytes, where `most` is that of 100 MB: a larger one may
/// take longer.
pub(crate) fn in_file(most: usize, bytes: u64) -> usize {
    most.saturating_mul(bytes.div_ceil(100_000_000).clamp(1, 10) as usize)
}
