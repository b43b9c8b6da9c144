//! Findings about the host and the build, for the whole run.

use hopcost_model::{Code, Finding, Host, Severity};

use super::make::{finding, suspect_if};
use crate::format;
use crate::run::{Run, Steal};

/// Share of the run stolen from a used CPU from which on it is noted.
const STEAL_NOTE: f64 = 0.001;
/// The share from which on tails are suspect.
const STEAL_SUSPECT: f64 = 0.01;
/// Less than this is within the coarseness of the kernel's accounting (three
/// ticks of 10 ms) and never makes a run suspect.
const STEAL_SUSPECT_NS: u64 = 30_000_000;
/// Clock sources that are the processor's own counter.
const OWN_COUNTERS: [&str; 2] = ["tsc", "arch_sys_counter"];
/// A `clock_gettime` that takes longer goes through a system call.
const CLOCK_GETTIME_MAX_NS: f64 = 150.0;

/// All of them.
pub fn findings(run: &Run) -> Vec<Finding> {
    let mut rules = vec![build_slow as fn(&Run) -> Option<Finding>];
    // A test engine's made-up time knows no other programs.
    if !run.is_virtual() {
        rules.extend([clocksource, far_clocksource, steal, traced, two_hopcosts]);
    }
    rules.iter().filter_map(|rule| rule(run)).chain(distance_moved(run)).collect()
}

fn build_slow(run: &Run) -> Option<Finding> {
    let slow = &run.raw.about.build.slow;
    (!slow.is_empty()).then(|| {
        let evidence = format!("The build is slow: {}.", slow.join("; "));
        finding(Code::BuildSlow, Severity::Invalid, evidence, &[("reasons", slow.len() as f64)])
    })
}

/// The far host's: its stamps say how long its ends took, and what streams carry.
fn far_clocksource(run: &Run) -> Option<Finding> {
    let name = run.raw.host_before.get("peer.clocksource.current")?;
    (!OWN_COUNTERS.contains(&name)).then(|| {
        let evidence = format!("The far host's clock source is `{name}`.");
        finding(Code::Clocksource, Severity::Suspect, evidence, &[])
    })
}

fn clocksource(run: &Run) -> Option<Finding> {
    let current = run.raw.host_before.get("clocksource.current");
    let gettime_ns =
        run.raw.clocks.iter().map(|clock| clock.clock_gettime_p50_ns).max_by(f64::total_cmp);
    let foreign = current.filter(|name| !OWN_COUNTERS.contains(name));
    let slow = gettime_ns.filter(|ns| *ns > CLOCK_GETTIME_MAX_NS);
    let evidence = match (foreign, slow) {
        (None, None) => return None,
        (Some(name), None) => format!("The kernel's clock source is `{name}`."),
        (foreign, Some(ns)) => format!(
            "The kernel's clock source is `{}`, and reading it takes {}.",
            foreign.or(current).unwrap_or("not known"),
            format::ns(ns)
        ),
    };
    let values: Vec<_> = gettime_ns.map(|ns| ("clock_gettime_p50_ns", ns)).into_iter().collect();
    Some(finding(Code::Clocksource, Severity::Suspect, evidence, &values))
}

/// A seccomp filter is a remark: containers have one.
fn traced(run: &Run) -> Option<Finding> {
    let told = |key| run.raw.host_before.get(key).filter(|value| *value != "none");
    let tracer = told("security.tracer").map(|name| format!("traced by {name}"));
    let preload = told("security.preload").map(|names| format!("with libraries loaded ({names})"));
    let how: Vec<String> = tracer.into_iter().chain(preload).collect();
    (!how.is_empty()).then(|| {
        let evidence = format!("hopcost ran {}.", how.join(" and "));
        finding(Code::Traced, Severity::Suspect, evidence, &[])
    })
}

/// Counted when the run began and when it ended.
fn two_hopcosts(run: &Run) -> Option<Finding> {
    let seen = |host: &Host| host.get("load.hopcost_runs")?.parse::<u32>().ok();
    let before = seen(&run.raw.host_before).unwrap_or(0);
    let after = run.raw.host_after.as_ref().and_then(seen).unwrap_or(0);
    (before.max(after) > 0).then(|| {
        let evidence = format!(
            "{} of this user ran beside it: {before} when it began, {after} when it ended.",
            format::count(before.max(after) as usize, "other run"),
        );
        let values = [("runs_before", f64::from(before)), ("runs_after", f64::from(after))];
        finding(Code::TwoHopcosts, Severity::Suspect, evidence, &values)
    })
}

/// Judged by the CPU that lost most.
fn steal(run: &Run) -> Option<Finding> {
    let most = |a: &(&u32, &Steal), b: &(&u32, &Steal)| a.1.share().total_cmp(&b.1.share());
    let (cpu, worst) = run.steal.iter().max_by(most)?;
    if worst.share() <= STEAL_NOTE {
        return None;
    }
    let suspect = worst.share() > STEAL_SUSPECT && worst.stolen_ns >= STEAL_SUSPECT_NS;
    let evidence = format!(
        "{} of the run was stolen from CPU {cpu} ({} of {}).",
        format::percent(worst.share()),
        format::ns(worst.stolen_ns as f64),
        format::ns(worst.wall_ns as f64)
    );
    let values = [("share", worst.share()), ("stolen_ns", worst.stolen_ns as f64)];
    Some(finding(Code::Steal, suspect_if(suspect), evidence, &values))
}

/// The pairs of CPUs whose distance moved.
fn distance_moved(run: &Run) -> impl Iterator<Item = Finding> {
    run.yardsticks.moved.iter().map(|moved| {
        let cpus: Vec<String> = moved.cpus.iter().map(u32::to_string).collect();
        let ([most, others], [of_most, of_others, changed]) = (moved.ns, moved.trials);
        let evidence = format!(
            "A cache line between CPUs {} took <most_ns ns> beside {of_most} trials and <others_ns ns> \
             beside {of_others}, and changed beside {changed}: spinning cases across CPUs show the \
             former.",
            cpus.join(" and ")
        );
        let values = [("most_ns", most), ("others_ns", others), ("trials", of_most as f64)];
        finding(Code::DistanceMoved, Severity::Suspect, evidence, &values)
    })
}

#[cfg(test)]
mod tests {
    use crate::results::Results;
    use hopcost_model::{Code, CpuAccounting, RawRun, Severity, Validity};

    use crate::testing::{Builder, CALL, PIPE, clock, expect, host, note, read, suspect};

    fn changed(change: fn(&mut RawRun)) -> Results {
        let mut raw = Builder::new()
            .host(&[("clocksource.current", "tsc")])
            .case(PIPE, 8, |_, t| t.each(&[3000; 100]))
            .case(CALL, 8, |_, t| t.batch(10, &[1000; 50]))
            .build();
        change(&mut raw);
        read(&raw)
    }

    fn stolen(raw: &mut RawRun, steal_ns: u64, wall_ns: u64) {
        let row = CpuAccounting { round: 0, cpu: 1, wall_ns, steal_ns };
        raw.accounting = vec![row, CpuAccounting { cpu: 0, steal_ns: 0, ..row }];
    }

    fn other_runs(raw: &mut RawRun, before: &str, after: Option<&str>) {
        let at = |runs| host(&[("load.hopcost_runs", runs)]);
        (raw.host_before, raw.host_after) = (at(before), after.map(at));
    }

    fn on(raw: &mut RawRun, readings: &[(&str, &str)]) {
        raw.host_before = host(readings);
    }

    #[test]
    fn what_concerns_every_case_is_said_once_with_its_evidence() {
        type Row = (Code, fn(&mut RawRun), Option<(Severity, &'static str)>);
        use Code::{Clocksource, Steal, Traced, TwoHopcosts};
        let gdb = "gdb (pid 7) and with libraries loaded (LD_PRELOAD=/a.so).";
        let began = "1 other run of this user ran beside it: 1 when it began, 0 when it ended.";
        let ended = "2 other runs of this user ran beside it: 0 when it began, 2 when it ended.";
        const BOTH: [(&str, &str); 2] =
            [("security.tracer", "gdb (pid 7)"), ("security.preload", "LD_PRELOAD=/a.so")];
        let rows: [Row; 16] = [
            (Clocksource, |raw| on(raw, &[("clocksource.current", "hpet")]), suspect("`hpet`")),
            (Clocksource, |raw| on(raw, &[("clocksource.current", "arch_sys_counter")]), None),
            (Clocksource, |raw| raw.clocks[0].clock_gettime_p50_ns = 700.0, suspect("700 ns")),
            (Clocksource, |raw| raw.clocks = vec![clock(0, 1e9)], None),
            (
                Clocksource,
                |raw| {
                    on(raw, &[("clocksource.current", "hpet")]);
                    raw.clocks[0].source = "virtual".into();
                },
                None,
            ),
            (Steal, |raw| stolen(raw, 10_000_000, 20_000_000_000), None),
            (Steal, |raw| stolen(raw, 100_000_000, 20_000_000_000), note("0.50 %")),
            (Steal, |raw| stolen(raw, 600_000_000, 20_000_000_000), suspect("from CPU 1")),
            // One tick is coarse.
            (Steal, |raw| stolen(raw, 10_000_000, 500_000_000), note("2.0 %")),
            (Traced, |raw| on(raw, &[("security.tracer", "none")]), None),
            (Traced, |raw| on(raw, &[("security.preload", "none")]), None),
            (Traced, |raw| on(raw, &[("security.tracer", "strace")]), suspect("by strace.")),
            (Traced, |raw| on(raw, &BOTH), suspect(gdb)),
            (TwoHopcosts, |raw| other_runs(raw, "0", Some("0")), None),
            (TwoHopcosts, |raw| other_runs(raw, "1", None), suspect(began)),
            (TwoHopcosts, |raw| other_runs(raw, "0", Some("2")), suspect(ended)),
        ];
        for (code, change, expected) in rows {
            let results = changed(change);
            expect(&results, code, expected);
            let is_valid = |validity| validity == Some(Validity::Valid);
            assert!(results.results.iter().all(|case| is_valid(case.validity)), "{code}");
        }
        assert_eq!(changed(|_| ()).findings, [], "a plain run");
        let slow = changed(|raw| raw.about.build.slow.push("debug assertions".into()));
        expect(&slow, Code::BuildSlow, Some((Severity::Invalid, "debug assertions")));
        assert!(slow.results.iter().all(|case| case.validity == Some(Validity::Invalid)));
    }
}
