//! Every reading: its key, and what is read.

use super::seen::{Found, Seen};
use super::{cgroup, cpu, kernel, virt};
use crate::cpulist::format_cpu_list;

/// A reading: its key and how it is read. `{}` in a key stands for the number of a CPU, of which there is
/// then one each; that number is the second argument.
pub(super) type Row = (&'static str, fn(&Seen, u32) -> Found);

const NO_LIST: &str = "this kernel does not report it under /sys/devices/system/cpu";
const NO_PROC: &str = "/proc is not mounted";

/// The sections with their readings, in the order of reports; the mitigations have one for each file.
#[rustfmt::skip]
pub(super) const SECTIONS: &[(&str, &[Row])] = &[
    ("cpu", &[
        ("cpu.model", |seen, _| seen.first("/proc/cpuinfo names no model", cpu::model)),
        ("cpu.family_model_stepping", |seen, _| seen.first("/proc/cpuinfo has no stepping or revision", cpu::stepping)),
        ("cpu.microcode", |seen, _| seen.first("/proc/cpuinfo has no microcode revision (only x86 has)", |info, cpu| info.field(cpu, "microcode").map(str::to_owned))),
        ("cpu.features", |seen, _| seen.first("/proc/cpuinfo lists no features", cpu::features)),
        ("cpu.online", |seen, _| seen.text("/sys/devices/system/cpu/online", NO_LIST)),
        ("cpu.isolated", |seen, _| seen.list("/sys/devices/system/cpu/isolated", NO_LIST)),
        ("cpu.nohz_full", |seen, _| seen.list("/sys/devices/system/cpu/nohz_full", "kernel without CONFIG_NO_HZ_FULL")),
        ("smt.active", |seen, _| seen.found("/sys/devices/system/cpu/smt/active", kernel::switch, "this kernel has no /sys/devices/system/cpu/smt")),
        ("cpu{}.package", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.package?.to_string()))),
        ("cpu{}.core", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.core?.to_string()))),
        ("cpu{}.siblings", |seen, cpu| cpu::place(seen, cpu, |place| place.core.map(|_| format_cpu_list(&place.siblings)))),
        ("cpu{}.core_kind", |seen, cpu| cpu::place(seen, cpu, |place| place.kind.clone()).map_err(|_| "the kernel reports one kind of core".into())),
        ("cpu{}.l1d", |seen, cpu| cpu::cache(seen, cpu, 1)),
        ("cpu{}.l2", |seen, cpu| cpu::cache(seen, cpu, 2)),
        ("cpu{}.l3", |seen, cpu| cpu::cache(seen, cpu, 3)),
    ]),
    ("frequency", &[
        ("cpu.turbo", |seen, _| cpu::turbo(seen)),
        ("cpu{}.governor", |seen, cpu| seen.text(&cpu::frequency(cpu, "scaling_governor"), cpu::NO_DRIVER)),
        ("cpu{}.frequency_driver", |seen, cpu| seen.text(&cpu::frequency(cpu, "scaling_driver"), cpu::NO_DRIVER)),
        ("cpu{}.frequency_limits", cpu::frequency_limits),
    ]),
    ("memory", &[
        ("numa.nodes", |seen, _| seen.text("/sys/devices/system/node/online", cpu::NO_NUMA)),
        ("cpu{}.node", cpu::node),
    ]),
    ("kernel", &[
        ("kernel.release", |seen, _| seen.text("/proc/sys/kernel/osrelease", NO_PROC)),
        ("kernel.arch", |seen, _| seen.text("/proc/sys/kernel/arch", "kernel before 6.1 lacks it")),
        ("kernel.boot_id", |seen, _| seen.text("/proc/sys/kernel/random/boot_id", NO_PROC)),
        ("kernel.cmdline_relevant", |seen, _| kernel::cmdline(seen).map(|text| kernel::relevant(&text))),
        ("kernel.preempt", |seen, _| kernel::preempt(seen)),
    ]),
    ("clock", &[
        ("clocksource.current", |seen, _| seen.text("/sys/devices/system/clocksource/clocksource0/current_clocksource", "no clock source under /sys")),
    ]),
    ("mitigations", &[]),
    ("virt", &[
        ("virt.hypervisor", |seen, _| virt::hypervisor(seen)),
        ("virt.container", |seen, _| virt::container(seen.root)),
    ]),
    ("idle", &[
        ("idle.driver", |seen, _| cpu::idle_driver(seen)),
        ("cpu{}.idle_states", cpu::idle_states),
    ]),
    ("cgroup", &[
        ("cgroup.cpu_quota", |seen, _| cgroup::quota(seen)),
        ("stat.cgroup.throttled_times", |seen, _| cgroup::throttled(seen).map(|of| of.times.to_string())),
        ("stat.cgroup.throttled_ms", |seen, _| cgroup::throttled(seen).map(|of| (of.ns / 1_000_000).to_string())),
    ]),
    ("security", &[
        ("security.seccomp", |seen, _| kernel::seccomp(seen)),
        ("security.tracer", |seen, _| kernel::tracer(seen)),
        ("security.preload", |seen, _| kernel::preload(seen)),
    ]),
    ("load", &[
        ("load.1", |seen, _| seen.found("/proc/loadavg", kernel::load, "")),
    ]),
];
