//! What is shown: computed once, drawn by every view. A type stands beside the function that fills
//! it; those that other stages need too are in [`hopcost_model::results`].
//!
//! All times are nanoseconds. `null` means "not known", and the reason stands beside it.

pub use hopcost_model::results::*;
use hopcost_model::{ClockReading, Finding, Host, RunAbout, document};

pub use crate::case::{CaseResult, Status};
pub use crate::checkup::{Checkup, CpuGaps, CpuLine, Handover, Right};
pub use crate::comparison::{Compared, Comparison};
pub use crate::counters::{CounterResult, TcpResult};
pub use crate::explain::{
    ComparedSegment, ExplainedCase, ExplainedSegment, Explanation, LeftOutHops,
};
pub use crate::judge::words::JudgedPart;
pub use crate::judge::{Judged, JudgedClaim, JudgedFile, JudgedQuestion};
pub use crate::one_way::{LoadQuantiles, LoadResult, WakeResult};
pub use crate::pooled::{CurvePoint, Mode};
pub use crate::prices::{KnobPrice, LibraryCost};
pub use crate::published::{
    PublishedBrief, PublishedField, PublishedLayout, PublishedRow, PublishedTable,
};
pub use crate::ranking::{LadderGroup, LadderRow, Place, RankedBy, RankedCase, Ranking, Step};
pub use crate::remarks::PlanBrief;
pub use crate::runtimes::{RuntimeCell, RuntimeMatrix, RuntimeRow, WorkerBrief};
pub use crate::stored::facts::{Across, Difference};
pub use crate::stored::{Along, ComparedFleets, ComparedRun, Crossed, RunComparison};
pub use crate::stream::StreamResult;
pub use crate::threads::ThreadResult;
pub use crate::trials::TrialPoint;
pub use crate::yardstick::{Adjustment, Speed, YardstickLevel};

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
        /// What libraries add to the mechanisms beneath them.
        pub libraries: Vec<LibraryCost>,
        /// Mechanisms by runtimes, one matrix for what may be compared; none where all ends were in Rust.
        pub runtimes: Vec<RuntimeMatrix>,
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
