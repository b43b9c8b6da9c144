//! What a comparison found, live or of stored runs.

use super::fleet::ComparedFleets;
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
        /// What the baseline took, median over trials; `null` where it was not measured.
        pub baseline_ns: Option<f64>,
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
        /// What it took: median over trials; of stored runs, the middle of their values.
        pub value_ns: Option<f64>,
        /// Blocks in which both were measured; 0 of stored runs.
        pub n_blocks: u32,
        /// Blocks that would probably decide; `null` where it is decided, or the ratio lies at the
        /// margin.
        pub blocks_to_decide: Option<u32>,
        /// How long these take.
        pub seconds_to_decide: Option<f64>,
        /// Its time over the baseline's at each decile, where operations were timed singly.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub deciles: Vec<Shift>,
        /// The stored runs in which it was measured; absent of a live comparison.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub runs: Option<ComparedRuns>,
        /// What a second measurement found, where the case looked slower; absent without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub again: Option<Box<Compared>>,
    }
}

impl Compared {
    /// Whether each measurement of it gave a value.
    pub fn is_measured(&self) -> bool {
        self.ratio.is_some() && self.again.as_ref().is_none_or(|again| again.ratio.is_some())
    }

    /// Whether it is slower, in each measurement.
    pub fn is_slower(&self) -> bool {
        let is_confirmed = || self.again.as_ref().is_none_or(|of| of.verdict == Verdict::Slower);
        self.verdict == Verdict::Slower && is_confirmed()
    }

    /// Whether it may be slower by more than the margin, and that is not decided.
    pub fn is_open(&self, margin: f64) -> bool {
        match self.verdict {
            Verdict::Slower => !self.is_slower(),
            Verdict::Inconclusive => self.high.is_none_or(|high| high >= 1.0 + margin),
            Verdict::Faster | Verdict::Equivalent => false,
        }
    }

    /// The verdict, in words.
    pub fn word(&self) -> &'static str {
        match () {
            () if !self.is_measured() => "not measured",
            () if self.verdict == Verdict::Slower && !self.is_slower() => "not confirmed",
            () => self.verdict.word(),
        }
    }
}

document! {
    /// A decile of a case over the same decile of the baseline.
    #[derive(Copy)]
    pub struct Shift {
        /// The decile, 0.1 to 0.9.
        pub q: f64,
        /// The ratio.
        pub ratio: f64,
        /// Lower end of the band that holds all deciles with 95 %; `null` with too few blocks or
        /// runs.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
    }
}

document! {
    /// What a comparison of stored runs knows of one case.
    pub struct ComparedRuns {
        /// The baseline, where it is another case.
        pub baseline: Option<String>,
        /// The ratio of the values met, where the runs' speeds differ by more than 5 %: `ratio`,
        /// from which the verdict is read, is adjusted for that. `null` where they do not.
        #[serde(default)]
        pub met_ratio: Option<f64>,
        /// What the baseline took: the middle of its runs' values.
        pub baseline_ns: Option<f64>,
        /// Runs of the baseline that measured it.
        pub n_baseline: u32,
        /// Runs of the other side that did.
        pub n_other: u32,
        /// Runs a side that would probably decide; `null` where it is decided, or the ratio lies
        /// at the margin.
        pub runs_to_decide: Option<u32>,
    }
}

document! {
    /// Stored runs compared with others (`hopcost/1`).
    pub struct RunComparison {
        /// Always `hopcost/1`.
        pub schema: String,
        /// Ratios off 1 by no more than this share are those of equals.
        pub margin: f64,
        /// The runs of the baseline.
        pub baseline: Vec<ComparedRun>,
        /// The runs that are compared with it.
        pub other: Vec<ComparedRun>,
        /// What they may differ in.
        pub across: Vec<Across>,
        /// What they differ in.
        pub differences: Vec<Difference>,
        /// What else is to be known, in words.
        pub remarks: Vec<String>,
        /// Each case that both sides have, in the order of the baseline's first run.
        pub compared: Vec<Compared>,
        /// Cases that only the baseline has.
        pub only_baseline: Vec<String>,
        /// Cases that only the other side has.
        pub only_other: Vec<String>,
        /// The hosts, where fleets are compared: each host is a block, its two runs are the sides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hosts: Option<ComparedFleets>,
        /// The axis, where two cases are compared at each of its values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub along: Option<Along>,
    }
}

document! {
    /// An axis along which two cases are compared.
    pub struct Along {
        /// Its key.
        pub axis: String,
        /// Where the other case becomes the faster one.
        pub crossings: Vec<Crossed>,
    }
}

document! {
    /// A change of which case is faster.
    #[derive(Copy, Eq)]
    pub struct Crossed {
        /// The last value at which the one is faster.
        pub after: u64,
        /// The first value at which the other is.
        pub until: u64,
        /// What the second case is beside the first from there on.
        pub then: Verdict,
    }
}

document! {
    /// A run that was compared.
    pub struct ComparedRun {
        /// Its id.
        pub id: String,
        /// When it began, RFC 3339 in UTC.
        pub started: String,
    }
}

document! {
    /// What differs between runs.
    pub struct Difference {
        /// What a comparison has to be across.
        pub across: Across,
        /// What it is, exactly.
        pub what: String,
        /// What it is in the runs of the baseline, each value once.
        pub baseline: Vec<String>,
        /// What it is in the others.
        pub other: Vec<String>,
    }
}

macro_rules! across {
    ($($(#[doc = $doc:literal])+ $variant:ident, $word:literal;)+) => {
        document! {
            /// What runs may differ in only where that is the question.
            #[derive(Copy, Eq, PartialOrd, Ord)]
            #[serde(rename_all = "kebab-case")]
            pub enum Across { $($(#[doc = $doc])+ $variant,)+ }
        }
        impl Across {
            /// All of them.
            pub const ALL: &[Across] = &[$(Across::$variant),+];
            /// Lower-case word.
            pub const fn word(self) -> &'static str {
                match self { $(Across::$variant => $word),+ }
            }
        }
    };
}

across! {
    /// Model and stepping of the processor.
    Cpu, "cpu";
    /// Its microcode.
    Microcode, "microcode";
    /// Release, build, preemption and command line of the kernel.
    Kernel, "kernel";
    /// The hypervisor.
    Hypervisor, "hypervisor";
    /// Where the used CPUs are: packages, cores, threads, caches, nodes.
    Topology, "topology";
    /// Governor and turbo.
    Frequency, "frequency";
    /// The kernel's clock source.
    ClockSource, "clock-source";
    /// Mitigations of the processor's vulnerabilities.
    Mitigations, "mitigations";
    /// Version and kind of build of hopcost.
    Tool, "tool";
    /// Revision of a mechanism: its numbers changed.
    Mechanism, "mechanism";
    /// The CPUs; cases are paired that differ in their placement alone.
    Placement, "placement";
    /// The runtimes' versions; cases are paired that differ in their runtimes alone.
    Runtime, "runtime";
    /// Cases are paired that differ in their boundary alone.
    Boundary, "boundary";
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
