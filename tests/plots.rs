//! What `hopcost report` makes of streams beside a document: files of plots.

use std::fs;

use crate::support::{Home, alone, measured};

/// A small run of two field sizes, which is something swept.
fn swept(home: &Home) {
    let _alone = alone();
    let cases = "stream/tcp-sendmsg?field=64,256&flows=1&ack=per-message&boundary=process\
                 &place=free&wait=block";
    let output = home.run(&["run", cases, "--rounds", "1", "--measure", "5ms"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(measured()), "{stderr}");
}

#[test]
fn plots_are_written_as_files_and_named() {
    let home = Home::new();
    swept(&home);
    let directory = home.path().join("deep/plots");
    let directory = directory.to_str().expect("UTF-8");
    let output = home.run(&["report", "--plots", directory]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(output.stdout.is_empty(), "stdout belongs to documents");
    let mut files: Vec<_> = fs::read_dir(directory)
        .expect("the directory was made")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.iter().any(|file| file.ends_with("stream-payload-throughput.svg")), "{files:?}");
    assert_eq!(stderr.lines().count(), files.len(), "one line a file: {stderr}");
    for file in &files {
        assert!(stderr.contains(&format!("wrote {}", file.display())), "{stderr}");
        let start = fs::read(file).expect("a file");
        assert!(file.extension().is_some_and(|ending| ending == "svg"), "{file:?}");
        assert!(start.starts_with(b"<svg "), "{file:?}");
    }
    // As with --output, what is there is replaced; and no half-written file is left.
    let first = fs::read(&files[0]).expect("a file");
    fs::write(&files[0], "old").expect("to write");
    home.expect(&["report", "--plots", directory], 0);
    assert_eq!(fs::read(&files[0]).expect("a file"), first);
    assert_eq!(fs::read_dir(directory).expect("the directory").count(), files.len());
}

#[test]
fn a_run_writes_what_a_report_writes() {
    let _alone = alone();
    let home = Home::new();
    let cases = "stream/tcp-sendmsg?field=64,256&flows=1&place=free";
    let small = ["run", cases, "--rounds", "1", "--measure", "5ms"];
    let written = ["--plots", "plots", "--html", "page.html", "--output", "text"];
    let output = home.run(&[&small[..], &written].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(measured()), "{stderr}");
    assert!(output.stdout.is_empty(), "the text is in a file");
    let read = |file: &str| fs::read_to_string(home.path().join(file)).expect("it was written");
    assert!(read("text").contains("tcp-sendmsg"));
    assert!(read("page.html").to_lowercase().starts_with("<!doctype html>"));
    assert!(read("plots/stream-payload-throughput.svg").starts_with("<svg "));

    let output = home.run(&["report", "--html"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(output.stdout.is_empty(), "{stderr}");
    let unnamed = stderr.lines().find_map(|line| line.strip_prefix("wrote ")).expect("a line");
    assert!(unnamed.starts_with("hopcost-") && unnamed.ends_with(".html"), "{stderr}");
    assert_eq!(read(unnamed), read("page.html"));
}

#[test]
fn the_published_layout_has_its_header_and_a_row_a_case() {
    let home = Home::new();
    swept(&home);
    let table = home.expect(&["report", "--format", "csv", "--layout", "document"], 0);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "impl,msg_size,threads,throughput_gbps,latency_us,cycles,instructions,cache_misses,\
         context_switches,aggregate_gbps"
    );
    assert_eq!(lines.len(), 3, "{table}");
    for (line, start) in lines[1..].iter().zip(["A2,64,1,", "A2,256,1,"]) {
        assert!(line.starts_with(start), "{line}");
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        assert!(number(3) > 0.0 && number(4) > 0.0 && number(9) > 0.0, "{line}");
        assert!(cells[5..9].iter().all(|cell| cell.is_empty() || cell.parse::<u64>().is_ok()));
    }
}

#[test]
fn one_case_has_its_trials_and_cases_of_two_kinds_stand_beside_each_other() {
    let _alone = alone();
    let home = Home::new();
    let engine = |what: &str| format!("{what}?clock=virtual&place=same-cpu");
    let (one, other) = (engine("roundtrip/sleep:1us"), engine("roundtrip/spin:4000"));
    for (cases, file) in [(vec![&one], "trials-0"), (vec![&one, &other], "")] {
        let mut words = vec!["run", "--rounds", "2", "--plots", "plots"];
        words.extend(cases.iter().map(|case| case.as_str()));
        home.expect(&words, measured());
        let plots = fs::read_dir(home.path().join("plots")).expect("plots");
        let names: Vec<String> =
            plots.map(|plot| plot.unwrap().file_name().to_string_lossy().into_owned()).collect();
        assert!(names.iter().any(|name| name.starts_with(file)), "{names:?}");
        fs::remove_dir_all(home.path().join("plots")).unwrap();
    }
}

#[test]
fn what_a_run_does_not_have_is_one_line_and_exit_code_2() {
    let home = Home::new();
    let engine = "roundtrip/sleep:1us?clock=virtual&place=same-cpu";
    home.run(&["run", engine, "--rounds", "1"]);
    for (arguments, words) in [
        (&["report", "--samples"][..], "--samples goes with --format csv"),
        (&["report", "--format", "csv", "--layout", "document"], "no measured case"),
    ] {
        home.refuses(arguments, 2, words);
    }
}
