//! What `hopcost doctor` says: one screen for a terminal, everything in a file.

use hopcost_model::finding::{Code, Finding};
use hopcost_model::host::Host;
use hopcost_model::protocol::ClockReading;
use hopcost_model::results::{Checkup, CpuGaps, Handover, QuietSpeed};
use hopcost_model::text::count;

use crate::section::machine;
use crate::section::model::{
    Block, Cell, Document, Form, Frame, Rows, Section, Table, Tone, Unit, facts, notes, numbers,
    says, words,
};
use crate::section::shapes::{self, About};
use crate::style::TextStyle;
use crate::{html, markdown, number, text};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// What a screen has room for.
    Screen,
    Whole,
}

/// CPUs that a screen has room for: those with the most gaps, and rows of pairs.
const CPUS_ON_SCREEN: usize = 4;
/// Findings that a screen has room for.
const FINDINGS_ON_SCREEN: usize = 3;
/// Reasons why something was not measured that it has room for.
const FAILURES_ON_SCREEN: usize = 1;

/// For a terminal.
pub fn text(found: &Checkup, style: &TextStyle) -> String {
    text::document(&document(found, Extent::Screen), style)
}

pub fn markdown(found: &Checkup) -> String {
    markdown::document(&document(found, Extent::Whole))
}

/// As a page.
pub fn html(found: &Checkup) -> String {
    let mut document = document(found, Extent::Whole);
    document.head = std::mem::take(&mut document.rest);
    let about = &found.about;
    document.head.push(facts([
        (
            "hopcost",
            Cell::text(format!("{} ({}, {})", about.version, about.commit, about.build.profile)),
        ),
        ("started", Cell::text(&about.started)),
        ("command", Cell::code(about.argv.join(" "))),
    ]));
    let title = format!("{}, run {}", document.title, about.id);
    html::page(&document, &title, &about.version, "")
}

fn document(found: &Checkup, extent: Extent) -> Document {
    let title = format!(
        "hopcost doctor · {} · {} of {}, {}",
        machine(&found.host),
        found.cpus.len(),
        count(found.cpus_allowed.len(), "CPU"),
        number::expected((found.took_s * 1e9) as u64),
    );
    let sections = [
        Section::of("doctor-gaps", gaps(found, extent)),
        Section::of("doctor-pairs", lines(found, extent)),
        Section::of("doctor-handovers", [handovers(found)]),
        Section::of("doctor-machine", [machine_facts(found, extent)]),
    ];
    let sections = sections.into_iter().flatten().collect();
    let mut rest = findings(found, extent);
    rest.push(Block::Text(Tone::Alert, format!("First: {}", found.first)));
    Document { title, head: Vec::new(), sections, rest }
}

fn machine_facts(found: &Checkup, extent: Extent) -> Block {
    facts(clocks(found).chain(speeds(found)).chain(set_up(found, extent)))
}

/// What runs have taught, with its age and where it comes from.
fn speeds(found: &Checkup) -> impl Iterator<Item = (&'static str, Cell)> {
    let line = |of: &QuietSpeed| {
        let cpus = of.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
        let from = &of.reference;
        let date = from.learnt_on.split('T').next().unwrap_or_default();
        format!(
            "{}, CPU {cpus}: {}, {} ({date}, {}, {}{})",
            of.class.word(),
            number::time(from.operation_ns, 3),
            from.learnt_from,
            count(from.trials as usize, "trial"),
            count(from.runs as usize, "run"),
            if of.is_known { "" } else { ", not enough yet" },
        )
    };
    found.speeds.iter().map(move |of| ("quiet speed", Cell::text(line(of))))
}

fn clocks(found: &Checkup) -> impl Iterator<Item = (&'static str, Cell)> {
    let stamps = found.clocks.first().map(|clock| {
        let tick_ns = 1e9 / clock.ticks_per_second;
        let worst = |of: fn(&ClockReading) -> f64| {
            number::time(found.clocks.iter().map(of).fold(0.0, f64::max), 2)
        };
        format!(
            "{}, least step seen {}; stamp p50 {}, p99 {}; clock_gettime {} ({})",
            clock.source,
            number::time(clock.resolution_ticks as f64 * tick_ns, 2),
            worst(|clock| clock.stamp_p50_ns),
            worst(|clock| clock.stamp_p99_ns),
            worst(|clock| clock.clock_gettime_p50_ns),
            told(&found.host, "clocksource.current"),
        )
    });
    let across = match &found.across {
        Some(across) => format!(
            "{}, {} steps, none backwards; offsets at most {}, known to ±{}",
            count(across.pairs as usize, "pair"),
            across.steps,
            number::time(across.offset_max_ns, 2),
            number::time(across.bound_max_ns, 2),
        ),
        None => "not compared".to_owned(),
    };
    let stamps = stamps.map(|text| ("stamps", Cell::text(text)));
    stamps.into_iter().chain([("across CPUs", Cell::text(across))])
}

fn gaps(found: &Checkup, extent: Extent) -> Vec<Block> {
    let mut shown: Vec<CpuGaps> = found.gaps.clone();
    let mut left = String::new();
    if extent == Extent::Screen && shown.len() > CPUS_ON_SCREEN {
        shown.sort_by(|a, b| b.lost_share.total_cmp(&a.lost_share));
        let rest = shown.split_off(CPUS_ON_SCREEN);
        let most = rest.first().map_or(0.0, |gaps| gaps.lost_share);
        left = format!("{} others lost less than {}.", rest.len(), number::share(most));
    }
    let rate = |of: f64| Cell::number(of, Unit::Plain(3));
    let table = Rows::of(&shown)
        .column(words("CPU"), |gaps| Cell::text(gaps.cpu.to_string()))
        .column(numbers("≥ 1 µs"), |gaps| rate(gaps.over_1us_per_s))
        .column(numbers("≥ 10 µs"), |gaps| rate(gaps.over_10us_per_s))
        .column(numbers("≥ 100 µs"), |gaps| rate(gaps.over_100us_per_s))
        .column(numbers("time lost"), |gaps| Cell::number(gaps.lost_share, Unit::Share))
        .column(numbers("longest"), |gaps| Cell::number(gaps.longest_ns as f64, Unit::Time(3)))
        .column(numbers("stolen"), |gaps| Cell::maybe(gaps.steal_share, Unit::Share))
        .column(numbers("watched"), |gaps| Cell::number(gaps.watched_ns as f64, Unit::Time(2)));
    let left = Some(left).filter(|left| !left.is_empty()).map(says);
    [table.table()].into_iter().chain(left).collect()
}

/// A grid of numbers, under its heat map where there is room for one.
fn lines(found: &Checkup, extent: Extent) -> Vec<Block> {
    let mut cpus: Vec<u32> = found.lines.iter().flat_map(|l| [l.cpus.0, l.cpus.1]).collect();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() {
        return Vec::new();
    }
    let all = cpus.len();
    if extent == Extent::Screen && all > CPUS_ON_SCREEN {
        // Evenly over all, so that every package is seen.
        cpus = (0..CPUS_ON_SCREEN).map(|at| cpus[at * all / CPUS_ON_SCREEN]).collect();
    }
    let of = |a: u32, b: u32| {
        let line = found.lines.iter().find(|l| l.cpus == (a.min(b), a.max(b)));
        line.map_or(Cell::none(), |line| Cell::number(line.roundtrip_ns, Unit::Time(2)))
    };
    let row = |a: &u32| {
        let name = Cell::text(format!("CPU {a}"));
        std::iter::once(name).chain(cpus.iter().map(|b| of(*a, *b))).collect()
    };
    let rows = cpus.iter().map(row).collect();
    let columns = cpus.iter().map(|cpu| numbers(&format!("CPU {cpu}")));
    let columns = std::iter::once(words("")).chain(columns).collect();
    let table = Table { columns, rows, form: Form::Matrix };
    let about = About {
        id: "plot-cpu-pairs".to_owned(),
        title: "Spinning round trip between two CPUs".to_owned(),
        says: "The round trip of a cache line between each two CPUs.".to_owned(),
    };
    let chart = shapes::grid(about, &table, "", false);
    let chart = chart.map(|chart| Block::Charts(vec![chart], Frame::Bare));
    let table = Block::Table(table);
    let left = (cpus.len() < all).then(|| {
        says(format!("{} of {all} CPUs; all of them: --format md, html or json.", cpus.len()))
    });
    chart.into_iter().chain([table]).chain(left).collect()
}

fn handovers(found: &Checkup) -> Block {
    let time = |ns: Option<f64>| Cell::maybe(ns, Unit::Time(3));
    let cpus = |of: &Handover| match of.cpus {
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a}, {b}"),
    };
    Rows::of(&found.handovers)
        .column(words("relation"), |of| Cell::text(of.relation.word()))
        .column(words("CPUs"), |of| Cell::text(cpus(of)))
        .column(numbers("spinning").over("round trip"), |of| time(of.spinning_ns))
        .column(numbers("blocking").over("round trip"), |of| time(of.blocking_ns))
        .column(numbers("p50").over("woken after 10 ms"), |of| time(of.after_idling_ns))
        .column(numbers("p90").over("woken after 10 ms"), |of| time(of.after_idling_p90_ns))
        .table()
}

/// A reading, or why there is none.
fn told(host: &Host, key: &str) -> String {
    let reason = || host.reason(key).map_or("not told".to_owned(), str::to_owned);
    host.get(key).map_or_else(reason, str::to_owned)
}

/// The same after what it is, and nothing where there is none.
fn named(host: &Host, all: &[(&str, &str)]) -> String {
    let one = |(name, key): &(&str, &str)| {
        // What follows the comma is why more is not known.
        let value = host.get(key)?;
        let value = value.split_once(", mode not").map_or(value, |(model, _)| model);
        Some(format!("{name} {value}"))
    };
    all.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

fn set_up(found: &Checkup, extent: Extent) -> Vec<(&'static str, Cell)> {
    let host = &found.host;
    let cpu = found.cpus.first().copied().unwrap_or(0);
    let of_cpu = |key: &str| format!("cpu{cpu}.{key}");
    let keys = [of_cpu("governor"), of_cpu("frequency_limits"), of_cpu("idle_states")];
    let [governor, limits, states] = &keys;
    let or_reason = |text: String, key: &str| if text.is_empty() { told(host, key) } else { text };
    let frequency = named(host, &[("governor", governor), ("", limits), ("turbo", "cpu.turbo")]);
    let idle = [("driver", "idle.driver"), ("governor", "idle.governor"), ("states", states)];
    let guest = [("container", "virt.container"), ("", "virt.hypervisor"), ("", "idle.haltpoll")];
    // The hypervisor stands in the title.
    let guest = if extent == Extent::Whole { &guest[..] } else { &guest[..1] };
    let cpus = [
        ("allowed", "cpu.allowed"),
        ("online", "cpu.online"),
        ("isolated", "cpu.isolated"),
        ("nohz_full", "cpu.nohz_full"),
        ("SMT", "smt.active"),
    ];
    let quota = [
        ("cgroup", "cgroup.version"),
        ("quota", "cgroup.cpu_quota"),
        ("cpuset", "cgroup.cpuset"),
        ("throttled times", "stat.cgroup.throttled_times"),
    ];
    let limited = [
        ("nofile", "limits.nofile"),
        ("memlock", "limits.memlock"),
        ("rtprio", "limits.rtprio"),
        ("msgqueue", "limits.msgqueue"),
    ];
    let kernel = [
        ("", "kernel.preempt"),
        ("timer slack", "sched.timer_slack"),
        ("THP", "thp.enabled"),
        ("NUMA balancing", "numa.balancing"),
        ("perf_event_paranoid", "perf.paranoid"),
    ];
    let load =
        [("1 min", "load.1"), ("runnable", "load.runnable"), ("CPU pressure", "load.cpu_pressure")];
    let facts = [
        ("CPUs", named(host, &cpus)),
        ("frequency", or_reason(frequency, governor)),
        ("idle", or_reason(named(host, &idle), "idle.driver")),
        ("kernel", named(host, &kernel)),
        ("CPU limits", or_reason(named(host, &quota), "cgroup.version")),
        ("limits", named(host, &limited)),
        ("mitigations", mitigations(host, extent)),
        ("guest", named(host, guest)),
        ("rights", rights(found, extent)),
        ("load", named(host, &load)),
        ("not measured", failures(found, extent)),
    ];
    let clean = |text: String| Cell::text(text.replace("  ", " ").trim_start().to_owned());
    let known = facts.into_iter().filter(|(_, text)| !text.is_empty());
    known.map(|(name, text)| (name, clean(text))).collect()
}

/// Those that the kernel applies, and what it leaves open.
fn mitigations(host: &Host, extent: Extent) -> String {
    let all = host.readings.iter().filter(|reading| reading.section == "mitigations");
    let of = |start: &'static str| {
        let begins = move |text: &&str| text.starts_with(start);
        all.clone().filter(move |reading| reading.value.as_deref().filter(begins).is_some())
    };
    let names = |start: &'static str| -> Vec<&str> {
        of(start).filter_map(|reading| reading.key.split('.').nth(1)).collect()
    };
    let (active, open) = (names("Mitigation"), names("Vulnerable"));
    let list = |what: &str, names: &[&str]| match (names, extent) {
        ([], _) => format!("none {what}"),
        (names, Extent::Whole) => format!("{} {what} ({})", names.len(), names.join(", ")),
        (names, Extent::Screen) => format!("{} {what}", names.len()),
    };
    if active.is_empty() && open.is_empty() && of("").next().is_none() {
        return String::new();
    }
    format!("{}, {}", list("active", &active), list("not mitigated", &open))
}

fn failures(found: &Checkup, extent: Extent) -> String {
    let most = if extent == Extent::Screen { FAILURES_ON_SCREEN } else { usize::MAX };
    let more = found.failures.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {more} more"));
    let shown = found.failures.iter().take(most).cloned();
    shown.chain(more).collect::<Vec<_>>().join("; ")
}

fn rights(found: &Checkup, extent: Extent) -> String {
    let with = |missing: bool| found.rights.iter().filter(move |r| r.missing.is_some() == missing);
    let may: Vec<&str> = with(false).map(|right| right.what.as_str()).collect();
    let not = with(true).map(|right| match (&right.missing, extent) {
        (Some(why), Extent::Whole) => format!("{} ({why})", right.what),
        _ => right.what.clone(),
    });
    let not: Vec<String> = not.collect();
    let list = |what: &str, all: &[String]| match all {
        [] => String::new(),
        all => format!("{what} {}", all.join(", ")),
    };
    let may: Vec<String> = may.into_iter().map(str::to_owned).collect();
    let both = [list("yes:", &may), list("no:", &not)];
    both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn findings(found: &Checkup, extent: Extent) -> Vec<Block> {
    let most = if extent == Extent::Screen { FINDINGS_ON_SCREEN } else { usize::MAX };
    let line = |finding: &Finding| match extent {
        Extent::Screen => format!("{}: {}", finding.code.word(), finding.evidence),
        Extent::Whole => {
            format!("{}: {} {}", finding.code.word(), finding.evidence, finding.remedy)
        }
    };
    // The hypervisor stands in the title.
    let is_new = |of: &&Finding| extent == Extent::Whole || of.code != Code::Hypervisor;
    notes(found.findings.iter().filter(is_new).take(most).map(line)).collect()
}

#[cfg(test)]
mod tests;
