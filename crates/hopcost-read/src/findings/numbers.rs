//! Findings about how a case's numbers look.

use hopcost_model::{Code, Finding, Severity, Workload};
use hopcost_stats::next_run::TRIALS_MIN;
use hopcost_stats::sample::median;
use hopcost_stats::trend::{false_discovery_rates, mann_kendall, theil_sen};

use super::make::{Drifts, Seen, finding, suspect_if};
use crate::case::Reading;
use crate::format;
use crate::trial::Family;
use crate::yardstick::{Basis, TwoSpeeds};

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
/// Two speeds of its CPUs explain modes of a case that are at most this many times as far apart.
const SPEEDS_REACH: f64 = 1.3;

/// Of a one-way time, one stamp lies between the notification and the end; it cannot
/// be batched.
pub fn timer_dominates(of: &Seen) -> Option<Finding> {
    let clock = of.run.raw.clock(of.reading.trials.first()?)?;
    let (stamp_ns, p50_ns) = (clock.stamp_p50_ns, median(of.reading.values())?);
    let is_each = of.reading.family == Some(Family::Each);
    (is_each && stamp_ns > STAMP_MAX * p50_ns).then(|| {
        let says = "A stamp costs <stamp_p50_ns ns>, the operation <p50_ns ns> with it.";
        let values = [("stamp_p50_ns", stamp_ns), ("p50_ns", p50_ns)];
        let mut found = finding(Code::TimerDominates, Severity::Suspect, says, &values);
        if of.case.workload == Workload::Wake {
            found.remedy = "Take the cost of a stamp as this number's error; a round trip between \
                            spinning ends is timed in batches, free of it."
                .to_owned();
        }
        found
    })
}

pub fn few_trials(of: &Seen) -> Option<Finding> {
    let n = of.reading.trials.len();
    let says = format!("{} succeeded; an interval needs {TRIALS_MIN}.", format::count(n, "trial"));
    let values = [("trials", n as f64)];
    (n < TRIALS_MIN).then(|| finding(Code::FewTrials, Severity::Suspect, says, &values))
}

/// The cases of a run that drift. Of many cases a few look as if they did: all are judged together.
pub fn drifts(readings: &[Reading]) -> Drifts {
    let tested = readings.iter().filter_map(|of| Some((of.index, drift(&of.values())?)));
    let tested: Vec<(u32, (f64, f64))> = tested.collect();
    let p: Vec<f64> = tested.iter().map(|(_, (_, p))| *p).collect();
    let judged = tested.into_iter().zip(false_discovery_rates(&p));
    let sure = judged.filter(|((_, (change, p)), rate)| {
        *p < DRIFT_P && *rate < DRIFT_CHANCE_MAX && change.abs() > DRIFT_MIN
    });
    sure.map(|(drift, _)| drift).collect()
}

fn drift(values: &[f64]) -> Option<(f64, f64)> {
    let p = mann_kendall(values)?;
    let points = values.iter().enumerate().map(|(at, value)| (at as f64, *value));
    let change = theil_sen(&points.collect::<Vec<_>>())? * (values.len() - 1) as f64;
    Some((change / median(values).filter(|level| *level > 0.0)?, p))
}

pub fn drifted(of: &Seen) -> Option<Finding> {
    let (change, p) = *of.drifts.get(&of.reading.index)?;
    let rose = if change > 0.0 { "rose" } else { "fell" };
    let by = format::percent(change.abs());
    let says = format!("From the first trial to the last it {rose} by {by} (p = <p>).");
    let values = [("relative_change", change), ("p", p)];
    Some(finding(Code::Drift, Severity::Suspect, says, &values))
}

pub fn multimodal(of: &Seen) -> Option<Finding> {
    let modes = of.reading.result.modes.as_slice();
    let [lowest, .., highest] = modes else { return None };
    let each = modes.iter();
    let each = each.map(|of| format!("{} ({})", format::ns(of.ns), format::percent(of.share)));
    let list = each.collect::<Vec<_>>().join(", ");
    let has_main = modes.iter().any(|mode| mode.share >= MAIN_MODE);
    let apart = two_speeds_of(of).map_or(0.0, |speeds| speeds.ns[1] / speeds.ns[0]);
    let is_explained = highest.ns <= SPEEDS_REACH * apart * lowest.ns;
    let why = match () {
        () if is_explained => " They are those of two speeds of its CPUs.",
        () if has_main => " The p50 describes the most frequent one.",
        () => "",
    };
    let says = format!("<modes n> typical durations: {list}.{why}");
    let values =
        [("modes", modes.len() as f64), ("lowest_ns", lowest.ns), ("highest_ns", highest.ns)];
    Some(finding(Code::Multimodal, suspect_if(!has_main && !is_explained), says, &values))
}

/// The speeds at which the CPUs of a case ran, where its value at the fast one stands first.
fn two_speeds_of(of: &Seen) -> Option<TwoSpeeds> {
    match of.run.doubt(of.reading.index)?.basis {
        Basis::Fast(speeds) => Some(speeds),
        _ => None,
    }
}

/// The same words for all cases of these CPUs.
pub fn two_speeds(of: &Seen) -> Option<Finding> {
    let TwoSpeeds { ns: [fast, slow], share } = two_speeds_of(of)?;
    let mut cpus: Vec<String> =
        of.reading.trials.first()?.cpus_asked.iter().flatten().map(u32::to_string).collect();
    cpus.dedup();
    let says = format!(
        "CPU {} ran at two speeds <apart> × apart, in <share %> of the trials at the fast one; values are at \
         the fast one.",
        cpus.join(" and CPU ")
    );
    let values = [("apart", slow / fast), ("share", share), ("fast_ns", fast), ("slow_ns", slow)];
    Some(finding(Code::TwoSpeeds, Severity::Note, says, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Code, Severity};

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
