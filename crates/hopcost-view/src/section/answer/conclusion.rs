//! What to use, in words: the first lines of a run's answer.

use hopcost_model::group::distinct;
use hopcost_model::text::{listed as listed_all, some};
use hopcost_read::results::Results;

use super::entry::{Entry, ends, usual};
use super::question::{Question, Shape};
use super::table::is_base;
use crate::names::Place;
use crate::section::comparison::contrast_of;
use crate::section::contrasts::{bounded, difference, side};
use crate::section::headline::{Headline, titled};
use crate::section::model::{Cell, Interval, Scale};

/// Names that a tie lists.
const NAMES_MAX: usize = 3;
/// Characters of a line.
const LINE_MAX: usize = 88;

/// Of the entries of one group: a line per place, and one on the fastest that spins.
pub(super) fn headline(entries: &[Entry<'_>], results: &Results) -> Headline {
    let Some(group) = entries.first().map(|entry| entry.group) else { return Headline::default() };
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by(|a, b| a.point().total_cmp(&b.point()));
    let (spinning, sleeping): (Vec<&Entry>, Vec<&Entry>) =
        entries.into_iter().partition(|entry| entry.row.spins);
    let at = |place: Place| {
        let here = sleeping.iter().copied().filter(|entry| entry.place == place);
        let here: Vec<&Entry> = here.collect();
        Some((place.name().to_owned(), of_two(&here).or_else(|| of_several(&here))?))
    };
    let mut facts: Vec<(String, String)> = Place::ALL.into_iter().filter_map(at).collect();
    facts.extend(spinning.first().map(|best| ("spinning".to_owned(), of_spinning(best))));
    let what = if group.batched { "cost" } else { "median" };
    let about = format!("Fastest {}{} ({what}", group.title, ends(usual(&group.rows)));
    Headline { title: titled(&about, results), facts, ..Headline::default() }
}

/// The one mechanism of another question, which is not to be ranked with the first: `eventfd takes 5.3 µs
/// ±9% on one CPU (round trip, bare notification)`
pub(super) fn beside(question: &Question) -> Option<(String, String)> {
    let first = question.entries.first()?;
    if question.shape != Shape::Placed || question.entries.iter().any(|of| of.name != first.name) {
        return None;
    }
    let at = |entry: &Entry| format!("{} on {}", value(entry), entry.place.name());
    let values = listed_all(&question.entries.iter().map(at).collect::<Vec<_>>());
    let said = format!("{} takes {values} ({})", first.name, first.group.title);
    Some(("besides".to_owned(), said))
}

/// `5.2 µs ±3%`, or both levels of what has two.
fn value(entry: &Entry) -> String {
    let cell = Cell::at_levels(entry.levels, Some(&entry.estimate), Scale::Time, Interval::Fitting);
    cell.shown.to_string()
}

fn of_spinning(best: &Entry) -> String {
    let name = best.name.replace(", spinning", "");
    let (value, place) = (value(best), best.place.name());
    format!("{name} takes {value} on {place}, but keeps each CPU busy even without messages")
}

/// Of two, by how much they differ: `tcp takes 4.4 µs ±4%; websocket is slower, by at least 13.1 %
/// (+14.3 % [+13.1, +16.0])`
fn of_two(entries: &[&Entry]) -> Option<String> {
    let [a, b] = entries else { return None };
    if a.levels.or(b.levels).is_some() {
        return None;
    }
    let (base, other) = if is_base(a) { (a, b) } else { (b, a) };
    let ratio = other.ratio.filter(|ratio| is_base(base) && ratio.low.is_some())?;
    let (said, found) = (contrast_of(ratio), other.name.as_str());
    let bound = match side(&said) {
        Some(_) => format!("is {}", bounded(&said, None)?),
        None => "shows no difference".to_owned(),
    };
    let shown = difference(said).shown;
    Some(format!("{} takes {}; {found} {bound} ({shown})", base.name, value(base)))
}

/// `pipe is fastest, 5.2 µs ±3%; then fifo and udp, about 6.0 µs ±4%; slowest: tcp, 16 µs ±2%`. What
/// has two levels is not among them.
fn of_several(entries: &[&Entry]) -> Option<String> {
    let (mut all, mut torn): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().copied().partition(|entry| entry.levels.is_none());
    if all.is_empty() {
        std::mem::swap(&mut all, &mut torn);
    }
    let first = all.first()?;
    if let ([only], []) = (all.as_slice(), torn.as_slice()) {
        return Some(format!("{} takes {}", only.name, value(only)));
    }
    let ranks = distinct(all.iter().filter_map(|entry| entry.rank.map(|rank| rank.number)));
    let of_rank = |at: usize| {
        let is_it = |entry: &&Entry| entry.rank.map(|of| of.number) == ranks.get(at).copied();
        let of_rank = all.iter().copied().filter(|of| of.rank.is_some()).filter(is_it);
        of_rank.collect::<Vec<_>>()
    };
    let (best, second) = (of_rank(0), of_rank(1));
    let Some(last) = all.last().filter(|_| !best.is_empty()) else {
        let (name, value) = (&first.name, value(first));
        return Some(format!("{name} was lowest, {value}: not ranked, too few rounds"));
    };
    let mut lead = match best.as_slice() {
        [only] => format!("{} is fastest, {}", only.name, value(only)),
        // Few rounds in a noisy time: no one value is that of all.
        [.., last] if last.point() > 1.25 * first.point() => {
            format!("{} could not be ranked, {} to {}", listed(&best), value(first), value(last))
        }
        _ => format!("{} could not be ranked, about {}", listed(&best), value(first)),
    };
    let is_before = |entry: &&Entry| entry.rank.is_some_and(|rank| rank.number <= ranks[0]);
    if let Some(other) = torn.into_iter().find(is_before) {
        lead = format!("{lead}, but for {} ({})", other.name, value(other));
    }
    let mut parts = vec![lead];
    parts.extend(second.first().map(|next| {
        let about = if second.len() > 1 { "about " } else { "" };
        format!("then {}, {about}{}", listed(&second), value(next))
    }));
    let is_later = ranks.len() > 2;
    parts.extend(is_later.then(|| format!("slowest: {}, {}", last.name, value(last))));
    while parts.len() > 1 && parts.join("; ").chars().count() > LINE_MAX {
        parts.pop();
    }
    Some(parts.join("; "))
}

/// `pipe, fifo and 3 more`
fn listed(entries: &[&Entry]) -> String {
    some(&entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>(), NAMES_MAX)
}
