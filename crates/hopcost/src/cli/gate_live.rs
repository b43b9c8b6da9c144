//! `hopcost gate --live-binaries`: one build beside another in blocks of adjacent trials.

use std::ffi::OsString;

use hopcost_file::Runs;
use hopcost_model::results::{Compared, Results};
use hopcost_model::text::count;

use super::exit::usage;
use super::gate_args::{Args, Found, confirmed, ensure_few};
use super::{compare, exit, host, report, run};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;

/// Compares case by case; `None` where that is interrupted.
pub fn found(args: &Args, words: &[OsString], kept: &Runs) -> anyhow::Result<Option<Found>> {
    if args.cases.is_empty() && !args.is_of_suite() {
        return Err(usage("--live-binaries wants cases to compare the builds by"));
    }
    let cases = cases(args)?;
    // What cannot be measured or told is refused before the first trial.
    let runtimes = Runtimes::new(args.worker.clone());
    for case in &cases {
        compare::plan(&compare::Args::of_gate(args, case), &runtimes, Some(cases.len()))?;
    }
    let mut invalid = Vec::new();
    let mut measured = |names: &[String]| {
        let mut found = Vec::new();
        for case in names {
            let asked = compare::Args::of_gate(args, case);
            let mut session = compare::begin(&asked, words, Some(cases.len()), Some(kept))?;
            if run::measure(&mut session, None)? == Ending::Interrupted {
                return Ok(None);
            }
            let results = session.results()?;
            if session.is_interrupted()? {
                return Ok(None);
            }
            invalid.extend(why_invalid(case, &results));
            let compared = results.comparison.and_then(|found| found.compared.into_iter().next());
            found.push(compared.unwrap_or_else(|| hopcost_read::unmeasured(case)));
        }
        Ok::<Option<Vec<Compared>>, anyhow::Error>(Some(found))
    };
    let Some(first) = measured(&cases)? else { return Ok(None) };
    let Some(cases) = confirmed(first, measured)? else { return Ok(None) };
    let [old, new] = [0, 1].map(|side| args.live_binaries[side].display());
    let sides = format!(
        "{new} against {old}, {} measured side by side in blocks of adjacent trials.",
        count(cases.len(), "case")
    );
    Ok(Some(Found { sides, cases, invalid }))
}

/// The cases, each by its spelling.
fn cases(args: &Args) -> anyhow::Result<Vec<String>> {
    let runtimes = Runtimes::new(args.worker.clone());
    let rust = hopcost_probe::worker::mechanisms();
    let machine = host::machine(&args.cpus)?;
    let plan = hopcost_plan::plan(&args.ask()?, rust, &|| runtimes.facts(), &machine);
    let plan = plan.map_err(usage)?;
    let known = plan.cases.iter().filter_map(|planned| planned.known()).cloned().collect();
    Ok(ensure_few(known)?.iter().map(|case| case.id()).collect())
}

fn why_invalid(case: &str, results: &Results) -> Option<String> {
    let why = results.comparison.as_ref().and_then(|found| found.invalid.clone());
    let why = why.or_else(|| {
        let is_invalid = report::verdict(results) == exit::INVALID;
        is_invalid.then(|| {
            let finding = results.findings.first();
            finding.map_or("its run is".to_owned(), |finding| finding.code.to_string())
        })
    })?;
    Some(format!("{case}: {why}."))
}
