use hopcost_model::case::Placement;
use hopcost_model::finding::Severity;
use hopcost_model::host::Reading;
use hopcost_model::raw::{Reference, YardstickClass};
use hopcost_model::results::{CpuLine, Right};

use super::*;
use crate::stored;

/// What was found on a machine of so many CPUs, eight to a cache.
fn machine(cpus: u32) -> Checkup {
    let stored = stored::results("quick");
    let relation = |a: u32, b: u32| match a / 8 == b / 8 {
        true => (Placement::SameLlc, 60.0),
        false => (Placement::CrossLlc, 210.0),
    };
    let pairs = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b)));
    let line = |cpus: (u32, u32)| {
        let (relation, roundtrip_ns) = relation(cpus.0, cpus.1);
        CpuLine { cpus, relation, roundtrip_ns: roundtrip_ns + f64::from(cpus.1) }
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
    let handover = |relation, cpus| Handover {
        relation,
        cpus,
        spinning_ns: Some(61.0),
        blocking_ns: Some(4_000.0),
        after_idling_ns: Some(9_000.0),
        after_idling_p90_ns: None,
    };
    let finding = |code: Code| Finding {
        code,
        severity: Severity::Note,
        case: None,
        evidence: "Something was seen that takes about as many words as this.".to_owned(),
        values: Default::default(),
        remedy: code.remedy().to_owned(),
    };
    let right = |what: &str, missing: Option<&str>| Right {
        what: what.to_owned(),
        missing: missing.map(str::to_owned),
    };
    Checkup {
        schema: "hopcost/1".to_owned(),
        about: stored.about,
        took_s: 14.2,
        cpus_allowed: (0..4 * cpus).collect(),
        cpus: (0..cpus).collect(),
        host: stored.host,
        clocks: stored.clocks,
        across: None,
        gaps: (0..cpus).map(gaps).collect(),
        lines: pairs.map(line).collect(),
        handovers: vec![
            handover(Placement::SameCpu, (0, 0)),
            handover(Placement::SameLlc, (0, 1)),
            handover(Placement::CrossLlc, (0, 8)),
        ],
        speeds: vec![QuietSpeed {
            class: YardstickClass::Wake,
            cpus: vec![0, 1],
            is_known: true,
            reference: Reference {
                operation_ns: 11_400.0,
                log_error: 0.008,
                trials: 40,
                runs: 3,
                learnt_from: "20261120-201530-4f2a".to_owned(),
                learnt_on: "2026-11-20T20:15:30Z".to_owned(),
                distance_ns: None,
            },
        }],
        rights: vec![right("io_uring", None), right("real-time scheduling", Some("not root"))],
        failures: Vec::new(),
        findings: [Code::Preempted, Code::Hypervisor].map(finding).into(),
        first: "Nothing to do.".to_owned(),
    }
}

#[test]
fn it_fits_a_screen_and_ends_with_what_to_do_first() {
    for (cpus, width) in [(1, 80), (2, 80), (2, 100), (32, 100)] {
        let found = machine(cpus);
        let shown = text(&found, &TextStyle::plain(width));
        let lines: Vec<&str> = shown.lines().collect();
        let most = if width < 100 { 46 } else { 40 } + found.speeds.len();
        assert!(lines.len() <= most, "{}\n{shown}", lines.len());
        let long = lines.iter().find(|line| line.chars().count() > width);
        assert_eq!(long, None, "{shown}");
        assert_eq!(lines.last(), Some(&"First: Nothing to do."));
    }
}

#[test]
fn a_screen_shows_the_worst_cpus_and_a_file_all_of_them() {
    let found = machine(32);
    let screen = text(&found, &TextStyle::plain(100));
    assert!(screen.contains("hopcost doctor · Intel Xeon"), "{screen}");
    assert!(screen.contains("32 of 128 CPUs, "), "{screen}");
    assert!(screen.contains("\n  31 ") && !screen.contains("\n  20 "), "{screen}");
    assert!(screen.contains("28 others lost less than 2.7 %"), "{screen}");
    assert!(screen.contains("4 of 32 CPUs; all of them"), "{screen}");
    assert!(screen.contains("yes: io_uring; no: real-time scheduling\n"), "{screen}");
    let whole = markdown(&found);
    assert!((0..32).all(|cpu| whole.contains(&format!("\n| {cpu} | 310 |"))), "{whole}");
    assert!((0..32).all(|cpu| whole.contains(&format!("\n| CPU {cpu} | "))), "{whole}");
    assert!(whole.contains("real-time scheduling (not root)"), "{whole}");
    assert!(whole.contains(Code::Preempted.remedy()), "{whole}");
}

#[test]
fn a_page_has_the_heat_map_with_every_number() {
    for cpus in [2, 32] {
        let found = machine(cpus);
        let page = html(&found);
        assert!(page.contains("First: Nothing to do."));
        let folded = page.matches("<details class=\"part\">").count();
        assert_eq!(folded, 0, "all of it is the answer");
        let (_, drawing) = page.split_once(r#"id="plot-cpu-pairs"#).expect("there are pairs");
        let drawing = drawing.split("</svg>").next().unwrap();
        let numbers = drawing.matches("class=\"m cell h").count() as u32;
        assert_eq!(numbers, cpus * (cpus - 1), "{drawing}");
    }
    assert!(!html(&machine(1)).contains("plot-cpu-pairs"));
}

#[test]
fn what_a_machine_does_not_tell_is_no_claim() {
    let mut found = machine(2);
    found.host = Host::default();
    found.clocks.clear();
    (found.gaps, found.lines, found.handovers) = (Vec::new(), Vec::new(), Vec::new());
    let shown = text(&found, &TextStyle::plain(80));
    assert!(shown.contains("across CPUs  not compared"), "{shown}");
    assert!(shown.contains("frequency    not told"), "{shown}");
    assert!(
        !shown.contains("stamps") && !shown.contains("mitigat") && !shown.contains("Gaps"),
        "{shown}"
    );
    let evil = "<script>alert(1)</script>\u{1b}[31m";
    let key = "virt.hypervisor".to_owned();
    let (section, value) = ("virt".to_owned(), Some(evil.to_owned()));
    found.host.readings.push(Reading { section, key, value, reason: None });
    found.failures.push(evil.to_owned());
    assert!(!html(&found).contains("<script>alert"));
    assert!(!text(&found, &TextStyle::plain(80)).contains('\u{1b}'));
}
