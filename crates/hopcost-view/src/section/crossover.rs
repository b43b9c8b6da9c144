//! Where one way overtakes another: the answer in a sentence, and every point under it.

use hopcost_model::axis::{Axis, Kind};
use hopcost_model::results::{
    CostModel, Crossed, Crossover, CrossoverPoint, Estimate, Faster, Results,
};
use hopcost_model::units::format_number;

use super::comparison::beside;
use super::model::{Block, Cell, Medium, Rows, Section, Tone, Unit, Value, notes, numbers, words};
use super::words::index_of;
use crate::number;

/// The search, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("crossover", blocks(results, results.crossover.as_ref()?))
}

/// The search: the answer first.
pub(super) fn blocks(results: &Results, found: &Crossover) -> Vec<Block> {
    let table = Rows::of(&found.points)
        .column(numbers(&found.axis), |of| Value::Sorted(value(found, of.at), of.at as f64).into())
        .column(numbers("first"), |of| Cell::maybe(of.first_ns, Unit::Time(3)))
        .column(numbers("second"), |of| Cell::maybe(of.second_ns, Unit::Time(3)))
        .column(numbers("second / first [band]"), |of| {
            let cell = Cell::ratio(of.ratio.as_ref(), "");
            Cell { case: index_of(results, &of.case), ..cell }
        })
        .column(words("faster"), |of| Cell::text(fate(of)))
        .column(numbers("rounds").fold(1), |of| {
            Cell::maybe(of.ratio.as_ref().map(|ratio| ratio.n_rounds.into()), Unit::Whole)
        });
    let mut said = vec![format!("First: {}. Second: {}.", found.first, found.second)];
    said.extend(left_out(found));
    said.extend(results.cost_models.iter().map(cost));
    [Block::Text(Tone::Lead, sentence(found)), table.table()]
        .into_iter()
        .chain(notes(said))
        .collect()
}

pub(super) fn sentence(found: &Crossover) -> String {
    let (first, second) = names(found);
    let crossed = |one: &Crossed| {
        let (ahead, behind) = match one.faster {
            Faster::First => (&first, &second),
            _ => (&second, &first),
        };
        let (after, until) = (value(found, one.after), value(found, one.until));
        format!("{ahead} overtakes {behind} between {after} and {until}")
    };
    let crossings: Vec<String> = found.crossings.iter().map(crossed).collect();
    let counted = || found.points.iter().filter(|point| point.ratio.is_some());
    let ends = counted().next().zip(counted().next_back());
    let all = |faster: Faster| counted().all(|point| point.faster == faster);
    let ratios = found.ratio_least.zip(found.ratio_most).map_or(String::new(), |(least, most)| {
        let (least, most) = (number::plain(least, 2), number::plain(most, 2));
        match least == most {
            true => format!("{second} takes {least} × as long as {first}"),
            false => format!("{second} takes {least} to {most} × as long as {first}"),
        }
    });
    let of_axis = &found.axis;
    let margin = number::plain(found.margin * 100.0, 2);
    let answer = match (crossings.as_slice(), ends) {
        (_, None) => format!("No {of_axis} was measured: nothing is known of a crossing."),
        ([only], _) => format!("{only} of {of_axis}; {ratios}."),
        ([_, _, ..], _) => {
            format!("Crosses {}, by {of_axis}: {}.", times(crossings.len()), crossings.join("; "))
        }
        ([], Some((from, to))) => {
            let (from, to) = (value(found, from.at), value(found, to.at));
            let throughout = match () {
                () if all(Faster::Equal) => {
                    format!("they differ by less than {margin} % throughout")
                }
                () if all(Faster::First) || all(Faster::Second) => format!("{ratios} throughout"),
                () => ratios,
            };
            let what = match () {
                () if found.undecided.is_empty() => "No crossing",
                () if all(Faster::Neither) => "Not decided whether they cross",
                () => "No crossing found",
            };
            format!("{what} from {from} to {to} of {of_axis}: {throughout}.")
        }
    };
    let open = found.undecided.iter().map(|span| match span.from == span.to {
        true => format!("at {}", value(found, span.from)),
        false => format!("between {} and {}", value(found, span.from), value(found, span.to)),
    });
    let open = open.collect::<Vec<_>>().join(", ");
    let more = found.seconds_to_decide.map_or(String::new(), |seconds| {
        format!("; about {} more would probably tell", number::expected((seconds * 1e9) as u64))
    });
    let open = (!open.is_empty()).then(|| format!("Not decided {open}{more}."));
    let all = [answer].into_iter().chain(open).chain(found.caveats.iter().cloned());
    all.collect::<Vec<_>>().join(" ")
}

/// What tells the two apart.
fn names(found: &Crossover) -> (String, String) {
    let path = |way: &str| way.split('?').next().unwrap_or(way).to_owned();
    let paths = (path(&found.first), path(&found.second));
    if paths.0 != paths.1 {
        return paths;
    }
    (beside(&found.first, &found.second), beside(&found.second, &found.first))
}

fn times(n: usize) -> String {
    if n == 2 { "twice".to_owned() } else { format!("{n} times") }
}

fn value(found: &Crossover, at: u64) -> String {
    value_of(&found.axis, at)
}

/// A value of an axis with its unit.
pub(crate) fn value_of(axis: &str, at: u64) -> String {
    match Axis::of_key(axis).map(|axis| axis.kind) {
        Some(Kind::Bytes { .. }) => number::bytes(u32::try_from(at).unwrap_or(u32::MAX)),
        Some(Kind::Time { .. }) => number::exact(at),
        Some(Kind::Rate { .. }) => format!("{}/s", format_number(at)),
        _ => at.to_string(),
    }
}

fn fate(of: &CrossoverPoint) -> &'static str {
    match (of.left_out.is_some(), of.faster) {
        (true, _) => "left out",
        (_, Faster::First) => "first",
        (_, Faster::Second) => "second",
        (_, Faster::Equal) => "equal",
        (_, Faster::Neither) => "not decided",
    }
}

/// Each reason once, with the points that it holds for.
fn left_out(found: &Crossover) -> Vec<String> {
    let out = found.points.iter().filter_map(|point| Some((point.at, point.left_out.as_ref()?)));
    let grouped = hopcost_model::group::grouped(out, |(_, why)| (*why).clone()).into_iter();
    let line = |(why, of): (String, Vec<(u64, &String)>)| {
        let at: Vec<String> = of.iter().map(|(at, _)| value(found, *at)).collect();
        let why = why.trim_end_matches('.');
        match at.as_slice() {
            [first, .., last] if at.len() > 3 => {
                format!("Left out: {} points from {first} to {last}: {why}.", at.len())
            }
            all => format!("Left out: {}: {why}.", all.join(", ")),
        }
    };
    grouped.map(line).collect()
}

/// `Cost of roundtrip/pipe?…: 5.1 µs + 0.21 ns/B; off by 4.0 % at most.`
fn cost(model: &CostModel) -> String {
    let line = |fixed: &Estimate, per_byte: &Estimate| {
        let point = |estimate: &Estimate| {
            estimate.point.map_or("not known".to_owned(), |ns| number::time(ns, 2))
        };
        format!("{} + {} a byte", point(fixed), point(per_byte))
    };
    let off = |residual: Option<f64>| {
        residual.map_or(String::new(), |off| format!("; off by {} at most", number::share(off)))
    };
    let lines = match model.fixed_ns.as_ref().zip(model.per_byte_ns.as_ref()) {
        Some((fixed, per_byte)) => line(fixed, per_byte) + &off(model.residual_max),
        None if model.segments.is_empty() => {
            format!("no line: {}", model.refused.as_deref().unwrap_or("not known"))
        }
        None => {
            let part = |of: &hopcost_model::results::CostSegment| {
                let (from, to) = (number::bytes(of.from_bytes), number::bytes(of.to_bytes));
                let line = line(&of.fixed_ns, &of.per_byte_ns) + &off(Some(of.residual_max));
                format!("{line} from {from} to {to}")
            };
            model.segments.iter().map(part).collect::<Vec<_>>().join("; ")
        }
    };
    format!("Cost of {}: {lines}.", model.label)
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::{Ratio, Span};

    use super::*;

    fn ratio(point: f64) -> Option<Ratio> {
        Some(Ratio {
            baseline: "roundtrip/pipe".into(),
            point,
            low: Some(point * 0.99),
            high: Some(point * 1.01),
            n_rounds: 12,
        })
    }

    fn search(points: &[(u64, f64, Faster)], crossings: &[(u64, u64, Faster)]) -> Crossover {
        let point = |(at, of, faster): &(u64, f64, Faster)| CrossoverPoint {
            at: *at,
            case: "roundtrip/shm-ring".into(),
            first_ns: Some(1000.0),
            second_ns: Some(1000.0 * of),
            ratio: ratio(*of),
            faster: *faster,
            left_out: None,
        };
        let ratios = || points.iter().map(|point| point.1);
        Crossover {
            axis: "payload".into(),
            first: "roundtrip/pipe?place=same-llc&wait=block".into(),
            second: "roundtrip/shm-ring?place=same-llc&wait=block".into(),
            margin: 0.03,
            crossings: crossings
                .iter()
                .map(|(after, until, faster)| Crossed {
                    after: *after,
                    until: *until,
                    faster: *faster,
                })
                .collect(),
            undecided: Vec::new(),
            seconds_to_decide: None,
            ratio_least: ratios().min_by(f64::total_cmp),
            ratio_most: ratios().max_by(f64::total_cmp),
            caveats: Vec::new(),
            points: points.iter().map(point).collect(),
        }
    }

    #[test]
    fn every_kind_of_answer_is_a_sentence() {
        use Faster::{Equal, First, Neither, Second};
        let crosses = search(&[(64, 1.4, First), (1 << 20, 0.5, Second)], &[(8192, 14336, Second)]);
        assert_eq!(
            sentence(&crosses),
            "roundtrip/shm-ring overtakes roundtrip/pipe between 8 KiB and 14 KiB of payload; \
             roundtrip/shm-ring takes 0.50 to 1.4 × as long as roundtrip/pipe."
        );
        let twice = [(64, 128, Second), (4096, 5120, First)];
        assert_eq!(
            sentence(&search(&[(64, 1.4, First)], &twice)),
            "Crosses twice, by payload: roundtrip/shm-ring overtakes roundtrip/pipe between 64 B \
             and 128 B; roundtrip/pipe overtakes roundtrip/shm-ring between 4 KiB and 5 KiB."
        );
        let slower = search(&[(64, 2.0, First), (1 << 20, 1.4, First)], &[]);
        assert_eq!(
            sentence(&slower),
            "No crossing from 64 B to 1 MiB of payload: roundtrip/shm-ring takes 1.4 to 2.0 × as long as \
             roundtrip/pipe throughout."
        );
        let same = search(&[(64, 1.01, Equal), (128, 1.0, Equal)], &[]);
        assert!(sentence(&same).ends_with("they differ by less than 3.0 % throughout."));
        let mut open = search(&[(64, 1.4, First), (128, 1.2, Neither)], &[]);
        open.undecided = vec![Span { from: 64, to: 128 }];
        open.seconds_to_decide = Some(33.2);
        let said = sentence(&open);
        assert!(said.starts_with("No crossing found from 64 B to 128 B"), "{said}");
        assert!(
            said.ends_with(
                "Not decided between 64 B and 128 B; about 34 s more would probably tell."
            )
        );
        let mut unknown = search(&[(64, 1.4, Neither), (128, 1.2, Neither)], &[]);
        unknown.undecided = vec![Span { from: 64, to: 128 }];
        assert!(
            sentence(&unknown).starts_with("Not decided whether they cross from 64 B to 128 B")
        );
        assert!(sentence(&search(&[], &[])).starts_with("No payload was measured"));
        let mut copied = search(&[(64, 2.0, First)], &[]);
        copied.caveats = vec!["All of it was copied.".to_owned()];
        assert!(sentence(&copied).ends_with("throughout. All of it was copied."));
    }

    #[test]
    fn values_have_the_unit_of_their_axis_and_reasons_stand_once() {
        let mut found = search(&[(1000, 1.0, Faster::Equal), (2000, 1.0, Faster::Equal)], &[]);
        let of = |axis: &str| value(&Crossover { axis: axis.into(), ..found.clone() }, 1_500_000);
        assert_eq!(["gap", "rate", "flows"].map(of), ["1.5 ms", "1.5M/s", "1500000"]);
        found.points.iter_mut().for_each(|point| point.left_out = Some("it stalls.".into()));
        assert_eq!(left_out(&found), ["Left out: 1000 B, 2000 B: it stalls."]);
        assert_eq!(fate(&found.points[0]), "left out");
    }
}
