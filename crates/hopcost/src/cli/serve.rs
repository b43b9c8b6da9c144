//! `hopcost serve`: the far end of cases between two hosts.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use hopcost_model::units;

use super::exit::{self, usage};
use super::host;
use super::output;
use super::peer::{self, AgentArgs};
use super::run;
use crate::run::peer::far::{Far, Limits, Served, Until};
use crate::run::peer::key::Key;
use crate::run::runtimes::Runtimes;
use crate::run::scratch;
use crate::run::setup::Setup;
use crate::run::worker::Program;

/// What to do where the network is not one's own.
const HOSTILE: &str = "Both ends prove that they know the key before anything else is read. What is measured \
is not encrypted, and messages are not signed: on a network that is not yours, listen on 127.0.0.1 and go \
through ssh -L (which is then part of what is measured), or on an address of WireGuard.";

/// Arguments of `serve`.
#[derive(clap::Args)]
#[command(after_help = HOSTILE)]
pub struct Args {
    /// Where to listen: an address of this host and a port, 0 for any
    #[arg(long, value_name = "ADDR:PORT")]
    bind: String,
    /// The file of the key that both hosts share; else it is in HOPCOST_KEY
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The CPU of this end, where the near end names none
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,
    /// Trials to serve at most
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    trials: u64,
    /// The longest that a trial may take
    #[arg(long, value_name = "TIME", default_value = "60s")]
    trial_limit: String,
    /// End when a run is over
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Serves until it is interrupted, its lease is over, or a run is, with `--once`.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let key = Key::of(args.key.as_deref()).map_err(usage)?;
    let address = peer::address("--bind", &args.bind)?;
    let limit_ns = units::parse_duration_ns(&args.trial_limit);
    let limit_ns = limit_ns.map_err(|error| usage(format!("--trial-limit: {error}")))?;
    let cpu = match args.cpu {
        None => host::first_cpu()?,
        Some(cpu) if host::allowed_cpus()?.contains(&cpu) => cpu,
        Some(cpu) => return Err(usage(format!("--cpu: this process may not use CPU {cpu}"))),
    };
    run::prepare_machine()?;
    let listener =
        TcpListener::bind(address).map_err(|e| usage(format!("--bind {address}: {e}")))?;
    let listening = listener.local_addr().context("asking where it listens")?;
    let setup =
        Setup::new(scratch::SERVE, Program::own()?, Runtimes::new(Vec::new())).map_err(usage)?;
    let (setup, lease) = args.agent.begin(setup)?;
    let limits = Limits {
        trials: args.trials,
        trial: Duration::from_nanos(limit_ns),
        until: if args.once { Until::RunOver } else { Until::Interrupted },
    };
    let mut far = Far::open(&setup, listener, key, limits, cpu)?;
    let line = format!("listening {listening}\n");
    output::write(line.as_bytes(), None)?;
    std::io::stdout().flush()?;
    let say = |what: &str| output::say(&format!("hopcost: {what}"));
    Ok(match far.serve(&say)? {
        Served::Complete => exit::OK,
        Served::Interrupted if lease.is_over() => exit::LEASE,
        Served::Interrupted => exit::INTERRUPTED,
    })
}
