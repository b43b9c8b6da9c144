//! Findings: machine-readable remarks with evidence and remedy.

use std::collections::BTreeMap;

/// What each code means and what the user can do about it, a sentence or two each, below its code.
const TEXTS: &str = include_str!("findings.txt");

words! {
    /// What a finding is about.
    Code, "finding" {
        /// The hypervisor ran something else.
        Steal = "STEAL",
        /// The quota of the control group withheld CPU time.
        Throttled = "THROTTLED",
        /// Packets were taken in on the used CPUs.
        SoftIrq = "SOFTIRQ",
        /// Something looks into the measured programs.
        Traced = "TRACED",
        /// hopcost measured beside itself.
        TwoHopcosts = "TWO_HOPCOSTS",
        /// Foreign tasks ran on the used CPUs.
        Preempted = "PREEMPTED",
        /// A trial stood still.
        Stalled = "STALLED",
        /// The memory of both ends is far from both.
        RemoteMemory = "REMOTE_MEMORY",
        /// Measured distance contradicts the claimed topology.
        PlacementClaim = "PLACEMENT_CLAIM",
        /// The distance of two CPUs changed during the run.
        DistanceMoved = "DISTANCE_MOVED",
        /// Its CPUs changed between two speeds.
        TwoSpeeds = "TWO_SPEEDS",
        /// A pinned end changed its CPU.
        Migrated = "MIGRATED",
        /// Pinning was asked for and not obtained.
        PinningFailed = "PINNING_FAILED",
        /// Spinning ends share one CPU.
        Oversubscribed = "OVERSUBSCRIBED",
        /// The clock is not a fast, stable one.
        Clocksource = "CLOCKSOURCE",
        /// The stamp is a visible part of what was timed.
        TimerDominates = "TIMER_DOMINATES",
        /// A blocking end did not sleep.
        NeverSlept = "NEVER_SLEPT",
        /// A spinning end slept.
        SpinnerSlept = "SPINNER_SLEPT",
        /// Too few trials for an interval.
        FewTrials = "FEW_TRIALS",
        /// The trials trend over time.
        Drift = "DRIFT",
        /// Several modes.
        Multimodal = "MULTIMODAL",
        /// Nagle's algorithm waits for a delayed acknowledgement.
        NagleDelack = "NAGLE_DELACK",
        /// Sends without a copy were copied.
        ZeroCopyCopied = "ZC_COPIED",
        /// Completions are missing.
        ZeroCopyUncompleted = "ZC_UNCOMPLETED",
        /// Little's law does not hold.
        Little = "LITTLE",
        /// The clocks of the two ends cannot be compared.
        ClockOffset = "CLOCK_OFFSET",
        /// The receiver was not waiting.
        Overrun = "OVERRUN",
        /// The sender of a load was late by itself.
        GeneratorLate = "GENERATOR_LATE",
        /// The rate was not reached.
        RateMissed = "RATE_MISSED",
        /// Messages were lost.
        Lost = "LOST",
        /// TCP sent segments again.
        TcpRetransmitted = "TCP_RETRANSMITTED",
        /// Counters took turns.
        Multiplexed = "PERF_MULTIPLEXED",
        /// The warm-up ended before the runtime was steady.
        NotSteady = "NOT_STEADY",
        /// A thread besides the ends did part of the work.
        HiddenThread = "HIDDEN_THREAD",
        /// Two clocks ran apart over the same exchanges.
        ClockDisagrees = "CLOCK_DISAGREES",
        /// The kernel's events changed what they were to show.
        TracingChanged = "TRACING_CHANGED",
        /// The binary is not optimised.
        BuildSlow = "BUILD_SLOW",
    }

    /// How far a finding reaches.
    Severity, "severity" {
        /// To be known; the number stands.
        Note = "note",
        /// The number may mislead.
        Suspect = "suspect",
        /// The number is not what its label says.
        Invalid = "invalid",
    }

    /// Follows from the worst finding of a result.
    Validity, "validity" {
        /// Nothing worse than a note.
        Valid = "valid",
        /// At least one finding says that the number may mislead.
        Suspect = "suspect",
        /// At least one finding says that the number is not what its label says.
        Invalid = "invalid",
    }
}

impl Code {
    /// The line so far below its code.
    fn text(self, line: usize) -> &'static str {
        let mut lines =
            TEXTS.lines().skip_while(|line| line.trim_matches(['[', ']']) != self.word());
        lines.nth(line).unwrap_or_default()
    }
    /// What it means, in a sentence.
    pub fn means(self) -> &'static str {
        self.text(1)
    }
    /// What the user can do about it, in a sentence.
    pub fn remedy(self) -> &'static str {
        self.text(2)
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
