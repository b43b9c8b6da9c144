//! `hopcost completions SHELL` and the manual page, made from the definition of the command line.

use clap::Command;

use super::{exit, output};

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Prints a completion script.
pub fn run(args: &Args, mut command: Command) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hopcost", &mut script);
    output::write(&script, None)?;
    Ok(exit::OK)
}

/// Prints the manual: a page of hopcost and one of each visible subcommand, in one file.
pub fn man(command: Command) -> anyhow::Result<u8> {
    let mut pages = Vec::new();
    // Without the revision, so that the pages change only with the command line.
    let mut command = command.version(env!("CARGO_PKG_VERSION"));
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if sub.get_name() != "help" {
            // clap wants names that live for ever; there is a handful of them.
            let name: &'static str = format!("hopcost-{}", sub.get_name()).leak();
            clap_mangen::Man::new(sub.clone().name(name)).render(&mut pages)?;
        }
    }
    output::write(&pages, None)?;
    Ok(exit::OK)
}
