//! Every case with all that is known of it.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, Estimate, Estimates, Results, Status};

use super::parts;
use crate::chart::markup::{Esc, put};
use crate::chart::names::headline;
use crate::chart::numbers;

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
            format!("{what} {}", numbers::estimate_text(estimate))
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
    if case.status == Status::Measured {
        facts(out, case);
        if let Some(estimates) = &case.estimates {
            estimates_table(out, estimates);
        }
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
    parts::fact(out, "Operations", &numbers::grouped(case.operations));
    parts::fact(out, "Samples", &numbers::grouped(case.samples));
    if let Some(cpu) = case.cpu_ns_per_message {
        let per = if case.case.workload == Workload::Call { "operation" } else { "message" };
        parts::fact(out, &format!("CPU time per {per}"), &numbers::time_text(cpu, 2));
    }
    if let Some(switches) = case.switches_per_operation {
        parts::fact(out, "Context switches per operation", &format!("{switches:.2}"));
    }
    if let Some(ratio) = &case.ratio {
        let (point, interval) = numbers::ratio(ratio);
        let interval = interval.map_or(String::new(), |i| format!(" {i}"));
        let text = format!(
            "{point}{interval} × {}, paired over {} rounds",
            ratio.baseline, ratio.n_rounds
        );
        parts::fact(out, "Multiple", &text);
    }
    put!(out, "</dl>\n");
}

fn estimates_table(out: &mut String, estimates: &Estimates) {
    let rows: [(&str, &Option<Estimate>); 7] = [
        ("cost", &estimates.cost_ns),
        ("min", &estimates.min_ns),
        ("p50", &estimates.p50_ns),
        ("p90", &estimates.p90_ns),
        ("p99", &estimates.p99_ns),
        ("p99.9", &estimates.p999_ns),
        ("mean", &estimates.mean_ns),
    ];
    put!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Statistic</th>\
         <th scope=\"col\" class=\"n\">Value</th><th scope=\"col\" class=\"n\">Interval</th>\
         <th scope=\"col\" class=\"n\">Coverage</th><th scope=\"col\" class=\"n\">Trials</th>\
         <th scope=\"col\" class=\"n\">Detectable</th><th scope=\"col\">What is estimated</th>\
         </tr></thead><tbody>\n"
    );
    for (name, estimate) in rows {
        let Some(estimate) = estimate else { continue };
        put!(out, "<tr><th scope=\"row\">{name}</th>");
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
            percent(estimate.level, numbers::coverage),
            estimate.n_trials,
            percent(estimate.detectable, numbers::detectable),
            Esc(&estimate.estimand)
        );
    }
    if let Some(max) = estimates.max_ns {
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
            numbers::share(state.share)
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
            numbers::share(mode.share)
        );
    }
    put!(out, "</tbody></table></div>\n");
}
