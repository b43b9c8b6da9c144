//! Numbers and names in sentences.

pub use hopcost_model::text::count;
use hopcost_model::{Case, Runtimes};

/// A duration with three significant digits in the unit that fits.
pub fn ns(value: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| value.abs() >= *unit).unwrap_or((1.0, "ns"));
    format!("{} {name}", three(value / unit))
}

/// A number with three significant digits (all digits of its whole part).
pub fn three(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = match value.abs() {
        size if size >= 9.95 || size == 0.0 => 0,
        size if size >= 0.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} %")
}

/// A case's mechanism, with its runtimes where they are not Rust and no library, whose mechanisms have
/// names of their own: `tcp (python:rust)`.
pub fn mechanism(case: &Case) -> String {
    let Runtimes { caller, callee } = &case.runtimes;
    match caller == callee && (caller.is_rust() || caller.library().is_some()) {
        true => case.mechanism.clone(),
        false => format!("{} ({})", case.mechanism, case.runtimes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let durations: Vec<String> =
            [0.71, 2.654, 83.26, 999.0, 2645.0, 61_234.0, 4e6, 1.5e9].map(ns).into();
        assert_eq!(
            durations,
            ["0.710 ns", "2.65 ns", "83.3 ns", "999 ns", "2.65 µs", "61.2 µs", "4.00 ms", "1.50 s"]
        );
        assert_eq!(
            [0.0, 0.0013, 0.0213, 0.41, 1.0].map(percent),
            ["0 %", "0.13 %", "2.1 %", "41 %", "100 %"]
        );
        assert_eq!([count(1, "trial"), count(3, "trial")], ["1 trial", "3 trials"]);
    }
}
