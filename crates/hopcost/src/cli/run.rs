//! `hopcost run`, and `hopcost` alone: plan, measure, read back, show.

use std::path::PathBuf;
use std::time::Duration;

use hopcost_model::axis::AXES;
use hopcost_model::case::Boundary;
use hopcost_model::group::distinct;
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_plan::{Ask, Machine, SuiteSource};
use hopcost_probe::interrupt;
use hopcost_probe::orphans::Orphans;

use super::exit::{not_comparable, usage};
use super::measured::{AxisArgs, MeasuredArgs, duration, percent, prepare};
use super::peer::{self, AgentArgs, PeerArgs};
use super::session::{RunSession, begun, program};
use super::shown::Shown;
use super::subcommand::{Called, Subcommand};
use super::{host, input, own};
use crate::run::peer::near::Peer;
use crate::run::runtimes::Runtimes;

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
    /// The case that multiples refer to
    #[arg(long, value_name = "CASE")]
    baseline: Option<String>,
    /// Rounds: trials of each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(hopcost_plan::ROUNDS_MAX)))]
    rounds: Option<u32>,
    /// More rounds for cases whose interval is wider than this to either side (2%)
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    until: Option<f64>,
    /// Operations per trial with two ends (streams: maximum messages per flow)
    #[arg(long, value_name = "N")]
    operations: Option<u64>,
    #[command(flatten)]
    measured: MeasuredArgs,
    /// A name to store with runs that belong together
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Resume an interrupted run
    #[arg(long, value_name = "RUN", conflicts_with_all = not_resumed())]
    resume: Option<String>,
    #[command(flatten)]
    peer: PeerArgs,
    #[command(flatten)]
    agent: AgentArgs,
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
    let others = "selectors suite baseline rounds until budget measure operations seed cpus out \
                  group dry_run";
    others.split(' ').chain(AXES.iter().map(|axis| axis.key))
}

impl Subcommand for Args {
    const NAME: &str = "run";
    const AXES: &[&str] = &["payload", "place", "wait", "runtime"];

    /// Plans, measures, reads back and shows; the words of the command line are stored with the run.
    fn run(&self, called: &Called) -> anyhow::Result<u8> {
        let MeasuredArgs { budget, cpus, out, .. } = &self.measured;
        let runtimes = self.measured.runtimes();
        let budget = duration("--budget", budget)?.map(Duration::from_nanos);
        if self.dry_run {
            let _orphans = Orphans::adopt()?;
            let peer = self.peer.start(cpus, budget, &interrupt::catch()?)?;
            let plan = plan(self, &runtimes, peer.as_ref())?;
            return self.shown.dry_run(&plan, runtimes.expected(&plan, None));
        }
        self.shown.ensure_run()?;
        let (_orphans, live) = (prepare()?, self.measured.live()?);
        let native = program(self.stand_in.as_deref())?;
        let (session, lease) = match &self.resume {
            Some(spec) => RunSession::resume(spec, native, runtimes, (&self.peer, &self.agent))?,
            None => {
                let (mut about, setup) = begun(&called.words, native, runtimes)?;
                about.group.clone_from(&self.group);
                let (mut setup, lease) = self.agent.begin(setup)?;
                setup.peer = self.peer.start(cpus, budget, &setup.interrupt)?;
                let plan = plan(self, &setup.runtimes, setup.peer.as_ref())?;
                (RunSession::begin(setup, &about, plan, out.as_deref())?, lease)
            }
        };
        self.shown.show_measured(&session.measured(lease, live)?)
    }
}

/// What is measured between two hosts by default.
const PAIR: &str = "pair";

/// Resolves the command line into a plan.
fn plan(args: &Args, runtimes: &Runtimes, peer: Option<&Peer>) -> anyhow::Result<Plan> {
    let of_pair = (peer.is_some() && args.selectors.is_empty()).then_some(PAIR);
    let cpus = &args.measured.cpus;
    let ask = Ask {
        suite: args.suite.as_deref().or(of_pair).map(suite).transpose()?,
        selectors: args.selectors.clone(),
        axes: args.axes.0.clone(),
        rounds: args.rounds,
        until: args.until,
        operations: args.operations,
        baseline: args.baseline.clone(),
        ..args.measured.ask(Args::BUDGET)?
    };
    let ask = beside_rust(ask, &args.measured.worker, runtimes)?;
    let here = if peer.is_some() { &cpus[..cpus.len().min(1)] } else { &cpus[..] };
    let machine = Machine { peer_cpu: peer.map(|peer| peer.far.cpu), ..host::machine(here)? };
    let mut plan = hopcost_plan::plan(&ask, &runtimes.catalog(), &machine).map_err(usage)?;
    if let Some(peer) = peer {
        peer::settle(&mut plan, peer)?;
        if !plan.cases.iter().any(|of| of.case.boundary == Boundary::Host) {
            let why = "none of these cases is between hosts; `hopcost show tcp` names the boundaries of a mechanism";
            return Err(usage(format!("--peer has no effect: {why}")));
        }
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

/// The same with what it means for the workers that are named.
fn beside_rust(ask: Ask, paths: &[PathBuf], runtimes: &Runtimes) -> anyhow::Result<Ask> {
    let mut workers = Vec::new();
    for (path, found) in paths.iter().zip(runtimes.named()) {
        let ready = found.state.as_ref();
        let ready = ready.map_err(|why| usage(format!("worker {}: {why}", path.display())))?;
        workers.push(&ready.description);
    }
    Ok(own::beside_rust(ask, &workers, &hopcost_probe::worker::mechanisms()))
}

/// A suite by name, or the text of a file.
fn suite(name: &str) -> anyhow::Result<SuiteSource> {
    Ok(input::source(name)?.unwrap_or_else(|| SuiteSource::Shipped(name.to_owned())))
}
