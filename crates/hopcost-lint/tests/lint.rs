//! Tables with a fault that arithmetic can find, and as many without one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hopcost_lint::{CHECKS, Report, lint};

/// What is wrong in each faulty file: line and check, in order.
const FAULTS: &[(&str, &[(usize, &str)])] = &[
    // 430,262 / 10,000 is 43.0262, not 43.0300.
    ("threads-udp-websocket.md", &[(7, "total")]),
    // 43 ns wakes nobody.
    ("python-and-cpp.txt", &[(3, "floor")]),
    // 440,000 / 20,000 is 22, not 10 to 20.
    ("microkernel.md", &[(8, "ratio")]),
    // Sockets take 1.6 to 1.8 times as long as semaphores.
    ("wakeup.txt", &[(22, "sentence")]),
    // Delayed acknowledgement; rounded away; throughput of one thread; 1,200 times is no difference.
    ("copies.txt", &[(4, "timer"), (4, "zero"), (5, "little"), (18, "sentence"), (20, "sentence")]),
    (
        "distributions.csv",
        &[
            (3, "samples"),
            (3, "samples"),
            (4, "order"),
            (4, "mean"),
            (5, "mean"),
            (5, "stdev"),
            (6, "mean"),
            (7, "stdev"),
            (8, "stdev"),
        ],
    ),
    (
        "counters.md",
        &[(5, "zero"), (5, "floor"), (6, "zero"), (12, "switches"), (13, "zero"), (17, "constant")],
    ),
    ("floors.html", &[(5, "floor"), (6, "floor"), (7, "floor")]),
    ("sentences.md", &[(5, "digits"), (8, "sentence"), (8, "sentence"), (8, "sentence")]),
    ("ticks.csv", &[(2, "timer")]),
    (
        "sockperf.txt",
        &[
            (6, "mean"),
            (14, "order"),
            (23, "mean"),
            (23, "stdev"),
            // More received than sent, and a summary that is not the mean.
            (42, "order"),
            (45, "mean"),
        ],
    ),
    // 122.20 is not 1.03 + 820.40.
    ("fio.txt", &[(3, "mean"), (5, "mean"), (8, "order"), (14, "mean")]),
    ("criterion.txt", &[(2, "interval"), (5, "interval")]),
    // A number a line.
    ("pairs.txt", &[(4, "order")]),
    ("tidy.csv", &[(4, "order"), (5, "samples")]),
    ("intervals.csv", &[(3, "interval")]),
    // The multiples are of p50, and 12.0 / 5.0 is not 3.4.
    ("ratios.md", &[(5, "ratio"), (11, "ratio")]),
    (
        "totals.md",
        &[
            (3, "total"),
            (7, "total"),
            (9, "total"),
            (16, "total"),
            (23, "total"),
            (27, "total"),
            (31, "little"),
            (36, "little"),
        ],
    ),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn checked(file: &Path) -> Report {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    lint(&file.file_name().expect("a name").to_string_lossy(), &text, &[])
}

fn files(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn told(report: &Report) -> String {
    hopcost_lint::text(std::slice::from_ref(report))
}

#[test]
fn every_fault_is_found_and_nothing_else() {
    let expected: BTreeMap<&str, &[(usize, &str)]> = FAULTS.iter().copied().collect();
    assert_eq!(files("faulty").len(), expected.len());
    let mut checks: Vec<&str> = Vec::new();
    for file in files("faulty") {
        let report = checked(&file);
        let mut found: Vec<(usize, &str)> =
            report.findings.iter().map(|finding| (finding.line(), finding.check)).collect();
        let mut expected = expected[report.file.as_str()].to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", told(&report));
        checks.extend(found.iter().map(|(_, check)| check));
    }
    for check in CHECKS {
        assert!(checks.contains(&check.name), "{} finds nothing in any file", check.name);
    }
}

#[test]
fn clean_tables_and_the_outputs_of_tools_pass() {
    assert!(files("clean").len() >= files("faulty").len());
    for file in files("clean") {
        let report = checked(&file);
        assert!(report.findings.is_empty(), "{}", told(&report));
    }
    for name in [
        "threads-udp.md",
        "python.txt",
        "wakeup.csv",
        "copies.csv",
        "hyperfine.md",
        "hyperfine.csv",
        "sockperf.txt",
        "fio.txt",
        "criterion.txt",
        "criterion.csv",
        "tidy.csv",
        "hopcost.csv",
        "rusty-comms.csv",
        "rusty-comms.txt",
        "wide-area.md",
        "ratios.md",
        "totals.md",
        "nested.html",
        "hopcost.md",
    ] {
        assert!(!checked(&folder("clean").join(name)).tables.is_empty(), "{name} was not read");
    }
}

#[test]
fn what_is_wrong_stands_in_three_lines_with_its_cells_and_arithmetic() {
    let report = checked(&folder("faulty").join("threads-udp-websocket.md"));
    assert_eq!(
        told(&report).lines().take(3).collect::<Vec<_>>(),
        [
            "threads-udp-websocket.md:7: total: WebSocket Strict RTT: Avg Latency (μs): 43.0300; Total Time (μs): 430,262",
            "    430,262 ÷ 10000 = 43.0262, 43.0261 to 43.0263 with rounding, and not 43.0300",
            "    the two are not of the same run, or n is another in this row, or one was typed by hand",
        ]
    );
    let markdown = hopcost_lint::markdown(std::slice::from_ref(&report));
    assert!(markdown.contains("| 7 | total | WebSocket Strict RTT: Avg Latency"), "{markdown}");
    let json = hopcost_lint::json(std::slice::from_ref(&report));
    assert!(json.contains("\"check\": \"total\"") && json.contains("\"line\": 7"), "{json}");
}

#[test]
fn a_column_is_what_the_user_says() {
    let text = "name,a,b\nx,10,12\ny,20,15\n";
    assert!(lint("t.csv", text, &[]).tables.is_empty());
    let said = ["a=median:us", "b=p99:us"].map(|text| text.parse().expect("a column"));
    let report = lint("t.csv", text, &said);
    assert_eq!(report.findings.len(), 1, "{}", told(&report));
    assert_eq!((report.findings[0].line(), report.findings[0].check), (3, "order"));
    for wrong in ["a", "a=fast", "a=p99:parsec"] {
        assert!(wrong.parse::<hopcost_lint::Said>().is_err(), "{wrong}");
    }
}

#[test]
fn what_a_program_writes_to_stdin_is_read_as_csv() {
    let text = std::fs::read_to_string(folder("clean").join("hopcost.csv")).expect("a file");
    let report = lint("-", &text, &[]);
    assert_eq!((report.tables.len(), report.findings.len()), (1, 0), "{}", told(&report));
    assert!(lint("-", "In short, of all, a\nand b, c, d.\n", &[]).tables.is_empty());
}

#[test]
fn nothing_that_a_table_says_reaches_a_terminal_unescaped() {
    let text = "name\u{1b}[2J,min_us \u{1b}[1m,max_us\u{202e},mean_us\nx\u{7},9,2,3 \u{1b}[2J\n";
    let said = ["min_us \u{1b}[1m=min", "max_us\u{202e}=max"];
    let said = said.map(|said| said.parse().expect("a column"));
    let report = lint("t\u{1b}.csv", text, &said);
    let found: Vec<&str> = report.findings.iter().map(|finding| finding.check).collect();
    assert_eq!(found, ["mean"]);
    let out = told(&report);
    assert!(out.chars().all(|c| c == '\n' || hopcost_model::text::is_plain(c)), "{out:?}");
}

#[test]
fn what_sockperf_says_of_itself_names_no_row() {
    let report = checked(&folder("faulty").join("sockperf.txt"));
    let rows = report.findings.iter().flat_map(|finding| &finding.cells).map(|cell| &cell.row);
    assert!(rows.clone().count() > 0);
    for row in rows {
        assert!(!row.contains("send on:") && !row.contains("IP ="), "{row}");
    }
}

/// A text of some 100,000 parts that was quadratic is read at once, also by a slow machine.
fn at_once(name: &str, text: &str) -> Report {
    let from = std::time::Instant::now();
    let report = lint(name, text, &[]);
    told(&report);
    assert!(from.elapsed().as_secs() < 60, "{name}: {:?}", from.elapsed());
    report
}

#[test]
fn a_quotation_mark_that_is_never_closed_is_told_of() {
    let text = "name,mean_us\na,1\n\"b,2\n".to_owned() + &"c,3\n".repeat(300_000);
    let report = at_once("t.csv", &text);
    assert!(
        told(&report).contains("a quotation mark in line 3 is never closed"),
        "{:?}",
        report.notes
    );
    assert_eq!(report.tables[0].rows, 1);
    // Ends of lines in a field are none of this.
    assert!(lint("t.csv", "name,mean_us\n\"a\n\nb\",1\n", &[]).notes.is_empty());
}

#[test]
fn blank_lines_are_read_at_once() {
    at_once("t.txt", &"\n".repeat(300_000));
}

#[test]
fn more_cells_than_the_limit_are_refused() {
    let wide = "<tr><td colspan=100 rowspan=100>1</td></tr>".repeat(3_000);
    let report = at_once("t.html", &format!("<table><tr><th>mean us</th></tr>{wide}</table>"));
    assert!(told(&report).contains("more than 400000 cells"), "{:?}", report.notes);
    let text = "mean_us,".repeat(10_000) + "\n" + &"1\n".repeat(10_000);
    assert_eq!(at_once("t.csv", &text).notes.len(), 1);
}

#[test]
fn sentences_with_many_rows_are_not_compared() {
    let rows: String = (0..2_000).map(|row| format!("| row{row} | {row} |\n")).collect();
    let text = "row1 is 2.7 times slower than row2.\n".repeat(1_000);
    let report = at_once("t.md", &format!("| name | mean us |\n|---|---|\n{rows}\n{text}"));
    assert!(report.notes.iter().any(|note| note.contains("no sentence")), "{:?}", report.notes);
}

#[test]
fn tables_that_are_too_wide_or_all_wrong_are_told_of_at_once() {
    let text = "mean_us,".repeat(300) + "\n" + &"1,".repeat(300);
    let report = at_once("t.csv", &text);
    assert!(report.notes[0].contains("has 301 columns, the limit is 200"), "{:?}", report.notes);
    let text = "name,min_us,max_us,mean_us\n".to_owned() + &"a,9,2,5\n".repeat(40_000);
    at_once("t.csv", &text);
}

#[test]
fn a_multiple_is_shown_as_the_quotient_of_what_is_printed() {
    let text = "| name | mean us | ratio |\n|---|---|---|\n| a | 3.0 | 1 |\n| b | 8.0 | 4.2 |\n| c | 6.0 | 2.0 |\n";
    let report = lint("t.md", text, &[]);
    let out = told(&report);
    assert!(out.contains("8.0 against 3.0 is 2.667, 2.548 to 2.793 with rounding"), "{out}");
}
