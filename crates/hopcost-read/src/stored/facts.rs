//! What has to be the same of runs that are compared.

use hopcost_model::{Case, Mechanism, RawRun, Reading, document, words};

use crate::run::Run;

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
        /// The CPUs of a placement.
        Placement = "placement",
        /// The runtimes' versions.
        Runtime = "runtime",
    }
}

/// Something of a run or of a case in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What a comparison of runs that differ in it has to be across.
    pub across: Across,
    /// What it is, exactly.
    pub what: String,
    /// What it is there.
    pub value: String,
}

/// The readings of a host that runs are held against each other by, in lines that begin with what they are of.
/// `cpuN.` is written as `cpu{}.`, and what ends in a dot stands for all that begin so.
const READINGS: &str = include_str!("readings.txt");

/// What runs are held against each other by besides readings of their host.
const OTHERS: [Across; 4] = [Across::Tool, Across::Mechanism, Across::Runtime, Across::Placement];

/// All that the index of a fleet keeps of a run besides its numbers: the readings that there are of its host, and
/// by `WORD.` before their names the facts of its cases and of its hopcost. `rust` are the mechanisms of this binary.
pub fn fingerprint(raw: &RawRun, rust: &[Mechanism]) -> Vec<(String, String)> {
    let run = Run::new(raw, rust);
    let readings = raw.host_before.readings.iter();
    let readings = readings.filter_map(|of| Some((of.key.clone(), of.value.clone()?)));
    let of_cases = raw.plan.live_cases().flat_map(|case| Fact::of_case(&run, case));
    let others = Fact::of_run(raw).into_iter().chain(of_cases);
    let others = others.filter(|fact| OTHERS.contains(&fact.across));
    let named = others.map(|fact| (format!("{}.{}", fact.across.word(), fact.what), fact.value));
    let mut facts: Vec<(String, String)> = readings.chain(named).collect();
    facts.sort();
    facts.dedup_by(|a, b| a.0 == b.0);
    facts
}

impl Fact {
    fn new(across: Across, what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { across, what: what.into(), value: value.into() }
    }

    /// Those of a run: of its host and of the hopcost that made it.
    pub fn of_run(raw: &RawRun) -> Vec<Self> {
        let build = &raw.about.build;
        let tool = [
            ("hopcost", raw.about.version.clone()),
            ("build", format!("{} for {}", build.profile, build.target)),
        ];
        let tool = tool.map(|(what, value)| Self::new(Across::Tool, what, value));
        let of = |of: &Reading| Self::of_key(&of.key, of.value.as_deref().unwrap_or("unknown"));
        raw.host_before.readings.iter().filter_map(of).chain(tool).collect()
    }

    /// That of a reading, if runs are held against each other by it.
    fn of_key(key: &str, value: &str) -> Option<Self> {
        let plain = pattern(key);
        let is_it =
            |known: &str| known == plain || known.ends_with('.') && plain.starts_with(known);
        let mut lines = READINGS.lines().filter_map(|line| line.split_once(' '));
        let (across, _) = lines.find(|(_, keys)| keys.split(' ').any(is_it))?;
        Some(Self::new(across.parse().ok()?, key, value))
    }

    /// The one that [`fingerprint`] has under this key.
    pub fn of_fingerprint(key: &str, value: &str) -> Option<Self> {
        let mut other = OTHERS.iter();
        match other.find_map(|across| Some((across, key.strip_prefix(across.word())?))) {
            Some((across, what)) if what.starts_with('.') => {
                Some(Self::new(*across, &what[1..], value))
            }
            _ => Self::of_key(key, value),
        }
    }

    /// Those of a case: its mechanism's revision, its CPUs, and the versions of other runtimes.
    pub fn of_case(run: &Run, case: &Case) -> Vec<Self> {
        let mut facts = Vec::new();
        for runtime in [&case.runtimes.caller, &case.runtimes.callee] {
            let word = runtime.word();
            let worker = run.raw.workers.iter().find(|worker| worker.runtime == word);
            let mut mechanisms = worker.into_iter().flat_map(|worker| &worker.mechanisms);
            let name = case.mechanism_name();
            if let Some(mechanism) = mechanisms.find(|mechanism| mechanism.name == name) {
                let revision = format!("revision {}", mechanism.revision);
                facts.push(Self::new(Across::Mechanism, format!("{name} of {word}"), revision));
            }
            if let Some(worker) = worker.filter(|worker| !worker.is_rust()) {
                let libraries = worker.libraries.iter();
                let parts = libraries.map(|(name, version)| format!("{name} {version}"));
                let version = std::iter::once(worker.version.clone()).chain(parts);
                let version = version.collect::<Vec<_>>().join(", ");
                facts.push(Self::new(Across::Runtime, word, version));
            }
        }
        if let Some(placement) = case.placement {
            let (caller, callee) = run.raw.plan.cpus_for(Some(placement));
            let mut cpus: Vec<String> = Vec::new();
            cpus.extend(caller.into_iter().chain(callee).map(|cpu| cpu.to_string()));
            cpus.dedup();
            if !cpus.is_empty() {
                let what = format!("CPUs of {}", placement.word());
                facts.push(Self::new(Across::Placement, what, cpus.join(",")));
            }
        }
        facts
    }
}

/// A key without the number of its CPU.
fn pattern(key: &str) -> String {
    let of_cpu = key.strip_prefix("cpu").and_then(|rest| rest.split_once('.'));
    match of_cpu.filter(|(number, _)| number.bytes().all(|b| b.is_ascii_digit())) {
        Some((number, rest)) if !number.is_empty() => format!("cpu{{}}.{rest}"),
        _ => key.to_owned(),
    }
}
