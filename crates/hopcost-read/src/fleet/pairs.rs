//! Pairs of hosts: each case over all of them, and each host over its pairs.

use std::collections::BTreeMap;

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{Off, PairMatrix, PairRow, PairValue, PairedCase};
use hopcost_stats::sample::median;

use super::measured;
use super::outliers::Thresholds;

/// Names that a square has room for.
const NAMES_MAX: usize = 40;

/// The cases that pairs measured. By the rule of hosts pairs lie off each other too, over all their cases.
pub(super) fn cases(
    raw: &RawFleet,
    pairs: &[(String, String, usize)],
    margin: f64,
) -> Vec<PairedCase> {
    let files: Vec<Option<usize>> = pairs.iter().map(|(.., file)| Some(*file)).collect();
    let cases = measured::cases(raw, &files);
    let mut thresholds = Thresholds::for_all(&cases);
    let of = |case: measured::Case| {
        let judged = thresholds.judge(&case, margin)?;
        let middle = judged.logs.median();
        let pair = |(one, (_, off)): (&measured::Measured, &(_, Option<Off>))| PairValue {
            a: pairs[one.host].0.clone(),
            b: pairs[one.host].1.clone(),
            value: one.value,
            low: one.estimate.low,
            high: one.estimate.high,
            ratio: one.ratio(middle),
            off: *off,
        };
        let values: Vec<PairValue> = case.hosts.iter().zip(&judged.values).map(pair).collect();
        Some(PairedCase {
            case: raw.cases[case.index].clone(),
            statistic: case.statistic.to_owned(),
            unit: case.unit(),
            is_rate: case.is_rate,
            median: case.value(middle),
            threshold: judged.threshold,
            rows: rows(&values),
            matrix: matrix(raw, &values),
            pairs: values,
        })
    };
    cases.into_iter().filter_map(of).collect()
}

fn rows(pairs: &[PairValue]) -> Vec<PairRow> {
    let mut of: BTreeMap<&str, Vec<&PairValue>> = BTreeMap::new();
    for pair in pairs {
        for host in [&pair.a, &pair.b] {
            of.entry(host).or_default().push(pair);
        }
    }
    let row = |(host, own): (&str, Vec<&PairValue>)| {
        let ratios: Vec<f64> = own.iter().map(|pair| pair.ratio).collect();
        let n_slower = own.iter().filter(|pair| pair.off == Some(Off::Slower)).count();
        Some(PairRow {
            host: host.to_owned(),
            n: own.len() as u32,
            n_slower: n_slower as u32,
            ratio: median(&ratios)?,
        })
    };
    let mut rows: Vec<PairRow> = of.into_iter().filter_map(row).collect();
    rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    rows
}

/// The square of all hosts; where they are too many, of the label that has room for its values, or of neighbours
/// by name.
fn matrix(raw: &RawFleet, pairs: &[PairValue]) -> PairMatrix {
    let mut hosts: Vec<&str> = pairs.iter().flat_map(|pair| [&*pair.a, &*pair.b]).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let (by, of) = grouped(raw, &hosts);
    let mut names: Vec<&String> = of.values().collect();
    names.sort_unstable();
    names.dedup();
    let place: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut values: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        let at = |host: &String| of.get(host.as_str()).and_then(|name| place.get(name.as_str()));
        if let (Some(row), Some(column)) = (at(&pair.a), at(&pair.b)) {
            values.entry((*row, *column)).or_default().push(pair.value);
        }
    }
    let mut cells = vec![vec![None; names.len()]; names.len()];
    for ((row, column), values) in values {
        cells[row][column] = median(&values);
    }
    PairMatrix { by, names: names.into_iter().cloned().collect(), cells }
}

/// Each host's name in the square, and what that is.
fn grouped<'a>(raw: &RawFleet, hosts: &[&'a str]) -> (String, BTreeMap<&'a str, String>) {
    if hosts.len() <= NAMES_MAX {
        return ("host".to_owned(), hosts.iter().map(|host| (*host, host.to_string())).collect());
    }
    let known = |host: &str| raw.hosts.binary_search_by(|of| of.name.as_str().cmp(host)).ok();
    let keys: std::collections::BTreeSet<&String> =
        raw.hosts.iter().flat_map(|host| host.labels.keys()).collect();
    for key in keys {
        let label = |host: &str| raw.hosts[known(host)?].labels.get(key).cloned();
        let of: Option<BTreeMap<&str, String>> =
            hosts.iter().map(|host| Some((*host, label(host)?))).collect();
        let Some(of) = of else { continue };
        let values: std::collections::BTreeSet<&String> = of.values().collect();
        if (2..=NAMES_MAX).contains(&values.len()) {
            return (format!("label {key}"), of);
        }
    }
    let each = hosts.len().div_ceil(NAMES_MAX);
    let name = |part: &[&str]| format!("{} to {}", part[0], part[part.len() - 1]);
    let parts =
        hosts.chunks(each).flat_map(|part| part.iter().map(move |host| (*host, name(part))));
    ("hosts by name".to_owned(), parts.collect())
}
