//! What must hold of every text, whatever the results.

use hopcost_model::results::Results;
use hopcost_view::fixture;
use hopcost_view::text::{self, Charset, Color, TextStyle};
use unicode_width::UnicodeWidthStr;

fn styles() -> impl Iterator<Item = TextStyle> {
    [80, 81, 99, 100, 101, 120, 200].into_iter().flat_map(|width| {
        [Charset::Unicode, Charset::Ascii].map(|charset| TextStyle {
            width,
            color: Color::Plain,
            charset,
        })
    })
}

/// The example with names and reasons that nobody expected.
fn hostile() -> Results {
    let mut results = fixture::example_results();
    let long = "文字".repeat(40) + "\x1b[2J\nend";
    for group in &mut results.ladder {
        group.title = long.clone();
        for row in &mut group.rows {
            row.label = format!("{}{long}", row.label);
            row.wait = row.wait.as_ref().map(|_| "spin-then-block:spin-then-block".to_owned());
        }
    }
    for result in &mut results.results {
        result.reason = result.reason.as_ref().map(|_| long.clone());
        result.n_trials *= 1000;
        let Some(estimates) = &mut result.estimates else { continue };
        for estimate in [&mut estimates.cost_ns, &mut estimates.p50_ns, &mut estimates.p99_ns] {
            let Some(estimate) = estimate else { continue };
            estimate.digits = 200;
            estimate.point = estimate.point.map(|ns| ns * 1e9);
            estimate.high = estimate.high.map(|ns| ns * 1e12);
        }
    }
    results.remarks.push(long.clone());
    for finding in &mut results.findings {
        finding.evidence = long.clone();
    }
    results.command = long.clone();
    results.about.version = long;
    results
}

fn empty() -> Results {
    let mut results = fixture::example_results();
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
    let (example, cut_off) = (fixture::example_results(), fixture::example_cut_off());
    for (name, results) in [("example", &example), ("cut off", &cut_off), ("empty", &empty())] {
        for style in styles() {
            check(name, &text::ladder(results, None, &style), &style);
        }
    }
}

#[test]
fn hostile_results_neither_command_the_terminal_nor_break_narrow_columns() {
    let results = hostile();
    for style in styles() {
        let out = text::ladder(&results, None, &style);
        assert!(out.chars().all(|c| c == '\n' || !c.is_control()));
        assert!(style.charset == Charset::Unicode || out.is_ascii());
        // Numbers this absurd may need more than 80 columns; prose never does.
        if style.width >= 100 {
            check("hostile", &out, &style);
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let results = fixture::example_results();
    for style in styles() {
        let plain = text::ladder(&results, None, &style);
        let painted = text::ladder(&results, None, &TextStyle { color: Color::Ansi, ..style });
        assert!(painted.contains('\x1b'));
        let stripped: Vec<String> =
            strip(&painted).lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(stripped, plain.lines().collect::<Vec<_>>());
    }
}

/// Calls with parameters in their labels, a multiple and wide intervals.
fn crowded_calls() -> Results {
    let mut results = fixture::example_results();
    results.ladder.retain(|group| group.rows.iter().all(|row| row.wait.is_none()));
    let ratio = results.results.iter().find_map(|r| r.ratio.clone());
    for row in &mut results.ladder[0].rows {
        row.label.push_str(" 65536 B, mode=something");
    }
    for result in &mut results.results {
        result.ratio = ratio.clone();
        result.n_failed = 3;
        if let Some(cost) = result.estimates.as_mut().and_then(|e| e.cost_ns.as_mut()) {
            cost.digits = 4;
            cost.high = cost.high.map(|ns| ns * 40.0);
        }
    }
    results
}

#[test]
fn bars_too_short_to_differ_are_left_out() {
    let results = crowded_calls();
    for style in styles() {
        let out = text::ladder(&results, None, &style);
        check("calls", &out, &style);
        let table = || out.lines().skip_while(|line| !line.starts_with("mechanism"));
        let has_bars = table().next().is_some_and(|head| head.ends_with("  bar"));
        assert_eq!(has_bars, style.width >= 120, "{out}");
        assert_eq!(out.contains("Bars: "), has_bars, "{out}");
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

fn check(name: &str, out: &str, style: &TextStyle) {
    // What is there to be pasted is never broken.
    let pasted =
        |line: &&str| ["Stored in", "Report:", "Repeat:"].iter().any(|p| line.starts_with(p));
    for line in out.lines().filter(|line| !pasted(line)) {
        assert!(line.width() <= style.width, "{name}, {style:?}, {}: {line}", line.width());
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
    }
    assert!(style.charset == Charset::Unicode || out.is_ascii(), "{name}: not ASCII:\n{out}");
    assert!(!out.contains("NaN") && !out.contains("inf "), "{name}");
}

#[test]
fn hostile_results_break_no_document() {
    let results = hostile();
    let markdown = hopcost_view::markdown::report(&results);
    assert!(markdown.chars().all(|c| c == '\n' || !c.is_control()));
    // A table whose rows differ in their number of cells is not one.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    for pair in markdown.lines().collect::<Vec<_>>().windows(2) {
        if pair.iter().all(|line| line.starts_with('|')) {
            assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:#?}");
        }
    }
    assert!(!hopcost_view::csv::report(&results).contains("NaN"));
    assert!(hopcost_view::json::report(&results).is_ok());
}
