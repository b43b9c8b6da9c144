//! What the clock cost, how to read the numbers, and where they are kept.

use hopcost_model::case::Workload;
use hopcost_model::protocol::ClockReading;
use hopcost_model::results::{CaseResult, Estimate, Results, RuntimeComparison, Statistic};

use super::Stored;
use super::cells::WIDE;
use crate::number;
use crate::style::{Paint, TextStyle};

pub(super) fn write(
    out: &mut String,
    results: &Results,
    stored: Option<Stored<'_>>,
    style: &TextStyle,
) {
    out.push('\n');
    out.push_str(&style.paint(Paint::Bold, "How to read this"));
    out.push('\n');
    for sentence in how_to_read(results, WIDE, style) {
        style.paragraph(out, "  ", "  ", &sentence);
    }
    out.push('\n');
    let names: Vec<String> =
        crate::chart::plots(results).into_iter().map(|(name, _)| name).collect();
    if !names.is_empty() {
        let text = format!(
            "{}: in the HTML report, and as SVG and PNG files with `hopcost report --plots DIR`.",
            names.join(", ")
        );
        style.paragraph(out, "Plots:    ", "          ", &text);
    }
    // Never broken, so that they can be pasted; the terminal wraps them.
    let mut whole = |name: &str, text: &str| {
        out.push_str(&format!("{name} {}\n", style.clean(text)));
    };
    if let Some(stored) = stored {
        whole("Stored in", stored.path);
        whole("Report:  ", stored.report_command);
    }
    whole("Repeat:  ", &results.command);
}

/// What the numbers mean and what the clock cost, a paragraph each. `wide` is how
/// intervals that span more than a factor of 2 are marked.
pub(crate) fn how_to_read(results: &Results, wide: &str, style: &TextStyle) -> Vec<String> {
    let mut paragraphs = vec![intervals(results, wide, style)];
    let of = |workload| results.results.iter().filter(move |case| case.case.workload == workload);
    if of(Workload::Roundtrip).next().is_some() {
        paragraphs.push(
            "A round trip is there and back, never halved. CPU/msg is the CPU time of both ends \
             together per message; a round trip is two messages."
                .to_owned(),
        );
    }
    if of(Workload::Wake).any(|case| case.estimates.is_some()) {
        paragraphs.push(
            style
                .pick(
                    "Wake-ups: mean ± stdev are medians over trials of each trial's own mean and \
                     standard deviation of its samples; max is the greatest of all trials.",
                    "Wake-ups: mean +- stdev are medians over trials of each trial's own mean and \
                     standard deviation of its samples; max is the greatest of all trials.",
                )
                .to_owned(),
        );
    }
    paragraphs.extend(clock(results, style));
    paragraphs
}

/// The sentence on intervals, with the levels that really occur.
fn intervals(results: &Results, wide: &str, style: &TextStyle) -> String {
    let mut shown: Vec<&Estimate> = results.results.iter().flat_map(shown).collect();
    shown.extend(results.knobs.iter().map(|price| &price.difference_ns));
    shown.extend(results.cost_models.iter().flat_map(|m| [&m.fixed_ns, &m.per_byte_ns]).flatten());
    let published = results.published.iter().flat_map(|table| &table.rows);
    shown.extend(published.filter_map(|row| row.measured.as_ref()));
    let wide_ones = shown.iter().any(|e| number::is_wide(e));
    shown.extend(results.runtimes.iter().flat_map(of_runtimes));
    let levels = shown.iter().filter(|e| !e.pooled).filter_map(|e| e.level);
    let least = levels.clone().reduce(f64::min);
    let most = levels.reduce(f64::max);
    let level = match (least.map(number::percent), most.map(number::percent)) {
        (Some(least), Some(most)) if least == most => format!(" (exact level {least})"),
        (Some(least), Some(most)) => format!(" (exact level {least} to {most})"),
        _ => String::new(),
    };
    let mut text = format!(
        "p50 and p99: median over n trials of each trial's own; [a, b]: interval from order \
         statistics of the trials{level}, in the unit of the value."
    );
    let any = |test: fn(&Estimate) -> bool| shown.iter().any(|e| test(e));
    if any(|e| e.pooled && e.point.is_some()) {
        text.push_str(
            " *: pooled over all trials, a trial alone being too short; interval from resampling \
             whole trials (about 95 %).",
        );
    }
    if any(|e| e.point.is_some() && e.low.is_none() && !e.at_most) {
        text.push_str(style.pick(" [–]: no interval.", " [-]: no interval."));
    }
    if any(|e| e.at_most) {
        let sign = style.pick("≤", "<=");
        text.push_str(&format!(" {sign}: not distinguishable from an empty loop."));
    }
    if wide_ones {
        let mark = wide.trim();
        text.push_str(&format!(" {mark}: the interval spans more than a factor of 2."));
    }
    text.push_str(
        " An interval covers this run on this host in the state it was in, not the next run.",
    );
    text
}

/// The estimates of a case that the ladder and the sections show.
fn shown(result: &CaseResult) -> impl Iterator<Item = &Estimate> {
    let wakes = result.case.workload == Workload::Wake;
    let estimates = result.estimates.iter().flat_map(move |e| {
        let of_wakes = [e.get(Statistic::Mean), e.get(Statistic::Min), e.get(Statistic::P95)]
            .into_iter()
            .filter(move |_| wakes);
        [e.get(Statistic::Cost), e.get(Statistic::P50), e.get(Statistic::P99)]
            .into_iter()
            .chain(of_wakes)
    });
    let rates =
        result.stream.iter().flat_map(|s| [s.aggregate_gbps.as_ref(), s.per_flow_gbps.as_ref()]);
    estimates.chain(rates).flatten()
}

/// The estimates that only a comparison of runtimes has.
fn of_runtimes(runtimes: &RuntimeComparison) -> impl Iterator<Item = &Estimate> {
    let added = runtimes.added.iter().flat_map(|added| [&added.constant_ns, &added.per_byte_ns]);
    let stamps = runtimes.stamp_costs.iter().map(|cost| &cost.by_rust_clock_ns);
    added.chain(stamps).flatten()
}

fn clock(results: &Results, style: &TextStyle) -> Option<String> {
    let first = results.clocks.first()?;
    let cost = |clock: &ClockReading| match clock.knows_its_cost() {
        true => {
            format!("{} on CPU {}", number::rough(clock.stamp_p50_ns, style.charset), clock.cpu)
        }
        false => "its cost is not known (its worker does not answer `clock`)".to_owned(),
    };
    let of = |runtime: &str| -> Vec<String> {
        results.clocks.iter().filter(|clock| clock.runtime == runtime).map(cost).collect()
    };
    let mut text = format!(
        "Clock: {}; a stamp costs {}, and is not subtracted.",
        first.source,
        of(&first.runtime).join(", ")
    );
    let mut told = vec![first.runtime.as_str()];
    for clock in &results.clocks {
        if !told.contains(&clock.runtime.as_str()) {
            told.push(&clock.runtime);
            let costs = of(&clock.runtime).join(", ");
            text.push_str(&format!(" In {}: {}, {costs}.", clock.runtime, clock.source));
        }
    }
    Some(text)
}
