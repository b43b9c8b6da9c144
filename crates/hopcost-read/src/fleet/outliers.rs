//! Each case over the fleet, and the hosts that lie off by the rule.

use std::collections::BTreeMap;

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{FleetCase, HostValue, Off, Outlier, OutlierRule};
use hopcost_stats::LEVEL;
use hopcost_stats::interval::median_interval;
use hopcost_stats::outlier::{self, Fleets, HOSTS_MIN, Placed, Tail, Value};
use hopcost_stats::sample::Sample;

use super::measured::{Case, remark};

/// What was found over all cases.
pub(super) struct Found {
    pub cases: Vec<FleetCase>,
    /// Of each case its values, in the order of its hosts.
    pub placed: Vec<Vec<HostValue>>,
    pub outliers: Vec<Outlier>,
    pub rule: Option<OutlierRule>,
    pub remarks: Vec<String>,
}

/// Thresholds by the number of hosts: few are simulated, because cases have much the same hosts.
struct Thresholds {
    cases: usize,
    known: BTreeMap<(usize, usize), f64>,
}

impl Thresholds {
    fn of(&mut self, hosts: usize) -> Option<f64> {
        let (grid, cases) = (outlier::grid(hosts)?, self.cases);
        let found = self.known.entry(grid);
        Some(*found.or_insert_with(|| outlier::threshold(hosts, cases).unwrap_or(f64::INFINITY)))
    }
}

/// Looks at every case.
pub(super) fn found(cases: &[Case], raw: &RawFleet, margin: f64) -> Found {
    let judged = cases.iter().filter(|case| case.hosts.len() >= HOSTS_MIN).count();
    let mut thresholds = Thresholds { cases: judged, known: BTreeMap::new() };
    let mut found = Found {
        cases: Vec::new(),
        placed: Vec::new(),
        outliers: Vec::new(),
        rule: None,
        remarks: Vec::new(),
    };
    for case in cases {
        one(case, raw, &mut thresholds, margin, &mut found);
    }
    found.outliers.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
    found.rule = rule(&found.cases, thresholds.cases);
    let few = cases.len() - judged;
    let rest =
        format!("measured by fewer than {HOSTS_MIN} hosts: of these no host is told to lie off.");
    found.remarks.extend(remark(few, "case", &rest));
    found
}

fn one(case: &Case, raw: &RawFleet, thresholds: &mut Thresholds, margin: f64, found: &mut Found) {
    let values: Vec<Value> =
        case.hosts.iter().map(|one| Value { log: one.log, error: one.error }).collect();
    let logs = Sample::new(values.iter().map(|value| value.log).collect());
    let Ok(logs) = logs else {
        found.placed.push(Vec::new());
        return;
    };
    let threshold = thresholds.of(values.len());
    let placed = outlier::place(&values);
    let middle = logs.median();
    let margin_log = libm::log1p(margin);
    let at = found.cases.len() as u32;
    let mut counts = [0u32; 2];
    let judged = case.hosts.iter().enumerate().map(|(n, one)| {
        let score = placed.as_ref().map(|placed: &Placed| placed.scores[n]);
        let off = score.zip(threshold).and_then(|(score, threshold)| {
            let is_off = score.abs() > threshold && (one.log - middle).abs() > margin_log;
            is_off.then_some(if score > 0.0 { Off::Slower } else { Off::Faster })
        });
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
    found.placed.push(judged.collect());
    let slowest = case.hosts.iter().max_by(|a, b| a.log.total_cmp(&b.log));
    let Some(slowest) = slowest else { return };
    let interval =
        median_interval(&logs, LEVEL).map(|of| [case.value(of.low), case.value(of.high)]);
    let ends = interval.map(|[a, b]| (a.min(b), a.max(b)));
    found.cases.push(FleetCase {
        case: raw.cases[case.index].clone(),
        statistic: case.statistic.to_owned(),
        unit: case.unit(),
        is_rate: case.is_rate,
        n_hosts: values.len() as u32,
        median: case.value(middle),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        spread: placed.map(|placed| libm::expm1(placed.scale)),
        threshold,
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
