//! `hopcost trial CASE --count N`: one trial with a fixed number of operations
//! and no pilot, as JSON. For tests that count system calls, and for looking at
//! one trial with strace or perf.

use hopcost_model::{Case, Placement, Plan, Stamp, TrialShape};
use hopcost_plan::{Machine, TRACED_MAX};

use super::exit::{self, usage};
use super::peer::PeerArgs;
use super::{host, output};
use crate::run::peer::first_cpu;
use crate::run::peer::near::Peer;
use crate::run::runtimes::{Runtimes, Workers};
use crate::run::setup::Setup;
use crate::run::trial;
use crate::run::trial::spec::TrialSpec;
use crate::run::worker::{Program, Transcript};
use crate::run::yardstick::Beside;

/// One trial with a fixed number of operations, as JSON
#[derive(clap::Args)]
pub struct Args {
    /// A complete case in its canonical spelling
    case: String,
    /// Operations
    #[arg(long, default_value = "100", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    count: u64,
    /// Print the messages to and from the workers instead of the trial
    #[arg(long)]
    transcript: bool,
    /// Also trace this many operations, and print the kernel's events too
    #[arg(long, value_name = "N", conflicts_with = "transcript", value_parser = clap::value_parser!(u64).range(1..=TRACED_MAX))]
    trace: Option<u64>,
    /// A worker program of your own
    #[arg(long, value_name = "PATH")]
    worker: Vec<std::path::PathBuf>,
    /// Operations to warm up, which leave no samples
    #[arg(long, default_value = "0")]
    warm_up: u64,
    /// Operations between two stamps; one stamp each if absent
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    batch: Option<u64>,
    /// A trial that takes longer is killed
    #[arg(long, default_value = "10000", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    deadline_ms: u64,
    /// The CPU of this host's end of a trial between two hosts
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,
    #[command(flatten)]
    peer: PeerArgs,
}

impl Args {
    /// Runs one trial.
    pub fn run(&self) -> anyhow::Result<u8> {
        let case: Case = self.case.parse().map_err(usage)?;
        let setup = Setup::new("trial", Program::own()?, Runtimes::new(self.worker.clone()));
        let mut setup = setup.map_err(usage)?;
        setup.peer = self.peer.start(&[], None)?;
        let workers = Workers::assemble(&case, &setup.runtimes).map_err(usage)?;
        let transcript = self.transcript.then(Transcript::default);
        let counts = (self.warm_up, self.count);
        let cpus = cpus(&case, setup.peer.as_ref(), self.cpu)?;
        let spec = TrialSpec::exactly(&setup, case, workers, cpus, counts);
        let spec = TrialSpec {
            shape: TrialShape {
                deadline_ms: self.deadline_ms,
                traced_operations: self.trace,
                ..spec.shape
            },
            stamp: self.batch.map(|n| Stamp::Batch { n }),
            transcript: transcript.as_ref(),
            ..spec
        };
        let row = trial::run(&spec, Beside::NONE)?;
        let failed = row.error.as_ref().filter(|_| self.transcript || self.trace.is_some());
        if let Some(transcript) = transcript {
            output::print(&transcript.borrow())?;
        } else if failed.is_none() {
            output::print(&format!("{}\n", serde_json::to_string(&row)?))?;
        }
        if let Some(error) = failed {
            output::say(&format!("hopcost: the trial failed: {error}"));
        }
        Ok(if row.error.is_some() { exit::ERROR } else { exit::OK })
    }
}

/// The CPUs of the two ends.
fn cpus(
    case: &Case,
    peer: Option<&Peer>,
    cpu: Option<u32>,
) -> anyhow::Result<(Option<u32>, Option<u32>)> {
    let Machine { allowed_cpus, mut pairs, .. } = host::machine(&[])?;
    if let Some(peer) = peer {
        pairs.insert(Placement::Pinned, (cpu.map_or_else(first_cpu, Ok)?, peer.far.cpu));
    }
    let cpus = Plan { cpus: allowed_cpus, pairs, ..Plan::default() }.cpus_for(case.placement);
    match case.placement != Some(Placement::Free) && cpus.0.is_none() {
        true => Err(usage("this machine does not have the placement of this case")),
        false => Ok(cpus),
    }
}
