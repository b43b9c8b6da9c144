//! Readings that take more than one file.

use super::parse::{SWITCH, filled, word};
use super::seen::{Found, Seen, because};
use crate::root::Why;
use crate::topology::{CPU_DIR, nodes_by_cpu};

pub(super) const NO_DRIVER: &str = "no cpufreq driver (usual in virtual machines)";
pub(super) const NO_NUMA: &str = "kernel without NUMA support, or not told to this guest";
const NO_CPUIDLE: &str =
    "no cpuidle driver (the kernel's default halt is used, or the hypervisor's)";

pub(super) fn smt(seen: &Seen) -> Found {
    let missing = "this kernel does not tell under /sys/devices/system/cpu/smt";
    let active = seen.text(&format!("{CPU_DIR}/smt/active"), missing)?;
    let word = match active.as_str() {
        "1" => "yes",
        "0" => "no",
        other => other,
    };
    let control = seen.root.text(&format!("{CPU_DIR}/smt/control"));
    Ok(control.map_or(word.to_owned(), |control| format!("{word} (control: {control})")))
}

pub(super) fn turbo(seen: &Seen) -> Found {
    // intel_pstate has a switch of its own, which says the opposite.
    let path = format!("{CPU_DIR}/intel_pstate/no_turbo");
    match seen.root.text(&path).as_deref() {
        Ok("0") => return Ok("on".into()),
        Ok("1") => return Ok("off".into()),
        Ok(other) => return Err(format!("{path} holds `{other}`, neither 0 nor 1")),
        Err(error) if error.why != Why::Missing => return Err(error.to_string()),
        Err(_) => {}
    }
    let missing = match seen.root.exists(&format!("{CPU_DIR}/cpu0/cpufreq")) {
        true => "this cpufreq driver has no switch for turbo frequencies",
        false => NO_DRIVER,
    };
    let boost = seen.text(&format!("{CPU_DIR}/cpufreq/boost"), missing)?;
    Ok(word(SWITCH, boost))
}

pub(super) fn frequency_limits(seen: &Seen, cpu: u32) -> Found {
    let mhz = |name: &str| {
        let path = format!("{CPU_DIR}/cpu{cpu}/cpufreq/{name}");
        let khz = seen.root.number::<u64>(&path).map_err(|e| because(&e, NO_DRIVER))?;
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

pub(super) fn idle_governor(seen: &Seen) -> Found {
    // Which of the two files exists depends on the kernel and its command line.
    let read = |name: &str| seen.text(&format!("{CPU_DIR}/cpuidle/{name}"), NO_CPUIDLE);
    read("current_governor").or_else(|_| read("current_governor_ro"))
}

/// The guest's own polling before it halts.
pub(super) fn haltpoll(seen: &Seen) -> Found {
    let mut found = Vec::new();
    for (module, prefix) in [("haltpoll", ""), ("cpuidle_haltpoll", "cpuidle_haltpoll.")] {
        let dir = format!("/sys/module/{module}/parameters");
        for name in seen.root.names(&dir).unwrap_or_default() {
            let value = seen.root.text(&format!("{dir}/{name}")).ok();
            found.extend(value.map(|value| format!("{prefix}{name}={value}")));
        }
    }
    if found.is_empty() {
        return Err("no haltpoll module (only guests use it)".into());
    }
    Ok(found.join(" "))
}

/// The idle states, shallowest first, each with the time to leave it that its driver
/// claims; the real one can be far longer.
pub(super) fn idle_states(seen: &Seen, cpu: u32) -> Found {
    let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle");
    let states = seen.root.numbered(&dir, "state").map_err(|e| because(&e, NO_CPUIDLE))?;
    let spell = |state: u32| {
        let file = |name: &str| format!("{dir}/state{state}/{name}");
        let name = seen.text(&file("name"), NO_CPUIDLE)?;
        let latency: u64 =
            seen.root.number(&file("latency")).map_err(|e| because(&e, NO_CPUIDLE))?;
        // Kernels before 2.6.39 have no switch.
        let disabled = seen.root.number::<u64>(&file("disable")).is_ok_and(|switch| switch != 0);
        Ok(format!("{name}:{latency}us{}", if disabled { " (disabled)" } else { "" }))
    };
    match states.into_iter().map(spell).collect::<Result<Vec<_>, String>>()?.as_slice() {
        [] => Err(NO_CPUIDLE.to_owned()),
        states => Ok(states.join(", ")),
    }
}

/// A field of /proc/self/status.
fn status(seen: &Seen, name: &str, missing: &str) -> Found {
    let text = seen.text("/proc/self/status", "")?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    rest.and_then(filled).ok_or_else(|| missing.to_owned())
}

pub(super) fn seccomp(seen: &Seen) -> Found {
    let mode = status(seen, "Seccomp:", "kernel without seccomp")?;
    Ok(match (mode.as_str(), status(seen, "Seccomp_filters:", "")) {
        ("0", _) => "off".to_owned(),
        ("1", _) => "strict".to_owned(),
        ("2", Ok(count)) if count == "1" => "1 filter on every system call".to_owned(),
        ("2", Ok(count)) => format!("{count} filters on every system call"),
        ("2", Err(_)) => "filtered, number of filters not told".to_owned(),
        _ => mode,
    })
}

pub(super) fn tracer(seen: &Seen) -> Found {
    let pid = status(seen, "TracerPid:", "/proc/self/status does not tell")?;
    if pid == "0" {
        return Ok("none".to_owned());
    }
    let name = seen.root.text(&format!("/proc/{pid}/comm"));
    Ok(name.map_or(format!("pid {pid}"), |name| format!("{name} (pid {pid})")))
}

/// Variables that make the dynamic linker load a library into every program (ld.so(8)).
const PRELOADS: [&str; 2] = ["LD_PRELOAD", "LD_AUDIT"];
/// The file that does so for every user.
const PRELOADED: &str = "/etc/ld.so.preload";
/// The longest of them that is told.
const PRELOAD_CHARS_MAX: usize = 200;

/// Libraries that are loaded before those a program asks for; workers inherit the variables.
pub(super) fn preload(seen: &Seen) -> Found {
    let environment = seen.root.bytes("/proc/self/environ").map_err(|e| e.to_string())?;
    let environment = String::from_utf8_lossy(&environment);
    let mut found: Vec<String> = environment
        .split('\0')
        .filter_map(|variable| variable.split_once('='))
        .filter(|(name, value)| PRELOADS.contains(name) && !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    found.extend(seen.root.text(PRELOADED).ok().map(|names| format!("{PRELOADED}: {names}")));
    if found.is_empty() {
        return Ok("none".to_owned());
    }
    Ok(found.join(", ").chars().take(PRELOAD_CHARS_MAX).collect())
}
