//! `hopcost advise`: which mechanism to use, measured now or read from a stored run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_model::advise::{AdviceRequest, Objective, Permission};
use hopcost_model::axis::{RATE_MAX, RATE_MIN, SENDERS_MAX};
use hopcost_model::case::{Boundary, Placement, Runtimes as Ends};
use hopcost_model::results::{Advice, Answer};
use hopcost_model::text::shell_word;
use hopcost_model::units::{parse_number, parse_size};
use hopcost_plan::Ask;
use hopcost_probe::orphans::Orphans;
use hopcost_view::advice::Extent;

use super::exit::{self, usage};
use super::output::{self, Format};
use super::run::{MeasuredArgs, duration, measure, prepare_machine};
use super::session::{RunSession, begun};
use super::shown::ensure_spared;
use super::{host, report};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// Arguments of `advise`.
#[derive(clap::Args)]
pub struct Args {
    /// What to choose among: `pipe`, `'unix-*'`, 'tcp?nodelay=off'; every mechanism where nothing is named
    #[arg(value_name = "CASE", conflicts_with = "run")]
    selectors: Vec<String>,
    /// Bytes of a message (64, 4KiB)
    #[arg(long, value_name = "SIZE")]
    payload: String,
    /// Messages a second (20k); measures at that rate. Without it, round trips one at a time
    #[arg(long, value_name = "N")]
    rate: Option<String>,
    /// The most that the 99th percentile may be (50us): of a message at the rate, or else of a
    /// round trip
    #[arg(long, value_name = "TIME")]
    p99: Option<String>,
    /// What separates the ends (thread, process, namespace)
    #[arg(long, value_name = "BOUNDARY", default_value = "process", value_parser = boundary)]
    isolation: Boundary,
    /// Rule out what spins while it waits
    #[arg(long)]
    no_spin: bool,
    /// CPUs that handing over and waiting may take at the rate (0.2)
    #[arg(long, value_name = "N", requires = "rate", value_parser = cpus)]
    cpu_budget: Option<f64>,
    /// What the ends are written in, as caller:callee where they differ
    #[arg(long, value_name = "RUNTIME", default_value = "rust", value_parser = runtimes)]
    runtime: String,
    /// Whether messages may be lost
    #[arg(long, value_enum, default_value = "no")]
    loss: Loss,
    /// Senders that share the rate and the receiver (4)
    #[arg(long, value_name = "N", default_value_t = 1, requires = "rate",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(SENDERS_MAX)))]
    senders: u32,
    /// What to rank by; p99 where --p99 or --rate is given, else p50
    #[arg(long, value_enum, value_name = "WHAT")]
    optimise: Option<Optimise>,
    /// Measure nothing: read it from a stored run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["budget", "measured", "wait"])]
    run: Option<String>,
    /// Time at most; it ends as soon as the answer is known
    #[arg(long, value_name = "TIME", default_value = "60s")]
    budget: String,
    /// How ends wait (block,spin,spin-then-block)
    #[arg(long, value_name = "LIST")]
    wait: Option<String>,
    /// Where the ends run (cross, or same-cpu where there is but one CPU)
    #[arg(long, value_name = "PLACE")]
    placement: Option<String>,
    #[command(flatten)]
    measured: MeasuredArgs,
    /// Print every candidate and reason as text, not what fits one screen
    #[arg(long, conflicts_with = "format")]
    details: bool,
    /// How to print it (text, json, md, html)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Whether messages may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Loss {
    /// What may lose them is ruled out
    No,
    /// They may
    Yes,
}

/// What to rank by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Optimise {
    /// The median
    P50,
    /// The 99th percentile
    P99,
    /// CPU time
    Cpu,
    /// Messages a second at most
    Throughput,
}

fn boundary(text: &str) -> Result<Boundary, String> {
    match text.parse() {
        Ok(Boundary::Inline) | Err(_) => Err("want thread, process or namespace".to_owned()),
        Ok(boundary) => Ok(boundary),
    }
}

fn runtimes(text: &str) -> Result<String, String> {
    text.parse::<Ends>().map(|ends| ends.to_string()).map_err(|error| error.to_string())
}

fn cpus(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|cpus| (0.001..=2.0).contains(cpus));
    number.ok_or_else(|| "want a number of CPUs from 0.001 to 2, such as 0.2".to_owned())
}

/// Measures or reads, and shows what to use.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    if args.format == Format::Csv {
        return Err(usage("advise prints text, json, md or html"));
    }
    let request = request(args)?;
    if let Some(file) = &args.output {
        output::ensure_writable(file)?;
    }
    let spare = |run: &Path| ensure_spared(&[("--output", args.output.as_deref())], run);
    let found = match &args.run {
        Some(run) => {
            let path = report::find(run)?;
            spare(&path)?;
            Some(of_stored(&path, &request, words)?)
        }
        None => {
            args.measured.out.as_deref().map_or(Ok(()), spare)?;
            measured(args, request, words, &spare)?
        }
    };
    let Some(advice) = found else { return Ok(exit::INTERRUPTED) };
    let extent = if args.details { Extent::Whole } else { Extent::Screen };
    let document = match args.format {
        Format::Json => hopcost_view::json::advice(&advice)?,
        Format::Md => hopcost_view::advice::markdown(&advice),
        Format::Html => hopcost_view::advice::html(&advice),
        Format::Text | Format::Csv => hopcost_view::advice::text(&advice, extent, &output::style()),
    };
    output::write(document.as_bytes(), args.output.as_deref())?;
    Ok(match advice.answer {
        Answer::Recommended | Answer::NothingMeets | Answer::Open => exit::OK,
        Answer::Invalid => exit::INVALID,
    })
}

/// The request of a command line.
fn request(args: &Args) -> anyhow::Result<AdviceRequest> {
    let bytes = parse_size(&args.payload).map_err(|error| usage(format!("--payload: {error}")))?;
    let payload_bytes = u32::try_from(bytes)
        .map_err(|_| usage(format!("--payload: {} is too large", args.payload)))?;
    let rate = args.rate.as_deref().map(|text| {
        let rate = parse_number(text).map_err(|error| usage(format!("--rate: {error}")))?;
        let range = RATE_MIN..=RATE_MAX;
        let rate = u32::try_from(rate).ok().filter(|rate| range.contains(rate));
        rate.ok_or_else(|| usage(format!("--rate: want 100 to 20M a second, not {text}")))
    });
    let (rate, p99_ns) = (rate.transpose()?, duration("--p99", &args.p99)?);
    if p99_ns == Some(0) {
        return Err(usage("--p99: want more than 0, which no mechanism takes"));
    }
    let objective = match args.optimise {
        Some(Optimise::P50) => Objective::P50,
        Some(Optimise::P99) => Objective::P99,
        Some(Optimise::Cpu) => Objective::Cpu,
        Some(Optimise::Throughput) if rate.is_some() || p99_ns.is_some() => {
            let why = "it offers more than any mechanism carries, so leave --rate and --p99 out";
            return Err(usage(format!("--optimise throughput: {why}")));
        }
        Some(Optimise::Throughput) => Objective::Throughput,
        None if rate.is_some() || p99_ns.is_some() => Objective::P99,
        None => Objective::P50,
    };
    let allowed = |is: bool| if is { Permission::Allowed } else { Permission::RuledOut };
    Ok(AdviceRequest {
        payload_bytes,
        rate,
        senders: args.senders,
        p99_ns,
        boundary: args.isolation,
        placement: placement(args)?,
        runtimes: args.runtime.clone(),
        spinning: allowed(!args.no_spin),
        loss: allowed(args.loss == Loss::Yes),
        cpu_budget: args.cpu_budget,
        objective,
    })
}

/// Where the ends run; of a stored run where most have them, unless it is said.
fn placement(args: &Args) -> anyhow::Result<Option<Placement>> {
    let said = args.placement.as_deref();
    if said.is_none() && args.run.is_some() {
        return Ok(None);
    }
    let machine = host::machine(&args.measured.cpus)?;
    let cross = machine.cross.or_else(|| machine.pairs.keys().next().copied());
    match said {
        Some("cross") | None => Ok(cross.or(Some(Placement::SameCpu))),
        Some(word) => {
            word.parse().map(Some).map_err(|error| usage(format!("--placement: {error}")))
        }
    }
}

/// What a stored run says.
fn of_stored(path: &Path, request: &AdviceRequest, words: &[OsString]) -> anyhow::Result<Advice> {
    let raw = hopcost_file::open(path, &Scratch::for_copy).map_err(usage)?;
    let mut advice = hopcost_read::advice(&raw, &hopcost_probe::worker::mechanisms(), request);
    let known =
        [!advice.ranked.is_empty(), !advice.ruled_out.is_empty(), !advice.undecided.is_empty()];
    if known == [false; 3] {
        return Err(usage(format!(
            "{} has no round trip of {} bytes between the ends of {} in {}: measure them by leaving \
             --run out",
            path.display(),
            request.payload_bytes,
            request.boundary,
            request.runtimes
        )));
    }
    let words: Vec<String> =
        words.iter().skip(1).map(|word| shell_word(&word.to_string_lossy())).collect();
    advice.commands.insert(0, format!("hopcost {}", words.join(" ")));
    advice.commands.remove(1);
    Ok(advice)
}

/// Measures until the answer is known or the budget is spent, after `spare` has looked at the run's path;
/// `None` where the user interrupted.
fn measured(
    args: &Args,
    request: AdviceRequest,
    words: &[OsString],
    spare: &dyn Fn(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<Option<Advice>> {
    let orphans = Orphans::adopt()?;
    prepare_machine()?;
    let (about, setup) = begun(words, Runtimes::new(args.measured.worker.clone()))?;
    let mut ask =
        Ask { selectors: args.selectors.clone(), ..args.measured.ask("--budget", &args.budget)? };
    ask.axes.extend(args.wait.clone().map(|waits| ("wait", vec![waits])));
    let machine = host::machine(&args.measured.cpus)?;
    let rust = hopcost_probe::worker::mechanisms();
    let facts = || setup.runtimes.facts();
    let plan = hopcost_plan::advice(&ask, &request, &rust, &facts, &machine).map_err(usage)?;
    hopcost_plan::ensure_live(&plan).map_err(usage)?;
    let mut session = RunSession::begin(setup, &about, plan, args.measured.out.as_deref())?;
    if measure(&mut session)? == Ending::Interrupted {
        let (path, kept) = session.kept().context("interrupted")?;
        output::say(&format!(
            "hopcost: interrupted; {kept} finished trials are kept in {}: the same command with \
             --run of it says what is known by now",
            path.display()
        ));
        return Ok(None);
    }
    let results = session.results()?;
    drop(orphans);
    spare(session.path())?;
    results.advice.map(Some).context("the run has no answer")
}
