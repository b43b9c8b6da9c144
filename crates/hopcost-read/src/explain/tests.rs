use hopcost_model::results::{Leg::Back, Leg::Forth};
use hopcost_model::trace::{
    TraceKind::IdleEnter, TraceKind::IdleExit, TraceKind::IpiSend, TraceKind::Migrate,
    TraceKind::RescheduleEntry, TraceKind::RescheduleExit, TraceKind::SoftirqEntry,
    TraceKind::SoftirqExit, TraceKind::Stamp, TraceKind::Switch, TraceKind::SyscallEnter,
    TraceKind::SyscallExit, TraceKind::Wakeup, TraceKind::Waking,
};
use hopcost_model::{
    Code, Question, SegmentKind as Kind, Severity, Trace, TraceEvent, TraceKind, TraceThread,
    Verdict,
};
use hopcost_stats::rng::Rng;

use super::*;
use crate::testing::{Builder, PIPE, TCP, found, read, survive_nonsense};

const A: TraceThread = TraceThread::Caller;
const B: TraceThread = TraceThread::Callee;
const IDLE: TraceThread = TraceThread::Idle;

/// An event of a hop: ns after the one before, CPU, thread, what happens.
type Line = (u64, u32, TraceThread, TraceKind);

/// A hop and the segments that it is cut into, as traces.txt writes them.
struct Recorded {
    name: &'static str,
    lines: Vec<Line>,
    segments: Vec<&'static str>,
}

impl Recorded {
    fn last(&self) -> Leg {
        if self.name.starts_with("wake-up") { Forth } else { Back }
    }
}

fn all_recorded() -> Vec<Recorded> {
    let of = |section: &'static str| {
        let lines = section.lines();
        let after = |sign| lines.clone().filter_map(move |line| line.strip_prefix(sign));
        Recorded {
            name: lines.clone().next().unwrap(),
            lines: after("> ").map(recorded_event).collect(),
            segments: after("= ").collect(),
        }
    };
    include_str!("traces.txt").split("\n# ").skip(1).map(of).collect()
}

fn recorded_event(line: &str) -> Line {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| words[at].parse::<u32>().unwrap();
    let thread = |at: usize| match words[at] {
        "caller" => A,
        "callee" => B,
        "idle" => IDLE,
        _ => TraceThread::Other(7),
    };
    let kind = match words[3] {
        "stamp" => Stamp(number(4) as u8),
        "enter" => SyscallEnter(number(4)),
        "exit" => SyscallExit(number(4)),
        "waking" => Waking(thread(4)),
        "wakeup" => Wakeup(thread(4)),
        "ipi-to" => IpiSend { to_cpu: number(4) },
        "reschedule-begins" => RescheduleEntry,
        "reschedule-ends" => RescheduleExit,
        "idle-enter" => IdleEnter { state: number(4) },
        "idle-exit" => IdleExit,
        "softirq-begins" => SoftirqEntry(number(4)),
        "softirq-ends" => SoftirqExit(number(4)),
        "switch" => Switch { from: thread(4), to: thread(5) },
        other => panic!("{other}"),
    };
    (number(0).into(), number(1), thread(2), kind)
}

fn recorded(name: &str) -> Vec<Line> {
    all_recorded().into_iter().find(|one| one.name == name).expect(name).lines
}

/// A phase of hops like these, each made from its number.
fn trace_of(n: u64, hop: impl Fn(u64) -> Vec<Line>) -> Trace {
    let mut events = Vec::new();
    let mut at_ns = 0;
    let mut push = |(after_ns, cpu, thread, kind): Line| {
        at_ns += after_ns;
        events.push(TraceEvent { at_ns, cpu, thread, kind });
    };
    push((0, 0, A, Stamp(0)));
    (0..n).flat_map(hop).for_each(push);
    Trace {
        operations: n,
        events,
        lost: 0,
        clock_bound_ns: 40,
        untraced_ns: vec![2000; n as usize],
        event_cost_ns: Some(10.0),
        missing: Vec::new(),
    }
}

fn same(n: u64, lines: &[Line]) -> Trace {
    trace_of(n, |_| lines.to_vec())
}

/// The second of three such hops: of it, all that is before is known.
fn second(lines: &[Line], last: Leg) -> Hop {
    let cut = cut(&same(3, lines), last);
    assert_eq!((cut.hops.len(), cut.left_out.len()), (3, 0), "{:?}", cut.left_out);
    let hop = cut.hops[1].clone();
    assert_eq!(hop.parts.values().map(|part| part.ns).sum::<u64>(), hop.total_ns);
    hop
}

#[test]
fn each_recorded_hop_is_cut_into_the_segments_below_it() {
    let mut wrong = Vec::new();
    for one in all_recorded() {
        let hop = second(&one.lines, one.last());
        let said = |(of, part): (&Segment, &cut::Part)| {
            format!("{} {} {:?} {}", of.leg.word(), of.end, of.kind, part.ns)
        };
        let segments: Vec<String> = hop.parts.iter().map(said).collect();
        if segments != one.segments {
            wrong.push(format!("# {}\n= {}", one.name, segments.join("\n= ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_segment_that_most_hops_lack_has_no_typical_time() {
    let lines = recorded("one-cpu");
    let waking = lines.iter().position(|line| matches!(line.3, Waking(_))).unwrap();
    let with_softirq = &|n: u64| {
        let mut lines = lines.clone();
        if n.is_multiple_of(4) {
            lines[waking].0 -= 30;
            lines.splice(waking..waking, [(10, 0, A, SoftirqEntry(3)), (20, 0, A, SoftirqExit(3))]);
        }
        lines
    };
    let raw = run(&[(PIPE, &|_| trace_of(50, with_softirq))]);
    let explained = read(&raw).explanation.unwrap().cases.remove(0);
    let seldom = explained.segments.iter().find(|of| of.segment.kind == Kind::Softirq).unwrap();
    assert_eq!((seldom.typical_ns.point, seldom.share, seldom.p50_ns), (None, 0.0, 0.0));
    assert!(seldom.p99_ns > 0.0);
    let others = explained.segments.iter().filter(|of| of.segment.kind != Kind::Softirq);
    assert!(
        others.clone().count() > 0 && others.map(|of| of.typical_ns.point).all(|ns| ns.is_some())
    );
}

#[test]
fn what_events_do_not_show_is_left_out_with_its_reason() {
    let lost = Trace { lost: 3, ..same(5, &recorded("one-cpu")) };
    let full = "3 events of the phase lost, because the buffers were full: other work on these CPUs, or \
                too long a gap";
    let mut unsorted = same(5, &recorded("one-cpu"));
    unsorted.events.swap(3, 4);
    let of = |keep: fn(&Line) -> bool| {
        let mut lines = recorded("two-cpus");
        lines.retain(keep);
        same(4, &lines)
    };
    let awake = of(|line| !matches!(line.3, Waking(B) | Switch { to: B, .. }));
    let silent = of(|line| !matches!(line.3, Waking(A) | Switch { to: A, .. }));
    for (trace, reason, n) in [
        (lost, full, 5),
        (unsorted, "the events are not in time order", 5),
        (awake, "the callee was not asleep when the message came", 4),
        (silent, "no event shows that the caller got the reply", 4),
    ] {
        let cut = cut(&trace, Back);
        assert_eq!(cut.hops, []);
        assert_eq!(cut.left_out, [(reason.to_owned(), n)].into());
    }
}

/// An event of any kind, of any thread, anywhere.
fn any_event(rng: &mut Rng) -> Line {
    let thread = |rng: &mut Rng| [A, B, IDLE, TraceThread::Other(9)][rng.below(4) as usize];
    let (from, to, to_cpu) = (thread(rng), thread(rng), rng.below(3) as u32);
    let kind = [
        Stamp(0),
        SyscallEnter(1),
        SyscallExit(1),
        Waking(to),
        Wakeup(to),
        IpiSend { to_cpu },
        RescheduleEntry,
        IdleEnter { state: 1 },
        IdleExit,
        Switch { from, to },
        SoftirqEntry(3),
        SoftirqExit(3),
        TraceKind::IrqEntry(5),
        TraceKind::IrqExit(5),
        Migrate { who: to, to_cpu },
    ][rng.below(15) as usize];
    (rng.below(500), rng.below(3) as u32, from, kind)
}

#[test]
fn the_segments_of_a_hop_add_up_to_it_whatever_happens() {
    let good = ["one-cpu", "two-cpus", "softirq", "wake-up"];
    let good = good.map(|name| (recorded(name), if name == "wake-up" { Forth } else { Back }));
    let mut rng = Rng::new(19);
    let mut n_cut = 0;
    for round in 0..3000 {
        let (good, last) = &good[round % 4];
        let mut lines: Vec<Line> = good.repeat(3);
        for _ in 0..rng.below(30) {
            let place = rng.below(lines.len() as u64) as usize;
            lines.insert(place, any_event(&mut rng));
        }
        let trace = same(2, &lines);
        let begins = trace.events.iter().filter(|of| of.thread == A && matches!(of.kind, Stamp(_)));
        let begins: Vec<u64> = begins.map(|event| event.at_ns).collect();
        let lengths: Vec<u64> = begins.windows(2).map(|two| two[1] - two[0]).collect();
        let cut = cut(&trace, *last);
        for hop in &cut.hops {
            assert_eq!(hop.parts.values().map(|part| part.ns).sum::<u64>(), hop.total_ns);
            assert!(*last == Forth || lengths.contains(&hop.total_ns));
        }
        let left_out: u64 = cut.left_out.values().sum();
        if *last == Back {
            assert_eq!(cut.hops.len() as u64 + left_out, lengths.len() as u64, "cut or left out");
        }
        n_cut += cut.hops.len();
    }
    assert!(n_cut > 3000, "{n_cut}");
}

/// A run of eight trials of each case, which are traced.
fn run(cases: &[(&str, &dyn Fn(u32) -> Trace)]) -> RawRun {
    let mut builder = Builder::new();
    for (id, trace) in cases {
        builder = builder.case(id, 8, |round, t| {
            t.each(&[2600; 400]);
            t.raw.trace = Some(trace(round));
        });
    }
    let mut raw = builder.build();
    raw.plan.question = Some(Question::Explanation {});
    raw
}

/// A hop that takes longer in its first call in a later round.
fn later(round: u32, name: &str) -> Vec<Line> {
    let mut lines = recorded(name);
    lines[1].0 += u64::from(round);
    lines
}

#[test]
fn a_case_has_its_segments_in_order_with_their_intervals() {
    let raw = run(&[(PIPE, &|round| trace_of(50, |_| later(round, "one-cpu")))]);
    let results = read(&raw);
    let explained = &results.explanation.as_ref().unwrap().cases[0];
    assert_eq!((explained.hops, explained.left_out.len()), (400, 0));
    assert_eq!(explained.total_ns.point, Some(2643.5));
    let order: Vec<Kind> = explained.segments.iter().map(|of| of.segment.kind).collect();
    use Kind::{Receive, Send, Switch, User, WakeUp};
    assert_eq!(
        order,
        [User, Send, WakeUp, Switch, Receive, User, Send, WakeUp, Switch, Receive, User]
    );
    let send = &explained.segments[1];
    assert_eq!(
        (send.typical_ns.low, send.typical_ns.point, send.typical_ns.high),
        (Some(450.0), Some(453.5), Some(457.0))
    );
    assert_eq!((send.p50_ns, send.events), (453.5, 2.0));
    let sum: f64 = explained.segments.iter().filter_map(|of| of.typical_ns.point).sum();
    assert!((sum - 2643.5).abs() < 1e-9);
    // 14 events of 10 ns leave 504 of the 2644 ns unexplained.
    assert_eq!((explained.events, explained.without_events_ns.point), (14.0, Some(2503.5)));
    assert!((explained.off.unwrap() - 0.25175).abs() < 1e-9);
    assert_eq!(send.without_events_ns, None);
    let (severity, evidence) = found(&results, Code::TracingChanged).unwrap();
    assert_eq!(severity, Severity::Note);
    assert!(evidence.contains("2.64 µs") && evidence.contains("2.00 µs"), "{evidence}");
}

/// Two cases by their segments: the second takes longer in its first call, and has a softirq besides.
#[test]
fn two_cases_are_contrasted_segment_by_segment_and_without_events() {
    let first = |round: u32| trace_of(50, |_| later(round, "one-cpu"));
    let second = |round: u32| {
        let mut lines = later(round, "one-cpu");
        lines[1].0 += 450;
        let untraced_ns = vec![u64::from(2400 + round); 50];
        Trace { untraced_ns, ..trace_of(50, move |_| lines.clone()) }
    };
    let found = read(&run(&[(PIPE, &first), (TCP, &second)])).explanation.unwrap();
    let untraced = found.untraced.unwrap();
    assert!((untraced.ratio - 1.2).abs() < 0.01 && untraced.n == 8, "{untraced:?}");
    assert_eq!(untraced.verdict, Verdict::Outside);
    let segments = found.cases.iter().map(|case| case.segments.len());
    assert!(segments.eq([found.compared.len(); 2]), "{found:?}");
    let of: Vec<(Kind, Verdict)> = (found.compared.iter())
        .filter_map(|of| Some((of.segment.kind, of.contrast?.verdict)))
        .filter(|(_, verdict)| *verdict == Verdict::Outside)
        .collect();
    assert_eq!(of, [(Kind::Send, Verdict::Outside)]);
    let softirq = |_| same(50, &recorded("softirq"));
    let found = read(&run(&[(PIPE, &first), (TCP, &softirq)])).explanation.unwrap();
    let own = found.compared.iter().find(|of| of.segment.kind == Kind::Softirq).unwrap();
    assert_eq!(own.contrast, None, "the pipe has none");
}

#[test]
fn events_are_taken_off_where_the_segments_then_add_up() {
    let of = |untraced_ns: u64| {
        let trace = move |_| Trace {
            event_cost_ns: Some(40.0),
            untraced_ns: vec![untraced_ns; 50],
            ..same(50, &recorded("one-cpu"))
        };
        read(&run(&[(PIPE, &trace)]))
    };
    // 2640 ns less 14 events; the wake-up of 50 ns has one event, its end.
    let (good, off) = (of(2080), of(1000));
    let case = &good.explanation.as_ref().unwrap().cases[0];
    assert_eq!(case.without_events_ns.point, Some(2080.0));
    assert_eq!(case.segments[2].without_events_ns, Some(10.0));
    assert_eq!(found(&good, Code::TracingChanged), None);
    assert_eq!(off.explanation.as_ref().unwrap().cases[0].segments[2].without_events_ns, None);
    assert!(found(&off, Code::TracingChanged).is_some());
}

#[test]
fn nonsense_in_a_file_is_read_without_a_panic() {
    let one = |_| same(5, &recorded("one-cpu"));
    let two = |_| same(5, &recorded("softirq"));
    survive_nonsense(&run(&[(PIPE, &one), (TCP, &two)]), |raw| drop(read(raw)));
}
