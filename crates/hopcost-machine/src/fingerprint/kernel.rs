//! The kernel: release, settings from its command line, preemption, clock
//! source, mitigations.

use super::{Found, Readings, Seen, bracketed};
use crate::topology::CPU_DIR;

/// Parameters of the command line that change what communication costs.
const PARAMETERS: &[&str] = &[
    "amd_pstate",
    "apparmor",
    "audit",
    "cgroup_disable",
    "clocksource",
    "debug_pagealloc",
    "default_hugepagesz",
    "gather_data_sampling",
    "highres",
    "hpet",
    "hugepages",
    "hugepagesz",
    "idle",
    "indirect_target_selection",
    "init_on_alloc",
    "init_on_free",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "itlb_multihit",
    "kpti",
    "kthread_cpus",
    "l1tf",
    "maxcpus",
    "mds",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "no-kvmclock",
    "no-kvmapf",
    "no-steal-acc",
    "nohpet",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nolapic_timer",
    "nopcid",
    "nopti",
    "nopvspin",
    "norandmaps",
    "noretbleed",
    "nosmt",
    "nosoftlockup",
    "nospec_store_bypass_disable",
    "nospectre_v1",
    "nospectre_v2",
    "notsc",
    "nowatchdog",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "page_poison",
    "preempt",
    "pti",
    "randomize_kstack_offset",
    "reg_file_data_sampling",
    "retbleed",
    "security",
    "selinux",
    "skew_tick",
    "slab_debug",
    "slub_debug",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_bhi",
    "spectre_v2",
    "spectre_v2_user",
    "srbds",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "transparent_hugepage",
    "tsa",
    "tsc",
    "tsx",
    "tsx_async_abort",
    "vmscape",
    "workqueue.power_efficient",
    "xen_nopvspin",
];
/// The same for whole groups.
const PREFIXES: &[&str] = &[
    "cpufreq.",
    "cpuidle",
    "haltpoll",
    "intel_idle.",
    "kvm.",
    "kvm_amd.",
    "kvm_intel.",
    "processor.",
    "rcu_",
    "rcutree.",
    "sched_",
];

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let kernel = "/proc/sys/kernel";
    let text = |name: &str, missing: &str| seen.text(&format!("{kernel}/{name}"), missing);
    let no_proc = "/proc is not mounted";
    out.put("kernel", "kernel.release", text("osrelease", no_proc));
    out.put("kernel", "kernel.version", text("version", no_proc));
    out.put("kernel", "kernel.arch", text("arch", "kernel before 6.1 does not tell in /proc"));
    let cmdline = seen.text_or_none("/proc/cmdline", "/proc/cmdline does not exist");
    out.put("kernel", "kernel.cmdline_relevant", cmdline.clone().map(|text| relevant(&text)));
    out.put("kernel", "kernel.preempt", preempt(seen, cmdline.as_deref().unwrap_or_default()));
    out.put("kernel", "kernel.aslr", aslr(seen));

    let clock = "/sys/devices/system/clocksource/clocksource0";
    let text = |name: &str| seen.text(&format!("{clock}/{name}"), "no clock source under /sys");
    out.put("clock", "clocksource.current", text("current_clocksource"));
    out.put("clock", "clocksource.available", text("available_clocksource"));

    mitigations(seen, out);
}

fn mitigations(seen: &Seen, out: &mut Readings) {
    let dir = format!("{CPU_DIR}/vulnerabilities");
    let names = seen.root.names(&dir).unwrap_or_default();
    if names.is_empty() {
        let reason = format!("{dir} does not exist or is empty");
        out.put("mitigations", "mitigations.all", Err(reason));
    }
    for name in names {
        let found = seen.text(&format!("{dir}/{name}"), "gone while it was read");
        out.put("mitigations", format!("mitigations.{name}"), found);
    }
}

/// The parameters that matter, in their order. What follows `--` is for init,
/// and what is not in the lists stays out: it may hold names and secrets.
fn relevant(cmdline: &str) -> String {
    let matters = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word).trim_matches('"');
        // The kernel takes - and _ in names for the same.
        let name = name.replace('-', "_");
        PARAMETERS.iter().any(|known| known.replace('-', "_") == name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let kept: Vec<&str> =
        words(cmdline).into_iter().take_while(|word| *word != "--").filter(matters).collect();
    if kept.is_empty() { "none that matters".to_owned() } else { kept.join(" ") }
}

/// Splits at white space outside double quotes, as the kernel does.
fn words(cmdline: &str) -> Vec<&str> {
    let mut quoted = false;
    cmdline
        .split(|c: char| {
            quoted ^= c == '"';
            c.is_whitespace() && !quoted
        })
        .filter(|word| !word.is_empty())
        .collect()
}

fn preempt(seen: &Seen, cmdline: &str) -> Found {
    let version = seen.text("/proc/sys/kernel/version", "/proc is not mounted")?;
    let now = seen.root.text("/sys/kernel/debug/sched/preempt").ok();
    let now = now.as_deref().and_then(bracketed);
    let asked = words(cmdline).into_iter().rev().find_map(|word| word.strip_prefix("preempt="));
    Ok(preempt_model(&version, now, asked))
}

/// `version` as in /proc/sys/kernel/version, `now` from debugfs, `asked` from
/// the command line.
fn preempt_model(version: &str, now: Option<&str>, asked: Option<&str>) -> String {
    // The date follows the words that describe the build.
    let word = version.split_whitespace().find(|word| word.starts_with("PREEMPT"));
    match (word, now, asked) {
        (Some("PREEMPT_RT"), ..) => "full with real-time locks (PREEMPT_RT)".into(),
        (Some("PREEMPT_DYNAMIC"), Some(now), _) => format!("{now} (PREEMPT_DYNAMIC)"),
        (Some("PREEMPT_DYNAMIC"), None, Some(asked)) => {
            format!("{asked} by the command line (PREEMPT_DYNAMIC)")
        }
        (Some("PREEMPT_DYNAMIC"), None, None) => {
            "PREEMPT_DYNAMIC, mode not readable (needs root and debugfs)".into()
        }
        (Some("PREEMPT"), ..) => "full (PREEMPT)".into(),
        (Some("PREEMPT_LAZY"), ..) => "lazy (PREEMPT_LAZY)".into(),
        (Some(other), ..) => other.to_owned(),
        (None, ..) => "none or voluntary".into(),
    }
}

fn aslr(seen: &Seen) -> Found {
    let path = "/proc/sys/kernel/randomize_va_space";
    Ok(match seen.text(path, "/proc/sys/kernel/randomize_va_space does not exist")?.as_str() {
        "0" => "off (0)".to_owned(),
        "1" => "without heap (1)".to_owned(),
        "2" => "full (2)".to_owned(),
        other => other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_matter_are_kept() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 quiet isolcpus=managed_irq,2-3 nohz-full=2-3 \
                    intel_idle.max_cstate=1 password=x dyndbg=\"file a.c +p; tsc=off\" threadirqs \
                    -- idle=poll --token abc";
        assert_eq!(
            relevant(line),
            "isolcpus=managed_irq,2-3 nohz-full=2-3 intel_idle.max_cstate=1 threadirqs"
        );
        assert_eq!(relevant("root=/dev/vda quiet"), "none that matters");
        assert_eq!(relevant(""), "none that matters");
        assert_eq!(relevant("idle=\"unclosed quote"), "idle=\"unclosed quote");
    }

    #[test]
    fn the_preemption_model_is_claimed_only_where_known() {
        let dynamic = "#1 SMP PREEMPT_DYNAMIC Mon Nov 11 2025";
        assert_eq!(preempt_model(dynamic, Some("full"), Some("none")), "full (PREEMPT_DYNAMIC)");
        let asked = preempt_model(dynamic, None, Some("none"));
        assert_eq!(asked, "none by the command line (PREEMPT_DYNAMIC)");
        assert!(preempt_model(dynamic, None, None).contains("not readable"));
        assert!(preempt_model("#1 SMP PREEMPT_RT Mon", None, None).contains("real-time"));
        assert_eq!(preempt_model("#1 SMP PREEMPT Mon", None, None), "full (PREEMPT)");
        assert_eq!(preempt_model("#1 SMP Mon", None, None), "none or voluntary");
    }
}
