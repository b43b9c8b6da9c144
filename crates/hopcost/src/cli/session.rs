//! A run being made, or gone on with: its file, and what it starts from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_file::{RunFile, Runs};
use hopcost_model::text::shell_word;
use hopcost_model::{Description, Plan, Question, RawRun, RunAbout};
use hopcost_probe::interrupt;
use hopcost_read::results::Results;

use super::exit::{self, ensure, not_comparable, usage};
use super::progress::{Line, Live};
use super::{host, output, runs};
use crate::about;
use crate::run::reference::{self, Machine};
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::Program;
use crate::run::{self, Ending, Rounds, Session, clocks, distances, yardstick};

/// A run that was measured, to its end or until something cut it off.
pub struct Measured {
    pub path: PathBuf,
    pub results: Results,
    /// The exit code of what cut it off.
    pub cut_off: Option<u8>,
}

/// The worker inside this binary, or a program that stands in for it.
pub fn program(stand_in: Option<&Path>) -> anyhow::Result<Program> {
    let Some(path) = stand_in else {
        return Program::own().context("finding this binary, which is also the worker");
    };
    let found = path.canonicalize();
    let path = found.map_err(|e| usage(format!("cannot use worker {}: {e}", path.display())))?;
    Ok(Program { path, arguments: Vec::new(), directory: None })
}

/// What a new run starts from; the words of the command line are stored with it.
pub fn begun(
    words: &[OsString],
    native: Program,
    runtimes: Runtimes,
) -> anyhow::Result<(RunAbout, Setup)> {
    let argv = words.iter().map(|word| word.to_string_lossy().into_owned());
    let about = about::run(argv.collect());
    let setup = Setup::new(&about.id, native, runtimes).map_err(usage)?;
    match distances::learn(&setup, &host::allowed_cpus()?) {
        Ok(moved) => moved.iter().for_each(|line| output::say(&format!("hopcost: {line}"))),
        Err(why) => {
            output::say(&format!("hopcost: {why:#}; hopcost takes CPUs as /sys lists them"))
        }
    }
    Ok((about, setup))
}

impl Session {
    /// A new run, in the runs directory where no file is named.
    pub fn begin(
        setup: Setup,
        about: &RunAbout,
        plan: Plan,
        out: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let yardsticks = yardstick::of_plan(&plan, &setup);
        run::ensure_descriptors_for(&plan, &yardsticks).map_err(usage)?;
        let path = match out {
            Some(path) => path.to_owned(),
            None => Runs::of_user().and_then(|runs| runs.path_for(&about.id)).map_err(usage)?,
        };
        let mut before = host::of_run(&plan, &setup.scratch);
        before.readings.extend(setup.peer.iter().flat_map(|peer| peer.readings_of(&peer.far)));
        let file = RunFile::create(&path, about, &plan, &before).map_err(usage)?;
        let machine = Machine::of(&before);
        let clocks = Vec::new();
        Ok(Self { setup, plan, clocks, yardsticks, file, path, machine })
    }

    /// A run that was cut off.
    pub fn resume(spec: &str, native: Program, runtimes: Runtimes) -> anyhow::Result<Self> {
        let path = runs::find(spec)?;
        let mut file = hopcost_file::open_for_resume(&path).map_err(usage)?;
        let raw = RawRun { trials: Vec::new(), ..file.run().clone() };
        let why = "is complete: there is nothing to resume; see hopcost report";
        ensure(raw.about.ended.is_none(), format!("{} {why}", path.display()))?;
        same_machine_and_build(&raw)?;
        let setup = Setup::new(&raw.about.id, native, runtimes).map_err(usage)?;
        same_workers(&raw, &setup.runtimes)?;
        let machine = host::machine(&raw.plan.cpus)?;
        hopcost_plan::check_resumed(&raw.plan, &setup.runtimes.catalog(), &machine)
            .map_err(|why| usage(format!("cannot resume: {why}; start a new run")))?;
        let yardsticks = yardstick::of_resumed(&raw.plan, &setup, &raw.yardsticks);
        run::ensure_descriptors_for(&raw.plan, &yardsticks).map_err(usage)?;
        file.set_resumed(raw.about.resumed.saturating_add(1)).map_err(usage)?;
        let machine = Machine::of(&raw.host_before);
        let RawRun { plan, clocks, .. } = raw;
        Ok(Self { setup, plan, clocks, yardsticks, file, path, machine })
    }

    /// Measures what is left of the plan and reads the run back. It prints what cut it off, with what
    /// goes on from there; where nothing is finished, that is the error.
    pub fn measured(mut self, live: Live) -> anyhow::Result<Measured> {
        let cut_off = match self.measure(live) {
            Ok(Ending::ByItself) => None,
            Ok(Ending::FarHostLost) => Some(("the far host does not answer any more", exit::ERROR)),
            // After an interrupt whatever fails does so for that.
            Err(_) if interrupt::came() => Some(("interrupted", exit::INTERRUPTED)),
            Err(error) => {
                let kept = match self.file.kept() {
                    Ok((path, n)) => format!("{n} finished trials are kept in {}", path.display()),
                    Err(why) => why.to_string(),
                };
                return Err(error.context(format!("the run stopped; {kept}")));
            }
        };
        if let Some((why, code)) = cut_off {
            let (path, kept) = self.file.kept().context(why)?;
            let path = shell_word(&path.display().to_string());
            let again = self.again(&path);
            let line = format!("{why}; {kept} finished trials are kept in {path}; {again}");
            if kept == 0 {
                return Err(exit::with_code(code, line));
            }
            output::say(&format!("hopcost: {line}"));
            interrupt::report();
        }
        let results = self.results()?;
        Ok(Measured { path: self.path, results, cut_off: cut_off.map(|(_, code)| code) })
    }

    /// The command that goes on with it, or shows one that is made in one sitting.
    fn again(&self, path: &str) -> String {
        let Self { setup, plan, .. } = self;
        let explains = matches!(plan.question, Some(Question::Explanation {}));
        if explains || plan.comparison.is_some() || setup.peer.is_some() {
            return format!("see them with: hopcost report {path}");
        }
        let workers = setup.runtimes.programs.iter().map(|path| path.display().to_string());
        let workers: String =
            workers.map(|one| format!(" --worker {}", shell_word(&one))).collect();
        format!("resume with: hopcost run --resume {path}{workers}")
    }

    /// Measures, and stores what is known after the last trial of a run that ends by itself.
    fn measure(&mut self, live: Live) -> anyhow::Result<Ending> {
        let Self { setup, plan, clocks, yardsticks, .. } = self;
        if clocks.is_empty() {
            let calibrated = clocks::calibrate(plan, setup)?;
            // A description keeps the reasons of its counts to itself.
            let workers = setup.runtimes.taking_part(plan);
            let as_read =
                |one: &Description| hopcost_file::as_read(one).unwrap_or_else(|| one.clone());
            let workers = workers.iter().map(as_read).collect();
            self.file.change("store clocks and workers", |run| {
                run.clocks.clone_from(&calibrated);
                run.workers = workers;
            })?;
            *clocks = calibrated;
        }
        let rest = hopcost_plan::rests(plan);
        if let Err(why) = reference::look_up(&self.machine, rest, &mut yardsticks.all) {
            output::say(&format!("hopcost: {why:#}; hopcost continues without it"));
        }
        let expected = setup.runtimes.expected(plan, &self.machine);
        let earlier = self.file.run().trials.len();
        let mut line = Line::start(&self.plan, expected, live, earlier);
        let mut draw = |progress: &run::Progress, run: &RawRun| line.draw(progress, run);
        let ending = Rounds::of(self, expected.ns, &mut draw).and_then(Rounds::run);
        line.end(self.file.run());
        let ending = ending?;
        if ending == Ending::ByItself {
            self.finish()?;
        }
        Ok(ending)
    }

    /// Stores what is known after the last trial.
    fn finish(&mut self) -> anyhow::Result<()> {
        let Self { setup, plan, .. } = self;
        // What cannot be calibrated any more was so before.
        if let Ok(clocks) = clocks::of_cpus(&plan.local_cpus(), setup) {
            self.file.change("store the clocks", |run| run.clocks_after = clocks)?;
        }
        let mut after = host::of_run(plan, &setup.scratch);
        match setup.peer.as_ref().map(|peer| peer.readings()) {
            Some(Ok(readings)) => after.readings.extend(readings),
            Some(Err(why)) => {
                output::say(&format!("hopcost: the far host, after the run: {why:#}"))
            }
            None => {}
        }
        let ended = hopcost_file::utc(about::unix_seconds());
        self.file.change("finish it", |run| {
            run.about.ended = Some(ended);
            run.host_after = Some(after);
        })?;
        Ok(())
    }

    /// Reads the run back, and stores what follows from it: beside it, and of a complete run what it
    /// teaches of this machine.
    fn results(&mut self) -> anyhow::Result<Results> {
        let results = runs::results(&runs::open(&self.path)?);
        let rows = runs::estimates(&results);
        self.file.put_derived(&rows, &results.findings)?;
        if results.about.ended.is_some() && !results.yardsticks.is_empty() {
            let rest = hopcost_plan::rests(&self.plan);
            if let Err(why) = reference::learn(&self.machine, rest, &results.yardsticks) {
                output::say(&format!("hopcost: {why:#}; later runs do without"));
            }
        }
        Ok(results)
    }
}

/// Refuses to go on with another worker under the same name, or without one.
fn same_workers(raw: &RawRun, runtimes: &Runtimes) -> anyhow::Result<()> {
    // `same_machine_and_build` has seen to Rust's.
    for then in raw.workers.iter().filter(|worker| !worker.is_rust()) {
        let name = then.runtime.parse().map_err(usage)?;
        let now = runtimes.ready(&name).map_err(|why| {
            usage(format!("cannot resume: {why:#}; name your own program with --worker PATH"))
        })?;
        if hopcost_file::as_read(&now.description).as_ref() != Some(then) {
            return Err(not_comparable(format!(
                "cannot resume: the worker of {name} has changed since the run began (version {} \
                 then, {} now); start a new run",
                then.version, now.description.version
            )));
        }
    }
    Ok(())
}

/// Refuses to go on with a run of another machine, kernel or hopcost, whose numbers may be of another
/// way to do the same.
fn same_machine_and_build(raw: &RawRun) -> anyhow::Result<()> {
    let (then, now, host) = (&raw.about, about::run(Vec::new()), host::fingerprint(&raw.plan));
    let keys = ["cpu.model", "cpu.online", "kernel.release", "virt.hypervisor"];
    let of_host = keys.map(|key| (key, raw.host_before.get(key), host.get(key)));
    // A build that could not read itself has no checksum.
    let checksum = then.build.checksum.as_deref();
    let of_build = [
        ("hopcost's version", Some(then.version.as_str()), Some(now.version.as_str())),
        ("hopcost's commit", Some(then.commit.as_str()), Some(now.commit.as_str())),
        ("hopcost's checksum", checksum, checksum.and(now.build.checksum.as_deref())),
    ];
    let other = of_host.into_iter().chain(of_build).find(|(_, then, now)| then != now);
    other.map_or(Ok(()), |(what, then, now)| {
        let (then, now) = (then.unwrap_or("unknown"), now.unwrap_or("unknown"));
        let line = format!("cannot resume: {what} was `{then}` and is `{now}`; start a new run");
        Err(not_comparable(line))
    })
}
