//! Where one way overtakes another along an axis, from the rounds of a search: both ways at a point are
//! measured in adjacent trials, and neither yardsticks nor other cases have a part in it.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::axis::{Axis, Kind};
use hopcost_model::case::Case;
use hopcost_model::finding::Code;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::CrossoverPlan;
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::results::{
    Crossed, Crossover, CrossoverPoint, Faster, Plot, PlotAxis, PlotCrossing, PlotPoint,
    PlotSeries, Ratio, Span,
};
use hopcost_stats::crossover::{Ahead, Search, Told, crossings};
use hopcost_stats::sample::median;

use crate::case::Reading;
use crate::ratio::is_exact_enough;
use crate::run::Run;
use crate::trial::{Family, headline_ns};
use crate::{findings, format, stream};

/// Trials that fail in a row before a case is given up.
const FAILURES_MAX: usize = 3;

/// What the rounds of a search say so far.
struct Known<'a> {
    raw: &'a RawRun,
    plan: &'a CrossoverPlan,
    search: Search,
    /// The trials of each case, by its place in the plan.
    trials: BTreeMap<u32, Vec<&'a RawTrial>>,
}

/// The cases that the answer still needs, and of how many of the points that were begun it is told
/// who is faster.
pub fn look(
    raw: &RawRun,
    rust: &[Mechanism],
    plan: &CrossoverPlan,
) -> (BTreeSet<u32>, (usize, usize)) {
    let known = Known::of(raw, plan);
    let run = Run::new(raw, rust);
    let point = |at: u32| {
        let is_out = !known.is_playable(at) || known.misleads(&run, at).is_some();
        let logs = known.logs(at);
        let told = known.search.told(&logs).map_or(Ahead::Open, |told| told.ahead);
        (!is_out).then_some((told, logs.len()))
    };
    let grid: Vec<Option<(Ahead, usize)>> = known.places().map(point).collect();
    let wanted = known.search.wanted(&grid).into_iter();
    let is_begun = |at: usize, rounds: usize| rounds > 0 || known.search.coarse.contains(&at);
    let begun = (grid.iter().enumerate()).filter_map(|(at, point)| {
        let (ahead, rounds) = (*point)?;
        is_begun(at, rounds).then_some(ahead)
    });
    let told = begun.clone().filter(|ahead| *ahead != Ahead::Open).count();
    (wanted.flat_map(|at| [2 * at as u32, 2 * at as u32 + 1]).collect(), (told, begun.count()))
}

/// Whether a case of a search was not needed for its answer.
pub fn is_beside(raw: &RawRun, reading: &Reading) -> bool {
    let tried = raw.trials.iter().any(|trial| trial.case == reading.index);
    let planned = raw.plan.cases.get(reading.index as usize);
    let coarse = raw.plan.crossover().map(|plan| &plan.coarse);
    let is_coarse = coarse.is_some_and(|coarse| coarse.contains(&(reading.index / 2)));
    coarse.is_some() && !tried && !is_coarse && planned.is_some_and(|case| case.skip.is_none())
}

/// Whether a case belongs to the points that a search begins with, which have rounds in common.
pub fn is_coarse(raw: &RawRun, reading: &Reading) -> bool {
    raw.plan.crossover().is_some_and(|plan| plan.coarse.contains(&(reading.index / 2)))
}

/// The answer; `None` of any other run.
pub fn of_run(run: &Run, readings: &[Reading], took_s: f64) -> Option<Crossover> {
    let plan = run.raw.plan.crossover()?;
    let axis = Axis::of_key(&plan.axis)?;
    let known = Known::of(run.raw, plan);
    let mut told: Vec<(usize, Told)> = Vec::new();
    let mut points = Vec::new();
    for at in known.places() {
        let of_point = |index: u32| readings.iter().find(|reading| reading.index == index);
        let (Some(first), Some(second)) = (of_point(2 * at), of_point(2 * at + 1)) else {
            continue;
        };
        let left_out = known.left_out(run, at, [first, second]);
        let here = known.search.told(&known.logs(at)).filter(|_| left_out.is_none());
        told.extend(here.map(|here| (at as usize, here)));
        points.push(CrossoverPoint {
            at: plan.values[at as usize],
            case: second.result.id.clone(),
            first_ns: median(&first.values()),
            second_ns: median(&second.values()),
            ratio: here.map(|here| ratio(&first.result.id, &here)),
            faster: here.map_or(Faster::Neither, |here| faster(here.ahead)),
            left_out,
        });
    }
    let value = |at: usize| plan.values[at];
    let standings: Vec<(usize, Ahead)> = told.iter().map(|(at, told)| (*at, told.ahead)).collect();
    let crossings: Vec<Crossed> = crossings(&standings)
        .iter()
        .map(|one| Crossed {
            after: value(one.after),
            until: value(one.until),
            faster: faster(one.ahead),
        })
        .collect();
    let is_inside = |at: u64| crossings.iter().any(|one| one.after < at && at < one.until);
    let open: Vec<&(usize, Told)> = told
        .iter()
        .filter(|(at, told)| told.ahead == Ahead::Open && !is_inside(value(*at)))
        .collect();
    let trial_s = took_s / run.raw.trials.len().max(1) as f64;
    let left = open.iter().map(|(_, told)| Some(f64::from(told.n_to_decide?) - told.n as f64));
    let left: Option<f64> = left.map(|rounds| rounds.map(|rounds| rounds.max(1.0))).sum();
    let ratios = || points.iter().filter_map(|point| Some(point.ratio.as_ref()?.point));
    let label = |index: usize| way(axis, run.raw.plan.cases.get(index)?.known()?);
    let caveats = [0, 1].into_iter().filter_map(|way| copied(readings, way)).collect();
    Some(Crossover {
        axis: plan.axis.clone(),
        first: label(0)?,
        second: label(1)?,
        margin: plan.margin,
        undecided: spans(&points, &is_inside),
        seconds_to_decide: left.filter(|left| *left > 0.0).map(|rounds| 2.0 * rounds * trial_s),
        ratio_least: ratios().min_by(f64::total_cmp),
        ratio_most: ratios().max_by(f64::total_cmp),
        crossings,
        caveats,
        points,
    })
}

/// Shares of copied sends up to this are not told beside the answer.
const COPIED_MIN: f64 = 0.01;

/// That the kernel copied what one of the two ways sends without a copy.
fn copied(readings: &[Reading], way: u32) -> Option<String> {
    let of_way = readings.iter().filter(|reading| reading.index % 2 == way);
    let shares =
        of_way.filter_map(|reading| Some((reading.case?, stream::copied_share(&reading.trials)?)));
    let shares: Vec<(&Case, f64)> = shares.collect();
    let all = || shares.iter().map(|(_, share)| *share);
    let (least, most) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let (case, _) = shares.first().filter(|_| most >= COPIED_MIN)?;
    let part = match (format::percent(least), format::percent(most)) {
        _ if least >= 1.0 => "all".to_owned(),
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    Some(format!(
        "The kernel copied {part} of the sends of {} that were to be without a copy \
         ({}), so its time is {}that of a copy.",
        case.mechanism_name(),
        Code::ZeroCopyCopied,
        if least >= 1.0 { "" } else { "partly " }
    ))
}

/// What is searched, without the value on the axis.
fn way(axis: &Axis, case: &Case) -> Option<String> {
    let id = case.id();
    let (path, keys) = id.split_once('?')?;
    let key = format!("{}=", axis.key);
    let keys: Vec<&str> = keys.split('&').filter(|one| !one.starts_with(&key)).collect();
    Some(format!("{path}?{}", keys.join("&")))
}

fn faster(ahead: Ahead) -> Faster {
    match ahead {
        Ahead::First => Faster::First,
        Ahead::Second => Faster::Second,
        Ahead::Equal => Faster::Equal,
        Ahead::Open => Faster::Neither,
    }
}

fn ratio(baseline: &str, told: &Told) -> Ratio {
    Ratio {
        baseline: baseline.to_owned(),
        point: libm::exp(told.point),
        low: told.band.map(|band| libm::exp(band.0)),
        high: told.band.map(|band| libm::exp(band.1)),
        n_rounds: told.n as u32,
    }
}

/// What lies between the points that are told on either side of those that are not, and in no crossing.
fn spans(points: &[CrossoverPoint], is_inside: &dyn Fn(u64) -> bool) -> Vec<Span> {
    let counted: Vec<&CrossoverPoint> =
        points.iter().filter(|point| point.left_out.is_none()).collect();
    let is_open = |point: &&CrossoverPoint| point.faster == Faster::Neither && !is_inside(point.at);
    let mut spans: Vec<Span> = Vec::new();
    for (place, point) in counted.iter().enumerate().filter(|(_, point)| is_open(point)) {
        let from = counted[place.saturating_sub(1)].at;
        let to = counted.get(place + 1).map_or(point.at, |next| next.at);
        match spans.last_mut().filter(|last| last.to >= point.at) {
            Some(last) => last.to = to,
            None => spans.push(Span { from, to }),
        }
    }
    spans
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun, plan: &'a CrossoverPlan) -> Self {
        let mut trials: BTreeMap<u32, Vec<&RawTrial>> = BTreeMap::new();
        for trial in &raw.trials {
            trials.entry(trial.case).or_default().push(trial);
        }
        let coarse = plan.coarse.iter().map(|at| *at as usize).collect();
        let search = Search { coarse, margin: libm::log1p(plan.margin) };
        Self { raw, plan, search, trials }
    }

    /// The places of the grid that have both their cases.
    fn places(&self) -> impl Iterator<Item = u32> {
        let n = self.plan.values.len().min(self.raw.plan.cases.len() / 2);
        0..n as u32
    }

    fn of_case(&self, index: u32) -> &[&'a RawTrial] {
        self.trials.get(&index).map_or(&[], Vec::as_slice)
    }

    /// Whether further rounds of a point can bring anything.
    fn is_playable(&self, at: u32) -> bool {
        [2 * at, 2 * at + 1].iter().all(|index| {
            let trials = self.of_case(*index);
            let is_given_up =
                trials.len() >= FAILURES_MAX && trials.iter().all(|trial| trial.error.is_some());
            let planned = self.raw.plan.cases.get(*index as usize);
            !is_given_up && planned.is_some_and(|case| case.skip.is_none())
        })
    }

    /// The logarithms of the second's time over the first's, in the order of the rounds. What is
    /// stamped in two ways is not divided.
    fn logs(&self, at: u32) -> Vec<f64> {
        let of = |index: u32| -> BTreeMap<u32, (Family, f64)> {
            let Some(case) = self.raw.plan.case(index) else { return BTreeMap::new() };
            let value = |trial: &&RawTrial| {
                let clock = self.raw.clock(trial).filter(|clock| clock.ticks_per_second > 0.0)?;
                let ns = headline_ns(case, trial, clock)?;
                Some((trial.round, (Family::of(trial.stamp?), libm::log(ns))))
            };
            self.of_case(index).iter().filter_map(value).collect()
        };
        let (first, second) = (of(2 * at), of(2 * at + 1));
        let pair = |(round, (family, log)): (&u32, &(Family, f64))| {
            let (of_first, base) = first.get(round)?;
            (of_first == family).then_some(log - base)
        };
        second.iter().filter_map(pair).collect()
    }

    /// That the time of either way at a point is not its own: that of a timer for which its
    /// messages stall, or of a sender that does not send as it was to.
    fn misleads(&self, run: &Run, at: u32) -> Option<String> {
        [2 * at, 2 * at + 1].iter().find_map(|index| {
            let case = self.raw.plan.case(*index)?;
            let of = self.of_case(*index).iter().copied().filter(|trial| trial.error.is_none());
            let of: Vec<&RawTrial> = of.collect();
            let stalls = findings::nagle_delack(run, case, &of).map(|found| ("stalls", found));
            let load = || findings::invalid_load(&of).map(|found| ("is not a valid load", found));
            let (is, found) = stalls.or_else(load)?;
            Some(format!("{} {is} ({}): {}", case.mechanism_name(), found.code, found.evidence))
        })
    }

    /// Why a point does not count.
    fn left_out(&self, run: &Run, at: u32, both: [&Reading; 2]) -> Option<String> {
        // What has not been tried yet is open.
        let is_out = |reading: &&&Reading| {
            let planned = self.raw.plan.cases.get(reading.index as usize);
            let is_skipped = planned.is_some_and(|case| case.skip.is_some());
            !reading.is_measured() && (is_skipped || !self.of_case(reading.index).is_empty())
        };
        let unmeasured = both.iter().find(is_out);
        let reason = unmeasured.and_then(|reading| reading.result.reason.clone());
        let is_far = both.iter().any(|reading| !is_exact_enough(reading));
        let inexact = is_far.then(|| "the clocks agree too badly for a ratio".to_owned());
        reason.or_else(|| self.misleads(run, at)).or(inexact)
    }
}

/// The ratio along the axis with its band.
pub fn plot(found: &Crossover) -> Option<Plot> {
    let axis = Axis::of_key(&found.axis)?;
    let point = |point: &CrossoverPoint| {
        let ratio = point.ratio.as_ref()?;
        let x = point.at as f64;
        Some(PlotPoint { x, y: ratio.point, low: ratio.low, high: ratio.high, stalled: None })
    };
    let points: Vec<PlotPoint> = found.points.iter().filter_map(point).collect();
    let crossed = |one: &Crossed| {
        let at = points.iter().find(|point| point.x >= one.until as f64)?;
        let says = match one.faster {
            Faster::Second => "the second is faster",
            _ => "the first is faster again",
        };
        Some(PlotCrossing { x: at.x, y: at.y, says: says.to_owned() })
    };
    let unit = match axis.kind {
        Kind::Bytes { .. } => "B",
        Kind::Time { .. } => "ns",
        Kind::Rate { .. } => "1/s",
        _ => "",
    };
    let labelled = |label: &str, unit: &str| PlotAxis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        logarithmic: true,
        names: Vec::new(),
    };
    (points.len() > 1).then(|| Plot {
        id: "crossover".to_owned(),
        title: "How long the second takes, as a multiple of the first".to_owned(),
        x: labelled(&found.axis, unit),
        y: labelled("second / first", ""),
        crossings: found.crossings.iter().filter_map(crossed).collect(),
        series: vec![PlotSeries {
            name: format!("{} / {}", found.second, found.first),
            points: points.clone(),
            published: Vec::new(),
        }],
        notes: vec!["The band holds all points together with 95 %.".to_owned()],
    })
}

#[cfg(test)]
mod tests;
