//! `hopcost compare OLD NEW`: stored runs, or two fleets. Nothing is measured and nothing is stored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hopcost_file::Runs;
use hopcost_read::results::{Compared, Difference, RunComparison, Statistic};
use hopcost_read::stored::{self, Asked, RunSummary, Side};

use super::compare_args::Args;
use super::exit::{ensure, not_comparable, usage};
use super::shown::Printed;
use super::{output, runs};
use crate::run::scratch::Scratch;

/// Compares runs, or two fleets, of which a host is a block, and shows what was found.
pub fn run(args: &Args, baseline: &[String], others: &[&[String]]) -> anyhow::Result<u8> {
    args.shown.ensure_answer(&RunComparison::default())?;
    let is_fleet = |spec: &&String| hopcost_file::is_fleet(Path::new(spec));
    let fleets = baseline.iter().chain(others.iter().copied().flatten()).filter(is_fleet).count();
    let (found, is_invalid) = match (fleets, baseline, others) {
        (0, ..) => of_runs(args, baseline, others)?,
        (2, [old], [[new]]) if args.summary.is_none() => (of_fleets(args, [old, new])?, false),
        (2, [_], [[_]]) => return Err(usage("--summary is of runs, and a fleet has none")),
        _ => return Err(usage("a fleet is compared with one other: hopcost compare DIR1 DIR2")),
    };
    args.shown.show(&found, Printed::WhereNothingElse)?;
    Ok(args.code(&found.compared, is_invalid))
}

fn of_fleets(args: &Args, sides: [&String; 2]) -> anyhow::Result<RunComparison> {
    let read = |spec: &String| {
        hopcost_file::read_fleet(Path::new(spec), &Scratch::for_copy).map_err(usage)
    };
    let (baseline, other) = (read(sides[0])?, read(sides[1])?);
    let is_other = baseline.id.is_empty() || baseline.id != other.id;
    ensure(is_other, "both directories hold the same fleet")?;
    hopcost_read::fleet::of_fleets(&baseline, &other, args.margin(), &args.across)
        .map_err(|differences| refusal(&differences))
}

/// What was found of runs, and whether every case that was compared is invalid in one of them, so
/// that no verdict counts.
fn of_runs(
    args: &Args,
    baseline: &[String],
    others: &[&[String]],
) -> anyhow::Result<(RunComparison, bool)> {
    let mut seen = BTreeMap::new();
    let sides = std::iter::once(&baseline).chain(others);
    let read = sides.map(|runs| side(runs, args.statistic, &mut seen));
    let read: Vec<Vec<RunSummary>> = read.collect::<anyhow::Result<_>>()?;
    let [baseline, rest @ ..] = read.as_slice() else { return Err(usage("nothing to compare")) };
    let named = others.iter().zip(rest);
    let named: Vec<Side> = named.map(|(words, runs)| Side { name: &words[0], runs }).collect();
    let (margin, geomean) = (args.margin(), args.summary.is_some());
    let asked = Asked { margin, across: &args.across, geomean };
    let found = stored::of_runs(baseline, &named, &asked).map_err(|of| refusal(&of))?;
    let all = read.iter().flatten().flat_map(RunSummary::measured);
    let invalid: Vec<String> = all.filter(|(_, is_it)| *is_it).map(|(case, _)| case.id()).collect();
    let is_it = |of: &Compared| invalid.contains(&of.case) || invalid.contains(&of.baseline);
    let is_invalid = !found.compared.is_empty() && found.compared.iter().all(is_it);
    Ok((found, is_invalid))
}

/// Says what runs differ in, a line each, and refuses to compare them.
fn refusal(differences: &[Difference]) -> anyhow::Error {
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

/// Reads the runs of a side, to be compared by a statistic. One that was `seen` before is refused: it
/// would look like two that agree.
fn side(
    specs: &[String],
    statistic: Option<Statistic>,
    seen: &mut BTreeMap<String, PathBuf>,
) -> anyhow::Result<Vec<RunSummary>> {
    let mut side = Vec::new();
    let rust = hopcost_probe::worker::mechanisms();
    for spec in specs {
        for path in paths(spec)? {
            let raw = runs::open(&path)?;
            let shown = path.display();
            let why = "is a live comparison, and no run of cases: `hopcost report` shows it";
            ensure(raw.plan.comparison.is_none(), format!("{shown} {why}"))?;
            let id = &raw.about.id;
            if let Some(first) = seen.insert(id.clone(), path.clone()) {
                let first = first.display();
                return Err(usage(format!("the run {id} is named twice, as {first} and {shown}")));
            }
            side.push(RunSummary::of(&raw, &rust, statistic));
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
    ensure(!runs.is_empty(), format!("no run in {spec}: want files NAME.hopcost"))?;
    Ok(runs.into_values().collect())
}
