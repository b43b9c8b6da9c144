//! The processor: model, where the used CPUs sit, their caches, speeds and idle states, and the
//! nodes of their memory.

use super::kernel::switch;
use super::seen::{Found, Seen, because};
use crate::cpuinfo::CpuInfo;
use crate::cpulist::format_cpu_list;
use crate::topology::{CPU_DIR, Cache, CpuPlace, caches, nodes_by_cpu};

pub(super) const NO_DRIVER: &str = "no cpufreq driver (usual in virtual machines)";
pub(super) const NO_NUMA: &str = "kernel without NUMA support, or hidden from this guest";
const NO_CPUIDLE: &str =
    "no cpuidle driver (the kernel's default halt is used, or the hypervisor's)";

/// Arm cores: implementer, part and name.
const PARTS: &str = include_str!("parts.txt");

pub(super) fn model(info: &CpuInfo, cpu: u32) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    if let Some(name) = named.iter().find_map(|key| info.field(cpu, key)) {
        return Some(name.to_owned());
    }
    let (implementer, part) = (info.field(cpu, "CPU implementer")?, info.field(cpu, "CPU part")?);
    let numbers = format!("implementer {implementer} part {part}");
    let known = format!("{implementer} {part} ");
    let name = PARTS.lines().find_map(|line| line.strip_prefix(&known));
    Some(name.map_or(numbers.clone(), |name| format!("{name} ({numbers})")))
}

pub(super) fn stepping(info: &CpuInfo, cpu: u32) -> Option<String> {
    let field = |key| info.field(cpu, key);
    if let (Some(family), Some(model), Some(stepping)) =
        (field("cpu family"), field("model"), field("stepping"))
    {
        return Some(format!("family {family} model {model} stepping {stepping}"));
    }
    let (variant, revision) = (field("CPU variant")?, field("CPU revision")?);
    Some(format!("variant {variant} revision {revision}"))
}

/// Of the features that explain a number those that it has: copying by `rep movsb` is fast for long messages
/// and for short ones, and idle CPUs wait for a write.
pub(super) fn features(info: &CpuInfo, cpu: u32) -> Option<String> {
    let flags = info.flags(cpu)?;
    let has = ["erms", "fsrm", "monitor"].into_iter().filter(|flag| flags.contains(flag));
    let has = has.collect::<Vec<_>>().join(" ");
    Some(if has.is_empty() { "none".to_owned() } else { has })
}

/// Where a CPU sits, as far as it is described.
pub(super) fn place(seen: &Seen, cpu: u32, read: impl Fn(&CpuPlace) -> Option<String>) -> Found {
    seen.topology
        .cpus
        .get(&cpu)
        .and_then(read)
        .ok_or_else(|| "no CPU topology under /sys (offline, or hidden from this guest)".to_owned())
}

pub(super) fn cache(seen: &Seen, cpu: u32, level: u32) -> Found {
    let caches = caches(seen.root, cpu);
    if caches.is_empty() {
        return Err("no caches described under /sys (usual in some guests)".into());
    }
    let holds_data = |c: &&Cache| c.level == level && c.kind != "Instruction";
    let Some(cache) = caches.iter().find(holds_data) else {
        return Err(format!("no level {level} cache described"));
    };
    let size = cache.size.as_deref().map_or("size unknown".to_owned(), spell_size);
    Ok(match cache.shared.as_deref() {
        None => format!("{size}, sharing unknown"),
        Some([only]) => format!("{size}, cpu {only} only"),
        Some(cpus) => format!("{size}, shared by cpus {}", format_cpu_list(cpus)),
    })
}

/// `491520K` as `480 MiB`.
fn spell_size(size: &str) -> String {
    match size.strip_suffix('K').and_then(|number| number.parse::<u64>().ok()) {
        Some(kib) if kib < 1024 => format!("{kib} KiB"),
        Some(kib) => format!("{} MiB", kib as f64 / 1024.0),
        None => size.to_owned(),
    }
}

pub(super) fn turbo(seen: &Seen) -> Found {
    // intel_pstate has a switch of its own, which says the opposite.
    let path = format!("{CPU_DIR}/intel_pstate/no_turbo");
    match seen.root.text(&path).as_deref() {
        Ok("0") => return Ok("on".into()),
        Ok("1") => return Ok("off".into()),
        Ok(other) => return Err(format!("{path} holds `{other}`, neither 0 nor 1")),
        Err(error) if !error.is_missing => return Err(error.reason.clone()),
        Err(_) => {}
    }
    let missing = match seen.root.exists(&format!("{CPU_DIR}/cpu0/cpufreq")) {
        true => "this cpufreq driver has no switch for turbo frequencies",
        false => NO_DRIVER,
    };
    let boost = seen.text(&format!("{CPU_DIR}/cpufreq/boost"), missing)?;
    switch(&boost)
        .ok_or_else(|| format!("{CPU_DIR}/cpufreq/boost holds `{boost}`, neither 0 nor 1"))
}

/// A file of a CPU's frequency driver.
pub(super) fn frequency(cpu: u32, name: &str) -> String {
    format!("{CPU_DIR}/cpu{cpu}/cpufreq/{name}")
}

pub(super) fn frequency_limits(seen: &Seen, cpu: u32) -> Found {
    let mhz = |name: &str| {
        let khz = seen.root.number::<u64>(&frequency(cpu, name)).map_err(because(NO_DRIVER))?;
        Ok::<u64, String>(khz.saturating_add(500) / 1000)
    };
    let allowed = format!("{} to {} MHz", mhz("scaling_min_freq")?, mhz("scaling_max_freq")?);
    Ok(match (mhz("cpuinfo_min_freq"), mhz("cpuinfo_max_freq")) {
        (Ok(low), Ok(high)) => format!("{allowed}, hardware {low} to {high} MHz"),
        _ => allowed,
    })
}

pub(super) fn node(seen: &Seen, cpu: u32) -> Found {
    let node = nodes_by_cpu(seen.root).get(&cpu).map(u32::to_string);
    node.ok_or_else(|| NO_NUMA.to_owned())
}

pub(super) fn idle_driver(seen: &Seen) -> Found {
    let driver = seen.text(&format!("{CPU_DIR}/cpuidle/current_driver"), NO_CPUIDLE)?;
    if driver == "none" { Err(NO_CPUIDLE.to_owned()) } else { Ok(driver) }
}

/// The idle states, shallowest first, each with the time to leave it that its driver
/// claims; the real one can be far longer.
pub(super) fn idle_states(seen: &Seen, cpu: u32) -> Found {
    let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle");
    let states = seen.root.numbered(&dir, "state").map_err(because(NO_CPUIDLE))?;
    let spell = |state: u32| {
        let file = |name: &str| format!("{dir}/state{state}/{name}");
        let name = seen.text(&file("name"), NO_CPUIDLE)?;
        let latency: u64 = seen.root.number(&file("latency")).map_err(because(NO_CPUIDLE))?;
        // Kernels before 2.6.39 have no switch.
        let disabled = seen.root.number::<u64>(&file("disable")).is_ok_and(|switch| switch != 0);
        Ok(format!("{name}:{latency}us{}", if disabled { " (disabled)" } else { "" }))
    };
    match states.into_iter().map(spell).collect::<Result<Vec<_>, String>>()?.as_slice() {
        [] => Err(NO_CPUIDLE.to_owned()),
        states => Ok(states.join(", ")),
    }
}
