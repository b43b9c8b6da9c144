//! What a worker does with commands that are none, and when it is told to leave.

use std::time::{Duration, Instant};

use hopcost_model::protocol::{Command, Reply};

use super::bench::{Bench, Check};
use crate::run::worker::{Launch, ReplyError, Worker};

/// How long an answer may take: a cold JVM on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long leaving may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// The checks that need no mechanism.
pub fn checks(bench: &Bench<'_>) -> Vec<Check> {
    let line = |text: &str| refuses(bench, text);
    vec![
        Check::of("refuses an unknown command", line(r#"{"do":"dance"}"#)),
        Check::of("refuses what is no JSON", line("hello")),
        Check::of(
            "refuses a mechanism that it has not",
            line(
                r#"{"do":"attach","case":"call/no-such-mechanism","seats":[{"role":"caller"}],"deadline_ms":5000}"#,
            ),
        ),
        Check::of(
            "refuses to run before it is attached",
            line(r#"{"do":"run","phase":"measure","count":1,"stamp":{"kind":"each"}}"#),
        ),
        Check::of("leaves when it is told to", leaves(bench, true)),
        Check::of("leaves when its input ends", leaves(bench, false)),
        Check::of("ignores fields that it does not know", ignores(bench)),
    ]
}

/// Names in /dev/shm.
pub fn shared_memory() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn start(bench: &Bench<'_>) -> Result<Worker, String> {
    let launch = Launch { deadline_ms: PATIENCE.as_millis() as u64, cpus: Vec::new(), fifo: None };
    Worker::launch(&bench.ready.program, &launch, Vec::new(), 0).map_err(|e| e.to_string())
}

/// Waits for the answer.
pub(super) fn answer(
    bench: &Bench<'_>,
    worker: &mut Worker,
    patience: Duration,
) -> Result<Reply, ReplyError> {
    worker.reply(Instant::now() + patience, &bench.setup.interrupt)
}

/// Whether a line is answered with `failed`, and the worker then leaves with an exit
/// code that says so.
fn refuses(bench: &Bench<'_>, line: &str) -> Result<(), String> {
    let mut worker = start(bench)?;
    worker.send_line(line);
    match answer(bench, &mut worker, PATIENCE) {
        Err(error) if error.is_answer() => {
            if error.to_string().trim().is_empty() {
                return Err("it says `failed` without a reason".to_owned());
            }
        }
        Err(error) => return Err(error.into()),
        Ok(_) => return Err("it did not answer `failed`".to_owned()),
    }
    match worker.leave(FAREWELL) {
        Some(_) if worker.was_killed() => {
            Err(format!("it says `failed` and is still there {} s later", FAREWELL.as_secs()))
        }
        Some(status) if status.success() => {
            Err("it says `failed` and leaves with exit code 0".to_owned())
        }
        _ => Ok(()),
    }
}

fn leaves(bench: &Bench<'_>, told: bool) -> Result<(), String> {
    let mut worker = start(bench)?;
    // So that it is up, and what is timed is its leaving.
    worker.send(&Command::Describe);
    answer(bench, &mut worker, PATIENCE)?;
    if told {
        worker.send(&Command::Stop);
        match answer(bench, &mut worker, PATIENCE)? {
            Reply::Stopped => {}
            _ => return Err("its reply does not answer `stop`".to_owned()),
        }
    } else {
        worker.close_input();
    }
    match worker.leave(FAREWELL) {
        Some(_) if worker.was_killed() => {
            Err(format!("it is still there {} s later", FAREWELL.as_secs()))
        }
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("it leaves with {status}")),
        None => Err("how it left is not known".to_owned()),
    }
}

fn ignores(bench: &Bench<'_>) -> Result<(), String> {
    let mut worker = start(bench)?;
    let line = r#"{"do":"describe","a-field-of-the-future":{"x":[1,2]}}"#;
    worker.send_line(line);
    match answer(bench, &mut worker, PATIENCE)? {
        Reply::Described(_) => Ok(()),
        _ => Err("its reply does not answer `describe`".to_owned()),
    }
}
