//! From [`Ask`] to [`Plan`].

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::axis::Value;
use hopcost_model::case::{Case, Placement, Runtimes, Workload};
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::group::distinct;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{Plan, PlannedCase};

use crate::ask::{Ask, SuiteSource};
use crate::asked::Asked;
use crate::catalog::Catalog;
use crate::error::{Origin, PlanError, quote, unknown};
use crate::expand::inapplicable;
use crate::feasible::Feasible;
use crate::machine::{Cpus, Machine};
use crate::request::{Request, option_of};
use crate::select::{CASES_MAX, Pattern, Selector, too_many};
use crate::selection::{Selection, side_by_side};
use crate::shipped::SHIPPED;
use crate::suite::{Entry, Suite, parse_suite};
use crate::time::Time;

/// Resolves what was asked for. Everything wrong with the question is an error;
/// everything that this machine cannot do is a case with a reason.
///
/// `rust` are Rust's mechanisms. `runtimes` looks for the others; it is called at most
/// once, and only if another runtime, or a mechanism that Rust has not, is named.
pub fn plan(
    ask: &Ask,
    rust: Vec<Mechanism>,
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let request = Request::parse(ask)?;
    let suite = suite_of(ask, &request)?;
    let cpus = Cpus::resolve(machine, &ask.cpus)?;
    let catalog = Catalog::new(rust, runtimes);
    if let Some(said) = &request.options.runtimes() {
        catalog.check(said).map_err(|message| Origin::option("--runtime").error(message))?;
    }
    let planner = Planner { catalog: &catalog, feasible: Feasible::new(cpus, machine) };

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
    let time = suite.as_ref().map_or_else(Time::default, |suite| suite.time).under(ask, added)?;
    let live: Vec<&Case> = live(&cases).collect();
    let (rounds, trial) = time.settle(&live, catalog.asked());
    let calls_alone = cases.iter().filter_map(PlannedCase::known).all(|case| !two_ends(case));
    if ask.operations.is_some() && calls_alone {
        let message = "a call takes as many as fit its time; leave it out or ask for another case";
        return Err(Origin::option("--operations").error(message));
    }
    let baseline = planner.baseline(ask, suite.as_ref(), &request, &cases)?;
    let used = planner.cpus_used(&live);
    Ok(Plan {
        suite: suite.map_or_else(|| "command line".to_owned(), |suite| suite.name),
        seed: ask.seed,
        rounds,
        budget_ns: time.budget_ns,
        comparison: None,
        question: None,
        until: time.until,
        trial,
        baseline,
        cpus: used.cpus,
        relation: used.relation,
        pairs: used.pairs,
        cases,
    })
}

/// Mechanisms that an error names.
const NAMED_MAX: usize = 12;

/// The baseline of cases that were named one by one where none was: the first of them, if there
/// is another that can be divided by it or by one of its kind.
fn first_of(cases: &[PlannedCase]) -> Option<String> {
    let first = live(cases).next()?;
    let (kind, others): (Vec<&Case>, Vec<&Case>) =
        live(cases).partition(|case| case.is_of_kind(first));
    let has_multiple = |case: &&Case| kind.iter().any(|base| case.is_alike(base));
    others.iter().any(has_multiple).then(|| first.id())
}

fn live(cases: &[PlannedCase]) -> impl Iterator<Item = &Case> {
    cases.iter().filter(|case| case.skip.is_none()).filter_map(PlannedCase::known)
}

fn two_ends(case: &Case) -> bool {
    case.workload.has_two_ends()
}

/// The suite that was asked for, or the default one where nothing was.
fn suite_of(ask: &Ask, request: &Request) -> Result<Option<Suite>, PlanError> {
    let shipped = |name: &str| match SHIPPED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => parse_suite(&format!("suites/{name}.toml"), text).map(Some),
        None => {
            let known: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            let message = unknown("suite", name, &known);
            let message = format!("{message}; a file is named by its path, as in ./mine.toml");
            Err(Origin::option("--suite").error(message))
        }
    };
    if ask.full {
        return shipped(&full_suite(&ask.suite)?);
    }
    match &ask.suite {
        Some(SuiteSource::Shipped(name)) => shipped(name),
        Some(SuiteSource::Text { file, text }) => parse_suite(file, text).map(Some),
        None if request.is_plain() => shipped("ladder"),
        None => Ok(None),
    }
}

/// The name of the suite that `--full` means.
fn full_suite(suite: &Option<SuiteSource>) -> Result<String, PlanError> {
    let full: Vec<&str> =
        SHIPPED.iter().filter_map(|(name, _)| name.strip_suffix("-full")).collect();
    let message = match suite {
        Some(SuiteSource::Shipped(name)) if full.contains(&name.as_str()) => {
            return Ok(format!("{name}-full"));
        }
        Some(SuiteSource::Shipped(name)) => format!("the suite {} has no full form", quote(name)),
        Some(SuiteSource::Text { .. }) => "a suite file has no full form".to_owned(),
        None => "which suite?".to_owned(),
    };
    let message = format!("{message}; write --suite {} --full", full.join(" or "));
    Err(Origin::option("--full").error(message))
}

/// Cases in the order asked for, each once, up to the limit.
#[derive(Default)]
struct Cases {
    cases: Vec<PlannedCase>,
    seen: BTreeSet<Case>,
    asked: u64,
}

struct Planner<'c> {
    catalog: &'c Catalog<'c>,
    feasible: Feasible,
}

struct CpusUsed {
    cpus: Vec<u32>,
    relation: Option<Placement>,
    pairs: BTreeMap<Placement, (u32, u32)>,
}

/// A selection and what was asked of it in all.
type Meant<'c> = (Selection<'c>, Asked);

impl<'c> Planner<'c> {
    /// What a selector selects, of the runtimes that are said in all.
    fn selections(
        &self,
        selector: &Selector,
        workloads: Option<&[Workload]>,
        said: Option<&[Runtimes]>,
        origin: &Origin,
    ) -> Result<Vec<Selection<'c>>, PlanError> {
        Selection::of_selector(selector, self.catalog, workloads, said)
            .map_err(|message| origin.error(message))
    }

    /// Adds what is selected, in every runtime asked for, and says what that was.
    fn add(
        &self,
        cases: &mut Cases,
        selection: &Selection<'c>,
        asked: &Asked,
        origin: &Origin,
    ) -> Result<Vec<Meant<'c>>, PlanError> {
        let error = |message: String| origin.error(message);
        let all = selection.in_runtimes(asked, self.catalog).map_err(error)?;
        // A value that none of the runtimes takes is a slip; one that some take is
        // a row with a reason for the others.
        let bad: Vec<String> = all.iter().filter_map(|one| one.bad_parameter(asked)).collect();
        if let (true, Some(message)) = (bad.len() == all.len(), bad.into_iter().next()) {
            return Err(error(message));
        }
        if let Some(message) = all.iter().find_map(|one| one.bad_message(asked)) {
            return Err(error(message));
        }
        for one in &all {
            cases.asked = cases.asked.saturating_add(one.count(asked, &self.feasible));
        }
        if cases.asked > CASES_MAX {
            return Err(error(too_many(cases.asked)));
        }
        let lists: Vec<Vec<Case>> =
            all.iter().map(|one| one.cases(asked, &self.feasible)).collect();
        for case in side_by_side(&lists) {
            if cases.seen.insert(case.clone()) {
                let skip = self.feasible.reason_against(&case, self.catalog);
                cases.cases.push(PlannedCase { case: Ok(case), skip });
            }
        }
        Ok(all.into_iter().map(|one| (one, asked.clone())).collect())
    }

    /// Refuses keys of a layer that mean nothing to any case they were said of.
    fn check_keys(
        &self,
        layer: &Asked,
        meant: &[Meant<'c>],
        origin: impl Fn(&str) -> Origin,
    ) -> Result<(), PlanError> {
        let applicable = meant.iter().flat_map(|(selection, asked)| selection.applicable(asked));
        let applicable: BTreeSet<&str> = applicable.collect();
        match layer.keys().into_iter().find(|key| !applicable.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let selections: Vec<_> = meant.iter().map(|(one, _)| one.clone()).collect();
                Err(origin(key).error(inapplicable(key, &selections, self.catalog)))
            }
        }
    }

    fn of_selectors(&self, request: &Request) -> Result<Vec<PlannedCase>, PlanError> {
        let mut entries = request.selectors.clone();
        if entries.is_empty() {
            for (pattern, origin) in self.mechanism_patterns(request)? {
                let selector = Selector::of(None, vec![pattern], Asked::default());
                entries.push(Entry { selector, origin, group: entries.len() });
            }
        }
        let mut cases = Cases::default();
        let mut all = Vec::new();
        for Entry { selector, origin, .. } in &entries {
            let asked = selector.asked.over(&request.options);
            let said = asked.runtimes();
            let workloads = request.workloads.as_deref();
            let selections = self.selections(selector, workloads, said.as_deref(), origin)?;
            let mut meant = Vec::new();
            for selection in &selections {
                let each = selection.in_runtimes(&asked, self.catalog);
                let each = each.map_err(|message| origin.error(message))?;
                meant.extend(each.into_iter().map(|one| (one, asked.clone())));
            }
            self.check_keys(&selector.asked, &meant, |_| origin.clone())?;
            for selection in selections.iter().filter(|one| request.admits(one)) {
                all.extend(self.add(&mut cases, selection, &asked, origin)?);
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
        let every = Pattern::parse("*").map_err(|message| origin.error(message))?;
        Ok(every.into_iter().map(|pattern| (pattern, origin.clone())).collect())
    }

    /// The suite as written; finds every mistake in it whatever is chosen of it.
    fn suite_alone(&self, suite: &Suite) -> Result<Vec<PlannedCase>, PlanError> {
        for (selector, origin) in &suite.shown {
            let said = selector.asked.runtimes();
            self.selections(selector, None, said.as_deref(), origin)?;
        }
        let mut cases = Cases::default();
        for group in suite.entries.chunk_by(|a, b| a.group == b.group) {
            let selections = |entry: &Entry| {
                let said = entry.selector.asked.runtimes();
                self.selections(&entry.selector, None, said.as_deref(), &entry.origin)
            };
            let mut applicable = BTreeSet::new();
            for entry in group {
                let asked = &entry.selector.asked;
                for selection in selections(entry)? {
                    for (added, _) in self.add(&mut cases, &selection, asked, &entry.origin)? {
                        applicable.extend(added.applicable(asked));
                    }
                }
            }
            for entry in group {
                let keys = entry.selector.asked.keys();
                if let Some(key) = keys.into_iter().find(|key| !applicable.contains(key)) {
                    let why = inapplicable(key, &selections(entry)?, self.catalog);
                    return Err(entry.origin.error(why));
                }
            }
        }
        Ok(cases.cases)
    }

    /// The suite with the command line laid over it.
    fn over_suite(&self, suite: &Suite, request: &Request) -> Result<Vec<PlannedCase>, PlanError> {
        let mut cases = Cases::default();
        let mut all = Vec::new();
        let mut by_selector: Vec<Vec<Meant>> = vec![Vec::new(); request.selectors.len()];
        for Entry { selector, origin, .. } in &suite.entries {
            let asked = request.options.over(&selector.asked);
            let said = asked.runtimes();
            let selections = self.selections(selector, None, said.as_deref(), origin)?;
            for selection in selections.iter().filter(|one| request.admits(one)) {
                if request.selectors.is_empty() {
                    all.extend(self.add(&mut cases, selection, &asked, origin)?);
                }
                for (chosen, meant) in request.selectors.iter().zip(&mut by_selector) {
                    if selection.is_chosen(&chosen.selector) {
                        let asked = chosen.selector.asked.over(&asked);
                        let added = self.add(&mut cases, selection, &asked, &chosen.origin)?;
                        meant.extend(added.iter().cloned());
                        all.extend(added);
                    }
                }
            }
        }
        for (chosen, meant) in request.selectors.iter().zip(&by_selector) {
            if meant.is_empty() {
                let said = chosen.selector.asked.runtimes();
                self.selections(&chosen.selector, None, said.as_deref(), &chosen.origin)?;
                return Err(chosen.origin.error(format!(
                    "the suite `{}` has no such case; leave the suite out to measure it anyway",
                    suite.name
                )));
            }
            self.check_keys(&chosen.selector.asked, meant, |_| chosen.origin.clone())?;
        }
        self.finish(request, cases, &all, &format!("the suite `{}`", suite.name))
    }

    /// Checks that every option of the command line had its effect.
    fn finish(
        &self,
        request: &Request,
        cases: Cases,
        all: &[Meant<'c>],
        whole: &str,
    ) -> Result<Vec<PlannedCase>, PlanError> {
        let said = request.options.runtimes();
        for (pattern, origin) in &request.mechanisms {
            Selection::of_pattern(pattern, self.catalog, said.as_deref())
                .map_err(|message| origin.error(message))?;
            if !all.iter().any(|(selection, _)| selection.matches(pattern)) {
                let text = quote(pattern.text());
                return Err(origin.error(format!("{whole} has no case of {text} left")));
            }
        }
        if all.is_empty() {
            return Err(Origin::option("--workload").error(format!("{whole} has no such case")));
        }
        self.check_keys(&request.options, all, |key| Origin::option(&option_of(key)))?;
        Ok(cases.cases)
    }

    /// The id of the first measured case that the baseline selects, or of the first of those that
    /// were named where there is neither a baseline nor a suite. A suite's
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
            (None, None) if !request.selectors.is_empty() => return Ok(first_of(cases)),
            _ => return Ok(None),
        };
        self.selections(&selector, None, selector.asked.runtimes().as_deref(), &origin)?;
        let of_plan = cases.iter().filter_map(|planned| Some((planned.known()?, &planned.skip)));
        let mut matching: Vec<(&Case, &Option<String>)> =
            of_plan.filter(|(case, _)| self.selects(&selector, case)).collect();
        if !selector.says_runtime() {
            matching.sort_by_key(|(case, _)| !case.runtimes.are_rust());
        }
        let measured = matching.iter().find(|(_, skip)| skip.is_none());
        match (measured, matching.first()) {
            (Some((case, _)), _) => Ok(Some(case.id())),
            (None, Some((case, skip))) if must => {
                let reason = skip.as_deref().unwrap_or("skipped");
                Err(origin
                    .error(format!("{case} is not measured here: {reason}; choose a case that is")))
            }
            (None, None) if must || request.is_plain() => {
                let selected = ask.baseline.as_deref().map_or("it".to_owned(), quote);
                let known = live(cases).map(Case::mechanism_name);
                let named: Vec<&str> = distinct(known).into_iter().take(NAMED_MAX).collect();
                Err(origin.error(format!(
                    "{selected} selects no case of the plan; ask for it too, or choose among: {}",
                    named.join(", ")
                )))
            }
            _ => Ok(None),
        }
    }

    fn selects(&self, selector: &Selector, case: &Case) -> bool {
        let mechanism = self.catalog.mechanism_of(&case.runtimes, case.mechanism_name());
        let cross = self.feasible.cpus.precise(&Value::Cross);
        mechanism.is_some_and(|mechanism| {
            selector.selects(case, mechanism.hidden(), &|placement| placement == cross)
        })
    }

    /// The CPUs that the live cases use.
    fn cpus_used(&self, live: &[&Case]) -> CpusUsed {
        let cpus = &self.feasible.cpus;
        let placements = live.iter().filter_map(|case| case.placement);
        let used: Vec<Placement> = placements.filter(|placement| placement.is_two_cpu()).collect();
        let pairs: BTreeMap<Placement, (u32, u32)> =
            used.iter().filter_map(|p| Some((*p, *cpus.pairs.get(p)?))).collect();
        let cross = cpus.precise(&Value::Cross);
        let relation = if used.contains(&cross) { Some(cross) } else { used.first().copied() };
        let mut all = match relation.and_then(|relation| pairs.get_key_value(&relation)) {
            Some((Placement::Pinned, &(caller, _))) => vec![caller],
            Some((_, &(caller, callee))) => vec![caller, callee],
            None => vec![cpus.first],
        };
        let here = pairs.iter().filter(|(placement, _)| **placement != Placement::Pinned);
        for cpu in here.flat_map(|(_, &(a, b))| [a, b]) {
            if !all.contains(&cpu) {
                all.push(cpu);
            }
        }
        CpusUsed { cpus: all, relation, pairs }
    }
}
