//! Every round-trip mechanism between two threads: every wait, sizes from the
//! least up, every parameter. That each message arrives once, in order and as
//! it was sent is checked by the ends themselves. Two processes, system calls and
//! leaks are the conformance suite's.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use hopcost_model::case::{Boundary, Case, Placement, Role, SPIN_BUDGET_NS, WaitKind, Waits};
use hopcost_model::case::{Sched, Workload};
use hopcost_model::mechanism::{Facts, Payload};
use hopcost_model::protocol::Stamp;
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::mechanism::ALL;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::sys::allowed_cpus;
use hopcost_probe::workload::{Order, Stamped};

/// Exchanges of a case.
const EXCHANGES: u64 = 200;
/// Exchanges of a case that only differs in one axis.
const FEWER_EXCHANGES: u64 = 40;
/// After this a case hangs. Loose, because spinning ends may have to share their CPUs.
const TIME_OUT: Duration = Duration::from_secs(60);

fn round_trip_rows() -> impl Iterator<Item = &'static Row> {
    ALL.iter().copied().filter(|row| {
        let facts = &row.facts;
        !facts.hidden
            && facts.workloads.contains(&Workload::Roundtrip)
            && facts.boundaries.contains(&Boundary::Thread)
    })
}

/// The case with every default.
fn default_case(facts: &Facts) -> Case {
    let payload_bytes = match facts.payload {
        Payload::None => None,
        Payload::Bytes { default, .. } => Some(default),
    };
    let parameters = facts.parameters.iter().map(|p| (p.name.to_owned(), p.default.to_owned()));
    with_waits(
        Case {
            workload: Workload::Roundtrip,
            mechanism: facts.name.to_owned(),
            payload_bytes,
            fields: None,
            flows: None,
            ack: None,
            gap_ns: None,
            boundary: Boundary::Thread,
            placement: Some(Placement::Free),
            waits: None,
            spin_budget_ns: None,
            parameters: parameters.collect(),
            idle_knob: hopcost_model::case::IdleKnob::None,
            sched: Sched::Other,
            runtimes: Default::default(),
        },
        Waits::both(facts.waits[0].wait),
    )
}

fn with_waits(case: Case, waits: Waits) -> Case {
    let spin_budget_ns = waits.any(WaitKind::SpinThenBlock).then_some(SPIN_BUDGET_NS);
    Case { waits: Some(waits), spin_budget_ns, ..case }
}

/// Sizes worth a try: the least, the default, and odd ones around a word, a page and a
/// pipe's or socket's buffer.
fn sizes(payload: Payload) -> Vec<Option<u32>> {
    let Payload::Bytes { min, max, default } = payload else { return vec![None] };
    let mut sizes = vec![min, default, 13, 4097, 70_001];
    sizes.retain(|size| (min..=max).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().map(Some).collect()
}

/// Two ends that only look, never sleep, need two CPUs to be done in a reasonable time.
fn too_slow_here(case: &Case) -> bool {
    let looks = |role| matches!(case.wait(role), WaitKind::Spin | WaitKind::SpinThenBlock);
    let cpus = allowed_cpus().map_or(1, |cpus| cpus.len());
    cpus < 2 && (looks(Role::Caller) || looks(Role::Callee))
}

/// One end's part: a phase with a stamp for each exchange, then one in batches.
fn play(
    row: &Row,
    case: &Case,
    role: Role,
    half: Half,
    exchanges: u64,
) -> Result<[Stamped; 2], String> {
    let budget_ticks = case.spin_budget_ns.map_or(0, rough_ticks);
    let attaching = Attaching { case, role, budget_ticks, trial: 0, flow: 0, meeting: None };
    let mut end = (row.attach)(half, &attaching).map_err(|e| format!("attach {role}: {e}"))?;
    let mut samples = vec![0; exchanges as usize];
    let each = end
        .run(&Order::of(exchanges, Stamp::Each), &mut samples)
        .map_err(|e| format!("{role}: {e}"))?;
    if role == Role::Caller && samples.contains(&0) {
        return Err("a sample was not written".into());
    }
    let batch = end
        .run(&Order::of(exchanges, Stamp::Batch { n: 10 }), &mut samples)
        .map_err(|e| format!("{role}, second phase: {e}"))?;
    Ok([each, batch])
}

/// Runs a case on two threads.
fn run(row: &'static Row, case: &Case, scratch: &Path, exchanges: u64) -> Result<(), String> {
    let link =
        (row.open)(&Opening { case, scratch }).map_err(|error| format!("opening: {error}"))?;
    let (results_in, results) = mpsc::channel();
    for (role, half) in [(Role::Callee, link.callee), (Role::Caller, link.caller)] {
        let (case, results_in) = (case.clone(), results_in.clone());
        std::thread::spawn(move || {
            let _ = results_in.send((role, play(row, &case, role, half, exchanges)));
        });
    }
    for _ in 0..2 {
        let (role, result) =
            results.recv_timeout(TIME_OUT).map_err(|_| "an end hangs or panicked".to_owned())?;
        let [each, batch] = result?;
        if each.count != exchanges || batch.count != exchanges {
            return Err(format!("{role} counts {} and {}", each.count, batch.count));
        }
        if role == Role::Caller && (each.samples, batch.samples) != (exchanges, exchanges / 10) {
            return Err(format!("{} and {} samples", each.samples, batch.samples));
        }
    }
    Ok(())
}

/// Runs the cases that `cases` makes of every row, and fails with all that failed.
fn run_all(exchanges: u64, cases: impl Fn(&Facts) -> Vec<Case>) {
    let scratch = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for row in round_trip_rows() {
        if let Err(reason) = (row.facts.available)() {
            eprintln!("skipped: {}: {reason}", row.facts.name);
            continue;
        }
        for case in cases(&row.facts).into_iter().filter(|case| !too_slow_here(case)) {
            if let Err(error) = run(row, &case, scratch.path(), exchanges) {
                failed.push(format!("{case}: {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn messages_arrive_under_every_wait() {
    run_all(EXCHANGES, |facts| {
        let waits = facts.waits.iter().map(|w| Waits::both(w.wait));
        waits.map(|waits| with_waits(default_case(facts), waits)).collect()
    });
}

#[test]
fn messages_arrive_where_the_ends_wait_differently() {
    run_all(FEWER_EXCHANGES, |facts| {
        let mut cases = Vec::new();
        for caller in facts.waits {
            for callee in facts.waits.iter().filter(|callee| callee.wait != caller.wait) {
                let waits = Waits { caller: caller.wait, callee: callee.wait };
                cases.push(with_waits(default_case(facts), waits));
            }
        }
        cases
    });
}

#[test]
fn messages_of_every_size_arrive() {
    run_all(FEWER_EXCHANGES, |facts| {
        let sizes = sizes(facts.payload).into_iter();
        sizes.map(|payload_bytes| Case { payload_bytes, ..default_case(facts) }).collect()
    });
}

#[test]
fn messages_arrive_with_every_parameter() {
    run_all(FEWER_EXCHANGES, |facts| {
        let mut cases = Vec::new();
        for parameter in facts.parameters {
            for value in parameter.values {
                let mut case = default_case(facts);
                case.parameters.insert(parameter.name.to_owned(), (*value).to_owned());
                cases.push(case);
            }
        }
        cases
    });
}
