//! How a subcommand ends: its exit code, the same for every subcommand, and refusals.

use hopcost_probe::interrupt;

pub const OK: u8 = 0;
/// A runtime error, or at least one case failed.
pub const ERROR: u8 = 1;
/// Bad usage or bad input.
pub const USAGE: u8 = 2;
/// At least one measurement is invalid.
pub const INVALID: u8 = 3;
/// A case is slower than its baseline, where that was to fail; or a claim failed.
pub const REGRESSION: u8 = 4;
/// A case is not decided, where that was to fail.
pub const INCONCLUSIVE: u8 = 5;
/// Not comparable.
pub const NOT_COMPARABLE: u8 = 6;
/// Interrupted; finished trials are kept.
pub const INTERRUPTED: u8 = 130;

/// An error with an exit code of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Refusal {
    message: String,
    code: u8,
}

/// An error with this exit code.
pub fn with_code(code: u8, message: impl std::fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Refusal { message: message.to_string(), code })
}

/// A mistake of the user's, as an error: exit code 2.
pub fn usage(message: impl std::fmt::Display) -> anyhow::Error {
    with_code(USAGE, message)
}

/// Refuses what is a mistake of the user's, unless this holds.
pub fn ensure(holds: bool, message: impl std::fmt::Display) -> anyhow::Result<()> {
    if holds { Ok(()) } else { Err(usage(message)) }
}

/// Two things that must not be put together, as an error: exit code 6.
pub fn not_comparable(message: impl std::fmt::Display) -> anyhow::Error {
    with_code(NOT_COMPARABLE, message)
}

/// The exit code of an error. After an interrupt whatever fails does so for that.
pub fn code_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<Refusal>() {
        _ if interrupt::came() => INTERRUPTED,
        refusal => refusal.map_or(ERROR, |refusal| refusal.code),
    }
}
