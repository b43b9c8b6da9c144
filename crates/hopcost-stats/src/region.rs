//! Whether a number lies in a region: one value per round, and an error that all looks share.

use hopcost_model::results::Verdict;

use crate::contrast::{LogRatio, Region, contrast};

/// A number with its interval, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    pub place: Verdict,
    pub point: f64,
    /// The interval from which it is told; the wider one where it is told to lie beside the region.
    pub interval: Option<(f64, f64)>,
    /// Rounds that would probably tell where these do not; `None` where none would.
    pub n_to_decide: Option<u32>,
}

/// One-sided errors with which it may be told where a number lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// In the region.
    pub inside: f64,
    pub outside: f64,
}

/// Places a number of which there is one value per round; the mean of the run differs from that of
/// others by `between` (SD).
pub fn place(values: &LogRatio, region: (f64, f64), between: f64, errors: Errors) -> Placed {
    let of = values.between_runs(between);
    let region = Region { low: region.0, high: region.1 };
    let [inside, outside] = [errors.inside, errors.outside].map(|e| contrast(&of, region, e));
    let (place, found) = match (inside.verdict, outside.verdict) {
        (Verdict::Inside, _) => (Verdict::Inside, inside),
        (_, Verdict::Outside) => (Verdict::Outside, outside),
        _ => (Verdict::Open, inside),
    };
    let more = inside.more.or(outside.more).filter(|_| place == Verdict::Open);
    Placed { place, point: found.point, interval: found.ends, n_to_decide: more }
}

/// The same of a number with intervals of these errors.
pub fn place_interval(
    point: f64,
    inside: Option<(f64, f64)>,
    outside: Option<(f64, f64)>,
    region: (f64, f64),
) -> Placed {
    let is_in = inside.is_some_and(|(low, high)| region.0 <= low && high <= region.1);
    let is_out = outside.is_some_and(|(low, high)| high < region.0 || region.1 < low);
    let (place, interval) = match (is_in, is_out) {
        (true, _) => (Verdict::Inside, inside),
        (false, true) => (Verdict::Outside, outside),
        (false, false) => (Verdict::Open, inside),
    };
    Placed { place, point, interval, n_to_decide: None }
}
