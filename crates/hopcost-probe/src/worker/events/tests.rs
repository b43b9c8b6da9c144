//! Answers of kernels, and the counters at work.

use super::*;
use crate::perf::{is_virtual, refused, tracefs};

#[test]
fn a_reading_has_the_raw_value_since_the_last_and_both_times_or_says_why_it_has_none() {
    let count = |[value, enabled_ns, running_ns]: [u64; 3]| Count { value, enabled_ns, running_ns };
    for (before, now, value, times, why) in [
        // Events that took turns.
        ([0; 3], [750, 1_000, 250], Some(750), (1_000, 250), ""),
        ([7, 100, 90], [17, 300, 250], Some(10), (200, 160), ""),
        ([0; 3], [0, 1_000, 0], None, (1_000, 0), "more events than counters"),
        // On for longer since, but without a counter.
        ([17, 300, 250], [17, 400, 250], None, (100, 0), "more events than counters"),
        ([0; 3], [0; 3], None, (0, 0), "never switched on"),
    ] {
        let got = between(CYCLES, count(before), count(now));
        assert_eq!((got.event.as_str(), got.value), ("cycles", value));
        assert_eq!((got.enabled_ns, got.running_ns), times);
        assert_eq!(got.unavailable.is_none(), why.is_empty());
        assert!(got.unavailable.unwrap_or_default().contains(why));
    }
}

#[test]
fn refusals_name_the_error_the_setting_and_the_remedy() {
    let here = Circumstances { paranoid: Some(4), virtual_machine: true };
    let said = refused(false, libc::EACCES, here);
    for part in ["EACCES", "perf_event_paranoid is 4", "perf_event_paranoid=1", "CAP_PERFMON"] {
        assert!(said.contains(part), "{said}");
    }
    let unreadable = Circumstances { paranoid: None, ..here };
    assert!(refused(true, libc::EPERM, unreadable).contains("cannot be read"));
    let said = refused(true, libc::ENOENT, here);
    assert!(said.contains("no performance monitoring unit in this virtual machine"), "{said}");
    let metal = Circumstances { virtual_machine: false, ..here };
    assert!(!refused(true, libc::ENOENT, metal).contains("virtual"));
    assert!(refused(true, libc::EINVAL, metal).contains("does not count it"));
    assert!(refused(true, libc::ENOSYS, metal).contains("CONFIG_PERF_EVENTS"));
    assert!(refused(true, libc::EMFILE, metal).contains("ulimit"));
    for errno in 1..140 {
        assert!(!refused(false, errno, here).contains('\n'), "one line: {errno}");
    }
}

#[test]
fn the_hypervisor_flag_and_the_tracepoint_file_are_parsed() {
    assert!(is_virtual("processor : 0\nflags\t\t: fpu sse hypervisor lahf_lm\n"));
    assert!(!is_virtual("processor : 0\nmodel name : hypervisor\nflags\t\t: fpu sse\n"));
    assert!(!is_virtual(""));
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
