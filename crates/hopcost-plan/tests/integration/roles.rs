//! Who plays what in a case of one runtime and of two.

use crate::common::runtimes::{CPP, GO, JAVA, PYTHON, describe, rust};
use hopcost_model::case::{Case, Role, Runtime};
use hopcost_model::describe::Description;
use hopcost_model::mechanism::LinkSource;
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

/// Runtime, mechanism and link of either end, and the carrier.
fn summary(id: &str) -> String {
    let roles = play(id).unwrap_or_else(|error| panic!("{id}: {error}"));
    let part = |role| {
        let end = roles.of(role);
        let link = match end.link {
            LinkSource::Own => "own",
            LinkSource::Descriptors => "descriptors",
            LinkSource::Address => "address",
        };
        assert_eq!(end.case.mechanism, end.mechanism);
        format!("{} {} {link}", end.runtime, end.mechanism)
    };
    let carrier = roles.carrier.as_deref().unwrap_or("-");
    format!("{} | {} | {carrier}", part(Role::Caller), part(Role::Callee))
}

fn process(rest: &str) -> String {
    let (mechanism, runtime) = rest.split_once(' ').unwrap();
    let runtime = if runtime == "rust" { String::new() } else { format!("&runtime={runtime}") };
    format!("roundtrip/{mechanism}?payload=64&boundary=process&place=same-cpu&wait=block{runtime}")
}

#[test]
fn ends_of_one_runtime_play_what_the_case_names() {
    for (case, parts) in [
        ("pipe rust", "rust pipe descriptors | rust pipe descriptors | pipe"),
        ("tcp-asyncio python", "python tcp-asyncio address | python tcp-asyncio address | tcp"),
        ("mp-queue python", "python mp-queue own | python mp-queue own | -"),
    ] {
        assert_eq!(summary(&process(case)), parts, "{case}");
    }
    let threads = process("pipe python").replace("process", "thread");
    assert_eq!(summary(&threads), "python pipe own | python pipe own | -");
    let threads = process("pipe rust").replace("process", "thread");
    assert_eq!(summary(&threads), "rust pipe own | rust pipe own | -");
    assert_eq!(
        summary("call/mutex-uncontended?runtime=python"),
        "python mutex-uncontended own | python mutex-uncontended own | -"
    );
    assert_eq!(summary("call/sleep:1ms"), "rust sleep:1ms own | rust sleep:1ms own | -");
}

#[test]
fn ends_of_two_runtimes_meet_over_a_carrier() {
    for (case, parts) in [
        ("pipe python:rust", "python pipe descriptors | rust pipe descriptors | pipe"),
        ("tcp rust:java", "rust tcp descriptors | java tcp address | tcp"),
        ("tcp-asyncio python:rust", "python tcp-asyncio address | rust tcp descriptors | tcp"),
        ("tcp-asyncio rust:python", "rust tcp descriptors | python tcp-asyncio address | tcp"),
        (
            "websocket-beast cpp:python",
            "cpp websocket-beast descriptors | python websocket address | websocket",
        ),
    ] {
        assert_eq!(summary(&process(case)), parts, "{case}");
    }
}

#[test]
fn each_end_is_told_its_own_parameters() {
    let id = process("tcp-asyncio python:rust");
    let id = id.replace("&runtime", "&nodelay=off&flush=on&runtime");
    let parts = play(&id).unwrap();
    let told = |role| parts.of(role).case.parameters.clone().into_iter().collect::<Vec<_>>();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(told(Role::Caller), [pair("flush", "on"), pair("nodelay", "off")]);
    assert_eq!(told(Role::Callee), [pair("congestion", "cubic"), pair("nodelay", "off")]);
}

#[test]
fn what_cannot_be_played_is_said_in_a_line() {
    for (id, reason) in [
        (process("channel-unbuffered go"), "go's channel-unbuffered has no boundary `process`"),
        (process("channel-unbuffered go:rust"), "go's channel-unbuffered stays inside one runtime"),
        (process("mp-queue python:python-nogil"), "python's mp-queue stays inside one runtime"),
        (
            process("tcp-asyncio python:python-nogil"),
            "python's tcp-asyncio goes over tcp and python-nogil's tcp-asyncio over unix-stream, \
             so they cannot meet",
        ),
        (process("pipe rust:java"), "java has no mechanism pipe"),
        (process("unknown python:java"), "neither python nor java has a mechanism unknown"),
        (
            process("websocket-beast cpp:go"),
            "go has neither websocket-beast nor websocket, which cpp's goes over",
        ),
        (process("pipe rust:erlang"), "there is no runtime erlang here"),
        (
            process("mutex-uncontended python"),
            "python's mutex-uncontended has no workload `roundtrip`",
        ),
    ] {
        assert_eq!(play(&id).unwrap_err(), reason, "{id}");
    }
}
