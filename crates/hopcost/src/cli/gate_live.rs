//! `hopcost gate --live-binaries`: one build beside another in blocks of adjacent trials.

use std::ffi::OsString;
use std::path::Path;

use hopcost_file::Runs;
use hopcost_model::results::{Compared, Results, Verdict};
use hopcost_model::text::count;

use super::exit::usage;
use super::gate_args::{Args, Found, confirmed, ensure_few};
use super::{compare, exit, host, report, run};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

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
        let (mut found, mut paths) = (Vec::new(), Vec::new());
        for case in names {
            let asked = compare::Args::of_gate(args, case);
            let mut session = compare::begin(&asked, words, Some(cases.len()), Some(kept))?;
            if run::measure(&mut session)? == Ending::Interrupted {
                return Ok(None);
            }
            let results = session.results()?;
            if session.is_interrupted()? {
                return Ok(None);
            }
            invalid.extend(why_invalid(case, &results));
            let compared = results.comparison.and_then(|found| found.compared.into_iter().next());
            found.push(compared.unwrap_or_else(|| hopcost_read::unmeasured(case)));
            paths.push(session.path().to_owned());
        }
        share_out(&mut found, cases.len(), |at, sharing| read_sharing(&paths[at], sharing))?;
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

/// Gives what the decided leave of the error to those that are not (Holm), `again` being what a
/// comparison says as one of so many. All blocks are judged by the look at which they ended, so that no
/// look is taken twice.
fn share_out(
    found: &mut [Compared],
    sharing: usize,
    mut again: impl FnMut(usize, usize) -> anyhow::Result<Option<Compared>>,
) -> anyhow::Result<()> {
    let mut now = sharing;
    loop {
        let is_open = |of: &Compared| of.verdict == Verdict::Inconclusive;
        let decided = found.iter().filter(|of| !is_open(of)).count();
        let left = sharing.saturating_sub(decided).max(1);
        if left == now {
            return Ok(());
        }
        now = left;
        for (at, of) in found.iter_mut().enumerate().filter(|(_, of)| is_open(of)) {
            *of = again(at, left)?.unwrap_or_else(|| of.clone());
        }
    }
}

fn read_sharing(path: &Path, sharing: usize) -> anyhow::Result<Option<Compared>> {
    let mut raw = hopcost_file::open(path, &Scratch::for_copy)?;
    if let Some(plan) = &mut raw.plan.comparison {
        plan.sharing = u32::try_from(sharing).ok();
    }
    let found = report::results(&raw).comparison;
    Ok(found.and_then(|found| found.compared.into_iter().next()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_leaves_its_share_to_the_others() {
        // The most that each may share the error with and be told.
        let shared = |most: [usize; 4]| {
            let told = |at: usize, sharing: usize| Compared {
                verdict: if sharing <= most[at] { Verdict::Slower } else { Verdict::Inconclusive },
                ..hopcost_read::unmeasured("a")
            };
            let mut found: Vec<Compared> = (0..4).map(|at| told(at, 4)).collect();
            let again = |at, sharing| Ok(Some(told(at, sharing)));
            share_out(&mut found, 4, again).unwrap();
            found.iter().filter(|of| of.verdict == Verdict::Slower).count()
        };
        assert_eq!(shared([4, 3, 2, 1]), 4, "each leaves enough for the next");
        assert_eq!(shared([4, 2, 2, 2]), 1, "three are left and want two");
        assert_eq!(shared([3, 3, 3, 3]), 0, "the first has to be told among four");
        assert_eq!(shared([4, 4, 2, 1]), 4);
        assert_eq!(shared([4, 4, 1, 1]), 2);
    }
}
