//! The cost of a call over its payload.

use hopcost_model::case::{Case, Workload};
use hopcost_model::results::{Plot, PlotPoint, Statistic};

use super::Measured;
use super::draw::{logarithmic, series};

/// Sizes that a line needs.
const SIZES_MIN: usize = 3;

/// One plot of every call that carries a payload.
pub fn plots(measured: &[Measured]) -> Vec<Plot> {
    let swept = |m: &&Measured| m.case.workload == Workload::Call && m.case.payload_bytes.is_some();
    let calls: Vec<Measured> = measured.iter().filter(swept).copied().collect();
    // A payload of 0 has no place on a logarithmic axis; its cost is in the table.
    let x = logarithmic("payload", "B");
    let without_payload = |case: &Case| Case { payload_bytes: None, ..case.clone() };
    let mut swept = series(&calls, &without_payload, &point);
    // Two sizes are a comparison, not a sweep.
    swept.retain(|line| line.points.len() >= SIZES_MIN);
    if swept.is_empty() {
        return Vec::new();
    }
    vec![Plot {
        id: "cost-payload".to_owned(),
        title: "Cost of a call by its payload".to_owned(),
        x,
        y: logarithmic("cost", "ns"),
        series: swept,
        notes: vec![
            "Band: 95 % interval across trials. What a payload of 0 costs is in the table."
                .to_owned(),
        ],
    }]
}

fn point(measured: &Measured) -> Option<PlotPoint> {
    let cost = measured.reading.result.estimates.as_ref()?.get(Statistic::Cost)?;
    let y = cost.point.filter(|ns| *ns > 0.0)?;
    Some(PlotPoint {
        x: f64::from(measured.case.payload_bytes.filter(|bytes| *bytes > 0)?),
        y,
        low: cost.low.filter(|ns| *ns > 0.0),
        high: cost.high,
    })
}
