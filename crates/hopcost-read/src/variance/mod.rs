//! How much of the spread of the wake-ups each factor explains.

use hopcost_model::axis::Axis;
use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::group::distinct;
use hopcost_model::raw::RawTrial;
use hopcost_model::results::VarianceShares;
use hopcost_plan::shown;
use hopcost_stats::variance::type_one;

use crate::case::{Reading, known};
use crate::format;
use crate::run::Run;

/// A factor and its level in a case.
type Factor = (&'static str, fn(&Case) -> String);

/// The factors, in the order in which they are given what they explain.
const FACTORS: [Factor; 5] = [
    ("mechanism", |case| {
        let (mechanism, boundary) = (format::mechanism(case), case.boundary);
        let unusual = Axis::unusual(case).filter(|(a, _)| !matches!(a.key, "idle-knob" | "touch"));
        let unusual: Vec<_> = unusual.map(|(axis, value)| (axis.key, value)).collect();
        format!("{mechanism} {boundary} {:?} {unusual:?}", case.parameters)
    }),
    ("gap", |case| format!("{:?}", case.gap_ns)),
    ("touch", |case| case.touch.to_string()),
    ("idle knob", |case| case.idle_knob.to_string()),
    ("placement", |case| format!("{:?}", case.placement)),
];

/// A case with less than this share of the trials (a trial with less than this share
/// of the samples) of the fullest is left out, since all must have equally many.
const FULL_MIN: f64 = 0.5;

/// The shares over all cases whose receiver sleeps; `None` where no factor has two
/// levels or nothing varies.
pub fn shares(run: &Run, readings: &[Reading]) -> Option<VarianceShares> {
    let asleep = known(readings).filter(|(case, reading)| sleeps(case) && reading.is_measured());
    let cells = balanced(asleep.map(|(case, reading)| (case, reading.trials.clone())).collect());
    let factors: Vec<(&str, Vec<usize>)> = FACTORS
        .iter()
        .map(|(name, level)| (*name, numbered(cells.iter().map(|(case, _)| level(case)))))
        .filter(|(_, levels)| levels.iter().any(|level| *level > 0))
        .collect();
    if factors.is_empty() || cells.iter().any(|(_, trials)| trials.len() < 2) {
        return None;
    }
    let of_cell = |cell| factors.iter().map(|(_, levels)| levels[cell]).collect();
    let levels: Vec<Vec<usize>> = (0..cells.len()).map(of_cell).collect();
    let samples = cells.iter().flat_map(|(_, t)| t).map(|t| t.samples.len()).min()?;
    let values: Vec<Vec<Vec<f64>>> = cells
        .iter()
        .map(|(_, trials)| trials.iter().map(|trial| logs(run, trial, samples)).collect())
        .collect();
    let (cases, trials) = (cells.len(), cells[0].1.len());
    let estimand = format!(
        "shares of the variance of ln(one-way time), over {cases} cases whose receiver sleeps, \
         with {trials} trials of {samples} samples each"
    );
    shared_out(factors.iter().map(|(name, _)| *name), &levels, &values, estimand)
}

/// Between these factors, the trials and what is left.
fn shared_out<'a>(
    factors: impl Iterator<Item = &'a str>,
    levels: &[Vec<usize>],
    values: &[Vec<Vec<f64>>],
    estimand: String,
) -> Option<VarianceShares> {
    let found = type_one(levels, values)?;
    let named = factors.zip(found.factors).chain([("trial", found.trial)]);
    Some(VarianceShares {
        shares: named.map(|(name, share)| (name.to_owned(), share)).collect(),
        residual: found.residual,
        samples: values.iter().flatten().map(|trial| trial.len() as u64).sum(),
        estimand,
    })
}

/// The shares of the variance of the trials' p50, over the cases that each suite names; none
/// where these are not of several mechanisms and several gaps.
pub fn of_medians(readings: &[Reading]) -> Vec<VarianceShares> {
    let named = shown().iter().flat_map(|(_, shown)| &shown.variance);
    named.filter_map(|named| medians(readings, named)).collect()
}

fn medians(readings: &[Reading], named: &hopcost_plan::Variance) -> Option<VarianceShares> {
    let fits = |(case, _): &(&Case, &Reading)| case.runtimes.are_rust() && named.cases.fits(case);
    let logs = |reading: &Reading| -> Vec<Vec<f64>> {
        let values = reading.values().into_iter().filter(|ns| *ns > 0.0);
        values.map(|ns| vec![libm::log(ns)]).collect()
    };
    let found = known(readings).filter(|(_, reading)| reading.is_measured()).filter(fits);
    let cells = of_equal_length(found.map(|(case, reading)| (case, logs(reading))).collect());
    let level_of = |names: &[&str]| {
        let own = FACTORS.iter().filter(|(name, _)| names.contains(name));
        let own: Vec<_> = own.map(|(_, level)| level).collect();
        let words = |case: &Case| own.iter().map(|level| level(case)).collect::<Vec<_>>().join("");
        numbered(cells.iter().map(|(case, _)| words(case)))
    };
    let factors = [level_of(&["mechanism"]), level_of(&["gap"]), level_of(&["mechanism", "gap"])];
    let [mechanisms, gaps, _] = factors.each_ref().map(|of| of.iter().max().map_or(0, |n| n + 1));
    // Each mechanism at each gap, and more than once: with less, what a mechanism adds at a gap
    // cannot be told from what a trial adds.
    let whole = mechanisms * gaps == cells.len() && cells.iter().all(|(_, logs)| logs.len() > 1);
    if mechanisms < 2 || gaps < 2 || !whole {
        return None;
    }
    let levels: Vec<Vec<usize>> =
        (0..cells.len()).map(|cell| factors.iter().map(|of| of[cell]).collect()).collect();
    let values: Vec<Vec<Vec<f64>>> = cells.iter().map(|(_, values)| values.clone()).collect();
    let estimand = format!(
        "shares of the variance of ln(p50 of a trial) over {mechanisms} mechanisms and {gaps} gaps {}",
        named.of
    );
    shared_out(["mechanism", "gap", "mechanism × gap"].into_iter(), &levels, &values, estimand)
}

/// A receiver that spins wakes from nothing; it would only widen the spread between
/// mechanisms.
fn sleeps(case: &Case) -> bool {
    let wait = case.wait(Role::Callee);
    case.workload == Workload::Wake && wait.sleeps()
}

/// The first trials of each case, equally many of each; they may still differ in
/// length.
fn balanced<'a>(
    mut cells: Vec<(&'a Case, Vec<&'a RawTrial>)>,
) -> Vec<(&'a Case, Vec<&'a RawTrial>)> {
    let longest = cells.iter().flat_map(|(_, t)| t).map(|t| t.samples.len()).max().unwrap_or(0);
    for (_, trials) in &mut cells {
        trials.retain(|t| !t.samples.is_empty() && enough(t.samples.len(), longest));
    }
    of_equal_length(cells)
}

/// The first trials of each case, equally many of each.
fn of_equal_length<T>(mut cells: Vec<(&Case, Vec<T>)>) -> Vec<(&Case, Vec<T>)> {
    let most = cells.iter().map(|(_, trials)| trials.len()).max().unwrap_or(0);
    cells.retain(|(_, trials)| !trials.is_empty() && enough(trials.len(), most));
    let least = cells.iter().map(|(_, trials)| trials.len()).min().unwrap_or(0);
    cells.iter_mut().for_each(|(_, trials)| trials.truncate(least));
    cells
}

fn enough(n: usize, most: usize) -> bool {
    n as f64 >= FULL_MIN * most as f64
}

/// Levels by the order in which they first appear.
fn numbered(levels: impl Iterator<Item = String>) -> Vec<usize> {
    let levels: Vec<String> = levels.collect();
    let seen = distinct(&levels);
    levels.iter().filter_map(|level| seen.iter().position(|known| *known == level)).collect()
}

/// ln of the first samples of a trial, in nanoseconds; what came out as 0 or negative
/// counts as one tick.
fn logs(run: &Run, trial: &RawTrial, samples: usize) -> Vec<f64> {
    let tick_ns = run.raw.clock(trial).map_or(1.0, |clock| 1e9 / clock.ticks_per_second);
    let tick_ns = tick_ns / run.factor(trial).unwrap_or(1.0);
    let log = |ticks: &u32| libm::log(f64::from((*ticks).max(1)) * tick_ns);
    trial.samples.iter().take(samples).map(log).collect()
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::VarianceShares;

    use crate::testing::{Builder, read};

    /// A case of two mechanisms and two gaps.
    fn id(mechanism: usize, gap: usize, more: &str) -> String {
        format!(
            "wake/{}?payload=1&gap={}&boundary=process&place=same-llc&wait=block{more}",
            ["pipe", "semaphore"][mechanism],
            [1_000, 1_000_000][gap]
        )
    }

    /// exp of the sum of these effects, each up or down, around 1 ms; of a hundred
    /// samples, the first fifty are up.
    fn samples(effects: &[(f64, usize)], sample: f64, n: usize) -> Vec<u32> {
        let sign = |up: usize| if up == 1 { 1.0 } else { -1.0 };
        let sum: f64 = effects.iter().map(|(size, up)| size * sign(*up)).sum();
        (0..n).map(|s| (1e6 * libm::exp(sum + sample * sign(s / 50 % 2))) as u32).collect()
    }

    fn run(lengths: [usize; 2], reference: bool) -> Option<VarianceShares> {
        let mut builder = Builder::new();
        for mechanism in 0..2 {
            for (gap, samples_of) in lengths.into_iter().enumerate() {
                builder = builder.case(&id(mechanism, gap, ""), 6, move |round, t| {
                    let trial = (round % 2) as usize;
                    let effects = [(0.1, mechanism), (0.4, gap), (0.2, trial)];
                    t.wake(&samples(&effects, 0.2, samples_of), 1_000_000);
                });
            }
        }
        if reference {
            let spins = id(0, 0, "").replace("wait=block", "wait=spin");
            builder = builder.case(&spins, 6, |_, t| t.wake(&[70; 100], 1000));
        }
        builder.read().variance
    }

    fn check(found: &VarianceShares) {
        // Squares of the effects: 1 + 16 + 4 + 4 = 25.
        for (name, share) in [("mechanism", 0.04), ("gap", 0.64), ("trial", 0.16)] {
            assert!((found.shares[name] - share).abs() < 1e-4, "{name}: {found:?}");
        }
        assert!((found.residual - 0.16).abs() < 1e-4, "{found:?}");
        assert_eq!(found.shares.len(), 3, "what was not varied has no share: {found:?}");
    }

    #[test]
    fn known_shares_come_back() {
        let found = run([100, 100], false).unwrap();
        check(&found);
        assert_eq!(found.samples, 4 * 6 * 100);
    }

    #[test]
    fn what_is_touched_is_a_factor_of_its_own() {
        let mut builder = Builder::new();
        for mechanism in 0..2 {
            for (touch, more) in ["", "&touch=none"].into_iter().enumerate() {
                builder = builder.case(&id(mechanism, 0, more), 6, move |_, t| {
                    t.wake(&samples(&[(0.1, mechanism), (0.2, touch)], 0.2, 100), 1_000_000);
                });
            }
        }
        let found = builder.read().variance.unwrap();
        assert!((found.shares["touch"] - 4.0 / 9.0).abs() < 1e-4, "{found:?}");
        assert!((found.shares["mechanism"] - 1.0 / 9.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn medians_are_shared_out_among_mechanisms_gaps_and_both() {
        let of = |gaps: usize, rounds: u32| {
            let mut builder = Builder::new();
            for mechanism in 0..2 {
                for gap in 0..gaps {
                    builder = builder.case(&id(mechanism, gap, ""), rounds, move |round, t| {
                        let trial = (round % 2) as usize;
                        let both = usize::from(mechanism == gap);
                        let effects = [(0.1, mechanism), (0.4, gap), (0.2, trial), (0.3, both)];
                        t.wake(&samples(&effects, 0.0, 100), 1_000_000);
                    });
                }
            }
            builder.read().variance_of_medians
        };
        let found = of(2, 6);
        // Squares of the effects: 1 + 16 + 4 + 9 = 30.
        let wanted = [("mechanism", 1.0), ("gap", 16.0), ("trial", 4.0), ("mechanism × gap", 9.0)];
        for (name, part) in wanted {
            assert!((found[0].shares[name] - part / 30.0).abs() < 1e-4, "{name}: {found:?}");
        }
        assert!(found.len() == 1 && found[0].residual.abs() < 1e-9 && found[0].samples == 24);
        assert!(found[0].estimand.contains("2 mechanisms and 2 gaps of "), "{found:?}");
        assert_eq!(of(1, 6), []);
        // Of one trial a case, nothing is left for what a trial adds.
        assert_eq!(of(2, 1), []);
    }

    #[test]
    fn longer_trials_and_spinning_receivers_change_nothing() {
        check(&run([100, 140], false).unwrap());
        check(&run([100, 100], true).unwrap());
    }

    #[test]
    fn nothing_to_compare() {
        let one = Builder::new()
            .case(&id(0, 0, ""), 6, |_, t| t.wake(&samples(&[], 0.2, 100), 1000))
            .build();
        assert_eq!(read(&one).variance, None);
        assert_eq!(Builder::new().read().variance, None);
    }

    #[test]
    fn a_case_of_few_trials_does_not_shorten_the_others() {
        let mut builder = Builder::new();
        for mechanism in 0..2 {
            builder = builder.case(&id(mechanism, 0, ""), 8, move |_, t| {
                t.wake(&samples(&[(0.3, mechanism)], 0.3, 100), 1000);
            });
        }
        let raw = builder.case(&id(0, 1, ""), 2, |_, t| t.wake(&[9; 100], 9)).build();
        let found = read(&raw).variance.unwrap();
        assert_eq!(found.samples, 2 * 8 * 100);
        assert!((found.shares["mechanism"] - 0.5).abs() < 1e-4, "{found:?}");
    }
}
