//! What a search for a crossing looks through, in words.

use hopcost_model::plan::CrossoverPlan;

use crate::section::crossover::value_of;

/// What is searched: `payload from 64 B to 1 MiB, of whose 57 values 8 come first`.
pub fn searched(plan: &CrossoverPlan) -> String {
    let end = |at: Option<&u64>| at.map_or(String::new(), |at| value_of(&plan.axis, *at));
    format!(
        "{} from {} to {}, of whose {} values {} come first",
        plan.axis,
        end(plan.values.first()),
        end(plan.values.last()),
        plan.values.len(),
        plan.coarse.len()
    )
}
