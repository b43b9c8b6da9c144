//! What of this machine shapes the numbers, in plain words: readings of the host
//! joined with what was measured.

mod hosts;
mod idle;

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Placement, Workload};
use hopcost_stats::sample::median;

use crate::case::Reading;
use crate::format;
use crate::run::Run;
use crate::trial::Family;

/// From this multiple on, waking another CPU deserves an explanation.
const WAKE_UP_MULTIPLE: f64 = 5.0;

/// The remarks, most telling first.
pub fn remarks(run: &Run, readings: &[Reading]) -> Vec<String> {
    let all = [
        hosts::between(run),
        idle::remark(run, readings),
        moment(readings),
        cross_cpu(run, readings),
        guest(run),
        stamps(run, readings),
        touching(readings),
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

fn guest(run: &Run) -> Option<String> {
    let name = run.raw.host_before.get("virt.hypervisor")?;
    Some(format!(
        "Virtual machine ({name}): which physical CPUs are behind its CPUs is not known. \
         Whether they stay there is the hypervisor's choice, and the topology is its claim."
    ))
}

fn stamps(run: &Run, readings: &[Reading]) -> Option<String> {
    readings.iter().find(|reading| reading.result.stamp.map(Family::of) == Some(Family::Each))?;
    let clock = run.raw.clocks.iter().find(|clock| clock.knows_its_cost())?;
    let (source, ns) = (&clock.source, format::ns(clock.stamp_p50_ns));
    (source != "virtual").then(|| {
        format!(
            "Reading the clock ({source}) costs {ns} and is part of every operation timed by \
             itself. Nothing is subtracted."
        )
    })
}

/// Of the case in which writing and comparing messages is the greatest share of the number.
fn touching(readings: &[Reading]) -> Option<String> {
    let shares = readings.iter().filter_map(|reading| {
        let ns = reading.result.touch?.operation_ns.filter(|ns| *ns > 0.0)?;
        let whole = reading.headline()?.point.filter(|whole| *whole > ns)?;
        Some((ns / whole, ns, reading.case))
    });
    let (share, ns, case) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "Writing and comparing messages is up to {} of a number. The greatest share is that of {}: {} with \
         the message in the cache of the end's own CPU, and more where it comes from another CPU. Nothing \
         is subtracted; touch=none leaves all but the first 8 bytes alone.",
        format::percent(share),
        case.id(),
        format::ns(ns),
    ))
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
        assert!(
            remarks(&[], 3000).contains("Reading the clock (tsc) costs 20.0 ns and is part of")
        );
    }

    #[test]
    fn only_round_trips_speak_of_round_trips() {
        let raw = Builder::new()
            .case(&WAKE.replace("same-llc", "same-cpu"), 6, |_, t| t.wake(&[3000; 50], 9))
            .case(WAKE, 6, |_, t| t.wake(&[60_000; 50], 9))
            .build();
        assert!(!read(&raw).remarks.join("\n").contains("round trip"));
    }
}
