//! The quantities of cases that checks are about, a value a round.

use std::collections::BTreeMap;

use hopcost_model::case::Case;
use hopcost_model::raw::RawTrial;
use hopcost_plan::Quantity;

use crate::case::{Reading, Status};
use crate::run::Run;
use crate::sums::{handled, lost, messages, per};
use crate::trials::PerTrial;
use crate::{counters, stream};

/// A value for each round in which the case was measured; empty where it was not yet.
///
/// # Errors
/// In a sentence, why there never will be one.
pub fn by_round(
    run: &Run,
    reading: &Reading,
    quantity: &Quantity,
) -> Result<BTreeMap<u32, f64>, String> {
    let result = &reading.result;
    if result.status == Status::Failed {
        return Err(result.reason.clone().unwrap_or_else(|| "every trial failed".to_owned()));
    }
    let case = reading.case;
    let skip = run.raw.plan.cases.get(reading.index as usize).and_then(|case| case.skip.clone());
    if let Some(reason) = skip {
        return Err(reason);
    }
    let mut why = None;
    let mut found = BTreeMap::new();
    for (trial, own) in reading.trials.iter().zip(&reading.per_trial) {
        match of_trial(reading, case, trial, own, quantity) {
            Ok(value) if value.is_finite() => drop(found.insert(own.round, value)),
            Ok(_) => {}
            Err(reason) => why = Some(reason),
        }
    }
    match why.filter(|_| found.is_empty()) {
        Some(why) => Err(why),
        None if *quantity == Quantity::BetweenRuns => Ok(between(&found)),
        None => Ok(found),
    }
}

/// By what share each value differs from the one before.
fn between(found: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    let pairs = found.iter().zip(found.iter().skip(1));
    let by = |((_, a), (round, b)): ((&u32, &f64), (&u32, &f64))| (*round, (b / a - 1.0).abs());
    pairs.map(by).filter(|(_, by)| by.is_finite()).collect()
}

fn of_trial(
    reading: &Reading,
    case: &Case,
    trial: &RawTrial,
    own: &PerTrial,
    quantity: &Quantity,
) -> Result<f64, String> {
    let because = |why: &str| format!("{why} in {}", case.id());
    let switches = || crate::sums::switches(trial, crate::sums::Whose::All) as f64;
    match quantity {
        Quantity::Headline | Quantity::BetweenRuns => Ok(own.value_ns),
        Quantity::Statistic(statistic) => own.get(*statistic).ok_or_else(|| {
            because(&format!("no trial has enough samples for a {}", statistic.label()))
        }),
        Quantity::Ticks => {
            let ticks_per_ns = reading.ticks_per_ns();
            let factor = ticks_per_ns.ok_or_else(|| because("the clock's ticks are not known"))?;
            Ok(own.value_ns * factor)
        }
        Quantity::Cpu => {
            let cpu_ns = trial.cpu_ns as f64 / own.slower;
            let per_message = per(cpu_ns, handled(case, trial) * messages(case.workload));
            per_message.ok_or_else(|| because("there is no message"))
        }
        Quantity::Switches => {
            per(switches(), handled(case, trial)).ok_or_else(|| because("there is no operation"))
        }
        Quantity::Event(event) => counters::of_trial(case, trial, event)
            .map_err(|why| format!("{event} could not be counted: {why}")),
        Quantity::Throughput => {
            let rates = own.rates.as_ref().map(|rates| rates.aggregate_gbps * own.slower);
            rates.ok_or_else(|| because("only a stream has a throughput, which is unknown"))
        }
        Quantity::CopiedShare => {
            let share = stream::copied_share(&[trial]);
            share.ok_or_else(|| because("no send was to be without a copy"))
        }
        Quantity::Finding(code, _) => Err(format!("{code} is a finding of a case, not of a trial")),
        Quantity::LostShare => {
            let all = trial.operations.saturating_add(lost(trial)) as f64;
            per(lost(trial) as f64, all).ok_or_else(|| because("there is no operation"))
        }
    }
}
