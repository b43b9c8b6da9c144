//! Stored runs beside others: the unit is the run. What differs between them comes first; where
//! nothing does but what was asked for, each case that both sides have is compared by its value,
//! adjusted for the speed at which each run met the machine.

pub mod facts;

use std::collections::BTreeMap;

use hopcost_model::group::{distinct, grouped};
use hopcost_model::text::count;
use hopcost_model::{Applied, Case, Mechanism, RawRun, Statistic, Validity, document};
use hopcost_stats::contrast::{ERROR, LogRatio, Region, contrasts};
use hopcost_stats::sample::median;
use hopcost_stats::yardstick::AWAY_MAX;

use crate::case::{self, Reading};
use crate::comparison::Compared;
use crate::ratio::shown;
use crate::run::Run;
use crate::stored::facts::{Across, Difference};
use crate::yardstick::{Adjustment, Basis};
use crate::{findings, remarks};
pub(crate) use facts::Fact;
pub use facts::fingerprint;

document! {
    /// Stored runs compared with others.
    #[derive(Default)]
    pub struct RunComparison {
        /// Cases within this share of each other count as equal.
        pub margin: f64,
        /// The runs of the baseline.
        pub baseline: Vec<ComparedRun>,
        /// The runs that are compared with it.
        pub other: Vec<ComparedRun>,
        /// What they may differ in.
        pub across: Vec<Across>,
        /// What they differ in.
        pub differences: Vec<Difference>,
        /// Further remarks, in words.
        pub remarks: Vec<String>,
        /// Each case that both sides have, in the order of the baseline's first run; of several
        /// sides, one after the other.
        pub compared: Vec<Compared>,
        /// Of each side, the geometric mean over its cases, where it is asked for.
        pub summary: Vec<Compared>,
        /// Cases that only the baseline has.
        pub only_baseline: Vec<String>,
        /// Cases that only the other side has.
        pub only_other: Vec<String>,
        /// The hosts, where fleets are compared: each host is a block, its two runs are the sides.
        pub hosts: Option<ComparedFleets>,
        /// The axis, where two cases are compared at each of its values.
        pub along: Option<Along>,
    }

    /// Two fleets whose hosts are compared one by one.
    pub struct ComparedFleets {
        /// Hosts that both have measured.
        pub n_hosts: u32,
        /// Hosts of the baseline alone.
        pub only_baseline: Vec<String>,
        /// Hosts of the other side alone.
        pub only_other: Vec<String>,
    }

    /// An axis along which two cases are compared.
    pub struct Along {
        /// Its key.
        pub axis: String,
        /// Where the other case becomes the faster one.
        pub crossings: Vec<Crossed>,
        /// What explains it, in words; `null` where no finding does.
        pub cause: Option<String>,
    }

    /// A change of which case is faster.
    #[derive(Copy, Eq)]
    pub struct Crossed {
        /// The last value at which the one is faster.
        pub after: u64,
        /// The first value at which the other is.
        pub until: u64,
        /// Whether the second case is the faster one from there on.
        pub second_is_faster: bool,
    }

    /// A run that was compared.
    pub struct ComparedRun {
        /// `baseline`, `other`, or the name of one of several sides.
        pub side: String,
        /// Its id.
        pub id: String,
        /// When it began, RFC 3339 in UTC.
        pub started: String,
    }
}

/// A comparison, or what its sides differ in besides what was asked for.
pub type Result<T> = std::result::Result<T, Vec<Difference>>;

/// What is asked of stored runs.
pub struct Asked<'a> {
    /// Cases within this share of each other count as equal.
    pub margin: f64,
    /// What the runs may differ in.
    pub across: &'a [Across],
    /// Whether each side's geometric mean over its cases is asked for.
    pub geomean: bool,
}

/// Runs under a name.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub name: &'a str,
    pub runs: &'a [RunSummary],
}

/// The values of a case on both sides, one a run that measured it.
type Pair<'a> = [Vec<&'a CaseSummary>; 2];

/// Compares the runs of a baseline with those of other sides.
pub fn of_runs(baseline: &[RunSummary], sides: &[Side], asked: &Asked) -> Result<RunComparison> {
    let all = || baseline.iter().chain(sides.iter().flat_map(|side| side.runs));
    let speeds = speeds(all());
    let mut known: Vec<Known> = Vec::new();
    let mut means: Vec<(Compared, LogRatio)> = Vec::new();
    let mut of = RunComparison {
        margin: asked.margin,
        baseline: Side { name: "baseline", runs: baseline }.briefly(),
        across: asked.across.to_vec(),
        ..RunComparison::default()
    };
    for side in sides {
        let (pairs, only) = paired([baseline, side.runs]);
        let facts = [0, 1].map(|at| {
            let runs = [baseline, side.runs][at].iter().flat_map(|run| &run.facts);
            let cases = pairs.iter().flat_map(move |pair| &pair[at]);
            runs.chain(cases.flat_map(|case| &case.facts)).collect()
        });
        let name = (sides.len() > 1).then(|| side.name.to_owned());
        of.other.extend(Side { name: name.as_deref().unwrap_or("other"), ..*side }.briefly());
        of.differences.extend(differences(facts));
        for (all, own) in [&mut of.only_baseline, &mut of.only_other].into_iter().zip(only) {
            all.extend(own.into_iter().map(str::to_owned));
        }
        let mut own: Vec<Known> =
            pairs.iter().filter_map(|pair| Known::of(pair, &speeds)).collect();
        own.iter_mut().for_each(|known| known.compared.side.clone_from(&name));
        if asked.geomean {
            means.extend(geomean(&own, [baseline.len(), side.runs.len()], name));
        }
        known.extend(own);
    }
    of.differences = distinct(of.differences.drain(..));
    refuse_unasked(&of.differences, asked.across)?;
    of.only_baseline = distinct(of.only_baseline.drain(..));
    of.remarks = remarks(&known, baseline, all());
    let region = Region::around(libm::log1p(asked.margin));
    let judged = |all: Vec<(Compared, LogRatio)>| {
        let found = contrasts(&all.iter().map(|(_, of)| of).collect::<Vec<_>>(), region, ERROR);
        let one = |((compared, _), found)| Compared { contrast: Some(shown(&found)), ..compared };
        all.into_iter().zip(found).map(one).collect()
    };
    of.summary = judged(means);
    of.compared = judged(known.into_iter().map(|known| (known.compared, known.ratio)).collect());
    Ok(of)
}

impl ComparedRun {
    pub fn new(side: &str, id: &str, started: &str) -> Self {
        let (side, id, started) = (side.to_owned(), id.to_owned(), started.to_owned());
        Self { side, id, started }
    }
}

impl Side<'_> {
    fn briefly(self) -> Vec<ComparedRun> {
        let one = |run: &RunSummary| ComparedRun::new(self.name, &run.id, &run.started);
        self.runs.iter().map(one).collect()
    }
}

/// The geometric mean of a side over the cases that every run of both sides measured, as many as
/// `runs` has; the unit is the run, because its cases share its state.
fn geomean(
    known: &[Known],
    runs: [usize; 2],
    side: Option<String>,
) -> Option<(Compared, LogRatio)> {
    let whole = known.iter().filter(|of| of.logs.each_ref().map(Vec::len) == runs);
    let whole: Vec<&Known> = whole.collect();
    let mean = |at: usize, run| whole.iter().map(|of| of.logs[at][run]).sum::<f64>();
    let [baseline, other] = [0, 1].map(|at| -> Vec<f64> {
        (0..runs[at]).map(|run| mean(at, run) / whole.len() as f64).collect()
    });
    let ratio = LogRatio::of_runs(&baseline, &other).filter(|_| !whole.is_empty())?;
    let of = match whole.len() == known.len() {
        true => count(known.len(), "case"),
        false => format!("{} of {}", whole.len(), count(known.len(), "case")),
    };
    let name = format!("geometric mean of {of}");
    Some((Compared { side, ..Compared::unmeasured(&name) }, ratio))
}

pub(crate) fn refuse_unasked(differences: &[Difference], across: &[Across]) -> Result<()> {
    let unasked = differences.iter().filter(|one| !across.contains(&one.across)).cloned();
    let unasked: Vec<Difference> = unasked.collect();
    if unasked.is_empty() { Ok(()) } else { Err(unasked) }
}

/// The cases that both sides measured, in the order of the first run, and those of one side alone.
fn paired<'a>(sides: [&'a [RunSummary]; 2]) -> (Vec<Pair<'a>>, [Vec<&'a str>; 2]) {
    let by_case = |runs: &'a [RunSummary]| {
        grouped(runs.iter().flat_map(|run| &run.cases), |case| case.id.as_str())
    };
    let [first, mut second] = sides.map(by_case);
    let (mut pairs, mut only_first) = (Vec::new(), Vec::new());
    for (id, baseline) in first {
        match second.iter().position(|(other, _)| *other == id) {
            None => only_first.push(id),
            Some(at) => pairs.push([baseline, second.remove(at).1]),
        }
    }
    (pairs, [only_first, second.into_iter().map(|(id, _)| id).collect()])
}

/// What is not the same in all runs that know of it.
pub(crate) fn differences(sides: [Vec<&Fact>; 2]) -> Vec<Difference> {
    let [baseline, other] = sides;
    let all = baseline.iter().map(|fact| (0, *fact)).chain(other.iter().map(|fact| (1, *fact)));
    let of = |((across, what), facts): ((Across, &String), Vec<(usize, &Fact)>)| {
        let [baseline, other] = [0, 1].map(|at| {
            let own = facts.iter().filter(|(side, _)| *side == at);
            distinct(own.map(|(_, fact)| fact.value.clone()))
        });
        Difference { across, what: what.clone(), baseline, other }
    };
    let all = grouped(all, |(_, fact)| (fact.across, &fact.what)).into_iter().map(of);
    let differs = |one: &Difference| distinct(one.baseline.iter().chain(&one.other)).len() > 1;
    let mut differences: Vec<Difference> = all.filter(differs).collect();
    differences.sort_by_key(|of| of.across);
    differences
}

/// The speed that values are put in relation to, by yardstick: that of the first run that read it.
fn speeds<'a>(runs: impl Iterator<Item = &'a RunSummary>) -> BTreeMap<String, f64> {
    let all = runs.flat_map(|run| &run.cases).filter_map(|case| case.speed.clone());
    let all: Vec<(String, f64)> = all.collect();
    all.into_iter().rev().collect()
}

/// What is known of a pair before all are judged together.
struct Known {
    compared: Compared,
    /// The logarithm of each run's value, on either side.
    logs: [Vec<f64>; 2],
    ratio: LogRatio,
    is_invalid: bool,
}

impl Known {
    /// `None` where no run of a side has a value that stands in one column with the others.
    fn of(pair: &Pair, speeds: &BTreeMap<String, f64>) -> Option<Self> {
        let [first, second] = [pair[0].first()?, pair[1].first()?];
        let all = || pair.iter().flatten();
        let slower = |case: &CaseSummary| {
            let (yardstick, speed_ns) = case.speed.as_ref()?;
            Some(speed_ns / speeds.get(yardstick)?)
        };
        // One run whose speed is not known leaves no way to put the others in relation to it.
        let slower: Option<Vec<f64>> = all().map(|case| slower(case)).collect();
        let is_adjusted = slower.is_some();
        let ends = [f64::min, f64::max]
            .map(|of| slower.iter().flatten().copied().reduce(of).unwrap_or(1.0));
        let values = |is_adjusted: bool| {
            let value = |case: &&CaseSummary| match case.speed.as_ref().filter(|_| is_adjusted) {
                // Single operations and batches share no column.
                _ if case.statistic != first.statistic => None,
                None => Some(case.met_ns),
                Some((yardstick, ns)) => Some(case.adjusted_ns * speeds.get(yardstick)? / ns),
            };
            let is_time = |ns: &f64| *ns > 0.0 && ns.is_finite();
            pair.each_ref()
                .map(|side| -> Vec<f64> { side.iter().filter_map(value).filter(is_time).collect() })
        };
        let logs = |values: &[Vec<f64>; 2]| {
            values
                .each_ref()
                .map(|side| -> Vec<f64> { side.iter().map(|ns| libm::log(*ns)).collect() })
        };
        let ratio = |[baseline, other]: &[Vec<f64>; 2]| LogRatio::of_runs(baseline, other);
        let met = values(false);
        let judged = logs(&values(is_adjusted));
        let differ = is_adjusted && ends[1] > (1.0 + AWAY_MAX) * ends[0];
        let compared = Compared {
            baseline: first.id.clone(),
            met_ratio: ratio(&logs(&met)).filter(|_| differ).map(|of| libm::exp(of.point())),
            baseline_ns: median(&met[0]),
            value_ns: median(&met[1]),
            ..Compared::unmeasured(&second.id)
        };
        let is_invalid = all().any(|case| case.is_invalid);
        Some(Self { compared, ratio: ratio(&judged)?, logs: judged, is_invalid })
    }
}

fn remarks<'a>(
    known: &[Known],
    baseline: &[RunSummary],
    all: impl Iterator<Item = &'a RunSummary>,
) -> Vec<String> {
    let of = |has: fn(&Known) -> bool| known.iter().filter(|known| has(known)).count();
    let differ = of(|known| known.compared.met_ratio.is_some());
    let invalid = of(|known| known.is_invalid);
    let disturbed = baseline.iter().filter_map(|run| Some((&run.id, run.disturbed.as_ref()?)));
    let mut remarks: Vec<String> = disturbed
        .map(|(id, why)| format!("The baseline was disturbed: run {id} ({why}). Measure it again."))
        .collect();
    if differ > 0 {
        remarks.push(format!(
            "The machine ran at speeds more than 5 % apart in {}. The verdict uses adjusted times; \
             the difference of the raw times is beside it.",
            count(differ, "case")
        ));
    }
    if invalid > 0 {
        remarks.push(format!(
            "{} invalid in one of these runs: `hopcost report` gives the reason.",
            count(invalid, "case")
        ));
    }
    let cut_off = all.filter(|run| run.is_cut_off);
    let cut_off: Vec<&str> = cut_off.map(|run| run.id.as_str()).collect();
    remarks.extend((!cut_off.is_empty()).then(|| format!("Cut off: {}.", cut_off.join(", "))));
    remarks
}

/// What a comparison needs of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    is_cut_off: bool,
    /// What disturbed it, in words.
    disturbed: Option<String>,
    facts: Vec<Fact>,
    cases: Vec<CaseSummary>,
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
            disturbed: remarks::disturbed(&run.yardsticks.levels, &run_wide),
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
        let adjusted_ns = value_ns * median(reading.values())? / reading.headline()?.point?;
        let basis = run.doubt(reading.index).map(|doubt| doubt.basis);
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

#[cfg(test)]
mod tests;
