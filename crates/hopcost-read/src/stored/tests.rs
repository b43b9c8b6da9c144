use crate::comparison::Compared;
use hopcost_model::{Contrast, RawRun, Verdict, WarmUp};

use super::*;
use crate::testing::{Builder, MECHANISMS, PIPE, PIPE_PYTHON, TCP, noisy, worker};

/// A run on this host in which these cases take so many nanoseconds.
fn run(id: u32, host: &[(&str, &str)], cases: &[(&str, u32)]) -> RawRun {
    let mut builder = Builder::new().host(host);
    for (case, ns) in cases {
        builder = builder.case(case, 8, |round, t| {
            let noise = noisy(400, round);
            let least = *noise.iter().min().unwrap();
            t.each(&noise.iter().map(|one| ns + (one - least) / 1000).collect::<Vec<u32>>());
        });
    }
    let mut raw = builder.build();
    raw.about.id = format!("run-{id}");
    raw
}

/// Runs of the pipe, each so many per mille off 10 µs.
fn pipes(off: &[i32]) -> Vec<RawRun> {
    let of = |(id, off): (usize, &i32)| run(id as u32, &[], &[(PIPE, (10_000 + 10 * off) as u32)]);
    off.iter().enumerate().map(of).collect()
}

fn compare([baseline, other]: [&[RawRun]; 2], across: &[Across]) -> Result<RunComparison> {
    let read = |runs: &[RawRun]| -> Vec<RunSummary> {
        runs.iter().map(|raw| RunSummary::of(raw, &MECHANISMS, None)).collect()
    };
    let asked = Asked { margin: 0.03, across, geomean: false };
    of_runs(&read(baseline), &[Side { name: "other", runs: &read(other) }], &asked)
}

/// The one case of a comparison.
fn one(found: &RunComparison) -> (&Compared, Contrast) {
    let [one] = found.compared.as_slice() else { panic!("{found:?}") };
    (one, one.contrast.unwrap())
}

#[test]
fn runs_of_two_sides_say_what_changed() {
    let old = pipes(&[0, 4, -3, 7]);
    for (new, ratio, verdict) in [
        (&[100, 96, 104, 99][..], 1.1, Verdict::Outside),
        (&[-90, -96, -84], 0.91, Verdict::Outside),
        (&[2, 5, -1, 8], 1.0, Verdict::Inside),
        (&[100, -96, 4, 9], 1.0, Verdict::Open),
        (&[100], 1.1, Verdict::Outside),
    ] {
        let found = compare([&old, &pipes(new)], &[]).unwrap();
        let (case, of) = one(&found);
        assert_eq!((case.case.as_str(), case.baseline.as_str()), (PIPE, PIPE));
        assert_eq!((of.n as usize, case.met_ratio), (new.len(), None), "{case:?}");
        assert!((of.ratio - ratio).abs() < 0.02, "{case:?}");
        let verdict = if new.len() == 1 { Verdict::Open } else { verdict };
        assert_eq!((of.verdict, of.more.is_some()), (verdict, verdict == Verdict::Open));
        assert_eq!(of.ends().is_none(), new.len() == 1, "one run shows no spread: {case:?}");
        assert_eq!((found.baseline.len(), found.differences.len()), (4, 0));
    }
}

#[test]
fn several_sides_share_the_error_and_have_geometric_means_over_common_cases() {
    let side = |off: u32, factors: [f64; 2]| -> Vec<RunSummary> {
        let [pipe, tcp] = factors.map(|factor| factor * 1e4);
        let of = |at: u32| run(off + at, &[], &[(PIPE, pipe as u32 + 9 * at), (TCP, tcp as u32)]);
        (0..4).map(|at| RunSummary::of(&of(at), &MECHANISMS, None)).collect()
    };
    let base = side(0, [1.0, 2.0]);
    let (same, slow) = (side(10, [1.25, 1.6]), side(20, [1.2, 2.4]));
    let asked = Asked { margin: 0.03, across: &[], geomean: true };
    let sides = [("same", &same), ("slow", &slow)].map(|(name, runs)| Side { name, runs });
    let found = of_runs(&base, &sides, &asked).unwrap();
    let of = |of: &Compared| {
        let contrast = of.contrast.unwrap();
        (of.side.clone().unwrap(), (contrast.ratio * 100.0).round(), contrast.verdict)
    };
    let own = |name: &str, ratio, verdict| (name.to_owned(), ratio, verdict);
    let means: Vec<_> = found.summary.iter().map(of).collect();
    let want = [own("same", 100.0, Verdict::Inside), own("slow", 120.0, Verdict::Outside)];
    assert_eq!(means, want);
    assert_eq!(found.summary[0].case, "geometric mean of 2 cases");
    let ratios: Vec<f64> = found.compared.iter().map(|one| of(one).1).collect();
    assert_eq!((ratios, found.other.len()), (vec![125.0, 80.0, 120.0, 120.0], 8));
    assert_eq!((&*found.other[7].side, &*found.baseline[0].side), ("slow", "baseline"));
    // A case that one run lacks is in no mean.
    let mut lacking = same.clone();
    lacking[2].cases.truncate(1);
    let found = of_runs(&base, &[Side { name: "same", runs: &lacking }], &asked).unwrap();
    assert_eq!(found.summary[0].case, "geometric mean of 1 of 2 cases");
    assert_eq!((found.summary[0].side.as_ref(), found.compared.len()), (None, 2));
}

#[test]
fn runs_at_two_speeds_are_judged_by_the_adjusted_ratio_and_show_both() {
    let run = |ns: u32, reading_ns: f64| {
        let of = |_, t: &mut crate::testing::TrialBuilder| {
            t.each(&[ns; 100]);
            t.yardstick(reading_ns, reading_ns);
        };
        let mut raw = Builder::new().yardstick().case(PIPE, 9, of).build();
        raw.yardsticks[0].reference = None;
        raw
    };
    // The other run is a tenth slower than the baseline would be at its speed.
    let (slow, quiet) = (run(4500, 3000.0), run(3300, 2000.0));
    let of = |other: &RawRun| {
        compare([std::slice::from_ref(&slow), std::slice::from_ref(other)], &[]).unwrap()
    };
    let found = of(&quiet);
    let (case, contrast) = one(&found);
    assert!((contrast.ratio - 1.1).abs() < 1e-3, "{case:?}");
    assert!((case.met_ratio.unwrap() - 3300.0 / 4500.0).abs() < 1e-3, "{case:?}");
    assert_eq!((case.baseline_ns, case.value_ns), (Some(4500.0), Some(3300.0)));
    assert!(found.remarks[0].contains("more than 5 % apart in 1 case"), "{:?}", found.remarks);
    assert_eq!(one(&of(&run(4500, 3100.0))).0.met_ratio, None, "3 % apart");
    let mut unread = quiet.clone();
    unread.trials.iter_mut().for_each(|trial| trial.yardsticks.clear());
    let met = one(&of(&unread)).1.ratio;
    assert!((met - 3300.0 / 4500.0).abs() < 1e-3, "unadjusted: {met}");
}

#[test]
fn what_differs_is_told_and_nothing_is_compared_unless_it_is_the_question() {
    let old =
        [("cpu.model", "A"), ("kernel.release", "6.1"), ("cpu0.l2", "1 MiB"), ("load.1", "1")];
    let new =
        [("cpu.model", "A"), ("kernel.release", "6.2"), ("cpu0.l2", "2 MiB"), ("load.1", "3")];
    let [old, new] = [old, new].map(|host| [run(1, &host, &[(PIPE, 9000)])]);
    let told = compare([&old, &new], &[]).unwrap_err();
    let what = |told: &[Difference]| -> Vec<(Across, String)> {
        told.iter().map(|one| (one.across, one.what.clone())).collect()
    };
    let (kernel, topology) =
        ((Across::Kernel, "kernel.release".into()), (Across::Topology, "cpu0.l2".into()));
    assert_eq!(what(&told), [kernel.clone(), topology.clone()]);
    assert_eq!((&told[0].baseline, &told[0].other), (&vec!["6.1".into()], &vec!["6.2".into()]));
    let told = compare([&old, &new], &[Across::Kernel]).unwrap_err();
    assert_eq!(what(&told), std::slice::from_ref(&topology));
    let found = compare([&old, &new], &[Across::Topology, Across::Kernel]).unwrap();
    assert_eq!((found.compared.len(), what(&found.differences)), (1, vec![kernel, topology]));
}

#[test]
fn revisions_cpus_and_tools_have_to_be_the_same() {
    let mut base = run(1, &[], &[(PIPE, 9000), (TCP, 9000)]);
    base.workers.push(worker("rust", WarmUp::Planned, &["tcp", "pipe"]));
    let refused = |change: fn(&mut RawRun), across: Across, what: &str| {
        let mut other = base.clone();
        change(&mut other);
        let told = compare([std::slice::from_ref(&base), &[other]], &[]).unwrap_err();
        assert_eq!(
            (told.len(), told[0].across, told[0].what.as_str()),
            (1, across, what),
            "{told:?}"
        );
    };
    refused(|raw| raw.about.version = "9.9".into(), Across::Tool, "hopcost");
    refused(|raw| raw.plan.cpus[0] = 7, Across::Placement, "CPUs of same-cpu");
    let raise = |raw: &mut RawRun| {
        let rust = raw.workers.iter_mut().find(|worker| worker.is_rust()).unwrap();
        let row = rust.mechanisms.iter_mut().find(|mechanism| mechanism.name == "pipe");
        row.unwrap().revision += 1;
    };
    refused(raise, Across::Mechanism, "pipe of rust");
}

#[test]
fn cases_of_one_side_alone_are_named() {
    let old = [run(1, &[], &[(PIPE, 9000), (TCP, 9000)])];
    let new = [run(2, &[], &[(TCP, 9000), (PIPE_PYTHON, 90_000)])];
    let found = compare([&old, &new], &[]).unwrap();
    assert_eq!(one(&found).0.case, TCP);
    assert_eq!(
        (found.only_baseline, found.only_other),
        (vec![PIPE.into()], vec![PIPE_PYTHON.into()])
    );
}
