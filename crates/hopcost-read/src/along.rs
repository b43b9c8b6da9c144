//! Two cases compared at each value of an axis: a live comparison of its own for each.

use std::cmp::Ordering;

use hopcost_model::text::{count, span};
use hopcost_model::{Axis, Case, Code, Contrast, Validity, Verdict};
use hopcost_stats::along;

use crate::comparison::Compared;
use crate::format;
use crate::results::Results;
use crate::stored::{Along, ComparedRun, Crossed, RunComparison};

/// A value of the axis, its comparison, and what that found.
type Point<'a> = (u64, &'a Results, Compared);

/// Puts the live comparisons of two cases in the order of the axis. One that has no number on it
/// is left out. `summed` adds the geometric mean over all values.
pub fn of_comparisons(axis: &Axis, all: &[Results], summed: bool) -> RunComparison {
    let points = points(axis, all);
    let left_out = points.iter().filter_map(|(at, results, _)| {
        Some(format!("Left out: {} {at}: {}", axis.key, misleads(results)?))
    });
    let left_out: Vec<String> = left_out.collect();
    let about = |(_, results, _): &Point| {
        ComparedRun::new("baseline", &results.about.id, &results.about.started)
    };
    let margin = all.iter().find_map(|results| Some(results.comparison.as_ref()?.margin));
    let margin = margin.unwrap_or(0.0);
    let told: Vec<(f64, Option<Ordering>)> = points.iter().filter_map(told).collect();
    let crossings = along::crossings(&told).into_iter().map(|one| Crossed {
        after: one.after as u64,
        until: one.until as u64,
        second_is_faster: one.second_is_faster,
    });
    RunComparison {
        margin,
        baseline: points.iter().map(about).collect(),
        remarks: left_out,
        along: Some(Along {
            axis: axis.key.to_owned(),
            crossings: crossings.collect(),
            cause: copied(&points),
        }),
        summary: geomean(&points, margin).into_iter().filter(|_| summed).collect(),
        compared: points.into_iter().map(|(.., compared)| compared).collect(),
        ..RunComparison::default()
    }
}

/// The geometric mean of the ratios. Each value was measured by itself, so that their errors are
/// independent.
fn geomean(points: &[Point], margin: f64) -> Option<Compared> {
    let all = points.iter().filter_map(|(.., compared)| compared.contrast);
    let all: Vec<Contrast> = all.collect();
    let (first, n) = (all.first()?, all.len() as f64);
    let mean = all.iter().map(|of| libm::log(of.ratio)).sum::<f64>() / n;
    let half = |end: fn(&Contrast) -> Option<f64>| -> Option<f64> {
        let square = |of: &Contrast| Some(libm::log(end(of)? / of.ratio).powi(2));
        Some(libm::sqrt(all.iter().map(square).sum::<Option<f64>>()?) / n)
    };
    let ends = half(|of| of.low).zip(half(|of| of.high));
    let ends = ends.map(|(down, up)| (mean - down, mean + up));
    let margin = libm::log1p(margin);
    let contrast = Contrast {
        ratio: libm::exp(mean),
        low: ends.map(|(low, _)| libm::exp(low)),
        high: ends.map(|(_, high)| libm::exp(high)),
        n: all.iter().map(|of| of.n).min().unwrap_or(0),
        verdict: Verdict::of(ends, (-margin, margin)),
        more: None,
        ..*first
    };
    let name = format!("geometric mean of {}", count(all.len(), "value"));
    Some(Compared { contrast: Some(contrast), ..Compared::unmeasured(&name) })
}

/// That the kernel copied what was to be sent without a copy, of all values together.
fn copied(points: &[Point]) -> Option<String> {
    let found = points.iter().flat_map(|(_, results, _)| &results.findings);
    let found = found.filter(|finding| finding.code == Code::ZeroCopyCopied);
    let shares: Vec<f64> =
        found.filter_map(|finding| finding.values.get("copied_share").copied()).collect();
    let shares = span(&shares, format::percent)?;
    let what = format!("the kernel copied {shares} of the zero-copy sends");
    Some(format!("{what} ({}), as it always does over loopback", Code::ZeroCopyCopied))
}

/// The value at which a further comparison narrows a crossing most.
pub fn next(axis: &Axis, all: &[Results]) -> Option<f64> {
    along::next(&points(axis, all).iter().filter_map(told).collect::<Vec<_>>())
}

fn points<'a>(axis: &Axis, all: &'a [Results]) -> Vec<Point<'a>> {
    let mut points: Vec<Point> = all.iter().filter_map(|results| point(axis, results)).collect();
    points.sort_by_key(|(at, ..)| *at);
    points
}

fn point<'a>(axis: &Axis, results: &'a Results) -> Option<Point<'a>> {
    let found = results.comparison.as_ref()?;
    let mut compared = found.compared.first()?.clone();
    let case: Case = compared.baseline.parse().ok()?;
    let at = axis.get(&case)?.number()?;
    if misleads(results).is_some() {
        compared.contrast = None;
    }
    Some((at, results, compared))
}

/// What the search goes by at a value; nothing where the comparison does not count.
fn told((at, _, compared): &Point) -> Option<(f64, Option<Ordering>)> {
    Some((*at as f64, compared.contrast?.side()))
}

/// Why the times of a comparison are not those of its cases: it does not count, its messages wait
/// for a timer, or its load is not the one that was asked for.
fn misleads(results: &Results) -> Option<String> {
    let found = results.comparison.as_ref()?;
    let of = |case: &str| {
        let finding = results.findings.iter().find(|finding| {
            let is_own = finding.case.as_deref() == Some(case);
            is_own && finding.code == Code::NagleDelack
        });
        finding.map(|finding| format!("{case}: {} ({})", finding.evidence, finding.code))
    };
    let invalid = results.results.iter().find(|case| case.validity == Some(Validity::Invalid));
    let invalid = invalid.map(|case| {
        let own = results.findings.iter().find(|of| of.case.as_deref() == Some(&*case.id));
        let why = own.map_or(String::new(), |of| format!(" ({}): {}", of.code, of.evidence));
        format!("{} is invalid{why}", case.id)
    });
    let compared = found.compared.first().map_or("", |compared| compared.case.as_str());
    found.invalid.clone().or(invalid).or_else(|| of(&found.copy.baseline)).or_else(|| of(compared))
}
