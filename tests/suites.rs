//! The suites that hopcost brings.

use crate::support::Home;

#[test]
fn every_suite_is_listed_and_described() {
    let list = Home::new().expect(&["list", "--suites"], 0);
    let page = include_str!("../docs/suites.md");
    for (name, _) in hopcost_plan::SHIPPED {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(name)), "{list}");
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/suites.md");
    }
}
