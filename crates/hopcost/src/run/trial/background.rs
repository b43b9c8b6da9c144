//! What the machine does on purpose while a load is measured: started, looked at before and after
//! the measured phase, and ended with the trial.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use hopcost_machine::{Root, last_level_bytes};
use hopcost_model::case::{Background as Asked, Case, Placement, Queue, Sched, Workload};
use hopcost_model::plan::TrialShape;
use hopcost_model::protocol::{BackgroundWork, Command, Reply};
use hopcost_probe::sys;

use super::open;
use super::spec::{Failure, TrialSpec};
use super::workers::{TrialWorkers, unexpected};
use crate::run::worker::{ReplyError, Worker};
use crate::run::workers::Workers;

/// How much later than its trial it gives up by itself, which begins before it.
const OUTLIVES_MS: u64 = 5_000;
/// How long it may take to begin: walking through memory begins with having it.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the work of a case is called in reasons.
const WHAT: &str = "the background";

/// Who plays the pairs of `same-mechanism`, which are where the scheduler puts them.
pub struct Pair<'a> {
    case: Case,
    workers: Workers<'a>,
}

impl<'a> Pair<'a> {
    /// Those of a case, if it has any.
    pub fn of(spec: &TrialSpec<'a>) -> Result<Option<Self>, Failure> {
        let Asked::SameMechanism(_) = spec.case.background else { return Ok(None) };
        let case = Case {
            workload: Workload::Roundtrip,
            rate: None,
            senders: 1,
            placement: Some(Placement::Free),
            background: Asked::None,
            arrivals: Case::new(Workload::Roundtrip, "").arrivals,
            queue: Queue::Block,
            sched: Sched::Other,
            ..spec.case.clone()
        };
        let workers = Workers::assemble(&case, &spec.setup.runtimes)?;
        Ok(Some(Self { case, workers }))
    }

    /// How their workers are started.
    pub fn spec<'b>(&'b self, of: &TrialSpec<'b>) -> TrialSpec<'b> {
        let deadline_ms = of.deadline_ms().saturating_add(OUTLIVES_MS);
        TrialSpec {
            shape: TrialShape { deadline_ms, ..of.shape },
            padding: of.padding,
            ..TrialSpec::exactly(of.setup, &self.case, &self.workers, (None, None), (0, 0))
        }
    }
}

/// The processes; dropping it kills them.
pub struct Background<'a> {
    alone: Vec<Worker>,
    pairs: Vec<TrialWorkers<'a>>,
    /// Where each notes how much it has done.
    progress: Vec<File>,
}

impl<'a> Background<'a> {
    /// Starts what a case asks for; `pair` is what its pairs are started from.
    pub fn start(spec: &TrialSpec<'_>, pair: Option<&'a TrialSpec<'a>>) -> Result<Self, Failure> {
        let mut background = Self { alone: Vec::new(), pairs: Vec::new(), progress: Vec::new() };
        match (spec.case.background, pair) {
            (Asked::Cpu(processes), _) => {
                (0..processes).try_for_each(|_| background.add(BackgroundWork::Compute, spec))?;
            }
            (Asked::Cache, _) => {
                let cpu = spec.cpus.1.or(spec.cpus.0).unwrap_or(0);
                let bytes = last_level_bytes(&Root::default(), cpu).ok_or(
                    "background=cache needs the size of the last-level cache, which /sys does \
                     not tell here",
                )?;
                let bytes = bytes.saturating_mul(2);
                background.add(BackgroundWork::Walk { bytes }, spec)?;
            }
            (Asked::SameMechanism(pairs), Some(pair)) => {
                (0..pairs).try_for_each(|_| background.add_pair(pair))?;
            }
            (Asked::None | Asked::SameMechanism(_), _) => {}
        }
        Ok(background)
    }

    fn add(&mut self, work: BackgroundWork, spec: &TrialSpec<'_>) -> Result<(), Failure> {
        let progress = sys::memfd("hopcost-progress", 8)?;
        let inherited = progress.try_clone()?;
        let command = command(work, Some(&inherited), spec);
        let mut worker = Worker::spawn(&spec.setup.native, vec![inherited], 0)?;
        worker.send(&command);
        match worker.reply(Instant::now() + PATIENCE, &spec.setup.interrupt) {
            Ok(Reply::Spinning) => {}
            Ok(_) => return Err(unexpected("background")),
            Err(ReplyError::Interrupted) => return Err(Failure::Interrupted),
            Err(error) => return Err(Failure::Reason(format!("{WHAT}: {error}"))),
        }
        self.progress.push(File::from(progress));
        self.alone.push(worker);
        Ok(())
    }

    fn add_pair(&mut self, spec: &'a TrialSpec<'a>) -> Result<(), Failure> {
        let told = |failure| match failure {
            Failure::Reason(reason) => Failure::Reason(format!("{WHAT}: {reason}")),
            Failure::Interrupted => Failure::Interrupted,
        };
        let mut workers = open::open(spec).map_err(told)?;
        let begin = command(BackgroundWork::RoundTrips, None, spec);
        if workers.ask_all(&begin, "beginning").map_err(told)?.iter().any(|r| *r != Reply::Spinning)
        {
            return Err(unexpected("background"));
        }
        self.progress.push(workers.all[0].samples.try_clone()?);
        self.pairs.push(workers);
        Ok(())
    }

    /// How much each has done so far.
    pub fn progress(&self) -> Result<Vec<u64>, Failure> {
        let read = |file: &File| {
            let mut bytes = [0; 8];
            match file.read_at(&mut bytes, 0) {
                Ok(8) => Ok(u64::from_le_bytes(bytes)),
                Ok(_) => Ok(0),
                Err(error) => Err(Failure::from(error)),
            }
        };
        self.progress.iter().map(read).collect()
    }

    /// Whether each has done something since: without it the numbers are not what they say.
    pub fn went_on_since(&self, before: &[u64]) -> Result<(), Failure> {
        let after = self.progress()?;
        let still = after.iter().zip(before).filter(|(after, before)| after <= before).count();
        if still == 0 {
            return Ok(());
        }
        Err(Failure::Reason(format!(
            "{still} of the {} that were to work in the background did nothing while the load was \
             measured; measure for longer, or leave them a CPU",
            before.len()
        )))
    }
}

fn command(work: BackgroundWork, progress: Option<&OwnedFd>, spec: &TrialSpec<'_>) -> Command {
    Command::Background {
        work,
        progress_fd: progress.map(AsRawFd::as_raw_fd),
        deadline_ms: spec.deadline_ms().saturating_add(OUTLIVES_MS),
        parent: Some(std::process::id()),
    }
}
