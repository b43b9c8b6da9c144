use hopcost_model::results::AddedCost;

use super::*;
use crate::testing::{Builder, read};

/// Python and Rust at these sizes: nanoseconds of a round trip by round and size.
fn compared(
    sizes: &[u32],
    rounds: u32,
    rust: impl Fn(u32, u32) -> u32,
    python: impl Fn(u32, u32) -> u32,
) -> Vec<AddedCost> {
    let mut builder = Builder::new();
    for size in sizes {
        let id =
            format!("roundtrip/pipe?payload={size}&boundary=process&place=same-cpu&wait=block");
        builder = builder
            .case(&format!("{id}&runtime=python"), rounds, |r, t| t.each(&[python(r, *size); 50]))
            .case(&id, rounds, |r, t| t.each(&[rust(r, *size); 50]));
    }
    builder.read().runtimes.unwrap().added
}

fn near(estimate: &Option<Estimate>, point: f64, low: f64, high: f64) -> bool {
    let Some(e) = estimate else { return false };
    [(e.point, point), (e.low, low), (e.high, high)]
        .iter()
        .all(|(a, b)| a.is_some_and(|a| (a - b).abs() < 1e-6))
}

/// Rust takes 3 µs, a quarter nanosecond a byte, and more from round to round.
fn rust(round: u32, bytes: u32) -> u32 {
    (3000 + bytes / 4) * (round + 1)
}

#[test]
fn a_constant_and_a_part_per_byte_are_found_again() {
    let python = |round: u32, bytes: u32| rust(round, bytes) + 9000 + 10 * round + bytes / 2;
    let found = compared(&[64, 4096, 65_536], 8, rust, python);
    let [cost] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (cost.label.as_str(), cost.runtime.as_str()),
        ("pipe, two processes, one CPU", "python")
    );
    assert_eq!((&cost.sizes[..], &cost.refused), (&[64, 4096, 65_536][..], &None));
    assert_eq!(cost.differences_ns[1].point, Some(9035.0 + 2048.0));
    assert!(near(&cost.constant_ns, 9035.0, 9000.0, 9070.0), "{:?}", cost.constant_ns);
    assert!(near(&cost.per_byte_ns, 0.5, 0.5, 0.5), "{:?}", cost.per_byte_ns);
    assert!(cost.residual_max.unwrap() < 1e-9);
    assert!(
        cost.sentence.starts_with(
            "python adds 9.04 µs [9.00 µs, 9.07 µs] to each round trip over pipe and 0.500 ns \
             [0.500 ns, 0.500 ns] for each byte of a message; at 64 bytes that is "
        ),
        "{}",
        cost.sentence
    );
}

#[test]
fn the_share_of_the_runtime_is_said_as_far_as_it_is_known() {
    // Rust takes 3 µs; the share is 9 of 12 in every round.
    let most = compared(&[64, 1024], 8, |_, _| 3000, |_, _| 12_000);
    let sentence = &most[0].sentence;
    assert!(sentence.contains("and nothing that can be seen per byte (0 ns [0 ns, 0 ns])"));
    assert!(
        sentence.ends_with(
            "at 64 bytes that is 3.00 [3.00, 3.00] times all of rust's round trip, or 75 % [75 %, \
             75 %] of python's: more than everything that rust's takes, kernel included, and at \
             1KiB 75 % [75 %, 75 %]."
        ),
        "{sentence}"
    );
    assert_eq!(most[0].residual_max, None, "a line goes through any two");
    let least = compared(&[64, 1024], 8, |_, _| 3000, |_, _| 4000);
    assert!(least[0].sentence.contains(": less than what rust's takes"));
    let half = compared(&[64, 1024], 8, |_, _| 3000, |round, _| 5900 + 50 * round);
    assert!(half[0].sentence.contains(": about as much as"), "{}", half[0].sentence);
}

#[test]
fn what_cannot_be_seen_is_not_claimed() {
    let noise = |round: u32, _: u32| 3000 + [0, 40][round as usize % 2];
    let none = compared(&[64, 1024], 8, |_, _| 3020, noise);
    let sentence = &none[0].sentence;
    assert!(sentence.starts_with("python adds nothing that can be seen ("), "{sentence}");
    assert!(!sentence.contains("times all of rust's"), "{sentence}");
    let less = compared(&[64, 1024], 8, |_, _| 3000, |_, _| 2500);
    assert!(less[0].sentence.starts_with("python takes 500 ns [500 ns, 500 ns] off"));
    let few = compared(&[64, 1024], 5, |_, _| 3000, |_, _| 9000);
    assert!(few[0].refused.as_ref().unwrap().starts_with("5 rounds"));
    assert!(few[0].sentence.contains("longer than rust's at 64 bytes (5 rounds, too few"));
    let one = compared(&[64], 8, |_, _| 3000, |_, _| 9000);
    assert_eq!(one[0].refused.as_deref(), Some("one size makes no line"));
}

#[test]
fn no_line_is_drawn_through_what_lies_on_none() {
    let bent =
        |round: u32, bytes: u32| rust(round, bytes) + if bytes == 4096 { 30_000 } else { 9000 };
    let found = compared(&[64, 4096, 65_536], 8, rust, bent);
    assert!(found[0].refused.as_ref().unwrap().contains("lie on no line: one is off"));
    assert!(found[0].constant_ns.is_none() && found[0].residual_max.unwrap() > 0.1);
    let ends =
        "longer than rust's at 64 bytes and takes 9.00 µs [9.00 µs, 9.00 µs] longer at 64KiB";
    assert!(found[0].sentence.contains(ends), "{}", found[0].sentence);
    let alike = |round: u32, bytes: u32| {
        let way = [0, 40][round as usize % 2];
        rust(round, bytes) + if bytes == 4096 { 30_000 } else { way } - 20
    };
    let found = compared(&[64, 4096, 65_536], 8, rust, alike);
    let alike =
        "python's round trip over pipe cannot be told from rust's at 64 bytes (a difference of";
    assert!(found[0].sentence.starts_with(alike), "{}", found[0].sentence);
    // The largest hides how far the smallest is off.
    let steep = |round: u32, bytes: u32| {
        rust(round, bytes)
            + [1000, 20_000, 320_000][(bytes > 64) as usize + (bytes > 4096) as usize]
    };
    let found = compared(&[64, 4096, 65_536], 8, rust, steep);
    assert!(found[0].residual_max.unwrap() < 0.1);
    assert!(found[0].refused.as_ref().unwrap().contains("at 64 bytes it says 679 ns, and 1.00 µs"));
}

#[test]
fn only_rounds_with_every_size_have_a_line() {
    let id = |size: u32| {
        format!("roundtrip/pipe?payload={size}&boundary=process&place=same-cpu&wait=block")
    };
    let raw = Builder::new()
        .case(&id(64), 9, |_, t| t.each(&[3000; 50]))
        .case(&id(1024), 9, |_, t| t.each(&[3000; 50]))
        .case(&format!("{}&runtime=go", id(64)), 9, |round, t| t.each(&[4000 + round; 50]))
        .case(&format!("{}&runtime=go", id(1024)), 9, |round, t| {
            if round < 2 { t.fails("x") } else { t.each(&[4000 + round; 50]) }
        })
        // Without the same in Rust there is nothing to add to.
        .case(&format!("{}&runtime=go", id(16)), 9, |_, t| t.each(&[1; 50]))
        .build();
    let found = read(&raw).runtimes.unwrap().added;
    assert_eq!((found.len(), &found[0].sizes[..]), (1, &[64, 1024][..]));
    let trials: Vec<u32> = found[0].differences_ns.iter().map(|e| e.n_trials).collect();
    assert_eq!(trials, [9, 7]);
    assert_eq!(found[0].constant_ns.as_ref().unwrap().n_trials, 7);
}
