//! The first screen: what was measured, where, by which command, and how far it
//! can be trusted.

use hopcost_model::finding::Validity;
use hopcost_model::results::{Results, Status};

use super::parts;
use crate::markup::{Esc, put};
use crate::names::count;
use crate::section::{Detail, covers};

pub(super) fn write(out: &mut String, results: &Results) {
    put!(out, "<header>\n<h1>What it costs to hand a message across a boundary</h1>\n");
    put!(out, "<p class=\"summary\">{}</p>\n", Esc(&summary(results)));
    if !results.plan.complete {
        put!(
            out,
            "<p class=\"alert\">This run was cut off: {} of {} rounds have a finished trial. \
             What follows is what was stored until then.</p>\n",
            results.plan.rounds_done,
            results.plan.rounds_planned
        );
    }
    if !results.about.build.slow.is_empty() {
        put!(
            out,
            "<p class=\"alert\">This hopcost was not built for measuring: {}.</p>\n",
            Esc(&results.about.build.slow.join("; "))
        );
    }
    overview(out, results);
    facts(out, results);
    put!(out, "<p class=\"label\">Command that made this run</p>\n");
    parts::command(out, &results.command);
    if !results.remarks.is_empty() {
        put!(out, "<h2>What shapes these numbers</h2>\n<ul class=\"remarks\">\n");
        for remark in &results.remarks {
            put!(out, "<li>{}</li>\n", Esc(remark));
        }
        put!(out, "</ul>\n");
    }
    contents(out, results);
    put!(out, "</header>\n");
}

fn with_status(results: &Results, status: Status) -> usize {
    results.results.iter().filter(|case| case.status == status).count()
}

fn summary(results: &Results) -> String {
    let plan = &results.plan;
    let measured = with_status(results, Status::Measured);
    let machine = results.host.get("cpu.model").unwrap_or("this machine");
    let machine = machine.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "{} of {} measured on {machine}, {}: {} in {}.",
        measured,
        count(results.results.len(), "case", "cases"),
        crate::section::cpus(plan),
        count(plan.trials_done as usize, "trial", "trials"),
        count(plan.rounds_done as usize, "round", "rounds"),
    )
}

/// How many results stand, and how many do not.
fn overview(out: &mut String, results: &Results) {
    let measured = || results.results.iter().filter(|case| case.status == Status::Measured);
    let valid = |v: Validity| measured().filter(|case| case.validity == v).count();
    let cells = [
        ("v-valid", "valid", valid(Validity::Valid)),
        ("v-suspect", "suspect", valid(Validity::Suspect)),
        ("v-invalid", "invalid", valid(Validity::Invalid)),
        ("v-none", "skipped", with_status(results, Status::Skipped)),
        ("v-none", "failed", with_status(results, Status::Failed)),
    ];
    put!(out, "<ul class=\"overview\" aria-label=\"Validity of the cases\">\n");
    for (class, word, n) in cells {
        let class = if n == 0 { "zero" } else { class };
        put!(out, "<li class=\"{class}\"><b>{n}</b> {word}</li>\n");
    }
    put!(out, "</ul>\n");
}

fn facts(out: &mut String, results: &Results) {
    let about = &results.about;
    let plan = &results.plan;
    put!(out, "<dl class=\"facts\">\n");
    let until = about.ended.as_deref().map_or("cut off".to_owned(), |e| format!("to {e}"));
    let resumed = match about.resumed {
        0 => String::new(),
        n => format!(", resumed {}", count(n as usize, "time", "times")),
    };
    let when = format!("{} {until}{resumed}", about.started);
    parts::fact(out, "When", &when);
    let host = |key: &str| results.host.get(key);
    if let Some(model) = host("cpu.model") {
        parts::fact(out, "Processor", &model.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    for (name, key) in [("Kernel", "kernel.release"), ("Virtual machine", "virt.hypervisor")] {
        if let Some(value) = host(key) {
            parts::fact(out, name, value);
        }
    }
    let rounds = format!(
        "{} of {} rounds in random order, seed {}; {}, {} failed",
        plan.rounds_done,
        plan.rounds_planned,
        plan.seed,
        count(plan.trials_done as usize, "trial", "trials"),
        plan.trials_failed
    );
    parts::fact(out, "Rounds", &rounds);
    parts::fact(out, "Suite", &plan.suite);
    if let Some(baseline) = &plan.baseline {
        parts::fact(out, "Baseline of “×”", baseline);
    }
    let build = &about.build;
    parts::fact(
        out,
        "hopcost",
        &format!(
            "{} ({}), {} build, {}, {}",
            about.version, about.commit, build.profile, build.compiler, build.target
        ),
    );
    parts::fact(out, "Run", &about.id);
    put!(out, "</dl>\n");
}

fn contents(out: &mut String, results: &Results) {
    let sections = crate::section::all(results, Detail::Whole);
    let compared = crate::section::runtimes::all(results, Detail::Whole);
    let mut links: Vec<(&str, &str)> =
        compared.iter().map(|section| (section.id, section.title)).collect();
    links.push(("ladder", "Ladder"));
    links.extend(sections.iter().map(|section| (section.id, section.title)));
    if !results.plots.is_empty() {
        links.push(("plots", "Plots"));
    }
    links.extend([
        ("percentiles", "Percentiles"),
        ("trials", "Trials over time"),
        ("findings", "Findings"),
        ("host", "Host and clocks"),
        ("cases", "Every case"),
        ("reading", "How to read this"),
    ]);
    // Without rows it is not there.
    let ladder = results.ladder.iter().any(|group| !covers(group, results));
    links.retain(|(id, _)| *id != "ladder" || ladder);
    put!(out, "<nav aria-label=\"Contents\"><ul>\n");
    for (id, name) in links {
        put!(out, "<li><a href=\"#{id}\">{name}</a></li>\n");
    }
    put!(out, "</ul></nav>\n");
}
