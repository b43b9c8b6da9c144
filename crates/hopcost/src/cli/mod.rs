//! The command line: one file a subcommand, each a few pipeline calls.

mod advise;
mod command_line;
mod compare;
mod compare_along;
mod compare_anew;
mod compare_args;
mod compare_runs;
mod doctor;
mod exit;
mod explain;
mod fleet;
mod fleet_index;
mod help;
mod host;
mod input;
mod judge;
mod list;
mod measured;
mod output;
mod own;
mod peer;
mod progress;
mod reference;
mod report;
mod run;
mod runs;
mod session;
mod show;
mod shown;
mod trial;
mod worker;
mod worker_check;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use hopcost_probe::sys;

/// Measure what it costs to pass a message; with no arguments: this machine, about a minute
///
/// Without a subcommand: the ladder of every mechanism on this machine, in
/// about a minute. With a suite, mechanisms, cases or options of `run` alone
/// (`hopcost quick`, `hopcost pipe tcp`), the same as `hopcost run` with them.
#[derive(Parser)]
#[command(name = "hopcost", version = version(), max_term_width = 100, subcommand_negates_reqs = true)]
#[command(
    override_usage = "hopcost [COMMAND]",
    after_long_help = "Exit codes: 0 fine, 1 runtime error or a case failed, 2 usage or bad input, \
3 invalid measurement, 4 with --fail-if-slower or --gate: slower or a failed claim, 5 with --strict: undecided, 6 not comparable, 124 lease over, 130 interrupted (finished trials are kept)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Measure: a suite, or the cases you name
    Run(Box<run::Args>),
    /// List every mechanism, and whether it can be measured here
    List(list::Args),
    /// Show what a mechanism does and what its number contains
    Show(show::Args),
    /// Show a stored run again, as text, JSON, CSV, Markdown or HTML
    Report(report::Args),
    /// Report which is faster, stored runs or cases side by side; fail CI if slower
    Compare(Box<compare_args::Args>),
    /// Recommend a mechanism for a message size, a rate and limits
    Advise(Box<advise::Args>),
    /// Break a round trip down into its parts, from kernel events (as root)
    Explain(Box<explain::Args>),
    /// Measure many hosts, and report which are outliers
    Fleet(fleet::Args),
    /// Check published claims about costs on this machine
    Judge(Box<judge::Args>),
    /// Check this machine for sources of noise and say what to fix first
    Doctor(doctor::Args),
    /// The same as `doctor --self-test`
    #[command(hide = true)]
    Selftest,
    /// Print the facts of this host as JSON
    #[command(hide = true)]
    Facts,
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions(reference::Shell),
    /// Print a reference: the command line (also as a man page), mechanisms, findings or tables
    #[command(hide = true)]
    Reference(reference::Args),
    /// One trial with a fixed number of operations, as JSON
    #[command(hide = true)]
    Trial(trial::Args),
    /// Check, list or install the workers of other languages
    Worker(worker::Args),
}

/// The command line as it is parsed and shown.
fn command() -> clap::Command {
    help::shaped(Cli::command())
}

fn version() -> &'static str {
    concat!(
        env!("CARGO_PKG_VERSION"),
        " (",
        env!("HOPCOST_COMMIT"),
        ", ",
        env!("HOPCOST_PROFILE"),
        ")"
    )
}

/// A fault of hopcost's own is one line too, not a backtrace.
fn report_own_faults() {
    std::panic::set_hook(Box::new(|panic| {
        output::say(&format!("hopcost: internal error, please report it: {panic}"));
    }));
}

/// Whether the message is help, and no error.
fn is_help(error: &clap::Error) -> bool {
    !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What is wrong with the command line, without the usage that follows it.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
    let line = lines.join("; ").replace(":; ", ": ").replace("; [", " [");
    format!("{}; see --help", line.trim_start_matches("error: "))
}

/// Parses the command line, does what it says, prints one line if that fails.
pub fn main() -> ExitCode {
    report_own_faults();
    if let Err(error) = sys::ensure_stack() {
        output::say(&format!("hopcost: {error}"));
        return ExitCode::from(exit::USAGE);
    }
    let words = command_line::arguments(&Cli::command());
    let parsed = command().try_get_matches_from(&words);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if is_help(&error) => error.exit(),
        Err(error) => {
            output::say(&format!("hopcost: {}", one_line(&error)));
            return ExitCode::from(exit::USAGE);
        }
    };
    let result = match cli.command {
        None => run::run(&run::Args::default(), &words),
        Some(Command::Run(args)) => run::run(&args, &words),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Compare(mut args)) => compare::run(&mut args, &words),
        Some(Command::Advise(args)) => advise::run(&args, &words),
        Some(Command::Explain(args)) => explain::run(&args, &words),
        Some(Command::Fleet(args)) => fleet::run(&args),
        Some(Command::Judge(args)) => judge::run(&args, &words),
        Some(Command::Selftest) => judge::self_test(),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Facts) => host::facts(),
        Some(Command::Completions(args)) => reference::completions(&args, command()),
        Some(Command::Reference(args)) => reference::run(&args, command()),
        Some(Command::Trial(args)) => trial::run(&args),
        Some(Command::Worker(args)) => match worker::run(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // One line: the chain of causes, outermost first.
            output::say(&format!("hopcost: {error:#}"));
            ExitCode::from(exit::code_of(&error))
        }
    }
}
