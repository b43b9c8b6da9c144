//! How much of the spread of the wake-ups' medians mechanism and gap explain.

use hopcost_model::axis::Axis;
use hopcost_model::case::Case;
use hopcost_model::group::distinct;
use hopcost_model::results::VarianceShares;
use hopcost_plan::{Variance, shown};
use hopcost_stats::variance::type_one;

use crate::case::{Reading, known};
use crate::format;

/// A case with less than this share of the trials of the fullest is left out, since all must have equally many.
const FULL_MIN: f64 = 0.5;

/// The shares of the variance of the trials' p50, over the cases that each suite names; none
/// where these are not of several mechanisms and several gaps.
pub fn of_medians(readings: &[Reading]) -> Vec<VarianceShares> {
    let named = shown().iter().flat_map(|(_, shown)| &shown.variance);
    named.filter_map(|named| medians(readings, named)).collect()
}

fn medians(readings: &[Reading], named: &Variance) -> Option<VarianceShares> {
    let fits = |(case, _): &(&Case, &Reading)| case.runtimes.are_rust() && named.cases.fits(case);
    let logs = |reading: &Reading| -> Vec<Vec<f64>> {
        let values = reading.values().into_iter().filter(|ns| *ns > 0.0);
        values.map(|ns| vec![libm::log(ns)]).collect()
    };
    let found = known(readings).filter(|(_, reading)| reading.is_measured()).filter(fits);
    let cells = of_equal_length(found.map(|(case, reading)| (case, logs(reading))).collect());
    let (values, cases): (Vec<Vec<Vec<f64>>>, Vec<&Case>) =
        cells.into_iter().map(|(case, values)| (values, case)).unzip();
    let gap = |case: &Case| format!("{:?}", case.gap_ns);
    let mechanisms = numbered(cases.iter().map(|case| mechanism(case)));
    let gaps = numbered(cases.iter().map(|case| gap(case)));
    let both = numbered(cases.iter().map(|case| mechanism(case) + &gap(case)));
    let n = |of: &[usize]| of.iter().max().map_or(0, |n| n + 1);
    let (n_mechanisms, n_gaps) = (n(&mechanisms), n(&gaps));
    // Each mechanism at each gap, and more than once: with less, what a mechanism adds at a gap
    // cannot be told from what a trial adds.
    let whole = n_mechanisms * n_gaps == cases.len() && values.iter().all(|logs| logs.len() > 1);
    if n_mechanisms < 2 || n_gaps < 2 || !whole {
        return None;
    }
    let levels: Vec<Vec<usize>> =
        (0..cases.len()).map(|cell| vec![mechanisms[cell], gaps[cell], both[cell]]).collect();
    let found = type_one(&levels, &values)?;
    let names = ["mechanism", "gap", "mechanism × gap"].into_iter().zip(found.factors);
    let named_shares = names.chain([("trial", found.trial)]);
    Some(VarianceShares {
        shares: named_shares.map(|(name, share)| (name.to_owned(), share)).collect(),
        samples: values.iter().map(|trials| trials.len() as u64).sum(),
        estimand: format!(
            "shares of the variance of ln(p50 of a trial) over {n_mechanisms} mechanisms and {n_gaps} gaps {}",
            named.of
        ),
    })
}

/// A mechanism with all that makes it another one.
fn mechanism(case: &Case) -> String {
    let unusual = Axis::unusual(case).filter(|(a, _)| !matches!(a.key, "idle-knob" | "touch"));
    let unusual: Vec<_> = unusual.map(|(axis, value)| (axis.key, value)).collect();
    let mechanism = format::mechanism(case);
    format!("{mechanism} {} {:?} {unusual:?}", case.boundary, case.parameters)
}

/// The first trials of each case, equally many of each.
fn of_equal_length<T>(mut cells: Vec<(&Case, Vec<T>)>) -> Vec<(&Case, Vec<T>)> {
    let most = cells.iter().map(|(_, trials)| trials.len()).max().unwrap_or(0);
    let is_full = |n: usize| n > 0 && n as f64 >= FULL_MIN * most as f64;
    cells.retain(|(_, trials)| is_full(trials.len()));
    let least = cells.iter().map(|(_, trials)| trials.len()).min().unwrap_or(0);
    cells.iter_mut().for_each(|(_, trials)| trials.truncate(least));
    cells
}

/// Levels by the order in which they first appear.
fn numbered(levels: impl Iterator<Item = String>) -> Vec<usize> {
    let levels: Vec<String> = levels.collect();
    let seen = distinct(&levels);
    levels.iter().filter_map(|level| seen.iter().position(|known| *known == level)).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::Builder;

    #[test]
    fn medians_are_shared_out_among_mechanisms_gaps_and_both() {
        let of = |gaps: usize, rounds: u32| {
            let mut builder = Builder::new();
            for (mechanism, gap) in (0..2).flat_map(|m| (0..gaps).map(move |gap| (m, gap))) {
                let id = format!(
                    "wake/{}?payload=1&gap={}&boundary=process&place=same-llc&wait=block",
                    ["pipe", "semaphore"][mechanism],
                    [1_000, 1_000_000][gap]
                );
                builder = builder.case(&id, rounds, move |round, t| {
                    let both = usize::from(mechanism == gap);
                    let up = [(0.1, mechanism), (0.4, gap), (0.2, round as usize % 2), (0.3, both)];
                    let sum: f64 = up.map(|(size, up)| size * (2.0 * up as f64 - 1.0)).iter().sum();
                    t.wake(&[(1e6 * libm::exp(sum)) as u32; 100], 1_000_000);
                });
            }
            builder.read().variance_of_medians
        };
        let found = of(2, 6);
        // Squares of the effects: 1 + 16 + 4 + 9 = 30.
        let wanted = [("mechanism", 1.0), ("gap", 16.0), ("trial", 4.0), ("mechanism × gap", 9.0)];
        for (name, part) in wanted {
            assert!((found[0].shares[name] - part / 30.0).abs() < 1e-4, "{name}: {found:?}");
        }
        assert!(found.len() == 1 && found[0].samples == 24, "{found:?}");
        assert!(found[0].estimand.contains("2 mechanisms and 2 gaps of "), "{found:?}");
        assert_eq!(of(1, 6), []);
        // Of one trial a case, nothing is left for what a trial adds.
        assert_eq!(of(2, 1), []);
    }
}
