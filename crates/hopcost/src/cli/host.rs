//! The host as the command line needs it: which CPUs, how they are related.

use anyhow::Context;
use hopcost_machine::Root;
use hopcost_model::{Host, Plan, Reading, SUSPENDED};
use hopcost_plan::Machine;
use hopcost_probe::{namespace, sys};

use crate::run::distances;
use crate::run::scratch::Scratch;
use crate::run::trial::background::DMA_LATENCY;

/// Reads the machine for the planner; `named` are the CPUs of `--cpus`.
pub fn machine(named: &[u32]) -> anyhow::Result<Machine> {
    let allowed_cpus = allowed_cpus()?;
    let topology = distances::topology_of(&allowed_cpus);
    Ok(Machine {
        pairs: topology.pairs_by_relation(&allowed_cpus),
        cross: topology.choose_pair(&allowed_cpus).map(|(_, _, relation)| relation),
        asked: match named {
            [a, b] if a != b => Some(topology.relation(*a, *b)),
            _ => None,
        },
        allowed_cpus,
        peer_cpu: None,
        dma_latency,
        namespaces: namespace::available,
        one_way: |sender, receiver| {
            hopcost_machine::clocks_comparable(&Root::default(), &[sender, receiver])
        },
    })
}

/// The CPUs that this process may use.
pub fn allowed_cpus() -> anyhow::Result<Vec<u32>> {
    sys::allowed_cpus().context("asking which CPUs may be used")
}

/// Whether a wake-up latency may be asked for. Opening the file and closing it
/// again asks for nothing (Documentation/power/pm_qos_interface.rst).
fn dma_latency() -> Result<(), String> {
    // Whether the kernel chooses among idle states (Documentation/admin-guide/pm/cpuidle.rst).
    let driver = "/sys/devices/system/cpu/cpuidle/current_driver";
    let driver = std::fs::read_to_string(driver).unwrap_or_default();
    if ["", "none"].contains(&driver.trim()) {
        return Err("no cpuidle driver here, so the kernel has no idle states to hold off".into());
    }
    let opened = std::fs::File::options().write(true).open(DMA_LATENCY);
    opened.map(drop).map_err(|error| format!("{DMA_LATENCY}: {error}"))
}

/// The fingerprint, with the CPUs of the plan.
pub fn fingerprint(plan: &Plan) -> Host {
    let cpus: Vec<u32> = plan.local_cpus().into_iter().collect();
    hopcost_machine::fingerprint(&Root::default(), &cpus)
}

/// Clocks of clock_gettime(2), as Linux numbers them: the second goes on while the machine is
/// suspended.
const CLOCK_MONOTONIC: i32 = 1;
const CLOCK_BOOTTIME: i32 = 7;

/// How long this machine has been suspended since it was booted, in milliseconds.
fn suspended_ms() -> u64 {
    let monotonic_ns = sys::clock_ns(CLOCK_MONOTONIC);
    sys::clock_ns(CLOCK_BOOTTIME).saturating_sub(monotonic_ns) / 1_000_000
}

/// The fingerprint of a run, with how many others are going on beside it and how long the
/// machine has been suspended.
pub fn of_run(plan: &Plan, scratch: &Scratch) -> Host {
    let mut host = fingerprint(plan);
    // Its last section is that of the load.
    host.readings.extend([
        Reading::known("load", "load.hopcost_runs", scratch.others().to_string()),
        Reading::known("load", SUSPENDED, format!("{} ms", suspended_ms())),
    ]);
    host
}
