use hopcost_model::case::Role::{Callee, Caller};
use hopcost_model::finding::{Code, Severity};
use hopcost_model::plan::{ExplanationPlan, Question};
use hopcost_model::protocol::{TRACE_CPU, TRACE_OPERATIONS, TRACE_STEAL};
use hopcost_model::results::{Leg, Leg::Back, Leg::Forth, SegmentKind as Kind};
use hopcost_model::system_call::SystemCall;
use hopcost_model::trace::TraceKind::{
    IdleEnter, IdleExit, IpiSend, Migrate, RescheduleEntry, RescheduleExit, SoftirqEntry,
    SoftirqExit, Stamp, Switch, SyscallEnter, SyscallExit, TimerExpire, Wakeup, Waking,
};
use hopcost_model::trace::{Trace, TraceEvent, TraceKind, TraceThread};
use hopcost_stats::rng::Rng;

use super::*;
use crate::testing::{Builder, PIPE, STREAM, STREAM_NO_ACK, TCP, WAKE, event, found, read};

const A: TraceThread = TraceThread::Caller;
const B: TraceThread = TraceThread::Callee;
const IDLE: TraceThread = TraceThread::Idle;

/// An event of a hop: ns after the one before, CPU, thread, what happens.
type Line = (u64, u32, TraceThread, TraceKind);

/// A pipe on one CPU.
const ONE_CPU: &[Line] = &[
    (100, 0, A, SyscallEnter(1)),
    (300, 0, A, Waking(B)),
    (50, 0, A, Wakeup(B)),
    (150, 0, A, SyscallExit(1)),
    (20, 0, A, SyscallEnter(0)),
    (400, 0, A, Switch { from: A, to: B }),
    (250, 0, B, SyscallExit(0)),
    (70, 0, B, SyscallEnter(1)),
    (310, 0, B, Waking(A)),
    (60, 0, B, Wakeup(A)),
    (140, 0, B, SyscallExit(1)),
    (30, 0, B, SyscallEnter(0)),
    (410, 0, B, Switch { from: B, to: A }),
    (260, 0, A, SyscallExit(0)),
    (90, 0, A, Stamp(0)),
];

/// A pipe on two CPUs, of which the other idles.
const TWO_CPUS: &[Line] = &[
    (100, 0, A, SyscallEnter(1)),
    (300, 0, A, Waking(B)),
    (50, 0, A, IpiSend { to_cpu: 1 }),
    (10, 0, A, Wakeup(B)),
    (90, 0, A, SyscallExit(1)),
    (700, 1, IDLE, RescheduleEntry),
    (20, 1, IDLE, RescheduleExit),
    (80, 1, IDLE, IdleExit),
    (10, 0, A, SyscallEnter(0)),
    (110, 1, IDLE, Switch { from: IDLE, to: B }),
    (240, 1, B, SyscallExit(0)),
    (10, 0, A, Switch { from: A, to: IDLE }),
    (10, 0, IDLE, IdleEnter { state: 1 }),
    (60, 1, B, SyscallEnter(1)),
    (310, 1, B, Waking(A)),
    (40, 1, B, Wakeup(A)),
    (200, 1, B, SyscallExit(1)),
    (500, 0, IDLE, IdleExit),
    (120, 0, IDLE, Switch { from: IDLE, to: A }),
    (5, 1, B, SyscallEnter(0)),
    (245, 0, A, SyscallExit(0)),
    (90, 0, A, Stamp(0)),
];

/// TCP on one CPU: the receiver is woken by a softirq, and epoll's callee reads after it has slept.
const SOFTIRQ: &[Line] = &[
    (100, 0, A, SyscallEnter(44)),
    (400, 0, A, SoftirqEntry(3)),
    (200, 0, A, Waking(B)),
    (50, 0, A, Wakeup(B)),
    (70, 0, A, SoftirqExit(3)),
    (80, 0, A, SyscallExit(44)),
    (20, 0, A, SyscallEnter(45)),
    (300, 0, A, Switch { from: A, to: B }),
    (200, 0, B, SyscallExit(232)),
    (30, 0, B, SyscallEnter(45)),
    (170, 0, B, SyscallExit(45)),
    (40, 0, B, SyscallEnter(44)),
    (410, 0, B, SoftirqEntry(3)),
    (210, 0, B, Waking(A)),
    (50, 0, B, Wakeup(A)),
    (70, 0, B, SoftirqExit(3)),
    (80, 0, B, SyscallExit(44)),
    (20, 0, B, SyscallEnter(232)),
    (310, 0, B, Switch { from: B, to: A }),
    (260, 0, A, SyscallExit(45)),
    (90, 0, A, Stamp(0)),
];

/// A wake-up over a pipe on two CPUs, of which both idle in the gap; it ends with the caller's next stamp.
const WAKE_UP: &[Line] = &[
    (90, 0, A, SyscallEnter(1)),
    (310, 0, A, Waking(B)),
    (40, 0, A, IpiSend { to_cpu: 1 }),
    (60, 0, A, SyscallExit(1)),
    (20, 0, A, SyscallEnter(230)),
    (600, 1, IDLE, RescheduleEntry),
    (20, 1, IDLE, RescheduleExit),
    (100, 0, A, Switch { from: A, to: IDLE }),
    (30, 1, IDLE, IdleExit),
    (120, 1, IDLE, Switch { from: IDLE, to: B }),
    (230, 1, B, SyscallExit(0)),
    (50, 1, B, Stamp(2)),
    (60, 1, B, SyscallEnter(0)),
    (300, 1, B, Switch { from: B, to: IDLE }),
    (90_000, 0, IDLE, Waking(A)),
    (400, 0, IDLE, Switch { from: IDLE, to: A }),
    (200, 0, A, SyscallExit(230)),
    (30, 0, A, Stamp(0)),
];

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

fn at(leg: Leg, end: hopcost_model::case::Role, kind: Kind) -> Segment {
    Segment::of_hop(leg, end, kind)
}

/// The segments of the second hop, of which all that is before it is known.
fn parts(lines: &[Line]) -> Vec<(Segment, u64)> {
    let cut = cut(&same(3, lines), Back);
    assert_eq!((cut.hops.len(), cut.left_out.len()), (3, 0), "{:?}", cut.left_out);
    let parts: Vec<_> = cut.hops[1].parts.iter().map(|(of, part)| (*of, part.ns)).collect();
    assert_eq!(parts.iter().map(|(_, ns)| ns).sum::<u64>(), cut.hops[1].total_ns);
    parts
}

#[test]
fn a_hop_on_one_cpu() {
    assert_eq!(
        parts(ONE_CPU),
        [
            (at(Forth, Caller, Kind::User), 120),
            (at(Forth, Caller, Kind::Send), 450),
            (at(Forth, Caller, Kind::WakeUp), 50),
            (at(Forth, Caller, Kind::Switch), 400),
            (at(Forth, Callee, Kind::Receive), 250),
            (at(Back, Caller, Kind::User), 90),
            (at(Back, Caller, Kind::Receive), 260),
            (at(Back, Callee, Kind::User), 100),
            (at(Back, Callee, Kind::Send), 450),
            (at(Back, Callee, Kind::WakeUp), 60),
            (at(Back, Callee, Kind::Switch), 410),
        ]
    );
}

#[test]
fn a_hop_on_two_cpus_with_and_without_an_ipi() {
    assert_eq!(
        parts(TWO_CPUS),
        [
            (at(Forth, Caller, Kind::User), 100),
            (at(Forth, Caller, Kind::Send), 300),
            (at(Forth, Caller, Kind::WakeUp), 50),
            (at(Forth, Callee, Kind::Ipi), 800),
            (at(Forth, Callee, Kind::IdleExit), 100),
            (at(Forth, Callee, Kind::Switch), 120),
            (at(Forth, Callee, Kind::Receive), 240),
            (at(Back, Caller, Kind::User), 90),
            (at(Back, Caller, Kind::IdleExit), 700),
            (at(Back, Caller, Kind::Switch), 120),
            (at(Back, Caller, Kind::Receive), 250),
            (at(Back, Callee, Kind::User), 80),
            (at(Back, Callee, Kind::Send), 310),
            (at(Back, Callee, Kind::WakeUp), 40),
        ]
    );
}

/// The segments of the second wake-up; the first stamp of the next is the last of the phase.
fn forth(lines: &[Line]) -> Vec<(Segment, u64)> {
    let cut = cut(&same(3, lines), Forth);
    assert_eq!((cut.hops.len(), cut.left_out.len()), (3, 0), "{:?}", cut.left_out);
    let parts: Vec<_> = cut.hops[1].parts.iter().map(|(of, part)| (*of, part.ns)).collect();
    assert_eq!(parts.iter().map(|(_, ns)| ns).sum::<u64>(), cut.hops[1].total_ns);
    assert!(parts.iter().all(|(of, _)| of.leg == Forth), "{parts:?}");
    parts
}

#[test]
fn one_way_ends_with_the_stamp_of_the_callee() {
    let typical = [
        (at(Forth, Caller, Kind::User), 90),
        (at(Forth, Caller, Kind::Send), 310),
        (at(Forth, Caller, Kind::WakeUp), 40),
        (at(Forth, Callee, Kind::User), 50),
        (at(Forth, Callee, Kind::Ipi), 680),
        (at(Forth, Callee, Kind::IdleExit), 150),
        (at(Forth, Callee, Kind::Switch), 120),
        (at(Forth, Callee, Kind::Receive), 230),
    ];
    assert_eq!(forth(WAKE_UP), typical);
    // A delay is in its own segment alone, and in none where it is not of the way forth.
    for (line, delayed) in [
        (0, Some(Kind::User)),
        (5, Some(Kind::Ipi)),
        (8, Some(Kind::IdleExit)),
        (9, Some(Kind::Switch)),
        (10, Some(Kind::Receive)),
        (12, None),
        (14, None),
    ] {
        let mut lines = WAKE_UP.to_vec();
        lines[line].0 += 5000;
        let end = if line == 0 { Caller } else { Callee };
        for ((of, ns), (_, before)) in forth(&lines).into_iter().zip(typical) {
            let is_it = Some(of.kind) == delayed && of.end == end;
            assert_eq!(ns, before + if is_it { 5000 } else { 0 }, "{of} of a delay in {delayed:?}");
        }
    }
}

#[test]
fn one_way_with_a_second_call_that_fetches() {
    let mut lines = WAKE_UP.to_vec();
    lines.splice(11..11, [(20, 1, B, SyscallEnter(45)), (170, 1, B, SyscallExit(45))]);
    let parts: BTreeMap<Segment, u64> = forth(&lines).into_iter().collect();
    assert_eq!(parts[&at(Forth, Callee, Kind::Receive)], 230 + 170);
    assert_eq!(parts[&at(Forth, Callee, Kind::User)], 20 + 50);
}

/// On one CPU a short gap ends while the receiver runs: the sender finds it busy, and sleeps on.
#[test]
fn a_sender_whose_timer_comes_before_the_receiver_is_done_is_another_task() {
    let to_callee = |after_ns| (after_ns, 0, A, Switch { from: A, to: B });
    let lines = vec![
        (90, 0, A, SyscallEnter(1)),
        (310, 0, A, Waking(B)),
        (40, 0, A, Wakeup(B)),
        (60, 0, A, SyscallExit(1)),
        (20, 0, A, SyscallEnter(230)),
        to_callee(400),
        (100, 0, B, Waking(A)),
        (50, 0, B, Switch { from: B, to: A }),
        (70, 0, A, SyscallExit(230)),
        (30, 0, A, SyscallEnter(230)),
        to_callee(500),
        (80, 0, B, SyscallExit(0)),
        (50, 0, B, Stamp(2)),
        (60, 0, B, SyscallEnter(0)),
        (300, 0, B, Switch { from: B, to: IDLE }),
        (9_000, 0, IDLE, Waking(A)),
        (400, 0, IDLE, Switch { from: IDLE, to: A }),
        (200, 0, A, SyscallExit(230)),
        (30, 0, A, Stamp(0)),
    ];
    assert_eq!(
        forth(&lines),
        [
            (at(Forth, Caller, Kind::User), 110),
            (at(Forth, Caller, Kind::Send), 370),
            (at(Forth, Caller, Kind::WakeUp), 40),
            (at(Forth, Caller, Kind::Switch), 400),
            (at(Forth, Callee, Kind::User), 50),
            (at(Forth, Callee, Kind::Receive), 230),
            (at(Forth, Callee, Kind::OtherTask), 600),
        ]
    );
}

#[test]
fn one_way_whose_callee_does_not_stamp_is_left_out() {
    let mut events = same(4, WAKE_UP);
    let stamps = |events: &[TraceEvent]| -> Vec<usize> {
        let is_it = |at: &usize| events[*at].kind == Stamp(2);
        (0..events.len()).filter(is_it).collect()
    };
    let second = stamps(&events.events)[1];
    events.events.remove(second);
    let cut = cut(&events, Forth);
    let reason = "the stamps of the two ends do not alternate".to_owned();
    assert_eq!((cut.hops.len(), cut.left_out), (3, BTreeMap::from([(reason, 1)])));
}

#[test]
fn a_softirq_has_its_own_segment_and_a_call_that_wakes_nobody_receives() {
    let parts: BTreeMap<Segment, u64> = parts(SOFTIRQ).into_iter().collect();
    assert_eq!(parts[&at(Forth, Caller, Kind::Softirq)], 270);
    assert_eq!(parts[&at(Forth, Caller, Kind::WakeUp)], 50);
    assert_eq!(parts[&at(Forth, Caller, Kind::Send)], 480);
    assert_eq!(parts[&at(Forth, Callee, Kind::Receive)], 370);
    assert_eq!(parts[&at(Back, Callee, Kind::User)], 90);
}

/// The same where the device holds each packet back: both ends sleep, and its timer's softirq wakes the receiver.
const QUEUED: &[Line] = &[
    (100, 0, A, SyscallEnter(44)),
    (600, 0, A, SyscallExit(44)),
    (20, 0, A, SyscallEnter(45)),
    (300, 0, A, Switch { from: A, to: IDLE }),
    (5000, 0, IDLE, SoftirqEntry(2)),
    (200, 0, IDLE, Waking(B)),
    (50, 0, IDLE, Wakeup(B)),
    (70, 0, IDLE, SoftirqExit(2)),
    (400, 0, IDLE, Switch { from: IDLE, to: B }),
    (200, 0, B, SyscallExit(45)),
    (40, 0, B, SyscallEnter(44)),
    (610, 0, B, SyscallExit(44)),
    (20, 0, B, SyscallEnter(45)),
    (310, 0, B, Switch { from: B, to: IDLE }),
    (6000, 0, IDLE, SoftirqEntry(2)),
    (210, 0, IDLE, Waking(A)),
    (50, 0, IDLE, Wakeup(A)),
    (70, 0, IDLE, SoftirqExit(2)),
    (410, 0, IDLE, Switch { from: IDLE, to: A }),
    (260, 0, A, SyscallExit(45)),
    (90, 0, A, Stamp(0)),
];

#[test]
fn a_message_that_waits_while_both_ends_sleep_is_queued() {
    let parts: BTreeMap<Segment, u64> = parts(QUEUED).into_iter().collect();
    for (segment, ns) in [
        (at(Forth, Caller, Kind::Send), 900),
        (at(Forth, Caller, Kind::Queue), 5000),
        (at(Forth, Caller, Kind::Softirq), 270),
        (at(Forth, Caller, Kind::Switch), 400),
        (at(Forth, Callee, Kind::Receive), 200),
        (at(Back, Callee, Kind::Send), 920),
        (at(Back, Callee, Kind::Queue), 6000),
        (at(Back, Callee, Kind::Switch), 410),
        (at(Back, Caller, Kind::Receive), 260),
    ] {
        assert_eq!(parts.get(&segment), Some(&ns), "{segment}: {parts:?}");
    }
}

#[test]
fn a_known_delay_is_in_its_own_segment_alone() {
    let typical: BTreeMap<Segment, u64> = parts(TWO_CPUS).into_iter().collect();
    for (line, segment) in [
        (0, at(Forth, Caller, Kind::User)),
        (5, at(Forth, Callee, Kind::Ipi)),
        (10, at(Forth, Callee, Kind::Receive)),
        (13, at(Back, Callee, Kind::User)),
        (14, at(Back, Callee, Kind::Send)),
        (17, at(Back, Caller, Kind::IdleExit)),
    ] {
        let mut lines = TWO_CPUS.to_vec();
        lines[line].0 += 5000;
        for (of, ns) in parts(&lines) {
            let delay = if of == segment { 5000 } else { 0 };
            assert_eq!(ns, typical[&of] + delay, "{of} of a delay in {segment}");
        }
    }
}

/// Unix sockets wake a sleeping reader when its last message is read: its reply wakes nobody.
#[test]
fn who_is_woken_before_the_message_comes_takes_it_all_the_same() {
    let lines = vec![
        (100, 0, A, SyscallEnter(1)),
        (400, 0, A, SyscallExit(1)),
        (20, 0, A, SyscallEnter(0)),
        (400, 0, A, Switch { from: A, to: B }),
        (150, 0, B, Waking(A)),
        (50, 0, B, Wakeup(A)),
        (60, 0, B, SyscallExit(0)),
        (70, 0, B, SyscallEnter(1)),
        (410, 0, B, SyscallExit(1)),
        (30, 0, B, SyscallEnter(0)),
        (390, 0, B, Switch { from: B, to: A }),
        (140, 0, A, Waking(B)),
        (50, 0, A, Wakeup(B)),
        (60, 0, A, SyscallExit(0)),
        (90, 0, A, Stamp(0)),
    ];
    let one: BTreeMap<Segment, u64> = parts(&lines).into_iter().collect();
    assert_eq!(one[&at(Back, Callee, Kind::Send)], 410);
    assert_eq!(one[&at(Back, Callee, Kind::Switch)], 390);
    assert_eq!(one[&at(Forth, Callee, Kind::Receive)], 260);
    // On two CPUs it is on its way when the reply is sent.
    let mut lines = TWO_CPUS.to_vec();
    lines.splice(
        10..19,
        [
            (100, 1, B, Waking(A)),
            (30, 1, B, IpiSend { to_cpu: 0 }),
            (110, 1, B, SyscallExit(0)),
            (60, 1, B, SyscallEnter(1)),
            (350, 1, B, SyscallExit(1)),
            (500, 0, IDLE, IdleExit),
            (120, 0, IDLE, Switch { from: IDLE, to: A }),
        ],
    );
    let two: BTreeMap<Segment, u64> = parts(&lines).into_iter().collect();
    assert_eq!(two[&at(Back, Callee, Kind::Send)], 350);
    assert_eq!(two[&at(Back, Caller, Kind::Ipi)], 500);
    assert_eq!(two[&at(Back, Caller, Kind::Switch)], 120);
}

/// Kernels of guests may write nothing while the second CPU idles.
#[test]
fn what_no_event_of_an_idle_cpu_tells_apart_is_one_segment() {
    let is_idle = |line: &&Line| line.2 != IDLE;
    let lines: Vec<Line> = TWO_CPUS.iter().filter(is_idle).copied().collect();
    let found: BTreeMap<Segment, u64> = parts(&lines).into_iter().collect();
    assert_eq!(found[&at(Forth, Caller, Kind::Send)], 300);
    assert_eq!(found[&at(Forth, Callee, Kind::Unseparated)], 350);
    assert_eq!(found[&at(Back, Callee, Kind::User)], 70);
    assert_eq!(found[&at(Back, Caller, Kind::Unseparated)], 450);
    assert!(found.keys().all(|of| !matches!(of.kind, Kind::Ipi | Kind::IdleExit | Kind::Switch)));
}

/// Who is woken too early may run at once, find nothing, and sleep again.
#[test]
fn an_end_that_runs_in_vain_has_not_got_the_message() {
    let to_caller = |after_ns| (after_ns, 0, B, Switch { from: B, to: A });
    let to_callee = |after_ns| (after_ns, 0, A, Switch { from: A, to: B });
    let lines = vec![
        (100, 0, A, SyscallEnter(1)),
        (400, 0, A, SyscallExit(1)),
        (20, 0, A, SyscallEnter(0)),
        to_callee(390),
        (150, 0, B, Waking(A)),
        (50, 0, B, SyscallExit(0)),
        to_caller(60),
        to_callee(500),
        (70, 0, B, SyscallEnter(1)),
        (310, 0, B, Waking(A)),
        (50, 0, B, SyscallExit(1)),
        (20, 0, B, SyscallEnter(0)),
        to_caller(80),
        (140, 0, A, Waking(B)),
        (110, 0, A, SyscallExit(0)),
        to_callee(30),
        to_caller(700),
        (90, 0, A, Stamp(0)),
    ];
    assert_eq!(
        parts(&lines),
        [
            (at(Forth, Caller, Kind::User), 120),
            (at(Forth, Caller, Kind::Send), 400),
            (at(Forth, Caller, Kind::Switch), 390),
            (at(Forth, Callee, Kind::Receive), 200),
            (at(Back, Caller, Kind::User), 120),
            (at(Back, Caller, Kind::Receive), 750),
            (at(Back, Caller, Kind::OtherTask), 700),
            (at(Back, Callee, Kind::User), 150),
            (at(Back, Callee, Kind::Send), 310),
            (at(Back, Callee, Kind::WakeUp), 50),
            (at(Back, Callee, Kind::Switch), 80),
        ]
    );
}

/// The other CPU polls: it is told by a word in memory, and makes the receiver runnable itself.
#[test]
fn a_wake_up_without_an_interrupt() {
    let mut lines = TWO_CPUS.to_vec();
    lines.splice(
        2..8,
        [(140, 0, A, SyscallExit(1)), (60, 1, IDLE, IdleExit), (30, 1, IDLE, Wakeup(B))],
    );
    let parts: BTreeMap<Segment, u64> = parts(&lines).into_iter().collect();
    assert_eq!(parts[&at(Forth, Caller, Kind::WakeUp)], 140);
    assert_eq!(parts[&at(Forth, Callee, Kind::IdleExit)], 60);
    assert_eq!(parts[&at(Forth, Callee, Kind::Switch)], 150);
}

#[test]
fn another_task_is_not_taken_for_the_switch() {
    let mut lines = ONE_CPU.to_vec();
    let other = TraceThread::Other(7);
    lines[5] = (400, 0, A, Switch { from: A, to: other });
    lines.insert(6, (3000, 0, other, Switch { from: other, to: B }));
    let parts: BTreeMap<Segment, u64> = parts(&lines).into_iter().collect();
    assert_eq!(parts[&at(Forth, Caller, Kind::OtherTask)], 3000);
    assert_eq!(parts[&at(Forth, Caller, Kind::Switch)], 400);
}

/// Woken threads that are run at once.
#[test]
fn a_sender_that_is_preempted_by_whom_it_wakes() {
    let lines = vec![
        (100, 0, A, SyscallEnter(1)),
        (300, 0, A, Waking(B)),
        (50, 0, A, Wakeup(B)),
        (90, 0, A, Switch { from: A, to: B }),
        (250, 0, B, SyscallExit(0)),
        (70, 0, B, SyscallEnter(1)),
        // The caller is in its first call still: nothing to wake.
        (140, 0, B, SyscallExit(1)),
        (30, 0, B, SyscallEnter(0)),
        (410, 0, B, Switch { from: B, to: A }),
        (20, 0, A, SyscallExit(1)),
        (20, 0, A, SyscallEnter(0)),
        (260, 0, A, SyscallExit(0)),
        (90, 0, A, Stamp(0)),
    ];
    let by_segment = |lines: &[Line]| parts(lines).into_iter().collect::<BTreeMap<_, _>>();
    let within = by_segment(&lines);
    assert_eq!(within[&at(Forth, Caller, Kind::Send)], 300);
    assert_eq!(within[&at(Forth, Caller, Kind::Switch)], 90);
    assert_eq!(within[&at(Back, Callee, Kind::Switch)], 410);
    assert_eq!(within[&at(Back, Caller, Kind::Receive)], 280);
    // Others are when the call is over, before the sender is in user space again.
    let mut lines = lines;
    lines.remove(10);
    lines.insert(3, (40, 0, A, SyscallExit(1)));
    let after = by_segment(&lines);
    assert_eq!(after[&at(Forth, Caller, Kind::User)], 100);
    assert_eq!(after[&at(Forth, Caller, Kind::Send)], 340);
    assert_eq!(after[&at(Forth, Caller, Kind::Switch)], 90);
}

#[test]
fn what_events_do_not_show_is_left_out_with_its_reason() {
    let reasons = |trace: &Trace| {
        let cut = cut(trace, Back);
        assert_eq!(cut.hops, []);
        cut.left_out.into_iter().collect::<Vec<_>>()
    };
    let left_out = |reason: &str, n: u64| vec![(reason.to_owned(), n)];
    let lost = Trace { lost: 3, ..same(5, ONE_CPU) };
    assert_eq!(
        reasons(&lost),
        left_out(
            "3 events of the phase lost, because the buffers were full: other work on these CPUs, or too long a gap",
            5
        )
    );
    let mut unsorted = same(5, ONE_CPU);
    unsorted.events.swap(3, 4);
    assert_eq!(reasons(&unsorted), left_out("the events are not in time order", 5));
    let of = |keep: fn(&Line) -> bool| {
        let lines: Vec<Line> = TWO_CPUS.iter().filter(|line| keep(line)).copied().collect();
        same(4, &lines)
    };
    let awake = of(|line| !matches!(line.3, Waking(B) | Switch { to: B, .. }));
    assert_eq!(reasons(&awake), left_out("the callee was not asleep when the message came", 4));
    let silent = of(|line| !matches!(line.3, Waking(A) | Switch { to: A, .. }));
    assert_eq!(reasons(&silent), left_out("no event shows that the caller got the reply", 4));
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
    let mut rng = Rng::new(19);
    let mut n_cut = 0;
    for round in 0..3000 {
        let (good, last) =
            [(ONE_CPU, Back), (TWO_CPUS, Back), (SOFTIRQ, Back), (WAKE_UP, Forth)][round % 4];
        let mut lines: Vec<Line> = (0..3).flat_map(|_| good.to_vec()).collect();
        for _ in 0..rng.below(30) {
            let place = rng.below(lines.len() as u64) as usize;
            lines.insert(place, any_event(&mut rng));
        }
        let trace = same(2, &lines);
        let of = |thread| {
            let is_stamp =
                move |event: &&TraceEvent| event.thread == thread && matches!(event.kind, Stamp(_));
            let stamps = trace.events.iter().filter(is_stamp).map(|event| event.at_ns);
            stamps.collect::<Vec<u64>>()
        };
        let begins = of(A);
        // What an event that is made up begins or ends is between stamps all the same.
        let lengths: Vec<u64> = match last {
            Back => begins.windows(2).map(|two| two[1] - two[0]).collect(),
            Forth => {
                let ends = of(B);
                let before = |end: &u64| begins.iter().rev().find(|begin| *begin <= end);
                ends.iter().filter_map(|end| Some(end - before(end)?)).collect()
            }
        };
        let cut = cut(&trace, last);
        for hop in &cut.hops {
            assert_eq!(hop.parts.values().map(|part| part.ns).sum::<u64>(), hop.total_ns);
            assert!(lengths.contains(&hop.total_ns));
        }
        let left_out: u64 = cut.left_out.values().sum();
        if last == Back {
            assert_eq!(cut.hops.len() as u64 + left_out, lengths.len() as u64, "cut or left out");
        }
        n_cut += cut.hops.len();
    }
    assert!(n_cut > 3000, "{n_cut}");
}

/// A run of eight trials of each case, which are traced.
fn run(cases: &[(&str, &dyn Fn(u32) -> Trace)], tail: Option<f64>) -> RawRun {
    let mut builder = Builder::new();
    for (id, trace) in cases {
        builder = builder.case(id, 8, |round, t| {
            t.each(&[2600; 400]);
            t.raw.trace = Some(trace(round));
        });
    }
    let mut raw = builder.build();
    raw.plan.question = Some(Question::Explanation(ExplanationPlan { tail }));
    raw
}

/// A hop that takes longer in its first call in a later round.
fn later(round: u32, lines: &[Line]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    lines[1].0 += u64::from(round);
    lines
}

#[test]
fn a_case_has_its_segments_in_order_with_their_intervals() {
    let raw = run(&[(PIPE, &|round| trace_of(50, |_| later(round, ONE_CPU)))], None);
    let results = read(&raw);
    let explained = &results.explanation.as_ref().unwrap().cases[0];
    assert_eq!((explained.hops, explained.left_out.len(), &explained.tail), (400, 0, &None));
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
    assert_eq!((send.begins_ns, send.p50_ns, send.events), (120.0, 453.5, 2.0));
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

#[test]
fn what_events_cost_is_no_finding() {
    let trace = |_| Trace { event_cost_ns: Some(40.0), ..same(50, ONE_CPU) };
    let results = read(&run(&[(PIPE, &trace)], None));
    assert_eq!(found(&results, Code::TracingChanged), None);
    let explained = &results.explanation.unwrap().cases[0];
    let without = explained.segments.iter().filter_map(|of| of.without_events_ns);
    // 2640 ns less 14 events: what the segments add up to is what the case says.
    assert!((without.sum::<f64>() - 2080.0).abs() < 1e-9);
    assert_eq!(explained.without_events_ns.point, Some(2080.0));
    // The wake-up of 50 ns has one event, its end.
    assert_eq!(explained.segments[2].without_events_ns, Some(10.0));
}

#[test]
fn the_segments_that_make_the_difference_are_named() {
    let slow = |round| {
        let mut lines = later(round, ONE_CPU);
        (lines[1].0, lines[8].0, lines[2].0) =
            (lines[1].0 + 700, lines[8].0 + 500, lines[2].0 + 200);
        trace_of(50, move |_| lines.clone())
    };
    let raw = run(&[(PIPE, &|round| trace_of(50, |_| later(round, ONE_CPU))), (TCP, &slow)], None);
    let difference = read(&raw).explanation.unwrap().difference.unwrap();
    assert_eq!(
        difference.says,
        "While traced, tcp costs 1.40 µs more than pipe [1.40 µs, 1.40 µs]: 1.20 µs in the send and receive paths, \
         200 ns in waking; about the same in the switch, user space"
    );
    let sum: f64 = difference.segments.iter().filter_map(|of| of.ns.point).sum();
    assert_eq!((sum, difference.total_ns.point), (1400.0, Some(1400.0)));
    let raw = run(&[(TCP, &slow), (PIPE, &|round| trace_of(50, |_| later(round, ONE_CPU)))], None);
    let says = read(&raw).explanation.unwrap().difference.unwrap().says;
    assert!(
        says.starts_with(
            "While traced, pipe costs 1.40 µs less than tcp [1.40 µs, 1.40 µs]: 1.20 µs in"
        ),
        "{says}"
    );
    // One µs more or less from round to round is no difference.
    let noisy = |round: u32| {
        let mut lines = ONE_CPU.to_vec();
        lines[5].0 = if round.is_multiple_of(2) { 0 } else { 800 };
        trace_of(50, move |_| lines.clone())
    };
    let raw = run(&[(PIPE, &|_| same(50, ONE_CPU)), (TCP, &noisy)], None);
    let says = read(&raw).explanation.unwrap().difference.unwrap().says;
    assert!(says.starts_with("While traced, tcp and pipe are not told apart"), "{says}");
}

/// What a case takes more because it makes more events is none of its own time.
#[test]
fn a_difference_is_without_what_events_cost() {
    let untraced = |ns: u32, trace: Trace| Trace {
        event_cost_ns: Some(40.0),
        untraced_ns: vec![ns; 50],
        ..trace
    };
    // 21 lines: 20 events of 40 ns.
    let tcp = |untraced_ns| move |_| untraced(untraced_ns, same(50, SOFTIRQ));
    let pipe = |_| untraced(2080, same(50, ONE_CPU));
    let of = |tcp: &dyn Fn(u32) -> Trace| {
        read(&run(&[(PIPE, &pipe), (TCP, tcp)], None)).explanation.unwrap().difference.unwrap()
    };
    let traced = |difference: &ExplainedDifference| {
        let of = &difference.traced;
        (of.events, of.untraced_ns.point, of.agrees)
    };
    let traced_ns = 3160.0 - 2640.0;
    let without = of(&tcp(2360));
    assert_eq!(traced(&without), (EventsCost::TakenOff, Some(280.0), Some(true)));
    assert_eq!(without.total_ns.point, Some(traced_ns - 6.0 * 40.0));
    let sum: f64 = without.segments.iter().filter_map(|of| of.ns.point).sum();
    assert!((sum - 280.0).abs() < 1e-9, "{sum}");
    assert!(without.says.starts_with("tcp costs 280 ns more than pipe"), "{}", without.says);
    // Off by 4 %, yet not by chance.
    assert_eq!(traced(&of(&tcp(2260))), (EventsCost::TakenOff, Some(180.0), Some(false)));
    // Where tracing has changed one of them more than that, both are as traced.
    let included = of(&tcp(1000));
    assert_eq!(included.total_ns.point, Some(traced_ns));
    assert_eq!(traced(&included), (EventsCost::Included, Some(-1080.0), Some(false)));
    assert!(included.says.starts_with("While traced, tcp costs"), "{}", included.says);
}

#[test]
fn wake_ups_stand_beside_each_other_by_their_gap() {
    let gaps = [10_000, 100_000, 1_000_000];
    let id = |gap: &u64| WAKE.replace("gap=1000000", &format!("gap={gap}"));
    let after = |gap: u64| {
        move |round: u32| {
            let mut lines = WAKE_UP.to_vec();
            lines[5].0 += gap / 100 + u64::from(round);
            same(50, &lines)
        }
    };
    let traces = gaps.map(after);
    let ids: Vec<String> = gaps.iter().map(id).collect();
    let cases = ids.iter().zip(&traces);
    let cases: Vec<(&str, &dyn Fn(u32) -> Trace)> =
        cases.map(|(id, trace)| (id.as_str(), trace as &dyn Fn(u32) -> Trace)).collect();
    let found = read(&run(&cases, None)).explanation.unwrap();
    assert_eq!(found.cases.iter().filter_map(|case| case.gap_ns).collect::<Vec<_>>(), gaps);
    let of = |kind| {
        let one = found.by_gap.iter().find(|of| of.segment == at(Forth, Callee, kind)).unwrap();
        one.typical_ns.iter().filter_map(|of| of.point).collect::<Vec<f64>>()
    };
    assert_eq!(of(Kind::Ipi), [783.5, 1683.5, 10683.5]);
    assert_eq!(of(Kind::IdleExit), [150.0; 3]);
    assert_eq!((found.by_gap.len(), found.difference), (8, None));
    let says = read(&run(&cases[..2], None)).explanation.unwrap().difference.unwrap().says;
    assert!(says.contains("costs 900 ns more") && says.contains(": 900 ns in waking"), "{says}");
}

#[test]
fn the_slowest_hops_show_what_is_different_in_them() {
    let hop = |number: u64| {
        let mut lines = ONE_CPU.to_vec();
        if number.is_multiple_of(100) {
            lines.insert(1, (10, 0, A, TimerExpire));
            lines[2].0 += 9000;
        }
        lines
    };
    let raw = run(&[(PIPE, &|_| trace_of(400, hop))], Some(0.99));
    let tail = read(&raw).explanation.unwrap().cases[0].tail.clone().unwrap();
    assert_eq!((tail.hops, tail.slow_ns > 7000.0), (40, true));
    assert_eq!(tail.segments[0].segment, at(Forth, Caller, Kind::Send));
    assert_eq!(
        (tail.occurrences[0].what.as_str(), tail.occurrences[0].typical_share),
        ("a timer", 0.0)
    );
    assert!(tail.says.starts_with("the slowest 1.0 % take 7.2"), "{}", tail.says);
}

/// A run of two streams on x86-64.
fn streams(cases: [(&str, &dyn Fn(u32) -> Trace); 2]) -> RawRun {
    let mut raw = run(&cases, None);
    raw.about.build.target = "x86_64-unknown-linux-gnu".to_owned();
    // Of ten messages, and two that a phase has besides.
    counted(&mut raw, |all_ns| all_ns * 12 / 10);
    raw
}

/// Sets what the kernel counted for both ends beside the traced phases, by what there is by events.
fn counted(raw: &mut RawRun, account_ns: impl Fn(u64) -> u64) {
    for trial in &mut raw.trials {
        let trace = trial.trace.as_ref().unwrap();
        let cpu_ns = account_ns(on_cpu::summed(trace, "").hop.total_ns) / 2;
        for end in &mut trial.ends {
            let values = [(TRACE_CPU[0], cpu_ns / 2), (TRACE_CPU[1], cpu_ns), (TRACE_STEAL, 0)];
            let values = [&values[..], &[(TRACE_OPERATIONS, trace.operations)]].concat();
            end.events = values.into_iter().map(|(name, value)| event(name, value)).collect();
        }
    }
}

#[test]
fn the_cpu_time_of_a_stream_is_that_of_its_ends_by_what_they_do() {
    let sum = on_cpu::summed(&same(10, SOFTIRQ), "x86_64-unknown-linux-gnu");
    let own = |end, kind, call: Option<SystemCall>| {
        let segment = Segment { leg: Forth, end, kind, call };
        sum.hop.parts.get(&segment).map_or(0, |part| part.ns / 10)
    };
    let [sendto, recvfrom] = [Some(SystemCall::Sendto), Some(SystemCall::Recvfrom)];
    let epoll = Some(SystemCall::EpollWait);
    let all = [
        (own(Caller, Kind::User, None), 210),
        (own(Caller, Kind::SystemCall, sendto), 480),
        (own(Caller, Kind::Softirq, None), 270),
        (own(Caller, Kind::WakeUp, None), 50),
        (own(Caller, Kind::Switch, recvfrom), 300),
        (own(Caller, Kind::SystemCall, recvfrom), 260),
        (own(Callee, Kind::SystemCall, epoll), 200),
        (own(Callee, Kind::User, None), 90),
        (own(Callee, Kind::SystemCall, recvfrom), 170),
        (own(Callee, Kind::SystemCall, sendto), 490),
        (own(Callee, Kind::Softirq, None), 280),
        (own(Callee, Kind::WakeUp, None), 50),
        (own(Callee, Kind::Switch, epoll), 310),
    ];
    assert!(all.iter().all(|(ns, want)| ns == want), "{all:?}");
    assert_eq!(sum.hop.total_ns, 10 * all.iter().map(|(ns, _)| ns).sum::<u64>());
    assert_eq!((sum.hop.parts.len(), sum.switches), (all.len(), [10, 10]));
    let events: u32 = sum.hop.parts.values().map(|part| part.events).sum();
    assert_eq!(events, 10 * (SOFTIRQ.len() as u32 - 1));
    // Whoever sleeps, and another task, have none of it.
    let mut others = SOFTIRQ.to_vec();
    others.insert(8, (0, 0, B, Switch { from: B, to: TraceThread::Other(7) }));
    others
        .insert(9, (9000, 0, TraceThread::Other(7), Switch { from: TraceThread::Other(7), to: B }));
    assert_eq!(on_cpu::summed(&same(10, &others), "").hop.total_ns, sum.hop.total_ns);
}

#[test]
fn what_a_receiver_of_a_stream_computes_is_in_its_user_space_alone() {
    let mut slow = SOFTIRQ.to_vec();
    slow[9].0 += 5000;
    let raw = streams([(STREAM, &|_| same(10, SOFTIRQ)), (STREAM_NO_ACK, &|_| same(10, &slow))]);
    let found = read(&raw).explanation.unwrap();
    let case = &found.cases[0];
    let ends: f64 = case.ends.iter().map(|end| end.traced_ns.point.unwrap()).sum();
    assert_eq!((case.hops, case.total_ns.point, ends), (80, Some(3160.0), 3160.0));
    let of_end = |end| case.segments.iter().filter(move |of| of.segment.end == end);
    for end in &case.ends {
        let sum: f64 = of_end(end.end).map(|of| of.typical_ns.point.unwrap()).sum();
        assert_eq!((Some(sum), end.switches), (end.traced_ns.point, 1.0));
        assert_eq!((end.counted_ns, end.untraced_ns.point), (Some(1580.0), Some(790.0)));
        // Beside each other, each the longest first.
        let begins: Vec<f64> = of_end(end.end).map(|of| of.begins_ns).collect();
        assert!(begins[0] == 0.0 && begins.is_sorted(), "{begins:?}");
        assert!(of_end(end.end).is_sorted_by(|a, b| a.typical_ns.point >= b.typical_ns.point));
    }
    let difference = found.difference.unwrap();
    for of in &difference.segments {
        let is_own = (of.segment.end, of.segment.kind) == (Callee, Kind::User);
        let delay_ns = if is_own { 5000.0 } else { 0.0 };
        assert_eq!(of.ns.point, Some(delay_ns), "{}", of.segment);
        assert_eq!(of.ns_per_kib, None);
    }
    let says = "ack=none costs 5.00 µs more than ack=per-message [5.00 µs, 5.00 µs]: 5.00 µs in user space";
    assert!(difference.says.contains(says), "{}", difference.says);
}

#[test]
fn what_grows_with_the_payload_of_a_stream_is_told_by_the_kib() {
    let mut longer = SOFTIRQ.to_vec();
    longer[1].0 += 600;
    let other = STREAM.replace("payload=2048", "payload=5120");
    let raw = streams([(STREAM, &|_| same(10, SOFTIRQ)), (&other, &|_| same(10, &longer))]);
    let segments = read(&raw).explanation.unwrap().difference.unwrap().segments;
    let grows: Vec<f64> =
        segments.iter().filter_map(|of| of.ns_per_kib).filter(|ns| *ns > 0.0).collect();
    assert_eq!((segments.len(), grows), (13, vec![200.0]));
}

#[test]
fn events_in_softirqs_are_no_part_of_an_account_without_them() {
    let all = || same(10, SOFTIRQ);
    let mut raw = streams([(STREAM, &|_| all()), (STREAM_NO_ACK, &|_| all())]);
    let bare = |raw: &RawRun| {
        let case = read(raw).explanation.unwrap().cases[0].clone();
        [case.traced_p50_ns, case.without_events_ns, case.untraced_p50_ns]
            .map(|of| of.point.unwrap())
    };
    assert_eq!(bare(&raw), [3160.0, 3160.0 - 20.0 * 10.0, 1580.0]);
    // The softirqs take 550 ns of each of ten messages, and have four of its events.
    counted(&mut raw, |all_ns| (all_ns - 5500) * 12 / 10);
    assert_eq!(bare(&raw), [2610.0, 2610.0 - 16.0 * 10.0, 1305.0]);
}

#[test]
fn what_takes_an_end_without_an_event_may_be_steal() {
    let hop = |number: u64| {
        let mut lines = ONE_CPU.to_vec();
        lines[6].0 += if number.is_multiple_of(100) { 30_000 } else { 0 };
        lines
    };
    let mut raw = run(&[(PIPE, &|_| trace_of(400, hop))], Some(0.99));
    let tail = |raw: &RawRun| read(raw).explanation.unwrap().cases[0].tail.clone().unwrap();
    let says = "no event for longer than a typical hop, as where the hypervisor has the CPU (steal) or an end \
                works for itself, in 80 % of them and 0 % of typical ones";
    assert!(tail(&raw).says.contains(says), "{}", tail(&raw).says);
    assert_eq!(tail(&raw).unseen, None);
    counted(&mut raw, |all_ns| all_ns);
    assert!(
        tail(&raw).says.contains("; over all hops the kernel counts all of the 9.41 ms"),
        "{}",
        tail(&raw).says
    );
    counted(&mut raw, |all_ns| all_ns + 120_000);
    assert!(tail(&raw).says.contains("960 µs more CPU time than the"), "{}", tail(&raw).says);
    counted(&mut raw, |all_ns| all_ns - 120_000);
    let slow = tail(&raw);
    assert!(slow.says.contains("counts 960 µs less CPU time than the"), "{}", slow.says);
    let unseen = slow.unseen.unwrap();
    assert_eq!((unseen.on_cpu_ns - unseen.counted_ns, unseen.steal_ns), (8 * 120_000, Some(0)));
}

#[test]
fn nonsense_in_a_file_is_read_without_a_panic() {
    let nonsense = |round: u32| {
        let mut trace = same(30, [ONE_CPU, TWO_CPUS][round as usize % 2]);
        trace.operations = u64::MAX;
        trace.lost = u64::from(round / 6) * u64::MAX;
        trace.clock_bound_ns = u64::MAX;
        trace.event_cost_ns = Some([f64::NAN, f64::MAX, -1.0, f64::INFINITY][round as usize % 4]);
        trace.untraced_ns = vec![u32::MAX; round as usize];
        let from = 40 * round as usize;
        trace.events.iter_mut().skip(from).for_each(|event| event.at_ns += u64::MAX - 200_000);
        trace.events.iter_mut().step_by(7).for_each(|event| event.cpu = u32::MAX);
        trace
    };
    for tail in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
        let raw = run(&[(PIPE, &nonsense), (TCP, &|_| same(50, SOFTIRQ))], Some(tail));
        assert!(read(&raw).explanation.unwrap().cases.len() == 2);
        let raw = run(&[(STREAM, &nonsense), (STREAM_NO_ACK, &|_| same(50, SOFTIRQ))], Some(tail));
        assert!(read(&raw).explanation.unwrap().cases.len() == 2);
    }
}

#[test]
fn a_run_without_traces_explains_nothing() {
    assert_eq!(
        read(&Builder::new().case(PIPE, 8, |_, t| t.each(&[2600; 400])).build()).explanation,
        None
    );
    let raw = run(&[(PIPE, &|_| Trace { lost: 1, ..same(50, ONE_CPU) })], Some(0.99));
    let explained = read(&raw).explanation.unwrap().cases[0].clone();
    assert_eq!((explained.hops, explained.total_ns.point, explained.segments.len()), (0, None, 0));
    assert_eq!(explained.left_out[0].hops, 400);
}

/// Medians of segments do not add up where trials differ: each of three segments is long in a third of them.
#[test]
fn segments_add_up_to_the_whole_where_trials_differ() {
    let lines = |round: u32, by: u64| {
        let mut lines = ONE_CPU.to_vec();
        lines[[1, 5, 7][round as usize % 3]].0 += by;
        lines
    };
    let cases: [(&str, &dyn Fn(u32) -> Trace); 2] = [
        (PIPE, &|round| trace_of(50, |_| lines(round, 900))),
        (TCP, &|round| trace_of(50, |_| lines(round + 1, 1700 + 10 * u64::from(round)))),
    ];
    let explained = read(&run(&cases, None)).explanation.unwrap();
    for case in &explained.cases {
        let sum: f64 = case.segments.iter().filter_map(|of| of.typical_ns.point).sum();
        assert!((sum - case.total_ns.point.unwrap()).abs() < 1e-6, "{sum}: {case:?}");
    }
    let difference = explained.difference.unwrap();
    let whole = difference.total_ns.point.unwrap();
    let parts = difference.parts.iter().filter_map(|part| part.ns.point).sum::<f64>();
    let segments = difference.segments.iter();
    assert!((parts - whole).abs() < 1e-6, "{difference:?}");
    for of in segments {
        assert!((of.second_ns - of.first_ns - of.ns.point.unwrap()).abs() < 1e-6, "{of:?}");
        assert!(of.ns.low <= of.ns.point && of.ns.point <= of.ns.high, "{of:?}");
    }
}
