//! The lines above the tables, and the remarks below them.

use hopcost_model::results::Results;

use crate::style::{Paint, TextStyle};

/// Which run this is, of which machine, and whether it is whole.
pub(super) fn write(out: &mut String, results: &Results, style: &TextStyle) {
    let (about, plan) = (&results.about, &results.plan);
    let dot = style.pick(" · ", ", ");
    let failed = match plan.trials_failed {
        0 => String::new(),
        n => format!(", {n} failed"),
    };
    let line = [
        format!("hopcost {}", about.version),
        format!("suite {}", plan.suite),
        format!("{} rounds", plan.rounds_done),
        format!("{} trials{failed}", plan.trials_done),
        crate::section::cpus(plan),
    ]
    .join(dot);
    style.paragraph(out, "", "  ", &line);
    let keys = ["cpu.model", "virt.hypervisor", "kernel.release"];
    let mut host: Vec<&str> = keys.iter().filter_map(|key| results.host.get(key)).collect();
    host.push(&about.started);
    style.paragraph(out, "", "  ", &host.join(dot));
    if let Some(baseline) = &plan.baseline {
        style.paragraph(out, "", "  ", &format!("baseline of the multiples: {baseline}"));
    }
    if !plan.complete {
        let what = format!(
            "cut off after {} of {} rounds: what follows is from the trials that finished",
            plan.rounds_done, plan.rounds_planned
        );
        out.push_str(&style.paint(Paint::Yellow, &what));
        out.push('\n');
    }
}

/// What of this machine shapes the numbers.
pub(super) fn remarks(out: &mut String, results: &Results, style: &TextStyle) {
    if results.remarks.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&style.paint(Paint::Bold, "What of this machine shapes these numbers"));
    out.push('\n');
    for remark in &results.remarks {
        style.paragraph(out, "  - ", "    ", remark);
    }
}
