//! Who plays what in a case of one runtime and of two.

use crate::common::runtimes::{CPP, GO, JAVA, PYTHON, describe, rust};
use hopcost_model::case::{Case, Role, Runtime};
use hopcost_model::describe::Description;
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

#[test]
fn ends_play_what_the_case_names_or_its_carrier() {
    for (words, parts) in [
        ("process pipe rust", "rust pipe Descriptors | rust pipe Descriptors | pipe"),
        (
            "process tcp-asyncio python",
            "python tcp-asyncio Address | python tcp-asyncio Address | tcp",
        ),
        ("process mp-queue python", "python mp-queue Own | python mp-queue Own | -"),
        ("thread pipe python", "python pipe Own | python pipe Own | -"),
        ("thread pipe rust", "rust pipe Own | rust pipe Own | -"),
        (
            "inline mutex-uncontended python",
            "python mutex-uncontended Own | python mutex-uncontended Own | -",
        ),
        ("inline sleep:1ms rust", "rust sleep:1ms Own | rust sleep:1ms Own | -"),
        // Ends of two runtimes meet over a carrier.
        ("process pipe python:rust", "python pipe Descriptors | rust pipe Descriptors | pipe"),
        ("process tcp rust:java", "rust tcp Descriptors | java tcp Address | tcp"),
        (
            "process tcp-asyncio python:rust",
            "python tcp-asyncio Address | rust tcp Descriptors | tcp",
        ),
        (
            "process tcp-asyncio rust:python",
            "rust tcp Descriptors | python tcp-asyncio Address | tcp",
        ),
        (
            "process websocket-beast cpp:python",
            "cpp websocket-beast Descriptors | python websocket Address | websocket",
        ),
    ] {
        let roles = play(&case(words)).unwrap_or_else(|error| panic!("{words}: {error}"));
        let part = |role| {
            let end = roles.of(role);
            assert_eq!(end.case.mechanism, end.mechanism);
            format!("{} {} {:?}", end.runtime, end.mechanism, end.link)
        };
        let carrier = roles.carrier.as_deref().unwrap_or("-");
        let played = format!("{} | {} | {carrier}", part(Role::Caller), part(Role::Callee));
        assert_eq!(played, parts, "{words}");
    }
    // Each end is told its own parameters.
    let id = case("process tcp-asyncio python:rust");
    let parts = play(&id.replace("&runtime", "&nodelay=off&flush=on&runtime")).unwrap();
    let told = |role| format!("{:?}", parts.of(role).case.parameters);
    assert_eq!(told(Role::Caller), r#"{"flush": "on", "nodelay": "off"}"#);
    assert_eq!(told(Role::Callee), r#"{"nodelay": "off"}"#);
}

#[test]
fn what_cannot_be_played_is_said_in_a_line() {
    for (words, reason) in [
        ("channel-unbuffered go", "go's channel-unbuffered has no boundary `process`"),
        ("channel-unbuffered go:rust", "go's channel-unbuffered stays inside one runtime"),
        ("mp-queue python:python-nogil", "python's mp-queue stays inside one runtime"),
        (
            "tcp-asyncio python:python-nogil",
            "python's tcp-asyncio goes over tcp and python-nogil's tcp-asyncio over unix-stream, \
             so they cannot meet",
        ),
        ("pipe rust:java", "java has no mechanism pipe"),
        ("unknown python:java", "neither python nor java has a mechanism unknown"),
        (
            "websocket-beast cpp:go",
            "go has neither websocket-beast nor websocket, which cpp's goes over",
        ),
        ("pipe rust:erlang", "there is no runtime erlang here"),
        ("mutex-uncontended python", "python's mutex-uncontended has no workload `roundtrip`"),
    ] {
        assert_eq!(play(&case(&format!("process {words}"))).unwrap_err(), reason, "{words}");
    }
}
