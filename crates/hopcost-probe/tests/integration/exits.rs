use std::sync::{Mutex, mpsc};

use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::mechanism::{Shape, Words};
use hopcost_model::protocol::Stamp;
use hopcost_probe::mechanism::ALL;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::PeerExit;

use crate::support::{alone, both, case, message, phase, rows};

/// What the survivor says; its partner lets go of its end.
fn said<T: std::fmt::Debug>(
    case: &Case,
    survivor: Role,
    ends: [Option<Result<T, String>>; 2],
) -> String {
    let [caller, callee] = ends;
    match if survivor == Role::Caller { caller } else { callee } {
        Some(Err(error)) if !error.contains("attach") => error,
        other => panic!("{case}: the {survivor} ends with {other:?}"),
    }
}

fn every_wait(row: &Row, each: impl Fn(&Case)) {
    for wait in row.facts.waits {
        each(&case(Workload::Roundtrip, row, wait.wait));
    }
}

#[test]
fn an_end_that_sends_to_a_partner_that_is_gone_gets_an_error() {
    let _alone = alone();
    let rows = rows(Workload::Roundtrip);
    for row in rows.iter().filter(|row| row.peer_exit != PeerExit::Unnoticed) {
        every_wait(row, |case| {
            let (gone, go) = mpsc::channel();
            let (gone, go) = (Mutex::new(gone), Mutex::new(go));
            let ends = both(case, move |role, mut end| match role {
                Role::Callee => {
                    drop(end);
                    gone.lock().unwrap().send(()).map_err(|e| e.to_string())
                }
                Role::Caller => {
                    go.lock().unwrap().recv().map_err(|e| e.to_string())?;
                    phase(&mut *end, 10, Stamp::Each).map(drop)
                }
            });
            said(case, Role::Caller, ends);
        });
    }
}

#[test]
fn an_end_that_waits_for_a_partner_that_goes_gets_an_error() {
    let _alone = alone();
    let rows = rows(Workload::Roundtrip);
    for row in rows.iter().filter(|row| row.peer_exit == PeerExit::Noticed) {
        every_wait(row, |case| {
            let ends = both(case, |role, mut end| match role {
                Role::Caller => Ok(()),
                Role::Callee => phase(&mut *end, 10, Stamp::Each).map(drop),
            });
            said(case, Role::Callee, ends);
        });
    }
}

#[test]
fn either_end_of_a_stream_gets_an_error() {
    let _alone = alone();
    let rows = rows(Workload::Stream);
    for row in rows.iter().filter(|row| row.peer_exit == PeerExit::Noticed) {
        for ack in ["per-message", "window:64"] {
            let usual = case(Workload::Stream, row, row.facts.waits[0].wait);
            let case = message(usual, 512, 8, ack);
            for survivor in [Role::Caller, Role::Callee] {
                // The other end leaves after a phase of three messages.
                let ends = both(&case, move |role, mut end| {
                    phase(&mut *end, 3, Stamp::Each)?;
                    if role == survivor {
                        phase(&mut *end, 1000, Stamp::Each).map(drop)
                    } else {
                        Ok(())
                    }
                });
                let said = said(&case, survivor, ends);
                assert!(said.contains("closed the link"), "{case}: the {survivor} says `{said}`");
            }
        }
    }
}

#[test]
fn a_mechanism_that_moves_messages_and_cannot_tell_says_so() {
    let channels = ALL.iter().filter(|row| !row.facts.hidden && row.facts.shape == Shape::Channel);
    for row in channels.filter(|row| row.peer_exit != PeerExit::Noticed) {
        let limits = &Words::of(row.facts.name).limits;
        let said = limits.contains("supervisor") && limits.contains("dead partner");
        assert!(said, "{}: {limits}", row.facts.name);
    }
}
