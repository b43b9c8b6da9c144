//! Every output format on the fixture, as stored snapshots. After a change of
//! output, run with INSTA_UPDATE=always and read the difference as a sceptic.

mod facts;

use hopcost_view::fixture;
use hopcost_view::mechanisms::{self, Format};
use hopcost_view::text::{self, Charset, Color, Stored, TextStyle};
use hopcost_view::{csv, document, json, markdown, plan};

const STORED: Stored<'static> = Stored {
    path: "/home/ada/.local/share/hopcost/runs/20250314-092653-7f3a.hopcost",
    report_command: "hopcost report 20250314-092653-7f3a --format html > report.html",
};

const COLOURED: TextStyle = TextStyle { width: 100, color: Color::Ansi, charset: Charset::Unicode };

const SUITES: [&str; 5] = ["wakeup", "copies", "threads-udp-websocket", "microkernel", "runtimes"];

fn styles() -> impl Iterator<Item = (String, TextStyle)> {
    [80, 100].into_iter().flat_map(|width| {
        [(Charset::Unicode, "unicode"), (Charset::Ascii, "ascii")].map(|(charset, name)| {
            (format!("{width}_{name}"), TextStyle { width, color: Color::Plain, charset })
        })
    })
}

#[test]
fn ladder() {
    let results = fixture::example_results();
    for (name, style) in styles() {
        let out = text::ladder(&results, Some(STORED), &style);
        insta::assert_snapshot!(format!("ladder_{name}"), out);
    }
    let wide = text::ladder(&results, Some(STORED), &TextStyle::plain(140));
    insta::assert_snapshot!("ladder_140_unicode", wide);
    // Escape sequences as `\u{1b}`, so that the snapshot can be read.
    let coloured = text::ladder(&results, Some(STORED), &COLOURED).replace('\x1b', "\\e");
    insta::assert_snapshot!("ladder_100_colour", coloured);
}

#[test]
fn ladder_of_a_run_cut_off() {
    let out = text::ladder(&fixture::example_cut_off(), None, &TextStyle::plain(100));
    insta::assert_snapshot!("ladder_cut_off", out);
}

/// What the suites have beside the ladder, without the lines that it has too.
#[test]
fn sections_of_the_suites() {
    for suite in SUITES {
        let results = fixture::example(suite);
        for (name, style) in styles() {
            let out = text::ladder(&results, None, &style);
            let (sections, _) = out.split_once("\nWhat of this machine").unwrap();
            insta::assert_snapshot!(format!("{suite}_{name}"), sections);
        }
        let out = markdown::report(&results);
        let (sections, _) = out.split_once("## How to read this").unwrap();
        insta::assert_snapshot!(format!("{suite}_markdown"), sections);
    }
    let coloured = text::ladder(&fixture::example_runtimes(), None, &COLOURED);
    let (coloured, _) = coloured.split_once("What a multiple is of").unwrap();
    insta::assert_snapshot!("runtimes_100_colour", coloured.replace('\x1b', "\\e"));
    let coloured = text::ladder(&fixture::example_wakeup(), None, &COLOURED);
    insta::assert_snapshot!("wakeup_100_colour", coloured.replace('\x1b', "\\e"));
    // A machine without counters says so once, and shows no number.
    let out = text::ladder(&fixture::example_microkernel(false), None, &TextStyle::plain(100));
    let (sections, _) = out.split_once("\nFixed").unwrap();
    insta::assert_snapshot!("microkernel_no_pmu", sections);
}

#[test]
fn csv_of_the_suites() {
    let mut results = fixture::example_copies();
    results.results.truncate(3);
    insta::assert_snapshot!("copies_csv", csv::report(&results));
    insta::assert_snapshot!(
        "copies_document",
        document::table(&fixture::example_copies()).unwrap()
    );
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
fn markdown_report() {
    insta::assert_snapshot!("markdown", markdown::report(&fixture::example_results()));
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
    for (name, style) in styles() {
        let list = mechanisms::list(&facts::ALL, &facts::runtimes::all(), Format::Text(style));
        insta::assert_snapshot!(format!("mechanisms_{name}"), list);
        for facts in [&facts::PIPE, &facts::SYSCALL] {
            let show = shown(facts, Format::Text(style));
            insta::assert_snapshot!(format!("show_{}_{name}", facts.name), show);
        }
    }
    let list = |format| mechanisms::list(&facts::ALL, &facts::runtimes::all(), format);
    let coloured = list(Format::Text(COLOURED)).replace('\x1b', "\\e");
    insta::assert_snapshot!("mechanisms_100_colour", coloured);
    let unavailable = shown(&facts::POSIX_MQ, Format::Text(TextStyle::plain(100)));
    insta::assert_snapshot!("show_posix-mq_100_unicode", unavailable);
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
    for (name, style) in styles() {
        insta::assert_snapshot!(
            format!("dry_run_{name}"),
            plan::dry_run(&example, 64_200_000_000, &style)
        );
    }
    let json = plan::dry_run_json(&example, 64_200_000_000).unwrap();
    insta::assert_snapshot!("dry_run_json", json);
}
