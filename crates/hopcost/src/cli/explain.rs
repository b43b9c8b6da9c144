//! `hopcost explain`: where the time of a hop goes, by the kernel's events.

use std::ffi::OsString;

use hopcost_model::Plan;
use hopcost_plan::Ask;

use super::exit::{ensure, usage};
use super::host;
use super::measured::{AxisArgs, MeasuredArgs};
use super::shown::Shown;
use crate::run::runtimes::Runtimes;

/// Break a round trip down into its parts, from kernel events (as root)
#[derive(clap::Args)]
#[command(mut_arg("budget", |arg| arg.default_value("30s")))]
pub struct Args {
    /// A case, or two to compare: `pipe`, `'unix-stream?place=same-cpu'`, `'wake/pipe?gap=1ms'`
    #[arg(value_name = "CASE", num_args = 1..=2, required = true)]
    cases: Vec<String>,
    #[command(flatten)]
    axes: AxisArgs,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

impl Args {
    /// Plans, measures, reads back and shows; the words of the command line are stored with the run.
    pub fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        self.shown.ensure_run()?;
        ensure(self.cases.len() <= 2, "want one case or two")?;
        let measured = self.measured.run(words, |runtimes| planned(self, runtimes))?;
        self.shown.show_measured(&measured)
    }
}

/// Resolves the command line into a plan, if the kernel's events can be recorded here.
fn planned(args: &Args, runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let ask =
        Ask { selectors: args.cases.clone(), axes: args.axes.0.clone(), ..args.measured.ask() };
    let machine = host::machine(&args.measured.cpus)?;
    let plan = hopcost_plan::explanation(&ask, &runtimes.catalog(), &machine);
    let plan = plan.map_err(usage)?;
    hopcost_plan::ensure_live(&plan).map_err(usage)?;
    let refused = plan.cpus.first().and_then(|cpu| hopcost_probe::trace::refused(*cpu));
    match refused {
        Some(why) => Err(usage(format!("cannot record the kernel's events: {why}"))),
        None => Ok(plan),
    }
}
