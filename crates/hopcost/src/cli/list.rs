//! `hopcost list`.

use hopcost_probe::mechanism;

use super::{Format, exit, output};

/// Arguments of `list`.
#[derive(clap::Args)]
pub struct Args {
    /// How to print it (text, json, md)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Lists every mechanism.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let facts: Vec<_> =
        mechanism::ALL.iter().map(|row| &row.facts).filter(|facts| !facts.hidden).collect();
    let document = hopcost_view::mechanisms::list(&facts, output::mechanism_format(args.format)?);
    output::write(document.as_bytes(), None)?;
    Ok(exit::OK)
}
