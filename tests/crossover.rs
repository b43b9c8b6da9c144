//! Searches for where one case overtakes another, from the command line to the run file and back.

use hopcost_model::raw::RawRun;

use crate::support::{Home, alone, measured};

const SHORT: &[&str] = &["--from", "64", "--to", "4KiB", "--budget", "4s", "--measure", "1ms"];

fn search(home: &Home, cases: [&str; 2], more: &[&str], code: i32) -> String {
    let mut all = vec!["crossover", cases[0], cases[1]];
    all.extend(more);
    home.expect(&all, code)
}

#[test]
fn both_ways_of_a_point_are_neighbours_and_the_answer_is_shown_again() {
    let _alone = alone();
    let home = Home::new();
    let mut more = vec!["--placement", "same-cpu", "--seed", "3"];
    more.extend(SHORT);
    let first = search(&home, ["pipe", "tcp"], &more, measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    let sentence = home.expect(&["report", "last", "--sentence"], 0);
    assert!(sentence.contains("roundtrip/tcp") && sentence.contains("payload"), "{sentence}");
    let page = home.expect(&["report", "last", "--format", "html"], 0);
    assert!(page.contains("Where one overtakes the other") && page.contains("plot-crossover"));
    crate::schema::valid("Results", &home.expect(&["report", "last", "--format", "json"], 0));

    let run: RawRun = crate::compare::stored(&home);
    assert!(run.yardsticks.is_empty() && run.trials.len().is_multiple_of(2));
    for pair in run.trials.chunks_exact(2) {
        assert_eq!((pair[0].case / 2, pair[0].round), (pair[1].case / 2, pair[1].round));
        assert_eq!(pair[0].stamp, pair[1].stamp);
    }
    let begins = |parity: u32| run.trials.iter().step_by(2).any(|trial| trial.case % 2 == parity);
    assert!(begins(0) && begins(1), "which of the two is first is drawn");
}
