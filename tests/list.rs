//! `hopcost list`: everything at a glance, and at once.

use hopcost_model::mechanism::Words;
use hopcost_probe::mechanism;

use crate::support::Home;
use crate::support::wait::InTime;

#[test]
fn every_mechanism_has_a_line_and_all_of_them_a_screen() {
    let home = Home::together();
    let shown: Vec<_> =
        mechanism::ALL.iter().map(|row| row.facts()).filter(|facts| !facts.hidden()).collect();
    for (columns, lines) in [(80, 64), (100, 60)] {
        let output = home.hopcost(&["list"]).env("COLUMNS", columns.to_string()).try_finish();
        let text = String::from_utf8(output.expect("hopcost").stdout).expect("UTF-8");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {widest:?}\n{text}");
        assert!(text.lines().count() <= lines, "{} lines\n{text}", text.lines().count());
        for facts in &shown {
            let words = |line: &str| line.split_whitespace().any(|word| word == facts.name);
            let table = text.lines().take(1 + shown.len());
            assert!(table.filter(|line| words(line)).count() >= 1, "{}\n{text}", facts.name);
        }
    }
    for facts in shown {
        let Words { about, between_stamps, sources, .. } = &facts.words;
        assert!(!about.is_empty() && !between_stamps.is_empty(), "{}", facts.name);
        assert!(!sources.is_empty(), "{} names no source", facts.name);
    }
}
