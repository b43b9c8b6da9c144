//! `hopcost run`, and `hopcost` alone: plan, measure, read back, show.

use hopcost_probe::interrupt;
use hopcost_probe::orphans::Orphans;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use hopcost_model::axis::{AXES, Axis};
use hopcost_model::case::Boundary;
use hopcost_model::plan::Plan;
use hopcost_model::results::Results;
use hopcost_model::text::{count, shell_word};
use hopcost_model::units;
use hopcost_plan::{Ask, Machine, SuiteSource};

use super::exit::{self, usage};
use super::help;
use super::input;
use super::output;
use super::own;
use super::peer::{self, AgentArgs, PeerArgs};
use super::session::{RunSession, begun};
use super::shown::{Printed, Shown};
use super::{host, report};
use crate::about;
use crate::run::peer::near::Peer;
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::Program;
use crate::run::{self, Ending, scratch};

/// Arguments of `run`.
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

/// The options that give values on the axes of a case, made from their table; by key.
#[derive(Default)]
pub(super) struct AxisArgs(pub BTreeMap<&'static str, Vec<String>>);

impl clap::Args for AxisArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(AXES.iter().map(|axis| {
            clap::Arg::new(axis.key)
                .long(axis.key)
                .aliases(help::OLD_NAMES.iter().filter(|(_, new)| *new == axis.key).map(|of| of.0))
                .help(axis.help)
                .value_name("LIST")
                .value_delimiter(',')
                .action(clap::ArgAction::Append)
        }))
    }
    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for AxisArgs {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let values = |axis: &Axis| matches.get_many(axis.key).into_iter().flatten().cloned();
        Ok(Self(AXES.iter().map(|axis| (axis.key, values(axis).collect())).collect()))
    }
    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How long and where something is measured: the options that the commands which measure share.
#[derive(clap::Args, Default)]
#[group(id = "measured")]
pub(super) struct MeasuredArgs {
    /// Time for all of it (75s, 2m); what answers a question ends when it is answered
    #[arg(long, value_name = "TIME", alias = "duration")]
    pub budget: Option<String>,
    /// Target length of a trial's measured phase (50ms; 20ms for compare, judge and explain)
    #[arg(long, value_name = "TIME")]
    pub measure: Option<String>,
    /// Seed of the order of the rounds
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// CPUs: the caller's and the callee's
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub cpus: Vec<u32>,
    /// Use an additional worker executable (workers/PROTOCOL.md); `run` puts its cases beside Rust's,
    /// unless cases or --runtime name the runtimes
    #[arg(long, value_name = "PATH")]
    pub worker: Vec<PathBuf>,
    /// Where to store the run
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl MeasuredArgs {
    /// The runtimes with the workers that are named.
    pub fn runtimes(&self) -> Runtimes {
        Runtimes::new(self.worker.clone())
    }

    /// What is asked of the planner by them, and by the budget of a command that has one by default.
    pub fn ask(&self, command: &str) -> anyhow::Result<Ask> {
        let default = help::budget(command).map(str::to_owned);
        Ok(Ask {
            budget_ns: duration("--budget", &self.budget.clone().or(default))?,
            measure_ns: duration("--measure", &self.measure)?,
            seed: self.seed.unwrap_or_else(|| about::random() >> 32),
            cpus: self.cpus.clone(),
            ..Ask::default()
        })
    }

    /// Plans and measures; `None` after an interrupt, of which `again` is the command that follows. The
    /// run stores the words of the command line.
    pub fn session(
        &self,
        words: &[OsString],
        again: &str,
        plan: impl FnOnce(&Runtimes) -> anyhow::Result<Plan>,
    ) -> anyhow::Result<Option<RunSession>> {
        self.session_in(words, again, self.out.as_deref(), plan)
    }

    /// The same with the file of the run.
    pub fn session_in(
        &self,
        words: &[OsString],
        again: &str,
        out: Option<&Path>,
        plan: impl FnOnce(&Runtimes) -> anyhow::Result<Plan>,
    ) -> anyhow::Result<Option<RunSession>> {
        let (about, setup) = begun(words, self.runtimes())?;
        let plan = plan(&setup.runtimes)?;
        let mut session = RunSession::begin(setup, &about, plan, out)?;
        if measure(&mut session)? == Ending::Interrupted {
            let workers = if again == RESUME { &self.worker[..] } else { &[] };
            interrupted(&session, again, workers)?;
            return Ok(None);
        }
        Ok(Some(session))
    }
}

/// What goes on with a run that the user ended.
pub(super) const RESUME: &str = "resume with: hopcost run --resume";
/// What shows one that cannot be gone on with.
pub(super) const REPORT: &str = "see them with: hopcost report";

/// Says what is kept of a run that the user ended, and the command for it, which wants the workers again.
pub(super) fn interrupted(
    session: &RunSession,
    command: &str,
    workers: &[PathBuf],
) -> anyhow::Result<u8> {
    let (path, kept) = session.kept().context("interrupted")?;
    let word = |path: &Path| shell_word(&path.display().to_string());
    let workers: String = workers.iter().map(|one| format!(" --worker {}", word(one))).collect();
    output::say(&format!(
        "hopcost: interrupted; {kept} finished trials are kept in {path}; {command} {path}{workers}{peer}",
        path = word(&path),
        peer = session.peer_options()
    ));
    Ok(exit::INTERRUPTED)
}

/// Plans, measures, reads back and shows; the words of the command line are stored with the run.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let _orphans = Orphans::adopt()?;
    let MeasuredArgs { budget, cpus, worker, out, .. } = &args.measured;
    let runtimes = args.measured.runtimes();
    let budget = duration("--budget", budget)?.map(Duration::from_nanos);
    if args.dry_run {
        let peer = args.peer.start(cpus, budget, &interrupt::catch()?)?;
        let plan = plan(args, &runtimes, peer.as_ref())?;
        return args.shown.dry_run(&plan, runtimes.expected(&plan, None));
    }
    prepare(&args.shown, out.as_deref())?;
    let (mut session, lease) = match &args.resume {
        Some(spec) => {
            RunSession::resume(spec, program(args)?, runtimes, (&args.peer, &args.agent))?
        }
        None => {
            let argv = words.iter().map(|word| word.to_string_lossy().into_owned());
            let about = about::run(argv.collect(), args.group.clone());
            let setup = Setup::new(&about.id, program(args)?, runtimes).map_err(usage)?;
            let (mut setup, lease) = args.agent.begin(setup)?;
            setup.peer = args.peer.start(cpus, budget, &setup.interrupt)?;
            let plan = plan(args, &setup.runtimes, setup.peer.as_ref())?;
            (RunSession::begin(setup, &about, plan, out.as_deref())?, lease)
        }
    };
    let ending = measure(&mut session)?;
    if ending == Ending::Interrupted && lease.is_over() {
        let (path, kept) = session.kept().context("the lease is over")?;
        let path = path.display();
        output::say(&format!(
            "hopcost: the lease is over; {kept} finished trials are kept in {path}"
        ));
        return Ok(exit::LEASE);
    }
    if ending == Ending::FarHostLost {
        let (path, kept) = session.kept().context("the far host does not answer")?;
        let path = shell_word(&path.display().to_string());
        output::say(&format!(
            "hopcost: the far host does not answer any more; {kept} finished trials are kept in {path}; \
             {RESUME} {path}{}",
            session.peer_options()
        ));
        return Ok(exit::ERROR);
    }
    if ending == Ending::Interrupted {
        let code = interrupted(&session, RESUME, worker)?;
        if session.kept().is_ok_and(|(_, kept)| kept > 0) {
            finish(&mut session, &args.shown)?;
        }
        return Ok(code);
    }
    Ok(report::verdict(&finish(&mut session, &args.shown)?))
}

/// What is done before anything is planned: what would end the run later ends it here, and
/// what earlier ones have left is removed.
pub(super) fn prepare(shown: &Shown, out: Option<&Path>) -> anyhow::Result<()> {
    shown.ensure_writable()?;
    out.map_or(Ok(()), |run| shown.spare(run))?;
    prepare_machine()
}

/// The same without what is shown.
pub(super) fn prepare_machine() -> anyhow::Result<()> {
    run::ensure_memory().and_then(|()| run::ensure_descriptors()).map_err(usage)?;
    for line in scratch::sweep() {
        output::say(&format!("hopcost: {line}"));
    }
    Ok(())
}

/// Reads a finished run back and shows it.
pub(super) fn finish(session: &mut RunSession, shown: &Shown) -> anyhow::Result<Results> {
    let results = session.results()?;
    show_finished(&results, session.path(), shown)?;
    Ok(results)
}

/// Shows a finished run that was read back.
pub(super) fn show_finished(results: &Results, path: &Path, shown: &Shown) -> anyhow::Result<()> {
    shown.spare(path)?;
    shown.show(results, path, Printed::Always)?;
    say_what_failed(results);
    Ok(())
}

/// Measures; where that fails, says what is kept.
pub(super) fn measure(session: &mut RunSession) -> anyhow::Result<Ending> {
    session.measure().map_err(|error| {
        let kept = match session.kept() {
            Ok((path, n)) => format!("{n} finished trials are kept in {}", path.display()),
            Err(why) => why.to_string(),
        };
        error.context(format!("the run stopped; {kept}"))
    })
}

/// Says on stderr how the first of the cases with failed trials is looked into.
fn say_what_failed(results: &Results) {
    let mut failed = results.results.iter().filter(|case| case.n_failed > 0).peekable();
    let replay = failed.peek().and_then(|case| case.replay.clone());
    if let (Some(replay), n) = (replay, failed.count()) {
        output::say(&format!(
            "hopcost: trials of {} failed; to see one fail, with every line of the protocol: {replay}",
            count(n, "case")
        ));
    }
}

fn program(args: &Args) -> anyhow::Result<Program> {
    match &args.stand_in {
        None => Program::own().context("finding this binary, which is also the worker"),
        Some(path) => {
            let path = path
                .canonicalize()
                .map_err(|error| usage(format!("cannot use worker {}: {error}", path.display())))?;
            Ok(Program { path, arguments: Vec::new(), directory: None })
        }
    }
}

/// A time that an option gives, in nanoseconds.
pub(super) fn duration(name: &str, text: &Option<String>) -> anyhow::Result<Option<u64>> {
    let parse =
        |text| units::parse_duration_ns(text).map_err(|error| usage(format!("{name}: {error}")));
    text.as_deref().map(parse).transpose()
}

/// What is measured between two hosts where nothing is named.
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
        ..args.measured.ask("run")?
    };
    let ask = beside_rust(ask, &args.measured.worker, runtimes)?;
    let here = if peer.is_some() { &cpus[..cpus.len().min(1)] } else { &cpus[..] };
    let machine = Machine { peer_cpu: peer.map(|peer| peer.far.cpu), ..host::machine(here)? };
    let mut plan = hopcost_plan::plan(&ask, &runtimes.catalog(), &machine).map_err(usage)?;
    if let Some(peer) = peer {
        peer::settle(&mut plan, peer)?;
        if !plan.cases.iter().filter_map(|of| of.known()).any(|of| of.boundary == Boundary::Host) {
            let why = "none of these cases is between hosts; `hopcost show tcp` names the boundaries of a mechanism";
            return Err(usage(format!("--peer has no effect: {why}")));
        }
    }
    if !args.dry_run {
        hopcost_plan::ensure_live(&plan).map_err(usage)?;
    }
    Ok(plan)
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

/// A share from `2%` or `0.5%`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=1.0).contains(share));
    share.ok_or_else(|| "want a percentage from 0.1% to 100%, such as 2%".to_owned())
}

/// A suite by name, or the text of a file: what looks like a path is one.
pub(super) fn suite(name: &str) -> anyhow::Result<SuiteSource> {
    if !name.contains('/') && !name.ends_with(".toml") {
        return Ok(SuiteSource::Shipped(name.to_owned()));
    }
    text_of(Path::new(name))
}

/// The most a suite's or a claims file may hold.
const SUITE_BYTES_MAX: u64 = 1 << 20;

/// The text of a suite's or a claims file.
pub(super) fn text_of(path: impl AsRef<Path>) -> anyhow::Result<SuiteSource> {
    let file = path.as_ref().display().to_string();
    let bytes = input::read(path.as_ref(), SUITE_BYTES_MAX);
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| std::io::Error::other("not UTF-8 text"))
    });
    let text = text.map_err(|e| usage(format!("{file}: {e}")))?;
    Ok(SuiteSource::Text { file, text })
}
