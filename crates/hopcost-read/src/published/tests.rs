use hopcost_model::results::PublishedTable;

use super::*;
use crate::testing::{Builder, CALL, PIPE, TrialBuilder, WAKE, read};

const SUITE: &str = "threads-udp-websocket";

fn thread(mechanism: &str, place: &str) -> String {
    format!("roundtrip/{mechanism}?payload=64&boundary=thread&place={place}&wait=block")
}
fn each(ns: u32) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| t.each(&vec![ns * (100 + round); 100])
}
fn of(builder: Builder) -> Vec<PublishedTable> {
    read(&builder.build()).published
}

#[test]
fn every_file_can_be_read_and_says_what_it_needs() {
    assert_eq!(shown().len(), hopcost_plan::SHIPPED.len(), "every suite can be read");
    let named = shown().iter().flat_map(|(_, shown)| &shown.published);
    let named = distinct(named.map(|table| table.file.as_str()));
    assert_eq!(named, FILES.map(|(name, _)| name), "every file is of a suite, and there");
    for (_, text) in FILES {
        let source = Source::parse(text).unwrap();
        let label = source.baseline.clone().unwrap();
        assert!(source.rows.iter().any(|row| row.label == label), "{}", source.title);
        let order = source.order.clone().unwrap();
        assert!(source.rows.iter().any(|row| row.statistic == order), "{}", source.title);
        assert!(source.rows.iter().any(|row| !row.cases.is_empty()), "{}", source.title);
        for row in &source.rows {
            let unit = ["µs", "Gbit/s", "ticks"].contains(&row.unit.as_str());
            assert!(row.cases.is_empty() || unit, "{row:?}");
            assert!(row.value >= 0.0 && row.high.is_none_or(|high| high >= row.value), "{row:?}");
        }
    }
}

#[test]
fn the_throughput_of_the_copies_is_that_of_one_thread() {
    let source = Source::parse(FILES[5].1).unwrap();
    let mut checked = 0;
    for pair in source.rows.iter().filter(|row| row.statistic == "throughput-per-flow") {
        let same = |row: &&Row| row.group == pair.group && row.label == pair.label;
        let latency = source.rows.iter().filter(same).find(|row| row.statistic == "mean").unwrap();
        let size: f64 = pair.group.split(' ').nth(2).unwrap().parse().unwrap();
        // Less than this is rounded to a digit or none.
        if pair.value > 0.05 {
            let outstanding = pair.value * latency.value * 1e3 / (8.0 * 8.0 * size);
            assert!((outstanding - 1.0).abs() < 0.01, "{} {}", pair.group, pair.label);
            checked += 1;
        }
    }
    assert_eq!(checked, 36, "all but the stalled rows");
}

#[test]
fn numbers_ratios_and_order_are_lined_up() {
    let found = of(Builder::new()
        .case(&thread("condvar", "same-llc"), 8, each(90))
        .case(&thread("udp", "same-llc"), 8, each(60))
        .case(&thread("websocket-threaded", "same-llc"), 8, each(180)));
    assert_eq!(found.len(), 1);
    let table = &found[0];
    assert_eq!(table.title, "Threads, UDP and WebSocket in C++, beside ends on two CPUs here");
    assert_eq!(table.order_published, ["thread ping-pong", "UDP", "WebSocket"]);
    assert_eq!(table.order_measured, ["UDP", "thread ping-pong", "WebSocket"]);
    let socket = &table.rows[2];
    assert_eq!((socket.published, socket.published_ratio), (43.03, Some(5.35)));
    assert_eq!(socket.case, Some(thread("websocket-threaded", "same-llc")));
    let measured = socket.measured.clone().unwrap();
    assert!((measured.point.unwrap() - 18.63).abs() < 1e-9, "in µs: {measured:?}");
    assert!((measured.low.unwrap() - 18.0).abs() < 1e-9, "{measured:?}");
    let ratio = socket.measured_ratio.clone().unwrap();
    assert!((ratio.point - 2.0).abs() < 1e-9 && ratio.n_rounds == 8);
    assert_eq!(ratio.baseline, thread("condvar", "same-llc"));
}

#[test]
fn placements_are_tables_of_their_own_and_what_is_missing_stays_empty() {
    let found = of(Builder::new()
        .case(&thread("udp", "same-cpu"), 8, each(60))
        .case(&thread("udp", "same-llc"), 8, each(90))
        .skipped(&thread("condvar", "same-llc"), "no threads"));
    let titles: Vec<&str> = found.iter().map(|table| table.title.as_str()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert!(titles[0].contains("two CPUs") && titles[1].contains("one CPU"));
    let skipped = &found[0].rows[0];
    assert!(skipped.case.is_some() && skipped.measured.is_none());
    assert!(found[0].rows[1].measured_ratio.is_none(), "no baseline here");
    assert!(found[1].rows[0].case.is_none());
    assert_eq!(found[0].order_measured, Vec::<String>::new(), "one row is no order");
}

#[test]
fn a_run_without_its_cases_shows_no_table() {
    assert_eq!(of(Builder::new().case(crate::testing::PIPE, 6, each(30))), []);
    let process = thread("condvar", "same-cpu").replace("=thread", "=process");
    assert_eq!(of(Builder::new().case(&process, 6, each(30))), []);
}

#[test]
fn a_table_of_one_suite_stays_with_it() {
    let run = |suite: &str| {
        let mut raw = Builder::new()
            .case("call/mutex-uncontended", 8, |_, t| t.batch(10, &[200; 50]))
            .case("call/udp-send?payload=64", 8, |round, t| t.batch(10, &[20_000 + round; 50]))
            .build();
        raw.plan.suite = suite.to_owned();
        read(&raw).published
    };
    assert_eq!(run("ladder"), []);
    let table = &run(SUITE)[0];
    let rows = |label: &str| table.rows.iter().find(|row| row.label == label).unwrap();
    assert_eq!(rows("C++: UDP").published_ratio, Some(115.0));
    assert!((rows("C++: UDP").measured_ratio.clone().unwrap().point - 100.0).abs() < 0.1);
    assert!(rows("Python: UDP").case.is_none());
    assert_eq!(rows("C++: UDP").case.as_deref(), Some("call/udp-send?payload=64"));
    assert_eq!(table.order_measured, ["C++: lock", "C++: UDP"]);
    assert_eq!(table.order_published, table.order_measured);
}

#[test]
fn cycles_are_ticks_of_the_clock() {
    let mut raw = Builder::new()
        .case("call/call", 8, |_, t| t.batch(10, &[10; 50]))
        .case("call/ring-inline?payload=44&reply=off", 8, |_, t| t.batch(10, &[160; 50]))
        .case("call/ring-inline?payload=8&reply=off", 8, |_, t| t.batch(10, &[100; 50]))
        .build();
    raw.clocks.iter_mut().for_each(|clock| clock.ticks_per_second = 2e9);
    let table = &read(&raw).published[0];
    let ring = &table.rows[1];
    assert_eq!((ring.published, ring.published_high), (40.0, Some(44.0)));
    assert_eq!(ring.case.as_deref(), Some("call/ring-inline?payload=44&reply=off"));
    assert!((ring.measured.clone().unwrap().point.unwrap() - 16.0).abs() < 1e-9);
    assert!((ring.measured_ratio.clone().unwrap().point - 16.0).abs() < 1e-9);
}

#[test]
fn wake_ups_are_grouped_by_their_gap() {
    let wake = |mechanism: &str, gap: u64| {
        format!("wake/{mechanism}?payload=0&gap={gap}&boundary=process&place=same-llc&wait=block")
    };
    let found = of(Builder::new()
        .case(&wake("semaphore", 10_000), 8, |round, t| t.wake(&[4000 + round; 100], 9))
        .case(&wake("signal", 10_000), 8, |round, t| t.wake(&[4001 + round; 100], 9))
        .case(&wake("pipe", 10_000), 8, |round, t| t.wake(&[6000 + round; 100], 9)));
    assert_eq!(found.len(), 2, "two machines, one gap");
    assert!(found[0].title.contains("i9-9900K") && found[0].title.contains("gap of 10 µs"));
    assert_eq!(found[0].order_published, ["semaphore", "pipe", "signal"]);
    assert_eq!(found[0].order_measured, ["semaphore = signal", "pipe"]);
    let statistics = found[0].rows.iter().filter(|row| row.label == "pipe");
    let with: Vec<(&str, bool)> =
        statistics.map(|row| (row.statistic.as_str(), row.measured.is_some())).collect();
    assert_eq!(
        with,
        [("mean", true), ("stdev", true), ("min", true), ("p50", true), ("p99", true)]
    );
}

#[test]
fn throughput_is_that_of_a_flow() {
    let id = "stream/tcp-sendmsg?payload=32768&fields=8&flows=2&ack=per-message\
              &boundary=process&place=free&wait=block";
    let found =
        of(Builder::new().case(id, 8, |_, t| t.stream(2, 100, 32_768, &[50_000; 200], 5_000_000)));
    assert_eq!(found.len(), 1);
    assert!(found[0].title.contains("fields of 4096 B, 2 threads, beside ends that were not"));
    let row = |statistic: &str| {
        let of = |row: &&PublishedRow| row.label.starts_with("A2") && row.statistic == statistic;
        found[0].rows.iter().find(of).unwrap().clone()
    };
    let gbps = row("throughput-per-flow").measured.unwrap().point.unwrap();
    assert!((gbps - 32_768.0 * 8.0 / 50_000.0).abs() < 1e-9);
    assert_eq!(row("mean").measured.unwrap().point, Some(50.0));
    assert!(row("cycles").measured.is_none(), "the source does not say of how many messages");
}

#[test]
fn what_is_not_touched_has_a_table_of_its_own() {
    let id = thread("condvar", "same-llc");
    let untouched = format!("{id}&touch=none");
    let titles = |builder: Builder| {
        let tables = of(builder).into_iter();
        tables
            .map(|table| (table.title, table.rows.into_iter().find_map(|row| row.case)))
            .collect::<Vec<_>>()
    };
    let both = titles(Builder::new().case(&id, 8, each(90)).case(&untouched, 8, each(80)));
    let [verified, none] = both.as_slice() else { panic!("{both:?}") };
    assert_eq!((&verified.1, &none.1), (&Some(id), &Some(untouched.clone())));
    assert_eq!(none.0, format!("{}, beside touch=none here", verified.0));
    let alone = titles(Builder::new().case(&untouched, 8, each(80)));
    assert_eq!(alone, both[1..]);
}

#[test]
fn some_keys_decide() {
    let fits = |pattern: &str, id: &str, place: Option<&str>| {
        let kind = (place, Touch::Verify);
        fits_at(&Selector::parse(pattern).unwrap(), &id.parse().unwrap(), kind)
    };
    assert!(fits("roundtrip/pipe", PIPE, None));
    assert!(fits("roundtrip/pipe?payload=64&wait=block", PIPE, Some("same-cpu")));
    assert!(!fits("roundtrip/pipe?payload=6", PIPE, None), "a value, not its beginning");
    assert!(!fits("roundtrip/pipe", PIPE, Some("cross")));
    assert!(!fits("roundtrip/pip", PIPE, None));
    assert!(fits("wake/pipe?gap=1ms&idle-knob=none", WAKE, Some("cross")));
    let knob = format!("{WAKE}&idle-knob=spinner");
    assert!(!fits("wake/pipe?gap=1ms&idle-knob=none", &knob, None));
    assert!(fits("call/syscall", CALL, Some("free")));
    let python = format!("{PIPE}&runtime=python");
    assert!(!fits("roundtrip/pipe", &python, None), "Rust, unless said otherwise");
    assert!(fits("roundtrip/pipe?runtime=python", &python, None));
    assert!(!fits("roundtrip/pipe?runtime=python", PIPE, None));
    assert!(!fits("roundtrip/pipe?runtime=python", &format!("{python}:rust"), None));
    assert!(fits("roundtrip/pipe?runtime=rust", PIPE, None));
}
