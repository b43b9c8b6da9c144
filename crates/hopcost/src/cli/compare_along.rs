//! `hopcost compare A B --along payload=64..1MiB`: a live comparison at each value of an axis, then
//! at values between where the one overtakes the other.

use std::ffi::OsString;
use std::path::PathBuf;

use hopcost_file::Runs;
use hopcost_model::Axis;
use hopcost_plan::{between, spelled};
use hopcost_probe::interrupt;
use hopcost_read::results::{Results, RunComparison};

use super::compare_args::{Args, is_case, plan};
use super::exit::{self, ensure, usage};
use super::measured::prepare;
use super::run::with;
use super::shown::Printed;
use super::{compare_runs, output, progress, runs};
use crate::about;

/// Values at most that are added to those of the command line.
const ADDED_MAX: usize = 8;

/// Measures, or reads the comparisons that are stored, and shows them side by side.
pub fn run(args: &Args, along: &str, words: &[OsString]) -> anyhow::Result<u8> {
    let (axis, values) = hopcost_plan::along(along).map_err(usage)?;
    args.shown.ensure_answer(&RunComparison::default())?;
    if !args.what.iter().any(|word| is_case(word)) {
        return stored(args, axis);
    }
    let [first, second] = args.what.as_slice() else {
        return Err(usage("--along compares two cases: name both"));
    };
    let key = axis.key;
    let wanted = format!("--along {key} wants a range of values, as in {key}=1..16");
    ensure(values.len() >= 2, wanted)?;
    let is_given = args.axes.0.get(key).is_some_and(|given| !given.is_empty())
        || args.what.iter().any(|word| word.contains(&format!("{key}=")));
    ensure(!is_given, format!("the {key} is given twice: --along gives it"))?;
    let cases = [first, second];
    let runtimes = args.measured.runtimes();
    let is_able = |place: &str, value: u64| plan(args, &at(axis, cases, place, value), &runtimes);
    // Two CPUs, where a case could be measured on one or on two and nothing says which.
    let is_open = is_able("", values[0]).is_err() && is_able(CROSS, values[0]).is_ok();
    let place = if is_open { CROSS } else { "" };
    let able = |value: u64| is_able(place, value).map(|_| value).map_err(|error| (value, error));
    let (able, refused): (Vec<_>, Vec<_>) = values.into_iter().map(able).partition(Result::is_ok);
    let able: Vec<u64> = able.into_iter().flatten().collect();
    let mut refused = refused.into_iter().filter_map(Result::err);
    if able.is_empty() {
        return Err(refused.next().map_or_else(|| usage("--along has no value"), |(_, why)| why));
    }
    for (value, why) in refused {
        output::say(&format!("hopcost: left out: {}: {why:#}", spelled(axis, value)));
    }
    prepare()?;
    let directory = directory(args)?;
    let asked = able.len();
    let budget = args.measured.budget.map_or(String::new(), progress::budget);
    let (mut tried, mut rest) = (able.clone(), able.into_iter());
    // Those that are asked for first, then those between which one overtakes the other.
    let mut next = |found: &[Results]| {
        rest.next().or_else(|| {
            let middle = hopcost_read::along::next(axis, found)?;
            let value = between(middle, &tried).filter(|value| is_able(place, *value).is_ok())?;
            tried.push(value);
            (tried.len() <= asked + ADDED_MAX).then_some(value)
        })
    };
    let (mut found, mut cut_off) = (Vec::new(), None);
    while cut_off.is_none()
        && let Some(value) = next(&found)
    {
        let (nth, value_of) = (found.len() + 1, spelled(axis, value));
        let is_asked = if nth > asked { ", added".to_owned() } else { format!(" of {asked}") };
        output::say(&format!(
            "{value_of}, value {nth}{is_asked}, at most {budget} for this value:"
        ));
        let out = directory.join(format!("{key}-{value}.hopcost"));
        let what = at(axis, cases, place, value);
        match args.measured.measured(words, Some(&out), |of| plan(args, &what, of)) {
            // The values that are through are shown, although this one has no trial yet.
            Err(error) if interrupt::came() && !found.is_empty() => {
                output::say(&format!("hopcost: {error:#}"));
                interrupt::report();
                cut_off = Some(exit::code_of(&error));
            }
            measured => {
                let measured = measured?;
                cut_off = measured.cut_off;
                found.extend(cut_off.is_none().then_some(measured.results));
            }
        }
    }
    let shown = hopcost_read::along::of_comparisons(axis, &found, args.summary.is_some());
    args.shown.show(&shown, Printed::WhereNothingElse)?;
    let directory = directory.display();
    let again = format!("hopcost compare {directory} --along {key}");
    output::say(&format!("hopcost: stored in {directory}; again: {again}"));
    let mut codes = cut_off.into_iter().chain(found.iter().map(runs::verdict));
    Ok(codes.find(|code| *code != exit::OK).unwrap_or(exit::OK))
}

/// What says that the ends are on two CPUs.
const CROSS: &str = "&place=cross";

/// Both cases at a value of the axis.
fn at(axis: &Axis, cases: [&String; 2], place: &str, value: u64) -> Vec<String> {
    cases.map(|case| format!("{}{place}", with(case, &spelled(axis, value)))).to_vec()
}

/// Where the comparisons are stored: a file for each value.
fn directory(args: &Args) -> anyhow::Result<PathBuf> {
    let directory = match &args.measured.out {
        Some(directory) => directory.clone(),
        None => {
            let id = about::run(Vec::new()).id;
            Runs::of_user().map_err(usage)?.directory().join(format!("along-{id}"))
        }
    };
    std::fs::create_dir_all(&directory)
        .map_err(|error| usage(format!("cannot create {}: {error}", directory.display())))?;
    Ok(directory)
}

/// Shows comparisons that were stored.
fn stored(args: &Args, axis: &Axis) -> anyhow::Result<u8> {
    let mut found = Vec::new();
    for spec in &args.what {
        for path in compare_runs::paths(spec)? {
            let raw = runs::open(&path)?;
            let why = format!("{} is no live comparison", path.display());
            ensure(raw.plan.comparison.is_some(), why)?;
            found.push(runs::results(&raw));
        }
    }
    let found = hopcost_read::along::of_comparisons(axis, &found, args.summary.is_some());
    args.shown.show(&found, Printed::WhereNothingElse)?;
    Ok(if found.compared.is_empty() { exit::NOT_COMPARABLE } else { exit::OK })
}
