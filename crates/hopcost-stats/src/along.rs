//! Where one case overtakes another along an axis, and at which value to compare them next.
//!
//! Each value of the axis has a [`contrast`](crate::contrast) of its own. A crossing lies
//! between the last value at which one case is faster by more than the margin and the first at which
//! the other is, if the costs cross once in between.

use std::cmp::Ordering;

/// Whether the second case is faster, as fast or slower, where that is decided.
type Side = Option<Ordering>;

/// Two neighbours on the axis whose ratio is no greater need no value between them.
const NARROW: f64 = 1.5;

/// A crossing, between two values of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossed {
    /// The last value at which one is faster.
    pub after: f64,
    /// The first at which the other is.
    pub until: f64,
    /// Whether the second case is the faster one from there on.
    pub second_is_faster: bool,
}

/// The changes of which is faster along ascending values; values that are equal or not decided stand
/// in none, but may lie between.
pub fn crossings(found: &[(f64, Side)]) -> Vec<Crossed> {
    let told = found.iter().filter_map(|(at, side)| Some((*at, (*side)?)));
    let told: Vec<(f64, Ordering)> = told.filter(|(_, side)| side.is_ne()).collect();
    let change = |pair: &[(f64, Ordering)]| {
        let ((after, before), (until, then)) = (pair[0], pair[1]);
        let second_is_faster = then.is_lt();
        (before != then).then_some(Crossed { after, until, second_is_faster })
    };
    told.windows(2).filter_map(change).collect()
}

/// The value that halves, on a logarithmic axis, the widest gap at the ends of a crossing; `None`
/// where all of them are narrow.
pub fn next(found: &[(f64, Side)]) -> Option<f64> {
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

    const FASTER: Side = Some(Ordering::Less);
    const SLOWER: Side = Some(Ordering::Greater);
    const EQUAL: Side = Some(Ordering::Equal);

    #[test]
    fn changes_of_which_is_faster() {
        let of = |all: &[Side]| -> Vec<(f64, f64, bool)> {
            let found: Vec<(f64, Side)> = (1..).map(f64::from).zip(all.iter().copied()).collect();
            crossings(&found)
                .iter()
                .map(|one| (one.after, one.until, one.second_is_faster))
                .collect()
        };
        assert_eq!(of(&[SLOWER, EQUAL, None, FASTER]), [(1.0, 4.0, true)]);
        let twice = [(1.0, 2.0, true), (3.0, 4.0, false)];
        assert_eq!(of(&[SLOWER, FASTER, FASTER, SLOWER]), twice);
        assert_eq!(of(&[EQUAL, SLOWER, EQUAL, SLOWER, None]), []);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn the_gap_at_a_crossing_is_halved_until_it_is_narrow() {
        let mut found = vec![(64.0, SLOWER), (1024.0, SLOWER), (16_384.0, FASTER)];
        assert_eq!(next(&found), Some(4096.0));
        found.insert(2, (4096.0, EQUAL));
        assert_eq!(next(&found), Some(8192.0), "of two gaps that are equally wide the last");
        found.insert(3, (8192.0, FASTER));
        assert_eq!(next(&found), Some(2048.0));
        let narrow = [(1024.0, SLOWER), (1536.0, None), (2048.0, FASTER)];
        assert_eq!(next(&narrow), None);
        assert_eq!(next(&[(64.0, SLOWER), (16_384.0, SLOWER)]), None);
        assert_eq!(next(&[]), None);
    }
}
