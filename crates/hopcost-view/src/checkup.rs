//! What `hopcost doctor` says: a table of the CPUs, one of the pairs, and the findings.

use hopcost_model::text::{count, span};
use hopcost_read::results::{Checkup, CpuGaps, Handover};

use crate::answer::{Answer, Content};
use crate::number;
use crate::section::model::{
    Block, Cell, Document, Rows, Section, Unit, facts, numbers, says, words,
};
use crate::section::{Medium, machine};

/// CPUs that a screen has room for: those that lost most.
const CPUS_MAX: usize = 8;

/// Round trips of two cache lines over those of one, below which the second one is prefetched.
const PREFETCHED_MAX: f64 = 1.15;

impl Content for Checkup {
    fn name(&self) -> String {
        "doctor".to_owned()
    }

    fn answer(&self) -> Answer {
        Answer::of_checkup(self)
    }

    /// What was found; of many CPUs those that lost most, unless `whole`.
    fn document(&self, _: Medium, whole: bool) -> Document {
        let machine_line = format!(
            "hopcost doctor · {} · {} of {}, {}",
            machine(&self.host),
            self.cpus.len(),
            count(self.cpus_allowed.len(), "CPU"),
            number::expected((self.took_s * 1e9) as u64),
        );
        let findings = self.findings.iter();
        let said = findings.map(|of| format!("{}: {} {}", of.code, of.evidence, of.remedy));
        let sections = [
            Section::of("doctor-gaps", gaps(self, if whole { usize::MAX } else { CPUS_MAX })),
            Section::of("doctor-handovers", [handovers(self)]),
            Section::of("doctor-machine", [machine_of(self)]),
            Section::of("doctor-findings", said.chain([machine_line]).map(says)),
        ];
        Document {
            title: format!("First: {}", self.first),
            sections: sections.into_iter().flatten().collect(),
            ..Document::default()
        }
    }
}

fn gaps(found: &Checkup, most: usize) -> Vec<Block> {
    let mut shown: Vec<&CpuGaps> = found.gaps.iter().collect();
    if shown.len() > most {
        shown.sort_by(|a, b| b.lost_share.total_cmp(&a.lost_share));
    }
    let rest = shown.split_off(most.min(shown.len()));
    let rate = |of: f64| Cell::number(of, Unit::Plain(3));
    let table = Rows::of(&shown)
        .column(words("CPU"), |gaps| Cell::text(gaps.cpu.to_string()))
        .column(numbers("≥ 1 µs"), |gaps| rate(gaps.over_1us_per_s))
        .column(numbers("≥ 10 µs"), |gaps| rate(gaps.over_10us_per_s))
        .column(numbers("≥ 100 µs"), |gaps| rate(gaps.over_100us_per_s))
        .column(numbers("time lost"), |gaps| Cell::number(gaps.lost_share, Unit::Share))
        .column(numbers("longest"), |gaps| Cell::number(gaps.longest_ns as f64, Unit::Time(3)))
        .column(numbers("stolen"), |gaps| Cell::maybe(gaps.steal_share, Unit::Share))
        .table();
    let rest = rest.first().map(|next| {
        let lost = number::share(next.lost_share);
        says(format!("{} others lost {lost} or less.", found.gaps.len() - most))
    });
    [table].into_iter().chain(rest).collect()
}

fn handovers(found: &Checkup) -> Block {
    let time = |ns: Option<f64>| Cell::maybe(ns, Unit::Time(3));
    // All pairs of a relation: hidden topology shows as a wide range.
    let lines = |of: &Handover| {
        let lines = found.lines.iter().filter(|line| line.relation == of.relation);
        let times: Vec<f64> = lines.map(|line| line.roundtrip_ns).collect();
        let range = span(&times, |ns| number::time(ns, 2));
        range.map_or_else(|| time(of.spinning_ns), Cell::text)
    };
    let cpus = |of: &Handover| match of.cpus {
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a}, {b}"),
    };
    Rows::of(&found.handovers)
        .column(words("relation"), |of| Cell::text(of.relation.word()))
        .column(words("CPUs"), |of| Cell::text(cpus(of)))
        .column(numbers("cache line, all pairs"), lines)
        .column(numbers("pipe, blocking"), |of| time(of.blocking_ns))
        .column(numbers("woken after 10 ms: p50"), |of| time(of.after_idling_ns))
        .column(numbers("p90"), |of| time(of.after_idling_p90_ns))
        .table()
}

/// What of the processor explains a number, and what hopcost may not do or could not measure.
fn machine_of(found: &Checkup) -> Block {
    let clock = found.clocks.first().map_or(String::new(), |clock| {
        let stamp = number::time(clock.stamp_p50_ns, 2);
        let source = found.host.get("clocksource.current").unwrap_or("unknown");
        format!("{}, a stamp takes {stamp}; the kernel's is {source}", clock.source)
    });
    let missing = found.rights.iter().filter_map(|right| {
        let why = right.missing.as_ref()?;
        Some(format!("{} ({why})", right.what))
    });
    let lines = found.one_and_two_lines_ns.map_or(String::new(), |(one, two)| {
        let [first, both] = [one, two].map(|ns| number::time(ns, 2));
        let times = two / one;
        let why = if times < PREFETCHED_MAX { ": adjacent lines are prefetched" } else { "" };
        format!("a message in one takes {first} both ways, in two {both} ({times:.1} ×){why}")
    });
    let features = found.host.get("cpu.features").unwrap_or_default();
    let has = |feature: &str| features.split(' ').any(|one| one == feature);
    let copying = match (has("erms"), has("fsrm")) {
        (false, _) => String::new(),
        (true, false) => {
            "rep movsb is fast for long messages (erms), not for short ones".to_owned()
        }
        (true, true) => {
            "rep movsb is fast for long messages (erms) and short ones (fsrm)".to_owned()
        }
    };
    let driver = found.host.get("idle.driver").or(found.host.reason("idle.driver"));
    let idling = driver.map_or(String::new(), |driver| {
        let mwait = if has("monitor") { "mwait" } else { "no mwait: an idle CPU is halted" };
        format!("{driver}; {mwait}")
    });
    let known = [
        ("clock", clock),
        ("second cache line", lines),
        ("copying", copying),
        ("idling", idling),
        ("not allowed", missing.collect::<Vec<_>>().join("; ")),
        ("not measured", found.failures.join("; ")),
    ];
    facts(known.map(|(name, text)| (name, Cell::text(text))))
}

#[cfg(test)]
mod tests {
    use hopcost_model::Placement;
    use hopcost_read::results::CpuLine;

    use super::*;
    use crate::stored;
    use crate::style::TextStyle;

    /// What was found on a machine of so many CPUs, eight to a cache.
    fn machine(cpus: u32) -> Checkup {
        let stored = stored::results("quick");
        let relation =
            |a: u32, b: u32| if a / 8 == b / 8 { Placement::SameLlc } else { Placement::CrossLlc };
        let pairs = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b)));
        let line = |cpus: (u32, u32)| CpuLine {
            cpus,
            relation: relation(cpus.0, cpus.1),
            roundtrip_ns: 60.0 + f64::from(cpus.1),
        };
        let gaps = |cpu| CpuGaps {
            cpu,
            watched_ns: 125_000_000,
            over_1us_per_s: 310.0,
            over_10us_per_s: 12.0,
            over_100us_per_s: 0.0,
            lost_share: 0.001 * f64::from(cpu),
            longest_ns: 48_000,
            steal_share: None,
        };
        let same_llc = Handover {
            relation: Placement::SameLlc,
            cpus: (0, 1),
            spinning_ns: None,
            blocking_ns: Some(4_000.0),
            after_idling_ns: Some(9_000.0),
            after_idling_p90_ns: None,
        };
        Checkup {
            cpus_allowed: (0..4 * cpus).collect(),
            cpus: (0..cpus).collect(),
            host: stored.host,
            gaps: (0..cpus).map(gaps).collect(),
            lines: pairs.map(line).collect(),
            handovers: vec![same_llc],
            one_and_two_lines_ns: Some((200.0, 280.0)),
            failures: vec!["<script>alert(1)</script>\u{1b}[31m".to_owned()],
            first: "nothing.".to_owned(),
            ..Checkup::default()
        }
    }

    #[test]
    fn a_screen_shows_the_worst_cpus_and_a_file_all_of_them() {
        let found = machine(32);
        let screen = found.text(false, &TextStyle::plain(100));
        assert!(screen.starts_with("First: nothing.\n"), "{screen}");
        assert!(screen.lines().count() <= 40 && !screen.contains('\u{1b}'), "{screen}");
        for said in [
            "32 of 128 CPUs, ",
            "\n  31 ",
            "24 others lost 2.3 % or less",
            "61 ns to 91 ns",
            "in two 280 ns (1.4 ×)",
        ] {
            assert!(screen.contains(said), "{said}: {screen}");
        }
        assert!(!screen.contains("\n  20 "), "{screen}");
        let whole = found.markdown();
        assert!((0..32).all(|cpu| whole.contains(&format!("\n| {cpu} | 310 |"))));
        assert!(!found.html().contains("<script>alert"));
    }
}
