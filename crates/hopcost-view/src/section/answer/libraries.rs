//! What each library adds to the mechanism beneath it, in words.

use hopcost_model::text::count;
use hopcost_read::results::{CaseResult, LadderRow, LibraryCost, Place, Results};

use crate::names::{all_of, row_label};
use crate::number;
use crate::section::headline::{Headline, titled};
use crate::section::model::{Cell, Interval, Scale};

/// Lines of a screen for them.
const LINES_MAX: usize = 14;

/// A line for each way of each library, at the first place that has any, the least first.
pub(super) fn headline(results: &Results) -> Option<Headline> {
    let rows = || results.ladder.iter().flat_map(|group| all_of(group, results));
    let case = |id: &str| rows().find(|(.., case)| case.id == id);
    let found = results.libraries.iter().filter_map(|of| Some((of, case(&of.case)?)));
    let found: Vec<_> = found.collect();
    let has = |place: &Place| found.iter().any(|(_, (_, at, ..))| at == place);
    let place = Place::ALL.into_iter().find(has)?;
    let here = found.iter().filter(|(_, (_, at, ..))| *at == place);
    let line = |(of, (row, ..)): &(&LibraryCost, (&LadderRow, Place, usize, &CaseResult))| {
        let (_, _, _, beneath) = case(&of.beneath)?;
        let adds = sentence(of, &beneath.case.mechanism);
        Some(format!("{} {adds}.", row_label(row, results)))
    };
    let lines: Vec<String> = here.filter_map(line).collect();
    let more = lines.len().saturating_sub(LINES_MAX);
    let more = (more > 0).then(|| format!("{more} more with --details."));
    let about = format!("What a library adds to the socket beneath it, {} (median", place.name());
    let title = titled(&about, results);
    let shown = lines.into_iter().take(LINES_MAX).chain(more);
    Some(Headline { title, says: shown.collect(), ..Headline::default() })
}

/// `adds 60 µs ±5% to unix-stream (×7.0 ±30%): 8 more system calls, 21 µs more CPU a message`
fn sentence(of: &LibraryCost, beneath: &str) -> String {
    let adds = Cell::brief(Some(&of.adds_ns), Scale::Difference).shown;
    let times = of.times.as_ref().map(|of| Cell::multiple(of, Interval::Relative).shown);
    let times = times.map_or(String::new(), |times| format!(" ({times})"));
    let calls = of.system_calls.filter(|calls| *calls >= 0.5);
    let calls = calls.map(|calls| count(calls.round() as usize, "more system call"));
    let cpu = of.cpu_ns_per_message.filter(|cpu| *cpu > 0.0);
    let cpu = cpu.map(|cpu| format!("{} more CPU a message", number::time(cpu, 2)));
    let parts: Vec<String> = calls.into_iter().chain(cpu).collect();
    let why = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let other = of.other.as_ref().map_or(String::new(), |name| {
        format!("; {} of the CPU time is {name}'s", number::share(of.other_share))
    });
    format!("adds {adds} to {beneath}{times}{why}{other}")
}
