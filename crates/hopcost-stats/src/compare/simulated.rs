//! Comparisons on simulated hosts: how often the answer is wrong, and how often there is one.

use super::{Answer, ERROR, ERROR_OF_COPY, LogRatio, Verdict, answers, is_settled, looks};
use crate::hosts::{Host, Statistic, levels, run};
use crate::rng::Rng;
use crate::sample::median;

/// From the start of a trial to that of the next, in seconds.
const BETWEEN_S: f64 = 0.045;
/// What a trial adds of its own: neighbours' ratio then spreads by 5 %.
const OWN: f64 = 0.035;
/// One trial in so many is disturbed, …
const DISTURBED_OF: u64 = 30;
/// … and this much slower.
const DISTURBED_BY: f64 = 0.3;

/// A kind of comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    pub host: Host,
    /// By which share the second case is slower.
    pub effect: f64,
    /// The margin, as a share.
    pub margin: f64,
    /// Blocks planned, or runs a side.
    pub planned: u32,
}

/// Trials of a case in a stored run, as `hopcost run` makes them.
const TRIALS: usize = 15;
/// What all trials of a run have in common besides the host's state: SD of a logarithm.
const OF_RUN: f64 = 0.008;

/// The shares of the comparisons that ended so.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    /// Told to be faster.
    pub faster: f64,
    /// Told to be slower.
    pub slower: f64,
    /// Told to be equivalent.
    pub equivalent: f64,
    /// The interval does not hold the truth.
    pub missed: f64,
    /// The baseline is told to differ from itself.
    pub invalid: f64,
    /// Mean share of the planned blocks that were made.
    pub made: f64,
}

/// The hosts and effects of the published table, at this margin and of so many planned blocks.
pub fn table(margin: f64, planned: u32) -> Vec<Cell> {
    let effects = [0.0, 0.05, 0.1];
    let cells = Host::ALL.iter().flat_map(|&host| effects.map(|effect| (host, effect)));
    cells.map(|(host, effect)| Cell { host, effect, margin, planned }).collect()
}

/// Makes so many comparisons, each of a baseline, its copy and a case.
pub fn simulate(cell: &Cell, runs: usize, seed: u64) -> Shares {
    let mut rng = Rng::new(seed);
    let mut sums = Shares::default();
    let one = 1.0 / runs.max(1) as f64;
    let effect = libm::log1p(cell.effect);
    let margin = libm::log1p(cell.margin);
    for _ in 0..runs {
        let (logs, copies) = blocks(cell.host, effect, cell.planned, &mut rng);
        for (made, error) in looks(cell.planned) {
            let Some(of) = LogRatio::of_blocks(&logs[..made as usize]) else { break };
            let answer = answers(&[&of], margin, error);
            if made < cell.planned && !is_settled(&answer, margin) {
                continue;
            }
            sums.count(&answer[0], effect, one);
            let copy = LogRatio::of_blocks(&copies[..made as usize]);
            sums.invalid +=
                if copy.is_some_and(|of| of.differs(ERROR_OF_COPY)) { one } else { 0.0 };
            sums.made += one * f64::from(made) / f64::from(cell.planned);
            break;
        }
    }
    sums
}

/// Makes so many comparisons of stored runs, `planned` of them a side.
pub fn simulate_runs(cell: &Cell, comparisons: usize, seed: u64) -> Shares {
    let mut rng = Rng::new(seed);
    let mut sums = Shares { made: 1.0, ..Shares::default() };
    let effect = libm::log1p(cell.effect);
    for _ in 0..comparisons {
        let mut side = |effect: f64| -> Vec<f64> {
            (0..cell.planned).map(|_| effect + value_of_run(cell.host, &mut rng)).collect()
        };
        let (baseline, other) = (side(0.0), side(effect));
        let Some(of) = LogRatio::of_runs(&baseline, &other) else { break };
        let answer = answers(&[&of], libm::log1p(cell.margin), ERROR);
        sums.count(&answer[0], effect, 1.0 / comparisons as f64);
    }
    sums
}

/// The logarithm of a run's value: the median over its trials, each in relation to the two readings of the yardstick
/// beside it.
fn value_of_run(host: Host, rng: &mut Rng) -> f64 {
    let seen = run(host, Statistic::P50, 1.0, TRIALS, rng);
    let beside = seen.values.iter().zip(&seen.readings);
    let values = beside.map(|(value, read)| value - f64::midpoint(read.before, read.after));
    median(&values.collect::<Vec<f64>>()).unwrap_or(0.0) + OF_RUN * rng.normal()
}

impl Shares {
    fn count(&mut self, answer: &Answer, effect: f64, one: f64) {
        match answer.verdict {
            Verdict::Faster => self.faster += one,
            Verdict::Slower => self.slower += one,
            Verdict::Equivalent => self.equivalent += one,
            Verdict::Inconclusive => {}
        }
        let held = answer.interval.is_none_or(|(low, high)| low <= effect && effect <= high);
        self.missed += if held { 0.0 } else { one };
    }
}

/// The logarithms of the case's ratio to the baseline, and of the copy's, one a block.
pub(crate) fn blocks(host: Host, effect: f64, blocks: u32, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let levels = levels(host, Statistic::P50, 6 * blocks as usize, BETWEEN_S, rng);
    let values: Vec<f64> = levels
        .iter()
        .map(|level| {
            let disturbed = if rng.below(DISTURBED_OF) == 0 { DISTURBED_BY } else { 0.0 };
            level.of_value + OWN * rng.normal() + disturbed
        })
        .collect();
    let mut of = |block: &[f64]| {
        let mut order = [0, 1, 2];
        for last in [2, 1] {
            order.swap(last, rng.below(last as u64 + 1) as usize);
        }
        // The second half goes through the order backwards.
        let mean = |arm: usize| f64::midpoint(block[order[arm]], block[5 - order[arm]]);
        (effect + mean(2) - mean(0), mean(1) - mean(0))
    };
    values.chunks_exact(6).map(&mut of).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_cases_are_told_apart_no_more_often_than_is_said() {
        for cell in table(0.03, 40).iter().filter(|cell| cell.effect == 0.0) {
            let got = simulate(cell, 200, 1);
            assert!(got.faster + got.slower <= 0.02, "{cell:?} {got:?}");
            // 5 % and 1 %, with three standard errors.
            assert!(got.missed <= 0.1 && got.invalid <= 0.035, "{cell:?} {got:?}");
        }
    }

    #[test]
    fn identical_runs_are_told_apart_no_more_often_than_is_said_and_no_more_seldom() {
        let (mut missed, cells) = (0.0, table(0.03, 5));
        let same: Vec<&Cell> = cells.iter().filter(|cell| cell.effect == 0.0).collect();
        for cell in &same {
            let got = simulate_runs(cell, 200, 3);
            assert!(got.faster + got.slower <= 0.02, "{cell:?} {got:?}");
            missed += got.missed / same.len() as f64;
        }
        // 8 of the 252 orders of five and five are that rare: 3.2 %, with three standard errors.
        assert!((0.017..=0.046).contains(&missed), "{missed}");
    }

    #[test]
    fn a_tenth_is_found_over_runs_of_every_host() {
        for cell in table(0.03, 8).iter().filter(|cell| cell.effect == 0.1) {
            let got = simulate_runs(cell, 50, 4);
            assert!(got.slower >= 0.9 && got.faster == 0.0, "{cell:?} {got:?}");
        }
    }

    #[test]
    fn a_tenth_is_found_on_every_host() {
        for cell in table(0.03, 72).iter().filter(|cell| cell.effect == 0.1) {
            let got = simulate(cell, 50, 2);
            // A host that is half as slow again for a tenth of a second now and then is so for
            // one half of most blocks.
            let least = if cell.host == Host::TwoStates(0.1) { 0.5 } else { 0.9 };
            assert!(got.slower >= least, "{cell:?} {got:?}");
        }
    }
}
