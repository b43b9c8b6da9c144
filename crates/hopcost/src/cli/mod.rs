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
mod subcommand;
mod trial;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory, Parser};
use hopcost_plan::{SHIPPED, nearest};
use hopcost_probe::{mechanism, sys};

use subcommand::{Called, Subcommand};

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
struct Cli {}

/// A subcommand in the list.
struct Entry {
    name: &'static str,
    command: fn() -> Command,
    run: fn(&ArgMatches, &Called) -> anyhow::Result<u8>,
}

impl Entry {
    const fn of<S: Subcommand>() -> Self {
        Self { name: S::NAME, command: help::of::<S>, run: run::<S> }
    }
}

/// All of them, in the order of the help.
static ALL: [Entry; 14] = [
    Entry::of::<run::Args>(),
    Entry::of::<list::Args>(),
    Entry::of::<show::Args>(),
    Entry::of::<report::Args>(),
    Entry::of::<compare::Args>(),
    Entry::of::<advise::Args>(),
    Entry::of::<explain::Args>(),
    Entry::of::<fleet::Args>(),
    Entry::of::<judge::Args>(),
    Entry::of::<doctor::Args>(),
    Entry::of::<reference::Shell>(),
    Entry::of::<reference::Args>(),
    Entry::of::<trial::Args>(),
    Entry::of::<worker::Args>(),
];

/// The command line as it is parsed and shown.
fn command() -> Command {
    Cli::command().subcommands(ALL.iter().map(|entry| (entry.command)()))
}

fn run<S: Subcommand>(matches: &ArgMatches, called: &Called) -> anyhow::Result<u8> {
    let args = S::from_arg_matches(matches);
    args.map_err(|error| exit::usage(one_line(&error)))?.run(called)
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
    let matches = match command().try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) if is_help(&error) => error.exit(),
        Err(error) => {
            output::say(&format!("hopcost: {}", one_line(&error)));
            return ExitCode::from(exit::USAGE);
        }
    };
    let called = Called { words, command };
    let asked = matches.subcommand();
    let asked = asked.and_then(|(name, of)| Some((ALL.iter().find(|one| one.name == name)?, of)));
    let result = match asked {
        None => run::Args::default().run(&called),
        Some((entry, matches)) => (entry.run)(matches, &called),
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
