//! What a live comparison found.

use crate::document;

document! {
    /// A comparison of cases in blocks of adjacent trials.
    pub struct Comparison {
        /// Ratios off 1 by no more than this share are those of equals.
        pub margin: f64,
        /// Blocks made, …
        pub blocks: u32,
        /// … of so many that were planned.
        pub blocks_planned: u32,
        /// Seconds from the first trial to the end of the last.
        pub took_s: f64,
        /// The baseline.
        pub baseline: String,
        /// What the baseline took as met, median over trials; `null` where it was not measured.
        pub baseline_ns: Option<f64>,
        /// The build that played it, where builds are compared.
        pub baseline_build: Option<String>,
        /// The baseline once more, compared with itself.
        pub copy: Compared,
        /// Why none of it counts; `null` where it does.
        pub invalid: Option<String>,
        /// The others, in the order in which they were named.
        pub compared: Vec<Compared>,
    }
}

document! {
    /// A case compared with the baseline.
    pub struct Compared {
        /// The case.
        pub case: String,
        /// The build that played it, where builds are compared.
        pub build: Option<String>,
        /// What it is beside the baseline.
        pub verdict: Verdict,
        /// Its time over the baseline's; `null` without a block in which both were measured.
        pub ratio: Option<f64>,
        /// Lower end of the interval that the verdict is read from; `null` with too few blocks.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Nominal coverage of this interval, 0 to 1.
        pub coverage: f64,
        /// What it took as met, median over trials.
        pub value_ns: Option<f64>,
        /// Blocks in which both were measured.
        pub n_blocks: u32,
        /// Blocks that would probably decide; `null` where it is decided, or the ratio lies at the
        /// margin.
        pub blocks_to_decide: Option<u32>,
        /// How long these take.
        pub seconds_to_decide: Option<f64>,
    }
}

document! {
    /// What a case is beside the baseline.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// It takes less time, by more than the margin.
        Faster,
        /// It takes more, by more than the margin.
        Slower,
        /// It takes as long, within the margin.
        Equivalent,
        /// That is not known.
        Inconclusive,
    }
}

impl Verdict {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}
