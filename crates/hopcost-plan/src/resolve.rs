//! From [`Ask`] to [`Plan`].

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::{Case, Placement, Runtimes, Workload};
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Facts;
use hopcost_model::plan::{Plan, PlannedCase};

use crate::Ask;
use crate::axes::Axes;
use crate::chosen::{suite_of, time_of};
use crate::error::{Origin, PlanError, quote};
use crate::expand::{CASES_MAX, Wanted, inapplicable};
use crate::feasible::Feasible;
use crate::known::Known;
use crate::machine::{Cpus, Machine, is_two_cpu};
use crate::pattern::{self, Pattern, Target};
use crate::request::{Request, option_of};
use crate::selector::Selector;
use crate::shape::live_cases;
use crate::spread::side_by_side;
use crate::suite::{Entry, Suite};

/// Resolves what was asked for. Everything wrong with the question is an error;
/// everything that this machine cannot do is a case with a reason.
///
/// `mechanisms` are Rust's. `runtimes` looks for the others; it is called at most
/// once, and only if another runtime, or a mechanism that Rust has not, is named.
pub fn plan(
    ask: &Ask,
    mechanisms: &[&'static Facts],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let request = Request::parse(ask)?;
    let suite = suite_of(ask, &request)?;
    let cpus = Cpus::resolve(machine, &ask.cpus)?;
    let known = Known::new(mechanisms, runtimes);
    if let Some(said) = &request.options.runtime {
        known.check(said).map_err(|message| Origin::option("--runtime").error(message))?;
    }
    let planner = Planner { known, feasible: Feasible::new(cpus, machine) };

    let (cases, added) = match &suite {
        None => (planner.of_selectors(&request)?, false),
        Some(suite) => {
            let own = planner.suite_alone(suite)?;
            if request.is_plain() {
                (own, false)
            } else {
                let cases = planner.over_suite(suite, &request)?;
                let added = cases.len() > own.len();
                (cases, added)
            }
        }
    };
    let time = time_of(ask, suite.as_ref(), added)?;
    let (rounds, trial) = time.settle(&live_cases(&cases));
    if ask.operations.is_some() && !cases.iter().filter_map(PlannedCase::known).any(has_two_ends) {
        let message = "a call takes as many as fit its time; leave it out or ask for another case";
        return Err(Origin::option("--operations").error(message));
    }
    let baseline = planner.baseline(ask, suite.as_ref(), &request, &cases)?;
    let used = planner.cpus_used(&cases);
    Ok(Plan {
        suite: suite.map_or_else(|| "command line".to_owned(), |suite| suite.name),
        seed: ask.seed,
        rounds,
        budget_ns: time.budget_ns,
        trial,
        baseline,
        cpus: used.cpus,
        relation: used.relation,
        pairs: used.pairs,
        cases,
    })
}

fn has_two_ends(case: &Case) -> bool {
    case.workload != Workload::Call
}

/// Cases in the order asked for, each once, up to the limit.
#[derive(Default)]
struct Cases {
    cases: Vec<PlannedCase>,
    seen: BTreeSet<Case>,
    asked: u64,
}

struct Planner<'a> {
    known: Known<'a>,
    feasible: Feasible,
}

struct CpusUsed {
    cpus: Vec<u32>,
    relation: Option<Placement>,
    pairs: BTreeMap<Placement, (u32, u32)>,
}

impl Planner<'_> {
    /// What a selector selects, of the runtimes that are said in all.
    fn wanted(
        &self,
        selector: &Selector,
        workloads: Option<&[Workload]>,
        runtimes: Option<&[Runtimes]>,
        origin: &Origin,
    ) -> Result<Vec<Wanted>, PlanError> {
        self.known.check(runtimes.unwrap_or_default()).map_err(|message| origin.error(message))?;
        let workloads = selector.workloads.as_deref().or(workloads);
        let mut wanted = Vec::new();
        for pattern in &selector.mechanisms {
            let targets =
                pattern.targets(&self.known, runtimes).map_err(|message| origin.error(message))?;
            let every = selector.every_workload;
            wanted.extend(targets.iter().flat_map(|t| Wanted::of(t, workloads, every)));
        }
        if wanted.is_empty() {
            let words: Vec<&str> = workloads.iter().copied().flatten().map(|w| w.word()).collect();
            let message = format!("no such mechanism has the workload {}", words.join(" or "));
            return Err(origin.error(message));
        }
        Ok(wanted)
    }

    /// Adds what is wanted, in every runtime asked for, and says what that was.
    fn add(
        &self,
        cases: &mut Cases,
        wanted: &Wanted,
        axes: &Axes,
        origin: &Origin,
    ) -> Result<Vec<Wanted>, PlanError> {
        let spread = wanted.spread(axes, &self.known).map_err(|message| origin.error(message))?;
        // A value that none of the runtimes takes is a slip; one that some take is
        // a row with a reason for the others.
        let bad: Vec<_> = spread.iter().filter_map(|wanted| wanted.bad_parameter(axes)).collect();
        if let (true, Some((_, message))) = (bad.len() == spread.len(), bad.first()) {
            return Err(origin.error(message));
        }
        if let Some(message) = spread.iter().find_map(|wanted| wanted.bad_message(axes)) {
            return Err(origin.error(message));
        }
        for wanted in &spread {
            cases.asked = cases.asked.saturating_add(wanted.count(axes, &self.feasible));
        }
        if cases.asked > CASES_MAX {
            return Err(origin.error(format!(
                "this makes {} cases or more; a plan has at most {CASES_MAX}, so shorten a list",
                cases.asked
            )));
        }
        for case in side_by_side(&spread, axes, &self.feasible) {
            if cases.seen.insert(case.clone()) {
                let skip = self.feasible.reason_against(&case, &self.known);
                cases.cases.push(PlannedCase { case: Ok(case), skip });
            }
        }
        Ok(spread)
    }

    /// Refuses keys of a layer that mean nothing to any case they were said of.
    fn check_keys(
        &self,
        layer: &Axes,
        effective: &[(&Wanted, &Axes)],
        origin: impl Fn(&str) -> Origin,
    ) -> Result<(), PlanError> {
        let mean: BTreeSet<&str> =
            effective.iter().flat_map(|(wanted, axes)| wanted.applicable(axes)).collect();
        match layer.keys().into_iter().find(|key| !mean.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let wanted: Vec<Wanted> = effective.iter().map(|(w, _)| (*w).clone()).collect();
                Err(origin(key).error(inapplicable(key, &wanted, &self.known)))
            }
        }
    }

    fn of_selectors(&self, request: &Request) -> Result<Vec<PlannedCase>, PlanError> {
        let mut entries = request.selectors.clone();
        if entries.is_empty() {
            for (pattern, origin) in self.mechanism_patterns(request)? {
                let mechanisms = vec![pattern];
                let selector = Selector::of(None, mechanisms, Axes::default());
                let group = entries.len();
                entries.push(Entry { selector, origin, group });
            }
        }
        let mut cases = Cases::default();
        let mut all: Vec<(Wanted, Axes)> = Vec::new();
        for entry in &entries {
            let axes = entry.selector.axes.over(&request.options);
            let workloads = request.workloads.as_deref();
            let runtimes = axes.runtime.as_deref();
            let wanted = self.wanted(&entry.selector, workloads, runtimes, &entry.origin)?;
            let mut spread = Vec::new();
            for wanted in &wanted {
                let all = wanted.spread(&axes, &self.known);
                spread.extend(all.map_err(|message| entry.origin.error(message))?);
            }
            let pairs: Vec<(&Wanted, &Axes)> = spread.iter().map(|w| (w, &axes)).collect();
            self.check_keys(&entry.selector.axes, &pairs, |_| entry.origin.clone())?;
            for wanted in wanted.iter().filter(|wanted| request.admits(wanted)) {
                let added = self.add(&mut cases, wanted, &axes, &entry.origin)?;
                all.extend(added.into_iter().map(|wanted| (wanted, axes.clone())));
            }
        }
        self.finish(request, cases, &all, "the selectors")
    }

    /// `--mechanism`, or every mechanism.
    fn mechanism_patterns(&self, request: &Request) -> Result<Vec<(Pattern, Origin)>, PlanError> {
        if !request.mechanisms.is_empty() {
            return Ok(request.mechanisms.clone());
        }
        let origin = Origin::option("all mechanisms");
        let every = pattern::parse("*").map_err(|message| origin.error(message))?;
        Ok(every.into_iter().map(|pattern| (pattern, origin.clone())).collect())
    }

    /// The suite as written; finds every mistake in it whatever is chosen of it.
    fn suite_alone(&self, suite: &Suite) -> Result<Vec<PlannedCase>, PlanError> {
        let mut cases = Cases::default();
        for group in suite.entries.chunk_by(|a, b| a.group == b.group) {
            let mut mean = BTreeSet::new();
            for entry in group {
                let axes = &entry.selector.axes;
                let runtimes = axes.runtime.as_deref();
                for wanted in self.wanted(&entry.selector, None, runtimes, &entry.origin)? {
                    for added in self.add(&mut cases, &wanted, axes, &entry.origin)? {
                        mean.extend(added.applicable(axes));
                    }
                }
            }
            for entry in group {
                let without = |key: &&str| !mean.contains(key);
                if let Some(key) = entry.selector.axes.keys().into_iter().find(without) {
                    let runtimes = entry.selector.axes.runtime.as_deref();
                    let wanted = self.wanted(&entry.selector, None, runtimes, &entry.origin)?;
                    return Err(entry.origin.error(inapplicable(key, &wanted, &self.known)));
                }
            }
        }
        Ok(cases.cases)
    }

    /// The suite with the command line laid over it.
    fn over_suite(&self, suite: &Suite, request: &Request) -> Result<Vec<PlannedCase>, PlanError> {
        let mut cases = Cases::default();
        let mut all: Vec<(Wanted, Axes)> = Vec::new();
        let mut by_selector: Vec<Vec<(Wanted, Axes)>> = vec![Vec::new(); request.selectors.len()];
        for entry in &suite.entries {
            let axes = request.options.over(&entry.selector.axes);
            let runtimes = axes.runtime.as_deref();
            let wanted = self.wanted(&entry.selector, None, runtimes, &entry.origin)?;
            for wanted in wanted.iter().filter(|wanted| request.admits(wanted)) {
                if request.selectors.is_empty() {
                    let added = self.add(&mut cases, wanted, &axes, &entry.origin)?;
                    all.extend(added.into_iter().map(|wanted| (wanted, axes.clone())));
                }
                for (chosen, by_selector) in request.selectors.iter().zip(&mut by_selector) {
                    if chosen.selector.chooses(wanted) {
                        let axes = chosen.selector.axes.over(&axes);
                        for added in self.add(&mut cases, wanted, &axes, &chosen.origin)? {
                            by_selector.push((added.clone(), axes.clone()));
                            all.push((added, axes.clone()));
                        }
                    }
                }
            }
        }
        for (chosen, matched) in request.selectors.iter().zip(&by_selector) {
            if matched.is_empty() {
                let runtimes = chosen.selector.axes.runtime.as_deref();
                self.wanted(&chosen.selector, None, runtimes, &chosen.origin)?;
                return Err(chosen.origin.error(format!(
                    "the suite `{}` has no such case; leave the suite out to measure it anyway",
                    suite.name
                )));
            }
            let pairs: Vec<(&Wanted, &Axes)> = matched.iter().map(|(w, a)| (w, a)).collect();
            self.check_keys(&chosen.selector.axes, &pairs, |_| chosen.origin.clone())?;
        }
        self.finish(request, cases, &all, &format!("the suite `{}`", suite.name))
    }

    /// Checks that every option of the command line had its effect.
    fn finish(
        &self,
        request: &Request,
        cases: Cases,
        all: &[(Wanted, Axes)],
        whole: &str,
    ) -> Result<Vec<PlannedCase>, PlanError> {
        for (pattern, origin) in &request.mechanisms {
            let runtimes = request.options.runtime.as_deref();
            pattern.targets(&self.known, runtimes).map_err(|message| origin.error(message))?;
            if !all.iter().any(|(wanted, _)| pattern.matches(&wanted.target)) {
                let text = quote(pattern.text());
                return Err(origin.error(format!("{whole} has no case of {text} left")));
            }
        }
        if all.is_empty() {
            return Err(Origin::option("--workload").error(format!("{whole} has no such case")));
        }
        let pairs: Vec<(&Wanted, &Axes)> = all.iter().map(|(w, a)| (w, a)).collect();
        self.check_keys(&request.options, &pairs, |key| Origin::option(&option_of(key)))?;
        Ok(cases.cases)
    }

    /// The id of the first measured case that the baseline selects. A suite's
    /// baseline may be missing here or not be chosen; one that was asked for on
    /// the command line may not.
    fn baseline(
        &self,
        ask: &Ask,
        suite: Option<&Suite>,
        request: &Request,
        cases: &[PlannedCase],
    ) -> Result<Option<String>, PlanError> {
        let (selector, origin, must) = match (&ask.baseline, suite) {
            (Some(text), _) => {
                let origin = Origin::option("--baseline");
                let selector = Selector::parse(text).map_err(|message| origin.error(message))?;
                (selector, origin, true)
            }
            (None, Some(Suite { baseline: Some((selector, origin)), .. })) => {
                (selector.clone(), origin.clone(), false)
            }
            _ => return Ok(None),
        };
        self.wanted(&selector, None, selector.axes.runtime.as_deref(), &origin)?;
        let of_plan = cases.iter().filter_map(|planned| Some((planned.known()?, &planned.skip)));
        let mut matching: Vec<(&Case, &Option<String>)> =
            of_plan.filter(|(case, _)| self.selects(&selector, case)).collect();
        if selector.axes.runtime.is_none() {
            matching.sort_by_key(|(case, _)| !case.runtimes.are_rust());
        }
        let live = matching.iter().find(|(_, skip)| skip.is_none());
        match (live, matching.first()) {
            (Some((case, _)), _) => Ok(Some(case.id())),
            (None, Some((case, skip))) if must => {
                let reason = skip.as_deref().unwrap_or("skipped");
                Err(origin.error(format!("{case} is not measured here: {reason}")))
            }
            (None, None) if must || request.is_plain() => {
                Err(origin.error("no case of the plan is selected by it"))
            }
            _ => Ok(None),
        }
    }

    fn selects(&self, selector: &Selector, case: &Case) -> bool {
        let facts = self.known.facts_for(&case.runtimes, case.mechanism_name());
        let Some(facts) = facts else { return false };
        let target = Target::new(facts, &case.mechanism, false, case.runtimes.clone());
        selector.chooses(&Wanted { target, workload: case.workload })
            && selector.axes.admit(case, |place| self.feasible.cpus.precise(place))
    }

    /// The CPUs that the live cases use.
    fn cpus_used(&self, cases: &[PlannedCase]) -> CpusUsed {
        let cpus = &self.feasible.cpus;
        let live = cases.iter().filter(|case| case.skip.is_none());
        let used: Vec<Placement> = live
            .filter_map(|planned| planned.known()?.placement)
            .filter(|placement| is_two_cpu(*placement))
            .collect();
        let pairs: BTreeMap<Placement, (u32, u32)> =
            used.iter().filter_map(|p| Some((*p, *cpus.pairs.get(p)?))).collect();
        let cross = cpus.precise(crate::axes::Place::Cross);
        let relation = if used.contains(&cross) { Some(cross) } else { used.first().copied() };
        let mut all = match relation.and_then(|relation| pairs.get(&relation)) {
            Some(&(caller, callee)) => vec![caller, callee],
            None => vec![cpus.first],
        };
        for cpu in pairs.values().flat_map(|&(a, b)| [a, b]) {
            if !all.contains(&cpu) {
                all.push(cpu);
            }
        }
        CpusUsed { cpus: all, relation, pairs }
    }
}
