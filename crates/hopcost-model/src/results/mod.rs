//! What is shown: computed once by `read`, drawn by every view.
//!
//! All times are nanoseconds. `null` means "not known", and the reason stands
//! beside it.

mod advice;
mod case;
mod checkup;
mod comparison;
mod contrast;
mod explanation;
mod judged;
mod ladder;
mod load;
mod published;
mod ratio;
mod runtimes;
mod statistic;
mod stream;
mod wake;
mod yardstick;

use crate::case::Placement;
use crate::document;
use crate::finding::Finding;
use crate::host::Host;
use crate::plan::TrialShape;
use crate::protocol::ClockReading;
use crate::raw::RunAbout;

pub use crate::columns::CaseParts;
pub use advice::*;
pub use case::*;
pub use checkup::*;
pub use comparison::*;
pub use contrast::{Contrast, Verdict};
pub use explanation::*;
pub use judged::*;
pub use ladder::*;
pub use load::*;
pub use published::*;
pub use ratio::Ratio;
pub use runtimes::*;
pub use statistic::{Estimate, Estimates, Quiet, Statistic};
pub use stream::*;
pub use wake::*;
pub use yardstick::*;

document! {
    /// The document behind every view of a run.
    #[derive(Default)]
    pub struct Results {
        /// Who made the run, when and how.
        pub about: RunAbout,
        /// What disturbed the run as a whole, in words; `null` where nothing did.
        pub disturbed: Option<String>,
        /// The plan in brief.
        pub plan: PlanBrief,
        /// The host before.
        pub host: Host,
        /// What changed on the host until the end: key, before, after.
        pub host_changes: Vec<HostChange>,
        /// In plain words, what of this machine shapes the numbers below.
        pub remarks: Vec<String>,
        /// Clock of each used CPU, of each runtime.
        pub clocks: Vec<ClockReading>,
        /// The yardsticks over the run.
        pub yardsticks: Vec<YardstickLevel>,
        /// Whether values were divided by them, by what was measured.
        pub adjustments: Vec<Adjustment>,
        /// The workers of other runtimes that took part.
        pub workers: Vec<WorkerBrief>,
        /// One entry a case, in the order of the plan.
        pub results: Vec<CaseResult>,
        /// The ladder: results by meaning and cost.
        pub ladder: Vec<LadderGroup>,
        /// What a published table says beside what was measured here.
        pub published: Vec<PublishedTable>,
        /// What each idle knob changes.
        pub knobs: Vec<KnobPrice>,
        /// What the claims of the run's suite tell of its cases.
        pub checks: Vec<JudgedClaim>,
        /// How much load each mechanism carries, where several rates were measured.
        pub loads: Vec<LoadCurve>,
        /// Runtimes compared; `null` where all ends were in Rust.
        pub runtimes: Option<RuntimeComparison>,
        /// Every finding, worst first; those of a case carry its id.
        pub findings: Vec<Finding>,
        /// The command that made the run, ready to paste.
        pub command: String,
        /// What a live comparison found; absent of any other run.
        pub comparison: Option<Comparison>,
        /// Where the time of a round trip goes; absent where nothing was traced.
        pub explanation: Option<Explanation>,
        /// Which claims hold on this machine; absent of a run that judges none.
        pub judged: Option<Judged>,
    }
}

document! {
    /// The plan in brief.
    #[derive(Default)]
    pub struct PlanBrief {
        /// Suite name.
        pub suite: String,
        /// Seed.
        pub seed: u64,
        /// Rounds planned.
        pub rounds_planned: u32,
        /// Rounds of which at least one trial finished.
        pub rounds_done: u32,
        /// Trials finished, failed ones included.
        pub trials_done: u32,
        /// Trials that failed.
        pub trials_failed: u32,
        /// Whether the run was cut off before its last trial.
        pub complete: bool,
        /// Seconds from the start of the run to the end of its last trial.
        pub took_s: f64,
        /// Why there are fewer rounds than were planned, or wider intervals than were aimed at,
        /// where the budget ended the run; `null` where it did not.
        pub ended_early: Option<String>,
        /// The case that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used, the caller's first.
        pub cpus: Vec<u32>,
        /// The claimed relation of the two CPUs.
        pub relation: Option<Placement>,
        /// Whether the ends were pinned to these CPUs.
        pub pinning: Pinning,
        /// How a trial was shaped.
        pub trial: TrialShape,
        /// What the answer gives times in. All times of this document are nanoseconds.
        pub unit: TimeUnit,
        /// Bytes of the messages in the document that the suite measures after, where it says.
        pub document_payload_bytes: Option<u32>,
    }
}

document! {
    /// What an answer gives times in.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum TimeUnit {
        /// Nanoseconds and their multiples.
        #[default]
        Ns,
        /// Ticks of the clock that stamps, as far as their rate is known.
        Ticks,
    }
}

document! {
    /// Whether ends were pinned.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum Pinning {
        /// Every end of every case.
        #[default]
        All,
        /// Not those of the cases whose placement is `free`.
        Some,
        /// None: every case was `free`.
        None,
    }
}

document! {
    /// A reading that differed after the run.
    pub struct HostChange {
        /// Key of the reading.
        pub key: String,
        /// Before.
        pub before: Option<String>,
        /// After.
        pub after: Option<String>,
    }
}
