//! `hopcost compare OLD NEW`: stored runs, or two fleets. Nothing is measured and nothing is stored.

use std::path::{Path, PathBuf};

use hopcost_file::Runs;
use hopcost_model::plan::Plan;
use hopcost_read::results::{Compared, Difference, RunComparison, Statistic};
use hopcost_read::stored::{self, Asked, RunSummary};

use super::compare_args::Args;
use super::exit::{not_comparable, usage};
use super::shown::{Content, Printed};
use super::{output, runs};
use crate::run::scratch::Scratch;

/// A side as read.
#[derive(Default)]
pub struct Side {
    paths: Vec<PathBuf>,
    pub runs: Vec<RunSummary>,
    /// The plan of the first.
    pub plan: Option<Plan>,
}

/// Compares runs, or two fleets, of which a host is a block, and shows what was found.
pub fn run(args: &Args, sides: [&[String]; 2]) -> anyhow::Result<u8> {
    let are_fleets = are_fleets(sides)?;
    args.shown.ensure_without_run()?;
    let (found, is_invalid) = if are_fleets {
        (fleets(args, [&sides[0][0], &sides[1][0]])?, false)
    } else {
        let (sides, found) = found(args, sides)?;
        let is_invalid = is_invalid(&found, &sides);
        (found, is_invalid)
    };
    args.shown.show(Content::Comparison(&found), Printed::WhereNothingElse)?;
    Ok(args.code(&found.compared, is_invalid))
}

/// Whether both sides are fleets.
fn are_fleets(sides: [&[String]; 2]) -> anyhow::Result<bool> {
    let is_fleet = |spec: &String| hopcost_file::is_fleet(Path::new(spec));
    match sides.map(|side| side.iter().filter(|spec| is_fleet(spec)).count()) {
        [0, 0] => Ok(false),
        [1, 1] if sides.iter().all(|side| side.len() == 1) => Ok(true),
        _ => Err(usage("a fleet is compared with one other: hopcost compare DIR1 DIR2")),
    }
}

fn fleets(args: &Args, sides: [&String; 2]) -> anyhow::Result<RunComparison> {
    let read = |spec: &String| {
        hopcost_file::read_fleet(Path::new(spec), &Scratch::for_copy).map_err(usage)
    };
    let (baseline, other) = (read(sides[0])?, read(sides[1])?);
    if !baseline.id.is_empty() && baseline.id == other.id {
        return Err(usage("both directories hold the same fleet"));
    }
    hopcost_read::fleet::of_fleets(&baseline, &other, args.margin(), &args.across)
        .map_err(|differences| refusal(&differences))
}

/// Whether every case that was compared is invalid in a run of it, so that no verdict counts.
fn is_invalid(found: &RunComparison, sides: &[Side; 2]) -> bool {
    let all = sides.iter().flat_map(|side| &side.runs).flat_map(RunSummary::measured);
    let invalid: Vec<String> = all.filter(|(_, is_it)| *is_it).map(|(case, _)| case.id()).collect();
    let is_it = |of: &Compared| invalid.contains(&of.case) || invalid.contains(&of.baseline);
    !found.compared.is_empty() && found.compared.iter().all(is_it)
}

fn found(args: &Args, sides: [&[String]; 2]) -> anyhow::Result<([Side; 2], RunComparison)> {
    let [baseline, other] = sides.map(|runs| side(runs, args.statistic));
    let (baseline, other) = (baseline?, other?);
    ensure_apart(&baseline, &other)?;
    let asked = Asked { margin: args.margin(), across: &args.across };
    let found = stored::of_runs(&baseline.runs, &other.runs, &asked).map_err(|of| refusal(&of))?;
    Ok(([baseline, other], found))
}

/// Says what runs differ in, a line each, and refuses to compare them.
pub fn refusal(differences: &[Difference]) -> anyhow::Error {
    differences.iter().for_each(|one| output::say(&line(one)));
    let mut across: Vec<&str> = differences.iter().map(|one| one.across.word()).collect();
    across.dedup();
    not_comparable(format!(
        "not compared: the runs differ in {}; where that is the question: --across {}",
        across.join(", "),
        across.join(",")
    ))
}

/// `kernel: kernel.release was 6.1 and is 6.2`
fn line(difference: &Difference) -> String {
    let (a, b) = (difference.baseline.join(", "), difference.other.join(", "));
    format!("{}: {} was {a} and is {b}", difference.across.word(), difference.what)
}

/// Reads the runs of a side, to be compared by a statistic.
pub fn side(specs: &[String], statistic: Option<Statistic>) -> anyhow::Result<Side> {
    let mut side = Side::default();
    let rust = hopcost_probe::worker::mechanisms();
    for spec in specs {
        for path in paths(spec)? {
            let raw = runs::open(&path)?;
            if raw.plan.comparison.is_some() {
                return Err(usage(format!(
                    "{} is a live comparison, and no run of cases: `hopcost report` shows it",
                    path.display()
                )));
            }
            side.runs.push(RunSummary::of(&raw, &rust, statistic));
            side.paths.push(path);
            side.plan.get_or_insert(raw.plan);
        }
    }
    Ok(side)
}

/// The run files that a word means: a run, or those in a directory.
pub fn paths(spec: &str) -> anyhow::Result<Vec<PathBuf>> {
    if !Path::new(spec).is_dir() {
        return Ok(vec![runs::find(spec)?]);
    }
    let runs = Runs::new(spec).list().map_err(usage)?;
    if runs.is_empty() {
        return Err(usage(format!("no run in {spec}: want files NAME.hopcost")));
    }
    Ok(runs.into_iter().map(|run| run.path).collect())
}

/// A run that is counted twice would look like two that agree.
fn ensure_apart(baseline: &Side, other: &Side) -> anyhow::Result<()> {
    let all =
        || baseline.runs.iter().chain(&other.runs).zip(baseline.paths.iter().chain(&other.paths));
    for (at, (run, path)) in all().enumerate() {
        if let Some((_, first)) = all().take(at).find(|(before, _)| before.id == run.id) {
            return Err(usage(format!(
                "the run {} is named twice, as {} and {}",
                run.id,
                first.display(),
                path.display()
            )));
        }
    }
    Ok(())
}
