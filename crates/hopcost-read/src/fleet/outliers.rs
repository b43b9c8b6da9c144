//! Each case over the fleet, and the hosts that lie off by the rule.

use std::collections::BTreeMap;

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{FleetCase, HostValue, Off, Outlier, OutlierRule};
use hopcost_stats::LEVEL;
use hopcost_stats::interval::median_interval;
use hopcost_stats::outlier::{self, Fleets, HOSTS_MIN, Placed, Tail, Value};
use hopcost_stats::sample::Sample;

use super::measured::{Case, Measured, remark};

/// What was found over all cases.
pub(super) struct Found {
    pub cases: Vec<FleetCase>,
    /// Of each case its values, in the order of its hosts.
    pub placed: Vec<Vec<HostValue>>,
    pub outliers: Vec<Outlier>,
    pub rule: Option<OutlierRule>,
    pub remarks: Vec<String>,
}

/// Thresholds by the number of hosts or pairs: few are simulated, because cases have much the same of them.
pub(super) struct Thresholds {
    cases: usize,
    known: BTreeMap<(usize, usize), f64>,
}

/// A case by the rule.
pub(super) struct Judged {
    /// Values in ascending order, as logarithms.
    pub logs: Sample,
    pub scale: Option<f64>,
    /// By how many scales one lies off that is told.
    pub threshold: Option<f64>,
    /// Of each value by how many scales it lies off, and to which side where that is told.
    pub values: Vec<(Option<f64>, Option<Off>)>,
}

impl Thresholds {
    /// For all of these cases together.
    pub fn for_all(cases: &[Case]) -> Self {
        let cases = cases.iter().filter(|case| case.hosts.len() >= HOSTS_MIN).count();
        Self { cases, known: BTreeMap::new() }
    }

    /// Looks at a case; `None` where it has no value that is a number.
    pub fn judge(&mut self, case: &Case, margin: f64) -> Option<Judged> {
        let value = |one: &Measured| Value { log: one.log, error: one.error };
        let values: Vec<Value> = case.hosts.iter().map(value).collect();
        let logs = Sample::new(values.iter().map(|value| value.log).collect()).ok()?;
        let threshold = self.of(values.len());
        let placed = outlier::place(&values);
        let margin_log = libm::log1p(margin);
        let judged = |(n, one): (usize, &Value)| {
            let score = placed.as_ref().map(|placed: &Placed| placed.scores[n]);
            let off = score.zip(threshold).and_then(|(score, threshold)| {
                let is_off =
                    score.abs() > threshold && (one.log - logs.median()).abs() > margin_log;
                is_off.then_some(if score > 0.0 { Off::Slower } else { Off::Faster })
            });
            (score, off)
        };
        let values = values.iter().enumerate().map(judged).collect();
        Some(Judged { scale: placed.map(|placed| placed.scale), threshold, values, logs })
    }

    fn of(&mut self, hosts: usize) -> Option<f64> {
        let (grid, cases) = (outlier::grid(hosts)?, self.cases);
        let found = self.known.entry(grid);
        Some(*found.or_insert_with(|| outlier::threshold(hosts, cases).unwrap_or(f64::INFINITY)))
    }
}

/// Looks at every case.
pub(super) fn found(cases: &[Case], raw: &RawFleet, margin: f64) -> Found {
    let mut thresholds = Thresholds::for_all(cases);
    let mut found = Found {
        cases: Vec::new(),
        placed: Vec::new(),
        outliers: Vec::new(),
        rule: None,
        remarks: Vec::new(),
    };
    for case in cases {
        match thresholds.judge(case, margin) {
            Some(judged) => one(case, raw, &judged, &mut found),
            None => found.placed.push(Vec::new()),
        }
    }
    found.outliers.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
    found.rule = rule(&found.cases, thresholds.cases);
    let few = cases.len() - thresholds.cases;
    let rest =
        format!("measured by fewer than {HOSTS_MIN} hosts: of these no host is told to lie off.");
    found.remarks.extend(remark(few, "case", &rest));
    found
}

fn one(case: &Case, raw: &RawFleet, judged: &Judged, found: &mut Found) {
    let middle = judged.logs.median();
    let at = found.cases.len() as u32;
    let mut counts = [0u32; 2];
    let values = case.hosts.iter().zip(&judged.values).map(|(one, &(score, off))| {
        let ratio = one.ratio(middle);
        let ends = one.estimate.low.zip(one.estimate.high).filter(|(low, _)| *low > 0.0);
        let middle_value = case.value(middle);
        if let Some((off, score)) = off.zip(score) {
            counts[usize::from(off == Off::Faster)] += 1;
            let ends = ends.map(|(low, high)| match case.is_rate {
                true => (middle_value / high, middle_value / low),
                false => (low / middle_value, high / middle_value),
            });
            found.outliers.push(Outlier {
                host: raw.hosts[one.host].name.clone(),
                case: at,
                off,
                ratio,
                low: ends.map(|(low, _)| low),
                high: ends.map(|(_, high)| high),
                score,
                validity: one.estimate.validity,
            });
        }
        HostValue {
            case: at,
            value: one.value,
            low: one.estimate.low,
            high: one.estimate.high,
            ratio,
            score: score.filter(|score| score.is_finite()),
            off,
            validity: one.estimate.validity,
        }
    });
    found.placed.push(values.collect());
    let slowest = case.hosts.iter().max_by(|a, b| a.log.total_cmp(&b.log));
    let Some(slowest) = slowest else { return };
    let interval =
        median_interval(&judged.logs, LEVEL).map(|of| [case.value(of.low), case.value(of.high)]);
    let ends = interval.map(|[a, b]| (a.min(b), a.max(b)));
    found.cases.push(FleetCase {
        case: raw.cases[case.index].clone(),
        statistic: case.statistic.to_owned(),
        unit: case.unit(),
        is_rate: case.is_rate,
        n_hosts: case.hosts.len() as u32,
        median: case.value(middle),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        spread: judged.scale.map(libm::expm1),
        threshold: judged.threshold,
        slowest: raw.hosts[slowest.host].name.clone(),
        slowest_ratio: slowest.ratio(middle),
        n_slower: counts[0],
        n_faster: counts[1],
    });
}

/// The rule as it was applied.
fn rule(cases: &[FleetCase], judged: usize) -> Option<OutlierRule> {
    let thresholds = || cases.iter().filter_map(|case| case.threshold);
    let (least, most) = (thresholds().reduce(f64::min)?, thresholds().reduce(f64::max)?);
    let hosts = cases.iter().map(|case| case.n_hosts).max()?;
    let heavy = Fleets::of(hosts as usize, Tail::Student5).alarms(least) * judged as f64;
    Some(OutlierRule {
        false_alarms: outlier::FALSE_ALARMS,
        false_alarms_heavy: heavy,
        n_hosts: hosts,
        n_cases: judged as u32,
        threshold_min: least,
        threshold_max: most,
    })
}
