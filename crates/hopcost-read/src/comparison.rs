//! What a live comparison found, from its blocks alone: neither yardsticks nor other cases have a
//! part in it. A block in which a trial of either case failed is left out.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::Case;
use hopcost_model::plan::{ComparisonPlan, ROUNDS_A_BLOCK};
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::results::{Compared, Comparison, Shift, Verdict};
use hopcost_stats::compare::{self, Answer, ERROR, ERROR_OF_COPY, LogRatio};
use hopcost_stats::sample::median;

use crate::trial::{DECILES, Family, deciles_ns, headline_ns};

/// The baseline's place in the plan, and that of its copy.
const BASELINE: u32 = 0;
const COPY: u32 = 1;

/// What is known of a comparison, before it is put into words.
struct Known<'a> {
    plan: &'a ComparisonPlan,
    /// The headline of each trial, by its case and round.
    values: BTreeMap<(u32, u32), f64>,
    made: u32,
    planned: u32,
    copy: Option<LogRatio>,
    /// Those of each case that is compared, with its place in the plan.
    compared: Vec<(u32, Option<LogRatio>)>,
}

/// What a comparison found; `None` of any other run.
pub fn of_run(raw: &RawRun, took_s: f64) -> Option<Comparison> {
    let known = Known::of(raw)?;
    let mut answers = known.answers().into_iter();
    let (of_trials, firsts) =
        (values(raw, |_, trial, clock| deciles_ns(trial, clock)), firsts(raw));
    let deciles = |case: u32| {
        let of = |at: usize| {
            let value = |case, round| Some(of_trials.get(&(case, round))?[at]);
            Some(shift(DECILES[at], &ratio(case, &value, &firsts)?))
        };
        (0..DECILES.len()).filter_map(of).collect()
    };
    let compared = known.compared.iter().map(|(case, blocks)| {
        let answer = blocks.as_ref().and_then(|_| answers.next());
        let told = known.told(raw, *case, blocks.as_ref(), answer, took_s);
        Compared { deciles: deciles(*case), ..told }
    });
    let compared = compared.collect();
    let of_copy = known.copy.as_ref();
    let answer = of_copy.map(|copy| compare::answers(&[copy], known.margin(), ERROR_OF_COPY)[0]);
    let copy = known.told(raw, COPY, of_copy, answer, took_s);
    let differs = of_copy.is_some_and(|copy| copy.differs(ERROR_OF_COPY));
    let measured = known.median_ns(BASELINE);
    let invalid = match (measured, differs) {
        (None, _) => Some("the baseline was never measured".to_owned()),
        (_, true) => Some(
            "the baseline differs from itself, so what else differs is no evidence; compare again, \
             on a machine that is left alone"
                .to_owned(),
        ),
        _ => None,
    };
    Some(Comparison {
        margin: known.plan.margin,
        blocks: known.made,
        blocks_planned: known.planned,
        took_s,
        baseline: copy.case.clone(),
        baseline_ns: measured,
        copy,
        invalid,
        compared,
    })
}

/// Whether further blocks would change no answer of a comparison that is under way.
pub fn is_settled(raw: &RawRun) -> bool {
    Known::of(raw).is_some_and(|known| compare::is_settled(&known.answers(), known.margin()))
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun) -> Option<Self> {
        let plan = raw.plan.comparison.as_ref()?;
        let values = values(raw, headline_ns);
        let rounds: BTreeSet<u32> = raw.trials.iter().map(|trial| trial.round).collect();
        let firsts = firsts(raw);
        let blocks =
            |case: u32| ratio(case, &|case, round| values.get(&(case, round)).copied(), &firsts);
        let cases = u32::try_from(raw.plan.cases.len()).unwrap_or(0);
        Some(Self {
            plan,
            made: rounds.len() as u32 / ROUNDS_A_BLOCK,
            planned: raw.plan.rounds / ROUNDS_A_BLOCK,
            copy: blocks(COPY),
            compared: (COPY + 1..cases).map(|case| (case, blocks(case))).collect(),
            values,
        })
    }

    fn margin(&self) -> f64 {
        libm::log1p(self.plan.margin)
    }

    /// Of those that have blocks.
    fn answers(&self) -> Vec<Answer> {
        let blocks: Vec<&LogRatio> =
            self.compared.iter().filter_map(|(_, blocks)| blocks.as_ref()).collect();
        let error = compare::error_at(self.made, self.planned);
        compare::answers(&blocks, self.margin(), error)
    }

    fn median_ns(&self, case: u32) -> Option<f64> {
        let own = self.values.range((case, 0)..=(case, u32::MAX)).map(|(_, value)| *value);
        median(&own.collect::<Vec<f64>>())
    }

    fn told(
        &self,
        raw: &RawRun,
        case: u32,
        blocks: Option<&LogRatio>,
        answer: Option<Answer>,
        took_s: f64,
    ) -> Compared {
        let more = answer.and_then(|answer| answer.n_to_decide);
        let block_s = took_s / f64::from(self.made.max(1));
        let id = raw.plan.cases.get(case as usize).map_or(String::new(), |case| case.id());
        Compared {
            value_ns: self.median_ns(case),
            seconds_to_decide: more.map(|blocks| f64::from(blocks) * block_s),
            ..compared(id, blocks, answer)
        }
    }
}

/// What is known of a case that has no value.
pub fn unmeasured(case: &str) -> Compared {
    compared(case.to_owned(), None, None)
}

/// What an answer says of a case, and nothing that the way of comparing brings besides.
pub(crate) fn compared(case: String, of: Option<&LogRatio>, answer: Option<Answer>) -> Compared {
    let interval = answer.and_then(|answer| answer.interval);
    Compared {
        case,
        verdict: answer.map_or(Verdict::Inconclusive, |answer| word(answer.verdict)),
        ratio: answer.map(|answer| libm::exp(answer.point)),
        low: interval.map(|(low, _)| libm::exp(low)),
        high: interval.map(|(_, high)| libm::exp(high)),
        coverage: answer.map_or(0.0, |answer| 1.0 - 2.0 * answer.error),
        value_ns: None,
        n_blocks: of.map_or(0, |of| of.n() as u32),
        blocks_to_decide: answer.and_then(|answer| answer.n_to_decide),
        seconds_to_decide: None,
        deciles: Vec::new(),
        runs: None,
        again: None,
    }
}

/// A decile with a band that holds all of them together.
pub(crate) fn shift(q: f64, ratio: &LogRatio) -> Shift {
    let band = ratio.interval(ERROR / DECILES.len() as f64);
    Shift {
        q,
        ratio: libm::exp(ratio.point()),
        low: band.map(|(low, _)| libm::exp(low)),
        high: band.map(|(_, high)| libm::exp(high)),
    }
}

fn word(verdict: compare::Verdict) -> Verdict {
    match verdict {
        compare::Verdict::Faster => Verdict::Faster,
        compare::Verdict::Slower => Verdict::Slower,
        compare::Verdict::Equivalent => Verdict::Equivalent,
        compare::Verdict::Inconclusive => Verdict::Inconclusive,
    }
}

/// The ratio of a case to the baseline, from their values in each round.
fn ratio(
    case: u32,
    value: &dyn Fn(u32, u32) -> Option<f64>,
    blocks: &BTreeSet<u32>,
) -> Option<LogRatio> {
    let log = |case, round| Some(libm::log(value(case, round)?));
    let mean = |case, first| Some(f64::midpoint(log(case, first)?, log(case, first + 1)?));
    let ratio = |first: &u32| Some(mean(case, *first)? - mean(BASELINE, *first)?);
    LogRatio::of_blocks(&blocks.iter().filter_map(ratio).collect::<Vec<f64>>())
}

/// A value of each trial, by its case and round. Single operations and batches share no
/// column: those that are stamped otherwise than the first trial of the baseline are left out.
fn values<V>(
    raw: &RawRun,
    of: impl Fn(&Case, &RawTrial, &ClockReading) -> Option<V>,
) -> BTreeMap<(u32, u32), V> {
    let family = |trial: &RawTrial| Some(Family::of(trial.stamp?));
    let first = raw.trials.iter().filter(|trial| trial.case == BASELINE && trial.error.is_none());
    let first = first.filter_map(family).next();
    let value = |trial: &RawTrial| {
        let clock = raw.clock(trial).filter(|clock| clock.ticks_per_second > 0.0)?;
        let value = of(raw.plan.case(trial.case)?, trial, clock)?;
        Some(((trial.case, trial.round), value))
    };
    raw.trials.iter().filter(|trial| family(trial) == first).filter_map(value).collect()
}

/// The first round of each block.
fn firsts(raw: &RawRun) -> BTreeSet<u32> {
    let rounds = raw.trials.iter().map(|trial| trial.round);
    rounds.filter(|round| round.is_multiple_of(ROUNDS_A_BLOCK)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, FUTEX, PIPE, TCP, read};

    /// So many blocks of a case, its copy and another, which take so many times the case's time and
    /// spread by 1 % from block to block; in every block the host has another speed.
    fn compared(blocks: u32, planned: u32, copy: f64, other: f64) -> RawRun {
        let host_ns = |round: u32| 1e6 * (1.0 + 0.3 * f64::from(round / 2 % 4));
        let spread = |round: u32| 1.0 + 0.005 * (f64::from(round / 2 % 5) - 2.0);
        let of = |factor: f64| move |round: u32| (host_ns(round) * spread(round) * factor) as u32;
        let (copy, other) = (of(copy), of(other));
        let rounds = 2 * blocks;
        let mut raw = Builder::new()
            .case(PIPE, rounds, |round, t| t.each(&[host_ns(round) as u32; 50]))
            .case(FUTEX, rounds, |round, t| t.each(&[copy(round); 50]))
            .case(TCP, rounds, |round, t| t.each(&[other(round); 50]))
            .build();
        raw.plan.rounds = 2 * planned;
        raw.plan.cases[1] = raw.plan.cases[0].clone();
        raw.plan.comparison = Some(ComparisonPlan { margin: 0.03 });
        raw
    }

    fn found(raw: &RawRun) -> Comparison {
        read(raw).comparison.unwrap()
    }

    #[test]
    fn a_run_is_compared_in_its_blocks() {
        let raw = compared(20, 20, 1.0, 1.05);
        let all = found(&raw);
        let one = &all.compared[0];
        assert_eq!((all.blocks, all.blocks_planned, one.n_blocks), (20, 20, 20));
        assert_eq!((one.verdict, one.case.as_str()), (Verdict::Slower, TCP));
        assert!((one.ratio.unwrap() - 1.05).abs() < 1e-3, "{one:?}");
        assert!(one.low.unwrap() > 1.04 && one.high.unwrap() < 1.06);
        assert_eq!((all.copy.verdict, all.copy.case.as_str()), (Verdict::Equivalent, PIPE));
        assert_eq!((all.invalid, is_settled(&raw)), (None, true));
        assert_eq!(found(&compared(20, 20, 1.0, 0.94)).compared[0].verdict, Verdict::Faster);
        assert_eq!(found(&compared(20, 20, 1.0, 1.01)).compared[0].verdict, Verdict::Equivalent);
    }

    #[test]
    fn what_is_not_known_yet_is_said_with_what_would_decide() {
        let raw = compared(4, 80, 1.0, 1.05);
        let all = found(&raw);
        let one = &all.compared[0];
        assert_eq!((one.verdict, one.low), (Verdict::Inconclusive, None));
        assert_eq!(one.blocks_to_decide, Some(6), "{one:?}");
        let seconds = one.seconds_to_decide.unwrap();
        assert!((seconds - all.took_s / 4.0 * 6.0).abs() < 1e-9);
        assert!(!is_settled(&raw));
    }

    #[test]
    fn a_baseline_that_differs_from_itself_makes_all_invalid() {
        let all = found(&compared(20, 20, 1.02, 1.05));
        assert!(all.invalid.unwrap().contains("differs from itself"));
        assert_eq!(all.copy.verdict, Verdict::Equivalent, "within the margin all the same");
    }

    #[test]
    fn a_block_with_a_failed_trial_is_left_out() {
        let mut raw = compared(20, 20, 1.0, 1.05);
        let failed = raw.trials.iter_mut().find(|trial| trial.case == 2 && trial.round == 7);
        failed.unwrap().error = Some("it hung".into());
        let all = found(&raw);
        assert_eq!((all.compared[0].n_blocks, all.copy.n_blocks), (19, 20));
        raw.trials.iter_mut().for_each(|trial| trial.error = Some("it hung".into()));
        let none = found(&raw);
        assert!(none.invalid.unwrap().contains("never measured") && none.baseline_ns.is_none());
        assert_eq!((none.compared[0].ratio, none.compared[0].n_blocks), (None, 0));
    }

    #[test]
    fn a_comparison_that_was_interrupted_is_not_to_be_resumed() {
        let mut raw = compared(2, 20, 1.0, 1.05);
        raw.trials.retain(|trial| trial.case != 2);
        let why = read(&raw).results[2].reason.clone().unwrap();
        assert!(why.contains("compare again") && !why.contains("resume"), "{why}");
        raw.plan.comparison = None;
        let why = read(&raw).results[2].reason.clone().unwrap();
        assert!(why.contains("resume it"), "{why}");
    }

    #[test]
    fn nonsense_in_a_file_is_read_without_a_panic() {
        let mut raw = compared(20, 20, 1.0, 1.05);
        raw.trials.iter_mut().step_by(3).for_each(|trial| trial.round = u32::MAX - trial.round);
        found(&raw);
        raw.plan.cases.truncate(1);
        found(&raw);
        raw.plan.comparison.as_mut().unwrap().margin = f64::NAN;
        raw.plan.rounds = 0;
        found(&raw);
        raw.plan.cases.clear();
        raw.trials.clear();
        found(&raw);
    }
}
