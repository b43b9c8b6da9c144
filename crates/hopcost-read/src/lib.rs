#![forbid(unsafe_code)]
//! From a stored run to everything that is shown: estimates with their intervals,
//! findings, the ladder, remarks on the machine.
//!
//! Pure: no clock, no file, no randomness but the plan's stored seed, no platform
//! mathematics. The same raw run gives the same bits on every machine, and by every
//! version whose statistics are the same.
//!
//! What cannot have been measured is not [`believed`]. The way through, each stage a function of the ones before, none of which it changes:
//! [`run::Run`] looks at the run as a whole (host states, steal); [`trials`] is the table
//! of a case, a row a trial; [`case`] reads from it the estimates ([`estimate`]), curve and
//! modes ([`pooled`]), what is [`one_way`] or a [`stream`] and what was counted
//! ([`counters`]). Of these readings, [`ratio`], [`ranking`], [`prices`],
//! [`runtimes`] and [`published`] compare cases, paired by round, and [`mod@comparison`] those that were measured
//! in blocks; [`findings`] judges;
//! [`explain`] cuts traced round trips into segments; [`ladder`] and [`remarks`] arrange and explain. [`stored`] puts runs beside others, [`fleet`] hosts.

pub mod advice;
pub mod along;
mod believed;
mod case;
mod checkup;
mod command;
mod comparison;
mod counters;
mod estimate;
mod explain;
mod findings;
pub mod fleet;
mod format;
mod judge;
mod ladder;
mod levels;
mod one_way;
pub mod plausible;
mod pooled;
mod prices;
mod published;
mod ranking;
mod ratio;
mod remarks;
pub mod results;
mod run;
mod runtimes;
pub mod stored;
mod stream;
mod sums;
#[cfg(test)]
mod testing;
mod threads;
mod trial;
mod trials;
mod yardstick;

pub use checkup::checkup;
pub use published::Source as PublishedSource;

use std::collections::BTreeSet;

use hopcost_model::{Mechanism, Question, RawRun, RawTrial};

use advice::Advice;
use results::{AdviceRequest, CaseResult, Results};

/// What a look at a run under way finds.
#[derive(Debug, Clone)]
pub struct Look {
    /// The cases, by their place in the plan, that further rounds are for.
    pub wanted: BTreeSet<u32>,
    /// How many claims are decided, and how many there are.
    pub decided: Option<(usize, usize)>,
}

/// Looks at a run under way: of one that answers a question, the cases that the answer still needs
/// are wanted, of a comparison all until it is settled.
pub fn look(raw: &RawRun, rust: &[Mechanism]) -> Look {
    let all = || raw.plan.live().map(|(index, _)| index as u32).collect();
    let mut decided = None;
    let wanted = match &raw.plan.question {
        _ if raw.plan.comparison.is_some() && comparison::is_settled(raw) => BTreeSet::new(),
        Some(Question::Claims(_)) => {
            let judged = read(raw, rust).judged;
            decided = judged.as_ref().map(judge::decided);
            judged.map_or_else(all, |judged| judge::wanted(&raw.plan, &judged))
        }
        Some(Question::Explanation {}) | None => all(),
    };
    Look { wanted, decided }
}

/// Adds percentiles that are asked for, 0 to 100, to the cases of a run that was read.
pub fn add_percentiles(results: &mut Results, raw: &RawRun, rust: &[Mechanism], asked: &[f64]) {
    let raw = &*believed::believed(raw);
    let run = run::Run::new(raw, rust);
    for (index, result) in results.results.iter_mut().enumerate() {
        result.percentiles = case::percentiles(&run, index, result, asked).unwrap_or_default();
    }
}

/// Computes everything that is shown of a run. What the run's file says of Rust's
/// mechanisms counts; `rust` are those of this binary, for files that say nothing of them.
pub fn read(raw: &RawRun, rust: &[Mechanism]) -> Results {
    let raw = &*believed::believed(raw);
    let run = run::Run::new(raw, rust);
    let readings = case::read(&run);
    let run_wide = findings::of_run(&run, &readings);
    let mut ladder = match &raw.plan.comparison {
        // A ratio of neighbours says more than two medians.
        Some(_) => Vec::new(),
        None => ladder::ladder(&run, &readings),
    };
    ranking::rank(&mut ladder, &readings, raw.plan.baseline.as_deref());
    let multiples = ranking::multiples(&ladder);
    let drifts = findings::drifts(&readings);
    let explanation = explain::of_run(raw);
    let judged: Vec<_> = readings
        .iter()
        .map(|reading| findings::of_case(&run, reading, &run_wide, &drifts))
        .collect();
    let explained = explanation.iter().flat_map(|found| &found.cases);
    let traced: Vec<_> = explained.filter_map(findings::of_traced).collect();
    let of_cases = judged.iter().flat_map(|(found, _)| found);
    let findings = findings::all(run_wide, of_cases.chain(&traced).cloned());
    let published = published::tables(&readings);
    let plan = remarks::plan(&run);
    Results {
        about: raw.about.clone(),
        comparison: comparison::of_run(raw, plan.took_s),
        explanation,
        judged: judge::of_run(&run, &readings, &findings),
        plan,
        host: raw.host_before.clone(),
        disturbed: remarks::disturbed(&run.yardsticks.levels, &findings),
        remarks: remarks::remarks(&run, &readings),
        clocks: raw.clocks.clone(),
        yardsticks: run.yardsticks.levels.clone(),
        adjustments: run.yardsticks.adjustments.clone(),
        workers: runtimes::workers(raw),
        ladder,
        findings,
        published,
        knobs: prices::knobs(&readings),
        libraries: prices::libraries(&run, &readings),
        runtimes: runtimes::comparison(&run, &readings),
        results: (readings.into_iter().zip(judged))
            .map(|(reading, (findings, validity))| CaseResult {
                ratio: multiples.get(&reading.index).cloned(),
                findings,
                validity,
                ..reading.result
            })
            .collect(),
        command: command::of_run(&raw.about.argv, raw.plan.seed),
    }
}

/// The p50 or the cost of a trial by itself, as it was measured; `None` where it has none above zero.
pub fn value_ns(raw: &RawRun, trial: &RawTrial) -> Option<f64> {
    trial::headline_ns(raw.plan.case(trial.case)?, trial, raw.clock(trial)?)
}

/// What a run says to a request for advice; `rust` as for [`read`].
pub fn advice(raw: &RawRun, rust: &[Mechanism], request: &AdviceRequest) -> Advice {
    advice::of(&raw.plan, &read(raw, rust), rust, request)
}

#[cfg(test)]
mod tests {
    use hopcost_model::{CpuAccounting, Role};

    use crate::stored::{Asked, RunSummary, Side, of_runs};
    use crate::testing::{
        Builder, CALL, FUTEX, MECHANISMS, PIPE, PIPE_PYTHON, PIPE_TWO_CPUS, STREAM, STREAM_NO_ACK,
        WAKE, noisy, read, survive_nonsense, thread,
    };

    #[test]
    fn nonsense_in_a_file_is_read_and_compared_without_a_panic() {
        let varied = Builder::new()
            .host(&[("virt.hypervisor", "KVM"), ("cpu0.governor", "powersave")])
            .baseline(PIPE)
            .case(PIPE, 8, |round, t| t.each(&noisy(400, round)))
            .case(FUTEX, 8, |round, t| t.each(&noisy(400, round)))
            .case(CALL, 8, |_, t| t.two_lengths(1000, &[10_000, 12_000, 10_010, 12_000]))
            .case(WAKE, 8, |round, t| t.wake(&noisy(100, round), 1_000_000))
            .case(&format!("{WAKE}&idle-knob=spinner"), 8, |round, t| {
                t.wake(&noisy(100, round + 50), 1_000_000);
            })
            .case(STREAM, 8, |round, t| t.stream(1, 400, 2048, &noisy(400, round), 1_300_000))
            .case(STREAM_NO_ACK, 8, |_, t| t.stream(1, 400, 2048, &[], 1_000_000))
            .case(&format!("{PIPE}&runtime=python:rust"), 8, |round, t| {
                t.each(&noisy(400, round));
                t.raw.threads = vec![thread("python3", Some(Role::Caller), 900, 7)];
                t.raw.warm_up_ns = vec![9000.0, 3000.0, 3000.1, 3000.2];
            })
            .case(PIPE_PYTHON, 8, |round, t| t.each(&noisy(400, 2 * round)))
            .case(&PIPE_PYTHON.replace("64", "4096"), 8, |round, t| t.each(&noisy(400, round)))
            .case(PIPE_TWO_CPUS, 8, |round, t| t.each(&noisy(400, 3 * round)))
            .skipped("roundtrip/udp?payload=64&boundary=process&place=smt&wait=block", "no SMT");
        let mut raw = varied.build();
        raw.accounting = vec![CpuAccounting { round: 0, cpu: 0, wall_ns: 9, steal_ns: 0 }; 16];
        assert_eq!(read(&raw), read(&raw));
        let sound = [RunSummary::of(&raw, &MECHANISMS, None)];
        survive_nonsense(&raw, |raw| {
            read(raw);
            let broken = [RunSummary::of(raw, &MECHANISMS, None)];
            let asked = Asked { margin: 0.03, across: &[], geomean: false };
            let _ = of_runs(&broken, &[Side { name: "sound", runs: &sound }], &asked);
        });
    }
}
