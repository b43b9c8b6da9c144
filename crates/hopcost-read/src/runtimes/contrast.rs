//! Pairs of operations of one runtime, as the suites name them.

use hopcost_model::case::{Boundary, Case};
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::Contrast;
use hopcost_plan::shown;

use super::entry::{Entry, in_order};
use super::name;
use crate::ladder::bytes;

/// Each contrast in every runtime that has both sides: one title after the other, within
/// one in the order of the runtimes.
pub fn contrasts(entries: &[Entry]) -> Vec<Contrast> {
    let specs = shown().iter().flat_map(|(_, shown)| &shown.contrast);
    let mut found: Vec<Contrast> = specs.flat_map(|spec| of_spec(spec, entries)).collect();
    let runtimes = in_order(entries.iter().filter_map(Entry::runtime));
    let titles = distinct(found.iter().map(|contrast| contrast.title.clone()));
    found.sort_by_key(|contrast| {
        let title = titles.iter().position(|title| *title == contrast.title);
        (title, runtimes.iter().position(|runtime| runtime.word() == contrast.runtime))
    });
    found
}

fn of_spec(spec: &hopcost_plan::Contrast, entries: &[Entry]) -> Vec<Contrast> {
    let firsts = entries.iter().filter(|e| e.runtime().is_some() && spec.first.fits(&e.case));
    let by_runtime = grouped(firsts, |entry| entry.runtime()).into_iter();
    let taken = by_runtime
        .flat_map(|(_, firsts)| firsts.into_iter().take(if spec.alike { usize::MAX } else { 1 }));
    let pair = |first: &Entry| {
        let goes_with = |second: &&Entry| {
            let alike = !spec.alike || common(&second.case) == common(&first.case);
            second.runtime() == first.runtime() && alike
        };
        let second = spec.second.iter().find_map(|selector| {
            entries.iter().filter(goes_with).find(|e| selector.fits(&e.case))
        })?;
        Some(contrast(spec, first, second))
    };
    taken.filter_map(pair).collect()
}

/// What the sides of a contrast have in common.
fn common(case: &Case) -> Case {
    Case {
        mechanism: String::new(),
        parameters: Default::default(),
        boundary: Boundary::Inline,
        ..case.clone()
    }
}

fn contrast(spec: &hopcost_plan::Contrast, first: &Entry, second: &Entry) -> Contrast {
    let case = &second.case;
    let ends = if case.boundary == Boundary::Thread { "threads" } else { "processes" };
    let named = |text: &str| {
        text.replace("{size}", &bytes(case.payload_bytes.unwrap_or(0)))
            .replace("{place}", &name::place(case).unwrap_or_default())
            .replace("{ends}", ends)
    };
    Contrast {
        runtime: first.case.runtimes.caller.to_string(),
        title: named(&spec.title),
        meaning: named(&spec.meaning),
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
