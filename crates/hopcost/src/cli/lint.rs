//! `hopcost lint FILE…`: published tables against arithmetic.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_lint::{Report, Said};

use super::exit::{self, usage};
use super::input;
use super::output::{self, Format};

/// Bytes of a file beyond which it is not a table that somebody published.
const BYTES_MAX: u64 = 64 << 20;

/// Arguments of `lint`.
#[derive(clap::Args)]
pub struct Args {
    /// CSV, HTML, Markdown, or text with tables pasted into it; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What a column holds, where its heading does not say: `RTT=mean:us` (docs/lint.md; repeatable)
    #[arg(long, value_name = "NAME=ROLE[:UNIT]")]
    column: Vec<String>,
    /// How to print it (text, json, md)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Exit with code 4 where something was found, and 2 where something could not be checked
    #[arg(long)]
    gate: bool,
}

/// Checks every file.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let said = args.column.iter().map(|text| {
        text.parse::<Said>().map_err(|error| usage(format!("--column {text}: {error}")))
    });
    let said: Vec<Said> = said.collect::<Result<_, _>>()?;
    let checked = args.files.iter().map(|file| {
        let text = read(file).with_context(|| format!("cannot read {}", file.display()));
        Ok(hopcost_lint::lint(
            &file.to_string_lossy(),
            &text.map_err(|e| usage(format!("{e:#}")))?,
            &said,
        ))
    });
    let reports: Vec<Report> = checked.collect::<anyhow::Result<_>>()?;
    let columns =
        || reports.iter().flat_map(|report| &report.tables).flat_map(|table| &table.columns);
    if let Some(said) = said.iter().find(|said| columns().all(|column| column.name != said.head)) {
        let known: Vec<&str> = columns().map(|column| column.name.as_str()).collect();
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        return Err(usage(format!("--column: no column of numbers is `{}`; {known}", said.head)));
    }
    let document = match args.format {
        Format::Text => hopcost_lint::text(&reports),
        Format::Json => hopcost_lint::json(&reports),
        Format::Md => hopcost_lint::markdown(&reports),
        Format::Csv | Format::Html => {
            return Err(usage("findings are printed as text, json or md"));
        }
    };
    output::write(document.as_bytes(), None)?;
    if !args.gate {
        return Ok(exit::OK);
    }
    if reports.iter().any(|report| !report.findings.is_empty()) {
        return Ok(exit::REGRESSION);
    }
    // What was not looked at has not passed.
    let noted = reports.iter().find_map(|report| Some((&report.file, report.notes.first()?)));
    match noted {
        Some((file, note)) => Err(usage(format!("--gate: {file} was not checked in full: {note}"))),
        None if reports.iter().all(|report| report.tables.is_empty()) => {
            Err(usage("--gate: no table was found that could be checked"))
        }
        None => Ok(exit::OK),
    }
}

fn read(file: &Path) -> io::Result<String> {
    let bytes = match file == Path::new("-") {
        true => input::capped(io::stdin().lock(), BYTES_MAX),
        false => input::read(file, BYTES_MAX),
    };
    Ok(String::from_utf8_lossy(&bytes?).into_owned())
}
