//! `hopcost compare DIR1 DIR2` of two fleets: a host is a block.

use std::path::Path;

use super::compare_args::Args;
use super::compare_runs::refusal;
use super::exit::usage;
use super::fleet_index;

/// Whether both sides are fleets.
///
/// # Errors
/// Where one of them is and the other is not.
pub fn are_asked(sides: [&[String]; 2]) -> anyhow::Result<bool> {
    let is_fleet = |spec: &String| hopcost_file::is_fleet(Path::new(spec));
    match sides.map(|side| side.iter().filter(|spec| is_fleet(spec)).count()) {
        [0, 0] => Ok(false),
        [1, 1] if sides.iter().all(|side| side.len() == 1) => Ok(true),
        _ => Err(usage("a fleet is compared with one other: hopcost compare DIR1 DIR2")),
    }
}

/// Compares two fleets, and shows what was found.
pub fn run(args: &Args, sides: [&[String]; 2]) -> anyhow::Result<u8> {
    let shown = &args.shown;
    shown.ensure_of_comparison()?;
    shown.ensure_writable()?;
    let read = |spec: &String| fleet_index::read(Path::new(spec));
    let (baseline, other) = (read(&sides[0][0])?, read(&sides[1][0])?);
    if !baseline.id.is_empty() && baseline.id == other.id {
        return Err(usage("both directories hold the same fleet"));
    }
    let found = hopcost_read::fleet::of_fleets(&baseline, &other, args.margin(), &args.across)
        .map_err(|differences| refusal(&differences))?;
    shown.show_comparison(&found)?;
    Ok(args.code(&found.compared, false))
}
