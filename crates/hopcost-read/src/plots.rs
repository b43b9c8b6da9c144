//! What there is to plot, drawn from the stored samples, as the suites describe it.
//!
//! A series of fewer than two measured cases is absent, and so is a plot without a
//! series. What could not be counted is replaced by something else, and the plot's title
//! and notes say so.

mod series;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::Case;
use hopcost_model::group::distinct;
use hopcost_model::results::{Estimate, Plot, PlotAxis, PlotPoint, PlotSeries, Statistic};
use hopcost_plan::{PlotX, PlotY, shown};

use crate::case::{Reading, known};
use crate::run::Run;
use series::{Measured, series};

/// Every plot, in the order of the suites.
pub fn plots(run: &Run, readings: &[Reading]) -> Vec<Plot> {
    let measured: Vec<Measured> =
        known(readings).filter(|(_, reading)| reading.is_measured()).collect();
    let specs = shown().iter().flat_map(|(_, shown)| &shown.plot);
    let mut plots: Vec<Plot> = specs.flat_map(|spec| of_spec(spec, &measured)).collect();
    plots.retain(|plot| !plot.series.is_empty());
    for plot in &mut plots {
        plot.notes.insert(0, machine(run));
    }
    plots
}

/// CPU model, kernel and virtualisation, as far as they could be read.
fn machine(run: &Run) -> String {
    let host = &run.raw.host_before;
    let known = |key: &str, what: &str| match host.get(key) {
        Some(value) => value.to_owned(),
        None => format!("{what} not known"),
    };
    format!(
        "{}; Linux {}; {}",
        known("cpu.model", "CPU model"),
        known("kernel.release", "release"),
        match host.get("virt.hypervisor") {
            Some(name) => format!("virtual machine ({name})"),
            None => "no hypervisor seen".to_owned(),
        }
    )
}

/// A plot, or one for each placement, of which the first of the plan has the plain name.
fn of_spec(spec: &hopcost_plan::Plot, measured: &[Measured]) -> Vec<Plot> {
    let cases: Vec<Measured> =
        measured.iter().filter(|(case, _)| spec.cases.fits(case)).copied().collect();
    if let Some(preferred) = spec.field {
        let field = field_of_most_flows(&cases, preferred);
        let of_field = cases.into_iter().filter(|of| field_bytes(of.1) == field).collect();
        let field = field.map_or(String::new(), |bytes| bytes.to_string());
        return vec![plot(spec, of_field, |text| text.replace("{field}", &field))];
    }
    if !spec.each_placement {
        return vec![plot(spec, cases, str::to_owned)];
    }
    let places = distinct(cases.iter().filter_map(|(case, _)| case.placement));
    let of_place = |(number, place): (usize, &_)| {
        let cases = cases.iter().filter(|(case, _)| case.placement == Some(*place));
        let drawn =
            plot(spec, cases.copied().collect(), |text| text.replace("{placement}", place.word()));
        let suffix = if number == 0 { String::new() } else { format!("-{place}") };
        Plot { id: format!("{}{suffix}", drawn.id), ..drawn }
    };
    places.iter().enumerate().map(of_place).collect()
}

/// The preferred field size where it was measured with several flows, or else that with
/// the most.
fn field_of_most_flows(cases: &[Measured], preferred: u32) -> Option<u32> {
    let mut flows: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (case, reading) in cases {
        flows.entry(field_bytes(reading)?).or_default().extend(case.flows);
    }
    let several = flows.get(&preferred).is_some_and(|flows| flows.len() > 1);
    let most = flows.iter().max_by_key(|(_, flows)| flows.len()).map(|(bytes, _)| *bytes);
    if several { Some(preferred) } else { most }
}

fn plot(spec: &hopcost_plan::Plot, cases: Vec<Measured>, named: impl Fn(&str) -> String) -> Plot {
    let missing = spec.instead.as_ref().and_then(|instead| Some((instead, missing(spec, &cases)?)));
    let (y, reason) = missing.unwrap_or((&spec.draw, String::new()));
    let (x_label, x_unit) = match spec.x {
        PlotX::Payload => ("payload", "B"),
        PlotX::Field => ("field", "B"),
        PlotX::Flows => ("flows", ""),
        PlotX::Gap => ("gap before the notification", "ns"),
    };
    Plot {
        id: spec.id.clone(),
        title: named(&y.title),
        x: logarithmic(x_label, x_unit),
        y: logarithmic(&y.label, &y.unit),
        series: (y.y.iter())
            .flat_map(|(value, suffix)| lines(spec, y, (value, suffix), &cases))
            .collect(),
        notes: (y.note.iter().map(|note| note.replace("{reason}", &reason)))
            .chain(band(y, &cases).map(str::to_owned))
            .collect(),
    }
}

/// What the bands of a plot are, where they are intervals: a suite says it of its own.
fn band(y: &PlotY, cases: &[Measured]) -> Option<&'static str> {
    let found = cases
        .iter()
        .flat_map(|(case, reading)| y.y.keys().filter_map(|value| found(value, case, reading)));
    let with = found.filter(|found| !y.sample_band && found.low.is_some());
    let (next, this): (Vec<_>, Vec<_>) = with.partition(|found| found.this_run_low.is_some());
    match (next.is_empty(), this.is_empty()) {
        (true, true) => None,
        (false, true) => Some("Band: interval of each point for the next run, nominal 95 %."),
        (true, false) => Some("Band: interval of each point, of this run alone."),
        (false, false) => Some(
            "Band: interval of each point, nominal 95 %: for the next run where the values are \
             adjusted, of this run otherwise.",
        ),
    }
}

fn logarithmic(label: &str, unit: &str) -> PlotAxis {
    PlotAxis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: true }
}

/// Why an event is missing where it is missing in any of the cases: one line that is
/// half counted and half something else would compare nothing.
fn missing(spec: &hopcost_plan::Plot, cases: &[Measured]) -> Option<String> {
    let (value, _) = spec.draw.y.first_key_value()?;
    let event = value.strip_suffix("/byte").unwrap_or(value);
    cases.iter().find_map(|(_, reading)| counted(reading, event).err())
}

fn lines(
    spec: &hopcost_plan::Plot,
    y: &PlotY,
    (value, suffix): (&str, &str),
    cases: &[Measured],
) -> Vec<PlotSeries> {
    let without_x = |case: &Case| match spec.x {
        PlotX::Payload | PlotX::Field => Case { payload_bytes: None, ..case.clone() },
        PlotX::Flows => Case { flows: None, ..case.clone() },
        // What a mechanism carries to wake is its own.
        PlotX::Gap => Case { gap_ns: None, payload_bytes: None, ..case.clone() },
    };
    let point = |(case, reading): Measured| {
        let found = found(value, case, reading)?;
        let (low, high) = match reading.band.filter(|_| y.sample_band) {
            Some((low, high)) => (Some(low), Some(high)),
            None if y.sample_band => (None, None),
            None => (found.low, found.high),
        };
        Some(PlotPoint { x: x(spec.x, case, reading)?, y: found.point?, low, high })
    };
    let mut lines = series(cases, &without_x, &point);
    lines.retain(|line| line.points.len() >= spec.points_min);
    lines.iter_mut().for_each(|line| line.name.push_str(suffix));
    lines
}

/// A payload of 0 has no place on a logarithmic axis.
fn x(x: PlotX, case: &Case, reading: &Reading) -> Option<f64> {
    match x {
        PlotX::Payload => case.payload_bytes.filter(|bytes| *bytes > 0).map(f64::from),
        PlotX::Field => field_bytes(reading).map(f64::from),
        PlotX::Flows => case.flows.map(f64::from),
        PlotX::Gap => case.gap_ns.map(|ns| ns as f64),
    }
}

fn field_bytes(reading: &Reading) -> Option<u32> {
    Some(reading.result.stream.as_ref()?.field_bytes)
}

/// A value of a case, with its interval where it has one.
fn found(value: &str, case: &Case, reading: &Reading) -> Option<Estimate> {
    let stream = || reading.result.stream.as_ref();
    let bare = |value: f64| Some(Estimate::exact(value, reading.result.n_trials, String::new()));
    if let Some(value) = value.strip_suffix("/byte") {
        let bytes = f64::from(case.payload_bytes.filter(|bytes| *bytes > 0)?);
        return bare(found(value, case, reading)?.point? / bytes);
    }
    match (value, Statistic::of_label(value)) {
        ("aggregate-gbps", _) => stream()?.aggregate_gbps.clone(),
        ("per-flow-gbps", _) => stream()?.per_flow_gbps.clone(),
        ("cpu-time", _) => bare(reading.result.cpu_ns_per_message?),
        (event, None) => bare(counted(reading, event).ok()?),
        (_, Some(statistic)) => {
            // A cost without the loop may come out as nothing or less.
            let positive = |ns: &f64| statistic != Statistic::Cost || *ns > 0.0;
            let found = reading.get(statistic)?;
            let (point, low) = (found.point.filter(positive), found.low.filter(positive));
            Some(Estimate { point, low, ..found.clone() })
        }
    }
}

/// The sum of an event over both ends, a message; or why one of them has none.
fn counted(reading: &Reading, event: &str) -> Result<f64, String> {
    let counters = &reading.result.counters;
    let mut of_event = counters.iter().filter(|c| c.event == event && c.role.is_some()).peekable();
    if of_event.peek().is_none() {
        return Err("it was not asked for".to_owned());
    }
    of_event
        .map(|counter| {
            let reason = || counter.unavailable.clone().unwrap_or_else(|| "no number".to_owned());
            counter.per_operation.ok_or_else(reason)
        })
        .sum()
}

#[cfg(test)]
mod tests;
