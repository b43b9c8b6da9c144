//! Advice through plan, rounds, run file and views; what it rests on is tested in hopcost-read.

use serde_json::Value;

use crate::schema;
use crate::support::{Home, alone, measured};

/// Two mechanisms of which one may lose messages.
const ASKED: [&str; 6] = ["advise", "pipe", "udp", "--payload", "64", "--wait"];

#[test]
fn what_was_measured_is_told_again_of_the_stored_run() {
    let _alone = alone();
    let home = Home::new();
    let arguments = [&ASKED[..], &["block", "--budget", "4s", "--format", "json"]].concat();
    let text = home.expect(&arguments, measured());
    schema::valid("Advice", &text);
    let advice: Value = serde_json::from_str(&text).expect("JSON");
    let ruled_out = &advice["ruled_out"][0];
    assert_eq!(ruled_out["name"], "udp", "{advice}");
    assert!(ruled_out["reason"].as_str().unwrap().contains("may be lost"), "{advice}");
    let says = advice["says"].as_str().unwrap().to_owned();
    let (answer, begins) = match measured() {
        0 => ("recommended", "Use pipe: p50 of a round trip"),
        _ => ("invalid", "No recommendation, the numbers are invalid: BUILD_SLOW"),
    };
    assert!(advice["answer"] == answer && says.starts_with(begins), "{advice}");

    let stored = ["advise", "--run", "last", "--payload", "64"];
    let again = home.expect(&[&stored[..], &["--format", "json"]].concat(), measured());
    let again: Value = serde_json::from_str(&again).expect("JSON");
    for key in ["answer", "says", "ranked", "ruled_out", "undecided"] {
        assert_eq!(again[key], advice[key], "{key}");
    }
    let first = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen = home.expect(&stored, measured());
    assert!(first(&screen).starts_with(says.trim_end_matches('.')), "{screen}");
    assert!(screen.lines().count() <= 24, "{screen}");
    assert!(first(&home.expect(&["report"], 0)).starts_with(says.trim_end_matches('.')));
    let run = home.run_file();
    let run = run.to_str().expect("UTF-8");
    home.refuses(&["advise", "--run", run, "--payload", "64", "-o", run], 2, "would overwrite");
    for (format, wanted) in [("md", "# "), ("html", "<!doctype html>")] {
        let document = home.expect(&[&stored[..], &["--format", format]].concat(), measured());
        assert!(document.to_lowercase().starts_with(wanted), "{format}: {document}");
        assert!(document.contains("udp: messages may be lost"), "{document}");
    }
    let results = home.expect(&["report", "--format", "json"], 0);
    schema::valid("Results", &results);
}
