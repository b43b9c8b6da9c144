use std::sync::Arc;

use hopcost_model::fleet::{IndexedEstimate, IndexedFile, RawFleet, RawHost, RawTask};
use hopcost_model::results::{Across, Contrast, FleetReport, Off, Verdict};
use hopcost_stats::rng::Rng;

use super::{of_fleets, report};

const CASES: [&str; 3] = ["roundtrip/pipe", "roundtrip/tcp", "call/getppid"];

/// A fleet whose truth is known.
struct Truth {
    hosts: usize,
    /// The first hosts are slower by this factor in the first case.
    slow: (usize, f64),
    /// How far hosts lie apart.
    spread: f64,
    seed: u64,
    /// The reading of a host.
    fact: fn(usize) -> Vec<(&'static str, &'static str)>,
    rack: fn(usize) -> &'static str,
}

impl Truth {
    fn new(hosts: usize) -> Self {
        Truth {
            hosts,
            slow: (0, 1.0),
            spread: 0.02,
            seed: 1,
            fact: |_| vec![("kernel.release", "6.1.8")],
            rack: |host| ["r1", "r2", "r3", "r4"][host % 4],
        }
    }

    fn fleet(&self) -> RawFleet {
        let mut rng = Rng::new(self.seed);
        let mut fleet =
            RawFleet { cases: CASES.map(str::to_owned).to_vec(), ..RawFleet::default() };
        for host in 0..self.hosts {
            let name = format!("h{host:04}");
            let labels = [("rack".to_owned(), (self.rack)(host).to_owned())].into();
            let state = "ready".to_owned();
            fleet.hosts.push(RawHost { name: name.clone(), labels, state, ..RawHost::default() });
            let estimates = (0..CASES.len()).map(|case| {
                let slow = if host < self.slow.0 && case == 0 { self.slow.1 } else { 1.0 };
                let value = 1000.0 * (case + 1) as f64 * slow * (self.spread * rng.normal()).exp();
                estimate(case, value)
            });
            let facts =
                (self.fact)(host).into_iter().map(|(key, value)| (key.into(), value.into()));
            fleet.files.push(IndexedFile {
                file: format!("hosts/{name}.hopcost"),
                facts: facts.chain([(Arc::from("host.id"), Arc::from(name.as_str()))]).collect(),
                estimates: estimates.collect(),
                ..IndexedFile::default()
            });
            let file = Some(host);
            fleet.tasks.push(RawTask { a: name, state: "done".into(), file, ..RawTask::default() });
        }
        fleet
    }

    fn report(&self) -> FleetReport {
        report(&self.fleet(), 0.03)
    }
}

fn estimate(case: usize, value: f64) -> IndexedEstimate {
    IndexedEstimate {
        case,
        statistic: "p50_ns".into(),
        unit: "ns".into(),
        point: Some(value),
        low: Some(value * 0.995),
        high: Some(value * 1.005),
        trials: 15,
        validity: None,
        skip: None,
    }
}

fn slow_hosts(report: &FleetReport) -> Vec<&str> {
    let slow = report.outliers.iter().filter(|of| of.off == Off::Slower);
    let mut names: Vec<&str> = slow.map(|of| of.host.as_str()).collect();
    names.sort_unstable();
    names
}

/// The first four hosts have another kernel.
fn kernels(host: usize) -> Vec<(&'static str, &'static str)> {
    vec![("kernel.release", if host < 4 { "6.1.9" } else { "6.1.8" }), ("cpu.model", "X")]
}

#[test]
fn slow_hosts_are_told_with_what_they_have_in_common() {
    let found = Truth { slow: (4, 1.4), fact: kernels, ..Truth::new(100) }.report();
    assert_eq!(slow_hosts(&found), ["h0000", "h0001", "h0002", "h0003"]);
    let outlier = &found.outliers[0];
    assert_eq!((outlier.case, found.cases[1].n_slower), (1, 4), "cases stand by their spelling");
    assert!((outlier.ratio - 1.4).abs() < 0.1 && outlier.low.unwrap() < outlier.ratio);
    let fact = &found.of_slow[0];
    assert_eq!((fact.key.as_str(), fact.value.as_str()), ("kernel.release", "6.1.9"));
    let counts = (fact.n_slow_with, fact.n_slow, fact.n_others_with, fact.n_others);
    assert_eq!(counts, (4, 4, 0, 96));
    assert!(fact.error < 1e-4 && found.of_slow.len() == 1, "{:?}", found.of_slow);
    let group = &found.groups[0];
    assert_eq!((group.key.as_str(), group.value.as_str(), group.n), ("kernel.release", "6.1.9", 4));
    assert_eq!((group.off, group.n_others), (Some(Off::Slower), 96));
    assert!(group.low.unwrap() < 1.4 && 1.4 < group.high.unwrap() && found.confounded.is_empty());
    let rule = found.rule.unwrap();
    assert_eq!((rule.n_hosts, rule.n_cases), (100, 3));
    assert!(rule.false_alarms_heavy > rule.false_alarms);
}

#[test]
fn what_goes_together_is_told_to_be_confounded() {
    let rack = |host| if host < 4 { "r9" } else { "r1" };
    let found = Truth { slow: (4, 1.4), fact: kernels, rack, ..Truth::new(60) }.report();
    assert_eq!(found.of_slow.len(), 2, "{:?}", found.of_slow);
    assert_eq!(
        found.confounded,
        [
            "kernel.release 6.1.9 and label rack r9 are of the same hosts: which of them makes the difference, this fleet \
          cannot tell."
        ]
    );
}

#[test]
fn a_group_of_near_half_the_hosts_is_no_outlier_and_is_told_as_a_group() {
    let rack = |host| if host < 24 { "slow" } else { "fast" };
    let found = Truth { slow: (24, 1.2), rack, ..Truth::new(60) }.report();
    let group = &found.groups[0];
    assert_eq!((group.off, group.key.as_str()), (Some(Off::Slower), "label rack"), "{group:?}");
    assert!(found.groups.iter().all(|of| of.value != "fast"), "the rest of the others");
}

#[test]
fn hosts_that_failed_say_why_and_the_last_run_counts() {
    let mut fleet = Truth::new(12).fleet();
    fleet.tasks[3].state = "failed".into();
    fleet.tasks[3].reason = Some("the agent died".into());
    fleet.tasks[3].file = None;
    fleet.files[5].error = Some("it is damaged".into());
    fleet.hosts[7].clock_off_s = Some(3600.0);
    // The first host was measured again, twice as slow.
    let mut again = fleet.files[0].clone();
    again.estimates.iter_mut().for_each(|of| of.point = of.point.map(|value| 2.0 * value));
    fleet.files.push(again);
    let file = Some(fleet.files.len() - 1);
    fleet.tasks.push(RawTask { attempt: 1, file, ..fleet.tasks[0].clone() });
    let found = report(&fleet, 0.03);
    assert!((found.hosts[0].values[0].ratio - 2.0).abs() < 0.2);
    assert_eq!(found.hosts[3].reason.as_deref(), Some("measuring it failed: the agent died"));
    assert_eq!(
        found.hosts[5].reason.as_deref(),
        Some("its run file cannot be read: it is damaged")
    );
    assert!(found.remarks[0].starts_with("1 task measured more than once"));
    let tasks = &found.about.host_tasks;
    assert_eq!((tasks["done"], tasks["failed"]), (11, 1), "a host that was measured twice is one");
}

#[test]
fn pairs_have_their_median_and_the_hosts_that_are_slow_in_all_of_theirs() {
    let mut fleet = Truth::new(8).fleet();
    fleet.cases.push("roundtrip/tcp?boundary=host".into());
    for a in 0..8usize {
        for b in a + 1..8 {
            let slow = if a == 2 || b == 2 { 1.5 } else { 1.0 };
            let value = 20_000.0 * slow + (a * 8 + b) as f64;
            fleet.files.push(IndexedFile {
                file: format!("pairs/{a}--{b}.hopcost"),
                estimates: vec![estimate(3, value)],
                ..IndexedFile::default()
            });
            let name = |host: usize| fleet.hosts[host].name.clone();
            let (a, b, file) = (name(a), Some(name(b)), Some(fleet.files.len() - 1));
            fleet.tasks.push(RawTask { a, b, state: "done".into(), file, ..RawTask::default() });
        }
    }
    let found = report(&fleet, 0.03);
    let case = &found.pairs[0];
    assert_eq!((found.pairs.len(), case.pairs.len(), case.rows.len()), (1, 28, 8));
    assert_eq!((case.rows[0].host.as_str(), case.rows[0].n), ("h0002", 7));
    assert!((case.rows[0].ratio - 1.5).abs() < 0.01 && case.rows[1].ratio < 1.1);
    let off: Vec<_> = case.pairs.iter().filter(|pair| pair.off == Some(Off::Slower)).collect();
    assert!(
        off.len() == 7 && off.iter().all(|pair| [&pair.a, &pair.b].contains(&&"h0002".to_string()))
    );
}

#[test]
fn fleets_are_compared_host_by_host() {
    let before = Truth::new(40);
    let old = before.fleet();
    let new = |factor: f64, kernel: &'static str| {
        let mut fleet = old.clone();
        let mut rng = Rng::new(77);
        for file in &mut fleet.files {
            for of in &mut file.estimates {
                let factor = if of.case == 0 { factor } else { 1.0 };
                of.point = of.point.map(|value| value * factor * (0.01 * rng.normal()).exp());
            }
            file.facts[0].1 = kernel.into();
        }
        fleet
    };
    let found = of_fleets(&old, &new(1.06, "6.1.8"), 0.03, &[]).unwrap();
    let of: Vec<Contrast> = found.compared.iter().filter_map(|of| of.contrast).collect();
    let verdicts: Vec<Verdict> = of.iter().map(|of| of.verdict).collect();
    assert_eq!(verdicts, [Verdict::Inside, Verdict::Outside, Verdict::Inside]);
    assert!((of[1].ratio - 1.06).abs() < 0.01 && of[1].n == 40, "{of:?}");
    let refused = of_fleets(&old, &new(1.0, "6.1.9"), 0.03, &[]).unwrap_err();
    assert_eq!((refused.len(), refused[0].across), (1, Across::Kernel));
    let mut smaller = new(1.0, "6.1.9");
    (smaller.hosts[3].name, smaller.tasks[3].a) = ("other".into(), "other".into());
    smaller.hosts.sort_by(|a, b| a.name.cmp(&b.name));
    let found = of_fleets(&old, &smaller, 0.03, &[Across::Kernel]).unwrap();
    let hosts = found.hosts.unwrap();
    assert_eq!((hosts.n_hosts, found.differences.len()), (39, 1));
    assert_eq!(
        (hosts.only_baseline, hosts.only_other),
        (vec!["h0003".into()], vec!["other".into()])
    );
}

#[test]
fn empty_and_small_fleets_are_reported() {
    let empty = report(&RawFleet::default(), 0.03);
    assert_eq!((empty.hosts.len(), empty.cases.len(), empty.rule), (0, 0, None));
    let few = Truth { slow: (1, 9.0), ..Truth::new(5) }.report();
    assert_eq!((few.outliers.len(), few.rule), (0, None));
    assert!(
        few.remarks.iter().any(|line| line.contains("fewer than 8 hosts")),
        "{:?}",
        few.remarks
    );
}
