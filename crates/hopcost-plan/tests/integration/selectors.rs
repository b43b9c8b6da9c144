//! Selectors, options, defaults and reasons.

use crate::common::*;
use hopcost_model::case::{Case, Placement};
use hopcost_model::plan::ExplanationPlan;
use hopcost_plan::{Ask, Machine, PlanError, ensure_live};

fn reasons(machine: &Machine, selector: &str) -> Vec<Option<String>> {
    planned_on(machine, &[selector]).cases.into_iter().map(|case| case.skip).collect()
}

#[test]
fn what_is_not_said_takes_the_documented_defaults() {
    for (selector, want) in [
        (
            "pipe",
            &[
                "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block",
                "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block",
            ][..],
        ),
        ("syscall", &["call/syscall"]),
        ("ring-inline", &["call/ring-inline?payload=44&reply=off"]),
        (
            "park?place=cross",
            &["roundtrip/park?payload=0&boundary=thread&place=same-llc&wait=block"],
        ),
        (
            // Spins by default, but not where that measures the scheduler.
            "flag",
            &[
                "roundtrip/flag?payload=0&boundary=process&place=same-cpu&wait=yield",
                "roundtrip/flag?payload=0&boundary=process&place=same-llc&wait=spin",
            ],
        ),
        (
            "futex?place=cross&wait=spin-then-block:block",
            &[
                "roundtrip/futex?payload=0&boundary=process&place=same-llc&wait=spin-then-block:block&spin=20000",
            ],
        ),
        (
            // Both workloads; inline has one CPU.
            "*/null?boundary=inline",
            &[
                "call/null?payload=0",
                "roundtrip/null?payload=0&boundary=inline&place=same-cpu&wait=block",
            ],
        ),
        (
            // The least that it carries, after a millisecond.
            "wake/pipe",
            &[
                "wake/pipe?payload=1&gap=1000000&boundary=process&place=same-cpu&wait=block",
                "wake/pipe?payload=1&gap=1000000&boundary=process&place=same-llc&wait=block",
            ],
        ),
        (
            "load/pipe?place=cross&senders=1..4",
            &[
                "load/pipe?payload=64&rate=10000&boundary=process&place=same-llc&wait=block",
                "load/pipe?payload=64&rate=10000&boundary=process&place=same-llc&wait=block&senders=2",
                "load/pipe?payload=64&rate=10000&boundary=process&place=same-llc&wait=block&senders=4",
            ],
        ),
        (
            "tcp-send",
            &[
                "stream/tcp-send?payload=32768&fields=8&flows=1&ack=per-message&boundary=process&place=free&wait=block&more=off&nodelay=off",
            ],
        ),
        (
            // The default message is made to divide.
            "vm-readv?fields=3",
            &[
                "stream/vm-readv?payload=32766&fields=3&flows=1&ack=per-message&boundary=process&place=free&wait=block",
            ],
        ),
    ] {
        let plan = planned(&ask(&[selector])).unwrap();
        assert_eq!(ids(&plan), want, "{selector}");
        assert!(plan.cases.iter().all(|case| case.skip.is_none()), "{selector}: {plan:?}");
    }
}

#[test]
fn lists_multiply_and_stay_in_order() {
    let plan = planned(&ask(&[
        "roundtrip/{pipe,tcp}?payload=64,4KiB&place=same-cpu,cross&wait=block,spin:block&nodelay=on,off",
    ]))
    .unwrap();
    assert_eq!(plan.cases.len(), 2 * 2 * 2 + 2 * 2 * 2 * 2);
    assert!(plan.cases[0].id().starts_with("roundtrip/pipe?payload=64&"));
    assert!(plan.cases[4].id().starts_with("roundtrip/pipe?payload=4096&"));
    assert!(plan.cases[8].id().starts_with("roundtrip/tcp?payload=64&"));
    let spun = planned(&ask(&["futex?place=cross&wait=block,spin-then-block&spin=5us,20us"]));
    assert_eq!(spun.unwrap().cases.len(), 1 + 2, "the budget belongs to one of the waits only");
}

#[test]
fn globs_select_what_is_listed() {
    let names = |selector| {
        let plan = planned(&ask(&[selector])).unwrap();
        let mut names: Vec<String> =
            plan.cases.iter().map(|c| c.id().split('?').next().unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    assert_eq!(
        names("unix-*"),
        [
            "roundtrip/unix-stream",
            "roundtrip/unix-dgram",
            "roundtrip/unix-seqpacket",
            "stream/unix-sendmsg"
        ]
    );
    assert_eq!(names("roundtrip/unix-*").len(), 3);
    assert_eq!(
        names("*/unix-stream"),
        ["roundtrip/unix-stream", "wake/unix-stream", "load/unix-stream"]
    );
    assert_eq!(names("call/*").len(), 13);
    assert_eq!(names("*").len(), 48, "test engines answer to their names only");
    assert_eq!(names("*/null"), ["call/null", "roundtrip/null"]);
    assert_eq!(names("call/sleep:1ms,spin:1000"), ["call/sleep:1ms", "call/spin:1000"]);
    assert_eq!(names("call/replay:/tmp/a%20b%3Fc"), ["call/replay:/tmp/a%20b%3Fc"]);
    assert_eq!(names("call/replay:/tmp/a b"), ["call/replay:/tmp/a%20b"]);
}

#[test]
fn a_case_asked_for_twice_is_planned_once() {
    let plan = planned(&ask(&["pipe?place=cross,same-llc&payload=64,64", "{pipe,pipe}"])).unwrap();
    assert_eq!(plan.cases.len(), 2);
}

#[test]
fn what_cannot_be_done_stays_with_its_reason() {
    for (selector, want) in [
        (
            "websocket?boundary=inline",
            "websocket has no boundary `inline`; it has process, thread, namespace, host",
        ),
        ("udp?payload=70000", "payload 70000 is over the limit of 65507 bytes of udp"),
        ("udp?payload=0", "payload 0 is under the least of 1 bytes of udp"),
        ("call/pipe", "pipe has no workload `call`; it has roundtrip, wake"),
        ("tcp-vmsplice?ack=none", "tcp-vmsplice must not write a message's buffers again before"),
        ("wake/flag?place=same-cpu&wait=spin", "spinning ends on one CPU"),
        ("wake/pipe?place=free&idle-knob=spinner", "needs a receiver that is pinned"),
        // Asked for of every stream, so that of this one it is a row.
        ("*-send?payload=100", "payload 100 does not divide into fields 8"),
        ("posix-mq", "posix-mq is not available here: mq_open: function not implemented"),
        (
            "tcp-uring?setup=deferred",
            "tcp-uring is not available here as it was asked for: io_uring_setup: invalid argument",
        ),
        (
            "pipe?place=cross-node",
            "no two CPUs here are cross-node; there are pairs that are same-llc",
        ),
        ("pipe?place=same-cpu&wait=block:spin-then-block", "spinning ends on one CPU"),
        ("roundtrip/null?boundary=inline&place=cross", "an inline boundary is one thread"),
        ("load/tcp?senders=2", "tcp has one sender: its two ends are joined to each other alone"),
        ("load/pipe?senders=2&payload=8KiB", "pipe has several senders of messages of 4096 bytes"),
        ("load/pipe?senders=2&payload=4", "of 8 bytes or more, which tell who sent them"),
        ("load/pipe?senders=2&queue=drop-newest:4", "so it needs senders=1"),
    ] {
        let got: Vec<_> = reasons(&two(), selector).into_iter().flatten().collect();
        assert!(got.first().is_some_and(|reason| reason.contains(want)), "{selector}: {got:?}");
        assert!(got.iter().all(|reason| !reason.contains('\n')), "{got:?}");
    }
    assert_eq!(reasons(&two(), "tcp-sendmsg?ack=none&boundary=namespace"), [None]);
    assert_eq!(reasons(&two(), "wake/pipe?place=same-cpu&idle-knob=spinner"), [None]);
    assert_eq!(reasons(&two(), "pipe?place=same-cpu&wait=yield"), [None]);
    assert_eq!(reasons(&two(), "tcp-uring?setup=plain"), [None]);
    assert_eq!(reasons(&two(), "pipe?place=free&wait=spin"), [None]);
    assert_eq!(reasons(&two(), "roundtrip/null?boundary=inline&wait=spin"), [None]);
}

#[test]
fn what_this_user_may_not_do_is_a_row_with_the_reason() {
    for (selector, want) in [
        (
            "wake/pipe?place=cross&idle-knob=none,dma-latency",
            "idle-knob=dma-latency is not available here: permission denied",
        ),
        (
            "tcp-send?boundary=process,namespace",
            "boundary=namespace is not available here: permission denied",
        ),
    ] {
        let got = reasons(&unprivileged(), selector);
        assert_eq!((got.len(), &got[0], got[1].as_deref()), (2, &None, Some(want)));
        assert!(reasons(&two(), selector).iter().all(Option::is_none));
    }
}

#[test]
fn one_cpu_is_said_to_be_one() {
    let plan = planned_on(&one(), &["pipe", "flag?place=free&wait=spin"]);
    assert_eq!(plan.cpus, [3]);
    assert_eq!((plan.relation, plan.pairs.len()), (None, 0));
    let skips: Vec<_> = plan.cases.iter().map(|case| case.skip.as_deref()).collect();
    assert_eq!(skips[..2], [None, Some("needs two CPUs; this process may use only CPU 3")]);
    assert!(skips[2].unwrap().contains("spinning ends on one CPU"));
}

#[test]
fn a_plan_knows_the_cpus_of_every_placement() {
    let plan = planned_on(&big(), &["pipe?place=same-cpu,smt,cross,cross-node,cross-llc"]);
    assert_eq!(plan.relation, Some(Placement::SameLlc));
    assert_eq!(plan.cpus, [0, 1, 32, 16]);
    assert_eq!(plan.cpus_for(Some(Placement::Smt)), (Some(0), Some(32)));
    assert_eq!(plan.cpus_for(Some(Placement::SameCpu)), (Some(0), Some(0)));
    assert_eq!(plan.cpus_for(Some(Placement::Free)), (None, None));
    assert_eq!(plan.live().count(), 4);
    let single = planned_on(&big(), &["pipe?place=same-cpu"]);
    assert_eq!((single.cpus, single.relation), (vec![0], None));
}

#[test]
fn cpus_can_be_named() {
    let on = |cpus: &[u32], asked, selector| {
        let ask = Ask { cpus: cpus.to_vec(), ..ask(&[selector]) };
        hopcost_plan::plan(&ask, mechanisms(), &Vec::new, &Machine { asked, ..big() })
    };
    let plan = on(&[5, 37], Some(Placement::Smt), "pipe?place=same-cpu,cross,cross-node").unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.relation), (&[5, 37][..], Some(Placement::Smt)));
    assert!(plan.cases[1].id().contains("place=smt"));
    assert_eq!(plan.cases[2].skip.as_deref(), Some("CPUs 5 and 37 are smt, not cross-node"));
    let plan = on(&[5], None, "pipe").unwrap();
    assert_eq!(plan.cpus, [5]);
    assert_eq!(plan.cases[1].skip.as_deref(), Some("needs two CPUs; --cpus names only CPU 5"));
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
    for (selector, want) in [
        ("pip", "selector `pip`: unknown mechanism `pip`; did you mean `pipe`?"),
        ("zeromq", "unknown mechanism `zeromq`; `hopcost list` shows them all"),
        ("rountrip/pipe", "unknown workload `rountrip`; did you mean `roundtrip`?"),
        ("call/unix-*", "no such mechanism has the workload call"),
        ("pipe?paylod=64", "unknown key `paylod`; did you mean `payload`?"),
        ("pipe?nodelay=on", "`nodelay` is a parameter of tcp, not of `pipe`"),
        ("tcp?nodelay=of", "unknown value of `nodelay` `of`; did you mean `off`?"),
        ("pipe?wait=block:spn", "unknown wait `spn`; did you mean `spin`?"),
        ("pipe?payload=4XB", "`4XB` is not a size (for instance 64, 4KiB, 1MiB)"),
        ("pipe?payload=5GiB", "payload `5GiB` is over the 4294967295 bytes"),
        ("pipe?payload=64,,65", "a value is empty"),
        ("pipe?payload=1&payload=2", "`payload` is given twice"),
        ("pipe?", "`` is not key=value"),
        ("syscall?place=cross", "a call has no second party, so `place` says nothing of it"),
        ("syscall?payload=8", "`syscall` carries no payload"),
        ("tcp-send?ack-size=16", "unknown ack-size `16`"),
        ("pipe?sched=fifo:0", "sched"),
        ("wake/pipe?gap=1xs", "`1xs` is not a duration (for instance 500us, 20ms, 75s, 2m)"),
        ("wake/pipe?gap=1h", "gap `1h` is over the 10s at most"),
        ("pipe?gap=1ms", "only a wake-up has `gap`; write wake/MECHANISM or leave it out"),
        ("load/pipe?senders=17", "want a whole number from 1 to 16"),
        ("load/pipe?background=cpu:0", "`cpu:0` is not a value for `background`"),
        (
            "tcp-send?fields=0",
            "`0` is not a value for `fields`: want a whole number from 1 to 1024",
        ),
        ("tcp-send?ack=window:0", "want `none`, `per-message` or `window:N` with N from 1 to 1024"),
        ("tcp-send?field=0", "a field of 0 bytes carries nothing"),
        ("tcp-send?field=64&payload=512", "`payload` and `field` both say how large a message is"),
        ("tcp-send?payload=100", "payload 100 does not divide into fields 8"),
        ("*-send?field=4095MiB&fields=1024", "fields 1024 of 4293918720 bytes are over"),
        ("", "a mechanism's name is empty"),
        ("{pipe", "a brace without its partner"),
        ("[", "is not a glob"),
        ("pipe:3", "`pipe` takes no argument"),
        ("sleep", "write sleep:1ms"),
        ("replay:%zz", "write it as %25"),
        ("pi\u{1b}[2Jpe\nx", "is not a glob"),
    ] {
        let text = error(&ask(&[selector]));
        assert!(text.contains(want), "{selector:?}: {text}");
    }
    let text = error(&ask(&["pipe?wait=block&spin=5us"]));
    assert!(text.contains("ask for that wait too"), "{text}");
}

#[test]
fn a_key_is_left_out_where_it_means_nothing() {
    let plan = planned(&ask(&["{tcp,udp,syscall}?nodelay=off&place=cross&payload=100"])).unwrap();
    assert_eq!(
        ids(&plan),
        [
            "roundtrip/tcp?payload=100&boundary=process&place=same-llc&wait=block&congestion=cubic&nodelay=off",
            "roundtrip/udp?payload=100&boundary=process&place=same-llc&wait=block",
            "call/syscall",
        ]
    );
}

#[test]
fn options_fill_in_what_selectors_leave_open() {
    let ask = Ask {
        axes: [("payload", strings(&["4KiB,64", "1"])), ("place", strings(&["same-cpu"]))].into(),
        parameters: strings(&["nodelay=off"]),
        ..ask(&["pipe?payload=100", "tcp"])
    };
    let plan = planned(&ask).unwrap();
    assert_eq!(plan.cases.len(), 1 + 3);
    assert!(ids(&plan)[1].starts_with("roundtrip/tcp?payload=4096&"));
    assert!(ids(&plan)[1].ends_with("nodelay=off"));
    assert_eq!(plan.suite, "command line");
}

#[test]
fn options_alone_are_over_all_mechanisms() {
    let mechanism = Ask { mechanism: strings(&["unix-*,pipe", "null"]), ..ask(&[]) };
    let plan = planned(&mechanism).unwrap();
    assert_eq!(plan.cases.len(), 3 * 2 + 1 + 2 + 1);
    let workload = Ask { workload: strings(&["call"]), ..ask(&[]) };
    assert_eq!(planned(&workload).unwrap().cases.len(), 13);
    let both = Ask { workload: strings(&["call"]), ..mechanism };
    let text = error(&Ask { mechanism: strings(&["unix-*"]), ..both });
    assert!(text.contains("no such mechanism has the workload call"), "{text}");
}

#[test]
fn a_size_said_above_replaces_either_below() {
    let of = |options: Ask, selector: &str| {
        let plan = planned(&Ask { selectors: strings(&[selector]), ..options }).unwrap();
        cases(&plan).iter().map(|case| case.payload_bytes).collect::<Vec<_>>()
    };
    let field = on([("field", "100")], Ask::default());
    let payload = on([("payload", "80")], Ask::default());
    assert_eq!(of(field.clone(), "tcp-send"), [Some(800)]);
    assert_eq!(of(field.clone(), "tcp-send?fields=2"), [Some(200)]);
    assert_eq!(of(field, "tcp-send?field=9"), [Some(72)]);
    assert_eq!(of(payload.clone(), "tcp-send"), [Some(80)]);
    // A field is nothing to a pipe, which keeps the payload that it was given.
    assert_eq!(of(payload, "{tcp-send,pipe}?field=100&place=free"), [Some(800), Some(80)]);
}

#[test]
fn operations_are_exact_and_counted_in_the_estimate() {
    let plan = planned(&Ask { operations: Some(1_000_000), ..ask(&["pipe?place=cross"]) }).unwrap();
    assert_eq!(plan.trial.operations, Some(1_000_000));
    assert!(plan.trial.deadline_ms >= 100_000, "it must have the time");
    let aimed = planned(&ask(&["pipe?place=cross"])).unwrap();
    assert!(hopcost_plan::estimate_ns(&plan, &[]) > 20 * hopcost_plan::estimate_ns(&aimed, &[]));
}

#[test]
fn an_option_without_effect_is_a_mistake() {
    for (ask, want) in [
        (Ask { parameters: strings(&["nodelay=on"]), ..ask(&["pipe"]) }, "--parameter: `nodelay`"),
        (Ask { parameters: strings(&["nodelay"]), ..ask(&["pipe"]) }, "is not KEY=VALUE"),
        (Ask { parameters: strings(&["payload=1"]), ..ask(&["pipe"]) }, "an option of its own"),
        (
            Ask { mechanism: strings(&["tcp"]), ..ask(&["pipe"]) },
            "--mechanism: the selectors has no",
        ),
        (on([("ack", "soon")], ask(&["tcp-send"])), "--ack: `soon` is not a value"),
        (
            on([("field", "64"), ("payload", "64")], ask(&["tcp-send"])),
            "--field: `payload` and `field` both say",
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
        (Ask { full: true, ..ask(&["pipe"]) }, "--full: which suite?; write --suite wakeup --full"),
        (Ask { rounds: Some(0), ..ask(&["pipe"]) }, "--rounds: want a whole number from 1"),
        (Ask { budget_ns: Some(0), ..ask(&["pipe"]) }, "--budget: "),
        (
            Ask { baseline: Some("posix-mq".into()), ..ask(&["pipe", "posix-mq"]) },
            "is not measured here: posix-mq is not available",
        ),
    ] {
        let text = error(&ask);
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn a_baseline_is_the_first_measured_case_that_it_selects() {
    let plan = |baseline: &str| {
        let ask = Ask { baseline: Some(baseline.into()), ..ask(&["tcp,pipe?payload=64,4KiB"]) };
        planned(&ask).unwrap().baseline.unwrap()
    };
    let small = plan("pipe?payload=64");
    assert!(small.starts_with("roundtrip/pipe?payload=64&boundary=process&place=same-cpu"));
    assert!(
        plan("pipe?place=cross&payload=4KiB")
            .contains("payload=4096&boundary=process&place=same-llc")
    );
    let id = "roundtrip/pipe?payload=4096&boundary=process&place=same-cpu&wait=block";
    assert_eq!(plan(id), id);
    assert_eq!(plan("pipe"), small, "the first; each size has the one of its own");
    let unknown = Ask { baseline: Some("udp".into()), ..ask(&["tcp,pipe"]) };
    let line = one_line(planned(&unknown).unwrap_err());
    assert!(line.contains("--baseline: `udp` selects no case of the plan"), "{line}");
    assert!(line.ends_with("choose among: tcp, pipe"), "{line}");
}

#[test]
fn of_cases_that_are_named_the_first_is_the_baseline() {
    let baseline = |selectors: &[&str]| planned(&ask(selectors)).unwrap().baseline;
    let wake = baseline(&["wake/eventfd", "wake/pipe"]).unwrap();
    assert!(wake.starts_with("wake/eventfd?payload=0&"), "{wake}");
    assert!(baseline(&["tcp", "pipe"]).unwrap().starts_with("roundtrip/tcp?"));
    assert_eq!(baseline(&["pipe?payload=64,4KiB&place=same-cpu"]), None, "each is its own");
    assert_eq!(baseline(&["call/syscall", "pipe?place=same-cpu"]), None, "a call is no round trip");
    assert_eq!(baseline(&["pipe?place=same-cpu"]), None);
}

#[test]
fn a_long_acknowledgement_needs_one_message_under_way() {
    let plan = planned(&ask(&["tcp-send?ack-size=field&ack=per-message,window:2,none"])).unwrap();
    let skips: Vec<Option<&str>> = plan.cases.iter().map(|case| case.skip.as_deref()).collect();
    let reason = Some(
        "ack-size=field needs ack=per-message: with more messages under way, both ends may wait \
         for room to send",
    );
    assert_eq!(skips, [None, reason, reason]);
}

#[test]
fn nothing_is_touched_in_one_way() {
    let touches = |selector: &str| {
        let cases = cases(&planned(&ask(&[selector])).unwrap()).into_iter();
        cases.map(|case| (case.payload_bytes, case.touch.word())).collect::<Vec<_>>()
    };
    assert_eq!(
        touches("futex?payload=0,64&touch=verify,write,none&place=same-cpu"),
        [(Some(0), "verify"), (Some(64), "verify"), (Some(64), "write"), (Some(64), "none")]
    );
    assert_eq!(touches("futex?payload=0&touch=none&place=same-cpu"), [(Some(0), "none")]);
}

#[test]
fn a_plan_with_nothing_to_measure_is_shown_but_not_run() {
    let plan = planned(&ask(&["websocket?boundary=inline"])).unwrap();
    let error = ensure_live(&plan).unwrap_err();
    assert!(matches!(error, PlanError::NothingLeft(_)));
    assert!(one_line(error).contains("websocket has no boundary `inline`"));
    assert_eq!(ensure_live(&planned(&ask(&["pipe"])).unwrap()), Ok(()));
}

#[test]
fn a_slip_cannot_make_a_plan_of_millions() {
    let sizes: Vec<String> = (1..=5000).map(|n| n.to_string()).collect();
    let text = error(&ask(&[&format!("*?payload={}", sizes.join(","))]));
    assert!(text.contains("a plan has at most 10000, so shorten a list"), "{text}");
    let spins = sizes.join("ns,") + "ns";
    let sizes = sizes.join(",");
    let text = error(&ask(&[&format!("pipe?payload={sizes}&wait=spin-then-block&spin={spins}")]));
    assert!(text.contains("at most 10000"), "{text}");
}

#[test]
fn a_range_has_both_ends_and_the_powers_between() {
    let numbers = |selector: &str, of: fn(&Case) -> u64| {
        cases(&planned(&ask(&[selector])).unwrap()).iter().map(of).collect::<Vec<_>>()
    };
    let sizes = |selector: &str| numbers(selector, |case| case.payload_bytes.unwrap().into());
    assert_eq!(sizes("pipe?payload=64..64KiB&place=same-cpu"), [64, 256, 1024, 4096, 16384, 65536]);
    assert_eq!(sizes("futex?payload=0..10,16&place=same-cpu"), [0, 1, 4, 10, 16]);
    assert_eq!(sizes("pipe?payload=100..1kB&place=same-cpu"), [100, 256, 1000]);
    assert_eq!(sizes("tcp-send?field=64..256"), [512, 2048]);
    let gaps = numbers("wake/pipe?gap=1us..2ms&place=cross", |case| case.gap_ns.unwrap());
    assert_eq!(gaps, [1_000, 10_000, 100_000, 1_000_000, 2_000_000]);
    let flows = numbers("tcp-send?flows=1..6", |case| case.flows.unwrap().into());
    assert_eq!(flows, [1, 2, 4, 6]);
    let rates = numbers("load/tcp?rate=10k..50k&place=cross", |case| case.rate.unwrap().into());
    assert_eq!(rates, [10_000, 20_000, 40_000, 50_000]);
    for (selector, want) in [
        ("pipe?payload=64..64", "the range `64..64` does not rise; write SMALLEST..LARGEST"),
        ("pipe?payload=64..", "the range `64..` has one end"),
        ("pipe?payload=1..9999999TiB", "`9999999TiB` is not a size"),
        ("wake/pipe?gap=1..1ms", "`1` has no unit; write 1us, 1ms or 1s"),
    ] {
        let text = error(&ask(&[selector]));
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn a_bare_number_is_bytes_and_no_time() {
    for (selector, want) in [
        ("wake/pipe?gap=1", "`1` has no unit; write 1us, 1ms or 1s"),
        ("wake/pipe?gap=1000000", "has no unit"),
        ("pipe?wait=spin-then-block&spin=20", "`20` has no unit"),
    ] {
        let text = error(&ask(&[selector]));
        assert!(text.contains(want), "{text}");
    }
    // The spelling of a case, by which reports name it, has nanoseconds.
    let id = "wake/pipe?payload=1&gap=5000&boundary=process&place=same-llc&wait=block";
    assert_eq!(planned(&ask(&[id])).unwrap().cases[0].id(), id);
}

#[test]
fn one_way_times_need_clocks_that_agree() {
    let machine = Machine { one_way: |_, _| Err("not invariant".to_owned()), ..two() };
    let refused = Some("one-way times refused: not invariant".to_owned());
    let both = "place=same-cpu,cross";
    assert_eq!(reasons(&machine, &format!("roundtrip/pipe?{both}")), [None, None]);
    assert_eq!(reasons(&machine, &format!("wake/pipe?{both}")), [None, refused]);
}

#[test]
fn wake_ups_to_be_explained_may_differ_by_their_gap_alone() {
    let explained = |ask: &Ask| {
        let asked = ExplanationPlan { tail: None };
        hopcost_plan::explanation(ask, asked, &mechanisms(), &Vec::new, &two())
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
