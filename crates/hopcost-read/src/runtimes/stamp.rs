//! What a stamp costs in each runtime, by the clock of an end in Rust.

use hopcost_model::document;
use hopcost_model::raw::StampCheck;
use hopcost_model::results::Estimate;
use hopcost_stats::sample::median;

use super::matrix::Entry;
use crate::estimate::over_trials;
use crate::run::Run;
use crate::stamp_check::Spans;

document! {
    /// What a stamp costs.
    pub struct StampCost {
        /// The runtime.
        pub runtime: String,
        /// The case it was found with.
        pub case: String,
        /// Stamped exchanges less bare ones, each, by the clock of the end in Rust.
        pub by_rust_clock_ns: Option<Estimate>,
        /// Two readings of the runtime's own clock in a row: median.
        pub own_reading_ns: Option<f64>,
        /// The caller's clock over the callee's, over the same exchanges, less one, in
        /// parts per million: median over trials.
        pub clock_disagreement_ppm: Option<f64>,
        /// `by_rust_clock_ns` as a share of the case's p50.
        pub share: Option<f64>,
    }
}

/// One entry for every case in which the same exchanges were run with stamps and
/// without, in the order of the plan.
pub fn costs(run: &Run, entries: &[Entry]) -> Vec<StampCost> {
    entries.iter().filter_map(|entry| cost(run, entry)).collect()
}

fn cost(run: &Run, entry: &Entry) -> Option<StampCost> {
    let trials = &entry.reading.trials;
    let checks: Vec<StampCheck> = trials
        .iter()
        .filter_map(|trial| trial.stamp_check)
        .filter(|check| check.exchanges > 0 && check.stamped_ns > 0.0)
        .collect();
    let of_one = |check: &StampCheck| {
        let bare = (check.bare_before_ns + check.bare_after_ns) / 2.0;
        (check.stamped_ns - bare) / check.exchanges as f64
    };
    let clocks: Vec<f64> = trials
        .iter()
        .filter_map(|trial| Some(Spans::of(run, trial)?.disagreement() * 1e6))
        .collect();
    let by_rust = over_trials(
        checks.iter().map(of_one).collect(),
        "median over trials of the time of an exchange with a stamp less that without, by the \
         clock of the end in Rust"
            .to_owned(),
    );
    let p50_ns = entry.reading.headline().and_then(|value| value.point).filter(|ns| *ns > 0.0);
    (!checks.is_empty()).then(|| StampCost {
        runtime: entry.case.runtimes.caller.to_string(),
        case: entry.reading.result.id.clone(),
        own_reading_ns: trials
            .first()
            .and_then(|trial| run.raw.clock(trial))
            .filter(|clock| clock.knows_its_cost())
            .map(|clock| clock.stamp_p50_ns),
        clock_disagreement_ppm: median(&clocks),
        share: by_rust.point.zip(p50_ns).map(|(stamp, p50)| stamp / p50),
        by_rust_clock_ns: Some(by_rust),
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::raw::StampCheck;

    use crate::testing::{Builder, PIPE, PIPE_PYTHON, read};

    #[test]
    fn stamped_less_bare() {
        let id = format!("{PIPE}&runtime=python:rust");
        let raw = Builder::new()
            .case(&id, 8, |round, t| {
                t.each(&[4000; 1001]);
                let more = f64::from(round) * 1000.0;
                t.raw.stamp_check = Some(StampCheck {
                    exchanges: 1000,
                    stamped_ns: 4e6 + more,
                    // The first exchange and the last are left out by half.
                    stamped_by_caller_ns: ((4e6 + more) * (1.0 + f64::from(round) * 1e-6) + 4000.0)
                        * 1000.0
                        / 1001.0,
                    bare_before_ns: 3.7e6,
                    bare_after_ns: 3.9e6,
                });
            })
            .case(PIPE_PYTHON, 8, |_, t| t.each(&[9000; 50]))
            .build();
        let costs = read(&raw).runtimes.unwrap().stamp_costs;
        let [cost] = costs.as_slice() else { panic!("{costs:?}") };
        assert_eq!((cost.runtime.as_str(), &cost.case), ("python", &id));
        let stamp = cost.by_rust_clock_ns.as_ref().unwrap();
        let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-6);
        assert!(near(stamp.point, 203.5) && near(stamp.low, 200.0) && near(stamp.high, 207.0));
        assert_eq!(cost.own_reading_ns, Some(60.0));
        assert!(near(cost.clock_disagreement_ppm, 3.5), "{:?}", cost.clock_disagreement_ppm);
        assert!(near(cost.share, 203.5 / 4000.0));
    }
}
