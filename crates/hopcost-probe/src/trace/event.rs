//! Which tracepoints are recorded, and what each of them says.

use hopcost_model::{TraceKind, TraceThread};

/// A tracepoint and what is made of it.
pub struct Source {
    /// Its folder and name in tracefs.
    pub name: &'static str,
    /// Its fields that are read.
    pub fields: &'static [&'static str],
    /// What happened, from the values of these; threads by their ids.
    pub kind: fn(&[u64], &dyn Fn(u64) -> TraceThread) -> TraceKind,
}

macro_rules! sources {
    ($($name:literal [$($field:literal),*] |$v:ident, $who:ident| $kind:expr;)+) => {
        &[$(Source { name: $name, fields: &[$($field),*], kind: |$v, $who| $kind }),+]
    };
}

/// PWR_EVENT_EXIT of the kernel: the state of a CPU that leaves its idle state.
const IDLE_EXIT: u32 = u32::MAX;

/// All of them; the first is there wherever there are tracepoints.
#[rustfmt::skip]
pub const EVENTS: &[Source] = sources! {
    "raw_syscalls/sys_enter" ["id"] |v, _who| TraceKind::SyscallEnter(v[0] as u32);
    "raw_syscalls/sys_exit" ["id"] |v, _who| TraceKind::SyscallExit(v[0] as u32);
    "sched/sched_waking" ["pid"] |v, who| TraceKind::Waking(who(v[0]));
    "sched/sched_wakeup" ["pid"] |v, who| TraceKind::Wakeup(who(v[0]));
    "sched/sched_switch" ["prev_pid", "next_pid"]
        |v, who| TraceKind::Switch { from: who(v[0]), to: who(v[1]) };
    "sched/sched_migrate_task" ["pid", "dest_cpu"]
        |v, who| TraceKind::Migrate { who: who(v[0]), to_cpu: v[1] as u32 };
    "ipi/ipi_send_cpu" ["cpu"] |v, _who| TraceKind::IpiSend { to_cpu: v[0] as u32 };
    "irq_vectors/reschedule_entry" [] |_v, _who| TraceKind::RescheduleEntry;
    "irq_vectors/reschedule_exit" [] |_v, _who| TraceKind::RescheduleExit;
    "power/cpu_idle" ["state"] |v, _who| match v[0] as u32 {
        IDLE_EXIT => TraceKind::IdleExit,
        state => TraceKind::IdleEnter { state },
    };
    "irq/softirq_entry" ["vec"] |v, _who| TraceKind::SoftirqEntry(v[0] as u32);
    "irq/softirq_exit" ["vec"] |v, _who| TraceKind::SoftirqExit(v[0] as u32);
    "irq/irq_handler_entry" ["irq"] |v, _who| TraceKind::IrqEntry(v[0] as u32);
    "irq/irq_handler_exit" ["irq"] |v, _who| TraceKind::IrqExit(v[0] as u32);
    "net/net_dev_queue" ["len"] |v, _who| TraceKind::NetDevQueue { bytes: v[0] as u32 };
    "net/netif_receive_skb" ["len"] |v, _who| TraceKind::NetifReceive { bytes: v[0] as u32 };
    "timer/hrtimer_expire_entry" [] |_v, _who| TraceKind::TimerExpire;
    "timer/timer_expire_entry" [] |_v, _who| TraceKind::TimerExpire;
};
