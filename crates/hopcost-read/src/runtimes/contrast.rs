//! Pairs of operations of one runtime that are often compared as if they were alike:
//! what is measured in one thread alone, and what takes two.

use hopcost_model::case::{Boundary, Case, Runtime, Workload};
use hopcost_model::results::Contrast;

use super::entry::{Entry, in_order};
use super::name;
use crate::ladder::bytes;

/// The payload of a datagram where there are several.
const PAYLOAD: u32 = 64;

/// Uncontended lock against a datagram to nobody, then hand-off against round trip,
/// each in every runtime that has both.
pub fn contrasts(entries: &[Entry]) -> Vec<Contrast> {
    let runtimes = in_order(entries.iter().filter_map(Entry::runtime));
    let mut found: Vec<Contrast> =
        runtimes.iter().filter_map(|runtime| nobody_there(entries, runtime)).collect();
    for entry in entries.iter().filter(|entry| is_hand_off(&entry.case)) {
        found.extend(hand_off(entries, entry));
    }
    // Stable: one title after the other, within one in the order of the runtimes.
    let titles: Vec<String> = found.iter().map(|contrast| contrast.title.clone()).collect();
    let place = |contrast: &Contrast| titles.iter().position(|title| *title == contrast.title);
    let column = |of: &Contrast| runtimes.iter().position(|runtime| runtime.word() == of.runtime);
    found.sort_by_key(|contrast| (place(contrast), column(contrast)));
    found
}

fn nobody_there(entries: &[Entry], runtime: &Runtime) -> Option<Contrast> {
    let calls = |mechanism: &'static str| {
        entries.iter().filter(move |entry| {
            entry.case.workload == Workload::Call
                && entry.case.mechanism == mechanism
                && entry.runtime() == Some(runtime)
        })
    };
    let lock = calls("mutex-uncontended").next()?;
    let usual = |entry: &&Entry| entry.case.payload_bytes == Some(PAYLOAD);
    let datagram = calls("udp-send").find(usual).or_else(|| calls("udp-send").next())?;
    Some(contrast(
        "uncontended lock against a datagram to nobody".to_owned(),
        "The first takes and releases a lock that no other thread wants, a few instructions in \
         user space; the second has the kernel put a datagram into a socket that nobody reads. \
         One thread does either alone, so neither is communication, and the ratio is that of an \
         atomic instruction or two to a system call with the network stack below it."
            .to_owned(),
        lock,
        datagram,
    ))
}

fn is_hand_off(case: &Case) -> bool {
    case.workload == Workload::Roundtrip
        && case.mechanism == "condvar"
        && case.boundary == Boundary::Thread
}

/// A hand-off between two threads beside a round trip of as many bytes in the same
/// place: between two threads as well, or else two processes.
fn hand_off(entries: &[Entry], first: &Entry) -> Option<Contrast> {
    first.runtime()?;
    let alike = |boundary: Boundary| Case {
        mechanism: "udp".to_owned(),
        parameters: Default::default(),
        boundary,
        ..first.case.clone()
    };
    let fits = |entry: &&Entry, wanted: &Case| {
        Case { parameters: Default::default(), ..entry.case.clone() } == *wanted
    };
    let second = [Boundary::Thread, Boundary::Process].into_iter().find_map(|boundary| {
        let wanted = alike(boundary);
        entries.iter().find(|entry| fits(entry, &wanted))
    })?;
    let payload = first.case.payload_bytes.unwrap_or(0);
    let place = name::place(&second.case).unwrap_or_default();
    let between = if second.case.boundary == Boundary::Thread { "threads" } else { "processes" };
    Some(contrast(
        format!("hand-off against round trip, {}, {place}", bytes(payload)),
        format!(
            "The first hands a message to another thread and gets one back, with a mutex and a \
             condition variable; the second sends a datagram there and back between two {between}. \
             Both sleep in the kernel until they are woken, twice a round trip."
        ),
        first,
        second,
    ))
}

fn contrast(title: String, meaning: String, first: &Entry, second: &Entry) -> Contrast {
    Contrast {
        runtime: first.case.runtimes.caller.to_string(),
        title,
        meaning,
        first: first.reading.index,
        second: second.reading.index,
        first_value: first.reading.headline().cloned(),
        second_value: second.reading.headline().cloned(),
        ratio: second.over(first),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, read};

    const LOCK: &str = "call/mutex-uncontended";
    const SEND: &str = "call/udp-send?payload=64";
    const CONDVAR: &str = "roundtrip/condvar?payload=64&boundary=thread&place=free&wait=block";
    const UDP: &str =
        "roundtrip/udp?payload=64&boundary=process&place=free&wait=block&timeout=200ms";

    #[test]
    fn two_lessons_in_every_runtime_that_has_both() {
        let python = |id: &str| {
            let and = if id.contains('?') { '&' } else { '?' };
            format!("{id}{and}runtime=python")
        };
        let threads = UDP.replace("process", "thread");
        let raw = Builder::new()
            .case(&python(CONDVAR), 8, |round, t| t.each(&[20_000 << round; 50]))
            .case(&python(UDP), 8, |_, t| t.each(&[99_000; 50]))
            .case(&python(&threads), 8, |round, t| t.each(&[30_000 << round; 50]))
            .case(CONDVAR, 8, |_, t| t.each(&[8000; 50]))
            .case(UDP, 8, |_, t| t.each(&[12_000; 50]))
            .case(&python(&SEND.replace("64", "1024")), 8, |_, t| t.batch(10, &[90_000; 50]))
            .case(&python(SEND), 8, |_, t| t.batch(10, &[60_000; 50]))
            .case(&python(LOCK), 8, |_, t| t.two_lengths(100, &[5000, 10_000]))
            // Another size is another thing.
            .case(&CONDVAR.replace("64", "1024"), 8, |_, t| t.each(&[9000; 50]))
            .build();
        let found = read(&raw).runtimes.unwrap().contrasts;
        let shown: Vec<(&str, u32, u32, f64)> = found
            .iter()
            .map(|c| {
                let ratio = c.ratio.as_ref().unwrap().point;
                (c.runtime.as_str(), c.first, c.second, (ratio * 1000.0).round() / 1000.0)
            })
            .collect();
        assert_eq!(shown, [("python", 7, 6, 120.0), ("python", 0, 2, 1.5), ("rust", 3, 4, 1.5)]);
        assert_eq!(found[0].title, "uncontended lock against a datagram to nobody");
        let title = "hand-off against round trip, 64 bytes, two";
        assert_eq!(found[2].title, format!("{title} processes, not pinned"));
        assert_eq!(found[1].title, format!("{title} threads, not pinned"));
        assert!(found[2].meaning.contains("between two processes"));
        let low = found[1].ratio.as_ref().unwrap().low.unwrap();
        assert!((low - 1.5).abs() < 1e-9, "paired by round");
    }
}
