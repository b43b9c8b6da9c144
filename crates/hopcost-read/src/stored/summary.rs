//! A run as far as other runs are compared with it.

use hopcost_model::case::Case;
use hopcost_model::finding::Validity;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::raw::RawRun;
use hopcost_model::results::{Applied, Statistic};
use hopcost_stats::sample::median;

use super::facts::Fact;
use crate::brief;
use crate::case::{self, Reading};
use crate::findings;
use crate::run::Run;
use crate::yardstick::{Adjustment, Basis};

/// What a comparison needs of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    pub(super) is_cut_off: bool,
    /// What disturbed it, in words.
    pub(super) disturbed: Option<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) cases: Vec<CaseSummary>,
}

/// A case that a run measured.
#[derive(Debug, Clone)]
pub struct CaseSummary {
    pub id: String,
    pub case: Case,
    /// What it is compared by.
    pub statistic: Statistic,
    /// The raw value.
    pub met_ns: f64,
    /// The same adjusted to the run's own speed.
    pub adjusted_ns: f64,
    /// Its yardstick with that speed; `None` of a case that does not follow one.
    pub speed: Option<(String, f64)>,
    pub is_invalid: bool,
    pub facts: Vec<Fact>,
}

impl RunSummary {
    /// Reads a run. `rust` are the mechanisms of this binary, for files that say nothing of theirs.
    /// Cases are compared by `statistic`, or by what the ladder shows where there is none.
    pub fn of(raw: &RawRun, rust: &[Mechanism], statistic: Option<Statistic>) -> Self {
        let run = Run::new(raw, rust);
        let readings = case::read(&run);
        let run_wide = findings::of_run(&run, &readings);
        let drifts = findings::drifts(&readings);
        let of_case = |reading: &Reading| {
            let validity = findings::of_case(&run, reading, &run_wide, &drifts).1;
            let case = CaseSummary::of(&run, reading, statistic)?;
            Some(CaseSummary { is_invalid: validity == Some(Validity::Invalid), ..case })
        };
        Self {
            id: raw.about.id.clone(),
            started: raw.about.started.clone(),
            is_cut_off: raw.about.ended.is_none(),
            disturbed: brief::disturbed(&run.yardsticks.levels, &run_wide),
            facts: Fact::of_run(raw),
            cases: readings.iter().filter_map(of_case).collect(),
        }
    }

    /// The cases that have a value, and whether it is invalid.
    pub fn measured(&self) -> impl Iterator<Item = (&Case, bool)> {
        self.cases.iter().map(|case| (&case.case, case.is_invalid))
    }
}

impl CaseSummary {
    /// `None` of a case without a value, or with an upper bound alone.
    fn of(run: &Run, reading: &Reading, statistic: Option<Statistic>) -> Option<Self> {
        let case = reading.case;
        let estimates = reading.result.estimates.as_ref()?;
        let (statistic, estimate) = match statistic {
            Some(statistic) => (statistic, estimates.get(statistic)?),
            None => estimates.headline()?,
        };
        let value_ns = estimate.point.filter(|ns| !estimate.at_most && *ns > 0.0)?;
        let adjusted_ns = value_ns * median(&reading.values())? / reading.headline()?.point?;
        let basis = run.doubt(reading.index as usize).map(|doubt| doubt.basis);
        Some(Self {
            id: case.id(),
            statistic,
            // As it stands first.
            met_ns: if matches!(basis, Some(Basis::Fast(_))) { adjusted_ns } else { value_ns },
            adjusted_ns,
            speed: speed(run, reading, case),
            is_invalid: false,
            facts: Fact::of_case(run, case),
            case: case.clone(),
        })
    }
}

/// The yardstick that a case follows, with its speed in this run.
fn speed(run: &Run, reading: &Reading, case: &Case) -> Option<(String, f64)> {
    let read = reading.trials.iter().find_map(|trial| trial.yardsticks.first())?;
    let yardstick = run.raw.yardsticks.get(read.yardstick as usize)?;
    let runtime = case.runtimes.to_string();
    let mut decided = run.yardsticks.adjustments.iter();
    let is_it = |of: &&Adjustment| (of.class, &of.runtime) == (yardstick.class, &runtime);
    let follows = matches!(decided.find(is_it)?.applied, Applied::Divided | Applied::NotNeeded);
    let mut levels = run.yardsticks.levels.iter();
    let level = levels.find(|of| (&of.case, &of.cpus) == (&yardstick.case, &yardstick.cpus))?;
    follows.then(|| (yardstick.case.clone(), level.own_ns))
}
