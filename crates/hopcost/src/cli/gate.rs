//! `hopcost gate`: a few cases against stored runs, for somebody's CI.
//! What looks slower is measured again before it fails anybody.

use std::ffi::OsString;

use hopcost_file::Runs;
use hopcost_model::results::{Gate, Outcome, Undecided};
use hopcost_probe::orphans::Orphans;
use hopcost_view::gate;

use super::gate_args::{Args, Found};
use super::run::prepare_machine;
use super::{exit, gate_runs, output};
use crate::run::scratch::Scratch;

/// Measures, decides and writes what was decided.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let orphans = Orphans::adopt()?;
    if let Some(file) = &args.summary {
        output::ensure_writable(file)?;
    }
    prepare_machine()?;
    // Removed with all that is in it.
    let removed = Scratch::for_copy()?;
    let kept = Runs::new(args.keep.as_deref().unwrap_or(removed.as_ref().as_ref()));
    let found = gate_runs::found(args, words, &kept)?;
    drop(orphans);
    let Some(Found { sides, cases, invalid }) = found else {
        output::say("hopcost: interrupted; nothing is decided");
        return Ok(exit::INTERRUPTED);
    };
    let undecided = if args.strict { Undecided::Fail } else { Undecided::Pass };
    let decided = Gate { margin: args.margin, sides, cases, invalid, undecided };
    output::write(gate::text(&decided, &output::style()).as_bytes(), None)?;
    if let Some(file) = &args.summary {
        output::write(gate::markdown(&decided).as_bytes(), Some(file))?;
    }
    Ok(match decided.outcome() {
        Outcome::Passed => exit::OK,
        Outcome::Unmeasured => exit::ERROR,
        Outcome::Invalid => exit::INVALID,
        Outcome::Regression => exit::REGRESSION,
        Outcome::Inconclusive => exit::INCONCLUSIVE,
    })
}
