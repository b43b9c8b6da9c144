//! What a CPU does when it has nothing to do; the main part of a wake-up's cost.

use super::{Found, Readings, Seen, because};
use crate::root::{Root, Unreadable};
use crate::topology::CPU_DIR;

const NO_CPUIDLE: &str =
    "no cpuidle driver (the kernel's default halt is used, or the hypervisor's)";

/// One idle state of a CPU, as its driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleState {
    /// The driver's name (`POLL`, `C6`).
    pub name: String,
    /// Claimed time to leave it, microseconds.
    pub exit_latency_us: u64,
    /// Whether it is switched off.
    pub disabled: bool,
}

/// The idle states of a CPU, shallowest first (/sys/…/cpuN/cpuidle). The
/// latencies are the driver's claim; real ones can be far longer.
///
/// # Errors
/// [`Unreadable`] where there is no cpuidle driver, or a state lacks its name or
/// latency.
pub fn idle_states(root: &Root, cpu: u32) -> Result<Vec<IdleState>, Unreadable> {
    let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle");
    let states = root.numbered(&dir, "state")?;
    let read = |state: u32| {
        let file = |name: &str| format!("{dir}/state{state}/{name}");
        Ok(IdleState {
            name: root.text(&file("name"))?,
            exit_latency_us: root.number(&file("latency"))?,
            // Kernels before 2.6.39 have no switch.
            disabled: root.number::<u64>(&file("disable")).is_ok_and(|switch| switch != 0),
        })
    };
    states.into_iter().map(read).collect()
}

/// Idling of one CPU in a sentence: driver, governor and deepest state in use.
pub fn idle_summary(root: &Root, cpu: u32) -> String {
    let driver = match driver(root) {
        Ok(driver) => driver,
        Err(reason) => return reason,
    };
    let governor = governor(root).unwrap_or_else(|_| "unknown".to_owned());
    let deepest = match idle_states(root, cpu) {
        Err(error) => error.to_string(),
        Ok(states) => match states.iter().rev().find(|state| !state.disabled) {
            Some(state) => format!(
                "deepest state in use on cpu{cpu} is {} (said to take {} us to leave)",
                state.name, state.exit_latency_us
            ),
            None => format!("no idle state in use on cpu{cpu}"),
        },
    };
    format!("{driver} driver, {governor} governor, {deepest}")
}

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let section = "idle";
    out.put(section, "idle.driver", driver(seen.root));
    out.put(section, "idle.governor", governor(seen.root));
    out.put(section, "idle.haltpoll", haltpoll(seen.root));
    for &cpu in &seen.cpus {
        out.put(section, format!("cpu{cpu}.idle_states"), states(seen.root, cpu));
    }
}

fn driver(root: &Root) -> Found {
    let text = root.text(&format!("{CPU_DIR}/cpuidle/current_driver"));
    match text.map_err(|e| because(&e, NO_CPUIDLE))?.as_str() {
        "none" => Err(NO_CPUIDLE.to_owned()),
        driver => Ok(driver.to_owned()),
    }
}

fn governor(root: &Root) -> Found {
    // Which of the two files exists depends on the kernel and its command line.
    let read = |name: &str| root.text(&format!("{CPU_DIR}/cpuidle/{name}"));
    let text = read("current_governor").or_else(|_| read("current_governor_ro"));
    text.map_err(|e| because(&e, NO_CPUIDLE))
}

/// The guest's own polling before it halts.
fn haltpoll(root: &Root) -> Found {
    let mut found = Vec::new();
    for module in ["haltpoll", "cpuidle_haltpoll"] {
        let dir = format!("/sys/module/{module}/parameters");
        for name in root.names(&dir).unwrap_or_default() {
            if let Ok(value) = root.text(&format!("{dir}/{name}")) {
                let module = if module == "haltpoll" { "" } else { "cpuidle_haltpoll." };
                found.push(format!("{module}{name}={value}"));
            }
        }
    }
    if found.is_empty() {
        return Err("no haltpoll module (only guests use it)".into());
    }
    Ok(found.join(" "))
}

fn states(root: &Root, cpu: u32) -> Found {
    let states = idle_states(root, cpu).map_err(|e| because(&e, NO_CPUIDLE))?;
    let spell = |state: &IdleState| {
        let off = if state.disabled { " (disabled)" } else { "" };
        format!("{}:{}us{off}", state.name, state.exit_latency_us)
    };
    if states.is_empty() {
        return Err(NO_CPUIDLE.to_owned());
    }
    Ok(states.iter().map(spell).collect::<Vec<_>>().join(", "))
}
