//! `hopcost list`.

use hopcost_plan::Ask;
use hopcost_probe::worker;
use hopcost_view::mechanisms;

use super::host;
use super::output;
use crate::run::reference::Machine;
use crate::run::runtimes::Runtimes;

/// List every mechanism, and whether it can be measured here
#[derive(clap::Args)]
pub struct Args {
    /// Output format
    #[arg(long, value_parser = ["text", "json"], default_value = "text")]
    format: String,
    /// Also show this worker executable (workers/PROTOCOL.md)
    #[arg(long, value_name = "PATH")]
    worker: Vec<std::path::PathBuf>,
    /// List the suites instead
    #[arg(long, conflicts_with = "format")]
    suites: bool,
}

impl Args {
    /// Lists every mechanism, and the other runtimes.
    pub fn run(&self) -> anyhow::Result<u8> {
        if self.suites {
            return output::print(&suites()?);
        }
        let runtimes = Runtimes::new(self.worker.clone()).facts();
        let all = worker::mechanisms();
        output::print(&match self.format.as_str() {
            "json" => mechanisms::json(&all, &runtimes),
            _ => mechanisms::list(&all, &runtimes).text(&output::style()),
        })
    }
}

/// Every suite with the time that it takes on this machine.
fn suites() -> anyhow::Result<String> {
    let machine = host::machine(&[])?;
    let runtimes = Runtimes::new(Vec::new());
    let mut lines = Vec::new();
    for (name, source) in hopcost_plan::SHIPPED {
        let ask = Ask { suite: Some(hopcost_plan::suite(name)?), ..Ask::default() };
        let plan = hopcost_plan::plan(&ask, &runtimes.catalog(), &machine)?;
        let takes = runtimes.expected(&plan, &Machine::of(&host::fingerprint(&plan)));
        lines.push((*name, takes.ns, hopcost_plan::parse_suite(name, source)?.about));
    }
    Ok(hopcost_view::plan::suites(&lines).text(&output::style()))
}
