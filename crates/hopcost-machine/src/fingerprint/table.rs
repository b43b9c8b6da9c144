//! Every reading: its key, and what is read.

use super::seen::{Found, Seen};
use super::{cgroup, cpu, kernel, virt};
use crate::cpulist::format_cpu_list;

/// A reading. `{}` in its key stands for the number of a CPU, of which there is then one each.
pub(super) struct Row {
    pub key: &'static str,
    /// The number is that of a CPU where the row is of one.
    pub read: fn(&Seen, u32) -> Found,
}

impl Row {
    pub fn is_of_cpu(&self) -> bool {
        self.key.contains("{}")
    }
}

const fn row(key: &'static str, read: fn(&Seen, u32) -> Found) -> Row {
    Row { key, read }
}

const NO_LIST: &str = "this kernel does not report it under /sys/devices/system/cpu";
const NO_PROC: &str = "/proc is not mounted";

/// The sections with their readings, in the order of reports; the mitigations have one for each file.
#[rustfmt::skip]
pub(super) const SECTIONS: &[(&str, &[Row])] = &[
    ("cpu", &[
        row("cpu.model", |seen, _| seen.first("/proc/cpuinfo names no model", cpu::model)),
        row("cpu.family_model_stepping", |seen, _| seen.first("/proc/cpuinfo has no stepping or revision", cpu::stepping)),
        row("cpu.microcode", |seen, _| seen.first("/proc/cpuinfo has no microcode revision (only x86 has)", |info, cpu| info.field(cpu, "microcode").map(str::to_owned))),
        row("cpu.features", |seen, _| seen.first("/proc/cpuinfo lists no features", cpu::features)),
        row("cpu.online", |seen, _| seen.text("/sys/devices/system/cpu/online", NO_LIST)),
        row("cpu.isolated", |seen, _| seen.list("/sys/devices/system/cpu/isolated", NO_LIST)),
        row("cpu.nohz_full", |seen, _| seen.list("/sys/devices/system/cpu/nohz_full", "kernel without CONFIG_NO_HZ_FULL")),
        row("smt.active", |seen, _| seen.found("/sys/devices/system/cpu/smt/active", kernel::switch, "this kernel has no /sys/devices/system/cpu/smt")),
        row("cpu{}.package", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.package?.to_string()))),
        row("cpu{}.core", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.core?.to_string()))),
        row("cpu{}.siblings", |seen, cpu| cpu::place(seen, cpu, |place| place.core.map(|_| format_cpu_list(&place.siblings)))),
        row("cpu{}.core_kind", |seen, cpu| cpu::place(seen, cpu, |place| place.kind.clone()).map_err(|_| "the kernel reports one kind of core".into())),
        row("cpu{}.l1d", |seen, cpu| cpu::cache(seen, cpu, 1)),
        row("cpu{}.l2", |seen, cpu| cpu::cache(seen, cpu, 2)),
        row("cpu{}.l3", |seen, cpu| cpu::cache(seen, cpu, 3)),
    ]),
    ("frequency", &[
        row("cpu.turbo", |seen, _| cpu::turbo(seen)),
        row("cpu{}.governor", |seen, cpu| seen.text(&cpu::frequency(cpu, "scaling_governor"), cpu::NO_DRIVER)),
        row("cpu{}.frequency_driver", |seen, cpu| seen.text(&cpu::frequency(cpu, "scaling_driver"), cpu::NO_DRIVER)),
        row("cpu{}.frequency_limits", cpu::frequency_limits),
    ]),
    ("memory", &[
        row("numa.nodes", |seen, _| seen.text("/sys/devices/system/node/online", cpu::NO_NUMA)),
        row("cpu{}.node", cpu::node),
    ]),
    ("kernel", &[
        row("kernel.release", |seen, _| seen.text("/proc/sys/kernel/osrelease", NO_PROC)),
        row("kernel.arch", |seen, _| seen.text("/proc/sys/kernel/arch", "kernel before 6.1 lacks it")),
        row("kernel.boot_id", |seen, _| seen.text("/proc/sys/kernel/random/boot_id", NO_PROC)),
        row("kernel.cmdline_relevant", |seen, _| kernel::cmdline(seen).map(|text| kernel::relevant(&text))),
        row("kernel.preempt", |seen, _| kernel::preempt(seen)),
    ]),
    ("clock", &[
        row("clocksource.current", |seen, _| seen.text("/sys/devices/system/clocksource/clocksource0/current_clocksource", "no clock source under /sys")),
    ]),
    ("mitigations", &[]),
    ("virt", &[
        row("virt.hypervisor", |seen, _| virt::hypervisor(seen)),
        row("virt.container", |seen, _| virt::container(seen.root)),
    ]),
    ("idle", &[
        row("idle.driver", |seen, _| cpu::idle_driver(seen)),
        row("cpu{}.idle_states", cpu::idle_states),
    ]),
    ("cgroup", &[
        row("cgroup.cpu_quota", |seen, _| cgroup::quota(seen)),
        row("stat.cgroup.throttled_times", |seen, _| cgroup::throttled(seen).map(|of| of.times.to_string())),
        row("stat.cgroup.throttled_ms", |seen, _| cgroup::throttled(seen).map(|of| (of.ns / 1_000_000).to_string())),
    ]),
    ("security", &[
        row("security.seccomp", |seen, _| kernel::seccomp(seen)),
        row("security.tracer", |seen, _| kernel::tracer(seen)),
        row("security.preload", |seen, _| kernel::preload(seen)),
    ]),
    ("load", &[
        row("load.1", |seen, _| seen.found("/proc/loadavg", kernel::load, "")),
    ]),
];
