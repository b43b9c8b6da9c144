//! The machine in a line, to stand under every plot.

use crate::run::Run;

/// CPU model, kernel and virtualisation, as far as they could be read.
pub fn note(run: &Run) -> String {
    let host = &run.raw.host_before;
    let known = |key: &str, what: &str| match host.get(key) {
        Some(value) => value.to_owned(),
        None => format!("{what} not known"),
    };
    format!(
        "{}; Linux {}; {}",
        known("cpu.model", "CPU model"),
        known("kernel.release", "release"),
        match host.get("virt.hypervisor") {
            Some(name) => format!("virtual machine ({name})"),
            None => "no hypervisor seen".to_owned(),
        }
    )
}
