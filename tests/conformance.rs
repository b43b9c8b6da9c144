//! Conformance: the label is the mechanism, provably. Every boundary and every wait of
//! every mechanism; what cannot run here fails the test instead of skipping.

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Waits, Workload};
use hopcost_model::mechanism::{Mechanism, PayloadRange, PerOperation, Shape};

use crate::support::trace::{Counts, Window, of_trial};
use crate::support::{
    Home, all, cross, mechanism, mechanisms, none_wrong, pairs, roundtrip, switches, trial,
};

/// Operations of a traced trial: a call's loop makes 32 a turn.
const N: u64 = 640;
/// Calls that a phase makes once, both ends together: the counters' own. Of a load, as many again for each
/// sender.
const ONCE_A_PHASE: f64 = 12.0;
/// Calls of a seat that is on its way into the phase while its partner has begun.
const ON_THE_WAY: f64 = 5.0;

/// Where a wait can be conformance-tested: what spins needs two CPUs.
pub fn place_for(wait: WaitKind) -> Placement {
    match wait {
        WaitKind::Spin | WaitKind::SpinThenBlock => cross().expect("these tests need two CPUs"),
        WaitKind::Block | WaitKind::Epoll | WaitKind::EpollEdge | WaitKind::Yield => {
            Placement::SameCpu
        }
    }
}

/// The boundaries of a mechanism, without that which takes a right that is missing.
pub fn boundaries(facts: &Mechanism) -> Vec<Boundary> {
    let here = facts.boundaries.iter().copied().filter(|&boundary| {
        let lacking = match boundary {
            // Whose far end another hopcost plays: tests/hosts.rs.
            Boundary::Host => return false,
            Boundary::Namespace => hopcost_probe::namespace::available().err(),
            Boundary::Inline | Boundary::Thread | Boundary::Process => None,
        };
        if let Some(reason) = &lacking {
            eprintln!("skipped: {} across namespaces: {reason}", facts.name);
        }
        lacking.is_none()
    });
    here.collect()
}

/// Every mechanism of a workload, with each of its boundaries and each of its waits.
pub fn every(workload: Workload) -> Vec<(&'static Mechanism, Vec<(Boundary, WaitKind)>)> {
    let of = |facts: &'static Mechanism| (facts, pairs(&boundaries(facts), &facts.waits));
    let all: Vec<_> =
        mechanisms().filter(|facts| facts.workloads.contains(&workload)).map(of).collect();
    assert!(all.len() >= 10, "only {} mechanisms: the registry is not whole", all.len());
    all
}

/// Every mechanism under each of its waits, across each of its boundaries.
fn every_roundtrip() -> Vec<(&'static Mechanism, Case)> {
    let mut cases = Vec::new();
    for (facts, of) in every(Workload::Roundtrip) {
        for &(boundary, wait) in &of {
            cases.push((facts, roundtrip(facts, boundary, place_for(wait), wait)));
        }
        let (boundary, wait) = of[0];
        for parameter in &facts.parameters {
            for value in parameter.values.iter().filter(|value| **value != parameter.default) {
                let case = with(&facts.name, boundary, wait, (&parameter.name, value));
                match (facts.here.available_as)(&case) {
                    Ok(()) => cases.push((facts, case)),
                    Err(why) => eprintln!("skipped: {case}: {why}"),
                }
            }
        }
    }
    assert!(cases.len() > 80, "only {} cases: the registry is not whole", cases.len());
    cases
}

/// Threads of a worker: one a seat.
fn threads(case: &Case) -> usize {
    let seats = if case.two_processes() { 1 } else { 2 };
    // A mechanism with I/O threads of its own says so in its row; most are in the caller's process.
    match (case.mechanism.as_str(), case.parameter("answer")) {
        ("websocket-threaded", Some("handler")) => seats + 1,
        ("websocket-threaded", _) => 2 * seats,
        _ => seats,
    }
}

/// System calls of a trial's measured phase under ptrace, by no thread that no row speaks of.
fn traced(home: &Home, case: &Case) -> Counts {
    let counts = of_trial(home, &case.id(), N, Window::Phase);
    assert_eq!(counts.threads_max, threads(case), "{case}: a thread that no row speaks of");
    counts
}

/// System calls of one exchange, where it depends on who is faster.
fn mean(counts: &Counts) -> f64 {
    (counts.total() as f64 - ONCE_A_PHASE) / N as f64
}

/// What is wrong with so many system calls of a phase of so many operations, where so many are stated of
/// one: a range, because it depends on who is faster, is of their mean.
pub fn miscounted(
    case: &Case,
    operations: u64,
    calls: u64,
    stated: PerOperation,
) -> Option<String> {
    let (all, calls) = (operations as f64, calls as f64);
    let begins = case.workload.spec().uncounted as f64;
    let senders = if case.workload == Workload::Load { f64::from(case.senders) } else { 0.0 };
    let once = ONCE_A_PHASE * (1.0 + senders);
    let n = stated.least;
    let fits = match stated.is_exact() {
        true => (n * all - ON_THE_WAY..=n * (all + begins) + once + ON_THE_WAY).contains(&calls),
        false => stated.admits((calls - once) / all, 0.1),
    };
    (!fits).then(|| format!("{case}: {calls} calls of {all} operations, stated {stated:?}"))
}

#[test]
fn system_calls_of_a_round_trip_are_those_the_row_says() {
    let home = Home::alone();
    none_wrong(every_roundtrip(), |facts, case| {
        let wait = case.waits.expect("a round trip waits").caller;
        let stated = facts.wait(wait).expect("from the row").system_calls;
        miscounted(case, N, traced(&home, case).total(), stated)
    });
}

/// A round trip by a mechanism where its wait takes it.
fn of(name: &str, boundary: Boundary, wait: WaitKind) -> Case {
    roundtrip(mechanism(name), boundary, place_for(wait), wait)
}

/// The same with one of the mechanism's parameters given.
fn with(name: &str, boundary: Boundary, wait: WaitKind, parameter: (&str, &str)) -> Case {
    let mut case = of(name, boundary, wait);
    case.parameters.insert(parameter.0.into(), parameter.1.into());
    case
}

#[test]
fn exchanges_in_flight_make_no_more_calls_and_an_epoll_is_for_all_that_have_come() {
    let home = Home::alone();
    let both = [Boundary::Process, Boundary::Thread];
    for (name, window, connections, least) in [
        ("pipe", 16, 1, 4.0),
        ("fifo", 2, 1, 4.0),
        ("tcp", 16, 1, 4.0),
        ("tcp", 1, 64, 5.0),
        ("unix-stream", 64, 16, 4.0),
        ("socketpair", 3, 7, 4.0),
    ] {
        for (boundary, place) in pairs(&both, &[Placement::SameCpu, cross().expect("two CPUs")]) {
            let mut case = of(name, boundary, WaitKind::Block);
            (case.window, case.connections, case.placement) = (window, connections, Some(place));
            if connections > 1 {
                case.waits = case.waits.map(|waits| Waits { callee: WaitKind::Epoll, ..waits });
            }
            let counted = mean(&traced(&home, &case));
            let most = if connections > 1 { 5.1 } else { 4.1 };
            assert!((least - 0.1..most).contains(&counted), "{case}: counted {counted}");
            // Each phase goes on where the one before ended, in the middle of the connections.
            let row = trial(&home, &case, 301).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((row.operations, row.samples_taken), (301, 301), "{case}");
        }
    }
}

/// Calls of futex(2) with this operation, whatever its flags.
fn futexes(counts: &Counts, operation: libc::c_int) -> u64 {
    let of = |(flags, _): &(&u64, &u64)| *flags & 0x7f == operation as u64;
    counts.futexes.iter().filter(of).map(|(_, count)| count).sum()
}

#[test]
fn a_futex_wakes_only_who_sleeps() {
    let home = Home::alone();
    let mut case = of("futex", Boundary::Process, WaitKind::SpinThenBlock);
    // A budget that nobody uses up: nobody sleeps, however busy the machine is.
    case.spin_budget_ns = Some(10_000_000_000);
    let calls = traced(&home, &case).total();
    assert_eq!(miscounted(&case, N, calls, PerOperation::exactly(0.0)), None);

    let case = of("futex", Boundary::Process, WaitKind::Block);
    let counts = traced(&home, &case);
    let [waits, wakes] = [libc::FUTEX_WAIT, libc::FUTEX_WAKE].map(|of| futexes(&counts, of));
    assert!(wakes <= waits, "{case}: {wakes} wakes for {waits} sleeps");
    // On one CPU the other end runs because this one sleeps, or because it is woken.
    assert!(waits + wakes >= 2 * N - 10, "{case}: {waits} sleeps and {wakes} wakes");
}

#[test]
fn a_server_that_answers_in_its_handler_has_no_thread_to_hand_over_to() {
    let home = Home::alone();
    for boundary in [Boundary::Process, Boundary::Thread] {
        let counted = |answer: &str| {
            let case = with("websocket-threaded", boundary, WaitKind::Block, ("answer", answer));
            mean(&traced(&home, &case))
        };
        assert!(counted("thread") > 11.9, "{boundary}");
        // A thread that is woken just before it sleeps makes two calls more.
        let fits = (0..TRIES).any(|_| (8.9..13.1).contains(&counted("handler")));
        assert!(fits, "{boundary}: no trial of {TRIES} had 9 to 13 calls a round trip");
    }
}

#[test]
fn an_end_that_has_spun_in_vain_sleeps_in_the_receive_itself() {
    let home = Home::alone();
    for (name, most) in [
        ("pipe", 6.0),
        ("tcp", 6.0),
        ("udp", 6.0),
        ("websocket", 6.0),
        ("eventfd", 6.0),
        ("sysv-msg", 6.0),
        // A poll comes before.
        ("fifo", 8.0),
        ("unix-stream", 8.0),
        ("posix-mq", 8.0),
    ] {
        let wait = WaitKind::SpinThenBlock;
        let mut case = roundtrip(mechanism(name), Boundary::Process, Placement::SameCpu, wait);
        case.spin_budget_ns = Some(1);
        let counted = mean(&traced(&home, &case));
        assert!((4.0..most + 0.3).contains(&counted), "{case}: counted {counted}");
    }
}

#[test]
fn primitives_between_threads_are_private() {
    let home = Home::alone();
    for name in ["futex", "semaphore", "condvar"] {
        for (boundary, private) in [(Boundary::Thread, true), (Boundary::Process, false)] {
            let case = of(name, boundary, WaitKind::Block);
            let counts = traced(&home, &case);
            let is_private = |operation: &u64| operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0;
            let as_said = counts.futexes.keys().all(|operation| is_private(operation) == private);
            let total: u64 = counts.futexes.values().sum();
            assert!(total > N && as_said, "{case}: {:?}", counts.futexes);
        }
    }
}

#[test]
fn system_calls_of_a_call_are_those_the_row_says() {
    let home = Home::alone();
    for facts in mechanisms().filter(|facts| facts.shape() == Shape::Call) {
        let payload = facts.payload.map_or(String::new(), |of| format!("?payload={}", of.default));
        let case: Case = format!("call/{}{payload}", facts.name).parse().expect("a case");
        assert_eq!(case.workload, Workload::Call);
        let own = facts.own.as_ref().and_then(|own| own.call_system_calls);
        let stated = own.expect("a call's row states its system calls");
        let calls = of_trial(&home, &case.id(), N, Window::Phase).total();
        assert_eq!(miscounted(&case, N, calls, stated), None);
    }
}

/// Trials of which one has to show the switches that the row states.
const TRIES: usize = 5;

#[test]
fn context_switches_are_within_the_stated_range() {
    let home = Home::alone();
    let mut cases = every_roundtrip();
    let elsewhere = |(facts, case): &(&'static Mechanism, Case)| {
        let facts_of = facts.wait(case.waits?.caller)?;
        let differ = facts_of.switches_one_cpu != facts_of.switches_two_cpus;
        let elsewhere = case.placement == Some(Placement::SameCpu) && (differ || all());
        elsewhere.then(|| (*facts, Case { placement: cross(), ..case.clone() }))
    };
    cases.extend(cases.iter().filter_map(elsewhere).collect::<Vec<_>>());
    none_wrong(cases, |facts, case| {
        let facts = facts.wait(case.waits?.caller)?;
        let stated = match case.placement? {
            Placement::SameCpu => facts.switches_one_cpu,
            _ => facts.switches_two_cpus,
        };
        // Other tasks of this machine add switches of their own, above all where an
        // end yields its CPU to them; so what fits once, fits.
        let mut seen = Vec::new();
        while seen.len() < TRIES {
            let row = trial(&home, case, 400).unwrap_or_else(|error| panic!("{error}"));
            let counted = switches(&row) as f64 / row.operations as f64;
            // Ends that yield run all the time, each on its CPU, or there is somebody to yield to.
            let is_alone = facts.wait != WaitKind::Yield || row.cpu_ns > row.wall_ns;
            if case.placement != Some(Placement::SameCpu) && !is_alone {
                eprintln!("not checked: {case}: other tasks ran on its CPUs");
                return None;
            }
            if stated.admits(counted, 0.05 + 0.05 * stated.least) {
                return None;
            }
            seen.push(counted);
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        Some(format!("{case}: counted {seen:.3?}, stated {stated:?}"))
    });
}

#[test]
fn every_size_from_the_least_to_the_most_arrives() {
    let home = Home::alone();
    let mut cases = Vec::new();
    for (facts, _) in every(Workload::Roundtrip) {
        let Some(PayloadRange { min, max, .. }) = facts.payload else { continue };
        let wait = facts.waits[0];
        // The least, the least that is anything, more than a page, the most.
        let mut sizes = vec![min, min.max(1), 4097, max];
        sizes.extend(all().then_some(63));
        sizes.retain(|&size| size <= max);
        sizes.dedup();
        for (boundary, payload) in pairs(&boundaries(facts), &sizes) {
            let case = roundtrip(facts, boundary, place_for(wait), wait);
            cases.push((facts, Case { payload_bytes: Some(payload), ..case }));
        }
    }
    none_wrong(cases, |_, case| trial(&home, case, 20).err());
}
