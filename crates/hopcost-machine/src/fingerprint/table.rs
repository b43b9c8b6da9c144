//! Every reading: its key, its file, what is looked for in it, and what a missing
//! file means.

use super::seen::{Found, Seen};
use super::{cgroup, cpu, kernel, virt};
use crate::cpuinfo::CpuInfo;
use crate::cpulist::format_cpu_list;

/// A reading. `{}` in its key and its file stands for the number of a CPU, of which
/// there is then one each.
pub(super) struct Row {
    pub key: &'static str,
    /// Empty where there is not one file.
    pub path: &'static str,
    pub parse: Parse,
    /// Said where there is no such file; if empty, that it does not exist.
    pub missing: &'static str,
}

impl Row {
    pub fn is_of_cpu(&self) -> bool {
        self.key.contains("{}")
    }
}

/// What is looked for in a file.
pub(super) enum Parse {
    /// Its text.
    Text,
    /// The same; of an empty file, or a null mask of the kernel, `none`.
    List,
    /// What the function finds in its text.
    Of(fn(&str) -> Option<String>),
    /// What the function finds in /proc/cpuinfo.
    Info(fn(&CpuInfo, u32) -> Option<String>),
    /// What takes more than one file; the number is that of a CPU where the row is of one.
    Code(fn(&Seen, u32) -> Found),
    /// The texts of all files in this directory.
    Each,
}

use Parse::{Code, Each, Info, List, Of, Text};

const NO_LIST: &str = "this kernel does not report it under /sys/devices/system/cpu";
const NO_PROC: &str = "/proc is not mounted";

const fn row(key: &'static str, path: &'static str, parse: Parse, missing: &'static str) -> Row {
    Row { key, path, parse, missing }
}

const fn code(key: &'static str, find: fn(&Seen, u32) -> Found) -> Row {
    row(key, "", Code(find), "")
}

/// The sections with their readings, in the order of reports.
#[rustfmt::skip]
pub(super) const SECTIONS: &[(&str, &[Row])] = &[
    ("cpu", &[
        row("cpu.model", "", Info(cpu::model), "/proc/cpuinfo names no model"),
        row("cpu.family_model_stepping", "", Info(cpu::stepping), "/proc/cpuinfo has no stepping or revision"),
        row("cpu.microcode", "", Info(|info, cpu| info.field(cpu, "microcode").map(str::to_owned)), "/proc/cpuinfo has no microcode revision (only x86 has)"),
        row("cpu.online", "/sys/devices/system/cpu/online", Text, NO_LIST),
        row("cpu.isolated", "/sys/devices/system/cpu/isolated", List, NO_LIST),
        row("cpu.nohz_full", "/sys/devices/system/cpu/nohz_full", List, "kernel without CONFIG_NO_HZ_FULL"),
        row("smt.active", "/sys/devices/system/cpu/smt/active", Of(kernel::switch), "this kernel has no /sys/devices/system/cpu/smt"),
        code("cpu{}.package", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.package?.to_string()))),
        code("cpu{}.core", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.core?.to_string()))),
        code("cpu{}.siblings", |seen, cpu| cpu::place(seen, cpu, |place| place.core.map(|_| format_cpu_list(&place.siblings)))),
        code("cpu{}.core_kind", |seen, cpu| cpu::place(seen, cpu, |place| place.kind.clone()).map_err(|_| "the kernel reports one kind of core".into())),
        code("cpu{}.l1d", |seen, cpu| cpu::cache(seen, cpu, 1)),
        code("cpu{}.l2", |seen, cpu| cpu::cache(seen, cpu, 2)),
        code("cpu{}.l3", |seen, cpu| cpu::cache(seen, cpu, 3)),
    ]),
    ("frequency", &[
        code("cpu.turbo", |seen, _| cpu::turbo(seen)),
        row("cpu{}.governor", "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", Text, cpu::NO_DRIVER),
        row("cpu{}.frequency_driver", "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_driver", Text, cpu::NO_DRIVER),
        code("cpu{}.frequency_limits", cpu::frequency_limits),
    ]),
    ("memory", &[
        row("thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled", Of(|text| kernel::bracketed(text).map(str::to_owned)), "kernel without transparent huge pages"),
        row("numa.nodes", "/sys/devices/system/node/online", Of(cpu::nodes), cpu::NO_NUMA),
        row("numa.balancing", "/proc/sys/kernel/numa_balancing", Of(kernel::switch), "kernel without automatic NUMA balancing"),
        code("cpu{}.node", cpu::node),
    ]),
    ("kernel", &[
        row("kernel.release", "/proc/sys/kernel/osrelease", Text, NO_PROC),
        row("kernel.version", "/proc/sys/kernel/version", Text, NO_PROC),
        row("kernel.arch", "/proc/sys/kernel/arch", Text, "kernel before 6.1 lacks it"),
        row("kernel.boot_id", "/proc/sys/kernel/random/boot_id", Text, NO_PROC),
        code("kernel.cmdline_relevant", |seen, _| kernel::cmdline(seen).map(|text| kernel::relevant(&text))),
        code("kernel.preempt", |seen, _| kernel::preempt(seen)),
        row("kernel.aslr", "/proc/sys/kernel/randomize_va_space", Text, ""),
    ]),
    ("clock", &[
        row("clocksource.current", "/sys/devices/system/clocksource/clocksource0/current_clocksource", Text, "no clock source under /sys"),
    ]),
    ("mitigations", &[
        row("mitigations", "/sys/devices/system/cpu/vulnerabilities", Each, "gone while it was read"),
    ]),
    ("virt", &[
        code("virt.hypervisor", |seen, _| virt::hypervisor(seen)),
        code("virt.container", |seen, _| virt::container(seen.root)),
    ]),
    ("idle", &[
        code("idle.driver", |seen, _| cpu::idle_driver(seen)),
        code("cpu{}.idle_states", cpu::idle_states),
    ]),
    ("cgroup", &[
        code("cgroup.cpu_quota", |seen, _| cgroup::quota(seen)),
        code("stat.cgroup.throttled_times", |seen, _| cgroup::throttled(seen).map(|of| of.times.to_string())),
        code("stat.cgroup.throttled_ms", |seen, _| cgroup::throttled(seen).map(|of| (of.ns / 1_000_000).to_string())),
    ]),
    ("security", &[
        code("security.seccomp", |seen, _| kernel::seccomp(seen)),
        code("security.tracer", |seen, _| kernel::tracer(seen)),
        code("security.preload", |seen, _| kernel::preload(seen)),
    ]),
    ("load", &[
        row("load.1", "/proc/loadavg", Of(kernel::load), ""),
    ]),
];
