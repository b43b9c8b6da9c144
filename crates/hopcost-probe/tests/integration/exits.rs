use std::sync::{Mutex, mpsc};

use hopcost_model::{PeerExit, Role, Shape, Stamp, Workload};
use hopcost_probe::mechanism::ALL;

use crate::support::{alone, both, case, message, phase, rows};

/// What the survivor says; its partner lets go of its end.
fn said(what: &str, survivor: Role, ends: [Option<Result<(), String>>; 2]) -> String {
    match &ends[usize::from(survivor == Role::Callee)] {
        Some(Err(error)) if !error.contains("attach") => error.clone(),
        _ => panic!("{what}: {ends:?}"),
    }
}

#[test]
fn an_end_that_sends_to_a_partner_that_is_gone_or_waits_for_one_that_goes_gets_an_error() {
    let _alone = alone();
    for row in rows(Workload::Roundtrip) {
        let facts = row.facts();
        for &wait in &facts.waits {
            let case = case(Workload::Roundtrip, row, wait);
            if facts.here.peer_exit != PeerExit::Unnoticed {
                let (gone, go) = mpsc::channel();
                let (gone, go) = (Mutex::new(gone), Mutex::new(go));
                let ends = both(&case, move |role, mut end| match role {
                    Role::Callee => {
                        drop(end);
                        gone.lock().unwrap().send(()).map_err(|e| e.to_string())
                    }
                    Role::Caller => {
                        go.lock().unwrap().recv().map_err(|e| e.to_string())?;
                        phase(&mut *end, 10, Stamp::Each).map(drop)
                    }
                });
                said(&case.id(), Role::Caller, ends);
            }
            if facts.here.peer_exit == PeerExit::Noticed {
                let ends = both(&case, |role, mut end| match role {
                    Role::Caller => Ok(()),
                    Role::Callee => phase(&mut *end, 10, Stamp::Each).map(drop),
                });
                said(&case.id(), Role::Callee, ends);
            }
        }
    }
}

#[test]
fn either_end_of_a_stream_gets_an_error() {
    let _alone = alone();
    let rows = rows(Workload::Stream);
    for row in rows.iter().filter(|row| row.facts().here.peer_exit == PeerExit::Noticed) {
        for ack in ["per-message", "window:64"] {
            let usual = case(Workload::Stream, row, row.facts().waits[0]);
            let case = message(usual, 512, 8, ack);
            for survivor in [Role::Caller, Role::Callee] {
                // The other end leaves after a phase of three messages.
                let ends = both(&case, move |role, mut end| {
                    phase(&mut *end, 3, Stamp::Each)?;
                    match role == survivor {
                        true => phase(&mut *end, 1000, Stamp::Each).map(drop),
                        false => Ok(()),
                    }
                });
                let said = said(&case.id(), survivor, ends);
                assert!(said.contains("closed the link"), "{case}: the {survivor} says `{said}`");
            }
        }
    }
}

#[test]
fn a_mechanism_that_moves_messages_and_cannot_tell_says_so() {
    for facts in ALL.iter().map(|row| row.facts()) {
        let tells = facts.shape() != Shape::Channel || facts.here.peer_exit == PeerExit::Noticed;
        let limits = &facts.words.limits;
        let said = limits.contains("supervisor") && limits.contains("dead partner");
        assert!(tells || facts.hidden() || said, "{}: {limits}", facts.name);
    }
}
