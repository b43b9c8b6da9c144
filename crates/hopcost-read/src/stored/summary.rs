//! A run as far as other runs are compared with it.

use hopcost_model::case::{Boundary, Case, Ends, Runtime};
use hopcost_model::finding::Validity;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::raw::{RawRun, YardstickClass};
use hopcost_model::results::{Across, Applied, Statistic};
use hopcost_stats::sample::median;

use super::facts::Fact;
use crate::case::{self, Reading};
use crate::findings;
use crate::run::Run;
use crate::trial::{DECILES, deciles_ns};

/// What a comparison needs of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    pub(super) is_cut_off: bool,
    pub(super) facts: Vec<Fact>,
    pub(super) cases: Vec<CaseSummary>,
}

/// A case that a run measured.
#[derive(Debug, Clone)]
pub struct CaseSummary {
    pub id: String,
    pub case: Case,
    /// That of the yardstick beside its trials.
    pub class: Option<YardstickClass>,
    /// What it is compared by.
    pub statistic: Statistic,
    pub at_reference: Values,
    pub as_met: Values,
    /// Its yardstick with the level that `at_reference` is in relation to; `None` where the values are as met.
    pub reference: Option<(String, f64)>,
    pub is_invalid: bool,
    pub facts: Vec<Fact>,
}

/// What it took.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    pub value_ns: f64,
    /// Medians over trials of their deciles, where operations were timed singly.
    pub deciles_ns: Option<[f64; DECILES.len()]>,
}

impl RunSummary {
    /// Reads a run. `rust` are the mechanisms of this binary, for files that say nothing of theirs.
    /// Cases are compared by `statistic`, or by what the ladder shows where there is none.
    pub fn of(raw: &RawRun, rust: &[Mechanism], statistic: Option<Statistic>) -> Self {
        let run = Run::new(raw, rust);
        let readings = case::read(&run);
        let run_wide = findings::of_run(&run, &readings);
        let drifts = findings::Drifts::of(&readings);
        let of_case = |reading: &Reading| {
            let validity = findings::of_case(&run, reading, &run_wide, &drifts).1;
            let case = CaseSummary::of(&run, reading, statistic)?;
            Some(CaseSummary { is_invalid: validity == Some(Validity::Invalid), ..case })
        };
        Self {
            id: raw.about.id.clone(),
            started: raw.about.started.clone(),
            is_cut_off: raw.about.ended.is_none(),
            facts: Fact::of_run(raw),
            cases: readings.iter().filter_map(of_case).collect(),
        }
    }

    /// The same run, of these of its cases alone.
    pub fn with_cases_of(&self, ids: &[String]) -> Self {
        let cases = self.cases.iter().filter(|case| ids.contains(&case.id)).cloned().collect();
        Self { cases, ..self.clone() }
    }

    /// The cases that have a value, and whether it is invalid.
    pub fn measured(&self) -> impl Iterator<Item = (&Case, bool)> {
        self.cases.iter().map(|case| (&case.case, case.is_invalid))
    }
}

impl CaseSummary {
    /// `None` of a case without a value, or that cannot be told from the empty loop.
    fn of(run: &Run, reading: &Reading, statistic: Option<Statistic>) -> Option<Self> {
        let case = reading.case?;
        let estimates = reading.result.estimates.as_ref()?;
        let (statistic, estimate) = match statistic {
            Some(statistic) => (statistic, estimates.get(statistic)?),
            None => estimates.headline()?,
        };
        let value_ns = estimate.point.filter(|ns| !estimate.at_most && *ns > 0.0)?;
        let (class, reference) = yardstick(run, reading, case);
        let deciles = |at_reference: bool| {
            let of = |trial: &&hopcost_model::raw::RawTrial| {
                let factor = run.factor(trial).filter(|_| at_reference).unwrap_or(1.0);
                Some(deciles_ns(trial, run.raw.clock(trial)?)?.map(|ns| ns / factor))
            };
            let trials: Vec<[f64; DECILES.len()]> = reading.trials.iter().filter_map(of).collect();
            let middle = |at: usize| median(&trials.iter().map(|of| of[at]).collect::<Vec<_>>());
            let mut deciles = [0.0; DECILES.len()];
            for (at, decile) in deciles.iter_mut().enumerate() {
                *decile = middle(at)?;
            }
            Some(deciles)
        };
        let as_met_ns = estimate.as_met.unwrap_or(value_ns);
        Some(Self {
            id: case.id(),
            class,
            statistic,
            at_reference: Values { value_ns, deciles_ns: deciles(true) },
            as_met: Values { value_ns: as_met_ns, deciles_ns: deciles(false) },
            reference,
            is_invalid: false,
            facts: Fact::of_case(run, case),
            case: case.clone(),
        })
    }

    /// What has to be the same of two cases that are compared.
    pub fn key(&self, across: &[Across]) -> String {
        let mut case = self.case.clone();
        for axis in across {
            match axis {
                Across::Placement => case.placement = None,
                Across::Runtime => case.runtimes = Ends::both(Runtime::RUST),
                Across::Boundary => case.boundary = Boundary::Inline,
                _ => {}
            }
        }
        case.id()
    }
}

/// The yardstick beside the trials of a case: its class, and itself with its level where values are in
/// relation to that.
fn yardstick(
    run: &Run,
    reading: &Reading,
    case: &Case,
) -> (Option<YardstickClass>, Option<(String, f64)>) {
    let read = reading.trials.iter().find_map(|trial| trial.yardsticks.first());
    let found = read.and_then(|read| run.raw.yardsticks.get(read.yardstick as usize));
    let Some(found) = found else { return (None, None) };
    let runtime = case.runtimes.to_string();
    let mut decided = run.yardsticks.adjustments.iter();
    let decided = decided.find(|one| one.class == found.class && one.runtime == runtime);
    let is_in_relation =
        decided.is_some_and(|one| matches!(one.applied, Applied::Divided | Applied::NotNeeded));
    let reference = found.reference.as_ref().filter(|_| is_in_relation);
    let reference = reference.map(|reference| (found.case.clone(), reference.operation_ns));
    (Some(found.class), reference)
}
