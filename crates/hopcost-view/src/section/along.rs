//! Two cases at each value of an axis: where the one overtakes the other, in a sentence, and every
//! value under it.

use std::cmp::Ordering;

use hopcost_model::text::span;
use hopcost_model::{Axis, Case};
use hopcost_read::results::{Along, Compared, Contrast, RunComparison};

use super::contrasts::{difference, margin, name, side, verdict};
use super::headline::Headline;
use super::model::{Block, Cell, Rows, Unit, notes, numbers, words};
use super::shapes::{About, lines};
use super::words::{unit, without};
use crate::chart::Unit as ChartUnit;
use crate::chart::model::{Axis as ChartAxis, Chart, Point, Scale};
use crate::names::capitalised;
use crate::number;

/// Where they cross or which is ahead, by how much, and what that rests on.
pub(super) fn headline(found: &RunComparison, along: &Along) -> Headline {
    let told = told(found, along);
    let blocks: Vec<f64> = told.iter().map(|(_, of)| f64::from(of.n)).collect();
    let blocks = span(&blocks, |n| n.to_string()).unwrap_or("0".to_owned());
    let rests = format!("{blocks} blocks of adjacent trials per value, {}.", margin(found.margin));
    let cause = along.cause.as_ref().map(|cause| format!("{}.", capitalised(cause)));
    let second = names(found, along).1;
    let mean = found.summary.iter().map(|of| format!("{second} is {} ({}).", verdict(of), of.case));
    let says = times(found, along, &told).into_iter().chain(mean).chain(cause);
    let says = says.chain(open(along, &told)).chain([rests]).collect();
    Headline { title: crossing(found, along, &told), says, ..Headline::default() }
}

/// Every value. A second median would seem to contradict the difference, which is paired.
pub(super) fn blocks(found: &RunComparison, along: &Along) -> Vec<Block> {
    let (first, second) = names(found, along);
    let table = Rows::of(&found.compared)
        .column(numbers(&along.axis), |of| {
            at(of, along)
                .map_or(Cell::none(), |at| Cell::worded(value_of(&along.axis, at), at as f64))
        })
        .column(numbers(&format!("{first}, median")), |of| {
            Cell::maybe(of.baseline_ns, Unit::Time(3))
        })
        .column(numbers("difference [interval]"), |of| difference(of.contrast))
        .column(words(&format!("{second} is")), |of| Cell::text(verdict(of)));
    let ids = found.compared.first();
    let ids = ids.map(|of| format!("First compared: {} and {}.", of.baseline, of.case));
    let paired = "A difference is of neighbours in a block, with a nominal interval of 95 % each.";
    let said = [paired.to_owned()].into_iter().chain(ids).chain(found.remarks.iter().cloned());
    std::iter::once(table.table()).chain(notes(said)).collect()
}

/// What was told at each value.
fn told(found: &RunComparison, along: &Along) -> Vec<(u64, Contrast)> {
    found.compared.iter().filter_map(|of| Some((at(of, along)?, of.contrast?))).collect()
}

/// `tcp overtakes pipe between 8 KiB and 14 KiB of payload.`
fn crossing(found: &RunComparison, along: &Along, told: &[(u64, Contrast)]) -> String {
    let (first, second) = names(found, along);
    let axis = &along.axis;
    let value = |at: u64| value_of(axis, at);
    let crossed = along.crossings.iter().map(|one| {
        let (ahead, behind) =
            if one.second_is_faster { (&second, &first) } else { (&first, &second) };
        format!("{ahead} overtakes {behind} between {} and {}", value(one.after), value(one.until))
    });
    let crossed: Vec<String> = crossed.collect();
    let Some(((from, _), (to, _))) = told.first().zip(told.last()) else {
        return format!("No {axis} was compared.");
    };
    let range = format!("from {} to {} of {axis}", value(*from), value(*to));
    let all = |of: Ordering| told.iter().all(|(_, contrast)| side(contrast) == Some(of));
    match crossed.as_slice() {
        [only] => format!("{only} of {axis}."),
        [] if all(Ordering::Greater) => format!("{first} is faster than {second} {range}."),
        [] if all(Ordering::Less) => format!("{second} is faster than {first} {range}."),
        [] if all(Ordering::Equal) => {
            let margin = number::plain(found.margin * 100.0, 2);
            format!("{first} and {second} differ by less than {margin} % {range}.")
        }
        [] => format!("No crossing of {first} and {second} is shown {range}."),
        several => {
            format!("They cross {} times, by {axis}: {}.", several.len(), crossed.join("; "))
        }
    }
}

/// `tcp takes 0.60 to 1.4 × as long as pipe (95 % each: 0.58 to 1.5).`
fn times(found: &RunComparison, along: &Along, told: &[(u64, Contrast)]) -> Option<String> {
    let (first, second) = names(found, along);
    let written = |all: Vec<f64>| span(&all, |ratio| number::plain(ratio, 2));
    let times = written(told.iter().map(|(_, of)| of.ratio).collect())?;
    let ends = written(told.iter().flat_map(|(_, of)| [of.low, of.high]).flatten().collect());
    let ends = ends.map_or("no interval yet".to_owned(), |ends| format!("95 % each: {ends}"));
    Some(format!("{second} takes {times} × as long as {first} ({ends})."))
}

/// Where neither is shown to take less.
fn open(along: &Along, told: &[(u64, Contrast)]) -> Option<String> {
    let is_inside = |at: u64| along.crossings.iter().any(|one| one.after < at && at < one.until);
    let (bounded, bare): (Vec<_>, Vec<_>) = told
        .iter()
        .filter(|(at, of)| side(of).is_none() && !is_inside(*at))
        .partition(|(_, of)| of.low.is_some());
    let values = |all: &[&(u64, Contrast)]| {
        let all = all.iter().map(|(at, _)| value_of(&along.axis, *at));
        all.collect::<Vec<_>>().join(", ")
    };
    let no_difference = (!bounded.is_empty()).then(|| {
        format!("No difference is shown at {}; a longer --budget may show one.", values(&bounded))
    });
    let no_interval = (!bare.is_empty()).then(|| {
        let at = values(&bare);
        format!("No interval at {at}: it takes 6 blocks, so a longer --budget.")
    });
    let said: Vec<String> = no_difference.into_iter().chain(no_interval).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The ratio along the axis.
pub(crate) fn charts(found: &RunComparison, along: &Along) -> Vec<Chart> {
    let (first, second) = names(found, along);
    let point = |of: &Compared| {
        let contrast = of.contrast?;
        Some(Point::new(at(of, along)? as f64, contrast.ratio, contrast.ends()))
    };
    let points: Vec<Point> = found.compared.iter().filter_map(point).collect();
    let ends = points.first().into_iter().chain(points.last());
    let equal = ends.map(|of| Point::new(of.at, 1.0, None)).collect();
    let all = vec![("ratio".to_owned(), points), ("equal".to_owned(), equal)];
    let axis = along.axis.as_str();
    let about = About {
        id: format!("along-{axis}"),
        title: format!("Time of {second} as a multiple of that of {first}"),
        says: format!("Below 1 {second} is faster. The band is the interval of each value."),
    };
    let y = ChartAxis::new("time as a multiple of the baseline's", Scale::Log, ChartUnit::Count);
    lines(&about, all, &ChartAxis::new(axis, Scale::Log, unit(axis)), &y)
}

/// The value of a comparison on the axis.
pub(crate) fn at(of: &Compared, along: &Along) -> Option<u64> {
    let case: Case = of.case.parse().ok()?;
    Axis::of_key(&along.axis)?.get(&case)?.number()
}

/// What differs between the two, but for the axis.
pub(crate) fn names(found: &RunComparison, along: &Along) -> (String, String) {
    let Some(of) = found.compared.first() else { return Default::default() };
    let [first, second] = [&of.baseline, &of.case].map(|id| without(id, &along.axis));
    (name(&first, &second), name(&second, &first))
}

/// A value of an axis with its unit.
pub(crate) fn value_of(axis: &str, at: u64) -> String {
    unit(axis).text(at as f64)
}

#[cfg(test)]
mod tests {
    use hopcost_read::results::{Crossed, Verdict};

    use super::*;

    fn found(points: &[(u64, f64, Verdict)], crossings: &[(u64, u64, bool)]) -> RunComparison {
        let id = |mechanism: &str, at: u64| {
            format!("roundtrip/{mechanism}?payload={at}&boundary=process&place=same-cpu&wait=block")
        };
        let point = |(at, ratio, verdict): &(u64, f64, Verdict)| Compared {
            baseline: id("pipe", *at),
            contrast: Some(Contrast {
                ratio: *ratio,
                low: Some(ratio * 0.99),
                high: Some(ratio * 1.01),
                coverage: 0.95,
                n: 9,
                verdict: *verdict,
                more: None,
            }),
            ..Compared::unmeasured(&id("tcp", *at))
        };
        let crossed = |(after, until, second_is_faster): &(u64, u64, bool)| Crossed {
            after: *after,
            until: *until,
            second_is_faster: *second_is_faster,
        };
        let crossings = crossings.iter().map(crossed).collect();
        RunComparison {
            margin: 0.03,
            compared: points.iter().map(point).collect(),
            along: Some(Along { axis: "payload".into(), crossings, cause: None }),
            ..RunComparison::default()
        }
    }

    #[test]
    fn every_kind_of_answer_is_a_sentence() {
        use Verdict::{Inside, Open, Outside};
        let said = |points: &[(u64, f64, Verdict)], crossings: &[(u64, u64, bool)]| {
            let found = found(points, crossings);
            headline(&found, found.along.as_ref().unwrap()).sentences().join(" ")
        };
        let kib = 1024;
        let answers = [
            said(&[(64, 1.4, Outside), (kib * kib, 0.6, Outside)], &[(8 * kib, 14 * kib, true)]),
            said(&[(64, 1.4, Outside)], &[(64, 128, true), (4 * kib, 5 * kib, false)]),
            // What the margin leaves open is slower all the same, as the table says.
            said(&[(64, 2.0, Outside), (kib * kib, 1.02, Open)], &[]),
            said(&[(64, 1.01, Inside), (128, 1.0, Inside)], &[]),
            said(&[(64, 1.4, Outside), (128, 1.0, Open)], &[]),
            said(&[], &[]),
        ];
        insta::assert_snapshot!(answers.join("\n"));
    }
}
