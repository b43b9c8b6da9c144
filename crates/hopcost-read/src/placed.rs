//! How the scheduler placed the ends of a case that leaves it to it: what a trial takes may
//! depend more on that than on the mechanism.

use hopcost_model::case::{Boundary, Case, Placement, Role};
use hopcost_model::document;
use hopcost_model::raw::RawTrial;
use hopcost_stats::sample::median;

use crate::threads::{ThreadResult, is_no_thread};
use crate::trials::Trials;

document! {
    /// Where the ends of a trial were that nobody pinned.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Placed {
        /// All on one CPU, from the beginning of the measured phase to its end.
        OneCpu,
        /// Each on a CPU of its own, or several on some, all the time.
        SeveralCpus,
        /// An end went to another CPU meanwhile.
        Moved,
    }
}

impl Placed {
    /// All of them.
    pub const ALL: [Placed; 3] = [Placed::OneCpu, Placed::SeveralCpus, Placed::Moved];
}

document! {
    /// The trials of a case in which the scheduler placed the ends alike.
    #[derive(Copy)]
    pub struct PlacedShare {
        /// Where the ends stayed.
        pub placed: Placed,
        /// Share of this case's trials, 0 to 1.
        pub share: f64,
        /// Median over these trials of the trial's p50 (or batch cost).
        pub p50_ns: f64,
        /// Trials.
        pub n_trials: u32,
    }
}

/// The share of trials in each placement, with its value. Nothing where ends are pinned, or
/// where one is no thread, whose CPU nobody knows.
pub fn shares(case: &Case, threads: &[ThreadResult], table: &Trials) -> Vec<PlacedShare> {
    let unknown = [Role::Caller, Role::Callee].map(|role| is_no_thread(case, threads, role));
    let of_hosts = case.boundary == Boundary::Host;
    if case.placement != Some(Placement::Free) || of_hosts || unknown.contains(&true) {
        return Vec::new();
    }
    let trials = table.measured().map(|(row, trial)| (placed(row.raw), trial.value_ns()));
    let trials: Vec<(Placed, f64)> = trials.collect();
    let of = |which: &Placed| {
        let values = trials.iter().filter(|(placed, _)| placed == which).map(|(_, ns)| *ns);
        let values: Vec<f64> = values.collect();
        Some(PlacedShare {
            placed: *which,
            share: values.len() as f64 / trials.len() as f64,
            p50_ns: median(&values)?,
            n_trials: values.len() as u32,
        })
    };
    Placed::ALL.iter().filter_map(of).collect()
}

/// Where the ends of a trial were, as far as its stamps and both ends of its phase tell.
fn placed(trial: &RawTrial) -> Placed {
    let mut ends = trial.ends.iter();
    let first = ends.clone().next().map(|end| end.cpu_after);
    if ends.clone().any(|end| end.cpu_changes > 0 || end.cpu_before != end.cpu_after) {
        Placed::Moved
    } else if ends.all(|end| Some(end.cpu_after) == first) {
        Placed::OneCpu
    } else {
        Placed::SeveralCpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, PIPE, TrialBuilder};

    /// Eight trials; the first three on one CPU, the next four on two, the last moves.
    fn make(round: u32, t: &mut TrialBuilder) {
        t.each(&[if round < 3 { 3_000 } else { 9_000 + round }; 100]);
        if round >= 3 {
            (t.raw.ends[1].cpu_before, t.raw.ends[1].cpu_after) = (1, 1);
        }
        if round == 7 {
            t.raw.ends[0].cpu_changes = 2;
        }
    }

    #[test]
    fn each_placement_has_its_share_and_its_value() {
        let free = PIPE.replace("same-cpu", "free");
        let results = Builder::new().case(&free, 8, make).read();
        let share = |placed, n_trials: u32, p50_ns| PlacedShare {
            placed,
            share: f64::from(n_trials) / 8.0,
            p50_ns,
            n_trials,
        };
        let expected = [
            share(Placed::OneCpu, 3, 3_000.0),
            share(Placed::SeveralCpus, 4, 9_004.5),
            share(Placed::Moved, 1, 9_007.0),
        ];
        assert_eq!(results.results[0].placed, expected);
        let pinned = Builder::new().case(PIPE, 8, make).read();
        assert_eq!(pinned.results[0].placed, [], "only where it was left to the scheduler");
    }
}
