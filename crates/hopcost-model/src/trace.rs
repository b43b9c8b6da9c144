//! What the kernel's own events say of a trial: the phase that is traced, after all that are
//! measured.

document! {
    /// Whose thread it is, in a traced phase.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    pub enum TraceThread {
        /// The caller's, or one that works for it.
        Caller,
        /// The callee's, or one that works for it.
        Callee,
        /// What a CPU runs that has nothing to do.
        Idle,
        /// Any other, by its id.
        Other(u32),
    }

    /// What happened. The thread of an event is the one that ran on its CPU.
    #[derive(Copy, Eq)]
    pub enum TraceKind {
        /// An end's own stamp. Caller: 0 before the send, 1 after the reply. Callee: 2 received,
        /// 3 before the reply.
        Stamp(u8),
        /// A system call begins in the kernel (raw_syscalls:sys_enter), by its number.
        SyscallEnter(u32),
        /// It ends there (raw_syscalls:sys_exit).
        SyscallExit(u32),
        /// A thread is about to be woken (sched:sched_waking).
        Waking(TraceThread),
        /// It is runnable (sched:sched_wakeup).
        Wakeup(TraceThread),
        /// An interrupt is sent to another CPU (ipi:ipi_send_cpu).
        IpiSend {
            /// Which.
            to_cpu: u32,
        },
        /// The interrupt that makes a CPU reschedule begins
        /// (irq_vectors:reschedule_entry).
        RescheduleEntry,
        /// It ends (irq_vectors:reschedule_exit).
        RescheduleExit,
        /// The CPU is about to idle (power:cpu_idle).
        IdleEnter {
            /// The state, as the kernel numbers them.
            state: u32,
        },
        /// The CPU does not idle any more (power:cpu_idle).
        IdleExit,
        /// One thread gives the CPU to another (sched:sched_switch).
        Switch {
            /// The one that ran.
            from: TraceThread,
            /// The one that runs from here on.
            to: TraceThread,
        },
        /// A softirq begins, by its vector (irq:softirq_entry).
        SoftirqEntry(u32),
        /// It ends (irq:softirq_exit).
        SoftirqExit(u32),
        /// An interrupt of a device begins, by its number (irq:irq_handler_entry).
        IrqEntry(u32),
        /// It ends (irq:irq_handler_exit).
        IrqExit(u32),
        /// A packet is handed to a network device (net:net_dev_queue).
        NetDevQueue {
            /// Its length.
            bytes: u32,
        },
        /// A packet comes out of a network device (net:netif_receive_skb).
        NetifReceive {
            /// Its length.
            bytes: u32,
        },
        /// A timer has expired (timer:hrtimer_expire_entry, timer:timer_expire_entry).
        TimerExpire,
        /// A thread is moved to another CPU (sched:sched_migrate_task).
        Migrate {
            /// Which.
            who: TraceThread,
            /// Where to.
            to_cpu: u32,
        },
    }

    /// One event.
    #[derive(Copy, Eq)]
    pub struct TraceEvent {
        /// When, on the clock of the stamps, from the first stamp of the phase.
        pub at_ns: u64,
        /// The CPU it happened on.
        pub cpu: u32,
        /// The thread that ran there.
        pub thread: TraceThread,
        /// What happened.
        pub kind: TraceKind,
    }

    /// The traced phase of a trial.
    pub struct Trace {
        /// Operations traced: of a round trip, its two messages.
        pub operations: u64,
        /// The events, in time order, from the first stamp to the last.
        pub events: Vec<TraceEvent>,
        /// Events that the kernel dropped because the buffers were full.
        pub lost: u64,
        /// How far events and stamps can be apart.
        pub clock_bound_ns: u64,
        /// Operations of a phase like it without events, right before it.
        pub untraced_ns: Vec<u64>,
        /// What one event costs, measured on this machine; absent where it could not be.
        pub event_cost_ns: Option<f64>,
        /// Tracepoints that this kernel has not, each with the reason.
        pub missing: Vec<String>,
    }
}
