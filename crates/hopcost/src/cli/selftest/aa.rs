//! `hopcost selftest --aa N`: a case compared with itself, live and over identical runs. What is told
//! apart there is told wrongly, and how far the runs lie apart is stored for comparisons of runs.

use std::collections::BTreeMap;

use hopcost_model::case::Placement;
use hopcost_model::plan::{ComparisonPlan, Plan};
use hopcost_model::raw::YardstickClass;
use hopcost_model::results::{CaseResult, Estimates, Results, Verdict};
use hopcost_model::text::count;
use hopcost_plan::Ask;
use hopcost_stats::compare::{self, LogRatio};
use hopcost_stats::interval::binomial_cdf;
use hopcost_view::number::share;
use serde_json::{Value, json};

use super::measuring::Measuring;
use crate::about;
use crate::cli::exit::usage;
use crate::cli::host;
use crate::cli::output;
use crate::cli::run::duration;
use crate::cli::session::BUSY;
use crate::run::reference::{Machine, References, SPREAD_FREEDOM_MIN, Spread};

/// The options.
#[derive(clap::Args)]
pub struct Identical {
    /// Compare a case with itself N times live and in N identical runs, say how often it is told apart,
    /// and store how far the runs lie apart
    #[arg(long, value_name = "N")]
    pub aa: Option<u32>,
    /// With --aa: the case; a second one is compared with it in its place
    #[arg(long, value_name = "CASE", requires = "aa")]
    pub case: Vec<String>,
    /// With --aa: time of a comparison at most
    #[arg(long, value_name = "TIME", requires = "aa", default_value = "20s")]
    pub duration: String,
}

/// Compared with itself where no case is named.
const CASE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
/// The share of comparisons that may tell identical cases apart.
const NOMINAL: f64 = 0.05;
/// How unlikely as many as are too many may be where the share is right.
const TOO_MANY: f64 = 0.006;
/// Ratios off 1 by no more are those of equals.
const MARGIN: f64 = 0.03;
/// What the identical runs measure, by the class of the yardstick beside it. Of a class the case counts
/// whose runs lie farthest apart: the one that is its own yardstick says least.
const CASES: [(YardstickClass, &str); 10] = [
    (YardstickClass::Alu, "call/multiply"),
    (YardstickClass::Alu, "call/mutex-uncontended"),
    (YardstickClass::Syscall, "call/syscall"),
    (
        YardstickClass::Switch,
        "roundtrip/pipe?payload=64&boundary=process&wait=block&place=same-cpu",
    ),
    (YardstickClass::Switch, "roundtrip/udp?payload=64&boundary=process&wait=block&place=same-cpu"),
    (
        YardstickClass::Switch,
        "roundtrip/futex?payload=0&boundary=process&wait=block&place=same-cpu",
    ),
    (YardstickClass::Wake, "roundtrip/pipe?payload=64&boundary=process&wait=block&place=cross"),
    (YardstickClass::Wake, "roundtrip/udp?payload=64&boundary=process&wait=block&place=cross"),
    (YardstickClass::Line, "roundtrip/flag?payload=0&boundary=process&wait=spin&place=cross"),
    (YardstickClass::Line, "roundtrip/shm-ring?payload=64&boundary=process&wait=spin&place=cross"),
];
/// Trials of each case in a run.
const ROUNDS: u32 = 9;
/// Aimed length of their measured phase.
const MEASURE_NS: u64 = 10_000_000;

/// How comparisons of one kind ended.
#[derive(Debug, Default, PartialEq)]
pub struct Tally {
    made: usize,
    /// The interval does not hold 1.
    apart: usize,
    faster: usize,
    slower: usize,
    equivalent: usize,
    /// The baseline differs from itself.
    invalid: usize,
}

impl Tally {
    fn add(&mut self, interval: Option<(f64, f64)>, verdict: Verdict) {
        self.made += 1;
        self.apart += usize::from(interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0));
        match verdict {
            Verdict::Faster => self.faster += 1,
            Verdict::Slower => self.slower += 1,
            Verdict::Equivalent => self.equivalent += 1,
            Verdict::Inconclusive => {}
        }
    }

    /// As many as a test that is right tells apart in all but 0.6 % of such series.
    fn apart_max(&self) -> usize {
        let cdf = binomial_cdf(self.made, NOMINAL);
        cdf.iter().position(|p| 1.0 - p <= TOO_MANY).unwrap_or(self.made)
    }

    fn text(&self, what: &str) -> String {
        let Tally { made, apart, faster, slower, equivalent, invalid } = self;
        let inconclusive = made - faster - slower - equivalent;
        let invalid = match invalid {
            0 => String::new(),
            n => format!("; in {n} the baseline differed from itself"),
        };
        format!(
            "{what}: {apart} of {made} told apart at {} (more than {} are too many); {faster} faster, {slower} \
             slower, {equivalent} equivalent, {inconclusive} inconclusive at a margin of {}{invalid}\n",
            share(NOMINAL),
            self.apart_max(),
            share(MARGIN),
        )
    }

    fn json(&self) -> Value {
        json!({
            "made": self.made, "apart": self.apart, "apart_max": self.apart_max(), "faster": self.faster,
            "slower": self.slower, "equivalent": self.equivalent, "invalid": self.invalid,
            "margin": MARGIN, "nominal": NOMINAL,
        })
    }
}

/// What came of all of it.
pub struct Told {
    /// For a reader.
    pub text: String,
    /// For a program.
    pub json: Value,
    /// Whether identical cases were told apart too often.
    pub is_wrong: bool,
}

/// Makes `n` comparisons live and, where a case is compared with itself, as many identical runs; none
/// where the user interrupted.
pub fn run(
    args: &Identical,
    n: u32,
    cpus: &[u32],
    measuring: &Measuring,
) -> anyhow::Result<Option<Told>> {
    let (baseline, other) = match args.case.as_slice() {
        [] => (CASE, CASE),
        [one] => (one.as_str(), one.as_str()),
        [one, other] => (one.as_str(), other.as_str()),
        _ => return Err(usage("--case: name one to compare with itself, or two")),
    };
    let budget_ns = duration("--duration", &Some(args.duration.clone()))?;
    let mut live = Tally::default();
    for _ in 0..n {
        let ask = Ask {
            selectors: vec![baseline.to_owned(), other.to_owned()],
            budget_ns,
            seed: about::random() >> 32,
            cpus: cpus.to_vec(),
            ..Ask::default()
        };
        let compared = ComparisonPlan { margin: MARGIN };
        let rust = hopcost_probe::worker::mechanisms();
        let machine = host::machine(cpus)?;
        let plan = hopcost_plan::comparison(&ask, compared, &rust, &Vec::new, &machine);
        let Some(results) = measuring.results(plan.map_err(usage)?)? else { return Ok(None) };
        let Some(found) = results.comparison.as_ref() else { continue };
        live.invalid += usize::from(found.invalid.is_some());
        for one in &found.compared {
            live.add(one.low.zip(one.high), one.verdict);
        }
        output::say(&format!("hopcost: {}", live.text("live so far").trim_end()));
    }
    let mut text = live.text(&format!("live, {other} beside {baseline}"));
    let mut json = json!({ "baseline": baseline, "other": other, "live": live.json() });
    if baseline != other {
        // These are to be told apart.
        return Ok(Some(Told { text, json, is_wrong: false }));
    }
    let mut runs = Vec::new();
    for _ in 0..n {
        let Some(results) = measuring.results(identical(cpus)?)? else { return Ok(None) };
        runs.push(results);
    }
    let values = by_class(&runs);
    let stored = of_pairs(&values);
    let of_all = values.iter().filter_map(|(class, cases)| spread(*class, cases, 0..0));
    let spreads: Vec<Spread> = of_all.collect();
    text.push_str(&stored.text("pairs of identical runs"));
    for Spread { class, log_sd, freedom } in &spreads {
        let name = class.map_or("none", YardstickClass::word);
        let runs = count(*freedom as usize + 1, "run");
        text.push_str(&format!("  {name:8} {} from run to run, {runs}\n", share(*log_sd)));
    }
    let why_not = store(&runs, &spreads)?;
    text.push_str(&match &why_not {
        None => "stored: comparisons of single runs on this machine go by these\n".to_owned(),
        Some(why) => format!("not stored: {why}\n"),
    });
    json["runs"] = stored.json();
    json["spreads"] = json!(spreads);
    json["not_stored"] = json!(why_not);
    let is_wrong = [&live, &stored].iter().any(|tally| tally.apart > tally.apart_max());
    Ok(Some(Told { text, json, is_wrong }))
}

/// The plan of one of the identical runs: a case of every class.
fn identical(cpus: &[u32]) -> anyhow::Result<Plan> {
    let ask = Ask {
        selectors: CASES.iter().map(|(_, case)| (*case).to_owned()).collect(),
        rounds: Some(ROUNDS),
        measure_ns: Some(MEASURE_NS),
        seed: about::random() >> 32,
        cpus: cpus.to_vec(),
        ..Ask::default()
    };
    let rust = hopcost_probe::worker::mechanisms();
    hopcost_plan::plan(&ask, rust, &Vec::new, &host::machine(cpus)?).map_err(usage)
}

/// By class, the logarithm of each case's value in each run, as the ladder has it.
type OfClass = BTreeMap<YardstickClass, BTreeMap<String, Vec<f64>>>;

fn class(case: &CaseResult) -> Option<YardstickClass> {
    let name = format!("{}/{}", case.case.workload.word(), case.case.mechanism);
    let crosses = case.case.placement.is_some_and(Placement::is_two_cpu);
    let is_of = |selector: &str| {
        selector.split('?').next() == Some(name.as_str()) && selector.ends_with("=cross") == crosses
    };
    CASES.iter().find(|(_, selector)| is_of(selector)).map(|(class, _)| *class)
}

/// A case that a run lacks is left out.
fn by_class(runs: &[Results]) -> OfClass {
    let mut all = OfClass::new();
    for case in runs.iter().flat_map(|results| &results.results) {
        let value = case.estimates.as_ref().and_then(Estimates::headline_ns);
        if let (Some(class), Some(ns)) = (class(case), value.filter(|ns| *ns > 0.0)) {
            all.entry(class).or_default().entry(case.id.clone()).or_default().push(ns.ln());
        }
    }
    for cases in all.values_mut() {
        cases.retain(|_, values| values.len() == runs.len());
    }
    all
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0)
}

/// How far runs lie apart, by the case of a class whose runs do most, without those `but` for.
fn spread(
    class: YardstickClass,
    cases: &BTreeMap<String, Vec<f64>>,
    but: std::ops::Range<usize>,
) -> Option<Spread> {
    let without = |runs: &Vec<f64>| [&runs[..but.start], &runs[but.end..]].concat();
    let others: Vec<Vec<f64>> = cases.values().map(without).collect();
    let freedom = others.first()?.len() as f64 - 1.0;
    let farthest = others.iter().map(|runs| variance(runs)).fold(0.0, f64::max);
    let log_sd = farthest.sqrt().max(1e-6);
    (freedom >= SPREAD_FREEDOM_MIN).then_some(Spread { class: Some(class), log_sd, freedom })
}

/// Each run compared with the one after it, by the spread of all others.
fn of_pairs(values: &OfClass) -> Tally {
    let mut tally = Tally::default();
    let each = values
        .iter()
        .flat_map(|(class, cases)| cases.values().map(move |runs| (class, cases, runs)));
    for (class, cases, runs) in each {
        for from in (0..runs.len() / 2).map(|pair| 2 * pair) {
            let Some(known) = spread(*class, cases, from..from + 2) else { continue };
            let known = compare::Spread { log_sd: known.log_sd, freedom: known.freedom };
            let of = LogRatio::of_runs(&runs[from..=from], &runs[from + 1..from + 2], Some(known));
            let Some(of) = of else { continue };
            let answer = compare::answers(&[&of], MARGIN.ln_1p(), compare::ERROR)[0];
            let interval = answer.interval.map(|(low, high)| (low.exp(), high.exp()));
            let verdict = match answer.verdict {
                compare::Verdict::Faster => Verdict::Faster,
                compare::Verdict::Slower => Verdict::Slower,
                compare::Verdict::Equivalent => Verdict::Equivalent,
                compare::Verdict::Inconclusive => Verdict::Inconclusive,
            };
            tally.add(interval, verdict);
        }
    }
    tally
}

/// Stores how far these runs lie apart, or says why not.
fn store(runs: &[Results], spreads: &[Spread]) -> anyhow::Result<Option<String>> {
    let Some(first) = runs.first().filter(|_| !spreads.is_empty()) else {
        return Ok(Some("four runs at least tell how far they lie apart".to_owned()));
    };
    let mut findings = runs.iter().flat_map(|results| &results.findings);
    if let Some(busy) = findings.find(|found| found.case.is_none() && BUSY.contains(&found.code)) {
        return Ok(Some(format!("the machine was busy ({}); repeat when it is quiet", busy.code)));
    }
    References::of_user(Machine::of(&first.host))?.put_spreads(spreads)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_chance_tells_apart_are_not_too_many() {
        let of = |made| Tally { made, ..Tally::default() }.apart_max();
        // Of the binomial distribution with 5 %: P(X > 11 of 100) = 0.0043, P(X > 10) = 0.0115;
        // P(X > 18 of 200) = 0.0058, P(X > 17) = 0.0121.
        assert_eq!((of(100), of(200), of(0)), (11, 18, 0));
    }

    fn of_one(runs: Vec<f64>) -> OfClass {
        [(YardstickClass::Alu, [("call/multiply".to_owned(), runs)].into())].into()
    }

    #[test]
    fn runs_as_far_apart_as_all_are_not_told_apart_and_one_that_is_not_is() {
        let near: Vec<f64> = (0..20).map(|run| 0.001 * f64::from(run * 7 % 5)).collect();
        let tally = of_pairs(&of_one(near.clone()));
        assert_eq!((tally.made, tally.apart, tally.faster + tally.slower), (10, 0, 0));
        let tally = of_pairs(&of_one([near, vec![0.0, 0.2]].concat()));
        assert_eq!((tally.made, tally.apart, tally.slower), (11, 1, 1));
        assert_eq!(of_pairs(&of_one(vec![0.0; 4])).made, 0, "two others tell no spread");
    }

    #[test]
    fn a_spread_is_that_of_the_case_whose_runs_lie_farthest_apart() {
        let mut all = of_one(vec![0.0, 0.01, 0.02, 0.01, 0.01]);
        let cases = all.get_mut(&YardstickClass::Alu).unwrap();
        let of = |cases: &BTreeMap<String, Vec<f64>>, but| spread(YardstickClass::Alu, cases, but);
        let found = of(cases, 0..0).unwrap();
        assert!(
            (found.log_sd - 0.00005f64.sqrt()).abs() < 1e-9 && found.freedom == 4.0,
            "{found:?}"
        );
        cases.insert("call/mutex-uncontended".to_owned(), vec![0.0, 0.1, 0.2, 0.1, 0.1]);
        assert!((of(cases, 0..0).unwrap().log_sd - 0.005f64.sqrt()).abs() < 1e-9);
        assert_eq!(of(cases, 0..2), None, "three runs tell none");
    }
}
