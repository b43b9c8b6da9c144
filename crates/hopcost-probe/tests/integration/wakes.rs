use std::os::fd::OwnedFd;
use std::path::Path;

use hopcost_model::{Case, Role, WaitKind, Waits, Workload};
use hopcost_probe::mechanism::find;
use hopcost_probe::shape::{Attaching, Opening};
use hopcost_probe::sys;

use crate::support::{alone, attach, both_end_well, case};

/// Bare wake-ups.
fn wake() -> Case {
    case(Workload::Wake, find("flag").unwrap(), WaitKind::Spin)
}

#[test]
fn an_end_without_a_partner_gives_up_and_says_so() {
    let _alone = alone();
    let case = wake();
    for alone in [Role::Caller, Role::Callee] {
        both_end_well(&case, move |role, end| {
            if role != alone {
                return Ok(());
            }
            match end.gate(10, 10) {
                Err(error) if error.to_string().contains("has not answered") => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .unwrap();
    }
}

#[test]
fn what_cannot_be_attached_says_why() {
    let case = wake();
    let refused = |case: &Case, role, meeting: Option<&OwnedFd>| {
        let row = find(case.mechanism_name()).unwrap();
        let link = row.open(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
        let half = if role == Role::Caller { link.caller } else { link.callee };
        attach(half, &Attaching { meeting, ..Attaching::new(case, role) }).err().unwrap()
    };
    assert!(refused(&case, Role::Caller, None).contains("meeting_fd"));
    let short = sys::memfd("hopcost-test", 100).unwrap();
    assert!(refused(&case, Role::Caller, Some(&short)).contains("100 bytes"));
    let stream = Case { workload: Workload::Stream, ..case.clone() };
    assert!(refused(&stream, Role::Caller, None).contains("`stream`"));
    for argument in ["skew", "skew:fast", "skew:--1us"] {
        let case = Case { mechanism: argument.into(), ..case.clone() };
        let error = refused(&case, Role::Callee, None);
        assert!(error.contains("want skew:-1us"), "{error}");
    }
    let undeclared = Case { waits: Some(Waits::both(WaitKind::Block)), ..case };
    let error = refused(&undeclared, Role::Caller, None);
    assert!(error.contains("has no wait `block`"), "{error}");
}
