//! Findings about how a case's numbers look.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_stats::sample::median;
use hopcost_stats::trend::{false_discovery_rates, mann_kendall, theil_sen};

use super::make::finding;
use crate::case::Reading;
use crate::estimate::TRIALS_MIN;
use crate::format;
use crate::run::Run;
use crate::trial::Family;

/// The share of an operation that its stamp may take.
const STAMP_MAX: f64 = 0.10;
/// A trend at least this unlikely by chance, …
const DRIFT_P: f64 = 0.01;
/// … of which, over the cases of the run, at most this share is chance, …
const DRIFT_CHANCE_MAX: f64 = 0.05;
/// … and at least this large over the run is a drift.
const DRIFT_MIN: f64 = 0.05;

/// A mode of this share is what a median describes; the others are to be known.
const MAIN_MODE: f64 = 0.8;

/// All of them for one case.
pub fn findings(run: &Run, case: &Case, reading: &Reading, drifts: &Drifts) -> Vec<Finding> {
    let all = [
        timer_dominates(run, case, reading),
        few_trials(reading),
        drifts.finding(reading),
        multimodal(reading),
    ];
    all.into_iter().flatten().collect()
}

/// Of a one-way time, one stamp lies between the notification and the end; it cannot
/// be batched.
fn timer_dominates(run: &Run, case: &Case, reading: &Reading) -> Option<Finding> {
    if reading.family != Some(Family::Each) {
        return None;
    }
    let clock = run.raw.clock(reading.trials.first()?)?;
    let (stamp_ns, p50_ns) = (clock.stamp_p50_ns, median(&reading.values())?);
    (stamp_ns > STAMP_MAX * p50_ns).then(|| {
        let evidence = format!(
            "A stamp costs {}, the operation {} with it.",
            format::ns(stamp_ns),
            format::ns(p50_ns)
        );
        let values = [("stamp_p50_ns", stamp_ns), ("p50_ns", p50_ns)];
        let mut found = finding(Code::TimerDominates, Severity::Suspect, evidence, &values);
        if case.workload == Workload::Wake {
            found.remedy = "Take the cost of a stamp as this number's error; a round trip between \
                            spinning ends is timed in batches, free of it."
                .to_owned();
        }
        found
    })
}

fn few_trials(reading: &Reading) -> Option<Finding> {
    let n = reading.trials.len();
    (n < TRIALS_MIN).then(|| {
        let evidence =
            format!("{} succeeded; an interval needs {TRIALS_MIN}.", format::count(n, "trial"));
        finding(Code::FewTrials, Severity::Suspect, evidence, &[("trials", n as f64)])
    })
}

/// A change from a case's first trial to its last.
struct Drift {
    relative: f64,
    p: f64,
}

/// The cases that drift, by their index. Of many cases a few look as if they did: the run's
/// are judged together.
pub struct Drifts(BTreeMap<u32, Drift>);

impl Drifts {
    /// Those of a run.
    pub fn of(readings: &[Reading]) -> Self {
        let tested: Vec<(u32, Drift)> = readings
            .iter()
            .filter_map(|reading| Some((reading.index, Drift::of(reading)?)))
            .collect();
        let p: Vec<f64> = tested.iter().map(|(_, drift)| drift.p).collect();
        let sure =
            tested.into_iter().zip(false_discovery_rates(&p)).filter(|((_, drift), rate)| {
                drift.p < DRIFT_P && *rate < DRIFT_CHANCE_MAX && drift.relative.abs() > DRIFT_MIN
            });
        Self(sure.map(|(drift, _)| drift).collect())
    }

    fn finding(&self, reading: &Reading) -> Option<Finding> {
        let Drift { relative, p } = self.0.get(&reading.index)?;
        let evidence = format!(
            "From the first trial to the last it {} by {} (p = {}).",
            if *relative > 0.0 { "rose" } else { "fell" },
            format::percent(relative.abs()),
            format::three(*p)
        );
        let values = [("relative_change", *relative), ("p", *p)];
        Some(finding(Code::Drift, Severity::Suspect, evidence, &values))
    }
}

impl Drift {
    fn of(reading: &Reading) -> Option<Self> {
        let values = reading.values();
        let p = mann_kendall(&values)?;
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(i, value)| (i as f64, *value)).collect();
        let change = theil_sen(&points)? * (values.len() - 1) as f64;
        let level = median(&values).filter(|level| *level > 0.0)?;
        Some(Self { relative: change / level, p })
    }
}

fn multimodal(reading: &Reading) -> Option<Finding> {
    let modes = &reading.result.modes;
    if modes.len() < 2 {
        return None;
    }
    let each = modes
        .iter()
        .map(|mode| format!("{} ({})", format::ns(mode.ns), format::percent(mode.share)));
    let list = each.collect::<Vec<_>>().join(", ");
    let main_share = modes.iter().map(|mode| mode.share).fold(0.0, f64::max);
    let (severity, why) = if main_share >= MAIN_MODE {
        (Severity::Note, " The p50 describes the most frequent one.")
    } else {
        (Severity::Suspect, "")
    };
    let evidence = format!("{} typical durations: {list}.{why}", modes.len());
    let values = [
        ("modes", modes.len() as f64),
        ("lowest_ns", modes[0].ns),
        ("highest_ns", modes[modes.len() - 1].ns),
    ];
    Some(finding(Code::Multimodal, severity, evidence, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, PIPE, TrialBuilder, noisy, severity};

    /// The samples of `noisy`, one in `of` of them half as long again.
    fn two_modes(round: u32, of: usize) -> Vec<u32> {
        let slow = |(i, ns): (usize, &u32)| if i.is_multiple_of(of) { ns * 3 / 2 } else { *ns };
        noisy(1000, round).iter().enumerate().map(slow).collect()
    }

    #[test]
    fn each_finding_is_as_grave_as_it_says() {
        type Row = (Code, u32, fn(u32, &mut TrialBuilder), Option<Severity>);
        let (note, suspect) = (Some(Severity::Note), Some(Severity::Suspect));
        let rows: [Row; 12] = [
            // The test clock's stamp costs 20 ns.
            (Code::TimerDominates, 8, |_, t| t.each(&[210; 100]), None),
            (Code::TimerDominates, 8, |_, t| t.each(&[190; 100]), suspect),
            (Code::TimerDominates, 8, |_, t| t.batch(10, &[50; 100]), None),
            (Code::FewTrials, 5, |_, t| t.each(&[3000; 100]), suspect),
            (Code::FewTrials, 6, |_, t| t.each(&[3000; 100]), None),
            (
                Code::FewTrials,
                8,
                |round, t| if round < 3 { t.fails("x") } else { t.each(&[9000; 100]) },
                suspect,
            ),
            (Code::Drift, 12, |round, t| t.each(&[3000 + 30 * round; 100]), suspect),
            (Code::Drift, 12, |round, t| t.each(&[3000 + 5 * round; 100]), None),
            (Code::Drift, 12, |round, t| t.each(&[3000 + 700 * (round * 5 % 3); 100]), None),
            (Code::Multimodal, 8, |round, t| t.each(&two_modes(round, 3)), suspect),
            (Code::Multimodal, 8, |round, t| t.each(&two_modes(round, 8)), note),
            (Code::Multimodal, 8, |round, t| t.each(&noisy(1000, round)), None),
        ];
        for (at, (code, trials, make, expected)) in rows.into_iter().enumerate() {
            let results = Builder::new().case(PIPE, trials, make).read();
            assert_eq!(severity(&results, code), expected, "row {at}: {code}");
        }
        // The stamp of another runtime costs 60 ns; the caller's counts.
        for (runtimes, expected) in [("python:rust", suspect), ("rust:python", None)] {
            let id = format!("{PIPE}&runtime={runtimes}");
            let results = Builder::new().case(&id, 8, |_, t| t.each(&[500; 100])).read();
            assert_eq!(severity(&results, Code::TimerDominates), expected, "{runtimes}");
        }
    }

    #[test]
    fn one_of_many_cases_looks_like_a_drift_by_chance() {
        // Rising but for two stretches: p = 0.0075.
        let order = [5, 4, 3, 2, 1, 8, 7, 6, 9, 10, 11, 12];
        let of = |others: u32| {
            let rising = |round: u32, t: &mut TrialBuilder| {
                t.each(&[3000 + 40 * order[round as usize]; 100]);
            };
            let others = (1..=others)
                .map(|payload| PIPE.replace("payload=64", &format!("payload={payload}")));
            let builder = Builder::new().case(PIPE, 12, rising);
            let all = others
                .fold(builder, |builder, id| builder.case(&id, 12, |_, t| t.each(&[3000; 100])));
            severity(&all.read(), Code::Drift)
        };
        assert_eq!(of(0), Some(Severity::Suspect));
        assert_eq!(of(9), None);
    }
}
