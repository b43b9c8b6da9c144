//! The command line: one file a subcommand, each a few pipeline calls, and one list of them.

mod advise;
mod compare;
mod compare_along;
mod compare_args;
mod compare_runs;
mod doctor;
mod exit;
mod explain;
mod fleet;
mod help;
mod host;
mod input;
mod judge;
mod list;
mod measured;
mod output;
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

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use hopcost_plan::{SHIPPED, nearest};
use hopcost_probe::{mechanism, sys};

/// Measure what it costs to pass a message; with no arguments: this machine, about a minute
///
/// Without a subcommand: the ladder of every mechanism on this machine, in
/// about a minute. With a suite, mechanisms, cases or options of `run` alone
/// (`hopcost quick`, `hopcost pipe tcp`), the same as `hopcost run` with them.
#[derive(Parser)]
#[command(name = "hopcost", version = VERSION, max_term_width = 100, subcommand_negates_reqs = true)]
#[command(
    override_usage = "hopcost [COMMAND]",
    after_long_help = "Exit codes: 0 fine, 1 runtime error or a case failed, 2 usage or bad input, \
3 invalid measurement, 4 with --fail-if-slower or --gate: slower or a failed claim, 5 with --strict: undecided, 6 not comparable, 130 interrupted (finished trials are kept)."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Subcommand>,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    Run(run::Args),
    List(list::Args),
    Show(show::Args),
    Report(report::Args),
    Compare(compare::Args),
    Advise(advise::Args),
    Explain(explain::Args),
    Fleet(fleet::Args),
    Judge(judge::Args),
    Doctor(doctor::Args),
    #[command(hide = true)]
    Completions(reference::Shell),
    #[command(hide = true)]
    Reference(reference::Args),
    #[command(hide = true)]
    Trial(trial::Args),
    Worker(worker::Args),
}

impl Subcommand {
    /// Does it, and returns the exit code; the words of the command line are stored with what is measured.
    fn run(&self, words: &[OsString]) -> anyhow::Result<u8> {
        match self {
            Self::Run(args) => args.run(words),
            Self::List(args) => args.run(),
            Self::Show(args) => args.run(),
            Self::Report(args) => args.run(),
            Self::Compare(args) => args.run(words),
            Self::Advise(args) => args.run(words),
            Self::Explain(args) => args.run(words),
            Self::Fleet(args) => args.run(),
            Self::Judge(args) => args.run(words),
            Self::Doctor(args) => args.run(),
            Self::Completions(args) => args.run(command()),
            Self::Reference(args) => args.run(command()),
            Self::Trial(args) => args.run(),
            Self::Worker(args) => args.run(),
        }
    }
}

/// The command line as it is parsed and shown.
fn command() -> Command {
    Cli::command().mut_subcommands(help::ordered)
}

const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("HOPCOST_COMMIT"),
    ", ",
    env!("HOPCOST_PROFILE"),
    ")"
);

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
    let words = arguments(&command());
    let matches = command().try_get_matches_from(&words);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if is_help(&error) => error.exit(),
        Err(error) => {
            output::say(&format!("hopcost: {}", one_line(&error)));
            return ExitCode::from(exit::USAGE);
        }
    };
    let asked = cli.command.unwrap_or_else(|| Subcommand::Run(run::Args::default()));
    match asked.run(&words) {
        Ok(code) => ExitCode::from(code),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // One line: the chain of causes, outermost first.
            output::say(&format!("hopcost: {error:#}"));
            ExitCode::from(exit::code_of(&error))
        }
    }
}

/// The words to be parsed: with `run` where no subcommand was named but what it measures, or one of
/// its options.
fn arguments(cli: &Command) -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let first = words.get(1).map(|word| word.to_string_lossy().into_owned());
    let missing = first.map_or(&[][..], |first| missing_before(&first, cli));
    words.splice(1..1, missing.iter().map(OsString::from));
    words
}

/// What is missing before a first word.
fn missing_before(first: &str, cli: &Command) -> &'static [&'static str] {
    let commands: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
    let suites = || SHIPPED.iter().map(|(name, _)| *name);
    if ["help", "--help", "-h", "--version", "-V"].contains(&first) || commands.contains(&first) {
        return &[];
    }
    if suites().any(|suite| suite == first) {
        return &["run", "--suite"];
    }
    // What is nearest to a subcommand is a misspelt one, which clap tells of.
    let names = mechanism::ALL.iter().map(|row| row.name);
    let known: Vec<&str> = names.chain(commands.iter().copied()).chain(suites()).collect();
    if nearest(first, &known).is_some_and(|near| commands.contains(&near)) { &[] } else { &["run"] }
}
