//! What to use, in words: the first lines of an answer, and the contrast of two cases, its last.

use hopcost_model::group::distinct;
use hopcost_read::results::Ratio;

use super::entry::{Entry, ends, usual};
use crate::names::Place;
use crate::number;
use crate::section::model::{Block, Cell, facts, says};

/// Names that a tie lists.
const NAMES_MAX: usize = 3;
/// Characters of a line.
const LINE_MAX: usize = 88;
/// An interval that reaches further than this share of its value ranks nothing.
const NOISY: f64 = 0.5;

/// The conclusion of entries of one group: a line per place, and one on the fastest that spins.
pub(super) fn blocks(entries: &[Entry<'_>]) -> Vec<Block> {
    let Some(group) = entries.first().map(|entry| entry.group) else { return Vec::new() };
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by(|a, b| a.point().total_cmp(&b.point()));
    let (spinning, sleeping): (Vec<&Entry>, Vec<&Entry>) =
        entries.into_iter().partition(|entry| entry.row.spins);
    let mut lines: Vec<(&str, Cell)> = Vec::new();
    for place in Place::ALL {
        let here: Vec<&Entry> =
            sleeping.iter().copied().filter(|entry| entry.place == place).collect();
        lines.extend(sentence(&here).map(|said| (place.name(), Cell::text(said))));
    }
    lines.extend(spinning.first().map(|best| {
        let name = best.name.replace(", spinning", "");
        let noise = if is_noisy(best) { ", too noisy to rank," } else { "" };
        let (value, place) = (value(best), best.place.name());
        let said = format!("{name} takes {value} on {place}{noise} but keeps each CPU busy");
        ("spinning", Cell::text(said))
    }));
    if lines.is_empty() {
        return Vec::new();
    }
    let what = if group.batched { "" } else { " (median)" };
    let title = format!("Fastest {}{}{what}", group.title, ends(usual(&group.rows)));
    vec![says(format!("{title}:")), facts(lines)]
}

fn value(entry: &Entry) -> String {
    number::time(entry.point(), entry.estimate.digits.clamp(2, 3))
}

fn is_noisy(entry: &Entry) -> bool {
    let high = entry.estimate.high.unwrap_or(f64::INFINITY);
    high - entry.point() > NOISY * entry.point()
}

/// `pipe is fastest, 5.2 µs; then fifo and udp, about 6.0 µs; slowest: tcp, 16 µs`
fn sentence(entries: &[&Entry]) -> Option<String> {
    let first = entries.first()?;
    let of_rank = |number| {
        let is_it = |entry: &&&Entry| entry.rank.is_some_and(|rank| rank.number == number);
        entries.iter().filter(is_it).copied().collect::<Vec<_>>()
    };
    let (best, second) = (of_rank(1), of_rank(2));
    let Some(last) = entries.last().filter(|_| !best.is_empty()) else {
        return Some(match entries {
            [only] => format!("{} takes {}", only.name, value(only)),
            _ => format!("{} was lowest, {}: not ranked", first.name, value(first)),
        });
    };
    let mut parts = vec![match best.as_slice() {
        [only] => format!("{} is fastest, {}", only.name, value(only)),
        _ => format!("{} show no difference, about {}", listed(&best), value(first)),
    }];
    parts.extend(second.first().map(|next| {
        let about = if second.len() > 1 { "about " } else { "" };
        format!("then {}, {about}{}", listed(&second), value(next))
    }));
    let is_later = last.rank.is_some_and(|rank| rank.number > 2);
    parts.extend(is_later.then(|| format!("slowest: {}, {}", last.name, value(last))));
    while parts.len() > 1 && parts.join("; ").chars().count() > LINE_MAX {
        parts.pop();
    }
    Some(parts.join("; "))
}

/// `pipe, fifo and 3 more`
fn listed(entries: &[&Entry]) -> String {
    let mut names: Vec<String> =
        entries.iter().take(NAMES_MAX).map(|entry| entry.name.clone()).collect();
    if entries.len() > NAMES_MAX {
        names.push(format!("{} more", entries.len() - NAMES_MAX));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Of a run of two cases at a place, a sentence on how they differ there.
pub(super) fn contrasts(entries: &[Entry<'_>]) -> Vec<String> {
    let places = distinct(entries.iter().map(|entry| entry.place)).into_iter();
    let said = |place: Place| {
        let mut here = entries.iter().filter(|entry| entry.place == place);
        let (Some(a), Some(b), None) = (here.next(), here.next(), here.next()) else { return None };
        let is_base = |of: &Entry| of.ratio.is_some_and(|ratio| ratio.baseline == of.case.id);
        let (base, other) = if is_base(a) { (a, b) } else { (b, a) };
        let said = contrast(other.ratio.filter(|_| is_base(base))?)?;
        Some(format!("On {}, {} takes {said} as {}.", place.name(), other.name, base.name))
    };
    places.filter_map(said).collect()
}

/// `2.31 × as long (95 %: 2.2 to 2.4)`, or the bounds where no difference was shown.
fn contrast(ratio: &Ratio) -> Option<String> {
    let (low, high) = (number::plain(ratio.low?, 3), number::plain(ratio.high?, 3));
    Some(match ratio.low? > 1.0 || ratio.high? < 1.0 {
        true => {
            let point = number::plain(ratio.point, 3);
            format!("{point} × as long (95 %: {low} to {high})")
        }
        false => format!("from {low} to {high} × as long (95 %, no difference shown)"),
    })
}
