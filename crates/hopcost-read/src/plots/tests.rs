use hopcost_model::protocol::EventReading;
use hopcost_model::results::{Plot, PlotSeries};

use crate::testing::{Builder, STREAM, WAKE, event, noisy, read};

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
    let mut builder = Builder::new().host(&[
        ("cpu.model", "Some CPU"),
        ("kernel.release", "6.1"),
        ("virt.hypervisor", "KVM"),
    ]);
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
                        None => EventReading {
                            value: None,
                            unavailable: Some("no PMU".into()),
                            ..event("cycles", 0)
                        },
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
    read(&builder.build()).plots
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
            "llc-misses-size",
            "cycles-per-byte-size",
            "latency-flows",
            "throughput-flows"
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
    let flows = &plots[4].series;
    assert_eq!(flows.len(), 4);
    assert!(flows[0].name.ends_with("all flows") && flows[2].name.ends_with("a flow"));
    let (all, one) = (xy(&flows[0]), xy(&flows[2]));
    assert!((all[1].1 - all[0].1).abs() < 1e-9 && (one[1].1 * 2.0 - one[0].1).abs() < 1e-9);
    for plot in &plots {
        assert_eq!(plot.notes[0], "Some CPU; Linux 6.1; virtual machine (KVM)");
    }
}

/// 50 messages of a trial among the 52 that its counters counted.
const WITH_BESIDES: f64 = 50.0 / 52.0;

#[test]
fn what_was_not_counted_is_replaced_and_said() {
    let plots = copies(None);
    let cycles = plot(&plots, "cycles-per-byte-size");
    assert!(cycles.title.contains("cycles were not counted"), "{}", cycles.title);
    assert!(cycles.notes[1].contains("no PMU") && cycles.y.unit == "ns");
    let first = xy(&cycles.series[0])[0];
    assert!((first.1 - 2.0 * WITH_BESIDES).abs() < 1e-9, "4096 ns over 2048 bytes: {first:?}");
    let misses = plot(&plots, "llc-misses-size");
    assert!(misses.title.contains("CPU time") && misses.notes[1].contains("not asked for"));
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
    let plots = read(&builder.build()).plots;
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
    assert!(plots[0].notes[0].contains("not known"), "{:?}", plots[0].notes);
}

#[test]
fn calls_by_payload() {
    let id = |payload: u32| format!("call/ring-inline?payload={payload}");
    let sweep = |payloads: &[u32]| {
        let mut builder = Builder::new().case("call/syscall", 8, |_, t| t.batch(10, &[900; 50]));
        for payload in payloads {
            builder = builder.case(&id(*payload), 8, |_, t| t.batch(10, &[100 + payload; 50]));
        }
        read(&builder.build()).plots
    };
    let plots = sweep(&[4096, 8, 44]);
    assert_eq!(plots.len(), 1);
    assert_eq!(plots[0].series.len(), 1, "what has no payload has no place");
    assert_eq!(xy(&plots[0].series[0]), [(8.0, 10.8), (44.0, 14.4), (4096.0, 419.6)]);
    assert!(plots[0].x.logarithmic);
    assert_eq!(xy(&sweep(&[0, 8, 44, 4096])[0].series[0]).len(), 3, "0 has no place on the axis");
    assert_eq!(sweep(&[8, 44]), [], "two points are no sweep");
}
