//! Sums over the ends of a trial, what they are divided by, and what other work did beside it.

use hopcost_model::group::grouped;
use hopcost_model::{
    Case, CpuUse, EndCounters, EndsOf, IdleKnob, Placement, RawTrial, Role, Sched, ThreadUse,
    Workload,
};

/// A sum that a file's nonsense cannot overflow.
pub fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Whose counts are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of one end, or of all ends of its role.
    End(Role),
    /// Those of all ends.
    All,
}

impl Whose {
    fn is(self, role: Role) -> bool {
        self == Whose::All || self == Whose::End(role)
    }
    /// The ends of a trial that are counted.
    pub fn ends(self, trial: &RawTrial) -> impl Iterator<Item = &EndCounters> {
        trial.ends.iter().filter(move |end| self.is(end.role))
    }
    /// Of a trial whose threads are known one by one, those that are counted: each that plays
    /// an end, and every other of that end's process.
    fn threads(self, trial: &RawTrial) -> impl Iterator<Item = &ThreadUse> {
        let of = |thread: &ThreadUse| thread.seat.unwrap_or(thread.process);
        let is_ends = move |thread: &ThreadUse| self == Whose::All || thread.other.is_none();
        trial.threads.iter().filter(move |thread| is_ends(thread) && self.is(of(thread)))
    }
}

/// Voluntary and involuntary switches of the threads that play the ends.
pub fn own_switches(trial: &RawTrial, whose: Whose) -> u64 {
    total(whose.ends(trial).flat_map(|end| [end.voluntary, end.involuntary]))
}

/// Voluntary and involuntary switches, each thread counted once.
pub fn switches(trial: &RawTrial, whose: Whose) -> u64 {
    if trial.threads.is_empty() {
        return own_switches(trial, whose);
    }
    total(whose.threads(trial).flat_map(|thread| [thread.voluntary, thread.involuntary]))
}

/// CPU time, each thread counted once.
pub fn cpu_ns(trial: &RawTrial, whose: Whose) -> u64 {
    match trial.ends.as_slice() {
        _ if !trial.threads.is_empty() => total(whose.threads(trial).map(|thread| thread.cpu_ns)),
        // The threads that a call starts and waits for are its process's.
        [_] => own_cpu_ns(trial),
        _ => total(whose.ends(trial).map(|end| end.thread_cpu_ns)),
    }
}

/// CPU time of a trial's own threads, its mechanism's among them.
pub fn own_cpu_ns(trial: &RawTrial) -> u64 {
    total(trial.ends.iter().map(|end| end.thread_cpu_ns)).max(trial.cpu_ns)
}

/// What the hypervisor took of that of its CPUs that lost most while they were watched.
pub fn stolen_ns(trial: &RawTrial) -> u64 {
    trial.cpu_uses.iter().filter_map(|used| used.steal_ns).max().unwrap_or(0)
}

/// The most that a quota can have withheld from the measured phase: it is not known which part of
/// the time watched it fell into.
pub fn withheld_ns(trial: &RawTrial) -> u64 {
    trial.throttling.map_or(0, |throttling| throttling.ns)
}

/// How long ends were ready and did not run (/proc/thread-self/schedstat): others cannot have
/// taken more from them. Unbounded where a kernel does not count it.
pub fn delayed_ns(trial: &RawTrial, whose: Whose) -> u64 {
    total(whose.ends(trial).map(|end| end.run_delay_ns.unwrap_or(u64::MAX)))
}

/// Exchanges of all ends that lost a message or timed out.
pub fn lost(trial: &RawTrial) -> u64 {
    total(trial.ends.iter().map(|end| end.lost))
}

/// Operations over which an end counted. Of a stream they include the lead-in and the
/// end marker, which weigh where a trial has but a few messages.
pub fn handled(case: &Case, trial: &RawTrial) -> f64 {
    let besides = match case.workload {
        Workload::Stream => case.workload.spec().uncounted * u64::from(case.flows.unwrap_or(1)),
        _ => 0,
    };
    trial.operations.saturating_add(besides) as f64
}

/// The messages of an operation: a round trip has two.
pub fn messages(workload: Workload) -> f64 {
    f64::from(workload.spec().messages)
}

/// A share of a value; `None` without parts.
pub fn per(value: f64, parts: f64) -> Option<f64> {
    (parts > 0.0).then(|| value / parts)
}

/// The reason that is given most often, and of those the first by the alphabet.
pub fn most_frequent<'a>(reasons: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut sorted: Vec<&String> = reasons.collect();
    sorted.sort();
    let (_, most) =
        grouped(sorted, |reason| *reason).into_iter().rev().max_by_key(|of| of.1.len())?;
    most.first().copied().cloned()
}

/// The share of an undisturbed trial that other work may take.
const FOREIGN_MAX: f64 = 0.02;
/// Beyond it, what two ticks of /proc/stat may hide.
const TICKS_NS: f64 = 20_000_000.0;
/// The share of a CPU's time that interrupts may take beside an undisturbed trial.
const INTERRUPT_MAX: f64 = 0.02;

/// Whether the ends of a case leave their CPU no time to idle: in one thread, or in turn on
/// one CPU.
pub fn is_never_idle(case: &Case) -> bool {
    match case.placement {
        None => case.workload == Workload::Call,
        Some(place) => place == Placement::SameCpu && case.workload.spec().ends == EndsOf::InTurn,
    }
}

/// The share of a trial that tasks of others took of the CPU of which they took most; `None`
/// where the kernel does not tell.
///
/// Of ends that leave their CPU no time to idle it is what neither they nor the hypervisor took, of
/// the time in which they were ready.
/// Of others it is what their CPU neither idled nor gave them.
pub fn foreign_share(case: &Case, trial: &RawTrial) -> Option<f64> {
    let wall = Some(trial.wall_ns as f64).filter(|wall| *wall > 0.0)?;
    if is_never_idle(case) {
        let known_ns = total([own_cpu_ns(trial), stolen_ns(trial), withheld_ns(trial)].into_iter());
        let most = delayed_ns(trial, Whose::All) as f64 / wall;
        return Some((1.0 - known_ns as f64 / wall).max(0.0).min(most));
    }
    let watched = Some(trial.watched_ns as f64).filter(|watched| *watched > 0.0)?;
    let of_ends = total(trial.ends.iter().map(|end| end.thread_cpu_ns));
    // Threads that play no end may run on either CPU.
    let helpers = own_cpu_ns(trial).saturating_sub(of_ends);
    let of_cpu = |used: &CpuUse| {
        let ends = trial.ends.iter().filter(|end| end.cpu_after == used.cpu);
        let own = total(ends.map(|end| end.thread_cpu_ns)).saturating_add(helpers);
        Some((1.0 - used.idle_ns? as f64 / watched - own as f64 / wall).max(0.0))
    };
    let shares: Option<Vec<f64>> = trial.cpu_uses.iter().map(of_cpu).collect();
    shares?.into_iter().max_by(f64::total_cmp)
}

/// Whether nothing but the trial itself happened on its CPUs, so that readings beside it are of
/// the quiet machine.
pub fn is_undisturbed(case: &Case, trial: &RawTrial) -> bool {
    let watched = trial.watched_ns as f64;
    let coarse = if is_never_idle(case) { 0.0 } else { TICKS_NS / watched };
    let is_alone = |share: f64| share <= FOREIGN_MAX + coarse;
    let interrupts = trial.cpu_uses.iter().filter_map(|used| used.interrupt_ns).max();
    trial.error.is_none()
        && case.idle_knob == IdleKnob::None
        // Real-time ends keep others off their CPU, whom the readings beside them meet.
        && !matches!(case.sched, Sched::Fifo(_))
        && stolen_ns(trial) == 0
        && withheld_ns(trial) == 0
        && interrupts.is_some_and(|ns| ns as f64 <= INTERRUPT_MAX * watched + TICKS_NS)
        && foreign_share(case, trial).is_some_and(is_alone)
}
