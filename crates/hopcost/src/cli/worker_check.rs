//! `hopcost worker check PATH`: whether a worker keeps to the protocol, line by line.

use std::path::PathBuf;

use anyhow::ensure;
use hopcost_probe::interrupt;

use super::exit::{self, usage};
use super::{host, output};
use crate::run::check::{self, Verdict};
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::Program;

/// Arguments of `worker check`.
#[derive(clap::Args)]
pub struct Args {
    /// A worker program, a folder with a `worker.toml`, or the name of a runtime that is here
    worker: String,
    /// Only these of its mechanisms
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    mechanism: Vec<String>,
}

/// Tests a worker; one line a check.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let named = args.worker.contains('/') || PathBuf::from(&args.worker).is_file();
    let named = named.then(|| PathBuf::from(&args.worker));
    let runtimes = Runtimes::new(named.into_iter().collect());
    let setup = Setup::new("check", Program::own()?, runtimes).map_err(usage)?;
    let runtimes = &setup.runtimes;
    let found = match runtimes.named().next() {
        Some(named) => Some(named),
        None => runtimes.all().into_iter().find(|found| {
            let is_asked_for = |name| name == args.worker;
            is_asked_for(found.runtime.word()) || found.runtime.library().is_some_and(is_asked_for)
        }),
    };
    let found = found.ok_or_else(|| {
        let all = runtimes.all();
        let here: Vec<&str> = all.iter().map(|found| found.runtime.word()).collect();
        usage(format!(
            "there is no runtime `{}` here (here: {}); a program is named by a path (./my-worker)",
            args.worker,
            if here.is_empty() { "none".to_owned() } else { here.join(", ") }
        ))
    })?;
    let ready = found.state.as_ref().map_err(|why| usage(format!("{}: {why}", args.worker)))?;
    let names: Vec<&str> =
        ready.description.mechanisms.iter().map(|mechanism| mechanism.name.as_str()).collect();
    if let Some(unknown) = args.mechanism.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(usage(format!("it has no mechanism `{unknown}`; it has {}", names.join(", "))));
    }
    let machine = host::machine(&[])?;
    let bench = check::Bench {
        setup: &setup,
        ready,
        runtime: &found.runtime,
        machine: &machine,
        only: &args.mechanism,
    };
    let (mut failed, mut passed, mut skipped) = (0, 0, 0);
    let mut say = |check: check::Check| {
        ensure!(!interrupt::came(), "interrupted");
        let (mark, n, why) = match check.verdict {
            Verdict::Passed => ("ok      ", &mut passed, String::new()),
            Verdict::Failed(why) => ("FAILED  ", &mut failed, format!(": {why}")),
            Verdict::Skipped(why) => ("skipped ", &mut skipped, format!(": {why}")),
        };
        *n += 1;
        output::write(format!("{mark}{}{why}\n", check.what).as_bytes(), None)
    };
    check::all(&bench, &mut say)?;
    let summary = format!("{passed} passed, {failed} failed, {skipped} skipped\n");
    output::write(summary.as_bytes(), None)?;
    Ok(if failed > 0 { exit::ERROR } else { exit::OK })
}
