use crate::checkup::Checkup;
use hopcost_model::{Code, CpuAccounting, RawRun};

use crate::testing::{Builder, TrialBuilder, host, survive_nonsense};

const GAPS: &str = "roundtrip/gaps?boundary=inline&place=same-cpu&wait=block&clock=virtual";
const CLOCKS: &str = "wake/flag?payload=0&gap=1000&boundary=process&place=same-llc&wait=spin";

fn flag(place: &str) -> String {
    format!("roundtrip/flag?payload=0&boundary=process&place={place}&wait=spin")
}

fn pipe(place: &str) -> String {
    format!("roundtrip/pipe?payload=64&boundary=process&place={place}&wait=block")
}

fn checkup(raw: &RawRun) -> Checkup {
    super::checkup(raw, Checkup { cpus_allowed: vec![0, 1], took_s: 1.0, ..Checkup::default() })
}

/// A trial of the gaps' engine of one second on this CPU.
fn gaps(t: &mut TrialBuilder, cpu: u32, gaps_ns: &[u32]) {
    t.each(gaps_ns);
    (t.raw.phases_ns, t.raw.cpus_asked) = (1_000_000_000, vec![Some(cpu), Some(cpu)]);
}

fn quiet(builder: Builder) -> Builder {
    let few = [0, 1_500, 0, 12_000];
    builder.case(GAPS, 2, move |cpu, t| gaps(t, cpu, &few))
}

/// Visits of pairs, each in nanoseconds; the clock of the tests has a tick a nanosecond.
fn lines(builder: Builder, place: &str, visits: &[((u32, u32), u32)]) -> Builder {
    let visits = visits.to_vec();
    builder.case(&flag(place), visits.len() as u32, move |at, t| {
        let ((a, b), ns) = visits[at as usize];
        t.batch(100, &[100 * ns; 50]);
        t.raw.cpus_asked = vec![Some(a), Some(b)];
    })
}

#[test]
fn gaps_are_counted_by_length_and_added_up() {
    let all = [0, 1_000, 9_999, 10_000, 99_999, 100_000, 779_002, 0];
    let raw = Builder::new().case(GAPS, 1, |_, t| gaps(t, 3, &all)).build();
    let found = checkup(&raw);
    let of = found.gaps[0];
    assert_eq!((of.cpu, of.watched_ns, of.longest_ns), (3, 1_000_000_000, 779_002));
    assert_eq!((of.over_1us_per_s, of.over_10us_per_s, of.over_100us_per_s), (6.0, 4.0, 2.0));
    assert!((of.lost_share - 0.001).abs() < 1e-9, "{}", of.lost_share);
    assert_eq!(of.steal_share, None);
    assert!(found.first.starts_with("nothing. No CPU"), "{}", found.first);
    assert!(found.first.contains("0.10 %") && found.first.contains("779 µs"), "{}", found.first);
}

#[test]
fn a_busy_cpu_is_named_with_one_that_is_not() {
    let busy = [4_000_000; 100];
    let of = |cpu: u32, t: &mut TrialBuilder| match cpu {
        0 => gaps(t, 0, &busy),
        _ => gaps(t, 1, &[2_000]),
    };
    let mut raw = Builder::new().case(GAPS, 2, of).build();
    let found = checkup(&raw);
    assert_eq!(found.findings[0].code, Code::Preempted);
    assert!(found.first.contains("On CPU 0 a loop lost 40 %"), "{}", found.first);
    assert!(found.first.contains("`--cpus 1` are quieter"), "{}", found.first);
    // What the hypervisor took nobody here can stop.
    let wall_ns = 1_000_000_000;
    raw.accounting = vec![CpuAccounting { round: 0, cpu: 0, wall_ns, steal_ns: 390_000_000 }];
    let found = checkup(&raw);
    assert!(found.findings.iter().all(|finding| finding.code != Code::Preempted));
    assert!(found.first.contains("stolen from CPU 0"), "{}", found.first);
}

#[test]
fn what_contradicts_sys_is_a_finding() {
    let of = |builder: Builder| {
        let found = checkup(&builder.build()).findings;
        found.into_iter().map(|finding| (finding.code, finding.evidence)).collect::<Vec<_>>()
    };
    let apart = of(lines(Builder::new(), "same-llc", &[((0, 1), 60), ((0, 2), 62), ((1, 2), 200)]));
    assert_eq!(apart.len(), 1);
    assert_eq!(apart[0].0, Code::PlacementClaim);
    assert!(apart[0].1.contains("200 ns between CPUs 1 and 2"), "{}", apart[0].1);
    let near = lines(Builder::new(), "smt", &[((0, 1), 300)]);
    let farther = of(lines(near, "same-llc", &[((0, 2), 150), ((0, 3), 170)]));
    assert_eq!(farther.len(), 1, "{farther:?}");
    assert!(farther[0].1.contains("`smt` took typically 300 ns"), "{}", farther[0].1);
    let near = lines(Builder::new(), "smt", &[((0, 1), 50)]);
    assert_eq!(of(lines(near, "cross-node", &[((0, 2), 450), ((0, 3), 700)])), []);
}

#[test]
fn a_second_cache_line_is_compared_with_the_first_by_the_least_visits() {
    let ring = |builder: Builder, bytes: u32, ns: u32| {
        let ends = "boundary=process&place=same-llc&wait=spin";
        let id = format!("roundtrip/shm-ring?payload={bytes}&{ends}");
        builder.case(&id, 3, move |at, t| t.batch(100, &[100 * (ns + 40 * ((at + 1) % 3)); 50]))
    };
    let found = checkup(&ring(ring(Builder::new(), 56, 200), 120, 290).build());
    assert_eq!(found.one_and_two_lines_ns, Some((200.0, 290.0)));
}

#[test]
fn a_quota_that_was_used_up_comes_first() {
    let quota = |times, ms| {
        host(&[
            ("cgroup.cpu_quota", "50 % of one CPU (50000 us in each 100000 us)"),
            ("stat.cgroup.throttled_times", times),
            ("stat.cgroup.throttled_ms", ms),
        ])
    };
    let mut raw = quiet(Builder::new()).build();
    (raw.host_before, raw.host_after) = (quota("7", "70"), Some(quota("12", "320")));
    let found = checkup(&raw);
    assert!(found.first.contains("held hopcost back 5 times, for 250 ms"), "{}", found.first);
    assert!(found.first.contains("cpu.max"), "{}", found.first);
    raw.host_after = Some(quota("7", "70"));
    let found = checkup(&raw);
    assert_eq!(found.findings.len(), 1);
    assert!(found.first.starts_with("nothing. No CPU"), "a quota alone does no harm");
}

#[test]
fn the_governor_comes_before_idling() {
    let machine = |governor: &str, idle_ns: u32, across_ns: u32| {
        let governor = [("cpu0.governor", governor), ("cpu0.frequency_limits", "800 to 3500 MHz")];
        let wake = "wake/pipe?payload=1&gap=10000000&boundary=process&place=same-llc&wait=block";
        let builder = quiet(Builder::new().host(&governor))
            .case(&pipe("same-cpu"), 1, |_, t| t.each(&[2_000; 50]))
            .case(&pipe("same-llc"), 1, move |_, t| t.each(&[across_ns; 50]))
            .case(wake, 1, move |_, t| t.wake(&[idle_ns; 50], 10_000_000));
        let found = checkup(&lines(builder, "same-llc", &[((0, 1), 80)]).build());
        (found.first.clone(), found)
    };
    let (first, found) = machine("powersave", 90_000, 60_000);
    assert!(first.contains("`powersave`") && first.contains("800 to 3500 MHz"), "{first}");
    let row = found.handovers[1];
    assert_eq!((row.spinning_ns, row.blocking_ns), (Some(80.0), Some(60_000.0)));
    assert_eq!((row.after_idling_ns, row.after_idling_p90_ns), (Some(90_000.0), Some(90_000.0)));
    let (first, _) = machine("performance", 90_000, 60_000);
    assert!(first.contains("takes 90.0 µs, not 30.0 µs"), "{first}");
    let (first, _) = machine("performance", 5_000, 9_000);
    assert!(first.starts_with("nothing. No CPU"), "{first}");
}

#[test]
fn nothing_measured_and_nonsense_are_said_and_not_shown_as_numbers() {
    let none = checkup(&Builder::new().build());
    assert!(none.first.starts_with("Nothing could be measured"), "{}", none.first);
    let raw = lines(quiet(Builder::new()), "same-llc", &[((0, 1), 90)])
        .case(CLOCKS, 1, |_, t| t.wake(&[3_000; 3], 1_000_000))
        .build();
    survive_nonsense(&raw, |raw| drop(checkup(raw)));
}
