//! A run as a Markdown document (GitHub's tables).

use hopcost_model::finding::Validity;
use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, Results, Statistic, Status,
};
use hopcost_model::text::is_plain;

use crate::names::{Place, row_label};
use crate::number;
use crate::section::{self, Cell, Detail, Replay, Section, counters};
use crate::style::{Align, Charset, TextStyle};
use crate::text::{
    by_code, compact, has_ratio, how_to_read, is_calls, ratio, reach, trials, units,
};

const UNICODE: Charset = Charset::Unicode;

/// Stands behind an interval that spans more than a factor of 2.
const WIDE: &str = " (wide)";

/// The whole run: ladder, what was not measured, findings, clocks and host.
pub fn report(results: &Results) -> String {
    let mut out = String::new();
    head(&mut out, results);
    for section in section::runtimes::all(results, Detail::Whole) {
        tables(&mut out, &section);
    }
    for group in results.ladder.iter().filter(|group| !section::covers(group, results)) {
        ladder(&mut out, results, group);
    }
    for section in section::all(results, Detail::Whole) {
        tables(&mut out, &section);
    }
    out.push_str("## How to read this\n\n");
    for sentence in how_to_read(results, WIDE, &TextStyle::plain(100)) {
        out.push_str(&format!("- {}\n", escape(&sentence)));
    }
    not_measured(&mut out, results);
    findings(&mut out, results);
    machine(&mut out, results);
    out
}

fn head(out: &mut String, results: &Results) {
    let (about, plan) = (&results.about, &results.plan);
    out.push_str(&format!("# hopcost: suite {}\n\n", escape(&plan.suite)));
    let whole = if plan.complete { "" } else { " (cut off)" };
    let lines = [
        ("Run", format!("{}, started {}{whole}", code(&about.id), escape(&about.started))),
        (
            "Tool",
            format!(
                "hopcost {} ({}, {}, {})",
                escape(&about.version),
                escape(&about.commit),
                escape(&about.build.profile),
                escape(&about.build.compiler)
            ),
        ),
        (
            "Trials",
            format!(
                "{} in {} of {} rounds, {} failed; order from seed {}",
                plan.trials_done,
                plan.rounds_done,
                plan.rounds_planned,
                plan.trials_failed,
                plan.seed
            ),
        ),
        ("CPUs", section::cpus(plan)),
        ("Baseline", plan.baseline.as_deref().map_or("none".to_owned(), code)),
        ("Repeat", code(&results.command)),
    ];
    for (name, text) in lines {
        out.push_str(&format!("- **{name}:** {text}\n"));
    }
    for remark in &results.remarks {
        out.push_str(&format!("- {}\n", escape(remark)));
    }
    out.push('\n');
}

fn ladder(out: &mut String, results: &Results, group: &LadderGroup) {
    out.push_str(&format!("## {}\n\n{}\n\n", escape(&group.title), escape(&group.meaning)));
    let cost = if group.batched { "cost [interval]" } else { "p50 [interval]" };
    let mut head = vec!["mechanism", "boundary", "wait", "CPUs", cost];
    let mut rule = vec!["---", "---", "---", "---", "---:"];
    if !group.batched {
        head.push("p99 [interval]");
        rule.push("---:");
    }
    let measured = || group.rows.iter().filter_map(|row| Place::One.case(row, results));
    let ticks = is_calls(group) && measured().any(|case| case.cost_ticks.is_some());
    let cycles = is_calls(group) && measured().any(|case| case.cost_cycles.is_some());
    for (there, name) in [(ticks, "ticks"), (cycles, "cycles")] {
        if there {
            head.push(name);
            rule.push("---:");
        }
    }
    let has_ratio = has_ratio(results, group, &Place::ALL);
    if has_ratio {
        head.push("× baseline [interval]");
        rule.push("---:");
    }
    let cpu = if is_calls(group) { "CPU/op" } else { "CPU/msg" };
    head.extend([cpu, "trials", "stamp", "validity"]);
    rule.extend(["---:", "---:", "---", "---"]);
    out.push_str(&row(head.into_iter().map(str::to_owned)));
    out.push_str(&row(rule.into_iter().map(str::to_owned)));
    for line in &group.rows {
        for side in Place::ALL {
            let Some(result) = side.case(line, results) else { continue };
            if result.status == Status::Measured {
                let (in_ticks, in_cycles) = units(result, number::DIGITS_MAX);
                let mut more = Vec::new();
                more.extend(ticks.then_some(in_ticks));
                more.extend(cycles.then_some(in_cycles));
                more.extend(has_ratio.then(|| multiple(result)));
                let label = row_label(line, results);
                out.push_str(&row(cells(group, (line, &label), side, result, more)));
            }
        }
    }
    out.push('\n');
    let notes = if is_calls(group) { counters::unavailable(measured()) } else { Vec::new() };
    for note in &notes {
        out.push_str(&format!("- {}\n", escape(note)));
    }
    if !notes.is_empty() {
        out.push('\n');
    }
}

/// A section beside the ladder.
fn tables(out: &mut String, section: &Section) {
    out.push_str(&format!("## {}\n\n{}\n\n", escape(section.title), escape(&section.lead)));
    for part in &section.parts {
        if !part.title.is_empty() {
            out.push_str(&format!("### {}\n\n", escape(&part.title)));
        }
        for sentence in &part.says {
            out.push_str(&format!("{}\n\n", escape(sentence)));
        }
        // A column without a single value says nothing.
        let shown: Vec<usize> = (0..part.columns.len())
            .filter(|at| part.rows.iter().any(|row| !row.cells.get(*at).is_none_or(Cell::is_empty)))
            .collect();
        if !part.rows.is_empty() {
            out.push_str(&row(shown.iter().map(|at| escape(&part.columns[*at].head))));
            let rule = |at: &usize| match part.columns[*at].align {
                Align::Left => "---".to_owned(),
                Align::Right => "---:".to_owned(),
            };
            out.push_str(&row(shown.iter().map(rule)));
        }
        for line in &part.rows {
            out.push_str(&row(shown.iter().map(|at| escape(&line.cells[*at].text(WIDE)))));
        }
        if !part.rows.is_empty() {
            out.push('\n');
        }
        for note in &part.notes {
            out.push_str(&format!("- {}\n", escape(note)));
        }
        for Replay { mark, command } in &part.replays {
            out.push_str(&format!("- Replay {mark} by hand: {}\n", code(command)));
        }
        if !part.notes.is_empty() || !part.replays.is_empty() {
            out.push('\n');
        }
    }
}

/// A multiple of the baseline with its interval.
fn multiple(result: &CaseResult) -> String {
    let multiple = ratio(result, &TextStyle::plain(100));
    let interval = result.ratio.as_ref().filter(|r| r.baseline != result.id);
    match interval.and_then(number::ratio_interval) {
        Some(interval) => format!("{multiple} {interval}"),
        None => multiple,
    }
}

fn cells(
    group: &LadderGroup,
    (line, label): (&LadderRow, &str),
    side: Place,
    result: &CaseResult,
    more: Vec<String>,
) -> Vec<String> {
    let estimates = result.estimates.as_ref();
    let show = |estimate: Option<&Estimate>| {
        let shown = estimate.map(|estimate| compact(estimate, WIDE, &TextStyle::plain(100)));
        escape(&shown.unwrap_or_default())
    };
    let main = estimates
        .and_then(|e| if group.batched { e.get(Statistic::Cost) } else { e.get(Statistic::P50) });
    let mut cells = vec![
        escape(label),
        line.boundary.word().to_owned(),
        escape(line.wait.as_deref().unwrap_or_default()),
        match side {
            Place::One => "one",
            Place::Two => "two",
            Place::Free => "free",
        }
        .to_owned(),
        show(main),
    ];
    if !group.batched {
        cells.push(show(estimates.and_then(|e| e.get(Statistic::P99))));
    }
    cells.extend(more);
    let cpu = result.cpu_ns_per_message.map(|ns| number::rough(ns, UNICODE));
    cells.extend([
        cpu.unwrap_or_default(),
        trials(result),
        result.stamp.map(|stamp| stamp.to_string()).unwrap_or_default(),
        result.validity.word().to_owned(),
    ]);
    cells
}

fn not_measured(out: &mut String, results: &Results) {
    let missing: Vec<&CaseResult> = results
        .results
        .iter()
        .filter(|result| result.status != Status::Measured || result.n_failed > 0)
        .collect();
    if missing.is_empty() {
        return;
    }
    let replays = missing.iter().any(|result| result.replay.is_some());
    let columns = if replays { 4 } else { 3 };
    let heads = ["case", "what", "reason", "replay by hand"];
    out.push_str("\n## Skipped and failed\n\n");
    out.push_str(&row(heads[..columns].iter().map(|head| (*head).to_owned())));
    out.push_str(&row((0..columns).map(|_| "---".to_owned())));
    for result in missing {
        let what = match result.status {
            Status::Measured => {
                format!(
                    "{} of {} trials failed",
                    result.n_failed,
                    result.n_failed + result.n_trials
                )
            }
            status => status.word().to_owned(),
        };
        let reason = escape(result.reason.as_deref().unwrap_or("no reason was given"));
        let replay = result.replay.as_deref().map(code).unwrap_or_default();
        let cells = [code(&result.id), what, reason, replay];
        out.push_str(&row(cells.into_iter().take(columns)));
    }
}

fn findings(out: &mut String, results: &Results) {
    out.push_str("\n## Findings\n");
    if results.findings.is_empty() {
        out.push_str("\nNone: no detector saw anything that casts doubt on these numbers.\n");
    }
    for group in by_code(&results.findings) {
        let severity = match Validity::from(group.severity) {
            Validity::Valid => "note",
            other => other.word(),
        };
        out.push_str(&format!(
            "\n### {} ({severity}, {})\n\n{} {}\n\n",
            group.code,
            reach(&group),
            escape(group.code.means()),
            escape(&group.worst.remedy)
        ));
        for finding in &group.findings {
            let place = finding.case.as_deref().map_or("the whole run".to_owned(), code);
            out.push_str(&format!("- {place}: {}\n", escape(&finding.evidence)));
        }
    }
}

fn machine(out: &mut String, results: &Results) {
    out.push_str("\n## Clock\n\n");
    let several = results.clocks.iter().any(|clock| clock.runtime != results.clocks[0].runtime);
    let (head, rule) = if several { (" runtime |", " --- |") } else { ("", "") };
    out.push_str(&format!("| CPU |{head} source | ticks/s | spread | stamp min | p50 | p99 |\n"));
    out.push_str(&format!("| ---: |{rule} --- | ---: | ---: | ---: | ---: | ---: |\n"));
    for clock in &results.clocks {
        let stamp = |ns| match clock.knows_its_cost() {
            true => number::duration(ns, 3, UNICODE),
            false => "not known".to_owned(),
        };
        let mut cells = vec![clock.cpu.to_string()];
        cells.extend(several.then(|| escape(&clock.runtime)));
        cells.extend([
            escape(&clock.source),
            clock.ticks_per_second.to_string(),
            format!("{} ppm", clock.rate_spread_ppm),
            stamp(clock.stamp_min_ns),
            stamp(clock.stamp_p50_ns),
            stamp(clock.stamp_p99_ns),
        ]);
        out.push_str(&row(cells));
    }
    out.push_str("\n## Host\n\n| reading | value |\n| --- | --- |\n");
    for reading in &results.host.readings {
        let value = match (&reading.value, &reading.reason) {
            (Some(value), _) => escape(value),
            (None, Some(reason)) => format!("not known: {}", escape(reason)),
            (None, None) => "not known".to_owned(),
        };
        out.push_str(&row([code(&reading.key), value]));
    }
    for change in &results.host_changes {
        let show = |value: &Option<String>| value.as_deref().map_or("not known".to_owned(), escape);
        out.push_str(&row([
            format!("{} before → after", code(&change.key)),
            format!("{} → {}", show(&change.before), show(&change.after)),
        ]));
    }
}

/// A row of a table.
pub(crate) fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text that means only itself, also within a table.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_plain(c) => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text as code, also within a table.
pub(crate) fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let fence = if text.contains('`') { "``" } else { "`" };
    let blank = if text.contains('`') { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}
