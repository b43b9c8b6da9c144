//! The ladder: results by meaning, their rows and their ranking.

use super::ratio::Ratio;
use crate::case::Boundary;
use crate::document;

document! {
    /// Rows that may be compared with each other.
    pub struct LadderGroup {
        /// Heading ("round trip, 64 bytes each way").
        pub title: String,
        /// What the number means, in a sentence.
        pub meaning: String,
        /// Whether the rows are costs in batches (no percentiles).
        pub batched: bool,
        /// Cheapest first; skipped and failed rows last.
        pub rows: Vec<LadderRow>,
        /// The measured cases of each place with at least two of them, best first.
        pub rankings: Vec<Ranking>,
    }
}

document! {
    /// The cases of a group at one place, best first, and which of them differ: all pairs
    /// are judged at once, paired by round, so that with 95 % no two equals differ.
    pub struct Ranking {
        /// On how many CPUs.
        pub place: Place,
        /// By which number.
        pub by: RankedBy,
        /// Best first.
        pub cases: Vec<RankedCase>,
    }
}

document! {
    /// What a ranking is by.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum RankedBy {
        /// The p50 or the cost: least first.
        Time,
        /// The throughput of all flows together: greatest first.
        Throughput,
    }
}

document! {
    /// A case in a ranking.
    pub struct RankedCase {
        /// Index into the group's rows.
        pub row: u32,
        /// Index into `results`.
        pub result: u32,
        /// How it stands to the cases before it; `null` where fewer than six rounds, or a
        /// value that is not above zero, cannot tell.
        pub step: Option<Step>,
        /// Multiple of the case that the ranking's multiples refer to, paired by round; its
        /// interval is of this pair alone.
        pub ratio: Option<Ratio>,
    }
}

document! {
    /// How a case stands to those before it in a ranking.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Step {
        /// The first of all, or different from none of its group.
        Tied,
        /// The first of a group of which each differs from each of the group before.
        Apart,
        /// The first of a group that differs from some of the group before, not from all.
        Between,
    }
}

document! {
    /// On how many CPUs two ends run.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Place {
        /// Both on one, or a call.
        One,
        /// Each on its own.
        Two,
        /// As the scheduler likes.
        Free,
        /// Each on a host of its own.
        Hosts,
    }
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 4] = [Place::One, Place::Two, Place::Free, Place::Hosts];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Place::One => "one CPU",
            Place::Two => "two CPUs",
            Place::Free => "not pinned",
            Place::Hosts => "two hosts",
        }
    }
}

impl LadderRow {
    /// Index into `results` of the case at this place.
    pub const fn at(&self, place: Place) -> Option<u32> {
        match place {
            Place::One => self.one_cpu,
            Place::Two => self.two_cpus,
            Place::Free => self.free,
            Place::Hosts => self.hosts,
        }
    }
}

document! {
    /// One row: a mechanism with its boundary and wait, on one CPU and on two.
    pub struct LadderRow {
        /// Mechanism, with its payload or parameters where a group mixes them.
        pub label: String,
        /// Boundary.
        pub boundary: Boundary,
        /// Waits; `null` for `call`.
        pub wait: Option<String>,
        /// Whether an end keeps a CPU busy while it waits, always or before it sleeps.
        pub spins: bool,
        /// Index into `results` of the case on one CPU (or of the only one, for a call).
        pub one_cpu: Option<u32>,
        /// Index into `results` of the case on two CPUs.
        pub two_cpus: Option<u32>,
        /// Index into `results` of the case that was left to the scheduler.
        pub free: Option<u32>,
        /// Index into `results` of the case between two hosts.
        pub hosts: Option<u32>,
    }
}
