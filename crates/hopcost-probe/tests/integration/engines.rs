use std::io::Write;

use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::Stamp;
use hopcost_probe::shape::{Attaching, Half};
use hopcost_probe::sys::clock_ns;
use hopcost_probe::workload::Endpoint;
use hopcost_probe::workload::PhaseSpec;

use crate::support::{self, alone, both};

/// A case of an engine, in the spelling of a user less what is always the same.
fn case(text: &str, clock: &str) -> Case {
    let id = match text.split_once('/') {
        Some(("roundtrip", engine)) => {
            let engine = hopcost_model::case::encode(engine);
            format!("roundtrip/{engine}?boundary=inline&place=same-cpu&wait=block&clock={clock}")
        }
        _ => format!("{text}?clock={clock}"),
    };
    id.parse().unwrap()
}

fn attach(case: &Case, trial: u32) -> Result<Box<dyn Endpoint>, String> {
    let attaching = Attaching { trial, ..Attaching::new(case, Role::Caller) };
    support::attach(Half::default(), &attaching)
}

fn samples(case: &Case, trial: u32, count: usize, stamp: Stamp) -> Vec<u64> {
    let mut out = vec![u64::MAX; count];
    let operations = match stamp {
        Stamp::Each => count as u64,
        Stamp::Batch { n } | Stamp::TwoLengths { n } => count as u64 * n,
    };
    attach(case, trial).unwrap().run(&PhaseSpec::of(operations, stamp), &mut out).unwrap();
    out
}

#[test]
fn virtual_time_is_exact() {
    let _alone = alone();
    for (text, ns) in [("null", 0), ("spin:250", 250), ("sleep:1.5us", 1500)] {
        let roundtrip = case(&format!("roundtrip/{text}"), "virtual");
        assert_eq!(samples(&roundtrip, 0, 50, Stamp::Each), vec![ns; 50], "{text}");
        assert_eq!(samples(&roundtrip, 0, 5, Stamp::Batch { n: 10 }), vec![10 * ns; 5], "{text}");
        let call = case(&format!("call/{text}"), "virtual");
        assert_eq!(samples(&call, 0, 5, Stamp::Batch { n: 32 }), vec![32 * ns; 5], "{text}");
    }
}

#[test]
fn real_sleep_takes_no_less_than_asked() {
    let _alone = alone();
    for text in ["roundtrip/sleep:2ms", "call/sleep:200us"] {
        let case = case(text, "real");
        let started_ns = clock_ns(libc::CLOCK_MONOTONIC);
        samples(&case, 0, 16, Stamp::Each);
        let elapsed_ns = clock_ns(libc::CLOCK_MONOTONIC) - started_ns;
        // 16 of 2 ms, or at least 16 of 200 us.
        let least_ns = if text.starts_with("call") { 3_200_000 } else { 32_000_000 };
        assert!(elapsed_ns >= least_ns, "{text}: {elapsed_ns}");
    }
}

#[test]
fn real_spin_grows_with_its_argument_and_null_is_less() {
    let _alone = alone();
    let least = |text: &str| {
        let samples = samples(&case(text, "real"), 0, 200, Stamp::Each);
        samples.into_iter().min().unwrap()
    };
    for workload in ["roundtrip", "call"] {
        let [null, short, long] = ["null", "spin:2000", "spin:20000"]
            .map(|engine| least(&format!("{workload}/{engine}")));
        assert!(null < short, "{workload}: {null} {short}");
        assert!(5 * short < long && long < 15 * short, "{workload}: {short} {long}");
    }
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn replay_of(file: &tempfile::NamedTempFile) -> Case {
    case(&format!("roundtrip/replay:{}", file.path().display()), "virtual")
}

#[test]
fn replay_gives_back_the_block_of_the_trial() {
    let _alone = alone();
    let file = file("\n# first block\n5\n# still the first\n6\n7\n\n\n100\n");
    let case = replay_of(&file);
    for (trial, want) in [(0, [5, 6, 7, 5, 6]), (1, [100; 5]), (2, [5, 6, 7, 5, 6])] {
        assert_eq!(samples(&case, trial, 5, Stamp::Each), want, "trial {trial}");
    }
    // Every phase starts at the first line, however long the one before was.
    let mut end = attach(&case, 0).unwrap();
    for count in [1, 2, 3, 4] {
        let mut out = vec![0; count];
        end.run(&PhaseSpec::of(count as u64, Stamp::Each), &mut out).unwrap();
        assert_eq!(out, [5, 6, 7, 5][..count]);
    }
}

#[test]
fn bad_arguments_say_what_is_wrong_where_and_what_to_do() {
    let broken = file("1\n# two\n\nfast\n");
    let empty = file("# nothing\n\n");
    let of = |file: &tempfile::NamedTempFile| format!("replay:{}", file.path().display());
    for (engine, clock, parts) in [
        ("null:1".to_owned(), "real", vec!["null:1", "without an argument"]),
        ("spin".to_owned(), "real", vec!["spin:N"]),
        ("spin:-1".to_owned(), "virtual", vec!["spin:-1", "spin:N"]),
        ("sleep:10".to_owned(), "real", vec!["sleep:10", "1ms"]),
        ("sleep:".to_owned(), "virtual", vec!["1ms"]),
        ("replay".to_owned(), "virtual", vec!["replay:FILE"]),
        ("replay:/nowhere".to_owned(), "virtual", vec!["/nowhere", "No such file"]),
        (of(&broken), "virtual", vec![":4: `fast`", "whole number"]),
        (of(&empty), "virtual", vec!["nothing to replay", "one latency in ns per line"]),
    ] {
        let error = attach(&case(&format!("roundtrip/{engine}"), clock), 0).err().unwrap();
        for part in parts {
            assert!(error.contains(part), "{engine}: {error}");
        }
    }
}

/// What both ends of a faulty pipe say after 200 exchanges: the caller, the callee.
fn faulty(kind: &str) -> [Option<Result<(), String>>; 2] {
    let id = format!("roundtrip/fault:{kind}?payload=64&boundary=thread&place=same-cpu&wait=block");
    let spec = PhaseSpec::of(200, Stamp::Each);
    both(&id.parse().unwrap(), move |_, mut end| {
        end.run(&spec, &mut []).map(drop).map_err(|error| error.to_string())
    })
}

#[test]
fn faulty_ends_are_noticed_by_themselves_or_by_their_partner() {
    let _alone = alone();
    let said = |result: &Option<Result<(), String>>, part: &str| {
        let said = matches!(result, Some(Err(error)) if error.contains(part));
        assert!(said, "{part}: {result:?}");
    };
    let [caller, callee] = faulty("corrupt");
    said(&callee, "did not arrive as it was sent");
    said(&caller, "");
    let [caller, callee] = faulty("corrupt-callee");
    said(&caller, "did not arrive as it was sent");
    said(&callee, "closed");
    let [caller, callee] = faulty("dup");
    said(&callee, "arrived a second time");
    said(&caller, "");
    let [caller, callee] = faulty("reorder");
    said(&callee, "arrived before message");
    said(&caller, "");
    let [caller, _] = faulty("reorder-callee");
    said(&caller, "arrived before message");
    let [caller, callee] = faulty("error");
    said(&caller, "on purpose");
    said(&callee, "closed");
    let [_, callee] = faulty("error-callee");
    said(&callee, "on purpose");
    let [caller, _] = faulty("boredom");
    said(&caller, "fault:boredom");
}
