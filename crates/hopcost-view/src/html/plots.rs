//! Percentile curves and trials over time.

use hopcost_model::results::Results;

use super::parts::{self, Twin};
use crate::chart::{self, Heading};
use crate::markup::{Esc, put};

pub(super) fn percentiles(out: &mut String, results: &Results) {
    parts::section(
        out,
        "percentiles",
        "Percentile curves (closed loop)",
        "All samples of a case, trials pooled; the shaded band spans the trials where each alone \
         supports the percentile. In a closed loop the next request waits for the last reply, so \
         a stall delays the requests behind it unseen: these are service times, not what requests \
         arriving on a schedule would have met.",
    );
    let groups = chart::percentiles::charts(results);
    if groups.is_empty() {
        put!(out, "<p>No case of this run has single samples.</p>\n");
    }
    for group in groups {
        put!(out, "<div class=\"multiples\">\n");
        for drawn in &group {
            parts::figure(out, drawn, Heading::Drawn, Twin::Folded);
        }
        put!(out, "</div>\n");
    }
    put!(out, "</section>\n");
}

/// Plots over what was swept; nothing where nothing was.
pub(super) fn swept(out: &mut String, results: &Results) {
    let charts = chart::swept::charts(results);
    if charts.is_empty() {
        return;
    }
    parts::section(
        out,
        "plots",
        "Plots",
        "Drawn from the stored samples. A line joins measured points only, and a shaded band spans \
         their intervals.",
    );
    for drawn in &charts {
        parts::figure(out, drawn, Heading::Drawn, Twin::Folded);
        for note in &drawn.notes {
            put!(out, "<p class=\"note\">{}</p>\n", Esc(note));
        }
    }
    put!(out, "</section>\n");
}

pub(super) fn trials(out: &mut String, results: &Results) {
    parts::section(
        out,
        "trials",
        "Trials over time",
        "Every trial is a fresh process. Look for slopes (drift) and steps (the host changed \
         state); marks tell the host's state where the sentinel saw several. Each row is scaled \
         around its reported value, and its edges lie at the factor written on the right.",
    );
    for drawn in &chart::trials::charts(results) {
        parts::figure(out, drawn, Heading::Drawn, Twin::Folded);
    }
    put!(out, "</section>\n");
}
