use hopcost_model::{TraceEvent, TraceKind, TraceThread};

use super::event::EVENTS;
use super::format::Tracepoint;
use super::record::{self, Layout, Whose};
use super::tie::{self, Tie};
use super::*;
use crate::clock::Pair;

/// Of Linux 6.18 on x86-64.
const SWITCH: &str = include_str!("sched_switch.format");
const IDLE: &str = include_str!("cpu_idle.format");

fn source(name: &str) -> &'static event::Source {
    EVENTS.iter().find(|source| source.name == name).unwrap()
}

fn tracepoints() -> Vec<Tracepoint> {
    vec![
        Tracepoint::parse(source("sched/sched_switch"), "372\n", SWITCH).unwrap(),
        Tracepoint::parse(source("power/cpu_idle"), "568\n", IDLE).unwrap(),
    ]
}

/// A record of a tracepoint as the kernel writes it, with the id of the thread if it has one.
fn sample(tid: Option<u32>, at_ns: u64, data: &[u8]) -> Vec<u8> {
    let mut body: Vec<u8> = Vec::new();
    for number in tid.into_iter().flat_map(|tid| [tid, tid]) {
        body.extend(number.to_ne_bytes());
    }
    body.extend(at_ns.to_ne_bytes());
    body.extend((data.len() as u32).to_ne_bytes());
    body.extend(data);
    of_kind(9, &body)
}

fn of_kind(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut record = kind.to_ne_bytes().to_vec();
    record.extend(2u16.to_ne_bytes());
    record.extend((body.len() as u16 + 8).to_ne_bytes());
    record.extend(body);
    record
}

/// What a tracepoint with this number says, with numbers of four bytes at these places.
fn data(id: u16, thread: u32, len: usize, numbers: &[(usize, u32)]) -> Vec<u8> {
    let mut data = vec![0; len];
    data[..2].copy_from_slice(&id.to_ne_bytes());
    for (at, number) in numbers.iter().chain(&[(4, thread)]) {
        data[*at..at + 4].copy_from_slice(&number.to_ne_bytes());
    }
    data
}

fn decode(bytes: &[u8], layout: Layout, ends: &Ends) -> Result<(Vec<TraceEvent>, u64), String> {
    let tracepoints = tracepoints();
    let (samples, lost) = record::samples(bytes, 3, layout)?;
    let whose = Whose::of(samples.iter(), ends, &tracepoints);
    let events = samples.iter().map(|sample| record::event(sample, &tracepoints, &whose));
    Ok((events.collect::<Result<_, _>>()?, lost))
}

#[test]
fn formats_say_where_fields_lie() {
    let [switch, idle] = <[Tracepoint; 2]>::try_from(tracepoints()).ok().unwrap();
    assert_eq!((switch.id, switch.thread.offset), (372, 4));
    let places: Vec<_> = switch.fields.iter().map(|field| (field.offset, field.size)).collect();
    assert_eq!(places, [(24, 4), (56, 4)]);
    assert_eq!((idle.fields[0].offset, idle.fields[0].read(&[1; 12])), (8, Some(0x0101_0101)));
    assert_eq!(idle.fields[0].read(&[1; 11]), None);
    let refused = |id: &str, format: &str| {
        Tracepoint::parse(source("power/cpu_idle"), id, format).err().unwrap()
    };
    assert!(refused("65536", IDLE).contains("65536"));
    assert!(refused("", IDLE).contains("id"));
    for broken in ["", "\tfield:u32 state;\toffset:8;\tsize:3;", "\tfield:u32 state;\toffset:x;"] {
        assert!(refused("1", broken).contains("no number `state`"), "{broken}");
    }
}

#[test]
fn records_are_events_of_threads_by_the_kernels_own_ids() {
    // This process sees threads 7 and 8 of its pid namespace, which the kernel has as 1007 and 1008.
    for (layout, ids) in [(Layout::OwnIds, [7, 8]), (Layout::Data, [1007, 1008])] {
        let ends = Ends { caller: vec![ids[0]], callee: vec![ids[1]] };
        let has = |tid| (layout == Layout::OwnIds).then_some(tid);
        decoded(layout, &ends, has);
    }
}

fn decoded(layout: Layout, ends: &Ends, has: impl Fn(u32) -> Option<u32>) {
    let mut bytes = sample(has(7), 100, &data(372, 1007, 64, &[(24, 1007), (56, 1008)]));
    bytes.extend(sample(has(8), 200, &data(372, 1008, 64, &[(24, 1008), (56, 0)])));
    bytes.extend(sample(has(0), 300, &data(568, 0, 16, &[(8, 1)])));
    bytes.extend(of_kind(2, &[1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]));
    bytes.extend(of_kind(77, &[]));
    bytes.extend(sample(has(0), 400, &data(568, 0, 16, &[(8, u32::MAX)])));
    bytes.extend(sample(has(0), 500, &data(372, 1009, 64, &[(24, 1009), (56, 1007)])));
    let (events, lost) = decode(&bytes, layout, ends).unwrap();
    use TraceThread::{Callee, Caller, Idle, Other};
    let want = [
        (100, Caller, TraceKind::Switch { from: Caller, to: Callee }),
        (200, Callee, TraceKind::Switch { from: Callee, to: Idle }),
        (300, Idle, TraceKind::IdleEnter { state: 1 }),
        (400, Idle, TraceKind::IdleExit),
        (500, Other(1009), TraceKind::Switch { from: Other(1009), to: Caller }),
    ];
    let want = want.map(|(at_ns, thread, kind)| TraceEvent { at_ns, cpu: 3, thread, kind });
    assert_eq!(events, want);
    assert_eq!(lost, if cfg!(target_endian = "big") { lost } else { 5 });
}

#[test]
fn broken_records_are_refused_wherever_they_are_cut() {
    let ends = Ends::default();
    let one = sample(Some(7), 100, &data(568, 7, 16, &[]));
    let whole = [one.clone(), one].concat();
    assert_eq!(decode(&whole, Layout::OwnIds, &ends).unwrap().0.len(), 2);
    for len in 1..whole.len() {
        let told = decode(&whole[..len], Layout::OwnIds, &ends);
        assert_eq!(told.is_ok(), len == whole.len() / 2, "{len}: {told:?}");
    }
    let of = |data: &[u8]| decode(&sample(Some(7), 100, data), Layout::OwnIds, &ends).unwrap_err();
    assert!(of(&data(569, 7, 16, &[])).contains("no known tracepoint"));
    assert!(of(&data(568, 7, 11, &[])).contains("power/cpu_idle: a record is shorter"));
    assert!(decode(&of_kind(2, &[0; 8]), Layout::OwnIds, &ends).is_err());
    // More data than the record has.
    let mut long = sample(Some(7), 100, &data(568, 7, 16, &[]));
    long[8 + 16] += 17;
    assert!(decode(&long, Layout::OwnIds, &ends).is_err());
}

#[test]
fn clocks_are_tied_by_one_line_through_all_readings_or_not_at_all() {
    let pair = |ticks, ns, half_ticks| Pair { ticks, ns, half_ticks };
    // 2 ticks a nanosecond; the counter of the second CPU is 80 ticks ahead.
    let good = [pair(1000, 5000, 20), pair(11_080, 10_000, 30), pair(2_001_000, 1_005_000, 24)];
    let tie = Tie::of(&good).tied().unwrap();
    assert_eq!((tie.ns(1000), tie.ns(3000), tie.ns(0)), (5000, 6000, 4500));
    assert_eq!(tie.duration_ns(500), 250);
    assert_eq!(tie.bound_ns, 40 + 15);
    let apart = [good[0], pair(11_000, 12_000, 1), good[2]];
    let why = Tie::of(&apart).tied().unwrap_err().to_string();
    assert!(why.contains("cannot be tied") && why.contains("2001 ns"), "{why}");
    for broken in [vec![], vec![good[0]], vec![good[2], good[0]], vec![good[0], good[0]]] {
        assert!(Tie::of(&broken).tied().is_err(), "{broken:?}");
    }
}

#[test]
fn what_hides_events_or_shifts_their_clock_is_known() {
    let of = |monotonic| format!("monotonic  {monotonic}\nboottime           7         0\n");
    assert!(tie::is_shifted(&of("  -3         0")) && tie::is_shifted(&of("0 5")));
    assert!(!tie::is_shifted(&of("         0         0")) && !tie::is_shifted(""));
    assert!(hides_events("none integrity [confidentiality]\n"));
    for level in ["[none] integrity confidentiality\n", "none [integrity] confidentiality\n", ""] {
        assert!(!hides_events(level), "{level}");
    }
}

#[test]
fn stamps_are_put_among_events_and_time_begins_at_the_first() {
    let pair = |ticks, ns| Pair { ticks, ns, half_ticks: 0 };
    let tie = Tie::of(&[pair(0, 0), pair(2000, 1000)]).tied().unwrap();
    use TraceThread::{Callee, Caller};
    let event =
        |at_ns, cpu, thread| TraceEvent { at_ns, cpu, thread, kind: TraceKind::TimerExpire };
    let events = [event(90, 1, Callee), event(150, 0, Caller), event(260, 0, Caller)];
    let stamp = |ticks, thread, cpu, number| EndStamp { ticks, thread, cpu, number };
    let stamps = [
        stamp(200, Caller, Some(0), 0),
        stamp(320, Callee, None, 2),
        stamp(500, Caller, Some(0), 1),
    ];
    let stamped = |at_ns, cpu, thread, number| TraceEvent {
        at_ns,
        cpu,
        thread,
        kind: TraceKind::Stamp(number),
    };
    assert_eq!(
        tie::merged(&events, &stamps, &tie),
        [
            stamped(0, 0, Caller, 0),
            event(50, 0, Caller),
            stamped(60, 1, Callee, 2),
            stamped(150, 0, Caller, 1),
        ]
    );
    assert_eq!(tie::merged(&events, &[], &tie), []);
}

#[test]
fn events_without_room_are_counted() {
    const CALLS: usize = 2_000;
    let cpu = sys::allowed_cpus().unwrap()[0];
    let work = || {
        sys::pin(cpu).unwrap();
        let mut recorder = Recorder::open(&[cpu], BYTES_MIN, libc::CLOCK_MONOTONIC_RAW)?;
        recorder.start()?;
        for _ in 0..CALLS {
            sys::getppid();
        }
        recorder.stop()?;
        recorder.recorded(&Ends::default())
    };
    match std::thread::scope(|scope| scope.spawn(work).join()).unwrap() {
        Ok(recording) => {
            let all = recording.events.len() as u64 + recording.lost;
            assert!(recording.lost > CALLS as u64, "{} lost", recording.lost);
            assert!(all >= 2 * CALLS as u64, "{all} in all");
        }
        Err(why) => eprintln!("skipped: {why}"),
    }
}
