//! Streams of one field size over the number of flows.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::{Case, Workload};
use hopcost_model::results::{Estimate, Plot, PlotPoint, PlotSeries, Statistic};

use super::Measured;
use super::draw::{logarithmic, series};

/// The field size that is drawn where it was measured with several flows.
const FIELD_BYTES: u32 = 4096;

/// Latency and throughput over flows.
pub fn plots(measured: &[Measured]) -> Vec<Plot> {
    let Some(field_bytes) = field(measured) else { return Vec::new() };
    let streams: Vec<Measured> = measured
        .iter()
        .filter(|m| m.case.workload == Workload::Stream && of_field(m) == Some(field_bytes))
        .copied()
        .collect();
    vec![latency(&streams, field_bytes), throughput(&streams, field_bytes)]
}

fn of_field(measured: &Measured) -> Option<u32> {
    Some(measured.reading.result.stream.as_ref()?.field_bytes)
}

/// [`FIELD_BYTES`], or else the size with the most numbers of flows.
fn field(measured: &[Measured]) -> Option<u32> {
    let mut flows: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for m in measured.iter().filter(|m| m.case.workload == Workload::Stream) {
        flows.entry(of_field(m)?).or_default().extend(m.case.flows);
    }
    let wanted = flows.get(&FIELD_BYTES).filter(|flows| flows.len() > 1);
    let most = || flows.iter().max_by_key(|(_, flows)| flows.len()).map(|(bytes, _)| *bytes);
    wanted.map(|_| FIELD_BYTES).or_else(most)
}

fn over_flows(streams: &[Measured], of: &dyn Fn(&Measured) -> Option<Estimate>) -> Vec<PlotSeries> {
    let without_flows = |case: &Case| Case { flows: None, ..case.clone() };
    series(streams, &without_flows, &|measured| {
        let estimate = of(measured)?;
        Some(PlotPoint {
            x: f64::from(measured.case.flows?),
            y: estimate.point?,
            low: estimate.low,
            high: estimate.high,
        })
    })
}

fn plot(id: &str, title: String, y: (&str, &str), series: Vec<PlotSeries>) -> Plot {
    Plot {
        id: id.to_owned(),
        title,
        x: logarithmic("flows", ""),
        y: logarithmic(y.0, y.1),
        series,
        notes: vec!["Band: 95 % interval across trials.".to_owned()],
    }
}

fn latency(streams: &[Measured], field_bytes: u32) -> Plot {
    let p50 = |m: &Measured| m.reading.result.estimates.as_ref()?.get(Statistic::P50).cloned();
    let title = format!("Message latency by flows, fields of {field_bytes} B");
    plot("latency-flows", title, ("message latency, p50", "ns"), over_flows(streams, &p50))
}

fn throughput(streams: &[Measured], field_bytes: u32) -> Plot {
    let named = |of: &dyn Fn(&Measured) -> Option<Estimate>, what: &str| {
        let mut series = over_flows(streams, of);
        series.iter_mut().for_each(|s| s.name.push_str(&format!(", {what}")));
        series
    };
    let stream = |m: &Measured| m.reading.result.stream.clone();
    let mut all = named(&|m| stream(m)?.aggregate_gbps, "all flows");
    all.extend(named(&|m| stream(m)?.per_flow_gbps, "a flow"));
    let title = format!("Throughput by flows, fields of {field_bytes} B");
    plot("throughput-flows", title, ("throughput", "Gbit/s"), all)
}
