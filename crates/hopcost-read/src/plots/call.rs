//! The cost of a call over its payload.

use hopcost_model::case::{Case, Workload};
use hopcost_model::results::{Plot, PlotPoint};

use super::Measured;
use super::draw::{logarithmic, series};

/// One plot of every call that carries a payload.
pub fn plots(measured: &[Measured]) -> Vec<Plot> {
    let swept = |m: &&Measured| m.case.workload == Workload::Call && m.case.payload_bytes.is_some();
    let calls: Vec<Measured> = measured.iter().filter(swept).copied().collect();
    let mut x = logarithmic("payload", "B");
    // A payload of 0 has no place on a logarithmic axis.
    x.logarithmic = calls.iter().all(|m| m.case.payload_bytes != Some(0));
    let without_payload = |case: &Case| Case { payload_bytes: None, ..case.clone() };
    vec![Plot {
        id: "cost-payload".to_owned(),
        title: "Cost of a call by its payload".to_owned(),
        x,
        y: logarithmic("cost", "ns"),
        series: series(&calls, &without_payload, &point),
        notes: vec!["Band: 95 % interval across trials.".to_owned()],
    }]
}

fn point(measured: &Measured) -> Option<PlotPoint> {
    let cost = measured.reading.result.estimates.as_ref()?.cost_ns.as_ref()?;
    let y = cost.point.filter(|ns| *ns > 0.0)?;
    Some(PlotPoint {
        x: f64::from(measured.case.payload_bytes?),
        y,
        low: cost.low.filter(|ns| *ns > 0.0),
        high: cost.high,
    })
}
