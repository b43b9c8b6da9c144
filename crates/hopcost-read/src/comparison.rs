//! What a live comparison found, from its blocks alone: neither yardsticks nor other cases have a
//! part in it. A block in which a trial of either case failed is left out.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{
    ComparisonPlan, Contrast, ROUNDS_A_BLOCK, RawRun, RawTrial, Verdict, document,
};
use hopcost_stats::contrast::{self, LogRatio, Region, contrast, contrasts};
use hopcost_stats::sample::median;

use crate::ratio::shown;
use crate::trial::{Family, headline_ns};

document! {
    /// A comparison of cases in blocks of adjacent trials.
    #[derive(Default)]
    pub struct Comparison {
        /// Cases within this share of each other count as equal.
        pub margin: f64,
        /// Blocks made, …
        pub blocks: u32,
        /// … of those planned.
        pub blocks_planned: u32,
        /// Seconds from the first trial to the end of the last.
        pub took_s: f64,
        /// The baseline once more, compared with itself.
        pub copy: Compared,
        /// Why none of it counts; `null` where it does.
        pub invalid: Option<String>,
        /// The others, in the order in which they were named.
        pub compared: Vec<Compared>,
    }

    /// A case compared with the baseline.
    #[derive(Default)]
    pub struct Compared {
        /// The case.
        pub case: String,
        /// The case that it is compared with: another, or the same in other runs.
        pub baseline: String,
        /// Its time over the baseline's; `null` where nothing measured both. Where the speeds of
        /// stored runs differ by more than 5 %, it is adjusted for that.
        pub contrast: Option<Contrast>,
        /// The ratio of the raw times, if `contrast` is adjusted; else `null`.
        pub met_ratio: Option<f64>,
        /// What it took: median over trials; of stored runs, the middle of their values.
        pub value_ns: Option<f64>,
        /// What the baseline took.
        pub baseline_ns: Option<f64>,
        /// The side whose case it is, where several are compared with the baseline.
        pub side: Option<String>,
        /// What a second measurement found, where the case looked slower; absent without one.
        pub again: Option<Box<Compared>>,
    }
}

impl Compared {
    /// A case that nothing measured.
    pub fn unmeasured(case: &str) -> Self {
        Self { case: case.to_owned(), baseline: case.to_owned(), ..Self::default() }
    }

    /// Whether each measurement of it gave a value.
    pub fn is_measured(&self) -> bool {
        self.contrast.is_some() && self.again.as_ref().is_none_or(|again| again.contrast.is_some())
    }

    /// Whether the first measurement shows it slower by more than the margin.
    pub fn looks_slower(&self) -> bool {
        self.contrast.and_then(|of| of.side()) == Some(Ordering::Greater)
    }

    /// Whether every measurement does.
    pub fn is_slower(&self) -> bool {
        self.looks_slower() && self.again.as_ref().is_none_or(|again| again.looks_slower())
    }

    /// Whether it may be slower by more than the margin, and that is not decided.
    pub fn is_open(&self, margin: f64) -> bool {
        let reaches = |of: Contrast| of.high.is_none_or(|high| high >= 1.0 + margin);
        let is_undecided = |of: Contrast| of.verdict == Verdict::Open && reaches(of);
        self.looks_slower() && !self.is_slower() || self.contrast.is_some_and(is_undecided)
    }
}

/// The one-sided error with which a baseline differs from itself.
const ERROR_OF_COPY: f64 = 0.005;
/// The baseline's place in the plan, and that of its copy.
const BASELINE: u32 = 0;
const COPY: u32 = 1;

/// The headline of each trial, by its case and round.
type Values = BTreeMap<(u32, u32), f64>;

/// What is known of a comparison, before it is put into words.
struct Known<'a> {
    raw: &'a RawRun,
    plan: &'a ComparisonPlan,
    values: Values,
    made: u32,
    planned: u32,
    copy: Option<LogRatio>,
    /// Those of each case that is compared, with its place in the plan.
    compared: Vec<(u32, Option<LogRatio>)>,
}

/// What a comparison found; `None` of any other run.
pub fn of_run(raw: &RawRun, took_s: f64) -> Option<Comparison> {
    let known = Known::of(raw)?;
    let mut found = known.contrasts().into_iter();
    let compared = known.compared.iter();
    let compared =
        compared.map(|(case, of)| known.told(*case, of.and_then(|_| found.next()))).collect();
    let margin = Region::around(known.margin());
    let copy = |region| known.copy.map(|of| contrast(&of, region, ERROR_OF_COPY));
    let differs = copy(Region::EQUAL).is_some_and(|of| of.verdict == Verdict::Outside);
    let copy = known.told(COPY, copy(margin));
    let invalid = match (copy.baseline_ns, differs) {
        (None, _) => Some("the baseline was never measured".to_owned()),
        (_, true) => Some(
            "the baseline differs from itself, so no other difference counts; compare again while \
             nothing else runs"
                .to_owned(),
        ),
        _ => None,
    };
    Some(Comparison {
        margin: known.plan.margin,
        blocks: known.made,
        blocks_planned: known.planned,
        took_s,
        copy,
        invalid,
        compared,
    })
}

/// Whether further blocks would change no answer of a comparison that is under way.
pub fn is_settled(raw: &RawRun) -> bool {
    Known::of(raw).is_some_and(|known| contrast::is_settled(&known.contrasts(), known.margin()))
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun) -> Option<Self> {
        let plan = raw.plan.comparison.as_ref()?;
        let values = values(raw);
        let rounds: BTreeSet<u32> = raw.trials.iter().map(|trial| trial.round).collect();
        let firsts = rounds.iter().filter(|round| round.is_multiple_of(ROUNDS_A_BLOCK));
        let cases: Vec<u32> = (COPY..raw.plan.cases.len() as u32).collect();
        let mut ratios = ratios(&cases, &values, &firsts.copied().collect()).into_iter();
        Some(Self {
            raw,
            plan,
            made: rounds.len() as u32 / ROUNDS_A_BLOCK,
            planned: raw.plan.rounds / ROUNDS_A_BLOCK,
            copy: ratios.next().flatten(),
            compared: cases.into_iter().skip(1).zip(ratios).collect(),
            values,
        })
    }

    fn margin(&self) -> f64 {
        libm::log1p(self.plan.margin)
    }

    /// Of those that have blocks.
    fn contrasts(&self) -> Vec<contrast::Contrast> {
        let of: Vec<&LogRatio> = self.compared.iter().filter_map(|(_, of)| of.as_ref()).collect();
        let error = contrast::error_at(self.made, self.planned);
        contrasts(&of, Region::around(self.margin()), error)
    }

    fn median_ns(&self, case: u32) -> Option<f64> {
        median(self.values.range((case, 0)..=(case, u32::MAX)).map(|(_, value)| value))
    }

    fn told(&self, case: u32, found: Option<contrast::Contrast>) -> Compared {
        let id = |case| self.raw.plan.case(case).map_or(String::new(), |case| case.id());
        Compared {
            baseline: id(BASELINE),
            contrast: found.map(|found| shown(&found)),
            value_ns: self.median_ns(case),
            baseline_ns: self.median_ns(BASELINE),
            ..Compared::unmeasured(&id(case))
        }
    }
}

/// The ratios of cases to the baseline, from their values in each round and the first round of each block.
fn ratios(cases: &[u32], values: &Values, blocks: &BTreeSet<u32>) -> Vec<Option<LogRatio>> {
    let log = |case, round| Some(libm::log(*values.get(&(case, round))?));
    let mean = |case, first| Some(f64::midpoint(log(case, first)?, log(case, first + 1)?));
    let ratio = |case, first: &u32| Some(mean(case, *first)? - mean(BASELINE, *first)?);
    let logs = |case: &u32| blocks.iter().filter_map(|first| ratio(*case, first)).collect();
    let logs: Vec<Vec<f64>> = cases.iter().map(logs).collect();
    let logs: Vec<&[f64]> = logs.iter().map(Vec::as_slice).collect();
    LogRatio::pooled(&logs, logs.len())
}

/// The headline of each trial, by its case and round. Single operations and batches share no
/// column: those that are stamped otherwise than the first trial of the baseline are left out.
fn values(raw: &RawRun) -> Values {
    let family = |trial: &RawTrial| Some(Family::of(trial.stamp?));
    let first = raw.trials.iter().filter(|trial| trial.case == BASELINE && trial.error.is_none());
    let first = first.filter_map(family).next();
    let value = |trial: &RawTrial| {
        let clock = raw.clock(trial).filter(|clock| clock.ticks_per_second > 0.0)?;
        let value = headline_ns(raw.plan.case(trial.case)?, trial, clock)?;
        Some(((trial.case, trial.round), value))
    };
    raw.trials.iter().filter(|trial| family(trial) == first).filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, FUTEX, PIPE, TCP, read, survive_nonsense};

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
        let (one, of) = (&all.compared[0], all.compared[0].contrast.unwrap());
        assert_eq!((all.blocks, all.blocks_planned, of.n), (20, 20, 20));
        assert_eq!((one.baseline.as_str(), one.case.as_str()), (PIPE, TCP));
        assert!(one.is_slower() && (of.ratio - 1.05).abs() < 1e-3, "{one:?}");
        assert!(of.low.unwrap() > 1.04 && of.high.unwrap() < 1.06);
        let copy = all.copy.contrast.unwrap().verdict;
        assert_eq!((copy, all.copy.case.as_str()), (Verdict::Inside, PIPE));
        assert_eq!((all.invalid, is_settled(&raw)), (None, true));
        for (other, verdict) in [(0.94, Verdict::Outside), (1.01, Verdict::Inside)] {
            let one = found(&compared(20, 20, 1.0, other)).compared.remove(0);
            assert!(one.contrast.unwrap().verdict == verdict && !one.looks_slower(), "{one:?}");
        }
    }

    #[test]
    fn a_baseline_that_differs_from_itself_makes_all_invalid() {
        let all = found(&compared(20, 20, 1.02, 1.05));
        assert!(all.invalid.unwrap().contains("differs from itself"));
        let copy = all.copy.contrast.unwrap().verdict;
        assert_eq!(copy, Verdict::Inside, "within the margin all the same");
    }

    #[test]
    fn a_block_with_a_failed_trial_is_left_out() {
        let mut raw = compared(20, 20, 1.0, 1.05);
        let failed = raw.trials.iter_mut().find(|trial| trial.case == 2 && trial.round == 7);
        failed.unwrap().error = Some("it hung".into());
        let all = found(&raw);
        let blocks = |of: &Compared| of.contrast.unwrap().n;
        assert_eq!((blocks(&all.compared[0]), blocks(&all.copy)), (19, 20));
        raw.trials.iter_mut().for_each(|trial| trial.error = Some("it hung".into()));
        let none = found(&raw);
        assert!(none.invalid.unwrap().contains("never measured"));
        assert_eq!(none.compared[0].contrast, None);
    }

    #[test]
    fn nonsense_in_a_file_is_read_without_a_panic() {
        survive_nonsense(&compared(20, 20, 1.0, 1.05), |raw| drop(found(raw)));
    }
}
