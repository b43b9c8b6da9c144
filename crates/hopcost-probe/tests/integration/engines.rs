use std::io::Write;

use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::Stamp;
use hopcost_probe::shape::{Attaching, Half};
use hopcost_probe::workload::{Endpoint, PhaseSpec};

use crate::support;

/// A round trip of an engine.
fn case(engine: &str, clock: &str) -> Case {
    let engine = hopcost_model::case::encode(engine);
    let id = format!("roundtrip/{engine}?boundary=inline&place=same-cpu&wait=block&clock={clock}");
    id.parse().unwrap()
}

fn attach(case: &Case, trial: u32) -> Result<Box<dyn Endpoint>, String> {
    let attaching = Attaching { trial, ..Attaching::new(case, Role::Caller) };
    support::attach(Half::default(), &attaching)
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn replay_gives_back_the_block_of_the_trial() {
    let file = file("\n# first block\n5\n# still the first\n6\n7\n\n\n100\n");
    let case = case(&format!("replay:{}", file.path().display()), "virtual");
    for (trial, want) in [(0, [5, 6, 7, 5, 6]), (1, [100; 5]), (2, [5, 6, 7, 5, 6])] {
        let mut end = attach(&case, trial).unwrap();
        // Every phase starts at the first line, however long the one before was.
        for count in [1, 2, 3, 4, 5] {
            let mut out = vec![0; count];
            end.run(&PhaseSpec::of(count as u64, Stamp::Each), &mut out).unwrap();
            assert_eq!(out, want[..count], "trial {trial}");
        }
    }
}

#[test]
fn bad_arguments_say_what_is_wrong_where_and_what_to_do() {
    let broken = file("1\n# two\n\nfast\n");
    let empty = file("# nothing\n\n");
    let of = |file: &tempfile::NamedTempFile| format!("replay:{}", file.path().display());
    for (engine, clock, parts) in [
        ("null:1".to_owned(), "real", vec!["null:1", "without an argument"]),
        ("spin:-1".to_owned(), "virtual", vec!["spin:-1", "spin:N"]),
        ("sleep:10".to_owned(), "real", vec!["sleep:10", "1ms"]),
        ("replay:/nowhere".to_owned(), "virtual", vec!["/nowhere", "No such file"]),
        (of(&broken), "virtual", vec![":4: `fast`", "whole number"]),
        (of(&empty), "virtual", vec!["nothing to replay", "one latency in ns per line"]),
    ] {
        let error = attach(&case(&engine, clock), 0).err().unwrap();
        for part in parts {
            assert!(error.contains(part), "{engine}: {error}");
        }
    }
}
