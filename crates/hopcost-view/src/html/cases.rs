//! Every case with all that is known of it.

use hopcost_model::case::{Role, Workload};
use hopcost_model::results::{CaseResult, Estimate, Estimates, Results, Statistic, Status};

use super::{parts, threads};
use crate::markup::{Esc, put};
use crate::names::headline;
use crate::number;

pub(super) fn write(out: &mut String, results: &Results) {
    parts::section(
        out,
        "cases",
        "Every case",
        "In the order of the plan. Each is repeated alone by the command inside.",
    );
    for (index, case) in results.results.iter().enumerate() {
        one(out, index, case);
    }
    put!(out, "</section>\n");
}

fn one(out: &mut String, index: usize, case: &CaseResult) {
    let brief = match (case.status, headline(case)) {
        (Status::Measured, Some((what, estimate))) => {
            format!("{what} {}", number::estimate_text(estimate))
        }
        _ => parts::status(case.status).to_owned(),
    };
    put!(
        out,
        "<details class=\"one\" id=\"case-{index}\"><summary><span class=\"case\">{}</span> \
         <span class=\"brief\">{}{}</span></summary>\n",
        Esc(&case.id),
        Esc(&brief),
        if case.status == Status::Measured {
            format!(" {}", parts::validity(case.validity))
        } else {
            String::new()
        }
    );
    if let Some(reason) = &case.reason {
        let word = if case.status == Status::Measured {
            "failed trials"
        } else {
            parts::status(case.status)
        };
        put!(out, "<p class=\"alert\">{word}: {}</p>\n", Esc(reason));
    }
    parts::command(out, &case.command);
    if let Some(replay) = &case.replay {
        put!(
            out,
            "<p class=\"label\">Replay one trial by hand, with every line of the protocol</p>\n"
        );
        parts::command(out, replay);
    }
    if case.status == Status::Measured {
        facts(out, case);
        if let Some(estimates) = &case.estimates {
            estimates_table(out, estimates);
        }
        counters(out, case);
        threads::write(out, case);
        states(out, case);
        modes(out, case);
    }
    if !case.findings.is_empty() {
        put!(out, "<ul class=\"evidence\">\n");
        for finding in &case.findings {
            put!(
                out,
                "<li><a class=\"code\" href=\"#{}\">{}</a> {}<br><span class=\"none\">{}</span></li>\n",
                parts::finding_id(finding),
                finding.code,
                Esc(&finding.evidence),
                Esc(&finding.remedy)
            );
        }
        put!(out, "</ul>\n");
    }
    put!(out, "</details>\n");
}

fn facts(out: &mut String, case: &CaseResult) {
    put!(out, "<dl class=\"facts\">\n");
    if let Some(stamp) = case.stamp {
        parts::fact(out, "Stamp", &stamp.to_string());
    }
    parts::fact(out, "Trials", &parts::trials(case));
    parts::fact(out, "Operations", &number::grouped(case.operations));
    parts::fact(out, "Samples", &number::grouped(case.samples));
    if let Some(cpu) = case.cpu_ns_per_message {
        let per = if case.case.workload == Workload::Call { "operation" } else { "message" };
        parts::fact(out, &format!("CPU time per {per}"), &number::time(cpu, 2));
    }
    if let Some(switches) = case.switches_per_operation {
        parts::fact(out, "Context switches per operation", &format!("{switches:.2}"));
    }
    if let Some(ratio) = &case.ratio {
        let (point, interval) = number::multiple(ratio);
        let interval = interval.map_or(String::new(), |i| format!(" {i}"));
        let text = format!(
            "{point}{interval} × {}, paired over {} rounds",
            ratio.baseline, ratio.n_rounds
        );
        parts::fact(out, "Multiple", &text);
    }
    if case.lost > 0 {
        parts::fact(out, "Lost", &format!("{} exchanges, in no estimate", case.lost));
    }
    let plain = |value: f64| number::plain(value, 3);
    if let Some(ticks) = case.cost_ticks {
        parts::fact(out, "Cost in ticks", &format!("{} ticks of the clock", plain(ticks)));
    }
    if let Some(cycles) = case.cost_cycles {
        parts::fact(out, "Cost in cycles", &format!("{} core cycles", plain(cycles)));
    }
    wake_facts(out, case);
    stream_facts(out, case);
    put!(out, "</dl>\n");
}

fn wake_facts(out: &mut String, case: &CaseResult) {
    let Some(wake) = &case.wake else { return };
    let time = |ns: f64| number::time(ns, 3);
    parts::fact(out, "Gap asked for", &number::exact(wake.gap_asked_ns));
    for (name, value) in [
        ("Gap found", wake.gap_found_ns),
        ("Clocks apart by at most", wake.clock_bound_ns),
        ("Offset taken out", wake.clock_offset_ns),
        ("Offset moved by at most", wake.clock_moved_ns),
    ] {
        parts::fact(out, name, &value.map_or("not known".to_owned(), time));
    }
    parts::fact(out, "Wake-ups put off", &number::share(wake.overrun_share));
}

fn stream_facts(out: &mut String, case: &CaseResult) {
    let Some(stream) = &case.stream else { return };
    parts::fact(out, "Path", &stream.label);
    let rate =
        |estimate: &Estimate| format!("{} Gbit/s", number::scaled(estimate, 0, number::DIGITS_MAX));
    for (name, estimate) in [
        ("Aggregate throughput", &stream.aggregate_gbps),
        ("Throughput of a flow", &stream.per_flow_gbps),
    ] {
        if let Some(estimate) = estimate {
            parts::fact(out, name, &rate(estimate));
        }
    }
    let plain = |value: f64| number::plain(value, 3);
    for (name, value) in [
        ("Messages a second", stream.messages_per_s.map(plain)),
        ("Copied after all", stream.copied_share.map(number::share)),
        ("Messages in flight (Little)", stream.little_outstanding.map(plain)),
        ("Messages that may be in flight", stream.window.map(|n| n.to_string())),
    ] {
        if let Some(value) = value {
            parts::fact(out, name, &value);
        }
    }
}

/// What was counted, and why the rest was not.
fn counters(out: &mut String, case: &CaseResult) {
    if case.counters.is_empty() {
        return;
    }
    put!(
        out,
        "<h4>Counted</h4>\n<div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">Event</th><th scope=\"col\">End</th>\
         <th scope=\"col\" class=\"n\">Per operation</th>\
         <th scope=\"col\" class=\"n\">Per byte</th><th scope=\"col\" class=\"n\">Per trial</th>\
         <th scope=\"col\" class=\"n\">Counted</th></tr></thead><tbody>\n"
    );
    for counter in &case.counters {
        let end = counter.role.map_or("both", Role::word);
        put!(out, "<tr><th scope=\"row\">{}</th><td>{end}</td>", Esc(&counter.event));
        let known = [counter.per_operation, counter.per_byte, counter.per_trial];
        match &counter.unavailable {
            Some(reason) if known.iter().all(Option::is_none) => {
                put!(
                    out,
                    "<td colspan=\"4\" class=\"none\">not counted: {}</td></tr>\n",
                    Esc(reason)
                );
            }
            _ => {
                for value in known {
                    match value {
                        Some(value) => {
                            put!(
                                out,
                                "<td class=\"n\" data-v=\"{value}\">{}</td>",
                                number::plain(value, 3)
                            );
                        }
                        None => out.push_str(parts::NONE),
                    }
                }
                let share = counter.counted_share.map_or("always".to_owned(), |share| {
                    format!("{} of the time", number::share(share))
                });
                put!(out, "<td class=\"n\">{share}</td></tr>\n");
            }
        }
    }
    put!(out, "</tbody></table></div>\n");
}

fn estimates_table(out: &mut String, estimates: &Estimates) {
    put!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Statistic</th>\
         <th scope=\"col\" class=\"n\">Value</th><th scope=\"col\" class=\"n\">Interval</th>\
         <th scope=\"col\" class=\"n\">Coverage</th><th scope=\"col\" class=\"n\">Trials</th>\
         <th scope=\"col\" class=\"n\">Detectable</th><th scope=\"col\">What is estimated</th>\
         </tr></thead><tbody>\n"
    );
    for (statistic, estimate) in estimates.intervals() {
        put!(out, "<tr><th scope=\"row\">{}</th>", statistic.label());
        parts::estimate_cells(out, Some(estimate));
        let percent =
            |value: Option<f64>, text: fn(f64) -> String| value.map_or("–".to_owned(), text);
        let why = estimate
            .insufficient
            .as_deref()
            .map_or(String::new(), |why| format!(" <span class=\"none\">{}</span>", Esc(why)));
        put!(
            out,
            "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}{why}</td></tr>\n",
            percent(estimate.level, number::percent),
            estimate.n_trials,
            percent(estimate.detectable, number::detectable),
            Esc(&estimate.estimand)
        );
    }
    if let Some(max) = estimates.exact(Statistic::Max) {
        put!(
            out,
            "<tr><th scope=\"row\">max</th>{}<td></td><td></td><td></td><td></td>\
             <td>greatest single value of all trials, exactly</td></tr>\n",
            parts::time_cell(max, 3)
        );
    }
    put!(out, "</tbody></table></div>\n");
}

fn states(out: &mut String, case: &CaseResult) {
    if case.states.is_empty() {
        return;
    }
    put!(
        out,
        "<h4>States of the host</h4>\n<div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">State</th><th scope=\"col\" class=\"n\">Sentinel</th>\
         <th scope=\"col\" class=\"n\">p50 or cost</th><th scope=\"col\" class=\"n\">Trials</th>\
         <th scope=\"col\" class=\"n\">Share</th></tr></thead><tbody>\n"
    );
    for (i, state) in case.states.iter().enumerate() {
        put!(
            out,
            "<tr><th scope=\"row\">{}</th>{}{}<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            i + 1,
            parts::time_cell(state.sentinel_ns, 3),
            parts::time_cell(state.p50_ns, 3),
            state.n_trials,
            number::share(state.share)
        );
    }
    put!(out, "</tbody></table></div>\n");
}

fn modes(out: &mut String, case: &CaseResult) {
    if case.modes.is_empty() {
        return;
    }
    put!(
        out,
        "<h4>Typical durations</h4>\n<div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">Mode</th><th scope=\"col\" class=\"n\">At</th>\
         <th scope=\"col\" class=\"n\">Share of samples</th></tr></thead><tbody>\n"
    );
    for (i, mode) in case.modes.iter().enumerate() {
        put!(
            out,
            "<tr><th scope=\"row\">{}</th>{}<td class=\"n\">{}</td></tr>\n",
            i + 1,
            parts::time_cell(mode.ns, 3),
            number::share(mode.share)
        );
    }
    put!(out, "</tbody></table></div>\n");
}
