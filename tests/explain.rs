//! Where the time of a hop goes, from the command line to the run file and back.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::wait::InTime;
use crate::support::{Home, alone, cross, measured};

/// What keeps the kernel's events from being recorded here, if anything does.
fn refused() -> Option<String> {
    hopcost_probe::trace::refused(0)
}

#[test]
fn two_cases_are_put_side_by_side_and_shown_again() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let events = home.path().join("events.json");
    let events = events.to_str().unwrap();
    let asked = ["explain", "pipe", "unix-stream", "--placement", "same-cpu", "--measure", "1ms"];
    let more = ["--budget", "6s", "--tail", "p99", "--perfetto", events];
    let first = home.expect(&[&asked[..], &more[..]].concat(), measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    assert!(first.contains("caller  a") && first.contains("callee"), "{first}");
    let csv = home.expect(&["report", "last", "--format", "csv"], 0);
    assert!(csv.starts_with("case,leg,end,segment,begins_ns,typical_ns,"), "{csv}");

    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cases = json["explanation"]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let hops = case["hops"].as_u64().unwrap();
        let left_out = case["left_out"].as_array().unwrap().iter();
        let left_out: u64 = left_out.map(|of| of["hops"].as_u64().unwrap()).sum();
        assert!(hops > 20 * left_out, "{hops} hops, {left_out} left out: {case}");
        let kinds: Vec<&str> = case["segments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["segment"]["kind"].as_str().unwrap())
            .collect();
        // A Unix socket wakes its reader before the message is there: on one CPU nobody waits for that.
        for kind in ["user", "send", "switch", "receive"] {
            assert!(kinds.iter().filter(|own| **own == kind).count() >= 2, "{kind} in {kinds:?}");
        }
    }
    assert!(json["explanation"]["difference"]["says"].as_str().unwrap().contains("unix-stream"));

    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let [reader, glossary] =
        ["tests/support/trace_events.py", "GLOSSARY.md"].map(|file| format!("{root}/{file}"));
    let read = Command::new("python3").args([&reader, events, &glossary]).try_finish();
    let read = read.expect("python3");
    let tracks = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    // Of each case a track for each end, which makes two calls a hop, and one for their CPU.
    let calls = tracks.lines().filter(|line| line.contains("{'system call': "));
    assert_eq!(calls.count(), 4, "{tracks}");
    let cpus = tracks.lines().filter(|line| line.contains("\tCPU "));
    assert!(
        cpus.clone().count() == 2 && cpus.clone().all(|of| of.contains("'callee': ")),
        "{tracks}"
    );
}

#[test]
fn who_may_not_record_events_is_refused() {
    let home = Home::new();
    let Some(mut command) = home.hopcost_by_stranger(&["explain", "pipe"]) else {
        return eprintln!("NOT CHECKED: only root can be somebody else");
    };
    let output = command.finish();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("run as root") && error.lines().count() == 1, "{error}");
}

/// The segments of each case of a run, by kind, in nanoseconds.
fn kinds(json: &serde_json::Value) -> Vec<BTreeMap<String, f64>> {
    let of_case = |case: &serde_json::Value| {
        let mut all = BTreeMap::new();
        for of in case["segments"].as_array().unwrap() {
            assert_eq!(of["segment"]["leg"], "forth", "{of}");
            let kind = of["segment"]["kind"].as_str().unwrap().to_owned();
            *all.entry(kind).or_default() += of["typical_ns"]["point"].as_f64().unwrap();
        }
        all
    };
    json["explanation"]["cases"].as_array().unwrap().iter().map(of_case).collect()
}

#[test]
fn wake_ups_are_cut_one_way_and_stand_beside_each_other_by_their_gap() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let place = if cross().is_some() { "cross" } else { "same-cpu" };
    let asked = ["explain", "wake/pipe", "--gap", "10us,50us,100us", "--placement", place];
    let shown = home.expect(&[&asked[..], &["--budget", "12s"]].concat(), measured());
    assert!(shown.contains("after a gap of") && shown.contains("100 µs"), "{shown}");
    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let gaps = json["explanation"]["cases"].as_array().unwrap().iter();
    assert_eq!(
        gaps.map(|of| of["gap_ns"].as_u64().unwrap()).collect::<Vec<_>>(),
        [10_000, 50_000, 100_000]
    );
    for (case, kinds) in json["explanation"]["cases"].as_array().unwrap().iter().zip(kinds(&json)) {
        let hops = case["hops"].as_u64().unwrap();
        let left_out = case["left_out"].as_array().unwrap().iter();
        let left_out: u64 = left_out.map(|of| of["hops"].as_u64().unwrap()).sum();
        assert!(hops > 10 * left_out, "{hops} hops, {left_out} left out: {case}");
        for kind in ["user", "send"] {
            assert!(kinds.contains_key(kind), "{kind} in {kinds:?}");
        }
        // Where others have the callee's CPU, no switch from idle is between; of some guests' idling nothing is told.
        let waits = ["switch", "other-task", "unseparated"];
        assert!(waits.iter().any(|kind| kinds.contains_key(*kind)), "{kinds:?}");
        let total_ns = case["total_ns"]["point"].as_f64().unwrap();
        let sum_ns: f64 = kinds.values().sum();
        assert!((sum_ns / total_ns - 1.0).abs() < 1e-6, "{sum_ns} of {total_ns}: {kinds:?}");
        // The same stamps bound a wake-up without events.
        let of = |key: &str| case[key]["point"].as_f64().unwrap();
        let times = of("traced_p50_ns") / of("untraced_p50_ns");
        assert!((0.5..20.0).contains(&times), "{times} times as long: {case}");
    }
    let by_gap = json["explanation"]["by_gap"].as_array().unwrap();
    assert!(by_gap.iter().all(|of| of["typical_ns"].as_array().unwrap().len() == 3));
}

/// Far more than a hop over a pipe varies by from round to round.
const DELAY_US: f64 = 200.0;

/// An end that computes before it sends does so in user space, and no other segment has it.
#[test]
fn a_known_delay_is_found_in_its_segment_and_nowhere_else() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    for (at, leg) in [("caller", "forth"), ("callee", "back")] {
        let home = Home::new();
        let delayed = format!("delay:{DELAY_US}us?at={at}");
        let asked = ["explain", "pipe", &delayed, "--placement", "same-cpu", "--measure", "1ms"];
        home.expect(&[&asked[..], &["--budget", "8s"]].concat(), measured());
        let json = home.expect(&["report", "last", "--format", "json"], 0);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let difference = &json["explanation"]["difference"];
        let mut found = 0;
        for of in difference["segments"].as_array().unwrap() {
            let segment = &of["segment"];
            let is_own = segment["leg"] == leg && segment["kind"] == "user" && segment["end"] == at;
            let share = of["ns"]["point"].as_f64().unwrap() / (DELAY_US * 1e3);
            let want = if is_own { 1.0 } else { 0.0 };
            assert!((share - want).abs() < 0.05, "{at}: {share} of it in {segment}: {difference}");
            found += u32::from(is_own);
        }
        assert_eq!(found, 1, "{difference}");
    }
}

/// A device that lets a message of 64 bytes (130 with its headers) through in 500 µs: the round trip of two of
/// them takes a millisecond, however long the rest of it takes, and what it takes longer is in the queue.
#[test]
fn what_a_shaped_device_delays_is_queued_and_nowhere_else() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    // A CPU that idles between two hops is slower at the rest of a hop too, by 40 to 100 µs here: so much is no share of this.
    const ROUND_TRIP_NS: f64 = 5e6;
    let asked = ["explain", "tcp", "--placement", "same-cpu", "--measure", "1ms", "--budget"];
    let explained = |shaped: &str, budget: &str| {
        let home = Home::new();
        let inner = home.hopcost(&[&asked[..], &[budget, "--format", "json"]].concat());
        let script = format!("ip link set lo up {shaped} && exec \"$@\"");
        let mut command = Command::new("unshare");
        command.args(["-n", "sh", "-c", &script, "sh"]).arg(inner.get_program());
        command.args(inner.get_args()).current_dir(home.path());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.finish();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(measured()), "{said}");
        let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["explanation"]["cases"][0].take()
    };
    let queued_ns = |case: &serde_json::Value| -> f64 {
        let own = case["segments"].as_array().unwrap().iter();
        let own = own.filter(|of| of["segment"]["kind"] == "queue");
        own.map(|of| of["typical_ns"]["point"].as_f64().unwrap()).sum()
    };
    let total_ns = |case: &serde_json::Value| case["total_ns"]["point"].as_f64().unwrap();
    let shaper = "&& tc qdisc add dev lo root tbf rate 416kbit burst 600 limit 10000";
    let tc = Command::new("unshare").args(["-n", "sh", "-c", &shaper[3..]]).try_finish();
    if !tc.is_ok_and(|output| output.status.success()) {
        return eprintln!("NOT CHECKED: no tc(8), or this kernel has no tbf");
    }
    let (plain, shaped) = (explained("", "8s"), explained(shaper, "8s"));
    let share = total_ns(&shaped) / ROUND_TRIP_NS;
    assert!((0.95..1.05).contains(&share), "{share} of five milliseconds: {shaped}");
    let longer_ns = total_ns(&shaped) - total_ns(&plain);
    let share = (queued_ns(&shaped) - queued_ns(&plain)) / longer_ns;
    assert!((0.95..1.05).contains(&share), "{share} of what it takes longer is queued: {shaped}");
}

/// What an end of a stream has, by kind of segment, in nanoseconds a message.
fn of_end(case: &serde_json::Value, end: &str, kind: &str) -> f64 {
    let own = case["segments"].as_array().unwrap().iter();
    let own = own.filter(|of| of["segment"]["end"] == end && of["segment"]["kind"] == kind);
    own.map(|of| of["typical_ns"]["point"].as_f64().unwrap()).sum()
}

#[test]
fn the_cpu_time_of_a_stream_is_the_sum_of_its_segments() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let asked = ["explain", "stream/tcp-send", "--fields", "1", "--placement", "same-cpu"];
    let shown = home.expect(&[&asked[..], &["--budget", "6s"]].concat(), measured());
    assert_eq!(home.expect(&["report", "last"], 0), shown);
    for said in ["CPU time of both ends a message", "caller in sendto(2)", "kernel's account"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(shown.lines().count() < 36, "one screen: {shown}");
    let csv = home.expect(&["report", "last", "--format", "csv"], 0);
    assert!(csv.contains(",system call,") && csv.contains(",recvfrom\n"), "{csv}");
    let page = home.expect(&["report", "last", "--format", "html"], 0);
    assert!(page.contains("CPU time of the end"), "no chart");
    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let case = &json["explanation"]["cases"][0];
    let point = |of: &serde_json::Value| of["point"].as_f64().unwrap();
    let ends = case["ends"].as_array().unwrap();
    let mut both_ns = 0.0;
    for end in ends {
        let traced_ns = point(&end["traced_ns"]);
        let name = end["end"].as_str().unwrap();
        let own = case["segments"].as_array().unwrap().iter();
        let own = own.filter(|of| of["segment"]["end"] == name);
        let sum: f64 = own.map(|of| point(&of["typical_ns"])).sum();
        assert!((sum / traced_ns - 1.0).abs() < 1e-6, "{sum} of {traced_ns}: {case}");
        both_ns += traced_ns;
        // The same phase by the kernel's own account: others on the CPU do not belong to either.
        let times = traced_ns / end["counted_ns"].as_f64().unwrap();
        assert!(
            (0.75..1.25).contains(&times),
            "{name}: {times} times the kernel's account: {case}"
        );
    }
    assert!((point(&case["total_ns"]) / both_ns - 1.0).abs() < 1e-6, "{case}");
    for (end, kind) in [("caller", "user"), ("caller", "system-call"), ("callee", "user")] {
        assert!(of_end(case, end, kind) > 0.0, "{kind} of the {end}: {case}");
    }
    assert!(of_end(case, "caller", "softirq") > 0.0, "loopback delivers in softirqs: {case}");
}

/// A receiver that compares every byte does so in user space: what the trial itself times for it is there, and
/// no other segment has it.
#[test]
fn what_the_receiver_of_a_stream_computes_is_in_its_user_space() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let delayed = ["stream/delay-stream:200us", "stream/delay-stream:1ns"];
    let asked =
        [&["explain"], &delayed[..], &["--fields", "1", "--placement", "same-cpu"]].concat();
    home.expect(&[&asked[..], &["--budget", "8s"]].concat(), measured());
    let json = home.expect(&["report", "last", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let difference = &json["explanation"]["difference"];
    let mut found = 0;
    for of in difference["segments"].as_array().unwrap() {
        let segment = &of["segment"];
        let is_own = segment["kind"] == "user" && segment["end"] == "callee";
        let share = of["ns"]["point"].as_f64().unwrap() / (-DELAY_US * 1e3);
        let want = if is_own { 1.0 } else { 0.0 };
        assert!((share - want).abs() < 0.05, "{share} of it in {segment}: {difference}");
        found += u32::from(is_own);
    }
    assert_eq!(found, 1, "{difference}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let home = Home::new();
    for (asked, said) in [
        (&["pipe", "--wait", "spin", "--placement", "cross"][..], "an end that spins"),
        (&["load/tcp", "--rate", "1000"], "only round trips, wake-ups and streams"),
        (&["stream/tcp-send", "--flows", "2"], "want flows=1"),
        (&["stream/tcp-send", "pipe", "--placement", "same-cpu"], "cannot be compared"),
        (&["stream/tcp-send", "--tail", "p99"], "are not told apart"),
        (&["wake/flag"], "an end that spins"),
        (&["wake/pipe", "wake/eventfd", "--gap", "10us,1ms"], "it selects"),
        (&["pipe", "pipe", "--placement", "same-cpu"], "both cases are the same"),
        (&["pipe", "--tail", "p50"], "above the median"),
        (&["pipe", "--tail", "p99", "tcp", "udp"], "want one case or two"),
        (&["pipe", "--perfetto", "x.json", "-o", "./x.json"], "--output would overwrite x.json"),
        (&["pipe", "--perfetto", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ] {
        let output = home.run(&[&["explain"][..], asked].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{asked:?}: {error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{asked:?}: {error}");
    }
}
