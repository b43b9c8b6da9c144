//! One-way wake-ups over the gap before them.

use hopcost_model::case::{Case, Placement, Workload};
use hopcost_model::results::{Plot, PlotPoint, Statistic};

use super::Measured;
use super::draw::{logarithmic, series};

/// One plot for each placement; the first of the plan is `wakeup-gap`.
pub fn plots(measured: &[Measured]) -> Vec<Plot> {
    let wakes: Vec<Measured> =
        measured.iter().filter(|m| m.case.workload == Workload::Wake).copied().collect();
    let mut places: Vec<Placement> = Vec::new();
    for place in wakes.iter().filter_map(|m| m.case.placement) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.iter().map(|place| plot(&wakes, *place, places.first() == Some(place))).collect()
}

fn plot(wakes: &[Measured], place: Placement, first: bool) -> Plot {
    let of_place: Vec<Measured> =
        wakes.iter().filter(|m| m.case.placement == Some(place)).copied().collect();
    let without_gap = |case: &Case| Case { gap_ns: None, payload_bytes: None, ..case.clone() };
    Plot {
        id: if first { "wakeup-gap".to_owned() } else { format!("wakeup-gap-{place}") },
        title: format!("One-way wake-up by the gap before it (placement {place})"),
        x: logarithmic("gap before the notification", "ns"),
        y: logarithmic("one-way time, p50", "ns"),
        series: series(&of_place, &without_gap, &point),
        notes: vec![
            "Band: p5 to p95 of the wake-ups of all trials. How exactly the two clocks agree is \
             printed with each result."
                .to_owned(),
        ],
    }
}

fn point(measured: &Measured) -> Option<PlotPoint> {
    let p50_ns = measured.reading.result.estimates.as_ref()?.get(Statistic::P50)?.point?;
    let band = measured.reading.band;
    Some(PlotPoint {
        x: measured.case.gap_ns? as f64,
        y: p50_ns,
        low: band.map(|band| band.0),
        high: band.map(|band| band.1),
    })
}
