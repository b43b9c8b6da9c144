//! Two cases at each value of an axis: where the one overtakes the other, in a sentence, and every
//! value under it.

use std::cmp::Ordering;

use hopcost_model::axis::{self, Axis, Kind};
use hopcost_model::case::Case;
use hopcost_model::units::format_number;
use hopcost_read::results::{Along, Compared, Contrast, RunComparison};

use super::comparison::{beside, difference, in_words, ratios};
use super::model::{Block, Cell, Rows, Tone, Unit, Value, notes, numbers, words};
use super::shapes::About;
use crate::chart::Unit as ChartUnit;
use crate::chart::model::{Axis as ChartAxis, Chart, Scale};
use crate::number;

/// The sentence, the table, and what else is known.
pub(super) fn blocks(found: &RunComparison, along: &Along) -> Vec<Block> {
    let (first, second) = names(found, along);
    let table = Rows::of(&found.compared)
        .column(numbers(&along.axis), |of| {
            at(of, along).map_or(Cell::none(), |at| {
                Value::Sorted(value_of(&along.axis, at), at as f64).into()
            })
        })
        .column(numbers(&first), |of| Cell::maybe(of.baseline_ns, Unit::Time(3)))
        .column(numbers(&second), |of| Cell::maybe(of.value_ns, Unit::Time(3)))
        .column(numbers("difference [interval]"), difference)
        .column(words(&format!("{second} is")), |of| Cell::text(in_words(of)))
        .column(numbers("blocks").fold(1), |of| {
            Cell::maybe(of.contrast.map(|of| f64::from(of.n)), Unit::Whole)
        });
    let ids = found.compared.first();
    let ids = ids.map(|of| format!("First compared: {} and {}.", of.baseline, of.case));
    let paired = "Each value has a comparison of its own: differences are between neighbours of a \
                  block, intervals are nominal 95 % each, times are medians.";
    let said = [paired.to_owned()].into_iter().chain(ids).chain(found.remarks.iter().cloned());
    [Block::Text(Tone::Lead, sentence(found, along)), table.table()]
        .into_iter()
        .chain(notes(said))
        .collect()
}

/// What is compared, for a title.
pub(super) fn title(found: &RunComparison) -> String {
    let Some(along) = &found.along else { return String::new() };
    let (first, second) = names(found, along);
    format!("{first} and {second} along {}", along.axis)
}

/// `tcp overtakes pipe between 8 KiB and 14 KiB of payload; …`
pub(super) fn sentence(found: &RunComparison, along: &Along) -> String {
    let (first, second) = names(found, along);
    let axis = &along.axis;
    let value = |at: u64| value_of(axis, at);
    let crossed = along.crossings.iter().map(|one| {
        let (ahead, behind) =
            if one.second_is_faster { (&second, &first) } else { (&first, &second) };
        format!("{ahead} overtakes {behind} between {} and {}", value(one.after), value(one.until))
    });
    let crossed: Vec<String> = crossed.collect();
    let told = found.compared.iter().filter_map(|of| Some((at(of, along)?, of.contrast?)));
    let told: Vec<(u64, Contrast)> = told.collect();
    let ends = told.first().zip(told.last()).map(|(a, b)| (a.0, b.0));
    let Some((from, to)) = ends else { return format!("No {axis} was compared.") };
    let range = format!("from {} to {} of {axis}", value(from), value(to));
    let ratios = || told.iter().map(|(_, of)| of.ratio);
    let least = number::plain(ratios().fold(f64::INFINITY, f64::min), 2);
    let most = number::plain(ratios().fold(0.0, f64::max), 2);
    let how = if least == most { least } else { format!("{least} to {most}") };
    let times = format!("{second} takes {how} × as long as {first}");
    let all = |side: Ordering| told.iter().all(|(_, of)| of.side() == Some(side));
    let margin = number::plain(found.margin * 100.0, 2);
    let answer = match crossed.as_slice() {
        [only] => format!("{only} of {axis}; {times}."),
        [] if all(Ordering::Greater) => format!("{first} is faster {range}: {times}."),
        [] if all(Ordering::Less) => format!("{second} is faster {range}: {times}."),
        [] if all(Ordering::Equal) => {
            format!("{first} and {second} differ by less than {margin} % {range}.")
        }
        [] => format!("No crossing is shown {range}: {times}."),
        several => {
            format!("They cross {} times, by {axis}: {}.", several.len(), crossed.join("; "))
        }
    };
    let is_inside = |at: u64| along.crossings.iter().any(|one| one.after < at && at < one.until);
    let open = told.iter().filter(|(_, of)| of.side().is_none()).map(|(at, _)| *at);
    let open = open.filter(|at| !is_inside(*at)).map(value);
    let open = open.collect::<Vec<_>>().join(", ");
    match open.as_str() {
        "" => answer,
        open => format!("{answer} Not decided at {open}; a longer --budget may decide."),
    }
}

/// The ratio along the axis.
pub(crate) fn charts(found: &RunComparison, along: &Along) -> Vec<Chart> {
    let (first, second) = names(found, along);
    let point = |of: &Compared| {
        let contrast = of.contrast?;
        Some((at(of, along)? as f64, contrast.ratio, contrast.ends()))
    };
    let points: Vec<_> = found.compared.iter().filter_map(point).collect();
    let axis = along.axis.as_str();
    let about = About {
        id: format!("along-{axis}"),
        title: format!("Time of {second} as a multiple of that of {first}"),
        says: format!("Below 1 {second} is faster. The band is the interval of each value."),
    };
    let unit = match Axis::of_key(axis).map(|axis| axis.kind) {
        Some(Kind::Number(axis::Unit::Bytes, ..)) => ChartUnit::Bytes,
        Some(Kind::Number(axis::Unit::Time, ..)) => ChartUnit::Ns,
        _ => ChartUnit::Count,
    };
    ratios(&about, &ChartAxis::new(axis, Scale::Log, unit), &points)
}

/// The value of a comparison on the axis.
pub(crate) fn at(of: &Compared, along: &Along) -> Option<u64> {
    let case: Case = of.case.parse().ok()?;
    Axis::of_key(&along.axis)?.get(&case)?.number()
}

/// What differs between the two: their paths, or else the keys that only one of them has.
pub(crate) fn names(found: &RunComparison, along: &Along) -> (String, String) {
    let Some(of) = found.compared.first() else { return Default::default() };
    let key = format!("{}=", along.axis);
    let without = |id: &str| {
        let (path, keys) = id.split_once('?').unwrap_or((id, ""));
        let keys: Vec<&str> = keys.split('&').filter(|one| !one.starts_with(&key)).collect();
        format!("{path}?{}", keys.join("&"))
    };
    let (first, second) = (without(&of.baseline), without(&of.case));
    let path = |id: &str| id.split('?').next().unwrap_or(id).to_owned();
    if path(&first) != path(&second) {
        return (path(&first), path(&second));
    }
    (beside(&first, &second), beside(&second, &first))
}

/// A value of an axis with its unit.
pub(crate) fn value_of(axis: &str, at: u64) -> String {
    match Axis::of_key(axis).map(|axis| axis.kind) {
        Some(Kind::Number(axis::Unit::Bytes, ..)) => {
            number::bytes(u32::try_from(at).unwrap_or(u32::MAX))
        }
        Some(Kind::Number(axis::Unit::Time, ..)) => number::exact(at),
        Some(Kind::Number(axis::Unit::Rate, ..)) => format!("{}/s", format_number(at)),
        _ => at.to_string(),
    }
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
            value_ns: Some(1000.0 * ratio),
            baseline_ns: Some(1000.0),
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
            baseline: Vec::new(),
            other: Vec::new(),
            across: Vec::new(),
            differences: Vec::new(),
            remarks: Vec::new(),
            compared: points.iter().map(point).collect(),
            only_baseline: Vec::new(),
            only_other: Vec::new(),
            hosts: None,
            along: Some(Along { axis: "payload".into(), crossings }),
        }
    }

    #[test]
    fn every_kind_of_answer_is_a_sentence() {
        use Verdict::{Inside, Open, Outside};
        let said = |points: &[(u64, f64, Verdict)], crossings: &[(u64, u64, bool)]| {
            let found = found(points, crossings);
            sentence(&found, found.along.as_ref().unwrap())
        };
        assert_eq!(
            said(&[(64, 1.4, Outside), (1 << 20, 0.5, Outside)], &[(8192, 14_336, true)]),
            "roundtrip/tcp overtakes roundtrip/pipe between 8 KiB and 14 KiB of payload; \
             roundtrip/tcp takes 0.50 to 1.4 × as long as roundtrip/pipe."
        );
        assert_eq!(
            said(&[(64, 1.4, Outside)], &[(64, 128, true), (4096, 5120, false)]),
            "They cross 2 times, by payload: roundtrip/tcp overtakes roundtrip/pipe between 64 B \
             and 128 B; roundtrip/pipe overtakes roundtrip/tcp between 4 KiB and 5 KiB."
        );
        assert_eq!(
            said(&[(64, 2.0, Outside), (1 << 20, 1.4, Outside)], &[]),
            "roundtrip/pipe is faster from 64 B to 1 MiB of payload: roundtrip/tcp takes 1.4 to \
             2.0 × as long as roundtrip/pipe."
        );
        let equal = said(&[(64, 1.01, Inside), (128, 1.0, Inside)], &[]);
        assert!(equal.ends_with("differ by less than 3.0 % from 64 B to 128 B of payload."));
        let open = said(&[(64, 1.4, Outside), (128, 1.2, Open)], &[]);
        assert!(open.starts_with("No crossing is shown from 64 B to 128 B"), "{open}");
        assert!(open.ends_with("Not decided at 128 B; a longer --budget may decide."), "{open}");
        assert_eq!(said(&[], &[]), "No payload was compared.");
    }

    #[test]
    fn values_have_the_unit_of_their_axis() {
        let of = |axis: &str| value_of(axis, 1_500_000);
        assert_eq!(["gap", "rate", "flows"].map(of), ["1.5 ms", "1.5M/s", "1500000"]);
        let point = found(&[(1000, 1.0, Verdict::Inside)], &[]);
        assert_eq!(at(&point.compared[0], point.along.as_ref().unwrap()), Some(1000));
    }
}
