//! The processor: model, features, where the used CPUs sit, their caches.

use super::{Found, Readings, Seen};
use crate::cpuinfo::CpuInfo;
use crate::cpulist::format_cpu_list;
use crate::topology::{CPU_DIR, Cache, CoreKind, CpuPlace, allowed_cpus, caches, topology};

/// Features of x86 that matter for clocks, waits, copies and system calls.
const X86_FLAGS: &[&str] = &[
    "constant_tsc",
    "nonstop_tsc",
    "tsc_known_freq",
    "tsc_reliable",
    "tsc_adjust",
    "tsc_deadline_timer",
    "rdtscp",
    "rdpid",
    "pcid",
    "invpcid",
    "arat",
    "monitor",
    "waitpkg",
    "erms",
    "fsrm",
];
/// The same for Arm.
const ARM_FLAGS: &[&str] = &["atomics", "lrcpc", "wfxt", "ecv", "sb", "mops"];

const NO_TOPOLOGY: &str = "no CPU topology under /sys (offline, or not told to this guest)";

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let section = "cpu";
    out.put(section, "cpu.model", seen.across("/proc/cpuinfo names no model", model));
    out.put(section, "cpu.vendor", seen.across("/proc/cpuinfo names no vendor", vendor));
    out.put(
        section,
        "cpu.family_model_stepping",
        seen.across("/proc/cpuinfo has no stepping or revision", family_model_stepping),
    );
    let microcode = |info: &CpuInfo, cpu: u32| info.field(cpu, "microcode").map(str::to_owned);
    let no_microcode = "/proc/cpuinfo has no microcode revision (only x86 has)";
    out.put(section, "cpu.microcode", seen.across(no_microcode, microcode));
    let no_flags = "/proc/cpuinfo lists no features known to hopcost";
    let present = |info: &CpuInfo, cpu: u32| flags(info, cpu, Wanted::Present);
    let absent = |info: &CpuInfo, cpu: u32| flags(info, cpu, Wanted::Absent);
    out.put(section, "cpu.flags_relevant", seen.across(no_flags, present));
    out.put(section, "cpu.flags_absent", seen.across(no_flags, absent));
    let no_invariant = "not an x86: the kernel has no such flag here";
    out.put(section, "cpu.tsc_invariant", seen.across(no_invariant, tsc_invariant));
    let missing = "this kernel does not tell under /sys/devices/system/cpu";
    out.put(section, "cpu.online", seen.text(&format!("{CPU_DIR}/online"), missing));
    let allowed = allowed_cpus(seen.root).map(|cpus| format_cpu_list(&cpus));
    out.put(section, "cpu.allowed", allowed.map_err(|e| e.to_string()));
    out.put(section, "cpu.isolated", seen.text_or_none(&format!("{CPU_DIR}/isolated"), missing));
    let no_nohz = "kernel without CONFIG_NO_HZ_FULL";
    let nohz = seen.text_or_none(&format!("{CPU_DIR}/nohz_full"), no_nohz);
    // The kernel prints a null mask as "(null)".
    let nohz = nohz.map(|text| if text == "(null)" { "none".into() } else { text });
    out.put(section, "cpu.nohz_full", nohz);
    out.put(section, "smt.active", smt(seen));
    each_cpu(seen, out);
}

fn each_cpu(seen: &Seen, out: &mut Readings) {
    let section = "cpu";
    let topology = topology(seen.root, &seen.cpus);
    let source = match topology.assumed() {
        None => "as /sys describes it".to_owned(),
        Some(assumed) => assumed,
    };
    out.put(section, "cpu.topology_source", Ok(source));
    for (&cpu, place) in &topology.cpus {
        let number = |n: Option<i64>| n.map(|n| n.to_string()).ok_or(NO_TOPOLOGY.to_owned());
        out.put(section, format!("cpu{cpu}.package"), number(place.package));
        out.put(section, format!("cpu{cpu}.core"), number(place.core));
        let siblings = match place.core {
            Some(_) => Ok(format_cpu_list(&place.siblings)),
            None => Err(NO_TOPOLOGY.to_owned()),
        };
        out.put(section, format!("cpu{cpu}.siblings"), siblings);
        out.put(section, format!("cpu{cpu}.core_kind"), core_kind(place));
        let caches = caches(seen.root, cpu);
        out.put(section, format!("cpu{cpu}.l1d"), cache(&caches, 1));
        out.put(section, format!("cpu{cpu}.l2"), cache(&caches, 2));
        out.put(section, format!("cpu{cpu}.l3"), cache(&caches, 3));
    }
}

fn model(info: &CpuInfo, cpu: u32) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    if let Some(name) = named.iter().find_map(|key| info.field(cpu, key)) {
        return Some(name.to_owned());
    }
    let implementer = info.field(cpu, "CPU implementer")?;
    let part = info.field(cpu, "CPU part")?;
    let name = match (implementer, part) {
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd49") => "Neoverse-N2",
        ("0x41", "0xd4f") => "Neoverse-V2",
        ("0xc0", "0xac3") => "Ampere-1",
        ("0xc0", "0xac4") => "Ampere-1A",
        _ => return Some(format!("implementer {implementer} part {part}")),
    };
    Some(format!("{name} (implementer {implementer} part {part})"))
}

fn vendor(info: &CpuInfo, cpu: u32) -> Option<String> {
    if let Some(vendor) = info.field(cpu, "vendor_id") {
        return Some(vendor.to_owned());
    }
    let implementer = info.field(cpu, "CPU implementer")?;
    Some(match implementer {
        "0x41" => "Arm (0x41)".to_owned(),
        "0x43" => "Cavium (0x43)".to_owned(),
        "0x46" => "Fujitsu (0x46)".to_owned(),
        "0x48" => "HiSilicon (0x48)".to_owned(),
        "0x4e" => "NVIDIA (0x4e)".to_owned(),
        "0x51" => "Qualcomm (0x51)".to_owned(),
        "0x61" => "Apple (0x61)".to_owned(),
        "0xc0" => "Ampere (0xc0)".to_owned(),
        other => format!("implementer {other}"),
    })
}

fn family_model_stepping(info: &CpuInfo, cpu: u32) -> Option<String> {
    let field = |key| info.field(cpu, key);
    if let (Some(family), Some(model), Some(stepping)) =
        (field("cpu family"), field("model"), field("stepping"))
    {
        return Some(format!("family {family} model {model} stepping {stepping}"));
    }
    let (variant, revision) = (field("CPU variant")?, field("CPU revision")?);
    Some(format!("variant {variant} revision {revision}"))
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Present,
    Absent,
}

fn flags(info: &CpuInfo, cpu: u32, wanted: Wanted) -> Option<String> {
    let has = info.flags(cpu)?;
    let list = if info.is_x86() { X86_FLAGS } else { ARM_FLAGS };
    let is_wanted = |flag: &&&str| has.contains(*flag) == (wanted == Wanted::Present);
    let found: Vec<&str> = list.iter().filter(is_wanted).copied().collect();
    Some(if found.is_empty() { "none".to_owned() } else { found.join(" ") })
}

/// The kernel sets both flags from the CPUID bit that is called "invariant TSC".
fn tsc_invariant(info: &CpuInfo, cpu: u32) -> Option<String> {
    if !info.is_x86() {
        return None;
    }
    let flags = info.flags(cpu)?;
    let both = ["constant_tsc", "nonstop_tsc"].iter().all(|flag| flags.contains(flag));
    Some(if both { "yes" } else { "no" }.to_owned())
}

fn smt(seen: &Seen) -> Found {
    let missing = "this kernel does not tell under /sys/devices/system/cpu/smt";
    let active = seen.text(&format!("{CPU_DIR}/smt/active"), missing)?;
    let word = match active.as_str() {
        "1" => "yes",
        "0" => "no",
        other => other,
    };
    Ok(match seen.root.text(&format!("{CPU_DIR}/smt/control")) {
        Ok(control) => format!("{word} (control: {control})"),
        Err(_) => word.to_owned(),
    })
}

fn core_kind(place: &CpuPlace) -> Found {
    match place.kind {
        CoreKind::Performance => Ok("performance".into()),
        CoreKind::Efficient => Ok("efficient".into()),
        CoreKind::Capacity(capacity) => Ok(format!("capacity {capacity} of 1024")),
        CoreKind::Uniform => Err("the kernel tells of one kind of core only".into()),
    }
}

fn cache(caches: &[Cache], level: u32) -> Found {
    if caches.is_empty() {
        return Err("no caches described under /sys (usual in some guests)".into());
    }
    let holds_data = |c: &&Cache| c.level == level && c.kind != "Instruction";
    let Some(cache) = caches.iter().find(holds_data) else {
        return Err(format!("no level {level} cache described"));
    };
    let size = match &cache.size {
        Some(size) => spell_size(size),
        None => "size not told".to_owned(),
    };
    Ok(match cache.shared.as_deref() {
        None => format!("{size}, sharing not told"),
        Some([only]) => format!("{size}, cpu {only} only"),
        Some(cpus) => format!("{size}, shared by cpus {}", format_cpu_list(cpus)),
    })
}

/// `491520K` as `480 MiB`.
fn spell_size(size: &str) -> String {
    let kib = size.strip_suffix('K').and_then(|n| n.parse::<u64>().ok());
    match kib.and_then(|n| n.checked_mul(1024)) {
        Some(bytes) => super::human_bytes(bytes),
        None => size.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_told_apart_by_presence() {
        let info = CpuInfo::parse(
            "processor: 0\nvendor_id: GenuineIntel\nflags: fpu rdtscp constant_tsc nonstop_tsc_s3\n",
        );
        let present = flags(&info, 0, Wanted::Present).unwrap();
        assert_eq!(present, "constant_tsc rdtscp");
        let absent = flags(&info, 0, Wanted::Absent).unwrap();
        assert!(absent.starts_with("nonstop_tsc "), "{absent}");
        assert_eq!(tsc_invariant(&info, 0).as_deref(), Some("no"));
    }

    #[test]
    fn odd_cache_descriptions_stay_readable() {
        let cache_of = |size: Option<&str>, shared: Option<Vec<u32>>| {
            let size = size.map(str::to_owned);
            cache(&[Cache { level: 2, kind: "Unified".into(), size, shared }], 2).unwrap()
        };
        assert_eq!(cache_of(Some("2048K"), Some(vec![0])), "2 MiB, cpu 0 only");
        assert_eq!(cache_of(None, None), "size not told, sharing not told");
        assert_eq!(cache_of(Some("99999999999999999999K"), Some(vec![0, 1])).split(',').count(), 2);
        assert_eq!(cache(&[], 1).unwrap_err().split(' ').next(), Some("no"));
    }
}
