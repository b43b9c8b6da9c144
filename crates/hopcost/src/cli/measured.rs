//! What the subcommands that measure share: how long, where and by which workers, and a run to its end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hopcost_model::units::parse_duration_ns;
use hopcost_model::{AXES, Axis, Plan};
use hopcost_plan::Ask;

use super::exit::usage;
use super::progress::Live;
use super::session::{Measured, begun, program};
use crate::about;
use crate::run::runtimes::Runtimes;
use crate::run::{self, Session, scratch};

/// The options that give values on the axes of a case, made from their table; by key.
#[derive(Default)]
pub struct AxisArgs(pub BTreeMap<&'static str, Vec<String>>);

impl clap::Args for AxisArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(AXES.iter().map(|axis| {
            clap::Arg::new(axis.key)
                .long(axis.key)
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

/// How long and where something is measured.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "measured")]
pub struct MeasuredArgs {
    /// Time for all of it (75s, 2m); what answers a question ends when it is answered
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub budget: Option<u64>,
    /// Target length of a trial's measured phase (50ms; 20ms for compare, judge and explain)
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub measure: Option<u64>,
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
    /// Print on stderr, about this often (1s), the value and the median of each case that finished a trial.
    /// Nothing is printed during a trial
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub interval: Option<u64>,
    /// Print each trial on stderr when it is finished, as a line of JSON, and how long the run still takes
    #[arg(long, value_name = "FORMAT", value_parser = ["json"])]
    pub progress: Option<String>,
    /// Where to store the run
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl MeasuredArgs {
    /// The runtimes with the workers that are named.
    pub fn runtimes(&self) -> Runtimes {
        Runtimes::new(self.worker.clone())
    }

    /// Which values a run prints while it goes on.
    pub fn live(&self) -> Live {
        let interval = self.interval.map(Duration::from_nanos);
        Live { interval, is_json: self.progress.is_some() }
    }

    /// What is asked of the planner by them.
    pub fn ask(&self) -> Ask {
        Ask {
            budget_ns: self.budget,
            measure_ns: self.measure,
            seed: self.seed.unwrap_or_else(|| about::random() >> 32),
            cpus: self.cpus.clone(),
            ..Ask::default()
        }
    }

    /// Prepares, plans and measures into the file of `--out`.
    pub fn run(
        &self,
        words: &[OsString],
        plan: impl FnOnce(&Runtimes) -> anyhow::Result<Plan>,
    ) -> anyhow::Result<Measured> {
        prepare()?;
        self.measured(words, self.out.as_deref(), plan)
    }

    /// Plans and measures into this file. The run stores the words of the command line.
    pub fn measured(
        &self,
        words: &[OsString],
        out: Option<&Path>,
        plan: impl FnOnce(&Runtimes) -> anyhow::Result<Plan>,
    ) -> anyhow::Result<Measured> {
        let (about, setup) = begun(words, program(None)?, self.runtimes())?;
        let plan = plan(&setup.runtimes)?;
        Session::begin(setup, &about, plan, out)?.measured(self.live())
    }
}

/// What is done before anything is planned: what would end the run later ends it here, and what earlier
/// ones have left is removed.
pub fn prepare() -> anyhow::Result<()> {
    run::ensure_memory().and_then(|()| run::ensure_descriptors()).map_err(usage)?;
    scratch::sweep();
    Ok(())
}
