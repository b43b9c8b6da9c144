//! How idle CPUs are set up here, which decides what waking one costs.

use hopcost_model::case::Workload;
use hopcost_model::host::Host;

use crate::case::Reading;
use crate::run::Run;

/// Of a run with wake-ups: what its CPUs do while they are idle.
pub fn remark(run: &Run, readings: &[Reading]) -> Option<String> {
    readings.iter().find(|of| of.case.workload == Workload::Wake)?;
    let host = &run.raw.host_before;
    let cpu = *run.raw.plan.cpus.last()?;
    let mut facts = vec![idling(host, cpu)];
    facts.push(match host.get("cpu.isolated") {
        Some("none") => "no isolated CPUs".to_owned(),
        Some(cpus) => format!("isolated CPUs {cpus}"),
        None => "isolated CPUs not known".to_owned(),
    });
    let tickless = host.get("cpu.nohz_full").filter(|cpus| *cpus != "none");
    facts.extend(tickless.map(|cpus| format!("no tick on CPUs {cpus}")));
    let governor = host.get(&format!("cpu{cpu}.governor"));
    facts.push(governor.map_or("governor not visible".to_owned(), |of| format!("governor {of}")));
    // What follows the comma is why more is not known.
    let preemption = host.get("kernel.preempt").and_then(|text| text.split(',').next());
    facts.extend(preemption.map(|model| match model.starts_with("PREEMPT") {
        true => model.to_owned(),
        false => format!("preemption {model}"),
    }));
    Some(format!("How CPUs idle here: {}.", facts.join(", ")))
}

/// `idle driver intel_idle, deepest state C6:133us`
fn idling(host: &Host, cpu: u32) -> String {
    let is_guest = host.get("virt.hypervisor").is_some();
    let by_host = if is_guest { " (in a guest: the hypervisor decides)" } else { "" };
    let Some(driver) = host.get("idle.driver") else {
        return format!("no cpuidle driver{by_host}");
    };
    let states = host.get(&format!("cpu{cpu}.idle_states")).unwrap_or_default();
    let is_used = |state: &&str| !state.ends_with(" (disabled)") && !state.starts_with("POLL:");
    let deepest = match states.split(", ").filter(is_used).last().filter(|of| !of.is_empty()) {
        _ if is_guest => String::new(),
        Some(state) => format!(", deepest state {state}"),
        None => ", no idle state in use".to_owned(),
    };
    format!("idle driver {driver}{deepest}{by_host}")
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, PIPE, WAKE, read};

    fn said(id: &str, host: &[(&str, &str)]) -> Option<String> {
        let raw = Builder::new().host(host).case(id, 6, |_, t| t.wake(&[3000; 50], 9)).build();
        let remarks = read(&raw).remarks;
        remarks.first().filter(|line| line.starts_with("How CPUs idle")).cloned()
    }

    #[test]
    fn how_cpus_idle_is_said_as_far_as_it_is_known() {
        let guest = [
            ("virt.hypervisor", "KVM"),
            ("cpu.isolated", "none"),
            ("kernel.preempt", "PREEMPT_DYNAMIC, mode not readable (needs root and debugfs)"),
        ];
        let halts = [guest[0], ("idle.driver", "haltpoll")];
        let server = [
            ("cpu.isolated", "1-3"),
            ("cpu.nohz_full", "1-3"),
            ("cpu1.governor", "performance"),
            ("idle.driver", "intel_idle"),
            ("cpu1.idle_states", "POLL:0us, C1:2us, C1E:10us, C6:133us (disabled)"),
            ("kernel.preempt", "full with real-time locks (PREEMPT_RT)"),
        ];
        let off =
            [("idle.driver", "intel_idle"), ("cpu1.idle_states", "POLL:0us, C1:2us (disabled)")];
        for (host, words) in [
            (
                &guest[..],
                "idle here: no cpuidle driver (in a guest: the hypervisor decides), no \
                          isolated CPUs, governor not visible, PREEMPT_DYNAMIC.",
            ),
            (&halts, "idle driver haltpoll (in a guest: the hypervisor"),
            (&halts, "isolated CPUs not known"),
            (
                &server,
                "idle here: idle driver intel_idle, deepest state C1E:10us, isolated CPUs 1-3, \
                       no tick on CPUs 1-3, governor performance, preemption full with real-time \
                       locks (PREEMPT_RT).",
            ),
            (&off, "intel_idle, no idle state in use,"),
        ] {
            let text = said(WAKE, host).unwrap();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(said(PIPE, &guest), None, "nothing was woken after a gap");
    }
}
