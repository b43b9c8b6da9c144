//! The command line: one file a subcommand, each a few pipeline calls.

mod completions;
mod host;
mod list;
mod output;
mod progress;
mod report;
mod run;
mod show;
mod trial;
mod worker;
mod worker_check;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Exit codes, the same for every subcommand.
pub mod exit {
    /// Fine.
    pub const OK: u8 = 0;
    /// A runtime error, or at least one case failed.
    pub const ERROR: u8 = 1;
    /// Bad usage or bad input.
    pub const USAGE: u8 = 2;
    /// At least one measurement is invalid.
    pub const INVALID: u8 = 3;
    /// Not comparable.
    pub const NOT_COMPARABLE: u8 = 6;
    /// Interrupted; finished trials are kept.
    pub const INTERRUPTED: u8 = 130;
}

/// What it costs to hand a message across a boundary, how sure that is, and why.
///
/// Without a subcommand: the ladder of every mechanism on this machine, in
/// about a minute.
#[derive(Parser)]
#[command(name = "hopcost", version = version(), max_term_width = 100, subcommand_negates_reqs = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 runtime error or a case failed, 2 usage or bad input, \
3 invalid measurement, 6 not comparable, 130 interrupted (finished trials are kept)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Measure: a suite, or the cases you name
    Run(Box<run::Args>),
    /// Every mechanism, and whether it can be measured here
    List(list::Args),
    /// What exactly a mechanism does and what its number contains
    Show(show::Args),
    /// Show a stored run again, as text, JSON, CSV, Markdown or HTML
    Report(report::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page (troff)
    #[command(hide = true)]
    Man,
    /// Print the command line reference (Markdown)
    #[command(hide = true)]
    Reference,
    /// One trial with a fixed number of operations, as JSON
    #[command(hide = true)]
    Trial(trial::Args),
    /// Test a worker (`worker check PATH`); alone, be the one for Rust on stdin and stdout
    Worker(worker::Args),
}

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For the terminal
    Text,
    /// The document behind every view (schema hopcost/1)
    Json,
    /// One row a case
    Csv,
    /// Markdown
    Md,
    /// One self-contained offline page
    Html,
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

/// A refusal with an exit code of its own.
#[derive(Debug)]
struct Refusal {
    message: String,
    code: u8,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Refusal {}

/// A mistake of the user's, as an error: exit code 2.
pub fn usage(message: impl std::fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Refusal { message: message.to_string(), code: exit::USAGE })
}

/// Two things that must not be put together, as an error: exit code 6.
pub fn not_comparable(message: impl std::fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Refusal { message: message.to_string(), code: exit::NOT_COMPARABLE })
}

/// A fault of hopcost's own is one line too, not a backtrace.
fn report_own_faults() {
    std::panic::set_hook(Box::new(|panic| {
        output::say(&format!("hopcost: internal error, please report it: {panic}"));
    }));
}

/// Parses the command line, does what it says, prints one line if that fails.
pub fn main() -> ExitCode {
    report_own_faults();
    let cli = Cli::parse();
    let result = match cli.command {
        None => run::run(&run::Args::default()),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man) => completions::man(),
        Some(Command::Reference) => completions::reference(),
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
            ExitCode::from(
                error.downcast_ref::<Refusal>().map_or(exit::ERROR, |refusal| refusal.code),
            )
        }
    }
}
