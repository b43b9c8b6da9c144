//! Findings: machine-readable remarks with evidence and remedy.

use std::collections::BTreeMap;

use crate::document;

/// Declares the finding codes with their fixed explanation and remedy.
macro_rules! codes {
    ($($(#[$meta:meta])* $variant:ident = $code:literal, $means:literal, $remedy:literal;)+) => {
        /// What a finding is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum Code { $($(#[$meta])* #[serde(rename = $code)] $variant),+ }
        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];
            /// The spelling in files and output.
            pub const fn word(self) -> &'static str { match self { $(Code::$variant => $code),+ } }
            /// What it means, in a sentence.
            pub const fn means(self) -> &'static str { match self { $(Code::$variant => $means),+ } }
            /// What the user can do about it, in a sentence.
            pub const fn remedy(self) -> &'static str { match self { $(Code::$variant => $remedy),+ } }
        }
    };
}

codes! {
    /// A class of cases does not follow its yardstick, or is not put in relation to its quiet speed.
    NotAdjusted = "NOT_ADJUSTED",
        "The trials of a class of cases were not adjusted by its yardstick, or show no value of the quiet machine, because that would have been wrong.",
        "Nothing needs to be done: the values are what was met. If it is unexpected, look for what else runs on these CPUs or uses their cache; `hopcost doctor` lists the quiet speeds, and `hopcost doctor --forget-speed` drops them.";
    /// The hypervisor ran something else.
    Steal = "STEAL",
        "The hypervisor took the used CPUs away for part of the run (steal time).",
        "Repeat when the host is quieter, or on dedicated cores; treat p99 and above as the host's, not the mechanism's.";
    /// The quota of the control group withheld CPU time.
    Throttled = "THROTTLED",
        "The CPU quota of hopcost's control group, or of one above it, was used up during trials, and the kernel withheld CPU time until the next period.",
        "Raise or lift the quota: cpu.max (cgroup v2), cpu.cfs_quota_us (v1), `docker --cpus`, the CPU limit of a Kubernetes pod, CPUQuota= of systemd.";
    /// Packets were taken in on the used CPUs.
    SoftIrq = "SOFTIRQ",
        "The used CPUs took in packets (NET_RX softirqs) of others: during trials of cases that use no network, or many more in some trials of a case that does than in its calmest.",
        "Stop the traffic, or keep it off the used CPUs: /proc/irq/*/smp_affinity of the network card, rps_cpus of its queues, --cpus.";
    /// Something looks into the measured programs.
    Traced = "TRACED",
        "hopcost ran under a tracer, or with a library that the dynamic linker loads into every program; workers inherit both, and either may add to every system call.",
        "Run without strace, gdb or perf trace, without LD_PRELOAD and LD_AUDIT in the environment, and with an empty /etc/ld.so.preload.";
    /// hopcost measured beside itself.
    TwoHopcosts = "TWO_HOPCOSTS",
        "Another hopcost of the same user was measuring on this machine when the run began or ended, and the two disturb each other.",
        "Let one run end before another begins.";
    /// Foreign tasks ran on the used CPUs.
    Preempted = "PREEMPTED",
        "Tasks that are not part of the trial ran on its CPUs while it wanted to run.",
        "Stop other work on these CPUs, choose others with --cpus, or isolate them (isolcpus, cpusets).";
    /// A trial stood still.
    Stalled = "STALLED",
        "A trial stood still: its samples cover little of its measured phase and others had its CPUs for the rest, or its ends were stopped within a sample (SIGSTOP, a freezer), or the machine was suspended during the run.",
        "Stop other work on these CPUs, and neither stop the run (Ctrl-Z, a freezer) nor let the machine sleep; medians stand, but p99 and above, the longest sample, and caches and wake-ups beside a machine as busy as this do not.";
    /// The memory of both ends is far from both.
    RemoteMemory = "REMOTE_MEMORY",
        "The memory that both ends share lay on a NUMA node on which neither of them runs.",
        "Look for a memory policy of the shell (numactl --show, cpuset.mems) or a node without free memory (numactl --hardware), and run with numactl --localalloc.";
    /// Measured distance contradicts the claimed topology.
    PlacementClaim = "PLACEMENT_CLAIM",
        "The spinning round trip between the two CPUs contradicts the relation that /sys claims for them.",
        "Treat the placement's name as a claim of the hypervisor; pin the virtual CPUs on the host if you own it.";
    /// A pinned end changed its CPU.
    Migrated = "MIGRATED",
        "An end ran on more than one CPU during the measurement.",
        "Where it was pinned, look for a cpuset or hot-plug change; where it was free, compare with a pinned placement.";
    /// Pinning was asked for and not obtained.
    PinningFailed = "PINNING_FAILED",
        "An end could not be pinned to the CPU that the placement names.",
        "Check the affinity mask and cpuset of the shell (taskset -p $$) or choose other CPUs with --cpus.";
    /// Spinning ends share one CPU.
    Oversubscribed = "OVERSUBSCRIBED",
        "Spinning ends share one CPU, so each hand-over waits for the scheduler's time slice.",
        "Give each spinning end a CPU of its own, or let it block.";
    /// The clock is not a fast, stable one.
    Clocksource = "CLOCKSOURCE",
        "The kernel's clock source is not the processor's own counter, or reading it takes a system call.",
        "Look at /sys/devices/system/clocksource/clocksource0/; on a VM, ask for an invariant TSC.";
    /// The stamp is a visible part of what was timed.
    TimerDominates = "TIMER_DOMINATES",
        "Reading the clock costs more than a tenth of the operation it times.",
        "Use batches for this case (the default); do not read its percentiles.";
    /// A virtual machine.
    Hypervisor = "HYPERVISOR",
        "This is a virtual machine: wake-ups across CPUs, idling and timers go through the hypervisor.",
        "Do not carry these numbers over to bare metal; compare only with runs on the same kind of guest.";
    /// A blocking end did not sleep.
    NeverSlept = "NEVER_SLEPT",
        "Fewer than one context switch a message although the wait policy is block: some messages were already there.",
        "Read the number as that of a wait that partly polls; compare with wait=spin.";
    /// A spinning end slept.
    SpinnerSlept = "SPINNER_SLEPT",
        "An end made voluntary context switches although its wait policy is spin.",
        "Look at the mechanism's system calls with strace; its library may block inside.";
    /// Too few trials for an interval.
    FewTrials = "FEW_TRIALS",
        "Fewer than six trials succeeded, so no 95 % interval exists.",
        "Raise --rounds or --budget.";
    /// The trials trend over time.
    Drift = "DRIFT",
        "The trials of this case trend upwards or downwards over the run.",
        "Look at the trials in time order in the HTML report; repeat when the machine is in a steady state.";
    /// Several modes.
    Multimodal = "MULTIMODAL",
        "The operation has several typical durations, so one median does not describe it.",
        "Read the modes and their shares instead of the p50.";
    /// Nagle's algorithm waits for a delayed acknowledgement.
    NagleDelack = "NAGLE_DELACK",
        "Some or all messages take whole multiples of about 40 ms: Nagle's algorithm holds back the last small segment until the other end's delayed acknowledgement arrives.",
        "Set TCP_NODELAY at the end that sends the messages; where a message is written in parts, giving it to the kernel in one call (one buffer, writev, sendmsg) or MSG_MORE on all but the last part helps too.";
    /// Sends without a copy were copied.
    ZeroCopyCopied = "ZC_COPIED",
        "The kernel copied data that was to be sent without a copy; over loopback, veth and tun it always does (Documentation/networking/msg_zerocopy.rst).",
        "Read this row as the cost of MSG_ZEROCOPY's bookkeeping on top of a copy; measure between two hosts to see it without the copy.";
    /// Completions are missing.
    ZeroCopyUncompleted = "ZC_UNCOMPLETED",
        "Sends without a copy were still not completed when the measurement ended.",
        "Treat the throughput as an upper bound; look at the receiver.";
    /// Little's law does not hold.
    Little = "LITTLE",
        "Throughput times latency is not the number of messages in flight that the acknowledgements allow, so one of the two numbers is wrong or time is spent outside the messages.",
        "Compare the stamps with the sender's loop; look for stalls between messages.";
    /// The clocks of the two ends cannot be compared.
    ClockOffset = "CLOCK_OFFSET",
        "The offset between the two ends' clocks moved, ran against causality, or is known less exactly than a tenth of the time it is used for.",
        "Read one-way times only as far as the printed bound goes, or compare round trips instead.";
    /// The receiver was not waiting.
    Overrun = "OVERRUN",
        "Notifications were deferred because the previous one had not been received yet; the actual gap exceeds the requested one.",
        "Use a longer gap.";
    /// The sender of a load was late by itself.
    GeneratorLate = "GENERATOR_LATE",
        "The sender of a load was late by itself, not because a send had not returned: by more than a tenth of the response's p99, without a channel at its own p99 or with it for more than 1 % of the messages.",
        "Offer a lower rate, or give the sender a CPU that nothing else uses (--cpus, isolcpus); do not read this response as that of the channel.";
    /// The rate was not reached.
    RateMissed = "RATE_MISSED",
        "Less than 99 % of the offered rate was kept: messages were still being sent or received well after the schedule's end, so the response grows with the length of the trial. What was lost on the way does not count here (LOST).",
        "Offer a lower rate: this one is beyond what the channel or its receiver can take.";
    /// Messages were lost.
    Lost = "LOST",
        "Exchanges lost a message or timed out; they were counted and are in no estimate.",
        "Look at /proc/net/snmp for buffer errors; enlarge the socket buffers or lower the load.";
    /// Counters took turns.
    Multiplexed = "PERF_MULTIPLEXED",
        "There were more events than the processor can count at once, so each was counted for part of the time and scaled.",
        "Ask for fewer events, or stop other users of the counters (perf, the NMI watchdog).";
    /// A counter does not exist here.
    CountersMissing = "PERF_UNAVAILABLE",
        "Some events could not be counted here.",
        "Use a machine with a performance monitoring unit, and kernel.perf_event_paranoid of 1 or less (or CAP_PERFMON).";
    /// The warm-up ended before the runtime was steady.
    NotSteady = "NOT_STEADY",
        "What the runtime measures was still changing when the measurement began, or changed during it: it compiles, collects or adapts while it runs.",
        "Read the trials in time order; raise --measure, or give the runtime more time to warm up.";
    /// A thread besides the ends did part of the work.
    HiddenThread = "HIDDEN_THREAD",
        "Threads that are neither the caller nor the callee did a visible part of the work.",
        "Look at the CPU time by thread; a message then crosses more threads than the two ends, and pinning and waits say less than their names.";
    /// Two clocks ran apart over the same exchanges.
    ClockDisagrees = "CLOCK_DISAGREES",
        "The caller's clock disagrees with that of the end in Rust, or with hopcost's own, about how long the same exchanges took.",
        "Do not believe this runtime's times; look at which clock its worker reads.";
    /// The kernel's events changed what they were to show.
    TracingChanged = "TRACING_CHANGED",
        "In the traced phase a hop took longer or shorter than without the kernel's events by more than these cost, so its segments are not quite those of an untraced one.",
        "Read the segments as shares, and compare those of two cases rather than their times; the case's own estimates are of phases without events.";
    /// The binary is not optimised.
    BuildSlow = "BUILD_SLOW",
        "This hopcost was built without optimisation, with debug assertions or with a sanitizer, and so is slower than what it claims to measure.",
        "Build with cargo build --release.";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

document! {
    /// How far a finding reaches.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// To be known; the number stands.
        Note,
        /// The number may mislead.
        Suspect,
        /// The number is not what its label says.
        Invalid,
    }
}

document! {
    /// Follows from the worst finding of a result.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Validity {
        /// Nothing worse than a note.
        Valid,
        /// At least one finding says that the number may mislead.
        Suspect,
        /// At least one finding says that the number is not what its label says.
        Invalid,
    }
}

impl Validity {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Validity::Valid => "valid",
            Validity::Suspect => "suspect",
            Validity::Invalid => "invalid",
        }
    }
}

impl From<Severity> for Validity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Note => Validity::Valid,
            Severity::Suspect => Validity::Suspect,
            Severity::Invalid => Validity::Invalid,
        }
    }
}

document! {
    /// A remark with its evidence.
    pub struct Finding {
        /// What it is about.
        pub code: Code,
        /// How far it reaches.
        pub severity: Severity,
        /// The id of the case it belongs to; absent for the whole run.
        pub case: Option<String>,
        /// What was seen, in a sentence with its numbers.
        pub evidence: String,
        /// The numbers of the sentence, units in their names.
        pub values: BTreeMap<String, f64>,
        /// What the user can do.
        pub remedy: String,
    }
}

impl Finding {
    /// Of messages that wait for a delayed acknowledgement, their share.
    pub fn stalled_share(&self) -> Option<f64> {
        let share = self.values.get("share").copied();
        share.filter(|_| self.code == Code::NagleDelack)
    }
}
