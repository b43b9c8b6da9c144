//! What of this machine shapes the numbers, in plain words: readings of the host
//! joined with what was measured.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Placement, Workload};
use hopcost_model::host::Host;
use hopcost_stats::sample::median;

use crate::case::Reading;
use crate::run::Run;

/// From this multiple on, waking another CPU deserves an explanation.
const WAKE_UP_MULTIPLE: f64 = 5.0;

/// The remarks, most telling first.
pub fn remarks(run: &Run, readings: &[Reading]) -> Vec<String> {
    let all = [
        between_hosts(run),
        idle(run, readings),
        moment(readings),
        cross_cpu(run, readings),
        frequency(run),
        filters(run),
    ];
    all.into_iter().flatten().collect()
}

/// Median over mechanisms of two CPUs over one CPU, where both ends sleep, of how many it is, and
/// one of the cases on two.
fn wake_up_multiple<'a>(run: &Run, readings: &'a [Reading<'a>]) -> Option<(f64, usize, &'a Case)> {
    let sleeping: Vec<(&'a Case, f64)> = readings
        .iter()
        .filter_map(|reading| Some((reading.case, reading.headline()?.point?)))
        .filter(|(case, cost)| {
            let roundtrip = case.workload == Workload::Roundtrip;
            roundtrip
                && *cost > 0.0
                && case.waits.is_some_and(|w| w.caller.sleeps() && w.callee.sleeps())
        })
        // What a runtime adds on one CPU and on two alike would hide the difference.
        .filter(|(case, _)| !run.is_engine(case) && case.runtimes.are_rust())
        .collect();
    let (near, rest): (Vec<_>, Vec<_>) =
        sleeping.into_iter().partition(|(c, _)| c.placement == Some(Placement::SameCpu));
    let near: BTreeMap<&Case, f64> = near.into_iter().collect();
    let far = rest.into_iter().filter(|(c, _)| c.placement.is_none_or(Placement::is_two_cpu));
    let multiple = |(far, two): (&'a Case, f64)| {
        let same = Case { placement: Some(Placement::SameCpu), ..far.clone() };
        near.get(&same).map(|one| (two / one, far))
    };
    let (multiples, cases): (Vec<f64>, Vec<&Case>) = far.filter_map(multiple).unzip();
    let of_pipe = cases.iter().find(|case| case.mechanism == "pipe").or(cases.first())?;
    Some((median(&multiples)?, multiples.len(), of_pipe))
}

fn cross_cpu(run: &Run, readings: &[Reading]) -> Option<String> {
    let (multiple, n, case) = wake_up_multiple(run, readings)?;
    if multiple <= WAKE_UP_MULTIPLE {
        return None;
    }
    let place = case.placement.map_or("cross", Placement::word);
    let explained = format!(
        "Where the time goes, as root: `hopcost explain '{}?place={place}'`.",
        case.mechanism
    );
    let host = &run.raw.host_before;
    let seen = format!(
        "A blocking round trip between two CPUs costs about {} times one on one CPU (median of {})",
        libm::round(multiple),
        if n == 1 { "one pair of cases".to_owned() } else { format!("{n} pairs") },
    );
    let driver = host.get("idle.driver");
    let guest = host.get("virt.hypervisor").is_some();
    let driver = driver.map_or(String::new(), |driver| format!(" (idle driver: {driver})"));
    let cause = match guest {
        true => format!(
            "this is a guest{driver}, where waking an idle virtual CPU goes through the hypervisor"
        ),
        false => format!(
            "each wake-up of an idle CPU{driver} pays for an inter-processor interrupt and for leaving \
             the idle state"
        ),
    };
    Some(format!("{seen}: {cause}. {explained}"))
}

/// Why there are no intervals, where the run was too short for them.
fn moment(readings: &[Reading]) -> Option<String> {
    let mut headlines = readings.iter().filter_map(|reading| reading.headline());
    let why = headlines.find_map(|estimate| {
        let why = estimate.insufficient.as_ref()?;
        why.starts_with("this moment").then_some(why)
    })?;
    Some(format!("These numbers are of {why}."))
}

fn frequency(run: &Run) -> Option<String> {
    let cpu = run.raw.plan.cpus.first()?;
    let key = format!("cpu{cpu}.governor");
    let host = &run.raw.host_before;
    match (host.get(&key), host.reason(&key)) {
        (Some("performance"), _) | (None, None) => None,
        (Some(governor), _) => Some(format!(
            "CPU {cpu} runs under the frequency governor `{governor}`: its speed may follow the \
             load, and short or sleepy work may run slower than busy work."
        )),
        (None, Some(reason)) => {
            Some(format!("The processor's frequency is not visible here: {reason}."))
        }
    }
}

fn filters(run: &Run) -> Option<String> {
    let value = run.raw.host_before.get("security.seccomp")?;
    value.contains("filter").then(|| {
        format!("Every system call passes a seccomp filter ({value}), which adds to its cost.")
    })
}

/// The far host, the path to it, and whose clock times what.
fn between_hosts(run: &Run) -> Option<String> {
    let host = &run.raw.host_before;
    let address = host.get("peer.address")?;
    let end = |prefix: &str| {
        let of = |key: &str| host.get(&format!("{prefix}net.{key}"));
        let named = |name: &str, key: &str| of(key).map(|value| format!("{name}{value}"));
        let all = [named("driver ", "driver"), named("MTU ", "mtu")];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!("{} ({})", of("path").unwrap_or("an unknown interface"), all.join(", "))
    };
    let level = |host: &Host| host.get("peer.load.switch").map(str::to_owned);
    let levels = match (level(host), run.raw.host_after.as_ref().and_then(level)) {
        (Some(before), Some(after)) => format!(
            " A pipe's round trip on the far end's CPU took {before} before the run and {after} after it."
        ),
        _ => String::new(),
    };
    let one = match host.is_its_peer() {
        true => "Both ends are on one machine (the same boot id). ",
        false => "",
    };
    Some(format!(
        "{one}The path to the far host ({address}) begins as {} and ends as {}. Round trips are \
         timed by this host's clock alone, and divided by this host's speed \
         probe.{levels}",
        end(""),
        end("peer.")
    ))
}

/// Of a run with wake-ups: what its CPUs do while they are idle.
fn idle(run: &Run, readings: &[Reading]) -> Option<String> {
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
    use crate::testing::{Builder, PIPE as ONE, PIPE_TWO_CPUS as TWO, WAKE, read};

    fn remarks(host: &[(&str, &str)], two_ns: u32) -> String {
        let raw = Builder::new()
            .host(host)
            .case(ONE, 6, |_, t| t.each(&[3000; 50]))
            .case(TWO, 6, |_, t| t.each(&[two_ns; 50]))
            .build();
        read(&raw).remarks.join("\n")
    }

    #[test]
    fn wake_ups_through_a_hypervisor() {
        let guest = [("virt.hypervisor", "KVM"), ("idle.driver", "haltpoll")];
        let text = remarks(&guest, 60_000);
        assert!(
            text.contains("about 20 times") && text.contains("(idle driver: haltpoll)"),
            "{text}"
        );
        assert!(text.contains("one pair of cases") && text.contains("the hypervisor. "), "{text}");
        assert!(!remarks(&guest, 9_000).contains("about 3 times"), "three times is no riddle");
        let metal = remarks(&[("idle.driver", "intel_idle")], 60_000);
        assert!(metal.contains("intel_idle") && !metal.contains("hypervisor"), "{metal}");
    }

    #[test]
    fn what_the_machine_lacks() {
        let text = remarks(&[("cpu0.governor", "powersave")], 3000);
        assert!(text.contains("powersave"));
        assert!(!remarks(&[("cpu0.governor", "performance")], 3000).contains("governor"));
    }

    #[test]
    fn only_round_trips_speak_of_round_trips() {
        let raw = Builder::new()
            .case(&WAKE.replace("same-llc", "same-cpu"), 6, |_, t| t.wake(&[3000; 50], 9))
            .case(WAKE, 6, |_, t| t.wake(&[60_000; 50], 9))
            .build();
        assert!(!read(&raw).remarks.join("\n").contains("round trip"));
    }

    fn of_hosts(readings: &[(&str, &str)]) -> String {
        let build = Builder::new().host(readings).case(ONE, 8, |_, t| t.each(&[3000; 100]));
        build.read().remarks.join("\n")
    }

    #[test]
    fn two_hosts_and_what_is_between_them() {
        let alike = [
            ("kernel.release", "6.1"),
            ("peer.kernel.release", "6.1"),
            ("peer.address", "10.0.0.2"),
            ("net.path", "veth"),
            ("net.mtu", "1500"),
            ("peer.net.path", "bridge"),
        ];
        let said = of_hosts(&alike);
        assert!(said.contains("(10.0.0.2) begins as veth (MTU 1500)"), "{said}");
        assert!(said.contains("ends as bridge"), "{said}");
        assert!(!of_hosts(&alike[..1]).contains("far host"));
    }

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
        assert_eq!(said(ONE, &guest), None, "nothing was woken after a gap");
    }
}
