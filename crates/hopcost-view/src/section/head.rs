//! What was measured, where, by which command, and how far it can be trusted.

use hopcost_model::group::distinct;
use hopcost_model::text::count;
use hopcost_model::{Finding, Host, Severity, YardstickClass};
use hopcost_read::results::{Results, Status};

use super::fields::facts_of;
use super::model::{Block, Cell, Medium, Section, Tone, paste, says};
use super::words::sentence;
use crate::number;

/// `Intel Xeon, KVM, Linux 6.18.44`
pub(crate) fn machine(host: &Host) -> String {
    let model = host.get("cpu.model").unwrap_or("unknown processor");
    let model = model.split(" @").next().unwrap_or(model);
    let noise = ["(R)", "(TM)", "Processor", "CPU"];
    let model = noise.iter().fold(model.to_owned(), |name, word| name.replace(word, ""));
    let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
    let kernel = host
        .get("kernel.release")
        .map(|release| format!("Linux {}", release.split('-').next().unwrap_or(release)));
    let machine = [Some(model), host.get("virt.hypervisor").map(str::to_owned), kernel];
    machine.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `hopcost ladder · Intel Xeon, KVM, Linux 6.18.44 · 54 of 58 cases × 15 rounds, 59 s · CPUs 0, 1: 104 ns apart`,
/// there and back, where ends spun on two CPUs.
pub(super) fn line(results: &Results) -> String {
    let plan = &results.plan;
    let skipped = results.results.iter().filter(|case| case.status == Status::Skipped).count();
    let all = results.results.len();
    let cases = match skipped {
        0 => count(all, "case"),
        _ => format!("{} of {}", all - skipped, count(all, "case")),
    };
    let line = results.yardsticks.iter().find(|probe| probe.class == YardstickClass::Line);
    let apart = line.map_or(String::new(), |probe| {
        let cpus: Vec<String> = probe.cpus.iter().map(u32::to_string).collect();
        format!(" · CPUs {}: {} apart", cpus.join(", "), number::time(probe.p50_ns, 2))
    });
    format!(
        "hopcost {} · {} · {cases} × {}, {}{apart}",
        plan.suite,
        machine(&results.host),
        count(plan.rounds_done as usize, "round"),
        number::expected((plan.took_s * 1e9) as u64),
    )
}

/// By what the run was disturbed, and what a column of quiet values is.
fn slowed(results: &Results) -> Option<Block> {
    let why = results.disturbed.as_ref()?;
    let cases = results.results.iter().filter(|case| !case.has_two_speeds());
    let estimates = cases.filter_map(|case| case.estimates.as_ref());
    let mut all = estimates.flat_map(|estimates| estimates.intervals());
    let is_any_quiet = all.any(|(_, estimate)| estimate.quiet.is_some());
    let quiet = if is_any_quiet { " Expect the quiet values (all: --details)." } else { "" };
    Some(says(format!("Disturbed: {why}.{quiet}")))
}

/// Where the rest is.
pub(super) fn more(stored: Stored<'_>) -> Block {
    says(format!("More: {} --details (or --html)", stored.show_command))
}

/// `Intel Xeon, KVM; 10 rounds, nominal 95 % intervals; 2026-11-26, hopcost quick; disturbed: …`
pub(super) fn besides(results: &Results) -> String {
    let date = results.about.started.split('T').next().unwrap_or_default();
    let rounds = count(results.plan.rounds_done as usize, "round");
    let rests = format!("{rounds}, nominal 95 % intervals");
    let made = format!("{date}, {}", results.command);
    let disturbed = results.disturbed.as_ref().map(|why| format!("disturbed: {why}"));
    let doubts = distinct(doubts(results).map(|finding| finding.evidence.clone()));
    let known = [machine(&results.host), rests, made].into_iter().chain(disturbed).chain(doubts);
    known.map(|part| part.trim_end_matches('.').to_owned()).collect::<Vec<_>>().join("; ")
}

/// What stands above the first section. A page says what casts doubt on the run.
pub(super) fn blocks(results: &Results, medium: Medium) -> Vec<Block> {
    let doubts = doubts(results).filter(|_| medium == Medium::Page);
    let doubts = doubts.map(|finding| Block::Text(Tone::Alert, sentence(&finding.evidence)));
    doubts.chain(alerts(results)).collect()
}

/// What must not be overlooked.
pub(super) fn alerts(results: &Results) -> Vec<Block> {
    let ended = results.plan.ended_early.clone();
    let ended = ended.map(|why| Block::Text(Tone::Alert, why));
    warnings(results).into_iter().chain(ended).collect()
}

/// The same, but for why the run ended early.
pub(super) fn warnings(results: &Results) -> Vec<Block> {
    let plan = &results.plan;
    let mut blocks: Vec<Block> = slowed(results).into_iter().collect();
    if !plan.complete {
        let (done, planned) = (plan.rounds_done, plan.rounds_planned);
        blocks.push(Block::Text(Tone::Alert, format!(
            "This run was cut off: {done} of {planned} rounds have a finished trial. What follows is \
             what was stored until then."
        )));
    }
    let slow = &results.about.build.slow;
    if !slow.is_empty() {
        let slow = slow.join("; ");
        let text = format!("This hopcost was not built for measuring: {slow}.");
        blocks.push(Block::Text(Tone::Alert, text));
    }
    blocks
}

/// What casts doubt on the run as a whole.
pub(crate) fn doubts(results: &Results) -> impl Iterator<Item = &Finding> {
    let of_run = results.findings.iter().filter(|finding| finding.case.is_none());
    of_run.filter(|finding| finding.severity > Severity::Note)
}

/// What of a plan stands elsewhere, or in its command.
const OF_PLAN: &str = "suite complete ended_early trial";

/// Where and by what the run was made, where it is stored, and how it is drawn.
pub(super) fn about(results: &Results, stored: Option<Stored<'_>>) -> Option<Section> {
    let machine = ("machine".to_owned(), Cell::text(machine(&results.host)));
    let known = [machine].into_iter().chain(facts_of(&results.plan, OF_PLAN));
    let known = Block::Facts(known.chain(facts_of(&results.about, "argv")).collect());
    let stored = stored.into_iter().flat_map(|Stored { path, show_command }| {
        let shown = |how: &str| format!("{show_command} {how}");
        let (page, plots) = (shown("--html"), shown("--plots DIR"));
        [paste("Stored in", path), paste("As a page", page), paste("As SVG files", plots)]
    });
    let command = paste("Command that made this run", &results.command);
    Section::of("about", [known, command].into_iter().chain(stored))
}

/// Where a run is stored and how to open its report; the view knows neither.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// Path of the run file.
    pub path: &'a str,
    /// The command that shows it as text, ready to paste.
    pub show_command: &'a str,
}
