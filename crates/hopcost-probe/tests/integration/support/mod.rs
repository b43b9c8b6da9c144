//! Playing a case between two threads.

use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use hopcost_model::{Ack, Case, Phase, PhaseSpec, Role, SPIN_BUDGET_NS, Stamp, WaitKind, Workload};
use hopcost_probe::mechanism::{ALL, find};
use hopcost_probe::meeting;
use hopcost_probe::memory::Shared;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::sys::allowed_cpus;
use hopcost_probe::workload::{Endpoint, Stamped};

/// After this an end hangs. Loose, because spinning ends may have to share their CPUs.
const TIME_OUT: Duration = Duration::from_secs(60);
/// How long the partner of an end that failed may take to notice.
const PATIENCE: Duration = Duration::from_millis(200);

/// One test at a time: they share the processors and the virtual clock.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mechanisms of a workload that users see and that work here.
pub fn rows(workload: Workload) -> Vec<&'static Row> {
    let mut rows: Vec<&Row> = ALL.iter().collect();
    rows.retain(|row| !row.facts().hidden() && row.facts().workloads.contains(&workload));
    assert!(rows.len() >= 10, "only {} mechanisms: the registry is not whole", rows.len());
    rows.retain(|row| match (row.facts().here.available)() {
        Ok(()) => true,
        Err(reason) => {
            eprintln!("skipped: {}: {reason}", row.name);
            false
        }
    });
    rows
}

/// A case between threads with the mechanism's defaults, which waits like this.
pub fn case(workload: Workload, row: &Row, wait: WaitKind) -> Case {
    let facts = row.facts();
    let mut id = format!("{workload}/{}?boundary=thread&place=free&wait={wait}", facts.name);
    if wait == WaitKind::SpinThenBlock {
        id += &format!("&spin={SPIN_BUDGET_NS}");
    }
    if let Some(payload) = facts.payload {
        id += &format!("&payload={}", payload.default);
    }
    id += match workload {
        Workload::Wake => "&gap=20000",
        Workload::Load => "&rate=20000",
        Workload::Stream => "&fields=8&flows=1&ack=per-message",
        Workload::Call | Workload::Roundtrip => "",
    };
    for parameter in &facts.parameters {
        id += &format!("&{}={}", parameter.name, parameter.default);
    }
    id.parse().unwrap_or_else(|error| panic!("{id}: {error}"))
}

/// A message of these fields, acknowledged like this.
pub fn message(case: Case, field_bytes: u32, fields: u32, ack: &str) -> Case {
    let ack: Ack = ack.parse().unwrap();
    let payload_bytes = Some(fields * field_bytes);
    Case { payload_bytes, fields: Some(fields), ack: Some(ack), ..case }
}

/// The same case with another value of a parameter.
pub fn with(case: &Case, parameter: &str, value: &str) -> Case {
    let mut case = case.clone();
    case.parameters.insert(parameter.to_owned(), value.to_owned());
    case
}

/// Ends that only look, never sleep, need two CPUs to be done in a reasonable time.
pub fn too_slow_here(case: &Case) -> bool {
    let looks = |role| matches!(case.wait(role), WaitKind::Spin | WaitKind::SpinThenBlock);
    let cpus = allowed_cpus().map_or(1, |cpus| cpus.len());
    cpus < 2 && (looks(Role::Caller) || looks(Role::Callee))
}

/// Takes an end of a case, as `attaching` says.
pub fn attach(half: Half, attaching: &Attaching<'_>) -> Result<Box<dyn Endpoint>, String> {
    let row = find(attaching.case.mechanism_name()).unwrap();
    row.attach(half, attaching).map_err(|error| format!("attach {}: {error}", attaching.role))
}

/// What an end does, once it is attached, and what comes of it.
pub type Play<T> = dyn Fn(Role, Box<dyn Endpoint>) -> Result<T, String> + Send + Sync;

/// Plays both ends of a case on two threads: what came of the caller and of the callee. An end may
/// hang whose partner has failed: `None`.
pub fn both<T: Send + 'static>(
    case: &Case,
    play: impl Fn(Role, Box<dyn Endpoint>) -> Result<T, String> + Send + Sync + 'static,
) -> [Option<Result<T, String>>; 2] {
    let scratch = tempfile::tempdir().unwrap();
    let row = find(case.mechanism_name()).unwrap();
    let link = row.open(&Opening { case, scratch: scratch.path() }).unwrap();
    let memory = Arc::new(Shared::create(meeting::BYTES).unwrap());
    let play: Arc<Play<T>> = Arc::new(play);
    let (ended_in, ended) = mpsc::channel();
    for (role, half) in [(Role::Callee, link.callee), (Role::Caller, link.caller)] {
        let (case, memory) = (case.clone(), Arc::clone(&memory));
        let (play, ended_in) = (Arc::clone(&play), ended_in.clone());
        std::thread::spawn(move || {
            let meeting = Some(&*memory);
            let end = attach(half, &Attaching { meeting, ..Attaching::new(&case, role) });
            let _ = ended_in.send((role, end.and_then(|end| play(role, end))));
        });
    }
    drop(ended_in);
    let mut ends = [None, None];
    let mut patience = TIME_OUT;
    for _ in 0..2 {
        match ended.recv_timeout(patience) {
            Ok((role, result)) => {
                if result.is_err() {
                    patience = PATIENCE;
                }
                ends[usize::from(role == Role::Callee)] = Some(result);
            }
            Err(_) if patience == PATIENCE => {}
            Err(_) => panic!("{case}: an end hangs or panicked"),
        }
    }
    ends
}

/// The same where no end may fail or hang. Neither is closed before both are through, as in a
/// trial: the kernel tells an end of a Unix seqpacket socket that does not sleep of the end of
/// file before it gives the last message, where both come while it looks (`unix_dgram_recvmsg`).
pub fn both_end_well<T: Send + 'static>(
    case: &Case,
    play: impl Fn(Role, &mut dyn Endpoint) -> Result<T, String> + Send + Sync + 'static,
) -> Result<[T; 2], String> {
    let through = Barrier::new(2);
    let ends = both(case, move |role, mut end| {
        let played = play(role, &mut *end)?;
        through.wait();
        Ok(played)
    });
    match ends {
        [Some(Ok(caller)), Some(Ok(callee))] => Ok([caller, callee]),
        [Some(Err(caller)), Some(Err(callee))] => Err(format!("{caller}; {callee}")),
        [Some(Err(error)), _] | [_, Some(Err(error))] => Err(error),
        _ => Err("an end hangs".to_owned()),
    }
}

/// A measurement without a cap.
pub fn measure(count: u64, stamp: Stamp) -> PhaseSpec {
    PhaseSpec { phase: Phase::Measure, count, stamp, cap_ns: None }
}

/// Runs a phase with room for a sample of each operation: what the loop saw, and the samples.
pub fn phase(
    end: &mut dyn Endpoint,
    count: u64,
    stamp: Stamp,
) -> Result<(Stamped, Vec<u64>), String> {
    let mut samples = vec![0; count as usize];
    let seen = end.run(&measure(count, stamp), &mut samples).map_err(|e| e.to_string())?;
    samples.truncate(seen.samples as usize);
    Ok((seen, samples))
}

/// Fails with all that failed.
pub fn none_failed(failed: Vec<String>) {
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}
