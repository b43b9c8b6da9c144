//! `hopcost worker`: the Rust worker, and those of other runtimes: listed, installed, and whether one keeps to the protocol.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use hopcost_probe::interrupt;

use super::exit::{self, usage};
use super::{host, output};
use crate::run::check::{self, Check};
use crate::run::install;
use crate::run::peer::far;
use crate::run::runtimes::{Found, Runtimes};
use crate::run::setup::Setup;
use crate::run::worker::Program;

/// Where workers are looked for.
const WHERE: &str = "hopcost looks for workers in this order: programs and folders named by \
                     --worker; the folders in HOPCOST_WORKERS, and in no other if it is set; \
                     workers/ and workers/middleware/ of the checkout that hopcost was built in; share/hopcost/workers \
                     beside its bin/; $XDG_DATA_HOME/hopcost/workers \
                     (~/.local/share/hopcost/workers), which `worker install` fills.";

/// Check, list or install the workers of other languages
#[derive(clap::Args)]
#[command(after_help = WHERE)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Test a worker: every mechanism that it describes, both ends, sizes and faults
    Check {
        /// A worker program, a folder with a `worker.toml`, or the name of a runtime that is here
        worker: String,
    },
    /// List the workers of other runtimes, with their libraries and folders
    List,
    /// Build workers of other runtimes from the sources in this binary, for this user
    #[command(after_help = WHERE)]
    Install {
        /// Which: cpp, go, java, node, python, or all of these; or a library: zeromq, redis, …
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

impl Args {
    /// Speaks the protocol on stdin and stdout, or does what is asked.
    pub fn run(&self) -> anyhow::Result<u8> {
        match &self.what {
            None => Ok(hopcost_probe::worker::main(far::serve)),
            Some(What::Check { worker }) => check(worker),
            Some(What::List) => list(),
            Some(What::Install { names }) => install(names),
        }
    }
}

/// Tests a worker; one line a check.
fn check(worker: &str) -> anyhow::Result<u8> {
    let named = worker.contains('/') || Path::new(worker).is_file();
    let named = named.then(|| PathBuf::from(worker));
    let runtimes = Runtimes::new(named.into_iter().collect());
    let setup = Setup::new("check", Program::own()?, runtimes).map_err(usage)?;
    let runtimes = &setup.runtimes;
    let is_it =
        |found: &&Found| found.runtime.word() == worker || found.runtime.library() == Some(worker);
    let found = runtimes.named().next().or_else(|| runtimes.all().into_iter().find(is_it));
    let found = found.ok_or_else(|| {
        let here: Vec<&str> =
            runtimes.all().into_iter().map(|found| found.runtime.word()).collect();
        let unknown = hopcost_plan::unknown("runtime", worker, &here);
        usage(format!("{unknown}; a program is named by a path (./my-worker)"))
    })?;
    let ready = found.state.as_ref().map_err(|why| usage(format!("{worker}: {why}")))?;
    let machine = host::machine(&[])?;
    let bench = check::Bench { setup: &setup, ready, found, machine: &machine };
    let (mut failed, mut passed, mut skipped) = (0, 0, 0);
    let mut say = |check: Check| {
        ensure!(!interrupt::came(), "interrupted");
        let (line, n) = match check {
            Check::Passed(what) => (format!("ok      {what}"), &mut passed),
            Check::Failed(what, why) => (format!("FAILED  {what}: {why}"), &mut failed),
            Check::Skipped(what, why) => (format!("skipped {what}: {why}"), &mut skipped),
        };
        *n += 1;
        output::print(&format!("{line}\n")).map(drop)
    };
    check::all(&bench, &mut say)?;
    output::print(&format!("{passed} passed, {failed} failed, {skipped} skipped\n"))?;
    Ok(if failed > 0 { exit::ERROR } else { exit::OK })
}

/// Lists the workers of other runtimes.
fn list() -> anyhow::Result<u8> {
    let runtimes = Runtimes::new(Vec::new());
    let found = runtimes.all().into_iter();
    let found: Vec<_> = found.map(|of| (of.facts(), of.place.display().to_string())).collect();
    output::print(&hopcost_view::mechanisms::workers(&found).text(&output::style()))
}

/// Installs workers, a line each.
fn install(names: &[String]) -> anyhow::Result<u8> {
    let carried = install::carried();
    let unknown = |name: &&String| *name != "all" && !carried.contains(&name.as_str());
    if let Some(name) = names.iter().find(unknown) {
        return Err(usage(hopcost_plan::unknown("worker", name, &carried)));
    }
    let is_all = |asked: &str, name: &str| asked == "all" && !install::is_library(name);
    let asked = |name: &&str| names.iter().any(|asked| asked == name || is_all(asked, name));
    let mut code = exit::OK;
    for name in carried.into_iter().filter(asked) {
        output::say(&format!("hopcost: building the worker for {name}"));
        match install::install(name, &mut output::say) {
            Ok((place, said)) => {
                let without = if said.is_empty() { said } else { format!(" ({said})") };
                output::print(&format!("{name}: installed in {}{without}\n", place.display()))?;
            }
            Err(error) => {
                output::say(&format!("hopcost: {name}: {error:#}"));
                code = exit::ERROR;
            }
        }
    }
    Ok(code)
}
