use hopcost_model::results::{Plot, PlotSeries};

use crate::testing::{Builder, STREAM, WAKE, event, noisy, uncounted};

fn plot(plots: &[Plot], id: &str) -> Plot {
    plots.iter().find(|plot| plot.id == id).unwrap_or_else(|| panic!("{id}")).clone()
}
fn xy(series: &PlotSeries) -> Vec<(f64, f64)> {
    series.points.iter().map(|point| (point.x, point.y)).collect()
}
fn stream(mechanism: &str, field: u64, flows: u32) -> String {
    STREAM
        .replace("tcp-sendmsg", mechanism)
        .replace("payload=2048", &format!("payload={}", 8 * field))
        .replace("flows=1", &format!("flows={flows}"))
}

/// A message takes 1000 ns and one more for each byte of a field; of two flows, each
/// takes twice as long.
fn copies(cycles: Option<u64>) -> Vec<Plot> {
    let mut builder = Builder::new();
    for mechanism in ["tcp-send", "tcp-sendmsg"] {
        for (field, flows) in [(65_536, 1), (256, 1), (4096, 1), (4096, 2)] {
            builder = builder.case(&stream(mechanism, field, flows), 8, move |_, t| {
                let ns = (1000 + field) * u64::from(flows);
                let latencies = vec![ns as u32; 50 * flows as usize];
                t.stream(flows, 50, 8 * field, &latencies, 50 * ns);
                t.raw.cpu_ns = 50 * u64::from(flows) * 4096;
                for end in &mut t.raw.ends {
                    end.events = vec![match cycles {
                        Some(cycles) => event("cycles", cycles),
                        None => uncounted("cycles", "no PMU"),
                    }];
                }
            });
        }
    }
    // Alone along both axes, and with an acknowledgement of its own.
    let alone = stream("tcp-writev", 4096, 1).replace("per-message", "window:4");
    builder = builder.case(&alone, 8, |_, t| {
        t.stream(1, 50, 32_768, &[5000; 50], 250_000);
        t.raw.ends.iter_mut().for_each(|end| end.events = vec![event("cycles", 1)]);
    });
    builder.read().plots
}

#[test]
fn streams_by_size_and_by_flows() {
    let plots = copies(Some(50 * 2048));
    assert!(plots.iter().flat_map(|p| &p.series).all(|s| !s.name.contains("tcp-writev")));
    let ids: Vec<&str> = plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "throughput-size",
            "cpu-time-per-message-size",
            "cycles-per-byte-size",
            "latency-flows-4096",
            "throughput-flows-4096",
            "throughput-per-flow-4096"
        ]
    );
    let throughput = &plots[0].series;
    let names: Vec<&str> = throughput.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["tcp-send", "tcp-sendmsg"]);
    let gbps = |field: f64| 64.0 * field / (1000.0 + field);
    for ((x, y), field) in xy(&throughput[0]).into_iter().zip([256.0, 4096.0, 65_536.0]) {
        assert_eq!(x, field);
        assert!((y - gbps(field)).abs() < 1e-9);
    }
    assert_eq!(xy(&plots[3].series[1]), [(1.0, 5096.0), (2.0, 10_192.0)]);
    // 2048 cycles a message at each end, over 8 × 256 bytes.
    assert_eq!(plots[2].title, "CPU cycles per byte of message, both ends");
    let first = xy(&plots[2].series[0])[0];
    assert!(first.0 == 256.0 && (first.1 - 2.0 * WITH_BESIDES).abs() < 1e-9, "{first:?}");
    assert_eq!([4, 5].map(|at: usize| plots[at].series.len()), [2, 2]);
    assert!(plots[4].y.label.ends_with("all flows") && plots[5].y.label.ends_with("a flow"));
    let (all, one) = (xy(&plots[4].series[0]), xy(&plots[5].series[0]));
    assert!((all[1].1 - all[0].1).abs() < 1e-9 && (one[1].1 * 2.0 - one[0].1).abs() < 1e-9);
}

/// 50 messages of a trial among the 52 that its counters counted.
const WITH_BESIDES: f64 = 50.0 / 52.0;

#[test]
fn what_was_not_counted_is_replaced_and_said() {
    let plots = copies(None);
    let cycles = plot(&plots, "cpu-time-per-byte-size");
    assert!(cycles.title.contains("cycles were not counted"), "{}", cycles.title);
    assert!(cycles.notes[0].contains("no PMU") && cycles.y.unit == "ns");
    let first = xy(&cycles.series[0])[0];
    assert!((first.1 - 2.0 * WITH_BESIDES).abs() < 1e-9, "4096 ns over 2048 bytes: {first:?}");
    let misses = plot(&plots, "cpu-time-per-message-size");
    assert!(misses.title.contains("CPU time") && misses.notes[0].contains("not asked for"));
    let first = xy(&misses.series[0])[0];
    assert!((first.1 - 4096.0 * WITH_BESIDES).abs() < 1e-6, "{first:?}");
}

#[test]
fn wake_ups_by_gap() {
    let id = |gap: u64, more: &str| WAKE.replace("gap=1000000", &format!("gap={gap}")) + more;
    let mut builder = Builder::new();
    for gap in [1_000_000, 1_000] {
        for more in ["", "&idle-knob=spinner"] {
            builder = builder.case(&id(gap, more), 8, move |round, t| {
                t.wake(&noisy(100, round), gap);
            });
        }
        let one = id(gap, "").replace("same-llc", "same-cpu");
        builder = builder.case(&one, 8, move |_, t| t.wake(&[500; 5], gap));
    }
    let plots = builder.read().plots;
    assert_eq!(plots.len(), 2);
    assert_eq!((plots[0].id.as_str(), plots[1].id.as_str()), ("wakeup-gap", "wakeup-gap-same-cpu"));
    assert!(plots[0].x.logarithmic && plots[0].y.logarithmic);
    let names: Vec<&str> = plots[0].series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["pipe", "pipe, spinner"]);
    let point = plots[0].series[0].points[0];
    assert_eq!(point.x, 1000.0);
    let (low, high) = (point.low.unwrap(), point.high.unwrap());
    assert!(low < point.y && point.y < high && low > 0.8 * point.y, "{point:?}");
    assert!(plots[1].series[0].points[0].low.is_none(), "40 samples have no p5");
}

#[test]
fn calls_by_payload_in_time_and_in_ticks_beside_the_published_range() {
    let id = |payload: u32| format!("call/ring-inline?payload={payload}&reply=off");
    let sweep = |payloads: &[u32]| {
        let mut builder = Builder::new().case("call/syscall", 8, |_, t| t.batch(10, &[900; 50]));
        for payload in payloads {
            builder = builder.case(&id(*payload), 8, |_, t| t.batch(10, &[100 + payload; 50]));
        }
        builder.read().plots
    };
    let plots = sweep(&[4096, 8, 44]);
    let ids: Vec<&str> = plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(ids, ["cost-payload", "ticks-payload"]);
    assert_eq!(plots[0].series.len(), 1, "what has no payload has no place");
    assert_eq!(xy(&plots[0].series[0]), [(8.0, 10.8), (44.0, 14.4), (4096.0, 419.6)]);
    assert!(plots[0].x.logarithmic);
    assert_eq!(xy(&sweep(&[0, 8, 44, 4096])[0].series[0]).len(), 3, "0 has no place on the axis");
    assert_eq!(sweep(&[8, 44]), [], "two points are no sweep");
    // The clock of tests has a tick a nanosecond.
    let ticks = plot(&plots, "ticks-payload");
    assert_eq!(xy(&ticks.series[0])[1], (44.0, 14.4));
    let published: Vec<(f64, f64)> =
        ticks.series[0].published.iter().map(|of| (of.x, of.y)).collect();
    assert_eq!(published, [(44.0, 40.0), (44.0, 44.0)]);
    assert!(ticks.series[0].published.iter().all(|of| of.machine.is_empty()), "no machine stated");
    assert!(ticks.notes.iter().any(|note| note.contains("microkernel project")), "{ticks:?}");
}

#[test]
fn methods_are_bars_for_each_placement() {
    let id = |mechanism: &str, place: &str| {
        format!("roundtrip/{mechanism}?payload=4&boundary=thread&place={place}&wait=block")
    };
    let mut builder = Builder::new();
    for place in ["free", "same-cpu"] {
        for (mechanism, ns) in [("condvar", 3000), ("udp", 5000)] {
            builder = builder.case(&id(mechanism, place), 8, move |_, t| t.each(&[ns; 50]));
        }
    }
    let plots = builder.case(&id("udp", "same-llc"), 8, |_, t| t.each(&[9; 50])).read().plots;
    let ids: Vec<&str> = plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(ids, ["latency-method", "latency-method-same-cpu"], "one bar is no comparison");
    assert_eq!(plots[0].x.names, ["condvar", "udp"]);
    assert!(plots[0].title.contains("free") && !plots[0].y.logarithmic);
    assert_eq!(xy(&plots[0].series[0]), [(0.0, 3000.0), (1.0, 5000.0)]);
}

#[test]
fn what_waited_for_a_delayed_acknowledgement_is_marked() {
    let mut builder = Builder::new();
    for (field, slow) in [(256, 40_500_000), (4096, 30_000)] {
        let id = stream("tcp-send", field, 1);
        let latencies: Vec<u32> = (0..50).map(|i| if i < 5 { slow } else { 30_000 }).collect();
        builder =
            builder.case(&id, 8, move |_, t| t.stream(1, 50, 8 * field, &latencies, 300_000_000));
    }
    let throughput = plot(&builder.read().plots, "throughput-size");
    let stalled: Vec<Option<f64>> =
        throughput.series[0].points.iter().map(|point| point.stalled).collect();
    assert_eq!(stalled, [Some(0.1), None]);
}
