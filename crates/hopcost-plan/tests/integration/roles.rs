//! Who plays what in a case of one runtime and of two.

use crate::common::answers;
use crate::common::runtimes::{CPP, GO, JAVA, PYTHON, describe, rust};
use hopcost_model::{Case, Description, Role, Runtime};
use hopcost_plan::{Roles, assign};

fn play(id: &str) -> Result<Roles, String> {
    let mut all: Vec<Description> = [PYTHON, CPP, GO, JAVA].map(describe).into();
    // Another build of the same, one of whose mechanisms goes over something else, and
    // another of which, the pipe, takes hopcost's link but has a wire format of its own.
    let other = PYTHON.replace(r#""python","version""#, r#""python-nogil","version""#);
    let other = other.replacen(r#""peers":"any""#, r#""peers":"own""#, 1);
    all.push(describe(&other.replace(r#""carrier":"tcp""#, r#""carrier":"unix-stream""#)));
    all.push(rust());
    let case: Case = id.parse().unwrap();
    assign(&case, &|runtime: &Runtime| all.iter().find(|d| d.runtime == runtime.word()))
}

/// The case of a mechanism and a runtime between two processes, threads or in one.
fn case(words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let [boundary, mechanism, runtime] = words[..] else { panic!("{words:?}") };
    let runtime = if runtime == "rust" { String::new() } else { format!("&runtime={runtime}") };
    if boundary == "inline" {
        return format!("call/{mechanism}{}", runtime.replace('&', "?"));
    }
    let side = format!("boundary={boundary}&place=same-cpu&wait=block");
    format!("roundtrip/{mechanism}?payload=64&{side}{runtime}")
}

/// What each end plays and where it takes its link from; and the mechanism whose link that is.
#[test]
fn ends_play_what_the_case_names_or_its_carrier() {
    answers("roles.txt", |words| {
        let roles = match play(&case(words)) {
            Err(reason) => return format!("error: {reason}"),
            Ok(roles) => roles,
        };
        let part = |role| {
            let end = roles.ends.of(role);
            format!("{} {} {:?}", end.case.runtimes.of(role), end.case.mechanism, end.link)
        };
        let carrier = roles.carrier.as_deref().unwrap_or("-");
        format!("{} | {} | {carrier}", part(Role::Caller), part(Role::Callee))
    });
    // Each end gets its own parameters.
    let id = case("process tcp-asyncio python:rust");
    let parts = play(&id.replace("&runtime", "&nodelay=off&flush=on&runtime")).unwrap();
    let told = |role| format!("{:?}", parts.ends.of(role).case.parameters);
    assert_eq!(told(Role::Caller), r#"{"flush": "on", "nodelay": "off"}"#);
    assert_eq!(told(Role::Callee), r#"{"nodelay": "off"}"#);
}
