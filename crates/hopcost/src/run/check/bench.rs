//! What a check needs, and the trials that it makes: of a fixed plan, as `hopcost run` would
//! resolve it.

use hopcost_model::case::{Boundary, Case, Placement, Runtime, Workload};
use hopcost_model::mechanism::{LinkSource, Mechanism, Peers};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::Stamp;
use hopcost_plan::{Ask, Catalog, Machine};
use hopcost_probe::mechanism;

use crate::run::runtimes::Ready;
use crate::run::setup::Setup;
use crate::run::trial;
use crate::run::trial::spec::{Outcome, TrialSpec};
use crate::run::workers::Workers;
use crate::run::yardstick::Beside;

/// Sizes of a message that are tried, as far as a mechanism has them.
const SIZES: [u32; 3] = [1, 63, 4097];
/// The largest size that is tried.
const SIZE_MAX: u32 = 1 << 20;

/// What a check needs.
pub struct Bench<'a> {
    /// What its trials need.
    pub setup: &'a Setup,
    pub ready: &'a Ready,
    pub runtime: &'a Runtime,
    /// Where they run.
    pub machine: &'a Machine,
    /// Mechanisms to check; every one if empty.
    pub only: &'a [String],
}

/// How a check ended.
pub enum Verdict {
    /// As it has to be.
    Passed,
    /// Not, for this reason.
    Failed(String),
    /// Not made, for this reason.
    Skipped(String),
}

pub struct Check {
    /// What was checked.
    pub what: String,
    /// How it ended.
    pub verdict: Verdict,
}

impl Check {
    /// From what became of it.
    pub fn of(what: impl Into<String>, result: Result<(), String>) -> Self {
        let verdict = match result {
            Ok(()) => Verdict::Passed,
            Err(why) => Verdict::Failed(why),
        };
        Self { what: what.into(), verdict }
    }
    /// One that is not made.
    pub fn skipped(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), verdict: Verdict::Skipped(why.into()) }
    }
}

impl Bench<'_> {
    /// Every way of playing a mechanism that is tried.
    pub fn plan(&self, mechanism: &Mechanism) -> Result<Plan, String> {
        let itself = || vec![Ready::facts(self.runtime, Ok(self.ready))];
        let ask = Ask { selectors: selectors(mechanism, self.runtime), ..Ask::default() };
        let catalog = Catalog::new(hopcost_probe::worker::mechanisms(), itself);
        let plan = hopcost_plan::plan(&ask, &catalog, self.machine);
        plan.map_err(|error| error.to_string())
    }

    /// A trial of so many operations, after half as many that warm up.
    pub fn trial(
        &self,
        plan: &Plan,
        case: &Case,
        stamp: Stamp,
        count: u64,
    ) -> Result<Outcome, String> {
        let workers = Workers::assemble(case, &self.setup.runtimes)?;
        let cpus = plan.cpus_for(case.placement);
        let counts = (count / 2, count);
        let spec = TrialSpec::exactly(self.setup, case, &workers, cpus, counts);
        Ok(trial::run(&TrialSpec { stamp: Some(stamp), ..spec }, Beside::NONE))
    }
}

/// With itself over every boundary, and with Rust at either end where both can meet.
fn selectors(mechanism: &Mechanism, own: &Runtime) -> Vec<String> {
    let name = &mechanism.name;
    let mut selectors = Vec::new();
    if mechanism.workloads.contains(&Workload::Call) {
        selectors.push(format!("call/{name}?runtime={own}"));
    }
    if !mechanism.workloads.contains(&Workload::Roundtrip) {
        return selectors;
    }
    let has = |p: &Placement| mechanism.placements.is_empty() || mechanism.placements.contains(p);
    let placements = [Placement::Free, Placement::SameCpu].into_iter().filter(has);
    let placements: Vec<_> = placements.map(Placement::word).collect();
    let sizes = sizes(mechanism);
    let payload =
        if sizes.is_empty() { String::new() } else { format!("&payload={}", list(sizes)) };
    let boundaries = list(mechanism.boundaries.iter().map(|boundary| boundary.word()));
    let places = list(&placements);
    selectors.push(format!(
        "roundtrip/{name}?runtime={own}&boundary={boundaries}&place={places}{payload}"
    ));
    let meets_rust = mechanism.peers == Peers::Any
        && mechanism.link != LinkSource::Own
        && mechanism.boundaries.contains(&Boundary::Process)
        && mechanism::find(mechanism.carrier()).is_some();
    if meets_rust {
        let pairs = format!("{own}:rust,rust:{own}");
        // An end is pinned like this whoever its partner is.
        let place = list(placements.first());
        selectors.push(format!(
            "roundtrip/{name}?runtime={pairs}&boundary=process&place={place}{payload}"
        ));
    }
    selectors
}

/// The sizes to try; the first is the default.
fn sizes(mechanism: &Mechanism) -> Vec<u32> {
    let Some(payload) = mechanism.payload else { return Vec::new() };
    let max = payload.max.min(SIZE_MAX);
    let mut tried = Vec::new();
    let within = SIZES.into_iter().filter(|size| (payload.min..=max).contains(size));
    for size in [payload.default, payload.min, max].into_iter().chain(within) {
        if !tried.contains(&size) {
            tried.push(size);
        }
    }
    tried
}

fn list(words: impl IntoIterator<Item = impl ToString>) -> String {
    words.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(",")
}
