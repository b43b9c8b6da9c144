//! From what was asked for to a [`Plan`], every case of it with its reason where it cannot be measured.
//!
//! Three layers say what is measured, and the more particular one wins key by key: the suite's
//! `[[cases]]`, then the options (`--payload 4KiB`), then the keys of a selector (`pipe?payload=64`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use hopcost_model::group::distinct;
use hopcost_model::{Case, Placement, Plan, PlannedCase};

use crate::ask::{Ask, CASES_MAX, CROSS, Selector, SuiteSource, Values, too_many};
use crate::catalog::Catalog;
use crate::error::{Origin, Result};
use crate::feasible::Feasible;
use crate::machine::{Cpus, Machine};
use crate::shipped;
use crate::subject::{Subject, inapplicable};
use crate::suite::{Suite, parse_suite};
use crate::time::{
    COUNTED_MAX, MEASURE_MAX_NS, OPERATIONS_MAX, ROUNDS_MAX, TRACED_MAX, Time, rounds_needed,
};

/// Resolves what was asked for. Everything wrong with the question is an error;
/// everything that this machine cannot do is a case with a reason.
pub fn plan(ask: &Ask, catalog: &Catalog, machine: &Machine) -> Result<Plan> {
    let (selectors, options) = (ask.parsed_selectors()?, ask.options()?);
    let is_plain = selectors.is_empty() && options.is_empty();
    let suite = suite_of(ask, is_plain)?;
    let cpus = Cpus::resolve(machine, &ask.cpus)?;
    catalog.check(&options).map_err(|message| Origin::option("--runtime").error(message))?;
    let planner = Planner { catalog, feasible: Feasible::new(cpus, machine) };

    let (cases, added) = match &suite {
        None => (planner.of_selectors(&selectors, &options)?, false),
        Some(suite) => {
            // Finds every mistake in it whatever is chosen of it.
            let own = planner.expanded(&suite.cases, &Values::default())?.0;
            match is_plain {
                true => (own, false),
                false => {
                    let cases = planner.over_suite(suite, &selectors, &options)?;
                    let added = cases.len() > own.len();
                    (cases, added)
                }
            }
        }
    };
    let time = suite.as_ref().map_or(Time::DEFAULT, |suite| suite.time).under(ask, added)?;
    let live: Vec<&Case> = live(&cases).collect();
    let (rounds, trial) = time.settle(&live, catalog.asked());
    let is_call = |case: &Case| !case.workload.has_two_ends();
    if ask.operations.is_some() && cases.iter().map(|planned| &planned.case).all(is_call) {
        let message = "a call takes as many as fit its time; leave it out or ask for another case";
        return Err(Origin::option("--operations").error(message));
    }
    let baseline = planner.baseline(suite.as_ref(), &selectors, is_plain, &cases)?;
    let with_cpus = planner.with_cpus(&live);
    let plan = Plan {
        suite: suite.map_or_else(|| "command line".to_owned(), |suite| suite.name),
        seed: ask.seed,
        rounds,
        budget_ns: time.budget_ns,
        trial,
        baseline,
        cases,
        ..with_cpus
    };
    ensure_messages(&plan)?;
    Ok(plan)
}

/// Messages a second from which on a budget is no matter of the messages that a trial needs.
const LOW_RATE: u32 = 100;

/// Refuses a budget without time for the messages that a low rate needs.
fn ensure_messages(plan: &Plan) -> Result<()> {
    let Some(budget_ns) = plan.budget_ns else { return Ok(()) };
    let rates = plan.live_cases().filter_map(|case| case.rate);
    let Some(rate) = rates.min().filter(|rate| *rate < LOW_RATE.into()) else { return Ok(()) };
    let [generator, warm_up, measured] = plan.trial.load_messages(rate);
    let trial_ns = rate.ns_of(generator + warm_up + measured);
    let all_ns = trial_ns.saturating_mul(rounds_needed(plan).into());
    if all_ns <= budget_ns {
        return Ok(());
    }
    let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
    let needed = match seconds(all_ns) {
        short @ 0..120 => format!("{short}s"),
        long => format!("{}m", long.div_ceil(60)),
    };
    Err(Origin::option("--budget").error(format!(
        "{rate} a second needs {} s for {measured} messages, and {} trials of them; give --budget {needed}",
        seconds(rate.ns_of(measured)),
        rounds_needed(plan)
    )))
}

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
    cases.iter().filter(|case| case.skip.is_none()).map(|planned| &planned.case)
}

/// The suite that was asked for, or the default one where nothing was.
fn suite_of(ask: &Ask, is_plain: bool) -> Result<Option<Suite>> {
    let default = (ask.suite.is_none() && is_plain).then(|| shipped::suite("ladder"));
    let source = ask.suite.clone().map_or(default.transpose()?, Some);
    source.map(|SuiteSource { file, text }| parse_suite(&file, &text)).transpose()
}

/// Cases in the order asked for, each once, up to the limit.
#[derive(Default)]
struct Cases {
    cases: Vec<PlannedCase>,
    seen: BTreeSet<Case>,
    asked: usize,
}

struct Planner<'c> {
    catalog: &'c Catalog<'c>,
    feasible: Feasible,
}

impl<'c> Planner<'c> {
    /// What a selector selects, where these values are asked of it in all.
    fn subjects(&self, selector: &Selector, values: &Values) -> Result<Vec<Subject<'c>>> {
        self.catalog.subjects(selector, values).map_err(|message| selector.origin.error(message))
    }

    /// Adds the cases of a subject, in every runtime asked for, and says what these are.
    fn add(
        &self,
        cases: &mut Cases,
        subject: &Subject<'c>,
        origin: &Origin,
    ) -> Result<Vec<Subject<'c>>> {
        let error = |message: String| origin.error(message);
        let all = self.catalog.in_runtimes(subject);
        // A value that none of the runtimes takes is a slip; one that some take is
        // a row with a reason for the others.
        let bad: Vec<String> = all.iter().filter_map(Subject::bad_parameter).collect();
        if let (true, Some(message)) = (bad.len() == all.len(), bad.into_iter().next()) {
            return Err(error(message));
        }
        let lists = all.iter().map(|one| one.cases(&self.feasible));
        let lists: Vec<Vec<Case>> = lists.collect::<Result<_, _>>().map_err(error)?;
        cases.asked += lists.iter().map(Vec::len).sum::<usize>();
        if cases.asked > CASES_MAX {
            return Err(error(too_many(cases.asked)));
        }
        // Cases that differ in nothing but the runtime stand side by side.
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        for case in (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at))) {
            if cases.seen.insert(case.clone()) {
                let skip = self.feasible.reason_against(case, self.catalog);
                cases.cases.push(PlannedCase { case: case.clone(), skip });
            }
        }
        Ok(all)
    }

    /// Refuses keys of a layer that mean nothing to any of its cases.
    fn check_keys(
        &self,
        layer: &Values,
        subjects: &[Subject<'c>],
        origin: impl Fn(&str) -> Origin,
    ) -> Result<()> {
        let means = |key: &str| subjects.iter().any(|subject| subject.means(key));
        match layer.keys().find(|key| !means(key)) {
            None => Ok(()),
            Some(key) => Err(origin(key).error(inapplicable(key, subjects, self.catalog))),
        }
    }

    fn check_options(&self, options: &Values, subjects: &[Subject<'c>]) -> Result<()> {
        self.check_keys(options, subjects, |key| Origin::option(&format!("--{key}")))
    }

    /// The cases of groups of selectors over what the options say, and their subjects. A key of a
    /// selector has to mean something to the cases of its group.
    fn expanded(
        &self,
        groups: &[Vec<Selector>],
        options: &Values,
    ) -> Result<(Vec<PlannedCase>, Vec<Subject<'c>>)> {
        let (mut cases, mut all) = (Cases::default(), Vec::new());
        for selectors in groups {
            let mut subjects = Vec::new();
            for selector in selectors {
                for subject in self.subjects(selector, &selector.values.over(options))? {
                    subjects.extend(self.add(&mut cases, &subject, &selector.origin)?);
                }
            }
            for selector in selectors {
                self.check_keys(&selector.values, &subjects, |_| selector.origin.clone())?;
            }
            all.extend(subjects);
        }
        Ok((cases.cases, all))
    }

    /// What the selectors mean, or every mechanism where there is none.
    fn of_selectors(&self, selectors: &[Selector], options: &Values) -> Result<Vec<PlannedCase>> {
        let mut groups: Vec<Vec<Selector>> =
            selectors.iter().map(|one| vec![one.clone()]).collect();
        if groups.is_empty() {
            groups.push(vec![Selector::parse_at("*", Origin::option("all mechanisms"))?]);
        }
        let (cases, all) = self.expanded(&groups, options)?;
        self.check_options(options, &all)?;
        Ok(cases)
    }

    /// The suite with the command line laid over it.
    fn over_suite(
        &self,
        suite: &Suite,
        selectors: &[Selector],
        options: &Values,
    ) -> Result<Vec<PlannedCase>> {
        let mut cases = Cases::default();
        let mut all = Vec::new();
        let mut chosen: Vec<Vec<Subject>> = vec![Vec::new(); selectors.len()];
        for own in suite.cases.iter().flatten() {
            for subject in self.subjects(own, &options.over(&own.values))? {
                if selectors.is_empty() {
                    all.extend(self.add(&mut cases, &subject, &own.origin)?);
                }
                for (selector, chosen) in selectors.iter().zip(&mut chosen) {
                    let hidden = subject.mechanism.hidden();
                    if selector.chooses(subject.workload, &subject.name, hidden) {
                        let values = selector.values.over(&subject.values);
                        let subject = Subject { values, ..subject.clone() };
                        chosen.extend(self.add(&mut cases, &subject, &selector.origin)?);
                    }
                }
            }
        }
        for (selector, chosen) in selectors.iter().zip(&chosen) {
            if chosen.is_empty() {
                self.subjects(selector, &selector.values)?;
                return Err(selector.origin.error(format!(
                    "the suite `{}` has no such case; leave the suite out to measure it anyway",
                    suite.name
                )));
            }
            self.check_keys(&selector.values, chosen, |_| selector.origin.clone())?;
        }
        all.extend(chosen.into_iter().flatten());
        self.check_options(options, &all)?;
        Ok(cases.cases)
    }

    /// The id of the first measured case that the suite's baseline selects, which may be missing here or
    /// not be chosen; without a suite that of the first of the cases that were named.
    fn baseline(
        &self,
        suite: Option<&Suite>,
        selectors: &[Selector],
        is_plain: bool,
        cases: &[PlannedCase],
    ) -> Result<Option<String>> {
        let selector = match suite {
            Some(suite) => suite.baseline.as_ref(),
            None if selectors.is_empty() => None,
            None => return Ok(first_of(cases)),
        };
        let Some(selector) = selector else { return Ok(None) };
        self.subjects(selector, &selector.values)?;
        let of_plan = cases.iter().map(|planned| (&planned.case, &planned.skip));
        let mut matching: Vec<(&Case, &Option<String>)> =
            of_plan.filter(|(case, _)| self.selects(selector, case)).collect();
        if matching.is_empty() && is_plain {
            return Err(selector.origin.error("selects no case of the suite; add one to it"));
        }
        if !selector.says_runtime() {
            matching.sort_by_key(|(case, _)| !case.runtimes.are_rust());
        }
        let measured = matching.into_iter().find(|(_, skip)| skip.is_none());
        Ok(measured.map(|(case, _)| case.id()))
    }

    fn selects(&self, selector: &Selector, case: &Case) -> bool {
        let mechanism = self.catalog.mechanism_of(&case.runtimes, case.mechanism_name());
        let cross = self.feasible.cpus.precise(&CROSS);
        mechanism.is_some_and(|mechanism| {
            selector.selects(case, mechanism.hidden(), &|placement| placement == cross)
        })
    }

    /// A plan with the CPUs that the live cases use.
    fn with_cpus(&self, live: &[&Case]) -> Plan {
        let cpus = &self.feasible.cpus;
        let placements = live.iter().filter_map(|case| case.placement);
        let used: Vec<Placement> = placements.filter(|placement| placement.is_two_cpu()).collect();
        let pairs: BTreeMap<Placement, (u32, u32)> =
            used.iter().filter_map(|p| Some((*p, *cpus.pairs.get(p)?))).collect();
        let cross = cpus.precise(&CROSS);
        let relation = if used.contains(&cross) { Some(cross) } else { used.first().copied() };
        let first = match relation.and_then(|relation| pairs.get_key_value(&relation)) {
            Some((Placement::Pinned, &(caller, _))) => vec![caller],
            Some((_, &(caller, callee))) => vec![caller, callee],
            None => vec![cpus.first],
        };
        let here = pairs.iter().filter(|(placement, _)| **placement != Placement::Pinned);
        let others = here.flat_map(|(_, &(a, b))| [a, b]);
        let cpus = distinct(first.into_iter().chain(others));
        Plan { cpus, relation, pairs, ..Plan::default() }
    }
}

/// Refuses what is left of a stored plan where [`plan`] would not have made it: a file may be
/// edited, and a limit of the machine may have changed since. `machine` is that of the plan's CPUs.
///
/// # Errors
/// The first thing that stands against it, without an end of the sentence.
pub fn check_resumed(plan: &Plan, catalog: &Catalog, machine: &Machine) -> Result<(), String> {
    if plan.comparison.is_some() {
        // Nor may a file say what is executed.
        return Err("a live comparison cannot be resumed".to_owned());
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
    let feasible = Feasible::new(cpus, &machine);
    for case in plan.live_cases() {
        if let Some(reason) = feasible.reason_against(case, catalog) {
            return Err(format!("{case}: {reason}"));
        }
    }
    Ok(())
}
