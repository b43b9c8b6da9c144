//! From which size on one way of sending is faster than another.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{Crossing, Faster, Results};

use super::model::{Block, Cell, Rows, Unit, numbers, words};
use super::words::index_of;
use crate::number::bytes;

/// A line a pair: `A2 against A1 NODELAY, p50: faster from 1 KiB on with 1 and 2 flows`.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let pairs = grouped(&results.crossings, |of| (of.second.as_str(), of.first.as_str()));
    let line = |((second, first), of): ((&str, &str), Vec<&Crossing>)| {
        let parts = grouped(of, |crossing| outcome(crossing)).into_iter().map(|(outcome, of)| {
            let flows: Vec<String> = of.iter().map(|crossing| crossing.flows.to_string()).collect();
            let plural = if of.len() == 1 && of[0].flows == 1 { "" } else { "s" };
            format!("{outcome} with {} flow{plural}", listed(&flows))
        });
        let parts = parts.collect::<Vec<_>>().join("; ");
        format!("{second} against {first}, p50: {parts}")
    };
    pairs.into_iter().map(line).collect()
}

/// Every pair at every size.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    if results.crossings.is_empty() {
        return Vec::new();
    }
    let points = results.crossings.iter().flat_map(|of| &of.points);
    let mut sizes = distinct(points.map(|point| point.field_bytes));
    sizes.sort_unstable();
    let mut table = Rows::of(&results.crossings)
        .column(words("ways"), |of| Cell::text(format!("{} / {}", of.second, of.first)))
        .column(numbers("flows"), |of| Cell::number(of.flows, Unit::Whole));
    for size in sizes {
        table = table.column(numbers(&bytes(size)), |of| {
            let point = of.points.iter().find(|point| point.field_bytes == size);
            point.map_or(Cell::none(), |point| {
                let cell = Cell::brief_ratio(Some(&point.ratio), "");
                Cell { case: index_of(results, &point.case), ..cell }
            })
        });
    }
    let table = table.column(words("so the first is").fold(1), |of| Cell::text(outcome(of)));
    let title = "Which way is faster, by field size: p50 of a message as a multiple of the other's";
    vec![Block::Heading(title.to_owned()), table.table()]
}

/// How the second way stands to the first.
fn outcome(of: &Crossing) -> String {
    let of_sizes = |faster: Faster| {
        let points = of.points.iter().filter(move |point| point.faster == faster);
        points.map(|point| bytes(point.field_bytes)).collect::<Vec<_>>()
    };
    let (won, lost) = (of_sizes(Faster::Second), of_sizes(Faster::First));
    match (of.from_field_bytes, of.points.as_slice()) {
        (Some(from), [first, ..]) if from == first.field_bytes => "faster at every size".to_owned(),
        (Some(from), _) => format!("faster from {} on", bytes(from)),
        (None, _) if !won.is_empty() => format!("faster at {} only", listed(&won)),
        (None, all) if lost.len() == all.len() => "slower at every size".to_owned(),
        (None, _) if lost.is_empty() => "not told apart at any size".to_owned(),
        (None, all) => {
            let last = all.last().map_or(String::new(), |last| bytes(last.field_bytes));
            format!("never faster up to {last}")
        }
    }
}

/// `1, 2 and 4`
fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::CrossingPoint;

    use super::*;
    use crate::stored;

    fn crossing(flows: u32, faster: &[Faster]) -> Crossing {
        let stored = stored::results("copies");
        let ratio = stored.results.iter().find_map(|case| case.ratio.clone()).expect("a multiple");
        let point = |(at, faster): (u32, &Faster)| CrossingPoint {
            field_bytes: 256 << (2 * at),
            case: "stream/x".to_owned(),
            ratio: ratio.clone(),
            faster: *faster,
        };
        let won = faster.iter().rev().take_while(|of| **of == Faster::Second).count();
        let from = (won > 0).then(|| 256 << (2 * (faster.len() - won)));
        Crossing {
            first: "A1".to_owned(),
            second: "A2".to_owned(),
            flows,
            points: (0..).zip(faster).map(point).collect(),
            from_field_bytes: from,
        }
    }

    #[test]
    fn what_is_said_of_a_pair() {
        use Faster::{First, Neither, Second};
        let mut results = stored::results("copies");
        let mut says = |all: &[(u32, [Faster; 3])]| {
            results.crossings = all.iter().map(|(flows, of)| crossing(*flows, of)).collect();
            sentences(&results).concat()
        };
        assert_eq!(
            says(&[(1, [Second; 3]), (2, [Neither, Second, Second]), (4, [Second; 3])]),
            "A2 against A1, p50: faster at every size with 1 and 4 flows; faster from 1 KiB on with \
             2 flows"
        );
        for (faster, said) in [
            ([Second, First, Second], "faster from 4 KiB on"),
            ([Second, Second, Neither], "faster at 256 B and 1 KiB only"),
            ([First; 3], "slower at every size"),
            ([Neither; 3], "not told apart at any size"),
            ([First, Neither, First], "never faster up to 4 KiB"),
        ] {
            let want = format!("A2 against A1, p50: {said} with 1 flow");
            assert_eq!(says(&[(1, faster)]), want);
        }
    }
}
