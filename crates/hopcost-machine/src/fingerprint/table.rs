//! Every reading: its key, its file, what is looked for in it, and what a missing
//! file means.

use super::cpu;
use super::parse::{self, Limit, SWITCH, Words};
use super::seen::{Found, Seen};
use super::{cgroup, kernel, several, virt};
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
    /// Its text, in which these are said in words.
    Text(Words),
    /// The same, but an empty file is the value `none`.
    OrNone(Words),
    /// What the function finds in its text.
    Of(fn(&str) -> Option<String>),
    /// What the function finds in the rest of the first line that begins so; the reason
    /// where it finds nothing.
    Line(&'static str, fn(&str) -> Option<String>, &'static str),
    /// What the function finds in /proc/cpuinfo.
    Info(fn(&CpuInfo, u32) -> Option<String>),
    /// What takes more than one file.
    Code(fn(&Seen) -> Found),
    /// The same, of a CPU.
    OfCpu(fn(&Seen, u32) -> Found),
    /// The texts of all files in this directory.
    Each,
}

use Parse::{Code, Each, Info, Line, Of, OfCpu, OrNone, Text};

const AS_IS: Words = &[];
const ASLR: Words = &[("0", "off (0)"), ("1", "without heap (1)"), ("2", "full (2)")];
const RING: Words = &[("0", "no"), ("1", "for users outside of its group"), ("2", "for all")];

const NO_LIST: &str = "this kernel does not tell under /sys/devices/system/cpu";
const NO_CLOCK: &str = "no clock source under /sys";
const NO_PROC: &str = "/proc is not mounted";

const fn row(key: &'static str, path: &'static str, parse: Parse, missing: &'static str) -> Row {
    Row { key, path, parse, missing }
}

const fn code(key: &'static str, find: fn(&Seen) -> Found) -> Row {
    row(key, "", Code(find), "")
}

const fn of_cpu(key: &'static str, find: fn(&Seen, u32) -> Found) -> Row {
    row(key, "", OfCpu(find), "")
}

const fn info(
    key: &'static str,
    find: fn(&CpuInfo, u32) -> Option<String>,
    missing: &'static str,
) -> Row {
    row(key, "", Info(find), missing)
}

/// The sections with their readings, in the order in which they are told.
#[rustfmt::skip]
pub(super) const SECTIONS: &[(&str, &[Row])] = &[
    ("cpu", &[
        info("cpu.model", cpu::model, "/proc/cpuinfo names no model"),
        info("cpu.family_model_stepping", cpu::stepping, "/proc/cpuinfo has no stepping or revision"),
        info("cpu.microcode", |info, cpu| info.field(cpu, "microcode").map(str::to_owned), "/proc/cpuinfo has no microcode revision (only x86 has)"),
        row("cpu.online", "/sys/devices/system/cpu/online", Text(AS_IS), NO_LIST),
        code("cpu.allowed", cpu::allowed),
        row("cpu.isolated", "/sys/devices/system/cpu/isolated", OrNone(AS_IS), NO_LIST),
        // The kernel prints a null mask as "(null)".
        row("cpu.nohz_full", "/sys/devices/system/cpu/nohz_full", OrNone(&[("(null)", "none")]), "kernel without CONFIG_NO_HZ_FULL"),
        code("smt.active", several::smt),
        code("cpu.topology_source", |seen| Ok(seen.topology.assumed().unwrap_or_else(|| "as /sys describes it".to_owned()))),
        of_cpu("cpu{}.package", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.package?.to_string()))),
        of_cpu("cpu{}.core", |seen, cpu| cpu::place(seen, cpu, |place| Some(place.core?.to_string()))),
        of_cpu("cpu{}.siblings", |seen, cpu| cpu::place(seen, cpu, |place| place.core.map(|_| format_cpu_list(&place.siblings)))),
        of_cpu("cpu{}.core_kind", cpu::core_kind),
        of_cpu("cpu{}.l1d", |seen, cpu| cpu::cache(seen, cpu, 1)),
        of_cpu("cpu{}.l2", |seen, cpu| cpu::cache(seen, cpu, 2)),
        of_cpu("cpu{}.l3", |seen, cpu| cpu::cache(seen, cpu, 3)),
    ]),
    ("frequency", &[
        code("cpu.turbo", several::turbo),
        row("cpu{}.governor", "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", Text(AS_IS), several::NO_DRIVER),
        row("cpu{}.frequency_driver", "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_driver", Text(AS_IS), several::NO_DRIVER),
        of_cpu("cpu{}.frequency_limits", several::frequency_limits),
    ]),
    ("memory", &[
        row("memory.total", "/proc/meminfo", Line("MemTotal:", parse::kib, "/proc/meminfo has no line `MemTotal: … kB`"), ""),
        row("memory.page_size", "/proc/self/smaps", Line("KernelPageSize:", parse::kib, "/proc/self/smaps has no line `KernelPageSize: … kB`"), ""),
        row("thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled", Of(|text| parse::bracketed(text).map(str::to_owned)), "kernel without transparent huge pages"),
        row("numa.nodes", "/sys/devices/system/node/online", Of(parse::nodes), several::NO_NUMA),
        row("numa.balancing", "/proc/sys/kernel/numa_balancing", Text(SWITCH), "kernel without automatic NUMA balancing"),
        of_cpu("cpu{}.node", several::node),
    ]),
    ("kernel", &[
        row("kernel.release", "/proc/sys/kernel/osrelease", Text(AS_IS), NO_PROC),
        row("kernel.version", "/proc/sys/kernel/version", Text(AS_IS), NO_PROC),
        row("kernel.arch", "/proc/sys/kernel/arch", Text(AS_IS), "kernel before 6.1 does not tell in /proc"),
        row("kernel.boot_id", "/proc/sys/kernel/random/boot_id", Text(AS_IS), NO_PROC),
        code("kernel.cmdline_relevant", |seen| kernel::cmdline(seen).map(|text| kernel::relevant(&text))),
        code("kernel.preempt", kernel::preempt),
        row("kernel.aslr", "/proc/sys/kernel/randomize_va_space", Text(ASLR), ""),
    ]),
    ("clock", &[
        row("clocksource.current", "/sys/devices/system/clocksource/clocksource0/current_clocksource", Text(AS_IS), NO_CLOCK),
        row("clocksource.available", "/sys/devices/system/clocksource/clocksource0/available_clocksource", Text(AS_IS), NO_CLOCK),
    ]),
    ("mitigations", &[
        row("mitigations", "/sys/devices/system/cpu/vulnerabilities", Each, "gone while it was read"),
    ]),
    ("virt", &[
        code("virt.hypervisor", virt::hypervisor),
        code("virt.container", virt::container),
    ]),
    ("idle", &[
        code("idle.driver", several::idle_driver),
        code("idle.governor", several::idle_governor),
        code("idle.haltpoll", several::haltpoll),
        of_cpu("cpu{}.idle_states", several::idle_states),
    ]),
    ("cgroup", &[
        code("cgroup.version", cgroup::version),
        code("cgroup.cpu_quota", cgroup::quota),
        code("cgroup.cpuset", cgroup::cpuset),
        code("stat.cgroup.throttled_times", |seen| cgroup::throttled(seen).map(|(times, _)| times.to_string())),
        code("stat.cgroup.throttled_ms", |seen| cgroup::throttled(seen).map(|(_, ms)| ms.to_string())),
    ]),
    ("limits", &[
        row("limits.nofile", "/proc/self/limits", Line("Max open files", |rest| parse::limit(rest, Limit::Count), "/proc/self/limits has no `Max open files`"), ""),
        row("limits.memlock", "/proc/self/limits", Line("Max locked memory", |rest| parse::limit(rest, Limit::Bytes), "/proc/self/limits has no `Max locked memory`"), ""),
        row("limits.msgqueue", "/proc/self/limits", Line("Max msgqueue size", |rest| parse::limit(rest, Limit::Bytes), "/proc/self/limits has no `Max msgqueue size`"), ""),
        row("limits.rtprio", "/proc/self/limits", Line("Max realtime priority", |rest| parse::limit(rest, Limit::Count), "/proc/self/limits has no `Max realtime priority`"), ""),
    ]),
    ("security", &[
        code("security.seccomp", several::seccomp),
        row("security.no_new_privs", "/proc/self/status", Line("NoNewPrivs:", |rest| Some(parse::word(SWITCH, parse::filled(rest)?)), "kernel before 4.10 does not tell"), ""),
        code("security.tracer", several::tracer),
        code("security.preload", several::preload),
        row("security.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled", Text(RING), "kernel before 6.6 or without io_uring: no switch"),
        row("perf.paranoid", "/proc/sys/kernel/perf_event_paranoid", Text(AS_IS), "kernel without perf events"),
    ]),
    ("sched", &[
        row("sched.policy", "/proc/self/stat", Of(parse::policy), ""),
        row("sched.timer_slack", "/proc/self/timerslack_ns", Of(|text| Some(format!("{} us", text.parse::<u64>().ok()? as f64 / 1e3))), "kernel before 4.6 or without /proc"),
    ]),
    ("load", &[
        row("load.1", "/proc/loadavg", Of(|text| parse::load(text, 0)), ""),
        row("load.runnable", "/proc/loadavg", Of(|text| parse::load(text, 3)), ""),
        row("load.cpu_pressure", "/proc/pressure/cpu", Of(parse::pressure), "kernel without pressure information (psi=1 would enable it)"),
        row("stat.pid", "/proc/self/status", Line("Pid:", parse::filled, "/proc/self/status does not tell"), ""),
    ]),
];
