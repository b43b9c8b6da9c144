//! Answers of kernels, as bytes, and the counters at work.

use hopcost_model::protocol::EventReading;

use super::reading::{Counts, between, decode};
use super::refusal::{Circumstances, is_virtual, reason};
use super::{Event, Events, Set, Whose};
use crate::perf::tracefs;

const TWO: [Event; 2] = [Event::Cycles, Event::Instructions];

/// An answer of the kernel: the number of values, the two times, the values.
fn answer(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn readings(words: &[u64]) -> Vec<EventReading> {
    between(&Counts::default(), &decode(&answer(words), 2).unwrap(), &TWO)
}

#[test]
fn events_that_took_turns_keep_their_raw_value_and_both_times() {
    let got = readings(&[2, 1_000_000, 250_000, 750_000, 500_000]);
    for (reading, value) in got.iter().zip([750_000, 500_000]) {
        assert_eq!(reading.value, Some(value));
        assert_eq!((reading.enabled_ns, reading.running_ns), (1_000_000, 250_000));
        assert_eq!(reading.unavailable, None);
    }
    assert_eq!(got[0].event, "cycles");
    assert_eq!(got[1].event, "instructions");
}

#[test]
fn events_that_never_had_a_counter_have_no_value() {
    for reading in readings(&[2, 1_000_000, 0, 0, 0]) {
        assert_eq!(reading.value, None);
        assert_eq!(reading.enabled_ns, 1_000_000);
        assert_eq!(
            reading.unavailable.as_deref(),
            Some("never scheduled: more events than counters")
        );
    }
    for reading in readings(&[2, 0, 0, 0, 0]) {
        assert!(reading.unavailable.is_some_and(|reason| reason.contains("never switched on")));
    }
}

#[test]
fn a_second_reading_holds_what_came_since_the_first() {
    let at = |words: &[u64]| decode(&answer(words), 2).unwrap();
    let (first, second) = (at(&[2, 100, 90, 7, 8]), at(&[2, 300, 250, 17, 28]));
    let got = between(&first, &second, &TWO);
    assert_eq!((got[0].value, got[1].value), (Some(10), Some(20)));
    assert_eq!((got[0].enabled_ns, got[0].running_ns), (200, 160));
    // On for longer since, but without a counter.
    let got = between(&second, &at(&[2, 400, 250, 17, 28]), &TWO);
    assert_eq!((got[0].value, got[0].enabled_ns), (None, 100));
}

#[test]
fn answers_that_are_cut_short_or_of_another_group_are_refused() {
    let whole = answer(&[2, 100, 100, 7, 8]);
    for len in 0..whole.len() {
        let error = decode(&whole[..len], 2).unwrap_err();
        assert!(error.contains(&format!("{len} bytes instead of 40")), "{error}");
    }
    assert!(decode(&whole, 2).is_ok());
    assert!(
        decode(&answer(&[1, 100, 100, 7, 8]), 2).unwrap_err().contains("1 events instead of 2")
    );
    assert!(decode(&answer(&[u64::MAX; 5]), 2).is_err());
}

#[test]
fn refusals_name_the_error_the_setting_and_the_remedy() {
    let here = Circumstances { paranoid: Some(4), virtual_machine: true };
    let said = reason(Event::ContextSwitches, libc::EACCES, here);
    for part in ["EACCES", "perf_event_paranoid is 4", "perf_event_paranoid=1", "CAP_PERFMON"] {
        assert!(said.contains(part), "{said}");
    }
    let unreadable = Circumstances { paranoid: None, ..here };
    assert!(reason(Event::Cycles, libc::EPERM, unreadable).contains("cannot be read"));
    let said = reason(Event::Cycles, libc::ENOENT, here);
    assert!(said.contains("no performance monitoring unit in this virtual machine"), "{said}");
    let metal = Circumstances { virtual_machine: false, ..here };
    assert!(!reason(Event::Cycles, libc::ENOENT, metal).contains("virtual"));
    assert!(reason(Event::LlcMisses, libc::EINVAL, metal).contains("does not count it"));
    assert!(reason(Event::Cycles, libc::ENOSYS, metal).contains("CONFIG_PERF_EVENTS"));
    assert!(reason(Event::Cycles, libc::EMFILE, metal).contains("ulimit"));
    for errno in 1..140 {
        assert!(!reason(Event::CpuNs, errno, here).contains('\n'), "one line: {errno}");
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

/// Touches `n` fresh pages and sleeps `n` times: `n` page faults and `n` switches.
fn work(n: usize) {
    const PAGE: usize = 4096;
    // SAFETY: fresh memory of our own, touched within its bounds and unmapped once.
    unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            n * PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(memory, libc::MAP_FAILED);
        // Or one fault could bring 512 pages.
        libc::madvise(memory, n * PAGE, libc::MADV_NOHUGEPAGE);
        for page in 0..n {
            memory.cast::<u8>().add(page * PAGE).write_volatile(1);
        }
        libc::munmap(memory, n * PAGE);
        let nap = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
        for _ in 0..n {
            libc::nanosleep(&nap, std::ptr::null_mut());
        }
    }
}

/// What this thread counts over the work, in the order of the set.
fn counted(set: Set, n: usize) -> Vec<EventReading> {
    let mut events = Events::open(set, Whose::Caller { helpers: &[] });
    events.start().unwrap();
    work(n);
    events.stop().unwrap();
    // Not counted any more.
    work(50);
    events.read()
}

#[test]
fn every_event_of_a_set_has_one_reading_or_a_reason_in_order() {
    for set in [Set::Stream, Set::Call, Set::Kernel] {
        let readings = counted(set, 1);
        let words: Vec<&str> = readings.iter().map(|r| r.event.as_str()).collect();
        let want: Vec<&str> = set.events().iter().map(|event| event.word()).collect();
        assert_eq!(words, want);
        for reading in readings {
            eprintln!("{reading:?}");
            assert_ne!(reading.value.is_some(), reading.unavailable.is_some(), "{reading:?}");
        }
    }
}
