//! What every check needs: the worker, where it runs, and how a check ended.

use std::time::{Duration, Instant};

use anyhow::Result;
use hopcost_model::Reply;
use hopcost_plan::Machine;
use hopcost_probe::orphans::Launch;

use crate::run::runtimes::{Found, Ready};
use crate::run::setup::Setup;
use crate::run::worker::{ReplyError, Worker};

/// How long an answer may take: a cold JVM on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a check needs.
pub struct Bench<'a> {
    pub setup: &'a Setup,
    pub ready: &'a Ready,
    /// The same with its name.
    pub found: &'a Found,
    /// Where its trials run.
    pub machine: &'a Machine,
}

/// What was checked, and where it did not pass, why.
pub enum Check {
    Passed(String),
    Failed(String, String),
    Skipped(String, String),
}

impl Check {
    pub fn of(what: impl Into<String>, result: Result<()>) -> Self {
        match result {
            Ok(()) => Self::Passed(what.into()),
            Err(why) => Self::Failed(what.into(), format!("{why:#}")),
        }
    }
    pub fn skipped(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Skipped(what.into(), why.into())
    }
}

pub fn start(bench: &Bench<'_>) -> Result<Worker> {
    let launch = Launch { deadline_ms: PATIENCE.as_millis() as u64, cpus: Vec::new(), fifo: None };
    Ok(Worker::launch(&bench.ready.program, launch, Vec::new(), 0)?)
}

/// Waits for the answer.
pub fn answer(worker: &mut Worker) -> Result<Reply, ReplyError> {
    worker.reply(Instant::now() + PATIENCE)
}
