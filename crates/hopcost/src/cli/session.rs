//! A run being made, or gone on with: its file, and what it starts from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_file::{RunFile, Runs};
use hopcost_model::host::Host;
use hopcost_model::plan::Plan;
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{CpuAccounting, RawRun, RawTrial, RunAbout, Yardstick, YardstickClass};
use hopcost_model::results::{CaseResult, Results};
use hopcost_plan::Expected;
use hopcost_probe::interrupt;

use super::exit::{not_comparable, usage};
use super::peer::{AgentArgs, Lease, PeerArgs};
use super::progress::Line;
use super::{host, output, recompute, report};
use crate::about;
use crate::run::peer::near::Peer;
use crate::run::reference::{Machine, References, Spacing};
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;
use crate::run::setup::Setup;
use crate::run::worker::Program;
use crate::run::{self, Ending, Progress, Session, Sink, clocks, yardstick};

/// A run and its file.
pub struct RunSession {
    setup: Setup,
    file: RunFile,
    path: PathBuf,
    plan: Plan,
    earlier: Vec<RawTrial>,
    clocks: Vec<ClockReading>,
    yardsticks: Vec<Yardstick>,
    about: RunAbout,
    machine: Machine,
}

/// What a new run starts from; the words of the command line are stored with it.
pub fn begun(words: &[OsString], runtimes: Runtimes) -> anyhow::Result<(RunAbout, Setup)> {
    let argv = words.iter().map(|word| word.to_string_lossy().into_owned());
    let about = about::run(argv.collect(), None);
    let native = Program::own().context("finding this binary, which is also the worker")?;
    let setup = Setup::new(&about.id, native, runtimes).map_err(usage)?;
    Ok((about, setup))
}

impl RunSession {
    /// A new run, in the runs directory where no file is named.
    pub fn begin(
        setup: Setup,
        about: &RunAbout,
        plan: Plan,
        out: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let planned = yardstick::of_plan(&plan, &setup).all;
        run::ensure_descriptors_for(&plan, &planned).map_err(usage)?;
        let path = match out {
            Some(path) => path.to_owned(),
            None => Runs::of_user().and_then(|runs| runs.path_for(&about.id)).map_err(usage)?,
        };
        let mut before = host::of_run(&plan, &setup.scratch);
        before.readings.extend(setup.peer.iter().flat_map(Peer::readings_before));
        let file = RunFile::create(&path, about, &plan, &before).map_err(usage)?;
        let machine = Machine::of(&before);
        let (earlier, clocks, yardsticks) = (Vec::new(), Vec::new(), Vec::new());
        let about = about.clone();
        Ok(Self { setup, file, path, plan, earlier, clocks, yardsticks, about, machine })
    }

    /// A run that was cut off.
    pub fn resume(
        spec: &str,
        native: Program,
        runtimes: Runtimes,
        (peer, agent): (&PeerArgs, &AgentArgs),
    ) -> anyhow::Result<(Self, Lease)> {
        let path = report::find(spec)?;
        let (mut file, raw) = hopcost_file::open_for_resume(&path).map_err(usage)?;
        if raw.about.ended.is_some() {
            return Err(usage(format!(
                "{} is complete: there is nothing to resume; see hopcost report",
                path.display()
            )));
        }
        same_machine(&raw)?;
        same_build(&raw)?;
        let setup = Setup::new(&raw.about.id, native, runtimes).map_err(usage)?;
        same_workers(&raw, &setup.runtimes)?;
        let rust = hopcost_probe::worker::mechanisms();
        let (mut setup, lease) = agent.begin(setup)?;
        setup.peer = peer.greet_again(&raw.about.id, &raw.plan, &raw.host_before)?;
        let peer_cpu = setup.peer.as_ref().map(|peer| peer.far.cpu);
        let machine = hopcost_plan::Machine { peer_cpu, ..host::machine(&raw.plan.cpus)? };
        hopcost_plan::check_resumed(&raw.plan, rust, &|| setup.runtimes.facts(), &machine)
            .map_err(|why| usage(format!("cannot resume: {why}; start a new run")))?;
        let planned = yardstick::of_resumed(&raw.plan, &setup, &raw.yardsticks).all;
        run::ensure_descriptors_for(&raw.plan, &planned).map_err(usage)?;
        file.set_resumed(raw.about.resumed.saturating_add(1)).map_err(usage)?;
        let machine = Machine::of(&raw.host_before);
        let RawRun { about, plan, trials: earlier, clocks, yardsticks, .. } = raw;
        let session = Self { setup, file, path, plan, earlier, clocks, yardsticks, about, machine };
        Ok((session, lease))
    }

    /// Whether an end of it is on another host.
    pub fn has_far_host(&self) -> bool {
        self.setup.peer.is_some()
    }

    /// Where the run is stored.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its file is by now, and how many finished trials are in it.
    pub fn kept(&self) -> hopcost_file::Result<(PathBuf, i64)> {
        self.file.kept()
    }

    /// Whether the user has interrupted, also since the last trial.
    pub fn is_interrupted(&self) -> anyhow::Result<bool> {
        Ok(interrupt::came())
    }

    /// Measures what is left of the plan.
    pub fn measure(&mut self) -> anyhow::Result<Ending> {
        if self.clocks.is_empty() {
            let Some(clocks) = clocks::calibrate(&self.plan, &self.setup)? else {
                return Ok(Ending::Interrupted);
            };
            self.file.put_clocks(&clocks)?;
            self.file.put_workers(&self.setup.runtimes.taking_part(&self.plan))?;
            self.clocks = clocks;
        }
        let base_ns = self.earlier.iter().map(|t| t.started_ns + t.took_ns).max().unwrap_or(0);
        let mut yardsticks = yardstick::of_resumed(&self.plan, &self.setup, &self.yardsticks);
        self.look_up(&mut yardsticks.all);
        let expected = self.expected(&yardsticks.all);
        let line = Line::start(&self.plan, expected);
        let session = Session {
            setup: &self.setup,
            plan: &self.plan,
            clocks: &self.clocks,
            yardsticks: &yardsticks,
            expected_ns: expected.ns,
            earlier: &self.earlier,
        };
        let known = yardsticks.all.clone();
        let trials = self.plan.live().count().saturating_mul(self.plan.rounds as usize);
        let looks = self.plan.until.is_some() || self.plan.question.is_some();
        let is_kept = looks || trials <= KEPT_MAX;
        let so_far = is_kept.then(|| self.so_far());
        let mut store = Store {
            file: &mut self.file,
            line: &line,
            decided: None,
            base_ns,
            yardsticks: known,
            so_far,
        };
        let ending = run::execute(&session, &mut store);
        line.clear();
        let ending = ending?;
        if matches!(ending, Ending::Complete | Ending::BudgetSpent) {
            // What cannot be calibrated any more was so before.
            if let Ok(Some(clocks)) = clocks::native(&self.plan, &self.setup) {
                self.file.put_clocks_after(&clocks)?;
            }
            let mut after = host::of_run(&self.plan, &self.setup.scratch);
            if let Some(peer) = &self.setup.peer {
                match peer.readings() {
                    Ok(readings) => after.readings.extend(readings),
                    Err(why) => {
                        output::say(&format!("hopcost: the far host, after the run: {why}"))
                    }
                }
            }
            self.file.finish(&after, &hopcost_file::utc(about::unix_seconds()))?;
        }
        Ok(ending)
    }

    /// How long the run takes, about, with what is known of this machine: the level of a yardstick
    /// is that of a pipe on a quiet machine, which most others exceed by a fifth.
    fn expected(&self, yardsticks: &[Yardstick]) -> Expected {
        let mut wakes = yardsticks.iter().filter(|one| one.class == YardstickClass::Wake);
        let known = wakes.find_map(|one| one.reference.as_ref());
        let two_cpus_ns = known.map(|known| (1.2 * known.operation_ns) as u64);
        self.setup.runtimes.expected(&self.plan, two_cpus_ns)
    }

    /// Fills in the quiet speeds that are stored for this machine.
    fn look_up(&self, yardsticks: &mut [Yardstick]) {
        if yardsticks.iter().all(|one| one.reference.is_some()) {
            return;
        }
        match References::of_user(self.machine.clone(), Spacing::of(&self.plan)) {
            Ok(known) => {
                for one in yardsticks.iter_mut().filter(|one| one.reference.is_none()) {
                    one.reference = known.of(one).cloned();
                }
            }
            Err(why) => output::say(&format!("hopcost: {why:#}; hopcost goes on without")),
        }
    }

    /// Stores for the runs that follow what a complete run teaches of this machine.
    fn learn(&self, results: &Results) {
        let known = References::of_user(self.machine.clone(), Spacing::of(&self.plan));
        if let Err(why) = known.and_then(|mut known| known.learn(&results.yardsticks)) {
            output::say(&format!("hopcost: {why:#}; later runs do without"));
        }
    }

    /// What is known before the first trial, for looks at the widths of intervals.
    fn so_far(&self) -> RawRun {
        let is_whole = self.plan.question.is_some();
        let kept = |trial: RawTrial| if is_whole { trial } else { thinned(trial) };
        let earlier = self.earlier.iter().cloned().map(kept);
        RawRun {
            about: self.about.clone(),
            plan: self.plan.clone(),
            host_before: Host::default(),
            host_after: None,
            clocks: self.clocks.clone(),
            clocks_after: Vec::new(),
            yardsticks: Vec::new(),
            workers: Vec::new(),
            trials: earlier.collect(),
            accounting: Vec::new(),
        }
    }

    /// Reads the run back, and stores what follows from it beside it.
    pub fn results(&mut self) -> anyhow::Result<Results> {
        let results = report::results(&hopcost_file::open(&self.path, &Scratch::for_copy)?);
        let rows = recompute::estimates(&results);
        self.file.put_derived(&rows, &results.findings)?;
        if results.about.ended.is_some() && !results.yardsticks.is_empty() {
            self.learn(&results);
        }
        Ok(results)
    }
}

/// Refuses to go on with another worker under the same name, or without one.
fn same_workers(raw: &RawRun, runtimes: &Runtimes) -> anyhow::Result<()> {
    // `same_build` has seen to Rust's.
    for then in raw.workers.iter().filter(|worker| !worker.is_rust()) {
        let name = then.runtime.parse().map_err(usage)?;
        let now = runtimes.ready(&name).map_err(|why| {
            usage(format!("cannot resume: {why}; a program of your own is named by --worker PATH"))
        })?;
        if hopcost_file::as_read(&now.description).as_ref() != Some(then) {
            return Err(not_comparable(format!(
                "cannot resume: the worker of {name} says something else of itself than when the \
                 run began (version {} then, {} now); start a new run",
                then.version, now.description.version
            )));
        }
    }
    Ok(())
}

/// Refuses to go on with a run of another machine, kernel or hopcost.
fn same_machine(raw: &RawRun) -> anyhow::Result<()> {
    let now = host::fingerprint(&raw.plan);
    for key in ["cpu.model", "cpu.online", "kernel.release", "virt.hypervisor"] {
        let (then, now) = (raw.host_before.get(key), now.get(key));
        if then != now {
            return Err(not_comparable(format!(
                "cannot resume: {key} was `{}` and is `{}`; start a new run",
                then.unwrap_or("unknown"),
                now.unwrap_or("unknown")
            )));
        }
    }
    Ok(())
}

/// Refuses to go on with trials of another hopcost, whose numbers may be of another way to do
/// the same. What an older file does not say is not compared.
fn same_build(raw: &RawRun) -> anyhow::Result<()> {
    let (then, now) = (&raw.about, about::run(Vec::new(), None));
    let refuse = |what: &str, then: &str, now: &str| {
        Err(not_comparable(format!(
            "cannot resume: made by hopcost of {what} {then}, this is {now}; go on with that \
             one or start a new run"
        )))
    };
    if then.version != now.version {
        return refuse("version", &then.version, &now.version);
    }
    let rust = hopcost_probe::worker::mechanisms();
    for then in raw.rust().iter().flat_map(|worker| &worker.mechanisms) {
        let now = rust.iter().find(|now| now.name == then.name);
        if let Some(now) = now.filter(|now| now.revision != then.revision) {
            let what = format!("{} in revision", then.name);
            return refuse(&what, &then.revision.to_string(), &now.revision.to_string());
        }
    }
    if then.commit != now.commit {
        return refuse("commit", &then.commit, &now.commit);
    }
    match (&then.build.checksum, &now.build.checksum) {
        (Some(then), Some(now)) if then != now => refuse("checksum", then, now),
        _ => Ok(()),
    }
}

/// Makes trials durable and draws between them.
struct Store<'a> {
    file: &'a mut RunFile,
    line: &'a Line,
    /// Of a run that judges claims, at the last look: how many are decided, of how many.
    decided: Option<(usize, usize)>,
    base_ns: u64,
    /// As they are known by now.
    yardsticks: Vec<Yardstick>,
    /// The trials so far, where their widths are looked at; its yardsticks are filled in then.
    so_far: Option<RawRun>,
}

/// Trials up to which a plan is looked at for the widths of its intervals although it goes by its
/// rounds: 80 MiB of samples.
const KEPT_MAX: usize = 20_000;

/// Samples of a trial that a look needs: enough for its median.
const LOOK_SAMPLES: usize = 1_000;

/// A trial with as many samples as a look needs; batches stay in pairs.
fn thinned(mut trial: RawTrial) -> RawTrial {
    let every = 2 * trial.samples.len().div_ceil(2 * LOOK_SAMPLES).max(1);
    let pairs = trial.samples.chunks(every).flat_map(|chunk| chunk.iter().take(2));
    trial.samples = pairs.copied().collect();
    trial
}

impl Sink for Store<'_> {
    fn trial(&mut self, mut trial: RawTrial) -> anyhow::Result<()> {
        interrupt::stall("store");
        trial.started_ns += self.base_ns;
        if let Some(so_far) = &mut self.so_far {
            // The answer is to be the one by which the run stopped.
            let is_whole = so_far.plan.comparison.is_some() || so_far.plan.question.is_some();
            so_far.trials.push(if is_whole { trial.clone() } else { thinned(trial.clone()) });
        }
        self.file.append_trial(&trial).context("storing a trial")
    }
    fn yardsticks(&mut self, yardsticks: &[Yardstick]) -> anyhow::Result<()> {
        self.yardsticks = yardsticks.to_vec();
        self.file.put_yardsticks(yardsticks).context("storing the yardsticks")
    }
    fn accounting(&mut self, accounting: &[CpuAccounting]) -> anyhow::Result<()> {
        self.file.put_accounting(accounting).context("storing the CPU accounting")
    }
    fn widths(&mut self) -> anyhow::Result<BTreeMap<u32, f64>> {
        let Some(so_far) = &mut self.so_far else { return Ok(BTreeMap::new()) };
        so_far.yardsticks.clone_from(&self.yardsticks);
        let rust = hopcost_probe::worker::mechanisms();
        let results = hopcost_read::read(so_far, &rust).results;
        let width = |case: &CaseResult| {
            let (_, estimate) = case.estimates.as_ref()?.headline()?;
            // What the clocks leave open no round makes narrower.
            let bound_ns = case.clock_bound_ns().unwrap_or(0.0);
            let side_ns = (estimate.high? - estimate.low?) / 2.0 - bound_ns;
            Some(side_ns / estimate.point.filter(|p| *p > 0.0)?)
        };
        let all = (0..).zip(&results).filter_map(|(index, case)| Some((index, width(case)?)));
        Ok(all.collect())
    }
    fn wanted(&mut self) -> Option<BTreeSet<u32>> {
        let so_far = self.so_far.as_mut()?;
        so_far.yardsticks.clone_from(&self.yardsticks);
        let look = hopcost_read::look(so_far, &hopcost_probe::worker::mechanisms());
        self.decided = look.decided;
        Some(look.wanted)
    }
    fn progress(&mut self, progress: &Progress) {
        self.line.draw(progress, self.decided);
    }
}
