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

/// Trials of a case, as many as a plan may have rounds.
pub(crate) const TRIALS_OF_CASE_MAX: u32 = 10_000;

/// Trials of a file of 100 MB.
pub(crate) const TRIALS_MAX: usize = 200_000;

/// Elements of all lists in the documents of a file of 100 MB.
pub(crate) const ELEMENTS_MAX: usize = 5_000_000;

/// Clocks, yardsticks, or readings of the host.
pub(crate) const LIST_MAX: usize = 10_000;

/// Workers that took part.
pub(crate) const WORKERS_MAX: usize = 100;

/// Operations of a trial: a thousand times as many as the pilot orders at most.
pub(crate) const OPERATIONS_MAX: u64 = 1 << 42;

/// Ticks of a clock, which the supervisor refuses from a worker too: 58 years at 2.5 GHz.
pub(crate) const TICKS_MAX: u64 = 1 << 62;

/// Steps of SQLite's virtual machine in which the names of tables are read, and then
/// everything else of a file of 100 MB.
pub(crate) const SCHEMA_STEPS: u64 = 100_000;
const STEPS: u64 = 500_000_000;

/// Samples of a file of 100 MB.
const SAMPLES: usize = 1 << 26;

/// What grows with the file: a larger one may take longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Hundreds of megabytes, rounded up; at most 100.
    hundreds: u64,
}

impl Limits {
    /// Those of a file of this size.
    pub(crate) fn of(bytes: u64) -> Self {
        Self { hundreds: bytes.div_ceil(100_000_000).clamp(1, 100) }
    }
    /// As many as there may be where there may be `rows` in 100 MB.
    pub(crate) fn rows(self, rows: usize) -> usize {
        rows.saturating_mul(self.hundreds as usize)
    }
    pub(crate) fn samples(self) -> usize {
        self.rows(SAMPLES).min(crate::samples::MAX_PER_RUN)
    }
    /// Steps of SQLite's virtual machine.
    pub(crate) fn steps(self) -> u64 {
        STEPS * self.hundreds
    }
}
