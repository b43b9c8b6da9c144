//! `hopcost run`, and `hopcost` alone: plan, measure, read back, show.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hopcost_model::group::distinct;
use hopcost_model::{AXES, Axis, Boundary, Description, Mechanism, Plan, PlannedCase, Workload};
use hopcost_plan::{Ask, Machine};
use hopcost_probe::interrupt;

use super::exit::{ensure, not_comparable, usage};
use super::measured::{AxisArgs, MeasuredArgs, prepare};
use super::peer::{self, PeerArgs};
use super::session::{begun, program};
use super::shown::Shown;
use super::{host, input};
use crate::run::peer::near::Peer;
use crate::run::runtimes::Runtimes;
use crate::run::{Session, reference};

/// Measure: a suite, or the cases you name
#[derive(clap::Args, Default)]
pub struct Args {
    /// Cases: pipe, 'unix-*', 'roundtrip/pipe?payload=64,4KiB&place=same-cpu'
    #[arg(value_name = "CASE")]
    selectors: Vec<String>,
    /// A suite: a name (`hopcost list --suites`) or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    suite: Option<String>,
    #[command(flatten)]
    axes: AxisArgs,
    /// Rounds: trials of each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(hopcost_plan::ROUNDS_MAX)))]
    rounds: Option<u32>,
    /// Operations per trial with two ends (streams: maximum messages per flow)
    #[arg(long, value_name = "N")]
    operations: Option<u64>,
    #[command(flatten)]
    measured: MeasuredArgs,
    /// Resume an interrupted run
    #[arg(long, value_name = "RUN", conflicts_with_all = not_resumed())]
    resume: Option<String>,
    #[command(flatten)]
    peer: PeerArgs,
    #[command(flatten)]
    shown: Shown,
    /// Print the plan, with the skipped cases and why, and measure nothing
    #[arg(long, conflicts_with_all = ["html", "plots"])]
    dry_run: bool,
    /// A program that plays the worker inside this binary, for tests
    #[arg(long, value_name = "PATH", hide = true)]
    stand_in: Option<PathBuf>,
}

/// The options of a plan: a run that is resumed has its own.
fn not_resumed() -> impl Iterator<Item = &'static str> {
    let others = "selectors suite rounds budget measure operations seed cpus out peer \
                  peer_address dry_run";
    others.split(' ').chain(AXES.iter().map(|axis| axis.key))
}

impl Args {
    /// Plans, measures, reads back and shows; the words of the command line are stored with the run.
    pub fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        let MeasuredArgs { budget, cpus, out, .. } = &self.measured;
        let runtimes = self.measured.runtimes();
        let budget = budget.map(Duration::from_nanos);
        if self.dry_run {
            interrupt::catch()?;
            let peer = self.peer.start(cpus, budget)?;
            let plan = plan(self, &runtimes, peer.as_ref())?;
            let machine = reference::Machine::of(&host::fingerprint(&plan));
            return self.shown.dry_run(&plan, runtimes.expected(&plan, &machine));
        }
        self.shown.ensure_run()?;
        prepare()?;
        let native = program(self.stand_in.as_deref())?;
        let session = match &self.resume {
            Some(spec) => Session::resume(spec, native, runtimes)?,
            None => {
                let (about, mut setup) = begun(words, native, runtimes)?;
                setup.peer = self.peer.start(cpus, budget)?;
                let plan = plan(self, &setup.runtimes, setup.peer.as_ref())?;
                Session::begin(setup, &about, plan, out.as_deref())?
            }
        };
        self.shown.show_measured(&session.measured(self.measured.live())?)
    }
}

/// What is measured between two hosts by default.
const PAIR: &str = "pair";

/// Resolves the command line into a plan.
fn plan(args: &Args, runtimes: &Runtimes, peer: Option<&Peer>) -> anyhow::Result<Plan> {
    let of_pair = (peer.is_some() && args.selectors.is_empty()).then_some(PAIR);
    let cpus = &args.measured.cpus;
    let suite = |name| input::source(name, hopcost_plan::suite);
    let ask = Ask {
        suite: args.suite.as_deref().or(of_pair).map(suite).transpose()?,
        selectors: args.selectors.clone(),
        axes: args.axes.0.clone(),
        rounds: args.rounds,
        operations: args.operations,
        ..args.measured.ask()
    };
    let mut workers = Vec::new();
    for (path, found) in args.measured.worker.iter().zip(runtimes.named()) {
        let ready = found.state.as_ref();
        let ready = ready.map_err(|why| usage(format!("worker {}: {why}", path.display())))?;
        workers.push(&ready.description);
    }
    let ask = beside_rust(ask, &workers, &hopcost_probe::worker::mechanisms());
    let here = if peer.is_some() { &cpus[..cpus.len().min(1)] } else { &cpus[..] };
    let machine = Machine { peer_cpu: peer.map(|peer| peer.far.cpu), ..host::machine(here)? };
    let mut plan = hopcost_plan::plan(&ask, &runtimes.catalog(), &machine).map_err(usage)?;
    if let Some(peer) = peer {
        peer::settle(&mut plan, peer)?;
        let is_between = plan.cases.iter().any(|of| of.case.boundary == Boundary::Host);
        let why = "none of these cases is between hosts; `hopcost show tcp` names the boundaries of a mechanism";
        ensure(is_between, format!("--peer has no effect: {why}"))?;
    }
    if !args.dry_run {
        hopcost_plan::ensure_live(&plan).map_err(usage)?;
        no_library(&plan).map_or(Ok(()), |why| Err(not_comparable(why)))?;
    }
    Ok(plan)
}

/// What a plan would compare whose libraries are all missing, and how to get one.
fn no_library(plan: &Plan) -> Option<String> {
    let library = |of: &PlannedCase| of.case.runtimes.caller.library().map(str::to_owned);
    let all = distinct(plan.cases.iter().filter_map(library));
    let is_none_here = plan.cases.iter().all(|of| of.skip.is_some() || library(of).is_none());
    (!all.is_empty() && is_none_here).then(|| {
        format!(
            "none of these libraries is here to be compared with what is beneath it: {}; \
             `hopcost worker install NAME` installs one, `hopcost worker list` says what it needs",
            all.join(", ")
        )
    })
}

/// Where no runtime is named, workers play what is asked for at both ends, or else everything
/// that they have; each case after that of Rust which has the same mechanism or its carrier, so
/// that there is something to compare it with.
fn beside_rust(mut ask: Ask, workers: &[&Description], rust: &[Mechanism]) -> Ask {
    let says = ask.selectors.iter().any(|selector| selector.contains("runtime="));
    let is_named = ask.axes.get("runtime").is_some_and(|runtimes| !runtimes.is_empty());
    if workers.is_empty() || says || is_named {
        return ask;
    }
    if ask.suite.is_some() {
        let runtimes = ask.axes.entry("runtime").or_default();
        runtimes.extend(workers.iter().map(|worker| worker.runtime.clone()));
        return ask;
    }
    let asked = std::mem::take(&mut ask.selectors);
    for worker in workers {
        let all = worker.mechanisms.iter().map(|mechanism| mechanism.name.clone()).collect();
        for selector in if asked.is_empty() { &all } else { &asked } {
            ask.selectors.extend(in_rust(selector, worker, rust, &ask.axes));
            ask.selectors.push(with(selector, &format!("runtime={}", worker.runtime)));
        }
    }
    ask
}

/// The selector of what Rust has to compare a selector's one mechanism with.
fn in_rust(
    selector: &str,
    worker: &Description,
    rust: &[Mechanism],
    axes: &BTreeMap<&'static str, Vec<String>>,
) -> Option<String> {
    let (path, query) = selector.split_once('?').unwrap_or((selector, ""));
    let (workload, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mechanism = worker.mechanisms.iter().find(|mechanism| mechanism.name == name)?;
    let has = |name: &&str| rust.iter().any(|known| known.name == *name);
    let same = [name, mechanism.carrier()].into_iter().find(has)?;
    let path = if workload.is_empty() { same.to_owned() } else { format!("{workload}/{same}") };
    // The parameters of a carrier are not those of what goes over it.
    let pairs = query.split('&').filter(|pair| {
        let key = pair.split('=').next().unwrap_or(pair);
        !pair.is_empty() && (same == name || Axis::of_key(key).is_some())
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    let mut beside = if query.is_empty() { path } else { format!("{path}?{query}") };
    let is_said = |key: &str| {
        let option = axes.get(key).is_some_and(|values| !values.is_empty());
        option || query.split('&').any(|pair| pair.split('=').next() == Some(key))
    };
    if let Some(payload) = mechanism.payload.filter(|_| !is_said("payload") && !is_said("field")) {
        beside = with(&beside, &format!("payload={}", payload.default));
    }
    // Where the worker's ends are, as the planner chooses it.
    let all = workload.parse().into_iter().chain(mechanism.workloads.first().copied());
    let two_ends = all.take(1).any(Workload::has_two_ends);
    let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
    let boundary = preferred.iter().find(|boundary| mechanism.boundaries.contains(boundary));
    if let Some(boundary) = boundary.filter(|_| two_ends && !is_said("boundary")) {
        beside = with(&beside, &format!("boundary={}", boundary.word()));
    }
    Some(with(&beside, "runtime=rust"))
}

/// A selector with one more key and its value.
pub fn with(selector: &str, pair: &str) -> String {
    let separator = if selector.contains('?') { '&' } else { '?' };
    format!("{selector}{separator}{pair}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> Description {
        let text = r#"{"protocol": 2, "runtime": "mine", "version": "1", "mechanisms": [
            {"name": "tcp", "workloads": ["roundtrip"], "boundaries": ["thread"],
             "waits": ["block"], "payload": {"min": 1, "max": 9, "default": 8}},
            {"name": "my-rpc", "workloads": ["roundtrip"], "boundaries": ["process"],
             "waits": ["block"], "payload": {"min": 1, "max": 99, "default": 32}, "carrier": "tcp"},
            {"name": "my-call", "workloads": ["call"], "boundaries": ["inline"], "waits": []}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn selectors(words: &[&str], payload: &[&str]) -> Vec<String> {
        let selectors: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let payload = payload.iter().map(|size| (*size).to_owned()).collect();
        let axes = BTreeMap::from([("payload", payload)]);
        let ask = Ask { selectors, axes, ..Ask::default() };
        beside_rust(ask, &[&worker()], &hopcost_probe::worker::mechanisms()).selectors
    }

    #[test]
    fn a_worker_stands_beside_rust() {
        assert_eq!(
            selectors(&[], &[]),
            [
                "tcp?payload=8&boundary=thread&runtime=rust",
                "tcp?runtime=mine",
                "tcp?payload=32&boundary=process&runtime=rust",
                "my-rpc?runtime=mine",
                "my-call?runtime=mine"
            ]
        );
        assert_eq!(
            selectors(&["roundtrip/my-rpc?deadline=5&place=same-cpu"], &["64"]),
            [
                "roundtrip/tcp?place=same-cpu&boundary=process&runtime=rust",
                "roundtrip/my-rpc?deadline=5&place=same-cpu&runtime=mine"
            ]
        );
        assert_eq!(selectors(&["my-*"], &[]), ["my-*?runtime=mine"]);
        assert_eq!(selectors(&["tcp?runtime=rust:mine"], &[]), ["tcp?runtime=rust:mine"]);
    }
}
