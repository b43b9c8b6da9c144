//! Streams of one flow over the size of a field.

use hopcost_model::case::{Case, Workload};
use hopcost_model::results::{Plot, PlotPoint};

use super::Measured;
use super::draw::{bare, logarithmic, series};

/// Throughput, cache misses and cycles over the size of a field.
pub fn plots(measured: &[Measured]) -> Vec<Plot> {
    let of_one_flow =
        |m: &&Measured| m.case.workload == Workload::Stream && m.case.flows == Some(1);
    let streams: Vec<Measured> = measured.iter().filter(of_one_flow).copied().collect();
    if streams.is_empty() {
        return Vec::new();
    }
    vec![throughput(&streams), misses(&streams), cycles(&streams)]
}

fn without_size(case: &Case) -> Case {
    Case { payload_bytes: None, ..case.clone() }
}

fn plot(id: &str, title: &str, y: (&str, &str)) -> Plot {
    Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        x: logarithmic("field", "B"),
        y: logarithmic(y.0, y.1),
        series: Vec::new(),
        notes: Vec::new(),
    }
}

fn field_bytes(measured: &Measured) -> Option<f64> {
    Some(f64::from(measured.reading.result.stream.as_ref()?.field_bytes))
}

fn throughput(streams: &[Measured]) -> Plot {
    let point = |m: &Measured| {
        let gbps = m.reading.result.stream.as_ref()?.aggregate_gbps.as_ref()?;
        Some(PlotPoint { x: field_bytes(m)?, y: gbps.point?, low: gbps.low, high: gbps.high })
    };
    let mut plot = plot("throughput-size", "Throughput of one flow", ("throughput", "Gbit/s"));
    plot.series = series(streams, &without_size, &point);
    plot.notes.push("Band: 95 % interval across trials.".to_owned());
    plot
}

/// The sum of an event over both ends, a message; or why one of them has none.
fn counted(measured: &Measured, event: &str) -> Result<f64, String> {
    let counters = &measured.reading.result.counters;
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

/// Why an event is missing where it is missing in any of the cases: one line that is
/// half counted and half something else would compare nothing.
fn missing(streams: &[Measured], event: &str) -> Option<String> {
    streams.iter().find_map(|measured| counted(measured, event).err())
}

fn misses(streams: &[Measured]) -> Plot {
    let id = "llc-misses-size";
    match missing(streams, "llc-misses") {
        None => {
            let title = "Last-level cache misses per message, both ends";
            let mut plot = plot(id, title, ("misses per message", ""));
            plot.series = series(streams, &without_size, &|m| {
                Some(bare(field_bytes(m)?, counted(m, "llc-misses").ok()?))
            });
            plot
        }
        Some(reason) => {
            let title = "CPU time per message, both ends (cache misses were not counted)";
            let mut plot = plot(id, title, ("CPU time per message", "ns"));
            plot.series = series(streams, &without_size, &|m| {
                Some(bare(field_bytes(m)?, m.reading.result.cpu_ns_per_message?))
            });
            plot.notes.push(instead("Last-level cache misses", &reason, "message"));
            plot
        }
    }
}

fn cycles(streams: &[Measured]) -> Plot {
    let id = "cycles-per-byte-size";
    let per_byte = |m: &Measured, of_message: f64| {
        let bytes = m.case.payload_bytes.filter(|bytes| *bytes > 0)?;
        Some(bare(field_bytes(m)?, of_message / f64::from(bytes)))
    };
    match missing(streams, "cycles") {
        None => {
            let title = "CPU cycles per byte of message, both ends";
            let mut plot = plot(id, title, ("cycles per byte", ""));
            plot.series =
                series(streams, &without_size, &|m| per_byte(m, counted(m, "cycles").ok()?));
            plot
        }
        Some(reason) => {
            let title = "CPU time per byte of message, both ends (cycles were not counted)";
            let mut plot = plot(id, title, ("CPU time per byte", "ns"));
            plot.series = series(streams, &without_size, &|m| {
                per_byte(m, m.reading.result.cpu_ns_per_message?)
            });
            plot.notes.push(instead("CPU cycles", &reason, "byte"));
            plot
        }
    }
}

fn instead(what: &str, reason: &str, per: &str) -> String {
    format!("{what} could not be counted ({reason}); CPU time per {per} is drawn instead.")
}
