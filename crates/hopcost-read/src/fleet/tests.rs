use crate::stored::facts::Across;
use hopcost_model::fleet::{IndexedEstimate, IndexedRun, RawFleet};
use hopcost_model::results::{Contrast, Verdict};
use hopcost_stats::rng::Rng;

use super::of_fleets;

const CASES: [&str; 3] = ["roundtrip/pipe", "roundtrip/tcp", "call/getppid"];

/// A fleet of one kernel whose hosts spread by 2 %, the first case slower by a factor.
fn fleet(hosts: usize, seed: u64, kernel: &str, factor: f64) -> RawFleet {
    let mut rng = Rng::new(seed);
    let host = |host: usize| {
        let name = format!("h{host:04}");
        let mut value = |(at, case): (usize, &&str)| {
            let value = 1000.0 * (at + 1) as f64 * (0.02 * rng.normal()).exp();
            let value = if at == 0 { value * factor } else { value };
            let (case, statistic) = ((*case).into(), "p50_ns".into());
            IndexedEstimate { case, statistic, point: Some(value), ..IndexedEstimate::default() }
        };
        let estimates = CASES.iter().enumerate().map(&mut value).collect();
        let facts =
            [("kernel.release".into(), kernel.into()), ("host.id".into(), name.as_str().into())];
        (name, IndexedRun { facts: facts.into(), estimates, ..IndexedRun::default() })
    };
    RawFleet { hosts: (0..hosts).map(host).collect(), ..RawFleet::default() }
}

#[test]
fn fleets_are_compared_host_by_host() {
    let old = fleet(40, 1, "6.1.8", 1.0);
    let new = |factor: f64, kernel: &str| {
        let mut new = fleet(40, 1, kernel, factor);
        let mut rng = Rng::new(77);
        let values = new.hosts.values_mut().flat_map(|run| &mut run.estimates);
        let values = values.filter_map(|of| of.point.as_mut());
        values.for_each(|point| *point *= (0.01 * rng.normal()).exp());
        new
    };
    let found = of_fleets(&old, &new(1.06, "6.1.8"), 0.03, &[]).unwrap();
    let of: Vec<Contrast> = found.compared.iter().filter_map(|of| of.contrast).collect();
    let verdicts: Vec<Verdict> = of.iter().map(|of| of.verdict).collect();
    assert_eq!(verdicts, [Verdict::Inside, Verdict::Outside, Verdict::Inside]);
    assert!((of[1].ratio - 1.06).abs() < 0.01 && of[1].n == 40, "{of:?}");
    let refused = of_fleets(&old, &new(1.0, "6.1.9"), 0.03, &[]).unwrap_err();
    assert_eq!((refused.len(), refused[0].across), (1, Across::Kernel));
    let mut smaller = new(1.0, "6.1.9");
    let run = smaller.hosts.remove("h0003").unwrap();
    smaller.hosts.insert("other".to_owned(), run);
    let found = of_fleets(&old, &smaller, 0.03, &[Across::Kernel]).unwrap();
    let hosts = found.hosts.unwrap();
    assert_eq!((hosts.n_hosts, found.differences.len()), (39, 1));
    assert_eq!(
        (hosts.only_baseline, hosts.only_other),
        (vec!["h0003".into()], vec!["other".into()])
    );
}
