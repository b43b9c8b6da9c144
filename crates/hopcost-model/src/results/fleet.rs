//! What is known of a fleet: hosts beside each other, and pairs of them.

use std::collections::BTreeMap;

use crate::document;
use crate::finding::Validity;

document! {
    /// The report of a fleet.
    pub struct FleetReport {
        /// Always `hopcost/1`.
        pub schema: String,
        /// The fleet.
        pub about: FleetAbout,
        /// The hosts, by name.
        pub hosts: Vec<FleetHost>,
        /// Cases that hosts measured by themselves.
        pub cases: Vec<FleetCase>,
        /// By which rule hosts are told to lie off; `null` with too few of them.
        pub rule: Option<OutlierRule>,
        /// Hosts that do, those farthest off first.
        pub outliers: Vec<Outlier>,
        /// Groups of hosts against the others, by error.
        pub groups: Vec<FleetGroup>,
        /// How many groups were compared, each in each case.
        pub groups_compared: u32,
        /// What is commoner among the slow hosts than among the others.
        pub of_slow: Vec<SlowFact>,
        /// What cannot be told apart in this fleet, a sentence each.
        pub confounded: Vec<String>,
        /// Cases of pairs of hosts.
        pub pairs: Vec<PairedCase>,
        /// Why pairs have no run, a sentence each, a few of them.
        pub missing_pairs: Vec<String>,
        /// What agents took, medians over hosts.
        pub agents: AgentCost,
        /// What was left out or could not be told, a sentence each.
        pub remarks: Vec<String>,
    }
}

document! {
    /// A fleet in brief.
    pub struct FleetAbout {
        /// Its id.
        pub id: String,
        /// When it was begun.
        pub created: String,
        /// What was measured.
        pub suite: String,
        /// Who drove it.
        pub engine: String,
        /// Version of hopcost.
        pub hopcost: String,
        /// `running`, `complete` or `aborted`.
        pub status: String,
        /// Hosts by state.
        pub hosts: BTreeMap<String, u32>,
        /// Tasks of single hosts by state: of several attempts at one by that which was done, or the last.
        pub host_tasks: BTreeMap<String, u32>,
        /// The same of pairs.
        pub pair_tasks: BTreeMap<String, u32>,
        /// Ratios off 1 by no more than this share are of no interest.
        pub margin: f64,
    }
}

document! {
    /// A host.
    pub struct FleetHost {
        /// Its name.
        pub name: String,
        /// `ready`, `unreachable`, `refused` or `lost`.
        pub state: String,
        /// Why it was not reached, or why measuring it failed.
        pub reason: Option<String>,
        /// Words that its owner has for it.
        pub labels: BTreeMap<String, String>,
        /// Processor.
        pub cpu: Option<String>,
        /// Kernel.
        pub kernel: Option<String>,
        /// Hypervisor.
        pub hypervisor: Option<String>,
        /// How far its clock is behind the driver's, in seconds.
        pub clock_off_s: Option<f64>,
        /// The run file that counts.
        pub file: Option<String>,
        /// What it measured.
        pub values: Vec<HostValue>,
        /// Cases without a value, and why.
        pub missing: Vec<MissingValue>,
    }
}

document! {
    /// What a host measured of a case.
    pub struct HostValue {
        /// Index of the case.
        pub case: u32,
        /// The value, in the unit of the case.
        pub value: f64,
        /// Lower end of its interval.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Its time over the fleet's median (of a rate, the inverse): above 1 is slower.
        pub ratio: f64,
        /// By how many scales of the fleet it lies off; `null` where the fleet has no scale.
        pub score: Option<f64>,
        /// Whether it is told to lie off, and to which side.
        pub off: Option<Off>,
        /// How far the run's numbers can be trusted.
        pub validity: Option<Validity>,
    }
}

document! {
    /// Why a host has no value of a case.
    pub struct MissingValue {
        /// The case.
        pub case: String,
        /// Why.
        pub reason: String,
    }
}

document! {
    /// To which side something lies off.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Off {
        /// It takes longer.
        Slower,
        /// It takes less time.
        Faster,
    }
}

impl Off {
    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Off::Slower => "slower",
            Off::Faster => "faster",
        }
    }
}

document! {
    /// A case over the hosts that measured it.
    pub struct FleetCase {
        /// Canonical spelling.
        pub case: String,
        /// What of it is compared (`p50_ns`).
        pub statistic: String,
        /// Unit of the values.
        pub unit: String,
        /// Whether more is better.
        pub is_rate: bool,
        /// Hosts that measured it.
        pub n_hosts: u32,
        /// Median over hosts.
        pub median: f64,
        /// Lower end of its interval of 95 %; `null` below six hosts.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// The scale (Qn) of the hosts, as a share of the value.
        pub spread: Option<f64>,
        /// By how many scales a host lies off that is told.
        pub threshold: Option<f64>,
        /// The slowest host, …
        pub slowest: String,
        /// … and its ratio.
        pub slowest_ratio: f64,
        /// Hosts told to be slower.
        pub n_slower: u32,
        /// Hosts told to be faster.
        pub n_faster: u32,
    }
}

document! {
    /// The rule by which hosts are told to lie off.
    pub struct OutlierRule {
        /// Mean number of hosts told, over all cases, in a fleet without outliers whose logarithms are normal: no
        /// greater share of such fleets has any.
        pub false_alarms: f64,
        /// The same where hosts spread like Student's t of five degrees of freedom, before the margin.
        pub false_alarms_heavy: f64,
        /// Hosts.
        pub n_hosts: u32,
        /// Cases.
        pub n_cases: u32,
        /// Least threshold over the cases, in scales.
        pub threshold_min: f64,
        /// Greatest.
        pub threshold_max: f64,
    }
}

document! {
    /// A host that lies off in a case.
    pub struct Outlier {
        /// Its name.
        pub host: String,
        /// Index of the case.
        pub case: u32,
        /// To which side.
        pub off: Off,
        /// Its time over the fleet's median.
        pub ratio: f64,
        /// Lower end by the host's own interval.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// By how many scales.
        pub score: f64,
        /// How far the numbers of its run can be trusted.
        pub validity: Option<Validity>,
    }
}

document! {
    /// Hosts that have something in common, against the others.
    pub struct FleetGroup {
        /// What they have in common (`kernel.release`, `label rack`).
        pub key: String,
        /// Its value.
        pub value: String,
        /// Hosts in it that measured the case.
        pub n: u32,
        /// The others.
        pub n_others: u32,
        /// Index of the case.
        pub case: u32,
        /// Median ratio of a host in it to one of the others: above 1 is slower.
        pub ratio: f64,
        /// Lower end of its interval of 95 %.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Error of a two-sided permutation test of ranks, so that any of all groups and cases is wrong with this
        /// error at most (Holm).
        pub error: f64,
        /// Whether that is 0.05 at most and the ratio is off by more than the margin.
        pub off: Option<Off>,
    }
}

document! {
    /// Something that is commoner among the slow hosts.
    pub struct SlowFact {
        /// Key of the reading or label.
        pub key: String,
        /// Its value.
        pub value: String,
        /// Slow hosts that have it, …
        pub n_slow_with: u32,
        /// … of so many.
        pub n_slow: u32,
        /// Others that have it, …
        pub n_others_with: u32,
        /// … of so many.
        pub n_others: u32,
        /// Error of Fisher's exact test over all facts (Holm).
        pub error: f64,
    }
}

document! {
    /// A case over pairs of hosts.
    pub struct PairedCase {
        /// Canonical spelling.
        pub case: String,
        /// What of it is compared.
        pub statistic: String,
        /// Unit of the values.
        pub unit: String,
        /// Whether more is better.
        pub is_rate: bool,
        /// Median over pairs.
        pub median: f64,
        /// By how many scales a pair lies off that is told; `null` below eight pairs.
        pub threshold: Option<f64>,
        /// The pairs.
        pub pairs: Vec<PairValue>,
        /// Each host's median over its pairs as a ratio to that of all, the slowest first.
        pub rows: Vec<PairRow>,
        /// The pairs as a square: of hosts, or of groups of them where there are many.
        pub matrix: PairMatrix,
    }
}

document! {
    /// Pairs as a square.
    pub struct PairMatrix {
        /// What a row and a column are of: `host`, `label rack`, or `hosts by name`.
        pub by: String,
        /// Names of the rows, and in the same order of the columns.
        pub names: Vec<String>,
        /// Median over the pairs from a near end in the row to a far end in the column; `null` where there is none.
        pub cells: Vec<Vec<Option<f64>>>,
    }
}

document! {
    /// What a pair measured.
    pub struct PairValue {
        /// The near end.
        pub a: String,
        /// The far end.
        pub b: String,
        /// The value.
        pub value: f64,
        /// Lower end of its interval.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Its time over the median of all pairs.
        pub ratio: f64,
        /// Whether it is told to lie off, and to which side.
        pub off: Option<Off>,
    }
}

document! {
    /// A host in all its pairs.
    pub struct PairRow {
        /// Its name.
        pub host: String,
        /// Pairs that it is an end of, …
        pub n: u32,
        /// … and those of them that are told to be slower.
        pub n_slower: u32,
        /// The median of their ratios.
        pub ratio: f64,
    }
}

document! {
    /// What an agent takes: medians over the hosts where it was measured.
    #[derive(Default)]
    pub struct AgentCost {
        /// Hosts.
        pub n_hosts: u32,
        /// CPU at work, in per cent.
        pub cpu_percent: Option<f64>,
        /// Wake-ups a second at work.
        pub wakeups_per_s: Option<f64>,
        /// CPU while frozen, in per cent.
        pub frozen_cpu_percent: Option<f64>,
        /// Wake-ups a second while frozen.
        pub frozen_wakeups_per_s: Option<f64>,
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
