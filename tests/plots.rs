//! What `hopcost report` makes of streams beside a document: files of plots.

use std::fs;

use crate::support::{Home, measured, stderr};

#[test]
fn a_run_writes_what_a_report_writes_and_the_published_table_has_a_row_a_case() {
    let home = Home::alone();
    let cases = "stream/tcp-sendmsg?field=64,256&flows=1&place=free&ack-size=field";
    let small = ["run", cases, "--rounds", "1", "--measure", "5ms"];
    let written = ["--plots", "deep/plots", "--html", "page.html", "--output", "text"];
    assert_eq!(home.expect(&[&small[..], &written].concat(), measured()), "", "it is in a file");
    let read = |file: &str| fs::read_to_string(home.path().join(file)).expect("it was written");
    assert!(read("text").contains("tcp-sendmsg"));
    assert!(read("page.html").to_lowercase().starts_with("<!doctype html>"));
    let plot = "deep/plots/stream-payload-throughput.svg";
    let first = read(plot);
    assert!(first.starts_with("<svg "));
    fs::write(home.path().join(plot), "old").expect("to write");

    let output = home.run(&["report", "--plots", "deep/plots", "--html"]);
    let said = stderr(&output);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{said}");
    assert_eq!(read(plot), first);
    let files = fs::read_dir(home.path().join("deep/plots")).expect("the directory").count();
    assert_eq!(said.lines().count(), files + 1, "one line a file: {said}");
    let mut named = said.lines().filter_map(|line| line.strip_prefix("wrote "));
    let page = named.find(|name| name.ends_with(".html")).expect("a page");
    assert!(page.starts_with("hopcost-"), "{said}");
    assert_eq!(read(page), read("page.html"));

    let table = home.expect(&["report", "--format", "csv", "--layout", "document"], 0);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    for (line, start) in lines.iter().zip(["impl,msg_size,", "A2,64,1,", "A2,256,1,"]) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn any_percentile_is_shown_as_far_as_the_samples_support_it() {
    let home = Home::alone();
    let case = "roundtrip/known:ramp?place=same-cpu";
    home.run(&["run", case, "--rounds", "6", "--measure", "8ms"]);
    let report = |more: &[&str]| {
        home.expect(&[&["report", "--percentiles", "75,99,99.999"], more].concat(), 0)
    };
    let text = report(&[]);
    assert!(text.contains("p75") && text.contains("insufficient"), "{text}");
    let csv = report(&["--format", "csv"]);
    let rows = |statistic: &str| {
        let rows = csv.lines().filter(|line| line.contains(&format!(",{statistic},ns,")));
        rows.map(|row| row.split(',').nth(3).expect("a point").to_owned()).collect::<Vec<_>>()
    };
    for (statistic, known, most) in [
        ("p50_ns", 1000.0, 20.0),
        ("p75_ns", 1500.0, 10.0),
        ("p99_ns", 1980.0, 5.0),
        ("min_ns", 1.0, 0.0),
        ("max_ns", 2000.0, 0.0),
    ] {
        let point: f64 = rows(statistic)[0].parse().expect("a number");
        assert!((point - known).abs() <= most, "{statistic}: {point}");
    }
    assert_eq!((rows("p99_ns").len(), &rows("p99.999_ns")[..]), (1, &[String::new()][..]));
    home.refuses(&["report", "--samples"], 2, "--samples goes with --format csv");
    let layout = ["report", "--format", "csv", "--layout", "document"];
    home.refuses(&layout, 2, "no measured case");
}
