//! `hopcost reference TOPIC`: what the program knows of itself, as Markdown or as a man page. `hopcost
//! completions SHELL`: a script made from the definition of the command line.

use clap::{Command, ValueEnum};
use hopcost_model::Code;

use super::output;

/// Print a reference: the command line (also as a man page), mechanisms, findings or tables
#[derive(clap::Args)]
pub struct Args {
    /// The subject
    #[arg(value_enum, default_value = "cli")]
    topic: Topic,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Topic {
    /// Every option of every subcommand
    Cli,
    /// The same as a man page
    Man,
    /// Every mechanism: what its number contains, its system calls, its limits
    Mechanisms,
    /// Every finding: what it means, and what helps
    Findings,
    /// Every table of JSON and CSV: what its columns hold
    Tables,
}

/// Print a completion script for a shell
#[derive(clap::Args)]
pub struct Shell {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

impl Shell {
    pub fn run(&self, mut command: Command) -> anyhow::Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "hopcost", &mut script);
        output::print(&String::from_utf8(script)?)
    }
}

impl Args {
    pub fn run(&self, command: Command) -> anyhow::Result<u8> {
        output::print(&match self.topic {
            Topic::Cli => command_line(command),
            Topic::Man => man(command),
            Topic::Mechanisms => mechanisms(),
            Topic::Findings => findings(),
            Topic::Tables => tables(),
        })
    }
}

fn command_line(command: Command) -> String {
    let section = |(name, help)| format!("\n## {name}\n\n```text\n{help}\n```\n");
    helps(command)
        .into_iter()
        .map(section)
        .fold("# Command line\n".to_owned(), |all, one| all + &one)
}

/// A man page of the same helps, in the language of roff(7).
fn man(command: Command) -> String {
    let mut text = format!(
        ".TH HOPCOST 1 \"\" \"hopcost {}\"\n.SH NAME\nhopcost \\- measure what it costs to pass a \
         message\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, help) in helps(command) {
        text.push_str(&format!(".SH {name}\n.nf\n"));
        for line in help.lines() {
            // `\&` keeps a line that begins with a dot or an apostrophe from being a request.
            text.push_str(&format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-")));
        }
        text.push_str(".fi\n");
    }
    text
}

/// The command and its subcommands, each with its long help.
fn helps(command: Command) -> Vec<(String, String)> {
    let mut command = command.term_width(100);
    command.build();
    let mut all = vec![command.clone()];
    all.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned());
    let help = |mut command: Command| {
        let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        (name, lines.join("\n").trim_end().to_owned())
    };
    all.into_iter().map(help).filter(|(name, _)| !name.ends_with("help")).collect()
}

fn mechanisms() -> String {
    format!(
        "# Mechanisms\n\nThe counts are of one operation, both ends together. The conformance tests \
         check them.\n\n{}",
        hopcost_view::mechanisms::reference(&hopcost_probe::worker::mechanisms())
    )
}

fn findings() -> String {
    let mut text = String::from(
        "# Findings\n\nA finding is a remark on a run or on a case, with its evidence. A `note` leaves \
         the number valid, a `suspect` number may mislead, and an `invalid` number is not what its \
         label says (exit code 3). A result is as valid as its worst finding.\n",
    );
    for code in Code::ALL {
        let (means, remedy) = (code.means(), code.remedy());
        text.push_str(&format!("\n## {code}\n\n{means}\n\n**What to do:** {remedy}\n"));
    }
    text
}

fn tables() -> String {
    format!(
        "# Tables\n\nJSON has every table of an answer as an array of objects, CSV one of them \
         (`--table NAME`). Times are nanoseconds where a name ends in `_ns`. What is not known or \
         does not apply is `null` in JSON and an empty field in CSV.\n{}",
        hopcost_view::answer::reference()
    )
}
