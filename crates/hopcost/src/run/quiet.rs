//! Waiting, before the first trial, until the machine is quiet: until no class of yardsticks is
//! slower than its reference and nobody else uses the CPUs.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use hopcost_machine::{Root, busy_ns};
use hopcost_model::raw::{Moment, YardstickClass};
use hopcost_probe::sys;
use hopcost_stats::quiet::{LATEST, Nearness, nearness};

use super::setup::Setup;
use super::trial::spec::Failure;
use super::yardstick::OpenYardsticks;

/// Between two readings of all yardsticks: in these pauses hopcost sleeps, so that whatever runs
/// on the CPUs is the work of others.
const PAUSE: Duration = Duration::from_millis(100);
/// Share of a CPU over the latest pauses from which on others use it: two readings of 1.5 ms of
/// a hundred would meet them, and a timer tick now and then does not make it.
const OTHERS_MAX: f64 = 0.05;

/// How far the machine is from quiet.
#[derive(Debug, Clone, PartialEq)]
struct State {
    /// Of each class its slowest yardstick.
    classes: BTreeMap<YardstickClass, Nearness>,
    /// The CPU that others use most, and its share.
    others: Option<(u32, f64)>,
}

impl State {
    fn others_use(&self) -> bool {
        self.others.is_some_and(|(_, share)| share > OTHERS_MAX)
    }
    fn is_quiet(&self) -> bool {
        self.classes.values().all(Nearness::is_near) && !self.others_use()
    }
}

/// Waits, and says in words what for and how long; none if the user interrupted.
pub fn wait(yardsticks: &mut OpenYardsticks<'_>, setup: &Setup, most: Duration) -> Option<String> {
    let unknown: Vec<&str> = yardsticks
        .known()
        .filter(|one| one.reference.is_none())
        .map(|one| one.class.word())
        .collect();
    let all = yardsticks.known().count();
    if all == 0 {
        return Some("did not wait: no case of this run has a yardstick".to_owned());
    }
    if unknown.len() == all {
        return Some(
            "did not wait: no reference is stored for the yardsticks of this run; hopcost calibrate \
             when the machine is quiet"
                .to_owned(),
        );
    }
    let lacking = match unknown.is_empty() {
        true => String::new(),
        false => format!("; no reference is stored for {}: hopcost calibrate", unknown.join(", ")),
    };
    let mut watch = Watch::of(yardsticks);
    let started = Instant::now();
    let mut first = None;
    loop {
        let state = watch.look(yardsticks, setup)?;
        let took = started.elapsed();
        if let Some(state) = state {
            let first = first.get_or_insert_with(|| state.clone());
            if state.is_quiet() || took >= most {
                return Some(format!("{}{lacking}", said(first, &state, took)));
            }
        }
    }
}

/// The latest readings, and the latest use of the CPUs.
struct Watch {
    readings_ns: Vec<Vec<f64>>,
    cpus: Vec<u32>,
    /// Of each pause, its length and what others used of each CPU.
    pauses: Vec<(f64, Vec<Option<f64>>)>,
}

impl Watch {
    fn of(yardsticks: &OpenYardsticks<'_>) -> Self {
        let mut cpus: Vec<u32> = yardsticks.known().flat_map(|one| one.cpus.clone()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self { readings_ns: vec![Vec::new(); yardsticks.known().count()], cpus, pauses: Vec::new() }
    }

    /// Sleeps for a pause and reads all; the state once there are enough readings. `None`: the user interrupted.
    fn look(&mut self, open: &mut OpenYardsticks<'_>, setup: &Setup) -> Option<Option<State>> {
        let before = self.busy_ns();
        let since = Instant::now();
        let interrupt = [setup.interrupt.as_raw_fd()];
        if sys::poll_readable(&interrupt, PAUSE.as_millis() as i32).ok()? == [true] {
            return None;
        }
        let used = self.busy_ns().into_iter().zip(before);
        let used = used.map(|(now, then)| Some(now?.checked_sub(then?)? as f64)).collect();
        self.pauses.push((since.elapsed().as_nanos() as f64, used));
        for (index, readings_ns) in (0..).zip(&mut self.readings_ns) {
            match open.read(index, Moment::Before) {
                Ok(read) => readings_ns.extend(read.map(|read| read.operation_ns)),
                Err(Failure::Interrupted) => return None,
                Err(Failure::Reason(_)) => (),
            }
        }
        Some((self.pauses.len() >= LATEST).then(|| self.state(open)))
    }

    fn busy_ns(&self) -> Vec<Option<u64>> {
        busy_ns(&Root::default(), &self.cpus)
    }

    fn state(&self, open: &OpenYardsticks<'_>) -> State {
        let mut classes: BTreeMap<YardstickClass, Nearness> = BTreeMap::new();
        for (one, readings_ns) in open.known().zip(&self.readings_ns) {
            let reference = one.reference.as_ref().map(|reference| reference.operation_ns);
            let Some(near) = reference.and_then(|ns| nearness(readings_ns, ns)) else { continue };
            let worst = classes.entry(one.class).or_insert(near);
            if near.ratio > worst.ratio {
                *worst = near;
            }
        }
        let latest = &self.pauses[self.pauses.len().saturating_sub(LATEST)..];
        let wall_ns: f64 = latest.iter().map(|(ns, _)| ns).sum();
        let share = |at: usize| {
            let used = latest.iter().map(|(_, used)| used.get(at).copied().flatten());
            // A tick of /proc/stat may end within a pause that it began before.
            used.sum::<Option<f64>>().map(|ns| (ns / wall_ns).min(1.0))
        };
        let shares = (0..).zip(&self.cpus).filter_map(|(at, cpu)| Some((*cpu, share(at)?)));
        State { classes, others: shares.max_by(|a, b| a.1.total_cmp(&b.1)) }
    }
}

/// What was waited for, and what came of it.
fn said(first: &State, last: &State, took: Duration) -> String {
    let outcome = match (first.is_quiet(), last.is_quiet()) {
        (true, _) => return "found the machine quiet at once".to_owned(),
        (false, true) => "",
        (false, false) => " in vain",
    };
    let (word, mut parts) = (if outcome.is_empty() { "now" } else { "in the end" }, Vec::new());
    for (class, then) in &first.classes {
        let now = last.classes.get(class).unwrap_or(then);
        if !then.is_near() || !now.is_near() {
            parts.push(format!(
                "{} was at {:.2} of its reference, {word} {:.2} (at most {:.2} counts as quiet)",
                class.word(),
                then.ratio,
                now.ratio,
                1.0 + now.tolerance
            ));
        }
    }
    if let (Some((cpu, then)), Some((_, now))) = (first.others, last.others)
        && (first.others_use() || last.others_use())
    {
        let percent = |share: f64| (share * 100.0).round();
        parts.push(format!(
            "others used {} % of CPU {cpu}, {word} {} %",
            percent(then),
            percent(now)
        ));
    }
    format!("waited {} s{outcome}: {}", took.as_secs_f64().round(), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(ratio: f64, others: f64) -> State {
        let near = Nearness { ratio, tolerance: 0.04 };
        State { classes: [(YardstickClass::Switch, near)].into(), others: Some((1, others)) }
    }

    #[test]
    fn what_was_waited_for_is_said() {
        let after = |first, last| said(&first, &last, Duration::from_millis(12_300));
        assert_eq!(after(state(1.02, 0.0), state(1.02, 0.0)), "found the machine quiet at once");
        assert_eq!(
            after(state(1.31, 0.01), state(1.02, 0.0)),
            "waited 12 s: switch was at 1.31 of its reference, now 1.02 (at most 1.04 counts as quiet)"
        );
        assert_eq!(
            after(state(1.0, 0.42), state(1.0, 0.9)),
            "waited 12 s in vain: others used 42 % of CPU 1, in the end 90 %"
        );
    }

    #[test]
    fn quiet_is_both() {
        assert!(state(1.04, 0.05).is_quiet() && state(0.7, 0.0).is_quiet());
        assert!(!state(1.05, 0.0).is_quiet() && !state(1.0, 0.06).is_quiet());
    }
}
