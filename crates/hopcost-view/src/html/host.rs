//! The host's fingerprint, what changed, and the clocks.

use hopcost_model::host::Reading;
use hopcost_model::results::Results;

use super::parts;
use crate::markup::{Esc, put};
use crate::number;

pub(super) fn write(out: &mut String, results: &Results) {
    parts::section(out, "host", "Host and clocks", "");
    clocks(out, results);
    changes(out, results);
    fingerprint(out, &results.host.readings);
    put!(out, "</section>\n");
}

fn clocks(out: &mut String, results: &Results) {
    put!(out, "<h3>Clocks</h3>\n");
    let several = results.clocks.iter().any(|clock| clock.runtime != results.clocks[0].runtime);
    put!(
        out,
        "<p class=\"meaning\">The cost of one stamp is part of every stamped sample; it is \
         never subtracted.</p>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">CPU</th>\
         {}<th scope=\"col\">Source</th><th scope=\"col\" class=\"n\">Rate</th>\
         <th scope=\"col\" class=\"n\">Rate spread</th>\
         <th scope=\"col\" class=\"n\">Resolution</th>\
         <th scope=\"col\" class=\"n\">Stamp, least</th><th scope=\"col\" class=\"n\">p50</th>\
         <th scope=\"col\" class=\"n\">p99</th>\
         <th scope=\"col\" class=\"n\">clock_gettime, p50</th></tr></thead><tbody>\n",
        if several { "<th scope=\"col\">Runtime</th>" } else { "" }
    );
    for clock in &results.clocks {
        let runtime = several.then(|| format!("<td>{}</td>", Esc(&clock.runtime)));
        let runtime = runtime.unwrap_or_default();
        put!(
            out,
            "<tr><th scope=\"row\">CPU {}</th>{runtime}<td>{}</td><td class=\"n\">{:.3} MHz</td>\
             <td class=\"n\">{:.1} ppm</td>",
            clock.cpu,
            Esc(&clock.source),
            clock.ticks_per_second / 1e6,
            clock.rate_spread_ppm
        );
        let ticks = if clock.resolution_ticks == 1 { "tick" } else { "ticks" };
        put!(out, "<td class=\"n\">{} {ticks}</td>", number::grouped(clock.resolution_ticks));
        for ns in
            [clock.stamp_min_ns, clock.stamp_p50_ns, clock.stamp_p99_ns, clock.clock_gettime_p50_ns]
        {
            match clock.knows_its_cost() {
                true => out.push_str(&parts::time_cell(ns, 3)),
                false => out.push_str("<td class=\"n\">not known</td>"),
            }
        }
        put!(out, "</tr>\n");
    }
    put!(out, "</tbody></table></div>\n");
}

fn changes(out: &mut String, results: &Results) {
    put!(out, "<h3>Changed during the run</h3>\n");
    if results.host_changes.is_empty() {
        let seen = if results.plan.complete {
            "Nothing that was read."
        } else {
            "Unknown: the run was cut off."
        };
        put!(out, "<p>{seen}</p>\n");
        return;
    }
    put!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Reading</th>\
         <th scope=\"col\">Before</th><th scope=\"col\">After</th></tr></thead><tbody>\n"
    );
    for change in &results.host_changes {
        let text = |value: &Option<String>| match value {
            Some(value) => Esc(value).to_string(),
            None => "<span class=\"none\">not readable</span>".to_owned(),
        };
        put!(
            out,
            "<tr><th scope=\"row\" class=\"key\">{}</th><td>{}</td><td>{}</td></tr>\n",
            Esc(&change.key),
            text(&change.before),
            text(&change.after)
        );
    }
    put!(out, "</tbody></table></div>\n");
}

/// The readings by section; a section may come back, and is then joined.
fn fingerprint(out: &mut String, readings: &[Reading]) {
    put!(out, "<h3>Fingerprint before the run</h3>\n");
    let mut sections: Vec<&str> = Vec::new();
    for reading in readings {
        if !sections.contains(&reading.section.as_str()) {
            sections.push(&reading.section);
        }
    }
    put!(out, "<div class=\"readings\">\n");
    for section in sections {
        put!(out, "<table><caption>{}</caption><tbody>\n", Esc(section));
        for reading in readings.iter().filter(|r| r.section == section) {
            put!(out, "<tr><th scope=\"row\" class=\"key\">{}</th>", Esc(&reading.key));
            match (&reading.value, &reading.reason) {
                (Some(value), _) => put!(out, "<td>{}</td></tr>\n", Esc(value)),
                (None, reason) => put!(
                    out,
                    "<td class=\"none\">not available: {}</td></tr>\n",
                    Esc(reason.as_deref().unwrap_or("no reason was stored"))
                ),
            }
        }
        put!(out, "</tbody></table>\n");
    }
    put!(out, "</div>\n");
}
