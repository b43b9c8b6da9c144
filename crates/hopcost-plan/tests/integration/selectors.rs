//! Selectors, options, defaults and reasons.

use crate::common::*;
use hopcost_model::case::{Case, Placement};
use hopcost_model::plan::ExplanationPlan;
use hopcost_plan::{Ask, Catalog, Machine, PlanError, ensure_live, estimate_ns};

/// The plan of a selector.
fn of(selector: &str) -> hopcost_model::plan::Plan {
    planned(&ask(&[selector])).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

#[test]
fn what_is_not_said_takes_the_documented_defaults() {
    let sides = "boundary=process&place=same-cpu&wait=block";
    let cross = "boundary=process&place=same-llc&wait=block";
    let stream = "flows=1&ack=per-message&boundary=process&place=free&wait=block";
    for (selector, want) in [
        (
            "pipe",
            vec![
                format!("roundtrip/pipe?payload=64&{sides}"),
                format!("roundtrip/pipe?payload=64&{cross}"),
            ],
        ),
        ("syscall", vec!["call/syscall".into()]),
        ("ring-inline", vec!["call/ring-inline?payload=44&reply=off".into()]),
        (
            "park?place=cross",
            vec!["roundtrip/park?payload=0&boundary=thread&place=same-llc&wait=block".into()],
        ),
        (
            // Spins by default, but not where that measures the scheduler.
            "flag",
            vec![
                "roundtrip/flag?payload=0&boundary=process&place=same-cpu&wait=yield&pause=1"
                    .into(),
                "roundtrip/flag?payload=0&boundary=process&place=same-llc&wait=spin&pause=1".into(),
            ],
        ),
        (
            "futex?place=cross&wait=spin-then-block:block",
            vec![format!(
                "roundtrip/futex?payload=0&{}spin-then-block:block&spin=20000&pause=1&pshared=needed&wake=needed",
                cross.trim_end_matches("block")
            )],
        ),
        (
            // Both workloads; inline has one CPU.
            "*/null?boundary=inline",
            vec![
                "roundtrip/null?boundary=inline&place=same-cpu&wait=block&clock=real".into(),
                "call/null?clock=real".into(),
            ],
        ),
        (
            // The least that it carries, after a millisecond.
            "wake/pipe",
            vec![
                format!("wake/pipe?payload=1&gap=1000000&{sides}"),
                format!("wake/pipe?payload=1&gap=1000000&{cross}"),
            ],
        ),
        (
            "load/pipe?place=cross&senders=1..4",
            ["", "&senders=2", "&senders=4"]
                .map(|senders| format!("load/pipe?payload=64&rate=10000&{cross}{senders}"))
                .into(),
        ),
        (
            "tcp-send",
            vec![format!("stream/tcp-send?payload=32768&fields=8&{stream}&more=off&nodelay=off")],
        ),
        // The default message is made to divide.
        ("vm-readv?fields=3", vec![format!("stream/vm-readv?payload=32766&fields=3&{stream}")]),
        (
            // A key is left out where it means nothing.
            "tcp,udp,syscall?nodelay=off&place=cross&payload=100",
            vec![
                format!("roundtrip/tcp?payload=100&{cross}&nodelay=off"),
                format!("roundtrip/udp?payload=100&{cross}&timeout=200ms"),
                "call/syscall".into(),
            ],
        ),
        // The spelling of a case, by which reports name it, has times in nanoseconds.
        (
            &format!("wake/pipe?payload=1&gap=5000&{cross}"),
            vec![format!("wake/pipe?payload=1&gap=5000&{cross}")],
        ),
    ] {
        let plan = of(selector);
        assert_eq!(ids(&plan), want, "{selector}");
        assert!(skips(&plan).iter().all(Option::is_none), "{selector}: {plan:?}");
    }
}

#[test]
fn lists_multiply_and_stay_in_order() {
    let plan = of(
        "roundtrip/pipe,tcp?payload=64,4KiB&place=same-cpu,cross&wait=block,spin:block&nodelay=on,off",
    );
    assert_eq!(plan.cases.len(), 2 * 2 * 2 + 2 * 2 * 2 * 2);
    for (at, start) in [(0, "pipe?payload=64&"), (4, "pipe?payload=4096&"), (8, "tcp?payload=64&")]
    {
        assert!(ids(&plan)[at].starts_with(&format!("roundtrip/{start}")));
    }
    let spun = of("futex?place=cross&wait=block,spin-then-block&spin=5us,20us");
    assert_eq!(spun.cases.len(), 1 + 2, "the budget belongs to one of the waits only");
    // What is asked for twice is planned once.
    let plan = planned(&ask(&["pipe?place=cross,same-llc&payload=64,64", "pipe,pipe"])).unwrap();
    assert_eq!(plan.cases.len(), 2);
}

#[test]
fn globs_select_what_is_listed() {
    let names = |selector| {
        let mut names: Vec<String> =
            ids(&of(selector)).iter().map(|id| id.split('?').next().unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    let unix = ["roundtrip/unix-dgram", "roundtrip/unix-seqpacket", "roundtrip/unix-stream"];
    assert_eq!(names("roundtrip/unix-*"), unix);
    assert_eq!(names("unix-s*"), [&["stream/unix-sendmsg"], &unix[1..]].concat());
    let workloads = ["roundtrip/unix-stream", "wake/unix-stream", "load/unix-stream"];
    assert_eq!(names("*/unix-stream"), workloads);
    let listed = mechanisms().iter().filter(|mechanism| !mechanism.hidden()).count();
    assert_eq!(names("*").len(), listed, "test engines answer to their names only");
    assert_eq!(names("call/sleep:1ms,spin:1000"), ["call/sleep:1ms", "call/spin:1000"]);
    assert_eq!(names("call/replay:/tmp/a%20b%3Fc"), ["call/replay:/tmp/a%20b%3Fc"]);
    assert_eq!(names("call/replay:/tmp/a b"), ["call/replay:/tmp/a%20b"]);
}

#[test]
fn what_cannot_be_done_stays_with_its_reason() {
    // The first case that has a reason; an empty one stands for no reason at all.
    for (selector, want) in [
        (
            "websocket?boundary=inline",
            "websocket has no boundary `inline`; it has process, thread, host",
        ),
        ("udp?payload=70000", "payload 70000 is over the limit of 65507 bytes of udp"),
        ("pipe?payload=0", "payload 0 is under the least of 1 bytes of pipe"),
        ("call/pipe", "pipe has no workload `call`; it has roundtrip, wake"),
        ("tcp-vmsplice?ack=none", "tcp-vmsplice must not write a message's buffers again before"),
        ("wake/flag?place=same-cpu&wait=spin", "spinning ends on one CPU"),
        ("wake/pipe?place=free&idle-knob=spinner", "needs a receiver that is pinned"),
        // Asked for of every stream, so that of this one it is a row.
        ("*-send?payload=100", "payload 100 does not divide into fields 8"),
        ("posix-mq", "posix-mq is not available here: mq_open: function not implemented"),
        (
            "tcp-uring-zc?sends=field",
            "tcp-uring-zc is not available here with these parameters: this kernel's io_uring has no",
        ),
        (
            "pipe?place=cross-node",
            "no two CPUs here are cross-node; there are pairs that are same-llc",
        ),
        ("pipe?place=same-cpu&wait=block:spin-then-block", "spinning ends on one CPU"),
        ("roundtrip/null?boundary=inline&place=cross", "an inline boundary is one thread"),
        ("load/tcp?senders=2", "tcp has one sender: a connection has one"),
        ("load/pipe?senders=2&payload=8KiB", "pipe has several senders of messages of 4096 bytes"),
        ("load/pipe?senders=2&payload=4", "of 8 bytes or more, which carry their sender's number"),
        ("load/pipe?senders=2&queue=drop-newest:4", "so it needs senders=1"),
        ("tcp-send?ack-size=field&ack=window:2", "ack-size=field needs ack=per-message"),
        ("tcp-send?ack-size=field&ack=per-message", ""),
        ("tcp-sendmsg?ack=none&boundary=namespace", ""),
        ("wake/pipe?place=same-cpu&idle-knob=spinner", ""),
        ("wake/pipe?place=cross&idle-knob=dma-latency", ""),
        ("pipe?place=same-cpu&wait=yield", ""),
        ("tcp-uring-zc?sends=message", ""),
        ("pipe?place=free&wait=spin", ""),
    ] {
        let plan = of(selector);
        let reason = skips(&plan).into_iter().flatten().next().unwrap_or_default();
        assert_eq!(reason.is_empty(), want.is_empty(), "{selector}: {reason}");
        assert!(reason.contains(want) && !reason.contains('\n'), "{selector}: {reason}");
    }
    let plan = of("websocket?boundary=inline");
    let error = ensure_live(&plan).unwrap_err();
    assert!(matches!(error, PlanError::NothingLeft(_)));
    assert!(one_line(error).contains("websocket has no boundary `inline`"));
    assert_eq!(ensure_live(&of("pipe")), Ok(()));
}

#[test]
fn what_a_machine_lacks_is_a_row_with_the_reason() {
    let denied = || Err("permission\ndenied".to_owned());
    let plain_user = Machine { dma_latency: denied, namespaces: denied, ..two() };
    let clocks = Machine { one_way: |_, _| Err("not invariant".to_owned()), ..two() };
    for (machine, selector, want) in [
        (
            &plain_user,
            "wake/pipe?place=cross&idle-knob=none,dma-latency",
            "idle-knob=dma-latency is not available here: permission denied",
        ),
        (
            &plain_user,
            "tcp-send?boundary=process,namespace",
            "boundary=namespace is not available here: permission denied",
        ),
        (
            &clocks,
            "roundtrip,wake/pipe?place=same-cpu,cross",
            "one-way times refused: not invariant",
        ),
        (&one(), "pipe", "needs two CPUs; this process may use only CPU 3"),
    ] {
        let plan = planned_on(machine, &ask(&[selector])).unwrap();
        let (last, before) = plan.cases.split_last().unwrap();
        assert_eq!(last.skip.as_deref(), Some(want), "{selector}");
        assert!(before.iter().all(|case| case.skip.is_none()), "{selector}");
    }
    let plan = planned_on(&one(), &ask(&["pipe", "flag?place=free&wait=spin"])).unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.relation, plan.pairs.len()), (&[3][..], None, 0));
    assert!(skips(&plan)[2].unwrap().contains("spinning ends on one CPU"));
}

#[test]
fn a_plan_knows_the_cpus_of_every_placement_and_they_can_be_named() {
    let on = |cpus: &[u32], asked, selector| {
        let ask = Ask { cpus: cpus.to_vec(), ..ask(&[selector]) };
        planned_on(&Machine { asked, ..big() }, &ask)
    };
    let plan = on(&[], None, "pipe?place=same-cpu,smt,cross,cross-node,cross-llc").unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.live().count()), (&[0, 1, 32, 16][..], 4));
    assert_eq!(plan.cpus_for(Some(Placement::Smt)), (Some(0), Some(32)));
    assert_eq!(plan.cpus_for(Some(Placement::SameCpu)), (Some(0), Some(0)));
    let plan = on(&[], None, "pipe?place=same-cpu").unwrap();
    assert_eq!((plan.cpus, plan.relation), (vec![0], None));
    let plan = on(&[5, 37], Some(Placement::Smt), "pipe?place=same-cpu,cross,cross-node").unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.relation), (&[5, 37][..], Some(Placement::Smt)));
    assert_eq!(skips(&plan), [None, None, Some("CPUs 5 and 37 are smt, not cross-node")]);
    let plan = on(&[5], None, "pipe").unwrap();
    assert_eq!(skips(&plan), [None, Some("needs two CPUs; --cpus names only CPU 5")]);
    for (cpus, want) in [
        (&[99][..], "--cpus: this process may not use CPU 99"),
        (&[1, 1], "named twice"),
        (&[1, 2, 3], "3 CPUs are named"),
        (&[1, 2], "the relation of CPUs 1 and 2 is not known"),
    ] {
        let text = one_line(on(cpus, None, "pipe").unwrap_err());
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn mistakes_get_one_line_and_a_suggestion() {
    let sizes: Vec<String> = (1..=5000).map(|n| n.to_string()).collect();
    let (sizes, spins) = (sizes.join(","), sizes.join("ns,") + "ns");
    for (selector, want) in [
        // Words, of which near ones are suggested.
        ("pip", "selector `pip`: unknown mechanism `pip`; did you mean `pipe`?"),
        ("zeromq", "unknown mechanism `zeromq`; `hopcost list` shows them all"),
        ("rountrip/pipe", "unknown workload `rountrip`; did you mean `roundtrip`?"),
        ("pipe?paylod=64", "unknown key `paylod`; did you mean `payload`?"),
        ("tcp?nodelay=of", "unknown value of `nodelay` `of`; did you mean `off`?"),
        ("pipe?wait=block:spn", "unknown wait `spn`; did you mean `spin`?"),
        ("pipe?place=crss", "unknown place `crss`; did you mean `cross`?"),
        ("pi\u{1b}[2Jpe\nx", "unknown mechanism `pi\\u{1b}[2Jpe\\u{a}x`"),
        // Values.
        ("pipe?payload=4XB", "`4XB` is not a size (for instance 64, 4KiB, 1MiB)"),
        ("pipe?payload=5GiB", "`5GiB` is not a value for `payload`: want 0 to 4294967295 bytes"),
        ("pipe?payload=64,,65", "a value is empty"),
        ("pipe?payload=1&payload=2", "`payload` is given twice"),
        ("pipe?payload=64..64", "the range `64..64` does not rise; write SMALLEST..LARGEST"),
        ("pipe?payload=64..", "the range `64..` has one end"),
        ("wake/pipe?gap=1..1ms", "`1` has no unit; write 1us, 1ms or 1s"),
        ("wake/pipe?gap=1h", "`1h` is not a value for `gap`: want up to 10 s"),
        ("load/pipe?senders=17", "want a whole number from 1 to 16"),
        ("load/pipe?rate=5", "want 100 to 20000000 messages a second"),
        ("load/pipe?background=cpu:0", "`cpu:0` is not a value for `background`"),
        ("tcp-send?ack=window:0", "want `none`, `per-message` or `window:N` with N from 1 to 1024"),
        // What has no meaning.
        ("call/unix-*", "no such mechanism has the workload call"),
        ("pipe?nodelay=on", "`nodelay` is a parameter of tcp, not of `pipe`"),
        ("syscall?place=cross", "only a case with two ends has `place`"),
        ("syscall?payload=8", "only a mechanism with a payload has `payload`"),
        ("pipe?gap=1ms", "only a wake-up has `gap`"),
        ("pipe?wait=block&spin=5us", "only an end that waits by spin-then-block has `spin`"),
        ("tcp-send?field=64&payload=512", "`payload` and `field` both say how large a message is"),
        ("tcp-send?payload=100", "payload 100 does not divide into fields 8"),
        ("*-send?field=4095MiB&fields=1024", "fields 1024 of 4293918720 bytes are over"),
        // Form.
        ("", "a mechanism's name is empty"),
        ("pipe?", "`` is not key=value"),
        ("pipe:3", "`pipe` takes no argument"),
        ("sleep", "write sleep:1ms"),
        ("replay:%zz", "write it as %25"),
        // A slip cannot make a plan of millions, nor take gigabytes.
        (&format!("*?payload={sizes}"), "a plan has at most 10000, so shorten a list"),
        (&format!("pipe?payload={sizes}&wait=spin-then-block&spin={spins}"), "at most 10000"),
        (&("*,".repeat(10_001) + "*"), "at most 10000"),
    ] {
        let text = error(&ask(&[selector]));
        assert!(text.contains(want), "{selector:.100}: {text}");
    }
}

#[test]
fn options_fill_in_what_selectors_leave_open() {
    let asked = Ask {
        axes: [("payload", strings(&["4KiB,64", "1"])), ("place", strings(&["same-cpu"]))].into(),
        ..ask(&["pipe?payload=100", "tcp?nodelay=off"])
    };
    let plan = planned(&asked).unwrap();
    assert_eq!((plan.cases.len(), plan.suite.as_str()), (1 + 3, "command line"));
    assert!(ids(&plan)[1].starts_with("roundtrip/tcp?payload=4096&"));
    let every = planned(&on([("place", "same-cpu")], ask(&[]))).unwrap();
    assert_eq!(
        (every.suite.as_str(), every.cases.len()),
        ("command line", ids(&planned(&ask(&["*?place=same-cpu"])).unwrap()).len())
    );
    // A size that is said above replaces either below.
    let sizes = |option, selector: &str| {
        let plan = planned(&on([option], ask(&[selector]))).unwrap();
        cases(&plan).iter().map(|case| case.payload_bytes.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(("field", "100"), "tcp-send"), [800]);
    assert_eq!(sizes(("field", "100"), "tcp-send?fields=2"), [200]);
    assert_eq!(sizes(("field", "100"), "tcp-send?field=9"), [72]);
    assert_eq!(sizes(("payload", "80"), "tcp-send"), [80]);
    // A field is nothing to a pipe, which keeps the payload that it was given.
    assert_eq!(sizes(("payload", "80"), "tcp-send,pipe?field=100&place=free"), [800, 80]);
}

#[test]
fn an_option_without_effect_is_a_mistake() {
    for (ask, want) in [
        (on([("ack", "soon")], ask(&["tcp-send"])), "--ack: `soon` is not a value"),
        (
            on([("field", "64"), ("payload", "64")], ask(&["tcp-send"])),
            "--payload: `payload` and `field` both say",
        ),
        (
            on([("payload", "64")], ask(&["tcp-send?field=64"])),
            "--payload: `payload` has no effect, since `field` says",
        ),
        (
            on([("field", "64")], ask(&["tcp-send?payload=64"])),
            "--field: `field` has no effect, since `payload` says",
        ),
        (Ask { operations: Some(0), ..ask(&["pipe"]) }, "--operations: want a whole number"),
        (Ask { operations: Some(9), ..ask(&["syscall"]) }, "--operations: a call takes as many"),
        (Ask { rounds: Some(0), ..ask(&["pipe"]) }, "--rounds: want a whole number from 1"),
        (Ask { budget_ns: Some(0), ..ask(&["pipe"]) }, "--budget: "),
        (
            Ask { baseline: Some("posix-mq".into()), ..ask(&["pipe", "posix-mq"]) },
            "is not measured here: posix-mq is not available",
        ),
        (
            Ask { baseline: Some("udp".into()), ..ask(&["tcp,pipe"]) },
            "--baseline: `udp` selects no case of the plan; ask for it too, or choose among: tcp, pipe",
        ),
    ] {
        let text = error(&ask);
        assert!(text.contains(want), "{text}");
    }
    let plan = planned(&Ask { operations: Some(1_000_000), ..ask(&["pipe?place=cross"]) }).unwrap();
    assert_eq!(plan.trial.operations, Some(1_000_000));
    assert!(plan.trial.deadline_ms >= 100_000, "it must have the time");
    assert!(estimate_ns(&plan, &[]) > 20 * estimate_ns(&of("pipe?place=cross"), &[]));
}

#[test]
fn the_baseline_is_the_first_measured_case_that_is_selected_or_named() {
    let small = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
    let large = "roundtrip/pipe?payload=4096&boundary=process&place=same-llc&wait=block";
    for (baseline, selectors, want) in [
        (Some("pipe?payload=64"), &["tcp,pipe?payload=64,4KiB"][..], Some(small)),
        (Some("pipe?place=cross&payload=4KiB"), &["tcp,pipe?payload=64,4KiB"], Some(large)),
        (Some(large), &["tcp,pipe?payload=64,4KiB"], Some(large)),
        // The first; each size has the one of its own.
        (Some("pipe"), &["tcp,pipe?payload=64,4KiB"], Some(small)),
        (None, &["pipe", "tcp"], Some(small)),
        // Each is its own, and a call is no round trip.
        (None, &["pipe?payload=64,4KiB&place=same-cpu"], None),
        (None, &["call/syscall", "pipe?place=same-cpu"], None),
        (None, &["pipe?place=same-cpu"], None),
    ] {
        let asked = Ask { baseline: baseline.map(str::to_owned), ..ask(selectors) };
        assert_eq!(planned(&asked).unwrap().baseline.as_deref(), want, "{selectors:?}");
    }
}

#[test]
fn a_range_has_both_ends_and_the_powers_between() {
    let check = |selector: &str, of_case: fn(&Case) -> Option<u64>, want: &[u64]| {
        let numbers: Vec<u64> = cases(&of(selector)).iter().filter_map(of_case).collect();
        assert_eq!(numbers, want, "{selector}");
    };
    let payload: fn(&Case) -> Option<u64> = |case| case.payload_bytes.map(u64::from);
    check("pipe?payload=64..4KiB&place=same-cpu", payload, &[64, 256, 1024, 4096]);
    check("futex?payload=0..10,16&place=same-cpu", payload, &[0, 1, 4, 10, 16]);
    check("pipe?payload=100..1kB&place=same-cpu", payload, &[100, 256, 1000]);
    check("tcp-send?field=64..256", payload, &[512, 2048]);
    let gaps = [1_000, 10_000, 100_000, 1_000_000, 2_000_000];
    check("wake/pipe?gap=1us..2ms&place=cross", |case| case.gap_ns, &gaps);
    check("tcp-send?flows=1..6", |case| case.flows.map(u64::from), &[1, 2, 4, 6]);
    let rates = [10_000, 20_000, 40_000, 50_000];
    check("load/tcp?rate=10k..50k&place=cross", |case| case.rate.map(u64::from), &rates);
    // However much of nothing is touched, it is the same case.
    let touched = |selector: &str| {
        let of_case = |case: &Case| (case.payload_bytes.unwrap(), case.touch.word());
        cases(&of(selector)).iter().map(of_case).collect::<Vec<_>>()
    };
    assert_eq!(
        touched("futex?payload=0,64&touch=verify,write,none&place=same-cpu"),
        [(0, "verify"), (64, "verify"), (64, "write"), (64, "none")]
    );
    assert_eq!(touched("futex?payload=0&touch=none&place=same-cpu"), [(0, "none")]);
}

#[test]
fn wake_ups_to_be_explained_may_differ_by_their_gap_alone() {
    let explained = |ask: &Ask| {
        let catalog = Catalog::new(mechanisms(), Vec::new);
        hopcost_plan::explanation(ask, ExplanationPlan { tail: None }, &catalog, &two())
    };
    let gaps = |gaps, selectors: &[&str]| on([("gap", gaps)], ask(selectors));
    let plan = explained(&gaps("10us,1ms,10ms", &["wake/pipe"])).unwrap();
    let ids = ids(&plan);
    assert_eq!((ids.len(), plan.trial.traced_operations), (3, Some(100)));
    for (id, gap) in ids.iter().zip(["gap=10000&", "gap=1000000&", "gap=10000000&"]) {
        assert!(id.starts_with("wake/pipe?") && id.contains(gap), "{id}");
    }
    let plan = explained(&ask(&["wake/pipe?gap=1us", "wake/eventfd?gap=1us"])).unwrap();
    assert_eq!((plan.cases.len(), plan.trial.traced_operations), (2, Some(1_000)));
    for (ask, why) in [
        (gaps("10us,1ms", &["wake/pipe", "wake/eventfd"]), "it selects 2 cases"),
        (gaps("10us,1ms", &["wake/pipe?wait=block,spin"]), "it selects"),
        (ask(&["wake/flag"]), "an end that spins"),
        (ask(&["stream/tcp-send"]), "explains round trips and wake-ups"),
    ] {
        let text = one_line(explained(&ask).unwrap_err());
        assert!(text.contains(why), "{text}");
    }
}
