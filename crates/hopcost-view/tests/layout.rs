//! What must hold of every text, whatever the results.

mod stored;

use hopcost_read::results::{LadderGroup, Results, Statistic};
use hopcost_view::answer::{Answer, Content};
use hopcost_view::text::{Charset, Color, TextStyle};
use stored::{RUNS, judged, results, shown, with_texts, worn};
use unicode_width::UnicodeWidthStr;

fn styles() -> impl Iterator<Item = TextStyle> {
    [80, 97, 200].into_iter().flat_map(|width| {
        [Charset::Unicode, Charset::Ascii].map(|charset| TextStyle {
            width,
            color: Color::Plain,
            charset,
        })
    })
}

fn empty() -> Results {
    let mut results = worn();
    results.results.clear();
    results.ladder.clear();
    results.findings.clear();
    results.remarks.clear();
    results.clocks.clear();
    results.plan.cpus.clear();
    results
}

#[test]
fn no_line_is_wider_than_the_terminal_and_ascii_is_ascii() {
    let judged = with_texts(&judged(), "sentence because check", &"文字 are wide; ".repeat(9));
    for (name, results) in [("worn", &worn()), ("empty", &empty()), ("judged", &judged)] {
        for style in styles() {
            check(name, &shown(results).text(true, &style), &style);
            check(name, &shown(results).text(false, &style), &style);
        }
    }
    for suite in RUNS {
        let results = results(suite);
        for style in styles() {
            check(suite, &shown(&results).text(true, &style), &style);
            check(suite, &shown(&results).text(false, &style), &style);
        }
    }
}

#[test]
fn the_answer_is_one_screen() {
    for suite in RUNS {
        let most = if suite == "ladder" { 42 } else { 60 };
        let lines = shown(&results(suite)).text(false, &TextStyle::plain(100)).lines().count();
        assert!(lines <= most, "{suite}: {lines} lines");
    }
}

#[test]
fn round_trips_in_batches_stand_in_the_table_of_their_size() {
    let mut results = results("ladder");
    let is_bare = |group: &&LadderGroup| group.title.contains("bare notification");
    let mut batched = results.ladder.iter().find(is_bare).unwrap().clone();
    (batched.batched, batched.title) = (true, "round trip, spinning, in batches".to_owned());
    batched.rows.truncate(1);
    batched.rows[0].label = "in-batches".to_owned();
    batched.rankings.iter_mut().for_each(|of| of.cases.retain(|case| case.row == 0));
    results.ladder.insert(1, batched);
    let shown = shown(&results).text(false, &TextStyle::plain(100));
    let row: Vec<&str> = shown.lines().filter(|line| line.contains("in-batches")).collect();
    // Its own rank and multiple are of other cases.
    assert!(matches!(row[..], [row] if row.contains("spinning                   *  ")), "{shown}");
    assert!(!shown.contains("spinning, in batches"), "{shown}");
}

/// Where texts of the sections are that somebody else may have written.
const TEXTS: &str = "case command conclusion event evidence label meaning mechanism missing name \
                     notes reason refused remarks replay sentence timed title version";

/// The sections with names, reasons and numbers that nobody expected.
fn hostile(of: &Results) -> Results {
    let long = "文字 ".repeat(30) + "\x1b[2J|<b>\nend" + &"x".repeat(120);
    let mut results = with_texts(of, TEXTS, &long);
    for case in &mut results.results {
        case.case.parameters.insert(long.clone(), long.clone());
        case.lost = u64::MAX;
        for counter in &mut case.counters {
            counter.unavailable = Some(long.clone());
        }
        if let Some(stream) = &mut case.stream {
            stream.copied_share = Some(f64::NAN);
            stream.messages_per_s = Some(f64::INFINITY);
        }
        if let Some(wake) = &mut case.wake {
            wake.gap_asked_ns = u64::MAX;
            wake.gap_found_ns = Some(f64::NAN);
            wake.clock_bound_ns = Some(1e300);
        }
        let Some(estimates) = &mut case.estimates else { continue };
        estimates.set_exact(Statistic::Max, f64::NAN);
        for statistic in [Statistic::Cost, Statistic::P50, Statistic::P99] {
            let Some(e) = estimates.get_mut(statistic) else { continue };
            e.digits = 200;
            e.point = e.point.map(|ns| ns * 1e15);
        }
    }
    for worker in &mut results.workers {
        worker.libraries.insert(long.clone(), long.clone());
        worker.remarks.push(long.clone());
    }
    for thread in results.results.iter_mut().flat_map(|case| &mut case.threads) {
        thread.threads = u32::MAX;
        thread.switches_per_operation = f64::NAN;
        thread.cpu_ns_per_operation = f64::INFINITY;
    }
    for table in &mut results.published {
        for row in &mut table.rows {
            row.note = Some(long.clone());
            row.unit = long.clone();
        }
    }
    results
}

#[test]
fn hostile_results_neither_command_the_terminal_nor_break_a_document() {
    let stored = RUNS.map(|suite| (suite, results(suite)));
    for (suite, results) in stored.into_iter().chain([("worn", worn())]) {
        let results = hostile(&results);
        for style in styles() {
            let out = shown(&results).text(true, &style);
            assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{suite}");
            assert!(style.charset == Charset::Unicode || out.is_ascii(), "{suite}");
            assert!(!out.contains("NaN") && !out.contains("inf "), "{suite}:\n{out}");
        }
        documents(&results);
    }
}

#[test]
fn a_column_that_does_not_fit_is_below_its_row_and_never_gone() {
    for suite in RUNS {
        let results = results(suite);
        let words = |width| {
            let out = shown(&results).text(true, &TextStyle::plain(width));
            let numbers = out.split(|c: char| c.is_whitespace() || "[],".contains(c));
            let numbers = numbers.filter(|w| w.starts_with(|c: char| c.is_ascii_digit()));
            numbers.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        let (wide, narrow) = (words(200), words(80));
        let lost: Vec<_> = wide.difference(&narrow).collect();
        assert!(lost.is_empty(), "{suite}: {lost:?}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let results = worn();
    for style in styles() {
        let plain = shown(&results).text(true, &style);
        let painted = shown(&results).text(true, &TextStyle { color: Color::Ansi, ..style });
        assert!(painted.contains('\x1b'));
        let stripped: Vec<String> =
            strip(&painted).lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(stripped, plain.lines().collect::<Vec<_>>());
    }
}

fn strip(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('m').expect("only SGR sequences");
        assert!(code[1..].bytes().all(|b| b.is_ascii_digit()), "{code}");
        out.push_str(rest);
    }
    out
}

/// How lines begin that hold something to be pasted.
const PASTED: [&str; 4] = ["Stored in", "As a page", "Command that made this run", "Replay"];

fn check(name: &str, out: &str, style: &TextStyle) {
    // What is there to be pasted is never broken.
    let pasted = |line: &&str| PASTED.iter().any(|p| line.trim_start().starts_with(p));
    for line in out.lines().filter(|line| !pasted(line)) {
        assert!(line.width() <= style.width, "{name}, {style:?}, {}: {line}", line.width());
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
    }
    assert!(style.charset == Charset::Unicode || out.is_ascii(), "{name}: not ASCII:\n{out}");
    assert!(!out.contains("NaN") && !out.contains("inf "), "{name}");
}

fn documents(results: &Results) {
    let markdown = shown(results).markdown();
    assert!(markdown.chars().all(|c| c == '\n' || !c.is_control()));
    // A table whose rows differ in their number of cells is not one.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    for pair in markdown.lines().collect::<Vec<_>>().windows(2) {
        if pair.iter().all(|line| line.starts_with('|')) {
            assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:#?}");
        }
    }
    let answer = Answer::of_run(results);
    assert!(!answer.csv(None).unwrap().contains("NaN") && !answer.json().contains("NaN"));
}
