//! `hopcost show MECHANISM`.

use hopcost_probe::mechanism;

use super::{Format, exit, output, usage};

/// Arguments of `show`.
#[derive(clap::Args)]
pub struct Args {
    /// The mechanism's name, as `hopcost list` gives it
    mechanism: String,
    /// How to print it (text, json, md)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Shows one mechanism.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let name = args.mechanism.split(':').next().unwrap_or_default();
    let Some(row) = mechanism::find(name) else {
        let known: Vec<_> = mechanism::ALL
            .iter()
            .filter(|row| !row.facts.hidden)
            .map(|row| row.facts.name)
            .collect();
        let hint = hopcost_plan::nearest(name, &known).map_or_else(
            || "see hopcost list".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(usage(format!("unknown mechanism `{}`; {hint}", args.mechanism)));
    };
    let document =
        hopcost_view::mechanisms::show(&row.facts, output::mechanism_format(args.format)?);
    output::write(document.as_bytes(), None)?;
    Ok(exit::OK)
}
