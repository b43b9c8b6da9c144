//! How CPUs relate, as /sys claims it.
//!
//! In a virtual machine this is what the hypervisor tells the guest; virtual
//! CPUs may move between cores all the same. Findings elsewhere compare the
//! claim with what is measured.

use std::collections::BTreeMap;

use hopcost_model::case::Placement;

use crate::cpulist::parse_cpu_list;
use crate::root::{Root, Unreadable};

/// Where CPUs are described.
pub(crate) const CPU_DIR: &str = "/sys/devices/system/cpu";
/// Where NUMA nodes are described.
pub(crate) const NODE_DIR: &str = "/sys/devices/system/node";

/// Where one CPU sits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuPlace {
    /// Number of the package (socket); absent where not described.
    pub package: Option<i64>,
    /// Number of the core within the package; absent where not described.
    pub core: Option<i64>,
    /// Hardware threads of its core, itself included.
    pub siblings: Vec<u32>,
    /// CPUs that share its last-level cache, itself included: the highest level that holds data.
    /// Absent where no cache is described, which is taken for one cache per package.
    pub llc: Option<Vec<u32>>,
    /// NUMA node; absent where not described, which counts as one node for all.
    pub node: Option<u32>,
    /// Kind of core; absent where the processor has one kind, or does not tell.
    pub kind: Option<String>,
    pub online: bool,
}

/// Where each of a set of CPUs sits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    /// By CPU number; every CPU that was asked for, described or not.
    pub cpus: BTreeMap<u32, CpuPlace>,
    /// What a cache line takes between two CPUs, the lower number first, and back: as measured.
    line_ns: LineTimes,
}

/// Nanoseconds that a cache line takes from one CPU to another and back, the lower number first.
pub type LineTimes = BTreeMap<(u32, u32), u32>;

/// Reads where `cpus` sit.
pub fn topology(root: &Root, cpus: &[u32]) -> Topology {
    let nodes = nodes_by_cpu(root);
    let online = list_file(root, &format!("{CPU_DIR}/online")).ok();
    let place = |cpu: u32| {
        let dir = format!("{CPU_DIR}/cpu{cpu}/topology");
        let number = |file: &str| root.number(&format!("{dir}/{file}")).ok();
        let siblings = group(root, &format!("{dir}/thread_siblings_list"), cpu);
        let place = CpuPlace {
            package: number("physical_package_id"),
            core: number("core_id"),
            siblings: siblings.unwrap_or_else(|| vec![cpu]),
            llc: llc_of(root, cpu),
            node: nodes.get(&cpu).copied(),
            kind: kind_of(root, cpu),
            online: online.as_ref().is_none_or(|online| online.contains(&cpu)),
        };
        (cpu, place)
    };
    Topology { cpus: cpus.iter().copied().map(place).collect(), line_ns: LineTimes::new() }
}

fn list_file(root: &Root, path: &str) -> Result<Vec<u32>, Unreadable> {
    let text = root.text(path)?;
    parse_cpu_list(&text).ok_or_else(|| Unreadable::strange(path, &text))
}

/// The CPUs of a list, if `cpu` is among them: a group that lacks the CPU it is listed under is
/// garbage.
fn group(root: &Root, list: &str, cpu: u32) -> Option<Vec<u32>> {
    list_file(root, list).ok().filter(|cpus| cpus.contains(&cpu))
}

fn llc_of(root: &Root, cpu: u32) -> Option<Vec<u32>> {
    let data = caches(root, cpu).into_iter().filter(|cache| cache.kind != "Instruction");
    let shared = data.filter_map(|cache| Some((cache.level, cache.shared?)));
    // Of those of one level the first counts.
    let last = shared.reduce(|best, next| if next.0 > best.0 { next } else { best });
    last.map(|(_, cpus)| cpus)
}

/// One cache that a CPU uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cache {
    /// 1, 2, 3, …
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// As the kernel prints it: `48K`; absent on many Arm machines.
    pub size: Option<String>,
    /// CPUs that share it; absent if unknown or not plausible.
    pub shared: Option<Vec<u32>>,
}

/// The caches described for a CPU; none if there is no description.
pub(crate) fn caches(root: &Root, cpu: u32) -> Vec<Cache> {
    let dir = format!("{CPU_DIR}/cpu{cpu}/cache");
    let indices = root.numbered(&dir, "index").unwrap_or_default();
    let read = |index: u32| {
        let file = |name: &str| format!("{dir}/index{index}/{name}");
        Some(Cache {
            level: root.number(&file("level")).ok()?,
            kind: root.text(&file("type")).ok()?,
            size: root.text(&file("size")).ok(),
            shared: group(root, &file("shared_cpu_list"), cpu),
        })
    };
    indices.into_iter().filter_map(read).collect()
}

/// The node of each CPU, from the nodes' CPU lists.
pub(crate) fn nodes_by_cpu(root: &Root) -> BTreeMap<u32, u32> {
    let mut nodes = BTreeMap::new();
    for node in root.numbered(NODE_DIR, "node").unwrap_or_default() {
        let cpus = list_file(root, &format!("{NODE_DIR}/node{node}/cpulist"));
        nodes.extend(cpus.unwrap_or_default().into_iter().map(|cpu| (cpu, node)));
    }
    nodes
}

/// The kind of a core: of a hybrid x86 by the performance monitoring units that list the CPU, elsewhere
/// by its relative speed, of which 1024 is the greatest.
fn kind_of(root: &Root, cpu: u32) -> Option<String> {
    let units =
        [("cpu_core", "performance"), ("cpu_atom", "efficient"), ("cpu_lowpower", "efficient")];
    let lists = |(unit, _): &&(&str, &str)| {
        list_file(root, &format!("/sys/devices/{unit}/cpus")).is_ok_and(|cpus| cpus.contains(&cpu))
    };
    let hybrid = units.iter().find(lists).map(|(_, kind)| (*kind).to_owned());
    let capacity = || root.number::<u32>(&format!("{CPU_DIR}/cpu{cpu}/cpu_capacity")).ok();
    hybrid.or_else(|| Some(format!("capacity {} of 1024", capacity()?)))
}

impl Topology {
    /// The same with what was measured. Hypervisors hide which CPUs are threads of one core: two of one
    /// last-level cache count as such where they are less than half as far apart as its pairs
    /// typically are, and neither has another CPU as near.
    pub fn measured(mut self, line_ns: LineTimes) -> Self {
        for (a, b) in self.hidden_cores(&line_ns) {
            for (of, sibling) in [(a, b), (b, a)] {
                self.cpus.entry(of).and_modify(|place| place.siblings.push(sibling));
            }
        }
        Self { line_ns, ..self }
    }

    fn hidden_cores(&self, line_ns: &LineTimes) -> Vec<(u32, u32)> {
        let mut by_time: Vec<(u32, (u32, u32))> =
            line_ns.iter().map(|(pair, ns)| (*ns, *pair)).collect();
        by_time.retain(|(_, (a, b))| self.relation(*a, *b) == Placement::SameLlc);
        by_time.sort_unstable();
        let typical_ns = by_time.get(by_time.len() / 2).map_or(0, |(ns, _)| *ns);
        let near = by_time.iter().take_while(|(ns, _)| *ns < typical_ns / 2);
        let near: Vec<(u32, u32)> = near.map(|(_, pair)| *pair).collect();
        let has_one = |cpu: u32| near.iter().filter(|(a, b)| [*a, *b].contains(&cpu)).count() == 1;
        near.iter().copied().filter(|(a, b)| has_one(*a) && has_one(*b)).collect()
    }

    /// How two CPUs relate, as far as is described.
    ///
    /// Two NUMA nodes count as `cross-node` even if /sys lets one cache span
    /// them (sub-NUMA clustering). Sharing must be claimed by both sides. Where
    /// nothing is described, CPUs of one package are taken to share their
    /// last-level cache, and all CPUs to be one package.
    pub fn relation(&self, a: u32, b: u32) -> Placement {
        if a == b {
            return Placement::SameCpu;
        }
        let (Some(at), Some(bt)) = (self.cpus.get(&a), self.cpus.get(&b)) else {
            return Placement::SameLlc;
        };
        if at.siblings.contains(&b) && bt.siblings.contains(&a) {
            return Placement::Smt;
        }
        if let (Some(an), Some(bn)) = (at.node, bt.node)
            && an != bn
        {
            return Placement::CrossNode;
        }
        let shared = match (&at.llc, &bt.llc) {
            (Some(ac), Some(bc)) => ac.contains(&b) && bc.contains(&a),
            (None, None) => at.package == bt.package,
            _ => false,
        };
        if shared { Placement::SameLlc } else { Placement::CrossLlc }
    }

    /// The pair of CPUs for placements on two CPUs, and its relation.
    ///
    /// The nearest relation that has a pair of distinct cores is taken, so
    /// `same-llc` first. Two threads of one core come second, because they share
    /// that core's execution units: a spinning end then slows the other down.
    /// Then `cross-llc`, then `cross-node`. Within a relation see
    /// [`Topology::pairs_by_relation`].
    pub fn choose_pair(&self, allowed: &[u32]) -> Option<(u32, u32, Placement)> {
        const ORDER: [Placement; 4] =
            [Placement::SameLlc, Placement::Smt, Placement::CrossLlc, Placement::CrossNode];
        let pairs = self.pairs_by_relation(allowed);
        ORDER.iter().find_map(|relation| pairs.get(relation).map(|&(a, b)| (a, b, *relation)))
    }

    /// One pair for each relation that the allowed CPUs have: of those of two cores of the same kind,
    /// else of all, the nearest that was measured, else the lowest numbers. CPUs that are
    /// offline or not part of this topology are left out. `same-cpu` and `free`
    /// are no pairs and never among them.
    pub fn pairs_by_relation(&self, allowed: &[u32]) -> BTreeMap<Placement, (u32, u32)> {
        let mut cpus: Vec<(u32, &CpuPlace)> = allowed
            .iter()
            .filter_map(|cpu| self.cpus.get(cpu).map(|place| (*cpu, place)))
            .filter(|(_, place)| place.online)
            .collect();
        cpus.sort_unstable_by_key(|(cpu, _)| *cpu);
        cpus.dedup_by_key(|(cpu, _)| *cpu);
        let mut pairs = Vec::new();
        for (i, &(a, at)) in cpus.iter().enumerate() {
            pairs.extend(cpus[i + 1..].iter().map(|&(b, bt)| {
                let line_ns = self.line_ns.get(&(a, b)).copied();
                (at.kind != bt.kind, line_ns.unwrap_or(u32::MAX), (a, b))
            }));
        }
        pairs.sort_unstable();
        let mut found = BTreeMap::new();
        for (.., (a, b)) in pairs {
            found.entry(self.relation(a, b)).or_insert((a, b));
        }
        found
    }

    /// At most this many of the allowed CPUs that are online, evenly spread, in their order.
    pub fn spread(&self, allowed: &[u32], most: usize) -> Vec<u32> {
        let online = |cpu: &u32| self.cpus.get(cpu).is_none_or(|place| place.online);
        let cpus: Vec<u32> = allowed.iter().copied().filter(online).collect();
        let step = cpus.len().div_ceil(most.max(1)).max(1);
        cpus.into_iter().step_by(step).collect()
    }
}
