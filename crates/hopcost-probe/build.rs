//! Writes the registry: the row of every module that `src/mechanism/mod.rs` declares, in
//! the same order, so that a mechanism is a file and one line.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    // No `cfg` tells how the crate is optimised.
    println!("cargo::rustc-env=HOPCOST_PROBE_OPT_LEVEL={}", env::var("OPT_LEVEL")?);
    let mut rows = Vec::new();
    declared("src/mechanism", "", &mut rows)?;
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("rows.rs"), format!("&[\n{}]\n", rows.concat()))?;
    Ok(())
}

/// Adds the rows of the modules of a folder; a module that is a folder has several.
fn declared(folder: &str, path: &str, rows: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let list = format!("{folder}/mod.rs");
    println!("cargo::rerun-if-changed={list}");
    let text = fs::read_to_string(&list).map_err(|error| format!("{list}: {error}"))?;
    let words = text.lines().map(|line| line.strip_prefix("pub ").unwrap_or(line));
    let names = words.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    for name in names {
        let inner = format!("{folder}/{name}");
        if Path::new(&inner).is_dir() {
            declared(&inner, &format!("{path}{name}::"), rows)?;
        } else {
            rows.push(format!("    &{path}{name}::ROW,\n"));
        }
    }
    Ok(())
}
