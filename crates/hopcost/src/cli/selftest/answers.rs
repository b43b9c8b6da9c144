//! The table of known answers: which cases, what has to come out of them, and whether it did.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::results::{CaseResult, Estimate, Results, Statistic, Status};
use hopcost_stats::sample::median;
use hopcost_view::number::{share, time};

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// What is known.
    Right(String),
    /// Something else.
    Wrong(String),
    /// Nothing, because it cannot be measured on this machine.
    NotHere(String),
}

impl Found {
    /// How a line begins.
    pub fn word(&self) -> &'static str {
        match self {
            Found::Right(_) => "pass",
            Found::Wrong(_) => "FAIL",
            Found::NotHere(_) => "skip",
        }
    }
    /// What came out, in words.
    pub fn text(&self) -> &str {
        match self {
            Found::Right(text) | Found::Wrong(text) | Found::NotHere(text) => text,
        }
    }
}

/// What was found, or why nothing was.
type Judged = Result<Found, Found>;

/// A known answer.
pub struct Answer {
    pub name: &'static str,
    /// What is known.
    pub known: &'static str,
    /// The cases whose results say it.
    pub cases: &'static [&'static str],
    /// Whether they do.
    pub judge: fn(&Results) -> Judged,
}

/// A run of the cases of several answers.
pub struct Run {
    /// Trials of each case.
    pub rounds: u32,
    /// Aimed length of a trial's measured phase, in the time that its clock shows.
    pub measure_ns: u64,
    pub answers: &'static [Answer],
}

/// Every run. Trials are counted together where they have a yardstick in common, so `ar1` and
/// `shuffled` are of two runs; what loses messages waits for them, and has few rounds.
pub const RUNS: &[Run] = &[
    Run { rounds: 12, measure_ns: 20_000_000, answers: MANY },
    Run { rounds: 60, measure_ns: 5_000_000, answers: OF_HOST },
    Run { rounds: 60, measure_ns: 5_000_000, answers: OF_CHANCE },
    Run { rounds: 1, measure_ns: 20_000_000, answers: OF_LOSSES },
];

const MANY: &[Answer] = &[
    Answer {
        name: "exact",
        known: "250 µs, and an interval of no width",
        cases: &["roundtrip/sleep:250us?clock=virtual"],
        judge: |results| {
            let p50 = p50(results, "sleep:250us")?;
            let ends = [p50.low, p50.high].map(|end| end.unwrap_or_default());
            let is_narrow = ends.into_iter().all(|end| near(end, 250e3, 1e-12));
            told(format!("p50 {}", with_interval(p50)), p50.point == Some(250e3) && is_narrow)
        },
    },
    Answer {
        name: "bimodal",
        known: "10 µs 70 %, 15 µs 30 %",
        cases: &["roundtrip/known:bimodal"],
        judge: |results| modes(results, "known:bimodal", [(10e3, 0.7), (15e3, 0.3)]),
    },
    Answer {
        name: "stall",
        known: "10 µs 90 %, 1 ms 10 %",
        cases: &["roundtrip/known:stall"],
        judge: |results| modes(results, "known:stall", [(10e3, 0.9), (1e6, 0.1)]),
    },
    Answer {
        name: "drift",
        known: "up by 10.4 %",
        cases: &["roundtrip/known:drift"],
        judge: |results| {
            let found = finding(measured(results, "known:drift")?, Code::Drift)?;
            // Eleven steps of 0.1 us, over the median of 10.55 us.
            let change = value(found, "relative_change");
            told(format!("finding DRIFT: up by {}", share(change)), near(change, 1.1 / 10.55, 0.02))
        },
    },
    Answer {
        name: "corrupt",
        known: "a message that is not as it was sent",
        cases: &["roundtrip/fault:corrupt?place=same-cpu"],
        judge: |results| fails(results, "fault:corrupt", "did not arrive as it was sent"),
    },
    Answer {
        name: "dup",
        known: "a message that comes twice",
        cases: &["roundtrip/fault:dup?place=same-cpu"],
        judge: |results| fails(results, "fault:dup", "arrived a second time"),
    },
    Answer {
        name: "reorder",
        known: "a message that comes before the one before it",
        cases: &["roundtrip/fault:reorder?place=same-cpu"],
        judge: |results| fails(results, "fault:reorder", "arrived before message"),
    },
    Answer {
        name: "copied-zc",
        known: "over loopback the kernel copies every send",
        cases: &["stream/tcp-zerocopy?field=64KiB&flows=1&place=same-cpu"],
        judge: |results| {
            let found = finding(measured(results, "tcp-zerocopy")?, Code::ZeroCopyCopied)?;
            let copied = value(found, "copied_share");
            told(format!("finding ZC_COPIED: {}", share(copied)), copied == 1.0)
        },
    },
    Answer {
        name: "late-generator",
        known: "a sender that leaves each 50th wait 1 ms late is; one whose 50th send takes 1 ms is not",
        cases: &[
            "load/server:1us?rate=10k&arrivals=constant&late=own&place=same-cpu",
            "load/server:2us?rate=10k&arrivals=constant&late=send&place=same-cpu",
        ],
        judge: |results| {
            let [own, held] = [measured(results, "server:1us")?, measured(results, "server:2us")?];
            let late = finding(own, Code::GeneratorLate)?;
            // Eight messages after it are more than a tenth of 1 ms late too; a phase may end before.
            let is_own = near(value(late, "own_late_share"), 0.18, 0.3);
            let is_right = is_own && late.severity == Severity::Invalid;
            let held_p99 = held.load.as_ref().and_then(|load| load.held_lag.p99_ns);
            let is_held = held_p99 == Some(900e3) && finding(held, Code::GeneratorLate).is_err();
            told(invalid(late), is_right && is_held)
        },
    },
    Answer {
        name: "overload",
        known: "no socket pair takes 10 million messages a second: invalid",
        cases: &["load/socketpair?rate=10M&payload=64&boundary=process&place=cross"],
        judge: |results| {
            let case = measured(results, "socketpair")?;
            let late =
                finding(case, Code::GeneratorLate).or_else(|_| finding(case, Code::RateMissed))?;
            told(invalid(late), late.severity == Severity::Invalid)
        },
    },
    Answer {
        name: "spin",
        known: "twice the work takes 2 times as long",
        cases: &["roundtrip/spin:4000", "roundtrip/spin:8000"],
        judge: |results| {
            // By round: what the host does to one trial it mostly does to the next.
            let (one, two) = (measured(results, "spin:4000")?, measured(results, "spin:8000")?);
            let ratios = one.trials.iter().filter_map(|trial| {
                let same = two.trials.iter().find(|other| other.round == trial.round)?;
                Some(same.value_ns? / trial.value_ns?)
            });
            let ratio = median(&ratios.collect::<Vec<_>>()).ok_or_else(|| wrong("no round"))?;
            told(format!("{ratio:.3} times as long"), near(ratio, 2.0, 0.05))
        },
    },
    Answer {
        name: "sleep",
        known: "at least 1 ms",
        cases: &["roundtrip/sleep:1ms?clock=real"],
        judge: |results| {
            let estimates = measured(results, "sleep:1ms")?.estimates.as_ref();
            let least = estimates.and_then(|all| all.get(Statistic::Min)?.point);
            let least = least.ok_or_else(|| wrong("no minimum"))?;
            told(format!("at least {}", time(least, 4)), (1e6..2e6).contains(&least))
        },
    },
    Answer {
        name: "system-calls",
        known: "a round trip of a pipe is two write(2) and two read(2)",
        cases: &["roundtrip/pipe?payload=64&boundary=process&place=same-cpu"],
        judge: |results| {
            let counters = &measured(results, "pipe")?.counters;
            let counted = counters.iter().find(|c| c.event == "system-calls" && c.role.is_none());
            let counted = counted.ok_or_else(|| Found::NotHere("not counted".to_owned()))?;
            let why = || Found::NotHere(counted.unavailable.clone().unwrap_or_default());
            let calls = counted.per_operation.ok_or_else(why)?;
            told(format!("{calls:.2} system calls"), near(calls, 4.0, 0.01))
        },
    },
];

const OF_HOST: &[Answer] = &[
    Answer {
        name: "two-states",
        known: "15 µs where most trials met the host's slow state, and 10 µs on the quiet host",
        cases: &["roundtrip/known:level?host=two-states"],
        judge: |results| {
            let p50 = p50(results, "known:level")?;
            let met = point(p50)?;
            let quiet = p50.quiet.ok_or_else(|| wrong("nothing is known of the quiet host"))?;
            let (low, high) = (quiet.low.unwrap_or(0.0), quiet.high.unwrap_or(0.0));
            let is_held = low <= 10_050.0 && 9_950.0 <= high;
            // It is slow for 60 % of the time, in which other work may put fewer than half of the trials.
            let trials = &measured(results, "known:level")?.trials;
            let each: Vec<f64> = trials.iter().filter_map(|trial| trial.value_ns).collect();
            let slow = each.iter().filter(|ns| near(**ns, 15e3, 0.01)).count();
            let usual = median(&each).ok_or_else(|| wrong("no trial"))?;
            let text = format!(
                "p50 {} with {slow} of {} trials at 15 µs; quiet {} [{}, {}]",
                time(met, 3),
                each.len(),
                time(quiet.point, 3),
                time(low, 3),
                time(high, 3),
            );
            let is_met = near(met, usual, 0.001) && 4 * slow >= each.len();
            told(text, is_held && near(quiet.point, 10e3, 0.1) && is_met)
        },
    },
    Answer {
        name: "ar1",
        known: "trials that correlate by 0.7 have an interval 1.8 to 3.2 times as wide as independent ones of the same spread",
        cases: &["roundtrip/known:ar1?host=steady"],
        judge: |results| wider(results, "known:ar1", 1.8..3.2),
    },
];

const OF_CHANCE: &[Answer] = &[Answer {
    name: "shuffled",
    known: "the same trials in another order have one 0.8 to 1.4 times as wide",
    cases: &["roundtrip/known:shuffled?host=steady"],
    judge: |results| wider(results, "known:shuffled", 0.8..1.4),
}];

const OF_LOSSES: &[Answer] = &[Answer {
    name: "lossy",
    known: "1 of 49 exchanges, where every 50th reply is lost",
    cases: &["roundtrip/lossy:50?timeout=10ms&place=same-cpu"],
    judge: |results| {
        let case = measured(results, "lossy:50")?;
        finding(case, Code::Lost)?;
        let lost = case.lost as f64 / case.operations.max(1) as f64;
        let text = format!("finding LOST: {} of {} exchanges", case.lost, case.operations);
        // One more or less, by where the phase begins.
        let tolerance = 49.0 / case.operations.max(1) as f64;
        told(text, case.lost > 0 && near(lost, 1.0 / 49.0, tolerance))
    },
}];

fn wrong(text: impl Into<String>) -> Found {
    Found::Wrong(text.into())
}

fn told(text: String, is_right: bool) -> Judged {
    if is_right { Ok(Found::Right(text)) } else { Err(wrong(text)) }
}

/// Whether a value is what is known, within a share of it.
fn near(value: f64, known: f64, tolerance: f64) -> bool {
    (value / known - 1.0).abs() <= tolerance
}

fn case<'r>(results: &'r Results, mechanism: &str) -> Result<&'r CaseResult, Found> {
    let found = results.results.iter().find(|case| case.case.mechanism == mechanism);
    let found = found.ok_or_else(|| wrong(format!("{mechanism} is not in the run")))?;
    let reason = || found.reason.clone().unwrap_or_default();
    if found.status == Status::Skipped { Err(Found::NotHere(reason())) } else { Ok(found) }
}

fn measured<'r>(results: &'r Results, mechanism: &str) -> Result<&'r CaseResult, Found> {
    let found = case(results, mechanism)?;
    match found.status {
        Status::Measured => Ok(found),
        _ => Err(wrong(format!("failed: {}", found.reason.as_deref().unwrap_or_default()))),
    }
}

fn p50<'r>(results: &'r Results, mechanism: &str) -> Result<&'r Estimate, Found> {
    let estimates = measured(results, mechanism)?.estimates.as_ref();
    let found = estimates.and_then(|all| all.get(Statistic::P50));
    found.ok_or_else(|| wrong(format!("{mechanism} has no p50")))
}

fn point(estimate: &Estimate) -> Result<f64, Found> {
    let why = || wrong(estimate.insufficient.clone().unwrap_or_default());
    estimate.point.ok_or_else(why)
}

fn with_interval(estimate: &Estimate) -> String {
    let text = |ns: Option<f64>| ns.map_or_else(|| "nothing".to_owned(), |ns| time(ns, 6));
    format!("{} [{}, {}]", text(estimate.point), text(estimate.low), text(estimate.high))
}

fn finding(case: &CaseResult, code: Code) -> Result<&Finding, Found> {
    let found = case.findings.iter().find(|finding| finding.code == code);
    found.ok_or_else(|| wrong(format!("no finding {code}")))
}

/// A finding with what it says.
fn invalid(found: &Finding) -> String {
    format!("finding {}: {}", found.code, found.evidence.trim_end_matches('.'))
}

fn value(finding: &Finding, name: &str) -> f64 {
    finding.values.get(name).copied().unwrap_or(f64::NAN)
}

/// Whether a case has these typical durations with these shares, and a finding that says so.
fn modes(results: &Results, mechanism: &str, known: [(f64, f64); 2]) -> Judged {
    let case = measured(results, mechanism)?;
    finding(case, Code::Multimodal)?;
    let each = case.modes.iter().map(|mode| format!("{} {}", time(mode.ns, 3), share(mode.share)));
    let text = format!("finding MULTIMODAL: {}", each.collect::<Vec<_>>().join(", "));
    let is_known = |(mode, known): (&hopcost_model::results::Mode, (f64, f64))| {
        near(mode.ns, known.0, 0.03) && (mode.share - known.1).abs() <= 0.02
    };
    let is_right = case.modes.len() == known.len() && case.modes.iter().zip(known).all(is_known);
    told(text, is_right)
}

/// Whether every trial of a case failed for this reason.
fn fails(results: &Results, mechanism: &str, why: &str) -> Judged {
    let case = case(results, mechanism)?;
    let reason = case.reason.as_deref().unwrap_or("it was measured");
    let is_right = case.status == Status::Failed && case.n_trials == 0 && reason.contains(why);
    told(format!("every trial failed: {reason}"), is_right)
}

/// Whether a case's interval is so many times as wide as that of independent trials of its spread, whose
/// half width is 1.96 standard errors of the difference of two medians.
fn wider(results: &Results, mechanism: &str, known: std::ops::Range<f64>) -> Judged {
    let case = measured(results, mechanism)?;
    let ends = p50(results, mechanism).map(|p50| p50.low.zip(p50.high))?;
    let (low, high) = ends.ok_or_else(|| wrong("no interval"))?;
    let logs: Vec<f64> =
        case.trials.iter().filter_map(|trial| Some(trial.value_ns?.ln())).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let sd = (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n - 1.0)).sqrt();
    let times = (high / low).ln() / (2.0 * 1.96 * 1.2533 * sd / (n / 2.0).sqrt());
    told(format!("{times:.2} times as wide, {n} trials"), known.contains(&times))
}
