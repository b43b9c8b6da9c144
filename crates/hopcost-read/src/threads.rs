//! Which threads did the work of a case, as seen from outside: threads of one name,
//! process and part together, medians over trials.
//!
//! Names that end in a number are of one pool (`tokio-1`, `GC Thread#3`) and stand
//! together as `tokio-*`, unless the number was the same in all trials.

use std::collections::BTreeSet;

use hopcost_model::group::{distinct, grouped};
use hopcost_model::{Case, RawTrial, Role, ThreadUse, document};
use hopcost_stats::sample::median;

use crate::sums::{handled, per, total};

document! {
    /// Threads of one name in one process of a case.
    pub struct ThreadResult {
        /// Whose process. Where both ends are in one: the end that plays it or started it where
        /// that is known, or else the caller.
        pub process: Role,
        /// The end it plays; `null` for a thread that the runtime or a library has
        /// besides.
        pub seat: Option<Role>,
        /// The process that is neither end's, such as a broker, by its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub other: Option<String>,
        /// Name.
        pub name: String,
        /// Threads of this name.
        pub threads: u32,
        /// Their CPU time for each operation.
        pub cpu_ns_per_operation: f64,
        /// Their share of the CPU time of all threads of this case, 0 to 1.
        pub cpu_share: f64,
        /// Their context switches for each operation.
        pub switches_per_operation: f64,
    }
}

/// What may stand between a pool's name and a number.
const SEPARATORS: [char; 6] = ['-', '_', '#', ' ', '/', ':'];

/// What makes threads one row; the order is that of equally busy ones.
type Key = (Role, Option<Role>, Option<String>, String);

/// The threads of a case's measured trials, the busiest first; empty where every end is
/// in Rust. Threads that never ran are left out.
pub fn threads(case: &Case, trials: &[&RawTrial]) -> Vec<ThreadResult> {
    let ran = |thread: &&ThreadUse| thread.seat.is_some() || thread.cpu_ns > 0;
    let known = trials.iter().filter(|trial| !trial.threads.is_empty());
    let rows = known
        .map(|trial| (*trial, grouped(trial.threads.iter().filter(ran), |thread| key(thread))));
    let trials: Vec<_> = rows.collect();
    let keys: BTreeSet<&Key> =
        trials.iter().flat_map(|(_, rows)| rows).map(|(key, _)| key).collect();
    let row = |key: &Key| {
        let over = |of: &dyn Fn(&RawTrial, &[&ThreadUse]) -> Option<f64>| {
            let values = trials.iter().filter_map(|(trial, rows)| {
                let own = rows.iter().find(|(of, _)| of == key);
                of(trial, own.map_or(&[][..], |(_, own)| own.as_slice()))
            });
            median(values).unwrap_or(0.0)
        };
        let sum = |own: &[&ThreadUse], of: fn(&ThreadUse) -> f64| {
            own.iter().fold(0.0, |sum, thread| sum + of(thread))
        };
        let per_operation =
            |of: fn(&ThreadUse) -> f64| over(&|trial, own| per(sum(own, of), handled(case, trial)));
        let own = trials.iter().flat_map(|(_, rows)| rows).filter(|(of, _)| of == key);
        let names = distinct(own.flat_map(|(_, own)| own).map(|thread| &thread.name));
        let (process, seat, other, pool) = key.clone();
        ThreadResult {
            process,
            seat,
            other,
            name: if let [only] = names[..] { only.clone() } else { pool },
            threads: libm::round(over(&|_, own| Some(own.len() as f64))) as u32,
            cpu_ns_per_operation: per_operation(|thread| thread.cpu_ns as f64),
            cpu_share: over(&|trial, own| {
                let all = total(trial.threads.iter().map(|thread| thread.cpu_ns));
                (all > 0).then(|| sum(own, |thread| thread.cpu_ns as f64) / all as f64)
            }),
            switches_per_operation: per_operation(|thread| {
                thread.voluntary as f64 + thread.involuntary as f64
            }),
        }
    };
    let mut found: Vec<ThreadResult> = keys.into_iter().map(row).collect();
    // What ran in fewer than half of the trials did nothing of the work.
    found.retain(|row| row.seat.is_some() || row.threads > 0);
    // Stable: equally busy ones keep the order of their keys.
    found.sort_by(|a, b| b.cpu_share.total_cmp(&a.cpu_share));
    found
}

fn key(thread: &ThreadUse) -> Key {
    (thread.process, thread.seat, thread.other.clone(), pool(&thread.name))
}

/// A name without the number of a thread within its pool.
fn pool(name: &str) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = stem.len() < name.len() && stem.ends_with(SEPARATORS) && stem.len() > 1;
    if numbered { format!("{stem}*") } else { name.to_owned() }
}

/// Whether an end of another runtime is no thread of its own; unknown is no. A call
/// has but one end.
pub fn is_no_thread(case: &Case, threads: &[ThreadResult], role: Role) -> bool {
    let there = role == Role::Caller || case.two_ends();
    // Of both ends in one process, that is the caller's.
    let process = if case.two_processes() { role } else { Role::Caller };
    there
        && !case.runtimes.of(role).is_rust()
        && threads.iter().any(|thread| thread.process == process)
        && !threads.iter().any(|thread| thread.seat == Some(role))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, PIPE, PIPE_PYTHON, read, thread};

    #[test]
    fn pools_stand_together() {
        for (name, expected) in [
            ("tokio-1", "tokio-*"),
            ("GC Thread#13", "GC Thread#*"),
            ("ThreadPool-0_2", "ThreadPool-0_*"),
            ("python3.11", "python3.11"),
            ("12", "12"),
            ("-1", "-1"),
            ("", ""),
        ] {
            assert_eq!(pool(name), expected);
        }
    }

    #[test]
    fn medians_over_trials_the_busiest_first() {
        let raw = Builder::new()
            .case(PIPE_PYTHON, 7, |round, t| {
                t.each(&[3000; 1000]);
                // The middle of seven rounds is round 3: 400 µs of 1 ms, 600 switches.
                let more = u64::from(round) * 10_000;
                t.raw.threads = vec![
                    thread("python3", Some(Role::Caller), 370_000 + more, 600),
                    thread("python3", Some(Role::Callee), 300_000 - more, 500),
                    thread(&format!("io-{round}"), None, 200_000, 100),
                    thread("io-x", None, 130_000, 100),
                    thread("idle", None, 0, 100),
                ];
                // Another process, and two of one name.
                let other =
                    |name: &str| ThreadUse { process: Role::Callee, ..thread(name, None, 0, 0) };
                if round == 0 {
                    t.raw.threads.push(thread("once", None, 4, 0));
                }
                t.raw.threads.push(ThreadUse { cpu_ns: 4, ..other("io-1") });
                t.raw.threads.push(ThreadUse { cpu_ns: 4, ..other("io-2") });
            })
            .case(PIPE, 7, |_, t| t.each(&[3000; 1000]))
            .build();
        let results = read(&raw).results;
        assert_eq!(results[1].threads, []);
        let rows: Vec<_> = results[0]
            .threads
            .iter()
            .map(|t| (t.process, t.seat, t.name.as_str(), t.threads))
            .collect();
        let (a, b) = (Role::Caller, Role::Callee);
        assert_eq!(
            rows,
            [
                (a, Some(a), "python3", 1),
                (b, Some(b), "python3", 1),
                (a, None, "io-*", 1),
                (a, None, "io-x", 1),
                (b, None, "io-*", 2),
            ]
        );
        let caller = &results[0].threads[0];
        assert_eq!((caller.cpu_ns_per_operation, caller.switches_per_operation), (400.0, 0.6));
        assert!((caller.cpu_share - 400_000.0 / 1_000_008.0).abs() < 1e-12);
    }
}
