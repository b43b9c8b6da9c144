//! The run as a whole: which trial belongs to which case, when it ran, and how much time was
//! stolen.

use std::collections::BTreeMap;

use hopcost_model::{Case, Mechanism, RawRun, RawTrial};
use hopcost_plan::shown_by;

use crate::yardstick::{Doubt, Yardsticks};

/// Steal on one CPU over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Steal {
    /// Time accounted for.
    pub wall_ns: u64,
    pub stolen_ns: u64,
}

impl Steal {
    /// Share of the time that was stolen, 0 to 1.
    pub fn share(self) -> f64 {
        if self.wall_ns == 0 { 0.0 } else { (self.stolen_ns as f64 / self.wall_ns as f64).min(1.0) }
    }
}

/// A raw run with what is known before looking at any case.
pub struct Run<'a> {
    pub raw: &'a RawRun,
    rust: &'a [Mechanism],
    /// Indexes of each case's trials, in time order.
    pub trials_of: Vec<Vec<usize>>,
    /// Seconds from the start of the run, a trial each; a resumed sitting
    /// continues where the one before ended.
    pub at_s: Vec<f64>,
    /// What its yardsticks say.
    pub yardsticks: Yardsticks,
    /// Steal by CPU.
    pub steal: BTreeMap<u32, Steal>,
}

impl<'a> Run<'a> {
    /// Looks at the run as a whole.
    pub fn new(raw: &'a RawRun, rust: &'a [Mechanism]) -> Self {
        let mut trials_of = vec![Vec::new(); raw.plan.cases.len()];
        for (i, trial) in raw.trials.iter().enumerate() {
            if let Some(trials) = trials_of.get_mut(trial.case as usize) {
                trials.push(i);
            }
        }
        let mut steal: BTreeMap<u32, Steal> = BTreeMap::new();
        for row in &raw.accounting {
            let sum = steal.entry(row.cpu).or_default();
            sum.wall_ns = sum.wall_ns.saturating_add(row.wall_ns);
            sum.stolen_ns = sum.stolen_ns.saturating_add(row.steal_ns);
        }
        Self {
            raw,
            rust: raw.rust().map_or(rust, |rust| &rust.mechanisms),
            trials_of,
            at_s: times(&raw.trials),
            yardsticks: Yardsticks::of(raw),
            steal,
        }
    }

    /// The facts of a case's mechanism in Rust.
    pub fn facts(&self, case: &Case) -> Option<&'a Mechanism> {
        self.rust.iter().find(|mechanism| mechanism.name == case.mechanism_name())
    }

    /// A case's name with that before it which the suite of the run gives it.
    pub fn labelled(&self, case: &Case, name: String) -> String {
        let own = shown_by(&self.raw.plan.suite).map_or(&[][..], |shown| &shown.label);
        match own.iter().find(|label| label.cases.fits(case)) {
            Some(label) => format!("{} {name}", label.name),
            None => name,
        }
    }

    /// Whether time is made up by the clock of a test engine.
    pub fn is_virtual(&self) -> bool {
        self.raw.clocks.iter().any(|clock| clock.source == "virtual")
    }

    /// Whether a case's mechanism is a test engine, or its time made up, so that
    /// what the kernel counted has no bearing on its numbers.
    pub fn is_engine(&self, case: &Case) -> bool {
        self.is_virtual() || self.facts(case).is_some_and(Mechanism::hidden)
    }

    /// What an interval for the next run has to allow for; `None` where the run has no
    /// yardsticks, so that nothing is known of another run.
    pub fn doubt(&self, case: u32) -> Option<Doubt> {
        let trials = self.trials_of.get(case as usize).into_iter().flatten();
        let times = trials.map(|&trial| self.at_s[trial]);
        let first = times.clone().fold(f64::INFINITY, f64::min);
        // Simulated time is of no moment of this machine.
        let is_simulated = self.raw.plan.case(case).is_some_and(Case::has_virtual_clock);
        let least_s = if is_simulated { f64::INFINITY } else { 0.0 };
        let span_s = times.fold(least_s, |span: f64, at_s| span.max(at_s - first));
        let of_case = self.yardsticks.doubts.get(&case).copied();
        let unread = || Doubt { met: self.yardsticks.unread, ..Doubt::default() };
        let doubt = of_case.or_else(|| (!self.raw.yardsticks.is_empty()).then(unread))?;
        Some(Doubt { span_s, ..doubt })
    }

    /// How much slower than at the run's own speed the machine was beside a trial; `None` where
    /// trials are not adjusted.
    pub fn factor(&self, trial: &RawTrial) -> Option<f64> {
        self.yardsticks.factors.get(&(trial.case, trial.round)).copied()
    }

    /// A case without the parameters that have the default of its mechanism: Rust's, or
    /// that of the first worker that declares the parameter. A runtime need not declare
    /// every parameter of a mechanism, and then does what is the default elsewhere.
    pub fn plain(&self, case: &Case) -> Case {
        let mut plain = case.clone();
        let elsewhere = self.raw.workers.iter().flat_map(|worker| &worker.mechanisms);
        let elsewhere = elsewhere.filter(|facts| facts.name == case.mechanism_name());
        let declared = |key: &str| {
            let mut all = self.facts(case).into_iter().chain(elsewhere.clone());
            all.find_map(|facts| Some(&facts.parameter(key)?.default))
        };
        plain.parameters.retain(|key, value| declared(key) != Some(value));
        plain
    }
}

fn times(trials: &[RawTrial]) -> Vec<f64> {
    let mut offset_ns = 0u64;
    let mut last: Option<&RawTrial> = None;
    trials
        .iter()
        .map(|trial| {
            if let Some(before) = last.filter(|before| trial.started_ns < before.started_ns) {
                let ended = before.started_ns.saturating_add(before.took_ns);
                offset_ns = offset_ns.saturating_add(ended);
            }
            last = Some(trial);
            offset_ns.saturating_add(trial.started_ns) as f64 / 1e9
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Shape, WarmUp};

    use super::*;
    use crate::testing::{Builder, MECHANISMS, PIPE, worker};

    #[test]
    fn a_resumed_sitting_continues_the_clock() {
        let mut raw = Builder::new().case(PIPE, 5, |_, trial| trial.each(&[1000; 100])).build();
        for (trial, at) in raw.trials.iter_mut().zip([0, 5, 1, 4, 2]) {
            trial.started_ns = at * 1_000_000_000;
            trial.took_ns = 1_000_000_000;
        }
        assert_eq!(times(&raw.trials), [0.0, 5.0, 7.0, 10.0, 13.0]);
    }

    #[test]
    fn a_file_says_itself_what_its_mechanisms_are() {
        let mut raw = Builder::new().case(PIPE, 1, |_, trial| trial.each(&[1000; 100])).build();
        let case = raw.plan.case(0).unwrap().clone();
        let notifies = |raw: &RawRun| {
            let run = Run::new(raw, &MECHANISMS);
            let own = run.facts(&case).unwrap().own.as_ref().unwrap();
            own.shape == Shape::Notifier
        };
        assert!(!notifies(&raw), "that of this binary");
        let flag = MECHANISMS.iter().find(|known| known.name == "flag").unwrap();
        let mut rust = worker("rust", WarmUp::Planned, &[]);
        rust.mechanisms = vec![Mechanism { name: "pipe".into(), ..flag.clone() }];
        raw.workers.push(rust);
        assert!(notifies(&raw));
        assert!(crate::read(&raw, &MECHANISMS).workers.is_empty(), "none of another runtime");
    }
}
