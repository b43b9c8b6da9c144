use hopcost_plan::shown;

use super::*;
use crate::testing::{Builder, TrialBuilder, read};

fn thread(mechanism: &str, place: &str) -> String {
    format!("roundtrip/{mechanism}?payload=64&boundary=thread&place={place}&wait=block")
}
fn each(ns: u32) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| t.each(&vec![ns * (100 + round); 100])
}
fn of(builder: Builder) -> Vec<PublishedTable> {
    builder.read().published
}

#[test]
fn every_file_can_be_read_and_says_what_it_needs() {
    assert_eq!(shown().len(), hopcost_plan::SHIPPED.len(), "every suite can be read");
    let named = shown().iter().flat_map(|(_, shown)| &shown.published);
    let named = distinct(named.map(|table| table.file.as_str()));
    assert_eq!(named, FILES.map(|(name, _)| name), "every file is of a suite, and there");
    for (file, text) in FILES {
        let source = Source::parse(file, text).unwrap();
        let rows = &source.rows.0;
        for label in &source.baseline {
            assert!(rows.iter().any(|row| row.shown.label == *label), "{file}");
        }
        assert!(rows.iter().any(|row| !row.cases.is_empty()), "{file}");
        for Row { cases, shown, .. } in rows {
            let unit = ["s", "µs", "Gbit/s", "ticks", "a run"].contains(&shown.unit.as_str());
            assert!(cases.is_empty() || unit || shown.statistic == RELATIVE, "{shown:?}");
            assert!(shown.statistic != "total" || source.table.operations.is_some(), "{shown:?}");
            assert!(shown.published.is_none_or(|value| value >= 0.0), "{shown:?}");
            let is_range = |high| shown.published.is_some_and(|low| high >= low);
            assert!(shown.published_high.is_none_or(is_range), "{shown:?}");
        }
    }
}

#[test]
fn numbers_and_ratios_are_lined_up() {
    let found = of(Builder::new()
        .case(&thread("condvar", "same-llc"), 8, each(90))
        .case(&thread("udp", "same-llc"), 8, each(60))
        .case(&thread("websocket-threaded", "same-llc"), 8, each(180)));
    assert_eq!(found.len(), 1);
    let table = &found[0];
    assert_eq!(table.place, Some(Place::Two));
    let of_socket = |statistic: &str| {
        let of = |row: &&PublishedRow| row.label == "WebSocket" && row.statistic == statistic;
        table.rows.iter().find(of).unwrap().clone()
    };
    let (socket, relative) = (of_socket("mean"), of_socket("relative"));
    assert_eq!((socket.published, relative.published_ratio), (Some(43.03), Some(5.35)));
    let total = of_socket("total").measured.unwrap().point.unwrap();
    assert!((total - 186_300.0).abs() < 1e-6, "of 10,000: {total}");
    assert_eq!((relative.measured, relative.measured_ratio), (None, socket.measured_ratio.clone()));
    assert_eq!(socket.case, Some(thread("websocket-threaded", "same-llc")));
    let measured = socket.measured.clone().unwrap();
    assert!((measured.point.unwrap() - 18.63).abs() < 1e-9, "in µs: {measured:?}");
    assert!((measured.low.unwrap() - 18.0).abs() < 1e-9, "{measured:?}");
    let ratio = socket.measured_ratio.clone().unwrap();
    assert!((ratio.point - 2.0).abs() < 1e-9 && ratio.n_rounds == 8);
    assert_eq!(ratio.baseline, thread("condvar", "same-llc"));
}

#[test]
fn a_run_without_its_cases_shows_no_table() {
    assert_eq!(of(Builder::new().case(crate::testing::PIPE, 6, each(30))), []);
    let process = thread("condvar", "same-cpu").replace("=thread", "=process");
    assert_eq!(of(Builder::new().case(&process, 6, each(30))), []);
}

#[test]
fn half_a_round_trip_is_a_switch_and_what_processes_take_more_is_half_their_difference() {
    let yields = |boundary: &str| {
        format!("roundtrip/flag?payload=0&boundary={boundary}&place=same-cpu&wait=yield")
    };
    let mut raw = Builder::new()
        .case(&yields("process"), 8, |_, t| t.each(&[1200; 100]))
        .case(&yields("thread"), 8, |_, t| t.each(&[1000; 100]))
        .build();
    raw.clocks.iter_mut().for_each(|clock| clock.ticks_per_second = 2e9);
    let found = read(&raw).published;
    let table = found.iter().find(|table| table.file == "microkernel-claims").unwrap();
    let row = |label: &str| table.rows.iter().find(|row| row.label.starts_with(label)).unwrap();
    let measured = |label| row(label).measured.clone().unwrap().point.unwrap();
    for (label, ticks, published) in [
        ("context switch of processes", 600.0, Some(1000.0)),
        ("context switch of threads", 500.0, None),
        ("more of processes", 100.0, None),
    ] {
        assert!((measured(label) - ticks).abs() < 1e-9, "{label}: {}", measured(label));
        assert_eq!(row(label).published, published, "{label}");
    }
    assert!(row("sched_yield").measured.is_none());
}

#[test]
fn what_is_wrong_is_said() {
    let layout = "{ rows = [], columns = \"label\", group = [], label = \"\" }";
    let meta = format!("title = \"a\"\nsource = \"b\"\nmachine = \"c\"\nlayout = {layout}");
    let file = |meta: &str, row: &str| {
        let fields: Vec<&str> = row.split(',').collect();
        let text = format!("{meta}\nrows = [{fields:?}]\n");
        Source::parse("f", &text).map(|source| source.rows.0.len())
    };
    let meta = meta.as_str();
    assert_eq!(file(meta, "g,l,mean,1,,µs,,"), Ok(1));
    for (meta, row, part) in [
        ("title = \"a\"", "g,l,mean,1,,µs,,", "missing field `layout`"),
        (meta, "g,l,mean,x,,µs,,", "not a number"),
        (meta, "g,l,mean,1,,µs", "length"),
        (meta, "g,l,mean,1,,µs,nonsense,", "nonsense"),
    ] {
        let error = file(meta, row).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
