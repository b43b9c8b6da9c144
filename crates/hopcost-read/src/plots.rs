//! What there is to plot, drawn from the stored samples, as the suites describe it.
//!
//! A series of fewer than two measured cases is absent, and so is a plot without a
//! series. What could not be counted is replaced by something else, and the plot's title
//! and notes say so.

mod beside;
mod series;

use hopcost_model::case::Case;
use hopcost_model::group::grouped;
use hopcost_model::results::{
    Estimate, Plot, PlotAxis, PlotPoint, PlotSeries, PublishedPoint, Statistic,
};
use hopcost_plan::{PlotEach, PlotX, PlotY, shown};

use crate::case::{Reading, known};
use crate::published;
pub use beside::Beside;
use series::{Measured, Placed, labels, series};

/// Every plot, in the order of the suites.
pub fn plots(readings: &[Reading], beside: &Beside) -> Vec<Plot> {
    let measured: Vec<Measured> =
        known(readings).filter(|(_, reading)| reading.is_measured()).collect();
    let specs = shown().iter().flat_map(|(_, shown)| &shown.plot);
    let mut plots: Vec<Plot> = specs.flat_map(|spec| of_spec(spec, &measured, beside)).collect();
    plots.retain(|plot| !plot.series.is_empty());
    plots
}

/// A plot, or one for each value of what it is drawn for. Of placements the first of the
/// plan has the plain name.
fn of_spec(spec: &hopcost_plan::Plot, measured: &[Measured], beside: &Beside) -> Vec<Plot> {
    let cases = measured.iter().filter(|(case, _)| spec.cases.fits(case)).copied();
    let Some(each) = spec.each else {
        return vec![plot(spec, "", &cases.collect::<Vec<_>>(), beside)];
    };
    let of_each = cases.filter_map(|(case, reading)| {
        let value = match each {
            PlotEach::Placement => case.placement?.word().to_owned(),
            PlotEach::Field => field_bytes(reading)?.to_string(),
        };
        Some((value, (case, reading)))
    });
    let parts = grouped(of_each, |(value, _)| value.clone()).into_iter().enumerate();
    let part = |(number, (value, members)): (usize, (String, Vec<(String, Measured)>))| {
        let members: Vec<Measured> = members.into_iter().map(|(_, of)| of).collect();
        let mut drawn = plot(spec, &value, &members, beside);
        if number > 0 || each != PlotEach::Placement {
            drawn.id = format!("{}-{value}", drawn.id);
        }
        drawn
    };
    parts.map(part).collect()
}

fn plot(spec: &hopcost_plan::Plot, each: &str, cases: &[Measured], beside: &Beside) -> Plot {
    let missing = spec.instead.as_ref().and_then(|instead| Some((instead, missing(spec, cases)?)));
    let (y, reason) = missing.unwrap_or((&spec.draw, String::new()));
    let (x_label, x_unit) = match spec.x {
        PlotX::Payload => ("payload", "B"),
        PlotX::Field => ("field", "B"),
        PlotX::Flows => ("flows", ""),
        PlotX::Gap => ("gap before the notification", "ns"),
        PlotX::Rate => ("messages a second", "1/s"),
        PlotX::Mechanism => ("mechanism", ""),
    };
    let axis = |label: &str, unit: &str| PlotAxis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        logarithmic: spec.x != PlotX::Mechanism,
        names: Vec::new(),
    };
    let mut drawn = Plot {
        id: y.id.as_ref().unwrap_or(&spec.id).clone(),
        title: y.title.replace("{each}", each),
        x: axis(x_label, x_unit),
        y: axis(&y.label, &y.unit),
        series: Vec::new(),
        crossings: Vec::new(),
        notes: (y.note.iter().map(|note| note.replace("{reason}", &reason)))
            .chain(band(spec, y, cases).map(str::to_owned))
            .collect(),
    };
    for (value, suffix) in &y.y {
        match spec.x {
            PlotX::Mechanism => {
                let (names, bars) = bars(spec, y, value, cases, beside);
                drawn.x.names = names;
                drawn.series = bars.into_iter().collect();
            }
            _ => drawn.series.extend(lines(spec, y, (value, suffix), cases, beside)),
        }
    }
    let marked = match spec.x {
        PlotX::Field => Some("per-flow-gbps"),
        PlotX::Rate => Some("p99"),
        _ => None,
    };
    if let Some(value) = marked.filter(|value| y.y.contains_key(*value)) {
        let points = cases.iter().filter_map(|of| {
            let (point, _) = placed(spec, y, value, *of, beside)?;
            let overtaken = beside.overtaken(of.1, point);
            Some(overtaken.into_iter().chain(beside.knee(of.1, point)))
        });
        drawn.crossings = points.flatten().collect();
        drawn.notes.extend(drawn.crossings.iter().map(|of| of.says.clone()));
    }
    drawn.notes.extend(beside.sources(&drawn.series));
    drawn
}

/// What the bands of a plot are, where they are intervals: a suite says it of its own.
fn band(spec: &hopcost_plan::Plot, y: &PlotY, cases: &[Measured]) -> Option<&'static str> {
    if spec.x == PlotX::Mechanism {
        return None;
    }
    let found = cases.iter().flat_map(|(case, reading)| {
        y.y.keys().filter_map(|value| found(value, &y.unit, case, reading))
    });
    let mut with = found.filter(|found| !y.sample_band && found.low.is_some());
    with.next().map(|_| "Band: interval of each point, nominal 95 %.")
}

/// Why an event is missing where it is missing in any of the cases: one line that is
/// half counted and half something else would compare nothing.
fn missing(spec: &hopcost_plan::Plot, cases: &[Measured]) -> Option<String> {
    let (value, _) = spec.draw.y.first_key_value()?;
    let event = value.strip_suffix("/byte").unwrap_or(value);
    cases.iter().find_map(|(_, reading)| counted(reading, event).err())
}

/// A value of a case with what stands beside it, where the plot has a place for it.
fn placed(
    spec: &hopcost_plan::Plot,
    y: &PlotY,
    value: &str,
    (case, reading): Measured,
    beside: &Beside,
) -> Option<Placed> {
    let found = found(value, &y.unit, case, reading)?;
    let (low, high) = match reading.band.filter(|_| y.sample_band) {
        Some((low, high)) => (Some(low), Some(high)),
        None if y.sample_band => (None, None),
        None => (found.low, found.high),
    };
    let (x, y_value) = (x(spec.x, case, reading)?, found.point?);
    let point = PlotPoint { x, y: y_value, low, high, stalled: beside.stalled(reading) };
    let is_drawable = x.is_finite() && y_value.is_finite();
    is_drawable.then(|| (point, beside.published(reading, (value, &y.unit), x)))
}

fn lines(
    spec: &hopcost_plan::Plot,
    y: &PlotY,
    (value, suffix): (&str, &str),
    cases: &[Measured],
    beside: &Beside,
) -> Vec<PlotSeries> {
    let without_x = |case: &Case| match spec.x {
        PlotX::Payload | PlotX::Field => Case { payload_bytes: None, ..case.clone() },
        PlotX::Flows => Case { flows: None, ..case.clone() },
        // What a mechanism carries to wake is its own.
        PlotX::Rate => Case { rate: None, ..case.clone() },
        PlotX::Gap => Case { gap_ns: None, payload_bytes: None, ..case.clone() },
        PlotX::Mechanism => case.clone(),
    };
    let mut lines = series(cases, &without_x, &|of| placed(spec, y, value, of, beside));
    lines.retain(|line| line.points.len() >= spec.points_min);
    lines.iter_mut().for_each(|line| line.name.push_str(suffix));
    lines
}

/// A bar for each case, and their names; none where there is nothing to compare.
fn bars(
    spec: &hopcost_plan::Plot,
    y: &PlotY,
    value: &str,
    cases: &[Measured],
    beside: &Beside,
) -> (Vec<String>, Option<PlotSeries>) {
    let drawn = cases.iter().filter_map(|of| Some((*of, placed(spec, y, value, *of, beside)?)));
    let (drawn, placed): (Vec<Measured>, Vec<Placed>) = drawn.unzip();
    let mut bars = PlotSeries { name: y.label.clone(), points: Vec::new(), published: Vec::new() };
    for (at, (point, published)) in placed.into_iter().enumerate() {
        let x = at as f64;
        bars.points.push(PlotPoint { x, ..point });
        bars.published.extend(published.into_iter().map(|of| PublishedPoint { x, ..of }));
    }
    (labels(&drawn), Some(bars).filter(|bars| bars.points.len() >= spec.points_min))
}

/// A payload of 0 has no place on a logarithmic axis.
fn x(x: PlotX, case: &Case, reading: &Reading) -> Option<f64> {
    match x {
        PlotX::Payload => case.payload_bytes.filter(|bytes| *bytes > 0).map(f64::from),
        PlotX::Field => field_bytes(reading).map(f64::from),
        PlotX::Flows => case.flows.map(f64::from),
        PlotX::Gap => case.gap_ns.map(|ns| ns as f64),
        PlotX::Rate => case.rate.map(f64::from),
        // A bar has its place when all are known.
        PlotX::Mechanism => Some(0.0),
    }
}

fn field_bytes(reading: &Reading) -> Option<u32> {
    Some(reading.result.stream.as_ref()?.field_bytes)
}

/// A value of a case, with its interval where it has one.
fn found(value: &str, unit: &str, case: &Case, reading: &Reading) -> Option<Estimate> {
    let stream = || reading.result.stream.as_ref();
    let bare = |value: f64| Some(Estimate::exact(value, reading.result.n_trials, String::new()));
    if let Some(value) = value.strip_suffix("/byte") {
        let bytes = f64::from(case.payload_bytes.filter(|bytes| *bytes > 0)?);
        return bare(found(value, unit, case, reading)?.point? / bytes);
    }
    match (value, Statistic::of_label(value)) {
        ("aggregate-gbps", _) => stream()?.aggregate_gbps.clone(),
        ("per-flow-gbps", _) => stream()?.per_flow_gbps.clone(),
        ("cpu-time", _) => bare(reading.result.cpu_ns_per_message?),
        (event, None) => bare(counted(reading, event).ok()?),
        (_, Some(statistic)) => {
            // A cost without the loop may come out as nothing or less.
            let positive = |ns: &f64| statistic != Statistic::Cost || *ns > 0.0;
            let found = match unit {
                "ticks" => reading.get(statistic)?.clone().times(published::ticks_per_ns(reading)?),
                _ => reading.get(statistic)?.clone(),
            };
            let (point, low) = (found.point.filter(positive), found.low.filter(positive));
            Some(Estimate { point, low, ..found })
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
