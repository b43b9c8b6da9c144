//! Advice through plan, rounds, run file and views; what it rests on is tested in hopcost-read.

use serde_json::Value;

use crate::support::{Home, measured};

#[test]
fn what_was_measured_is_answered_again_from_the_stored_run() {
    let home = Home::alone();
    let asked = "advise pipe udp unix-connect --payload 64 --wait block --budget 4s --format json";
    let text = home.expect(&asked.split(' ').collect::<Vec<_>>(), measured());
    let advice: Value = serde_json::from_str(&text).expect("JSON");
    let udp = &advice["candidates"][1];
    assert_eq!((&udp["name"], &udp["fit"]), (&"udp".into(), &"outside".into()), "{advice}");
    assert!(udp["reason"].as_str().unwrap().contains("may lose messages"), "{advice}");
    let says = advice["says"][0].as_str().unwrap().to_owned();
    let (answer, begins) = match measured() {
        0 => ("recommended", "Use pipe: p50 of a round trip"),
        _ => ("invalid", "No recommendation: the numbers are invalid."),
    };
    assert!(advice["advice"][0]["answer"] == answer && says.starts_with(begins), "{advice}");

    let stored = ["advise", "--run", "last", "--payload", "64"];
    let again = home.expect(&[&stored[..], &["--format", "json"]].concat(), measured());
    let again: Value = serde_json::from_str(&again).expect("JSON");
    for key in ["says", "candidates"] {
        assert_eq!(again[key], advice[key], "{key}");
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen = home.expect(&stored, measured());
    assert!(words(&screen).starts_with(says.trim_end_matches('.')), "{screen}");
    assert!(screen.lines().count() <= 24, "{screen}");
    let run = &home.run_file().into_os_string().into_string().expect("UTF-8");
    home.refuses(&["advise", "--run", run, "--payload", "64", "-o", run], 2, "it is a run");
    home.refuses(&["advise", "--run", run, "--payload", "65"], 2, "has no such cases");
    for (format, wanted) in [("md", "# "), ("html", "<!doctype html>"), ("csv", "case,name,")] {
        let document = home.expect(&[&stored[..], &["--format", format]].concat(), measured());
        assert!(document.to_lowercase().starts_with(wanted), "{format}: {document}");
        assert!(document.contains("may lose messages"), "{document}");
        assert!(document.contains("connects anew each time"), "{document}");
    }
}
