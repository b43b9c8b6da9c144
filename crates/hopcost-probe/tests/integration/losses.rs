//! The engine loses known messages: each is counted, none is waited for in a sample, and
//! what comes after is numbered as if nothing had been.

use hopcost_model::{Case, Stamp};
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::workload::Stamped;
use hopcost_probe::workload::roundtrip::LEAD_IN;

use crate::support::{alone, both, phase};

/// The engine's time-out, in the cases below.
const TIMEOUT_NS: u64 = 200_000_000;

/// What an end saw in each phase, and the samples of the caller.
type Played = Result<Vec<(Stamped, Vec<u64>)>, String>;

fn case(engine: &str, more: &str) -> Case {
    format!("roundtrip/{engine}?{more}&boundary=thread&place=free&wait=block").parse().unwrap()
}

/// Runs phases of these lengths: the caller's part, and the callee's if that comes to an end.
fn play(case: &Case, phases: &[(u64, Stamp)]) -> (Played, Option<Played>) {
    let _alone = alone();
    let phases = phases.to_vec();
    let [caller, callee] = both(case, move |_, mut end| {
        phases.iter().map(|&(count, stamp)| phase(&mut *end, count, stamp)).collect()
    });
    (caller.expect("the caller comes to an end"), callee)
}

/// Which exchanges of a phase lose a message, if every `every`th message of one end
/// is lost, those sent again included, and `sent` were sent before.
fn losing(every: u64, exchanges: u64, sent: &mut u64) -> Vec<u64> {
    let mut losing = Vec::new();
    for exchange in 0..exchanges {
        *sent += 1;
        if sent.is_multiple_of(every) {
            losing.push(exchange);
            *sent += 1;
        }
    }
    losing
}

fn assert_clean(samples: &[u64]) {
    let least_loss = rough_ticks(TIMEOUT_NS);
    for &sample in samples {
        assert!(0 < sample && sample < least_loss, "{sample} ticks of at most {least_loss}");
    }
}

#[test]
fn lost_exchanges_are_counted_and_are_no_samples() {
    for (engine, every) in [("lossy:9", 9), ("lossy:9-caller", 9)] {
        let phases = [(20, Stamp::Each), (23, Stamp::Each)];
        let (caller, callee) = play(&case(engine, "payload=64"), &phases);
        let mut sent = 0;
        for ((count, _), (seen, samples)) in phases.into_iter().zip(caller.unwrap()) {
            let losing = losing(every, LEAD_IN + count, &mut sent);
            let lost = losing.iter().filter(|&&at| at >= LEAD_IN).count() as u64;
            assert!(lost > 0, "the test is to lose something");
            assert_eq!(
                (seen.count, seen.lost, seen.samples),
                (count, lost, count - lost),
                "{engine}"
            );
            assert_eq!(samples.len() as u64, count - lost);
            assert_clean(&samples);
        }
        // It has seen every number, in order.
        assert!(callee.unwrap().is_ok());
    }
}

#[test]
fn the_last_reply_of_a_phase_may_be_lost() {
    // The tenth reply answers the last exchange of the first phase; nobody is there then to
    // answer again before the second phase.
    let phases = [(10 - LEAD_IN, Stamp::Each), (3, Stamp::Each)];
    let (caller, callee) = play(&case("lossy:10", "payload=64"), &phases);
    let caller = caller.unwrap();
    assert_eq!((caller[0].0.lost, caller[0].0.samples), (1, 7));
    assert_eq!((caller[1].0.lost, caller[1].0.samples), (0, 3));
    assert_clean(&caller[0].1);
    assert_clean(&caller[1].1);
    assert!(callee.unwrap().is_ok());
}

#[test]
fn what_cannot_go_on_says_why() {
    for (engine, parameters, part) in [
        ("lossy:1", "payload=64&timeout=10ms", "sent 50 times and never answered"),
        ("lossy:4", "payload=0&timeout=10ms", "payload of at least 1 byte"),
        ("lossy:0", "payload=64", "want lossy:50"),
        ("lossy:3-nobody", "payload=64", "want lossy:50"),
        ("udp", "payload=64&timeout=soon", "has no timeout=soon"),
    ] {
        let error = play(&case(engine, parameters), &[(5, Stamp::Each)]).0.unwrap_err();
        assert!(error.contains(part), "{engine}, {parameters}: {error}");
    }
}
