//! The summary of a run: its plan, what disturbed it, and which facts of this machine shape the numbers.

use std::collections::BTreeSet;

use hopcost_model::text::span;
use hopcost_model::{
    Case, Code, Finding, Host, Placement, Question, RawRun, Severity, TrialShape, Workload,
    document,
};
use hopcost_stats::next_run::TRIALS_MIN;

use crate::case::Reading;
use crate::ranking::Place;
use crate::run::Run;
use crate::yardstick::{Speed, YardstickLevel};

document! {
    /// The plan in brief.
    #[derive(Default)]
    pub struct PlanBrief {
        /// Suite name.
        pub suite: String,
        /// Seed.
        pub seed: u64,
        /// Rounds planned.
        pub rounds_planned: u32,
        /// Rounds of which at least one trial finished.
        pub rounds_done: u32,
        /// Trials finished, failed ones included.
        pub trials_done: u32,
        /// Trials that failed.
        pub trials_failed: u32,
        /// Whether the run was cut off before its last trial.
        pub complete: bool,
        /// Seconds from the start of the run to the end of its last trial.
        pub took_s: f64,
        /// Why there are fewer rounds than were planned, or wider intervals than were aimed at,
        /// where the budget ended the run; `null` where it did not.
        pub ended_early: Option<String>,
        /// The case that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used, the caller's first; none where no case was pinned.
        pub cpus: Vec<u32>,
        /// The claimed relation of the two CPUs.
        pub relation: Option<Placement>,
        /// How a trial was shaped.
        pub trial: TrialShape,
    }
}

/// The plan in brief.
pub fn plan(run: &Run) -> PlanBrief {
    let raw = run.raw;
    let plan = &raw.plan;
    let is_free = |case: &Case| case.placement == Some(Placement::Free);
    let cpus = if plan.live_cases().all(is_free) { Vec::new() } else { plan.cpus.clone() };
    let rounds: BTreeSet<u32> = raw.trials.iter().map(|trial| trial.round).collect();
    PlanBrief {
        suite: plan.suite.clone(),
        seed: plan.seed,
        rounds_planned: plan.rounds,
        rounds_done: rounds.len() as u32,
        trials_done: raw.trials.len() as u32,
        trials_failed: raw.trials.iter().filter(|trial| trial.error.is_some()).count() as u32,
        complete: raw.about.ended.is_some(),
        took_s: took_s(run),
        ended_early: ended_early(raw, rounds.len() as u32),
        baseline: plan.baseline.clone(),
        cpus,
        relation: plan.relation,
        trial: plan.trial,
    }
}

/// By the run's own time: a resumed run's trials begin at 0 again.
fn took_s(run: &Run) -> f64 {
    let ends = run.raw.trials.iter().zip(&run.at_s);
    ends.map(|(trial, at_s)| at_s + trial.took_ns as f64 / 1e9).fold(0.0, f64::max)
}

/// That the budget ended a run, and what to do.
fn ended_early(raw: &RawRun, done: u32) -> Option<String> {
    let plan = &raw.plan;
    raw.about.ended.as_ref()?;
    if plan.comparison.is_some() || matches!(plan.question, Some(Question::Claims(_))) {
        // It says itself what is not decided, and what would decide it.
        return None;
    }
    let budget_s = plan.budget_ns? as f64 / 1e9;
    // Where all cases were given up, it was not the budget.
    let last = raw.trials.iter().map(|trial| trial.round).max()?;
    let goes_on = raw.trials.iter().any(|trial| trial.round == last && trial.error.is_none());
    if done >= plan.rounds || !goes_on {
        return None;
    }
    let needed = match (done as usize) < TRIALS_MIN {
        true => format!("; an interval needs {TRIALS_MIN}"),
        false => String::new(),
    };
    Some(format!(
        "{done} of {} rounds: the budget of {budget_s} s ended the run{needed}; a longer --budget makes \
         more.",
        plan.rounds
    ))
}

/// The findings of a run that other work causes, in words.
const BY_OTHERS: [(Code, &str); 5] = [
    (Code::Preempted, "other tasks"),
    (Code::Throttled, "a CPU quota"),
    (Code::Steal, "the hypervisor"),
    (Code::SoftIrq, "interrupts"),
    (Code::TwoHopcosts, "another hopcost"),
];

/// What disturbed a run as a whole, in words.
pub fn disturbed(levels: &[YardstickLevel], findings: &[Finding]) -> Option<String> {
    let is_slower = |level: &&YardstickLevel| matches!(level.speed, Speed::Slower | Speed::TooFar);
    let slower = levels.iter().filter(is_slower).filter_map(|level| level.slower);
    let slower = span(&slower.collect::<Vec<f64>>(), |times| format!("{times:.1}"));
    let slower = slower.map(|times| format!("{times} × slower than its quiet speed"));
    let awake = levels.iter().any(|level| level.speed == Speed::KeptAwake);
    let awake = awake.then(|| "CPUs kept from idling".to_owned());
    let is_of_run = |(code, _): &&(Code, &str)| {
        let mut all = findings.iter().filter(|found| found.case.is_none() && found.code == *code);
        all.any(|found| found.severity > Severity::Note)
    };
    let codes = BY_OTHERS.iter().filter(is_of_run).map(|(_, what)| (*what).to_owned());
    let all: Vec<String> = codes.chain(slower).chain(awake).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

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

fn cross_cpu(run: &Run, readings: &[Reading]) -> Option<String> {
    let is_far = |case: &Case| {
        let sleeps = case.waits.is_some_and(|of| of.caller.sleeps() && of.callee.sleeps());
        // What a runtime adds on one CPU and on two alike would hide the difference.
        let is_pipe = case.mechanism == "pipe" && case.runtimes.are_rust();
        is_pipe && sleeps && case.workload == Workload::Roundtrip && Place::of(case) == Place::Two
    };
    let far = readings.iter().find(|reading| is_far(reading.case))?;
    let near = Case { placement: Some(Placement::SameCpu), ..far.case.clone() };
    let near = readings.iter().find(|reading| *reading.case == near)?;
    let multiple = far.headline()?.point? / near.headline()?.point?;
    if multiple <= WAKE_UP_MULTIPLE || !multiple.is_finite() {
        return None;
    }
    let place = far.case.placement.map_or("cross", Placement::word);
    let explained =
        format!("Where the time goes, as root: `hopcost explain 'pipe?place={place}'`.");
    let host = &run.raw.host_before;
    let seen = format!(
        "A blocking round trip through a pipe costs about {} times as much between two CPUs as on one",
        libm::round(multiple)
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
    let governor = run.raw.host_before.get(&format!("cpu{cpu}.governor"));
    let governor = governor.filter(|governor| *governor != "performance")?;
    Some(format!(
        "CPU {cpu} runs under the frequency governor `{governor}`: its speed may follow the load, and \
         short or sleepy work may run slower than busy work."
    ))
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
        assert!(text.contains("the hypervisor. "), "{text}");
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
        let guest = [("virt.hypervisor", "KVM"), ("cpu.isolated", "none")];
        let halts = [guest[0], ("idle.driver", "haltpoll")];
        let server = [
            ("cpu.isolated", "1-3"),
            ("cpu.nohz_full", "1-3"),
            ("idle.driver", "intel_idle"),
            ("cpu1.idle_states", "POLL:0us, C1:2us, C1E:10us, C6:133us (disabled)"),
        ];
        let off =
            [("idle.driver", "intel_idle"), ("cpu1.idle_states", "POLL:0us, C1:2us (disabled)")];
        for (host, words) in [
            (
                &guest[..],
                "idle here: no cpuidle driver (in a guest: the hypervisor decides), no isolated CPUs.",
            ),
            (&halts, "idle driver haltpoll (in a guest: the hypervisor"),
            (&halts, "isolated CPUs not known"),
            (
                &server,
                "idle here: idle driver intel_idle, deepest state C1E:10us, isolated CPUs 1-3, no \
                 tick on CPUs 1-3.",
            ),
            (&off, "intel_idle, no idle state in use,"),
        ] {
            let text = said(WAKE, host).unwrap();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(said(ONE, &guest), None, "nothing was woken after a gap");
    }

    #[test]
    fn a_run_that_the_budget_ended_says_so() {
        let run = |rounds: u32, budget_ns: Option<u64>| {
            let builder = Builder::new().case(ONE, rounds, |_, trial| trial.each(&[5; 50]));
            let mut raw = builder.build();
            raw.plan.rounds = 15;
            raw.plan.budget_ns = budget_ns;
            read(&raw).plan.ended_early
        };
        let budget = Some(2_500_000_000);
        let six = run(6, budget).unwrap();
        assert!(six.starts_with("6 of 15 rounds: the budget of 2.5 s ended the run; "), "{six}");
        assert!(run(4, budget).unwrap().contains("an interval needs 6"));
        assert_eq!((run(15, budget), run(6, None)), (None, None));
    }
}
