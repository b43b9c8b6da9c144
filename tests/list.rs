//! `hopcost list`: everything at a glance, and at once.

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
}

#[test]
fn every_suite_is_listed_and_described() {
    let output = Home::new().hopcost(&["list", "--suites"]).env("COLUMNS", "80").try_finish();
    let list = String::from_utf8(output.expect("hopcost").stdout).expect("UTF-8");
    assert_eq!(list.lines().count(), hopcost_plan::SHIPPED.len() + 2, "a line each:\n{list}");
    let page = include_str!("../docs/suites.md");
    for (name, _) in hopcost_plan::SHIPPED {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/suites.md");
        let mut lines = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line =
            lines.find(|words| words.first() == Some(name)).unwrap_or_else(|| panic!("{list}"));
        let takes: u64 = line[1].parse().expect("a number");
        assert!(takes > 0 && ["s", "min"].contains(&line[2]), "{line:?}");
    }
}
