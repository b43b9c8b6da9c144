//! What was counted while a case was measured, by event and end, and what the kernel says of its TCP
//! connections.
//!
//! Where the kernel's event is missing, what getrusage(2), /proc and the threads' CPU
//! clocks say of the same thing stands in its place, so that context switches, page
//! faults and CPU time are always known. They are of all threads that work for an end.
//! Where threads of one process work for either, they are of both ends together.

use std::collections::BTreeSet;

use hopcost_model::group::distinct;
use hopcost_model::{
    Case, EventReading, RawTrial, Role, SHARED_PAGES, TcpReading, Workload, document,
};
use hopcost_stats::sample::median;

use crate::sums::{Whose, cpu_ns, handled, messages, most_frequent, per, switches, total};

document! {
    /// One event at one end of a case.
    #[derive(Default)]
    pub struct CounterResult {
        /// The event (`cycles`, `instructions`, `l1d-misses`, `llc-misses`,
        /// `context-switches`, `migrations`, `page-faults`, `cpu-ns`, `system-calls`).
        pub event: String,
        /// The end, with all threads that work for it; `null` where both were counted together:
        /// over the phase that follows the measurement, or where threads of one process work for
        /// either end.
        pub role: Option<Role>,
        /// Per message of a stream, per operation otherwise; scaled where events took turns.
        pub per_operation: Option<f64>,
        /// Per byte of message.
        pub per_byte: Option<f64>,
        /// In all, over the measured phase of one trial (all its threads of this end);
        /// `null` where counted after it.
        pub per_trial: Option<f64>,
        /// Smallest share of the time for which it was really counted, where less
        /// than all.
        pub counted_share: Option<f64>,
        /// Why there is no number.
        pub unavailable: Option<String>,
    }

    /// What the kernel says of the TCP connections of one end of a case (TCP_INFO, tcp(7)).
    #[derive(Default)]
    pub struct TcpResult {
        /// The end.
        pub role: Role,
        /// Congestion control in force; several where trials differ.
        pub congestion: String,
        /// Path MTU, the least over the trials.
        pub path_mtu_bytes: u32,
        /// Bytes of messages in a segment at most (MSS), the least over the trials.
        pub segment_bytes: u32,
        /// Send buffer as the kernel counts it, its own overhead included: the least over the
        /// trials, after the measured phase.
        pub sndbuf_bytes: u32,
        /// Receive buffer, likewise.
        pub rcvbuf_bytes: u32,
        /// Segments with bytes of messages that it sent in the measured phases of all trials; those
        /// sent again count again.
        pub segments: u64,
        /// Of these, sent again.
        pub retransmitted: u64,
    }
}

/// The order in which events are shown; any other comes after them.
const ORDER: &str =
    "cycles instructions l1d-misses llc-misses context-switches migrations page-faults cpu-ns";

/// The counters of a case's measured trials: those of the caller, those of the
/// callee, then those that were counted for both together.
pub fn counters(case: &Case, trials: &[&RawTrial]) -> Vec<CounterResult> {
    let mut found = Vec::new();
    let ends = match are_inseparable(case, trials) {
        true => vec![Whose::All],
        false => vec![Whose::End(Role::Caller), Whose::End(Role::Callee)],
    };
    for whose in ends {
        if trials.iter().any(|trial| whose.ends(trial).next().is_some()) {
            for event in events(trials, whose) {
                found.push(of_ends(case, trials, whose, &event));
            }
        }
    }
    let after = of_both(case, trials);
    let new = |one: &CounterResult| {
        !found.iter().any(|other| (&other.event, other.role) == (&one.event, one.role))
    };
    let after: Vec<CounterResult> = after.into_iter().filter(new).collect();
    found.extend(after);
    found
}

/// Whether both ends are in one process that has other threads too, of which nobody knows
/// which end they work for: those of another runtime.
fn are_inseparable(case: &Case, trials: &[&RawTrial]) -> bool {
    let shared = case.two_ends() && !case.two_processes() && !case.runtimes.are_rust();
    shared && trials.iter().any(|trial| trial.threads.iter().any(|thread| thread.seat.is_none()))
}

/// An event of both ends for an operation of one trial: as counted after the measurement where it was
/// counted there, else as over the measured phase.
///
/// # Errors
/// In one line, why it was not counted.
pub fn of_trial(case: &Case, trial: &RawTrial, event: &str) -> Result<f64, String> {
    match after(trial, event) {
        Some(found) => found,
        None => per(sum(trial, Whose::All, event)?.value, handled(case, trial))
            .ok_or_else(|| "there was no operation".to_owned()),
    }
}

/// An event for an operation of the phase that counts after the measurement, where that counted it.
fn after(trial: &RawTrial, event: &str) -> Option<Result<f64, String>> {
    let reading = trial.counted.iter().find(|reading| reading.event == event)?;
    let why = || reading.unavailable.clone().unwrap_or_else(|| "no reason given".to_owned());
    let each = |value: u64| per(value as f64, trial.counted_operations as f64);
    Some(match reading.value {
        Some(value) => each(value).ok_or_else(|| "there was no operation".to_owned()),
        None => Err(why()),
    })
}

/// Every event of these ends, with those that are always known.
fn events(trials: &[&RawTrial], whose: Whose) -> Vec<String> {
    let seen = trials.iter().flat_map(|trial| whose.ends(trial)).flat_map(|end| &end.events);
    let names = seen.map(|reading| reading.event.as_str()).chain(ALWAYS);
    // Where memory lies is no event.
    let names: BTreeSet<&str> = names.filter(|name| !name.starts_with(SHARED_PAGES)).collect();
    let place = |name: &&str| ORDER.split(' ').position(|known| known == *name);
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    names.into_iter().map(str::to_owned).collect()
}

fn of_ends(case: &Case, trials: &[&RawTrial], whose: Whose, event: &str) -> CounterResult {
    let mut counted: Vec<(&RawTrial, Counted)> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for trial in trials {
        match sum(trial, whose, event) {
            Ok(sum) => counted.push((trial, sum)),
            Err(reason) => reasons.push(reason),
        }
    }
    let over = |of: &dyn Fn(&RawTrial, Counted) -> Option<f64>| {
        let values = counted.iter().filter_map(|(trial, counted)| of(trial, *counted));
        median(values.filter(|value| value.is_finite()))
    };
    let share = counted.iter().map(|(_, counted)| counted.share).min_by(f64::total_cmp);
    CounterResult {
        event: event.to_owned(),
        role: match whose {
            Whose::End(role) => Some(role),
            Whose::All => None,
        },
        per_operation: over(&|trial, c| per(c.value, handled(case, trial))),
        per_byte: over(&|trial, c| per(c.value, bytes(case, trial, whose))),
        per_trial: over(&|_, c| Some(c.value)),
        counted_share: share.filter(|share| *share < 1.0),
        unavailable: most_frequent(reasons.iter()).filter(|_| counted.is_empty()),
    }
}

/// Bytes of message that an end handled over the measured phase: of a stream, as it
/// counted them; a round trip has two messages.
fn bytes(case: &Case, trial: &RawTrial, whose: Whose) -> f64 {
    let payload = f64::from(case.payload_bytes.unwrap_or(0));
    if case.workload == Workload::Stream {
        let bytes = total(whose.ends(trial).map(|end| end.bytes)) as f64;
        return bytes * handled(case, trial) / trial.operations.max(1) as f64;
    }
    messages(case.workload) * payload * trial.operations as f64
}

/// Events that only the phase after the measurement counts, or counts in another way
/// that is worth a look; the others are known of each end over the measurement itself.
const COUNTED: [&str; 2] = ["system-calls", "context-switches"];

/// What was counted after the measurement, both ends together.
fn of_both(case: &Case, trials: &[&RawTrial]) -> Vec<CounterResult> {
    let names: BTreeSet<&str> =
        trials.iter().flat_map(|t| &t.counted).map(|reading| reading.event.as_str()).collect();
    let names = COUNTED.into_iter().filter(|name| names.contains(name));
    let message_bytes = messages(case.workload) * f64::from(case.payload_bytes.unwrap_or(0));
    let of = |event: &str| {
        let found: Vec<Result<f64, String>> =
            trials.iter().filter_map(|trial| after(trial, event)).collect();
        let per_operation = median(found.iter().filter_map(|found| found.as_ref().ok()));
        let reason = found.into_iter().find_map(Result::err);
        CounterResult {
            event: event.to_owned(),
            per_operation,
            per_byte: per_operation.and_then(|value| per(value, message_bytes)),
            unavailable: reason.filter(|_| per_operation.is_none()),
            ..CounterResult::default()
        }
    };
    names.into_iter().map(of).collect()
}

/// Events that are known without the kernel's counters.
const ALWAYS: [&str; 3] = ["context-switches", "page-faults", "cpu-ns"];

/// A sum over ends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted {
    /// The sum, scaled where events took turns.
    value: f64,
    /// Smallest share of the time for which it was really counted, 0 to 1.
    share: f64,
}

/// The sum of an event over ends.
///
/// # Errors
/// In one line, why one of the ends could not count it.
fn sum(trial: &RawTrial, whose: Whose, event: &str) -> Result<Counted, String> {
    let known = |why| always(trial, whose, event).ok_or(why);
    counted(trial, whose, event).or_else(|why| Ok(Counted { value: known(why)?, share: 1.0 }))
}

fn counted(trial: &RawTrial, whose: Whose, event: &str) -> Result<Counted, String> {
    let mut sum = Counted { value: 0.0, share: 1.0 };
    if whose.ends(trial).next().is_none() {
        return Err("there is no such end".to_owned());
    }
    for end in whose.ends(trial) {
        let reading = end.events.iter().find(|reading| reading.event == event);
        let one = scaled(reading.ok_or("it was not counted at every end")?)?;
        sum = Counted { value: sum.value + one.value, share: sum.share.min(one.share) };
    }
    Ok(sum)
}

fn scaled(reading: &EventReading) -> Result<Counted, String> {
    let Some(value) = reading.value else {
        let reason = reading.unavailable.clone();
        return Err(reason.unwrap_or_else(|| "it was not counted, for no stated reason".to_owned()));
    };
    match (reading.enabled_ns, reading.running_ns) {
        (enabled, 0) if enabled > 0 => Err("it never got its turn on the counters".to_owned()),
        (enabled, running) if running < enabled => {
            let share = running as f64 / enabled as f64;
            Ok(Counted { value: value as f64 / share, share })
        }
        _ => Ok(Counted { value: value as f64, share: 1.0 }),
    }
}

/// What is known of an event without the kernel's counters (getrusage(2), the CPU clocks of
/// threads and processes, /proc).
fn always(trial: &RawTrial, whose: Whose, event: &str) -> Option<f64> {
    let count = match event {
        "context-switches" => switches(trial, whose),
        "page-faults" => {
            total(whose.ends(trial).flat_map(|end| [end.minor_faults, end.major_faults]))
        }
        "cpu-ns" => cpu_ns(trial, whose),
        _ => return None,
    };
    Some(count as f64)
}

/// The ends of a case that have connections, over its measured trials.
pub fn tcp(trials: &[&RawTrial]) -> Vec<TcpResult> {
    [Role::Caller, Role::Callee].into_iter().filter_map(|role| of_end(role, trials)).collect()
}

fn of_end(role: Role, trials: &[&RawTrial]) -> Option<TcpResult> {
    let ends = trials.iter().flat_map(|trial| Whose::End(role).ends(trial));
    let all: Vec<&TcpReading> = ends.filter_map(|end| end.tcp.as_ref()).collect();
    let least = |of: fn(&TcpReading) -> u32| all.iter().map(|one| of(one)).min();
    let names = distinct(all.iter().map(|one| one.congestion.as_str()));
    Some(TcpResult {
        role,
        congestion: names.join(", "),
        path_mtu_bytes: least(|one| one.path_mtu_bytes)?,
        segment_bytes: least(|one| one.segment_bytes)?,
        sndbuf_bytes: least(|one| one.sndbuf_bytes)?,
        rcvbuf_bytes: least(|one| one.rcvbuf_bytes)?,
        segments: total(all.iter().map(|one| one.segments)),
        retransmitted: total(all.iter().map(|one| one.retransmitted)),
    })
}

#[cfg(test)]
mod tests {
    use crate::counters::CounterResult;
    use hopcost_model::{EventReading, Role, ThreadUse};

    use crate::testing::{Builder, PIPE, STREAM_TWO_FLOWS, TrialBuilder, event, thread, uncounted};

    fn of(
        id: &str,
        make: impl Fn(u32, &mut TrialBuilder),
        name: &str,
        role: Option<Role>,
    ) -> CounterResult {
        let results = Builder::new().case(id, 6, make).read().results;
        let found = results[0].counters.iter().find(|c| c.event == name && c.role == role);
        found.unwrap_or_else(|| panic!("{name} of {role:?}")).clone()
    }

    #[test]
    fn flows_are_summed_and_shared_among_messages_and_bytes() {
        let make = |round: u32, t: &mut TrialBuilder| {
            t.stream(2, 1000, 2048, &[3000; 2000], 3_000_000);
            t.raw.ends[0].events = vec![event("cycles", 1_000_000 + u64::from(round))];
            t.raw.ends[1].events = vec![event("cycles", 3_000_000)];
        };
        let cycles = of(STREAM_TWO_FLOWS, make, "cycles", Some(Role::Caller));
        assert_eq!(cycles.per_trial, Some(4_000_002.5));
        // 2000 messages, and a lead-in and an end marker for each of the two flows.
        let per_message = 4_000_002.5 / 2004.0;
        assert!((cycles.per_operation.unwrap() - per_message).abs() < 1e-9);
        assert!((cycles.per_byte.unwrap() - per_message / 2048.0).abs() < 1e-9);
        assert_eq!((cycles.counted_share, cycles.unavailable), (None, None));
    }

    #[test]
    fn events_that_took_turns_are_scaled() {
        let reading = |enabled_ns: u64, running_ns: u64| EventReading {
            enabled_ns,
            running_ns,
            ..event("llc-misses", 500)
        };
        let with = |reading: EventReading| {
            let make = |_: u32, t: &mut TrialBuilder| {
                t.each(&[3000; 1000]);
                t.raw.ends[1].events = vec![reading.clone()];
            };
            of(PIPE, make, "llc-misses", Some(Role::Callee))
        };
        let half = with(reading(100, 50));
        assert_eq!((half.per_operation, half.counted_share), (Some(1.0), Some(0.5)));
        assert_eq!(half.per_byte, Some(1.0 / 128.0), "two messages of 64 bytes");
        let never = with(reading(100, 0));
        assert_eq!(never.per_operation, None);
        assert!(never.unavailable.unwrap().contains("turn"));
    }

    #[test]
    fn what_perf_lacks_is_taken_from_rusage_and_perf_goes_first() {
        let make = |with_perf: bool| {
            move |_: u32, t: &mut TrialBuilder| {
                t.each(&[3000; 1000]);
                let end = &mut t.raw.ends[0];
                (end.voluntary, end.involuntary) = (1500, 500);
                (end.minor_faults, end.major_faults) = (30, 10);
                end.thread_cpu_ns = 2_000_000;
                end.events = vec![match with_perf {
                    true => event("context-switches", 7000),
                    false => uncounted("context-switches", "EACCES"),
                }];
            }
        };
        let caller = Some(Role::Caller);
        let switches = of(PIPE, make(false), "context-switches", caller);
        assert_eq!((switches.per_operation, switches.unavailable), (Some(2.0), None));
        assert_eq!(of(PIPE, make(true), "context-switches", caller).per_operation, Some(7.0));
        assert_eq!(of(PIPE, make(false), "page-faults", caller).per_operation, Some(0.04));
        assert_eq!(of(PIPE, make(false), "cpu-ns", caller).per_operation, Some(2000.0));
    }

    #[test]
    fn every_thread_is_counted_once_at_its_end_or_of_both_together() {
        const N: u64 = 1000;
        let make = |_: u32, t: &mut TrialBuilder| {
            t.each(&[3000; N as usize]);
            t.raw.ends.iter_mut().for_each(|end| (end.voluntary, end.involuntary) = (N, N));
            let played = |role| thread("worker", Some(role), 3000 * N, 2 * N);
            let helps = ThreadUse { process: Role::Callee, ..thread("io", None, 500 * N, 3 * N) };
            t.raw.threads = vec![played(Role::Caller), played(Role::Callee), helps];
        };
        let threads = PIPE.replace("boundary=process", "boundary=thread");
        let python = format!("{threads}&runtime=python");
        for (id, role, switches, cpu_ns) in [
            (PIPE, Some(Role::Caller), 2.0, 3000.0),
            (PIPE, Some(Role::Callee), 5.0, 3500.0),
            (&threads, Some(Role::Callee), 5.0, 3500.0),
            (&python, None, 7.0, 6500.0),
        ] {
            let found = of(id, make, "context-switches", role);
            assert_eq!(found.per_operation, Some(switches), "{id}");
            assert_eq!(of(id, make, "cpu-ns", role).per_operation, Some(cpu_ns), "{id}");
            let results = Builder::new().case(id, 6, make).read().results;
            assert_eq!(results[0].switches_per_operation, Some(7.0), "{id}");
        }
    }
}
