//! The processor: model, features, where the used CPUs sit, their caches.

use super::parse::human_bytes;
use super::seen::{Found, Seen};
use crate::cpuinfo::CpuInfo;
use crate::cpulist::format_cpu_list;
use crate::topology::{Cache, CoreKind, CpuPlace, allowed_cpus, caches};

/// Arm cores by implementer and part.
const PARTS: &[(&str, &str, &str)] = &[
    ("0x41", "0xd07", "Cortex-A57"),
    ("0x41", "0xd08", "Cortex-A72"),
    ("0x41", "0xd0b", "Cortex-A76"),
    ("0x41", "0xd0c", "Neoverse-N1"),
    ("0x41", "0xd40", "Neoverse-V1"),
    ("0x41", "0xd49", "Neoverse-N2"),
    ("0x41", "0xd4f", "Neoverse-V2"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1A"),
];

pub(super) fn model(info: &CpuInfo, cpu: u32) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    if let Some(name) = named.iter().find_map(|key| info.field(cpu, key)) {
        return Some(name.to_owned());
    }
    let (implementer, part) = (info.field(cpu, "CPU implementer")?, info.field(cpu, "CPU part")?);
    let numbers = format!("implementer {implementer} part {part}");
    let known = PARTS.iter().find(|(i, p, _)| (*i, *p) == (implementer, part));
    Some(known.map_or(numbers.clone(), |(.., name)| format!("{name} ({numbers})")))
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

pub(super) fn allowed(seen: &Seen) -> Found {
    allowed_cpus(seen.root).map(|cpus| format_cpu_list(&cpus)).map_err(|e| e.to_string())
}

/// Where a CPU sits, as far as it is described.
pub(super) fn place(seen: &Seen, cpu: u32, read: impl Fn(&CpuPlace) -> Option<String>) -> Found {
    seen.topology
        .cpus
        .get(&cpu)
        .and_then(read)
        .ok_or_else(|| "no CPU topology under /sys (offline, or not told to this guest)".to_owned())
}

pub(super) fn core_kind(seen: &Seen, cpu: u32) -> Found {
    match seen.topology.cpus.get(&cpu).map(|place| place.kind) {
        Some(CoreKind::Performance) => Ok("performance".into()),
        Some(CoreKind::Efficient) => Ok("efficient".into()),
        Some(CoreKind::Capacity(capacity)) => Ok(format!("capacity {capacity} of 1024")),
        Some(CoreKind::Uniform) | None => Err("the kernel tells of one kind of core only".into()),
    }
}

pub(super) fn cache(seen: &Seen, cpu: u32, level: u32) -> Found {
    level_of(&caches(seen.root, cpu), level)
}

fn level_of(caches: &[Cache], level: u32) -> Found {
    if caches.is_empty() {
        return Err("no caches described under /sys (usual in some guests)".into());
    }
    let holds_data = |c: &&Cache| c.level == level && c.kind != "Instruction";
    let Some(cache) = caches.iter().find(holds_data) else {
        return Err(format!("no level {level} cache described"));
    };
    let size = cache.size.as_deref().map_or("size not told".to_owned(), spell_size);
    Ok(match cache.shared.as_deref() {
        None => format!("{size}, sharing not told"),
        Some([only]) => format!("{size}, cpu {only} only"),
        Some(cpus) => format!("{size}, shared by cpus {}", format_cpu_list(cpus)),
    })
}

/// `491520K` as `480 MiB`.
fn spell_size(size: &str) -> String {
    let kib = size.strip_suffix('K').and_then(|n| n.parse::<u64>().ok());
    kib.and_then(|n| n.checked_mul(1024)).map_or(size.to_owned(), human_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_cache_descriptions_stay_readable() {
        let cache_of = |size: Option<&str>, shared: Option<Vec<u32>>| {
            let size = size.map(str::to_owned);
            level_of(&[Cache { level: 2, kind: "Unified".into(), size, shared }], 2).unwrap()
        };
        assert_eq!(cache_of(Some("2048K"), Some(vec![0])), "2 MiB, cpu 0 only");
        assert_eq!(cache_of(None, None), "size not told, sharing not told");
        assert_eq!(cache_of(Some("99999999999999999999K"), Some(vec![0, 1])).split(',').count(), 2);
        assert_eq!(level_of(&[], 1).unwrap_err().split(' ').next(), Some("no"));
    }
}
