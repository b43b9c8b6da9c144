//! A mechanism that is asked for in several runtimes.

use hopcost_model::case::{Case, Runtimes, Workload};
use hopcost_model::mechanism::Facts;

use crate::axes::Axes;
use crate::expand::Wanted;
use crate::feasible::Feasible;
use crate::known::Known;
use crate::pattern::Target;

impl Wanted {
    /// The mechanism in each of the runtimes that are asked for, with the facts that
    /// hold there. A name is asked for in every one of them, whoever has it; a glob
    /// selects what there is.
    pub fn spread(&self, axes: &Axes, known: &Known) -> Result<Vec<Wanted>, String> {
        let default = [self.target.runtimes.clone()];
        if let Some(said) = &axes.runtime {
            known.check(said)?;
        }
        let ends = axes.runtime.as_deref().unwrap_or(&default).iter();
        Ok(ends.filter_map(|ends| self.of_runtimes(ends, axes, known)).collect())
    }

    fn of_runtimes(&self, ends: &Runtimes, axes: &Axes, known: &Known) -> Option<Wanted> {
        let name = self.target.name();
        let own = known.facts_for(ends, name);
        // What nobody here has may take any key: its case is spelled as it was said.
        let rust = || known.facts_in(&hopcost_model::case::Runtime::RUST, name);
        let somebody = || rust().or_else(|| known.representative(name, None));
        let facts = own.or_else(somebody).unwrap_or_else(|| known.supposed(name, axes));
        let caller = known.facts_of_caller(ends, name);
        let callee = known.facts_of_callee(ends, name);
        if !self.target.named && !selected(self.workload, ends, facts, [caller, callee], known) {
            return None;
        }
        let target = Target {
            facts,
            runtimes: ends.clone(),
            ends: [caller.unwrap_or(facts), callee.unwrap_or(facts)],
            ..self.target.clone()
        };
        Some(Wanted { target, workload: self.workload })
    }
}

/// Whether a glob selects a mechanism for these runtimes: either end has something
/// to play, or is absent.
fn selected(
    workload: Workload,
    ends: &Runtimes,
    facts: &Facts,
    parts: [Option<&Facts>; 2],
    known: &Known,
) -> bool {
    let runtimes = [&ends.caller, &ends.callee];
    let mut played =
        runtimes.into_iter().zip(parts).map(|(runtime, part)| (known.absent(runtime), part));
    let call = workload == Workload::Call && ends.are_mixed();
    !call
        && facts.workloads.contains(&workload)
        && played.all(|(absent, part)| absent.is_some() || part.is_some())
}

/// The cases of a mechanism in several runtimes, so that those that differ in
/// nothing but the runtime stand side by side.
pub(crate) fn side_by_side(spread: &[Wanted], axes: &Axes, feasible: &Feasible) -> Vec<Case> {
    let lists: Vec<Vec<Case>> = spread.iter().map(|wanted| wanted.cases(axes, feasible)).collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}
