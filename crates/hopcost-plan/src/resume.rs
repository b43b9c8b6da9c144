//! Whether what is left of a stored plan can be measured here: a file may be edited, and a limit
//! of the machine may have changed since.

use std::ops::RangeInclusive;

use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;

use crate::catalog::Catalog;
use crate::error::plain;
use crate::feasible::Feasible;
use crate::machine::{Cpus, Machine};
use crate::time::{COUNTED_MAX, MEASURE_MAX_NS, OPERATIONS_MAX, ROUNDS_MAX, TRACED_MAX};

/// Refuses a plan that [`crate::plan`] would not have made. `machine` is that of the plan's
/// CPUs; the others are as for [`crate::plan`].
///
/// # Errors
/// The first thing that stands against it, without an end of the sentence.
pub fn check_resumed(
    plan: &Plan,
    rust: Vec<Mechanism>,
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<(), String> {
    if plan.comparison.is_some() {
        // Nor may a file say what is executed.
        return Err("a comparison is made in one sitting".to_owned());
    }
    let shape = &plan.trial;
    let numbers: [(&str, u64, RangeInclusive<u64>); 7] = [
        ("rounds", plan.rounds.into(), 1..=ROUNDS_MAX.into()),
        ("measure_ns", shape.measure_ns, 1..=MEASURE_MAX_NS),
        ("operations", shape.operations.unwrap_or(1), 1..=OPERATIONS_MAX),
        ("warm_up_operations", shape.warm_up_operations.unwrap_or(0), 0..=OPERATIONS_MAX),
        ("counted_operations", shape.counted_operations, 0..=COUNTED_MAX),
        ("traced_operations", shape.traced_operations.unwrap_or(1), 1..=TRACED_MAX),
        ("samples_max", shape.samples_max.into(), 1..=1 << 20),
    ];
    if let Some((key, value, range)) =
        numbers.into_iter().find(|(_, value, range)| !range.contains(value))
    {
        let (least, most) = range.into_inner();
        return Err(format!("its plan has {key} {value}, which is not from {least} to {most}"));
    }
    let mut used = plan.local_cpus().into_iter();
    if let Some(cpu) = used.find(|cpu| !machine.allowed_cpus.contains(cpu)) {
        return Err(format!("its plan uses CPU {cpu}, which this process may not use"));
    }
    let mut machine = machine.clone();
    machine.pairs.extend(&plan.pairs);
    let cpus = Cpus::resolve(&machine, &[]).map_err(|error| error.to_string())?;
    let (catalog, feasible) = (Catalog::new(rust, runtimes), Feasible::new(cpus, &machine));
    for (_, planned) in plan.live() {
        let case = planned.case.as_ref().map_err(|unknown| {
            format!("its plan has the case {}: {}", plain(&unknown.id), plain(&unknown.to_string()))
        })?;
        if let Some(reason) = feasible.reason_against(case, &catalog) {
            return Err(format!("{case}: {reason}"));
        }
    }
    Ok(())
}
