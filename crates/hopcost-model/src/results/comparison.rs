//! What a comparison found, live or of stored runs.

use std::cmp::Ordering;

use super::contrast::{Contrast, Verdict};
use crate::{document, words};

document! {
    /// A comparison of cases in blocks of adjacent trials.
    #[derive(Default)]
    pub struct Comparison {
        /// Cases within this share of each other count as equal.
        pub margin: f64,
        /// Blocks made, …
        pub blocks: u32,
        /// … of so many that were planned.
        pub blocks_planned: u32,
        /// Seconds from the first trial to the end of the last.
        pub took_s: f64,
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
    #[derive(Default)]
    pub struct Compared {
        /// The case.
        pub case: String,
        /// The case that it is compared with: another, or the same in other runs.
        pub baseline: String,
        /// Its time over the baseline's; `null` where nothing measured both. Where the speeds of
        /// stored runs differ by more than 5 %, it is adjusted for that.
        pub contrast: Option<Contrast>,
        /// The ratio of the raw times, if `contrast` is adjusted; else `null`.
        pub met_ratio: Option<f64>,
        /// What it took: median over trials; of stored runs, the middle of their values.
        pub value_ns: Option<f64>,
        /// What the baseline took.
        pub baseline_ns: Option<f64>,
        /// Its time over the baseline's at each decile, where operations were timed singly.
        pub deciles: Vec<Shift>,
        /// What a second measurement found, where the case looked slower; absent without one.
        pub again: Option<Box<Compared>>,
    }
}

impl Compared {
    /// A case that nothing measured.
    pub fn unmeasured(case: &str) -> Self {
        Self { case: case.to_owned(), baseline: case.to_owned(), ..Self::default() }
    }

    /// Whether each measurement of it gave a value.
    pub fn is_measured(&self) -> bool {
        self.contrast.is_some() && self.again.as_ref().is_none_or(|again| again.contrast.is_some())
    }

    /// Whether the first measurement shows it slower by more than the margin.
    pub fn looks_slower(&self) -> bool {
        self.contrast.and_then(|of| of.side()) == Some(Ordering::Greater)
    }

    /// Whether every measurement does.
    pub fn is_slower(&self) -> bool {
        self.looks_slower() && self.again.as_ref().is_none_or(|again| again.looks_slower())
    }

    /// Whether it may be slower by more than the margin, and that is not decided.
    pub fn is_open(&self, margin: f64) -> bool {
        let reaches = |of: Contrast| of.high.is_none_or(|high| high >= 1.0 + margin);
        let is_undecided = |of: Contrast| of.verdict == Verdict::Open && reaches(of);
        self.looks_slower() && !self.is_slower() || self.contrast.is_some_and(is_undecided)
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
    /// Stored runs compared with others.
    #[derive(Default)]
    pub struct RunComparison {
        /// Cases within this share of each other count as equal.
        pub margin: f64,
        /// The runs of the baseline.
        pub baseline: Vec<ComparedRun>,
        /// The runs that are compared with it.
        pub other: Vec<ComparedRun>,
        /// What they may differ in.
        pub across: Vec<Across>,
        /// What they differ in.
        pub differences: Vec<Difference>,
        /// Further remarks, in words.
        pub remarks: Vec<String>,
        /// Each case that both sides have, in the order of the baseline's first run.
        pub compared: Vec<Compared>,
        /// Cases that only the baseline has.
        pub only_baseline: Vec<String>,
        /// Cases that only the other side has.
        pub only_other: Vec<String>,
        /// The hosts, where fleets are compared: each host is a block, its two runs are the sides.
        pub hosts: Option<ComparedFleets>,
        /// The axis, where two cases are compared at each of its values.
        pub along: Option<Along>,
    }
}

document! {
    /// Two fleets whose hosts are compared one by one.
    pub struct ComparedFleets {
        /// Hosts that both have measured.
        pub n_hosts: u32,
        /// Hosts of the baseline alone.
        pub only_baseline: Vec<String>,
        /// Hosts of the other side alone.
        pub only_other: Vec<String>,
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
        /// Whether the second case is the faster one from there on.
        pub second_is_faster: bool,
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

words! {
    /// What runs may differ in only where that is the question.
    Across, "across" {
        /// Model and stepping of the processor.
        Cpu = "cpu",
        /// Its microcode.
        Microcode = "microcode",
        /// Release, build, preemption and command line of the kernel.
        Kernel = "kernel",
        /// The hypervisor.
        Hypervisor = "hypervisor",
        /// Where the used CPUs are: packages, cores, threads, caches, nodes.
        Topology = "topology",
        /// Governor and turbo.
        Frequency = "frequency",
        /// The kernel's clock source.
        ClockSource = "clock-source",
        /// Mitigations of the processor's vulnerabilities.
        Mitigations = "mitigations",
        /// Version and kind of build of hopcost.
        Tool = "tool",
        /// Revision of a mechanism: its numbers changed.
        Mechanism = "mechanism",
        /// The CPUs; cases are paired that differ in their placement alone.
        Placement = "placement",
        /// The runtimes' versions; cases are paired that differ in their runtimes alone.
        Runtime = "runtime",
        /// Cases are paired that differ in their boundary alone.
        Boundary = "boundary",
    }
}
