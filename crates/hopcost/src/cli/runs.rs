//! Stored runs: found by what the user names, read, and what follows from them.

use std::path::{Path, PathBuf};

use hopcost_file::{EstimateRow, Runs};
use hopcost_model::{Case, Code, RawRun, Severity, Validity};
use hopcost_read::results::{CaseResult, Results, Status};

use super::exit::{self, usage};
use crate::run::scratch::Scratch;

/// The file of a run that the user named; `last` by default.
pub fn find(spec: &str) -> anyhow::Result<PathBuf> {
    let as_path = Path::new(spec);
    if as_path.exists() {
        return Ok(as_path.to_owned());
    }
    Runs::of_user().and_then(|runs| runs.resolve(spec)).map_err(usage)
}

/// Reads a run file.
pub fn open(path: &Path) -> anyhow::Result<RawRun> {
    hopcost_file::open(path, &Scratch::for_copy).map_err(usage)
}

/// What a stored run says.
pub fn results(raw: &RawRun) -> Results {
    hopcost_read::read(raw, &hopcost_probe::worker::mechanisms())
}

/// The exit code that a finished run deserves.
pub fn verdict(results: &Results) -> u8 {
    if results.results.iter().any(|r| r.status == Status::Failed || r.n_failed > 0) {
        exit::ERROR
    } else if results.results.iter().any(|r| is_invalid(r) && !is_overload(r, results)) {
        exit::INVALID
    } else {
        exit::OK
    }
}

fn is_invalid(case: &CaseResult) -> bool {
    case.validity == Some(Validity::Invalid)
}

/// Whether a load only shows what its mechanism does not carry, where a smaller rate is valid: that is
/// what greater rates are for.
fn is_overload(case: &CaseResult, results: &Results) -> bool {
    let of = |of: &CaseResult| {
        let case = of.id.parse::<Case>().ok().filter(|_| of.load.is_some())?;
        Some((case.rate, Case { rate: None, ..case }))
    };
    let is_smaller = |other: &CaseResult| {
        let both = of(other).zip(of(case)).filter(|_| !is_invalid(other));
        both.is_some_and(|((rate, other), (own_rate, own))| other == own && rate < own_rate)
    };
    let mut wrong = case.findings.iter().filter(|found| found.severity == Severity::Invalid);
    wrong.all(|found| matches!(found.code, Code::RateMissed | Code::Lost))
        && results.results.iter().any(is_smaller)
}

/// The estimates of a run as rows that are stored beside it, for people who never read our code. A
/// comparison has its cases more than once; the first stands for them.
pub fn estimates(results: &Results) -> Vec<EstimateRow> {
    let all = &results.results;
    let is_copy = |index: usize, case: &CaseResult| {
        results.comparison.is_some() && all[..index].iter().any(|before| before.id == case.id)
    };
    let mut rows = Vec::new();
    for (index, case) in all.iter().enumerate() {
        // What was never measured has no estimates either.
        let Some(validity) = case.validity.filter(|_| !is_copy(index, case)) else { continue };
        rows.extend(case.all_estimates().into_iter().map(|(statistic, _, estimate)| EstimateRow {
            case_id: case.id.clone(),
            statistic,
            estimate,
            validity,
        }));
    }
    rows
}
