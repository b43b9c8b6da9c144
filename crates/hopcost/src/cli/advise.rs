//! `hopcost advise`: which mechanism meets the requirements, measured now or read from a stored run.

use std::ffi::OsString;

use hopcost_model::units::{parse_duration_ns, parse_size};
use hopcost_model::{CaseError, Placement, Plan, Rate, Runtimes as Ends};
use hopcost_plan::Ask;
use hopcost_read::advice::{Advice, Answer};
use hopcost_read::results::{AdviceRequest, SortedBy};

use super::exit::{self, usage};
use super::measured::MeasuredArgs;
use super::shown::{Printed, Shown};
use super::{host, runs};
use crate::run::runtimes::Runtimes;

/// Recommend a mechanism for a message size, a rate and limits
#[derive(clap::Args)]
#[command(mut_arg("budget", |arg| arg.default_value("60s")))]
pub struct Args {
    /// What to choose among: pipe, 'unix-*', 'tcp?nodelay=off' [default: every mechanism]
    #[arg(value_name = "CASE", conflicts_with = "run")]
    selectors: Vec<String>,
    /// Bytes of a message (64, 4KiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    payload: u64,
    /// Messages per second (0.5, 20k) [default: round trips in turn]
    #[arg(long, value_name = "N")]
    rate: Option<Rate>,
    /// Limit of the 99th percentile (50us)
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    p99: Option<u64>,
    /// Rule out what spins while it waits
    #[arg(long)]
    no_spin: bool,
    /// Accept mechanisms that may lose messages
    #[arg(long)]
    allow_loss: bool,
    /// What separates the ends
    #[arg(long, value_name = "BOUNDARY", default_value = "process",
          value_parser = ["thread", "process", "namespace"])]
    boundary: String,
    /// Where the ends run (same-cpu, cross) [default: cross where there are two CPUs]
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Runtimes of the ends (rust, python:cpp, c+zeromq)
    #[arg(long, value_name = "LIST", default_value = "rust", value_delimiter = ',')]
    runtime: Vec<Ends>,
    /// How ends wait (block,spin,spin-then-block)
    #[arg(long, value_name = "LIST")]
    wait: Option<String>,
    /// Sort by p50, p99 or cpu [default: p99 with --p99 or --rate, else p50]
    #[arg(long, value_name = "WHAT")]
    sort: Option<SortedBy>,
    /// Measure nothing: answer from a stored run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["measured", "wait"])]
    run: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    #[command(flatten)]
    shown: Shown,
}

impl Args {
    /// Measures or reads, and shows what to use.
    pub fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        let request = request(self)?;
        self.shown.ensure_answer(&Advice::default())?;
        let (path, cut_off) = match &self.run {
            Some(run) => (runs::find(run)?, None),
            None => {
                let plan = |runtimes: &Runtimes| plan(self, &request, runtimes);
                let measured = self.measured.run(words, plan)?;
                (measured.path, measured.cut_off)
            }
        };
        let raw = runs::open(&path)?;
        let advice = hopcost_read::advice(&raw, &hopcost_probe::worker::mechanisms(), &request);
        if advice.candidates.is_empty() {
            return Err(usage(format!(
                "{} has no such cases: {} of {} bytes between the ends of {} in {}; measure them by \
                 leaving --run out",
                path.display(),
                request.what(),
                request.payload_bytes,
                request.boundary,
                request.runtimes
            )));
        }
        self.shown.show(&advice, Printed::Always)?;
        let is_invalid = matches!(advice.answer, Answer::Invalid);
        Ok(cut_off.unwrap_or(if is_invalid { exit::INVALID } else { exit::OK }))
    }
}

/// The request of a command line.
fn request(args: &Args) -> anyhow::Result<AdviceRequest> {
    let (rate, p99_ns) = (args.rate, args.p99);
    if p99_ns == Some(0) {
        return Err(usage("--p99 must be greater than 0"));
    }
    Ok(AdviceRequest {
        // No mechanism carries more.
        payload_bytes: u32::try_from(args.payload).unwrap_or(u32::MAX),
        rate,
        p99_ns,
        boundary: args.boundary.parse().map_err(usage)?,
        placement: placement(args.place.as_deref())?,
        runtimes: args.runtime.iter().map(Ends::to_string).collect::<Vec<_>>().join(","),
        spinning: !args.no_spin,
        loss: args.allow_loss,
        sort: args.sort.unwrap_or(match (rate, p99_ns) {
            (None, None) => SortedBy::P50,
            _ => SortedBy::P99,
        }),
    })
}

/// Where the ends run, if it is asked for: else, and across CPUs, where most cases have them.
fn placement(asked: Option<&str>) -> anyhow::Result<Option<Placement>> {
    let word = asked.filter(|word| *word != "cross");
    let parsed = word.map(str::parse).transpose();
    parsed.map_err(|error: CaseError| usage(format!("--place: {error}")))
}

/// The cases that may meet the request.
fn plan(args: &Args, request: &AdviceRequest, runtimes: &Runtimes) -> anyhow::Result<Plan> {
    let mut ask = Ask { selectors: args.selectors.clone(), ..args.measured.ask() };
    ask.axes.extend(args.wait.clone().map(|waits| ("wait", vec![waits])));
    let machine = host::machine(&args.measured.cpus)?;
    let plan = hopcost_plan::advice(&ask, request, &runtimes.catalog(), &machine).map_err(usage)?;
    hopcost_plan::ensure_live(&plan).map_err(usage)?;
    Ok(plan)
}
