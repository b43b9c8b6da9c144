//! Every output format on stored runs, as stored snapshots. After a change of
//! output, run with INSTA_UPDATE=always and read the difference as a sceptic.

mod facts;
mod stored;

use hopcost_model::Mechanism;
use hopcost_read::results::{Judged, Results};
use hopcost_view::StoredRun;
use hopcost_view::answer::{Answer, Content};
use hopcost_view::mechanisms;
use hopcost_view::text::{Stored, TextStyle};
use hopcost_view::{csv, plan};
use stored::{judged, results, shown, worn};

const STORED: Stored<'static> = Stored {
    path: "/home/ada/.local/share/hopcost/runs/20250314-092653-7f3a.hopcost",
    show_command: "hopcost report 20250314-092653-7f3a",
};

/// One style a format: `layout.rs` holds the others against this one.
const STYLE: TextStyle = TextStyle::plain(100);

fn stored_run(results: &Results) -> StoredRun<'_> {
    StoredRun { stored: Some(STORED), ..shown(results) }
}

/// The run on one screen.
fn answer(results: &Results) -> String {
    stored_run(results).text(false, &STYLE)
}

/// The lines from the one that begins so.
fn lines(out: &str, from: &str, count: usize) -> String {
    let lines = out.lines().skip_while(|line| !line.starts_with(from)).take(count);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn answers() {
    insta::assert_snapshot!("answer_worn", answer(&worn()));
    insta::assert_snapshot!("sentences", shown(&results("quick")).sentences());
    for run in ["threads-udp-websocket", "wakeup", "copies", "runtimes"] {
        let out = answer(&results(run));
        insta::assert_snapshot!(format!("answer_{run}"), out);
    }
}

#[test]
fn details() {
    insta::assert_snapshot!("text_worn", stored_run(&worn()).text(true, &STYLE));
}

#[test]
fn markdown_of_what_is_not_in_every_run() {
    insta::assert_snapshot!("markdown_worn", lines(&shown(&worn()).markdown(), "", 120));
    for (run, from) in [("wakeup", "## Wake"), ("copies", "## Stream"), ("runtimes", "### ")] {
        let out = shown(&results(run)).markdown();
        insta::assert_snapshot!(format!("markdown_{run}"), lines(&out, from, 60));
    }
}

#[test]
fn verdicts_on_claims() {
    let judged = judged();
    insta::assert_snapshot!("judged_answer", answer(&judged));
    let markdown = shown(&judged).markdown();
    insta::assert_snapshot!("judged_markdown", lines(&markdown, "## Which claims hold", 90));
    insta::assert_snapshot!("judged_sentences", shown(&judged).sentences());
    let mut none = judged.clone();
    none.judged = Some(Judged::default());
    let said = answer(&none);
    assert!(said.contains("No claim: the run has no claims file that"), "{said}");
}

#[test]
fn csv_of_results_and_samples() {
    let out = Answer::of_run(&worn()).csv(None).unwrap();
    insta::assert_snapshot!("csv_worn", lines(&out, "", 20));
    let mut raw = stored::raw("quick");
    raw.trials.truncate(2);
    raw.trials.iter_mut().for_each(|trial| trial.samples.truncate(4));
    insta::assert_snapshot!("csv_samples", csv::samples(&raw));
}

#[test]
fn json_report() {
    let mut results = worn();
    results.results.truncate(5);
    for case in &mut results.results {
        case.trials.truncate(1);
        case.curve.truncate(1);
    }
    results.results.drain(1..4);
    results.host.readings.truncate(2);
    results.findings.truncate(2);
    results.ladder.truncate(1);
    results.ladder[0].rows.truncate(1);
    results.published.iter_mut().for_each(|table| table.rows.truncate(1));
    insta::assert_snapshot!("json_report", Answer::of_run(&results).json());
}

#[test]
fn mechanisms_listed_and_shown() {
    let (all, runtimes) = (facts::all(), facts::runtimes());
    let list = mechanisms::list(&all, &runtimes);
    insta::assert_snapshot!("mechanisms", list.text(&STYLE));
    insta::assert_snapshot!("mechanisms_reference", mechanisms::reference(&all));
    // The page must be the same on every machine.
    assert!(!mechanisms::reference(&all).contains("Function not implemented"));
    let show = |name: &str, facts: Option<&Mechanism>| mechanisms::show(name, facts, &runtimes);
    let posix = show("posix-mq", Some(&facts::of("posix-mq"))).unwrap();
    insta::assert_snapshot!("show_posix-mq", posix.text(&STYLE));
    let pipe = facts::of("pipe");
    let shown = show("pipe", Some(&pipe)).unwrap();
    let narrow = TextStyle::plain(80);
    insta::assert_snapshot!("runtimes_show_pipe_text", shown.text(&narrow));
    // Rust has not these, and has nothing to say of them.
    for mechanism in ["simple-queue", "pipe-asyncio", "mutex"] {
        let shown = show(mechanism, None).unwrap();
        assert!(shown.text(&narrow).starts_with(&format!("{mechanism}\n")), "{mechanism}");
    }
    assert!(show("no-such", None).is_none());
    // Hidden ones are shown only by name.
    let hidden = "asleep for a duration";
    assert!(
        !mechanisms::json(&all, &runtimes).contains(hidden) && !list.text(&STYLE).contains(hidden)
    );
    assert!(show("sleep", Some(&facts::of("sleep"))).unwrap().text(&STYLE).contains(hidden));
}

#[test]
fn dry_run() {
    let example = stored::raw("quick").plan;
    let text = plan::dry_run(&example, 64_200_000_000).text(&STYLE);
    insta::assert_snapshot!("dry_run", text);
    let json = plan::dry_run_json(&example, 64_200_000_000);
    insta::assert_snapshot!("dry_run_json", json);
}
