//! What stands beside the points of a plot: what others published of the same case, and
//! that a case stalled.

use hopcost_model::finding::Finding;
use hopcost_model::group::distinct;
use hopcost_model::results::{
    JudgedClaim, LoadCurve, PlotCrossing, PlotPoint, PlotSeries, PublishedPoint, PublishedTable,
};

use crate::case::Reading;
use crate::format;

/// What the stages before found.
pub struct Beside<'a> {
    /// Published tables, whose rows know their cases.
    pub published: &'a [PublishedTable],
    pub findings: &'a [Finding],
    /// What the claims of the suite tell.
    pub checks: &'a [JudgedClaim],
    /// How much load each mechanism carries.
    pub loads: &'a [LoadCurve],
}

impl Beside<'_> {
    /// Share of the messages that waited for a delayed acknowledgement.
    pub fn stalled(&self, reading: &Reading) -> Option<f64> {
        let id = Some(&reading.result.id);
        let mut own = self.findings.iter().filter(|of| of.case.as_ref() == id);
        own.find_map(Finding::stalled_share)
    }

    /// What a case is faster than from its size on.
    pub fn overtaken(&self, reading: &Reading, point: PlotPoint) -> Vec<PlotCrossing> {
        let is_here = |claim: &&JudgedClaim| {
            claim.parts.iter().any(|part| {
                let from = part.value.as_ref().and_then(|value| value.estimate.high);
                let mut points = part.points.iter();
                points.any(|of| of.case == reading.result.id && Some(of.at as f64) == from)
            })
        };
        let here = self.checks.iter().filter(is_here);
        here.map(|claim| PlotCrossing {
            x: point.x,
            y: point.y,
            says: format!("{} from fields of {} B on.", claim.sentence, point.x),
        })
        .collect()
    }

    /// That a load is at the knee of its mechanism.
    pub fn knee(&self, reading: &Reading, point: PlotPoint) -> Option<PlotCrossing> {
        let of_case = |curve: &&LoadCurve| curve.cases.contains(&reading.result.id);
        let curve = self.loads.iter().find(of_case)?;
        let is_here = curve.knee.is_some_and(|knee| f64::from(knee.rate) == point.x);
        let says = format!("{}: {}.", format::mechanism(reading.case?), curve.says);
        is_here.then_some(PlotCrossing { x: point.x, y: point.y, says })
    }

    /// The published values of a case, as far as they are of the same statistic.
    pub fn published(
        &self,
        reading: &Reading,
        (value, unit): (&str, &str),
        x: f64,
    ) -> Vec<PublishedPoint> {
        let statistic = match value {
            "per-flow-gbps" => "throughput-per-flow",
            // A batch has nothing but its mean.
            "cost" => "mean",
            other => other,
        };
        let id = Some(&reading.result.id);
        let mut points = Vec::new();
        for table in self.published {
            let rows = table.rows.iter();
            for row in rows.filter(|row| row.case.as_ref() == id && row.statistic == statistic) {
                let Some(factor) = factor(&row.unit, unit) else { continue };
                let ends = row.published.into_iter().chain(row.published_high);
                points.extend(ends.map(|y| PublishedPoint {
                    source: table.source.clone(),
                    machine: machine(table).to_owned(),
                    x,
                    y: y * factor,
                }));
            }
        }
        distinct(points)
    }

    /// Where the published points of some series come from.
    pub fn sources(&self, series: &[PlotSeries]) -> Vec<String> {
        let drawn = distinct(series.iter().flat_map(|of| &of.published).map(|of| &of.source));
        let tables = self.published.iter().filter(|table| drawn.contains(&&table.source));
        distinct(tables.map(|table| match machine(table) {
            "" => format!("Published: {}.", table.source),
            _ => format!("Published: {}.", table.machine),
        }))
    }
}

/// A published machine in short; nothing where none is stated.
fn machine(table: &PublishedTable) -> &str {
    let short = table.machine.split([',', ';', '(']).next().unwrap_or_default().trim();
    if short.starts_with("not stated") { "" } else { short }
}

/// What makes a published number one in the unit of a plot.
fn factor(published: &str, plot: &str) -> Option<f64> {
    match (published, plot) {
        (same, of) if same == of => Some(1.0),
        ("µs", "ns") => Some(1e3),
        _ => None,
    }
}
