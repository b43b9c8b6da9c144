//! `hopcost completions SHELL`, made from the definition of the command line.

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
