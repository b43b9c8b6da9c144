//! Tells the crate how it is optimised, which no `cfg` does.

use std::env;

fn main() -> Result<(), env::VarError> {
    println!("cargo::rustc-env=HOPCOST_PROBE_OPT_LEVEL={}", env::var("OPT_LEVEL")?);
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
