//! What will be measured, in which order, with every default filled in.

use crate::case::{Case, Placement, Workload};
use crate::units::Rate;

document! {
    /// A resolved plan.
    #[derive(Default)]
    pub struct Plan {
        /// Name of the suite, or `command line`.
        pub suite: String,
        /// Seed of the order of every round and of thinning.
        pub seed: u64,
        /// Rounds to do.
        pub rounds: u32,
        /// Stop starting rounds after this long; the rounds above if absent.
        pub budget_ns: Option<u64>,
        /// How a trial is shaped.
        pub trial: TrialShape,
        /// Case (id) that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used: the caller's, then the callee's for two-CPU placements.
        pub cpus: Vec<u32>,
        /// What /sys claims the relation of the two CPUs to be; absent with one CPU.
        pub relation: Option<Placement>,
        /// The caller's and the callee's CPU of every two-CPU placement in use
        /// (`relation` among them); [`Plan::cpus_for`] looks them up.
        #[serde(default)]
        pub pairs: std::collections::BTreeMap<Placement, (u32, u32)>,
        /// Every case asked for, in the order of the suite, the impossible ones with their reason.
        pub cases: Vec<PlannedCase>,
        /// That they are compared in blocks, each two rounds long; absent where they are not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub comparison: Option<ComparisonPlan>,
        /// What the run is to answer; absent where it measures every case equally often.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub question: Option<Question>,
    }

    /// A question that a run answers: rounds go on for the cases that the answer still needs.
    pub enum Question {
        /// Which claims hold on this machine.
        Claims(Vec<ClaimsPlan>),
        /// Where the time of a round trip goes.
        Explanation {},
    }

    /// A claims file as it was when the run was planned.
    pub struct ClaimsPlan {
        /// Its file, as named.
        pub file: String,
        /// Its text, a line each, since a run file has no line breaks in a text.
        pub lines: Vec<String>,
        /// The questions of it that are to be answered; all of its claims where it is empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub questions: Vec<String>,
        /// The cases that its selectors stand for on this machine; of those that are not there, the
        /// cases of the plan that they fit.
        pub cases: std::collections::BTreeMap<String, Vec<String>>,
    }

    /// How cases are compared. The first of the plan is the baseline, the second the same once
    /// more, which must not differ from it; the others are compared with the baseline.
    pub struct ComparisonPlan {
        /// Cases within this share of each other count as equal.
        pub margin: f64,
    }

    /// How a trial is shaped. Counts, never time, end a phase: the times here
    /// are turned into counts by the pilot.
    #[derive(Copy, Default)]
    pub struct TrialShape {
        /// Aimed length of the measured phase.
        pub measure_ns: u64,
        /// The measured phase may grow to this to reach `operations_min`.
        pub measure_max_ns: u64,
        /// Operations wanted at least.
        pub operations_min: u64,
        /// Aimed length of the warm-up.
        pub warm_up_ns: u64,
        /// A trial that takes longer than this in all is killed.
        pub deadline_ms: u64,
        /// Samples kept of a trial at most.
        pub samples_max: u32,
        /// Operations of a trial with two ends, exactly, instead of a number found
        /// from `measure_ns`; of a stream, messages of a flow at most.
        pub operations: Option<u64>,
        /// The same for the warm-up.
        pub warm_up_operations: Option<u64>,
        /// Operations of an extra phase after the measurement, in which the kernel
        /// counts system calls; none if 0.
        #[serde(default)]
        pub counted_operations: u64,
        /// Operations of each of two last phases, of which the second is traced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub traced_operations: Option<u64>,
    }

    /// A case of the plan.
    pub struct PlannedCase {
        /// Canonical spelling.
        #[serde(rename = "id")]
        pub case: Case,
        /// Why it will not be measured here.
        pub skip: Option<String>,
    }
}

/// Rounds from one look at the verdicts on claims to the next.
pub const ROUNDS_A_LOOK: u32 = 8;

impl ClaimsPlan {
    /// Of a file's text; a tab in it is a space.
    pub fn of(file: &str, text: &str, questions: &[String]) -> Self {
        let lines = text.lines().map(|line| line.replace('\t', " ")).collect();
        let (file, questions) = (file.to_owned(), questions.to_vec());
        ClaimsPlan { file, lines, questions, cases: std::collections::BTreeMap::new() }
    }
    /// Its text.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// Rounds of a block: the second goes through the order of the first backwards.
pub const ROUNDS_A_BLOCK: u32 = 2;

/// Wake-ups of a trial where nobody says how many.
const WAKE_UPS: u64 = 100;

/// How long it takes until the kernel and the hypervisor poll for work as if the CPUs had not idled.
const SETTLED_NS: u64 = 50_000_000;

/// Messages of a load's phase at least, so that it has a p90, and at most, so that memory is
/// bounded at any rate: 8 MiB a column.
const LOAD_MESSAGES: std::ops::RangeInclusive<u64> = 100..=1 << 20;
/// Enough where 100 would take longer than [`LONG_LOAD_NS`].
const FEW_LOAD_MESSAGES: u64 = 20;
const LONG_LOAD_NS: u64 = 20_000_000_000;
/// How long the generator of a load is watched without a channel.
const GENERATOR_NS: u64 = 20_000_000;
/// The least of a phase that is not measured.
const FEW_MESSAGES: u64 = 2;

impl TrialShape {
    /// Aimed length of a case's warm-up. After an idle time, round trips that wake another CPU take up to
    /// 1.4 times as long in a guest, until halt polling has adapted (Documentation/virt/guest-halt-polling.rst).
    pub fn warm_up_of_ns(&self, case: &Case) -> u64 {
        let wakes_a_cpu = case.workload == Workload::Roundtrip
            && case.placement != Some(Placement::SameCpu)
            && case.waits.is_some_and(|waits| waits.caller.sleeps() || waits.callee.sleeps());
        match self.warm_up_ns {
            short @ 1.. if wakes_a_cpu => short.max(self.measure_ns.min(SETTLED_NS)),
            stated => stated,
        }
    }
    /// Wake-ups of a `wake`: of the warm-up and of the measured phase.
    pub fn wake_ups(&self) -> (u64, u64) {
        let measured = self.operations.unwrap_or(WAKE_UPS);
        (self.warm_up_operations.unwrap_or(measured.div_ceil(10)), measured)
    }

    /// Messages of a `load` of this rate: of the generator without a channel, of the warm-up,
    /// of the measured phase.
    pub fn load_messages(&self, rate: Rate) -> [u64; 3] {
        let (least, most) = (*LOAD_MESSAGES.start(), *LOAD_MESSAGES.end());
        let least = rate.messages_in(LONG_LOAD_NS).clamp(FEW_LOAD_MESSAGES, least);
        let within = |ns: u64, least: u64| rate.messages_in(ns).clamp(least, most);
        let measured = self.operations.unwrap_or(within(self.measure_ns, least)).min(most);
        // At a low rate a second of them has to do.
        let few = rate.messages_in(1_000_000_000).clamp(FEW_MESSAGES, least);
        let warm_up = within(self.warm_up_ns, few).min(measured);
        let warm_up = self.warm_up_operations.unwrap_or(warm_up).min(most);
        [within(GENERATOR_NS, few).min(measured), warm_up, measured]
    }
}

impl PlannedCase {
    /// One to be measured.
    pub fn live(case: Case) -> Self {
        Self { case, skip: None }
    }
    /// The canonical spelling.
    pub fn id(&self) -> String {
        self.case.id()
    }
}

impl Plan {
    /// The case of this index, if there is one.
    pub fn case(&self, index: u32) -> Option<&Case> {
        Some(&self.cases.get(usize::try_from(index).ok()?)?.case)
    }
    /// The cases that will be measured.
    pub fn live_cases(&self) -> impl Iterator<Item = &Case> {
        self.live().map(|(_, planned)| &planned.case)
    }
    /// The CPUs (caller's, callee's) of a placement, `None` for a `call`; no CPU
    /// means that the end is not pinned. Every case of [`Plan::live`] that has a
    /// two-CPU placement finds its pair here.
    pub fn cpus_for(&self, placement: Option<Placement>) -> (Option<u32>, Option<u32>) {
        let first = self.cpus.first().copied();
        match placement {
            Some(Placement::Free) => (None, None),
            None | Some(Placement::SameCpu) => (first, first),
            Some(two) => match self.pairs.get(&two) {
                Some(&(caller, callee)) => (Some(caller), Some(callee)),
                None if self.relation == Some(two) => (first, self.cpus.get(1).copied()),
                None => (None, None),
            },
        }
    }
    /// Every CPU of this host that is used, each once: all but those of the far end of another host.
    pub fn local_cpus(&self) -> std::collections::BTreeSet<u32> {
        let of_pair = |(placement, &(caller, callee)): (&Placement, &(u32, u32))| {
            let callee = (*placement != Placement::Pinned).then_some(callee);
            [Some(caller), callee].into_iter().flatten()
        };
        self.cpus.iter().copied().chain(self.pairs.iter().flat_map(of_pair)).collect()
    }
    /// The cases that will be measured, with their index in `cases`.
    pub fn live(&self) -> impl Iterator<Item = (usize, &PlannedCase)> {
        self.cases.iter().enumerate().filter(|(_, case)| case.skip.is_none())
    }
}
