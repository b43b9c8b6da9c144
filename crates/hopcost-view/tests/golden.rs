//! Every output format on the fixture, as stored snapshots. After a change of
//! output, run with INSTA_UPDATE=always and read the difference as a sceptic.

mod facts;

use hopcost_view::fixture;
use hopcost_view::mechanisms::{self, Format};
use hopcost_view::text::{self, Stored, TextStyle};
use hopcost_view::{csv, json, markdown, plan};

const STORED: Stored<'static> = Stored {
    path: "/home/ada/.local/share/hopcost/runs/20250314-092653-7f3a.hopcost",
    report_command: "hopcost report 20250314-092653-7f3a --format html > report.html",
};

/// One style a format: `layout.rs` holds the others against this one.
const STYLE: TextStyle = TextStyle::plain(100);

const SUITES: [&str; 5] = ["wakeup", "copies", "threads-udp-websocket", "microkernel", "runtimes"];

#[test]
fn reports() {
    let results = fixture::example_results();
    insta::assert_snapshot!("text", text::report(&results, Some(STORED), &STYLE));
    insta::assert_snapshot!("markdown", markdown::report(&results));
}

/// What the suites have beside the ladder, without the lines that it has too.
#[test]
fn sections_of_the_suites() {
    for suite in SUITES {
        let results = fixture::example(suite);
        let (text, markdown) = (text::report(&results, None, &STYLE), markdown::report(&results));
        for (name, out, from, to) in [
            ("text", text, "\n\n", "\nFindings\n"),
            ("markdown", markdown, "\n## ", "\n## Findings\n"),
        ] {
            let (_, out) = out.split_once(from).unwrap();
            let (sections, _) = out.split_once(to).unwrap();
            insta::assert_snapshot!(format!("{suite}_{name}"), sections);
        }
    }
    // A machine without counters says so once, and shows no number.
    let out = text::report(&fixture::example_microkernel(false), None, &STYLE);
    let (_, out) = out.split_once("\nThe ladder").unwrap();
    let (ladder, _) = out.split_once("\nFixed").unwrap();
    insta::assert_snapshot!("microkernel_no_pmu", ladder);
}

#[test]
fn csv_of_the_suites() {
    let mut results = fixture::example_copies();
    results.results.truncate(3);
    insta::assert_snapshot!("copies_csv", csv::report(&results));
    let mut results = fixture::example_wakeup();
    results.results.truncate(1);
    insta::assert_snapshot!("wakeup_csv", csv::report(&results));
    let mut results = fixture::example_runtimes();
    let pair = results.results.len() - 3;
    results.results = [3, 5, 20, pair].map(|at| results.results[at].clone()).to_vec();
    results.runtimes = None;
    insta::assert_snapshot!("runtimes_csv", csv::report(&results));
}

#[test]
fn csv_report_and_samples() {
    insta::assert_snapshot!("csv_report", csv::report(&fixture::example_results()));
    let mut samples = Vec::new();
    csv::samples(&fixture::example_raw(), &mut samples).unwrap();
    insta::assert_snapshot!("csv_samples", String::from_utf8(samples).unwrap());
}

#[test]
fn json_report() {
    let mut results = fixture::example_results();
    results.results.truncate(5);
    insta::assert_snapshot!("json_report", json::report(&results).unwrap());
    // What JSON cannot say must not break the document.
    results.results[0].cpu_ns_per_message = Some(f64::NAN);
    results.results[1].switches_per_operation = Some(f64::INFINITY);
    let out = json::report(&results).unwrap();
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema"], "hopcost/1");
    assert!(value["results"][0]["cpu_ns_per_message"].is_null());
    assert!(value["results"][1]["switches_per_operation"].is_null());
}

/// What is shown of a mechanism that is.
fn shown(facts: &hopcost_model::mechanism::Facts, format: Format) -> String {
    mechanisms::show(facts.name, Some(facts), &[], format).unwrap()
}

#[test]
fn mechanisms_listed_and_shown() {
    let list = |format| mechanisms::list(&facts::ALL, &facts::runtimes::all(), format);
    for facts in [&facts::PIPE, &facts::SYSCALL, &facts::POSIX_MQ] {
        insta::assert_snapshot!(format!("show_{}", facts.name), shown(facts, Format::Text(STYLE)));
    }
    insta::assert_snapshot!("mechanisms", list(Format::Text(STYLE)));
    insta::assert_snapshot!("mechanisms_json", list(Format::Json));
    insta::assert_snapshot!("mechanisms_markdown", list(Format::Markdown));
    insta::assert_snapshot!("mechanisms_reference", mechanisms::reference(&facts::ALL));
    insta::assert_snapshot!("show_pipe_json", shown(&facts::PIPE, Format::Json));
    insta::assert_snapshot!("show_pipe_markdown", shown(&facts::PIPE, Format::Markdown));
}

#[test]
fn mechanisms_shown_in_every_runtime_that_has_them() {
    let runtimes = facts::runtimes::all();
    let text = Format::Text(TextStyle::plain(80));
    for (name, format) in [("text", text), ("json", Format::Json), ("markdown", Format::Markdown)] {
        let show = |mechanism, facts| mechanisms::show(mechanism, facts, &runtimes, format);
        let pipe = show("pipe", Some(&facts::PIPE)).unwrap();
        insta::assert_snapshot!(format!("runtimes_show_pipe_{name}"), pipe);
        // Rust has not these, and has nothing to say of them.
        for mechanism in ["simple-queue", "pipe-asyncio", "mutex"] {
            let shown = show(mechanism, None).unwrap();
            assert!(!shown.contains('\x1b'), "{shown}");
            insta::assert_snapshot!(format!("runtimes_show_{mechanism}_{name}"), shown);
        }
        assert_eq!(show("no-such", None), None);
        assert!(show("syscall", Some(&facts::SYSCALL)).is_some());
    }
}

#[test]
fn where_no_worker_is_the_list_says_how_to_get_them() {
    for format in [Format::Text(TextStyle::plain(200)), Format::Markdown] {
        let list = mechanisms::list(&facts::ALL, &[], format);
        assert!(list.contains("scripts/setup workers"), "{list}");
    }
    assert!(mechanisms::list(&facts::ALL, &[], Format::Json).contains("\"runtimes\": []"));
}

#[test]
fn hidden_mechanisms_are_shown_only_by_name() {
    for format in [Format::Text(TextStyle::plain(100)), Format::Json, Format::Markdown] {
        assert!(!mechanisms::list(&facts::ALL, &[], format).contains("test engine"), "{format:?}");
        assert!(shown(&facts::SLEEP, format).contains("test engine"), "{format:?}");
    }
    assert!(!mechanisms::reference(&facts::ALL).contains("test engine"));
    // The page must be the same on every machine.
    assert!(!mechanisms::reference(&facts::ALL).contains("Function not implemented"));
}

#[test]
fn counts_are_of_what_the_mechanism_does() {
    use hopcost_model::case::Workload;
    let of = |workloads| {
        let facts = hopcost_model::mechanism::Facts { workloads, ..facts::PIPE };
        shown(&facts, Format::Markdown)
    };
    assert!(of(&[Workload::Stream]).contains("In one message, "));
    assert!(of(&[Workload::Wake]).contains("In one wake-up, "));
    assert!(of(&[Workload::Wake, Workload::Roundtrip]).contains("In one round trip, "));
}

#[test]
fn dry_run() {
    let example = fixture::example_plan();
    let text = plan::dry_run(&example, 64_200_000_000, &STYLE);
    insta::assert_snapshot!("dry_run", text);
    let json = plan::dry_run_json(&example, 64_200_000_000).unwrap();
    insta::assert_snapshot!("dry_run_json", json);
}
