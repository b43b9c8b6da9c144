//! `hopcost show MECHANISM`.

use hopcost_probe::mechanism;

use super::exit::usage;
use super::output;
use crate::run::runtimes::Runtimes;

/// Show what a mechanism does and what its number contains
#[derive(clap::Args)]
pub struct Args {
    /// The mechanism's name, as `hopcost list` gives it
    mechanism: String,
    /// Also show this worker executable (workers/PROTOCOL.md)
    #[arg(long, value_name = "PATH")]
    worker: Vec<std::path::PathBuf>,
}

impl Args {
    /// Shows one mechanism, in Rust and in every other runtime that is here.
    pub fn run(&self) -> anyhow::Result<u8> {
        let name = self.mechanism.split(':').next().unwrap_or_default();
        let runtimes = Runtimes::new(self.worker.clone()).facts();
        let facts = mechanism::find(name).map(|row| row.facts());
        let Some(known) = hopcost_view::mechanisms::show(name, facts, &runtimes) else {
            let own = mechanism::ALL.iter().map(|row| row.facts());
            let others = runtimes.iter().flat_map(|runtime| &runtime.state);
            let all = own.chain(others.flat_map(|described| &described.mechanisms));
            let known = all.filter(|facts| !facts.hidden()).map(|facts| facts.name.as_str());
            let known: Vec<&str> = known.collect();
            return Err(usage(hopcost_plan::unknown("mechanism", name, &known)));
        };
        output::print(&known.text(&output::style()))
    }
}
