//! What other work did beside a trial, and whether that disturbed it.

use hopcost_model::case::{Case, IdleKnob, Placement, Sched, Workload};
use hopcost_model::raw::{CpuUse, RawTrial};
use hopcost_model::workload::EndsOf;

use crate::sums::{Whose, delayed_ns, own_cpu_ns, stolen_ns, total, withheld_ns};

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
