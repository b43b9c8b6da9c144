//! Answers of kernels, and the counters at work.

use super::*;
use crate::perf::{refused, tracefs};

#[test]
fn a_reading_has_the_raw_value_since_the_last_and_both_times_or_says_why_it_has_none() {
    for (before, now, value, times, why) in [
        // Events that took turns.
        ([0; 3], [750, 1_000, 250], Some(750), (1_000, 250), ""),
        ([7, 100, 90], [17, 300, 250], Some(10), (200, 160), ""),
        ([0; 3], [0, 1_000, 0], None, (1_000, 0), "more events than counters"),
        // On for longer since, but without a counter.
        ([17, 300, 250], [17, 400, 250], None, (100, 0), "more events than counters"),
        ([0; 3], [0; 3], None, (0, 0), "never switched on"),
    ] {
        let got = between(CYCLES, before, now);
        assert_eq!((got.event.as_str(), got.value), ("cycles", value));
        assert_eq!((got.enabled_ns, got.running_ns), times);
        assert_eq!(got.unavailable.is_none(), why.is_empty());
        assert!(got.unavailable.unwrap_or_default().contains(why));
    }
}

#[test]
fn refusals_name_the_error_the_setting_and_the_remedy() {
    let said =
        |errno, is_hardware| refused(&io::Error::from_raw_os_error(errno), is_hardware, PARANOID);
    for part in ["Permission denied", "perf_event_paranoid is", "paranoid=1)", "CAP_PERFMON"] {
        assert!(said(libc::EACCES, false).contains(part), "{part}");
    }
    assert!(said(libc::ENOENT, true).contains("no performance monitoring unit counts it"));
    assert!(said(libc::EINVAL, true).contains("does not count it"));
    assert!(said(libc::ENOSYS, true).contains("CONFIG_PERF_EVENTS"));
    assert!(said(libc::EMFILE, true).contains("ulimit"));
    for errno in 1..140 {
        assert!(!said(errno, false).contains('\n'), "one line: {errno}");
    }
}

#[test]
fn the_tracepoint_file_is_parsed() {
    assert_eq!(tracefs::id("381\n"), Ok(381));
    for broken in ["", "none\n", "-1", "99999999999999999999999"] {
        assert!(tracefs::id(broken).is_err(), "{broken}");
    }
}

#[test]
fn every_event_of_a_set_has_one_reading_or_a_reason_in_order() {
    for set in [STREAM, CALL, KERNEL] {
        let mut events = Events::of_caller(set, &[]);
        events.start().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        events.stop().unwrap();
        let readings: Vec<EventReading> = events.read();
        let words: Vec<&str> = readings.iter().map(|r| r.event.as_str()).collect();
        let want: Vec<&str> = set.iter().map(|event| event.word).collect();
        assert_eq!(words, want);
        for reading in readings {
            eprintln!("{reading:?}");
            assert_ne!(reading.value.is_some(), reading.unavailable.is_some(), "{reading:?}");
        }
    }
}
