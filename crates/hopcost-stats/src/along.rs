//! Where one case overtakes another along an axis, and at which value to compare them next.
//!
//! Each value of the axis has a comparison of its own ([`compare`](crate::compare)). A crossing lies
//! between the last value at which one case is faster by more than the margin and the first at which
//! the other is, if the costs cross once in between.

#[cfg(any(test, feature = "testing"))]
pub mod simulated;

use crate::compare::Verdict;

/// Two neighbours on the axis whose ratio is no greater need no value between them.
const NARROW: f64 = 1.5;

/// A crossing, between two values of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossed {
    /// The last value at which one is faster.
    pub after: f64,
    /// The first at which the other is.
    pub until: f64,
    /// What the second case is beside the first from there on.
    pub then: Verdict,
}

/// The changes of which is faster along ascending values; values that are equivalent or not decided
/// stand in none, but may lie between.
pub fn crossings(found: &[(f64, Verdict)]) -> Vec<Crossed> {
    let is_told = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
    let told: Vec<(f64, Verdict)> =
        found.iter().copied().filter(|(_, verdict)| is_told(*verdict)).collect();
    let change = |pair: &[(f64, Verdict)]| {
        let ((after, before), (until, then)) = (pair[0], pair[1]);
        (before != then).then_some(Crossed { after, until, then })
    };
    told.windows(2).filter_map(change).collect()
}

/// The value that halves, on a logarithmic axis, the widest gap at the ends of a crossing; `None`
/// where all of them are narrow.
pub fn next(found: &[(f64, Verdict)]) -> Option<f64> {
    let gaps = crossings(found).into_iter().flat_map(|crossed| {
        let within = |at: &f64| crossed.after <= *at && *at <= crossed.until;
        let values: Vec<f64> = found.iter().map(|(at, _)| *at).filter(within).collect();
        let last = values.len().saturating_sub(2);
        [0, last].map(|at| (values[at], values[at + 1]))
    });
    let wide = gaps.filter(|(low, high)| high / low > NARROW);
    let widest = wide.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    widest.map(|(low, high)| libm::sqrt(low * high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Equivalent, Faster, Inconclusive, Slower};

    #[test]
    fn changes_of_which_is_faster() {
        let of = |all: &[Verdict]| -> Vec<(f64, f64, Verdict)> {
            let found: Vec<(f64, Verdict)> =
                (1..).map(f64::from).zip(all.iter().copied()).collect();
            crossings(&found).iter().map(|one| (one.after, one.until, one.then)).collect()
        };
        assert_eq!(of(&[Slower, Equivalent, Inconclusive, Faster]), [(1.0, 4.0, Faster)]);
        let twice = [(1.0, 2.0, Faster), (3.0, 4.0, Slower)];
        assert_eq!(of(&[Slower, Faster, Faster, Slower]), twice);
        assert_eq!(of(&[Equivalent, Slower, Equivalent, Slower, Inconclusive]), []);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn the_gap_at_a_crossing_is_halved_until_it_is_narrow() {
        let mut found = vec![(64.0, Slower), (1024.0, Slower), (16_384.0, Faster)];
        assert_eq!(next(&found), Some(4096.0));
        found.insert(2, (4096.0, Equivalent));
        assert_eq!(next(&found), Some(8192.0), "of two gaps that are equally wide the last");
        found.insert(3, (8192.0, Faster));
        assert_eq!(next(&found), Some(2048.0));
        let narrow = [(1024.0, Slower), (1536.0, Inconclusive), (2048.0, Faster)];
        assert_eq!(next(&narrow), None);
        assert_eq!(next(&[(64.0, Slower), (16_384.0, Slower)]), None);
        assert_eq!(next(&[]), None);
    }
}
