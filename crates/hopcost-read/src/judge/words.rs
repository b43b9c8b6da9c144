//! Sentences of verdicts.

use hopcost_model::case::Case;
use hopcost_model::finding::{Code, Finding};
use hopcost_model::results::{JudgedUnit, JudgedValue, Region};
use hopcost_plan::{Number, Quantity, Term};

use crate::case::{Reading, known};
use crate::format;

/// The delayed acknowledgement's timer at its least (TCP_DELACK_MIN).
const DELACK_NS: f64 = 40e6;
/// Findings that say why a number is what it is, the most telling first.
const TELLING: [Code; 5] =
    [Code::NagleDelack, Code::ZeroCopyCopied, Code::Oversubscribed, Code::NeverSlept, Code::Lost];

/// A number with its unit.
pub fn number(value: f64, unit: JudgedUnit) -> String {
    match unit {
        JudgedUnit::Times | JudgedUnit::Number => format::three(value),
        JudgedUnit::Share => format::percent(value),
        JudgedUnit::Ns => format::ns(value),
        JudgedUnit::Bytes => format!("{} bytes", libm::round(value)),
        JudgedUnit::Gbps => format!("{} Gbit/s", format::three(value)),
    }
}

/// `2.31 [2.20, 2.42]`
pub fn value(value: &JudgedValue) -> String {
    let of = |one: Option<f64>| one.map(|one| number(one, value.unit));
    let estimate = &value.estimate;
    let interval = of(estimate.low).zip(of(estimate.high)).map(|(low, high)| match low == high {
        true => String::new(),
        false => format!(" [{low}, {high}]"),
    });
    match (of(estimate.point), interval) {
        (Some(point), Some(interval)) => format!("{point}{interval}"),
        (Some(point), None) => point,
        (None, _) => match (of(estimate.low), of(estimate.high)) {
            (Some(low), Some(high)) => format!("between {low} and {high}"),
            (Some(low), None) => format!("above {low}"),
            (None, Some(high)) => format!("at most {high}"),
            (None, None) => "unknown".to_owned(),
        },
    }
}

/// What a number would have to be.
pub fn region(region: Region, unit: JudgedUnit) -> String {
    match (region.low, region.high) {
        (Some(low), Some(high)) if low == high => format!("exactly {}", number(low, unit)),
        (Some(low), Some(high)) => format!("{} to {}", number(low, unit), number(high, unit)),
        (Some(low), None) => format!("{} or more", number(low, unit)),
        (None, Some(high)) => format!("{} or less", number(high, unit)),
        (None, None) => "any number".to_owned(),
    }
}

fn quantity(term: &Term) -> String {
    match &term.quantity {
        Quantity::Headline => term.name.clone(),
        Quantity::Statistic(statistic) => format!("the {} of {}", statistic.label(), term.name),
        Quantity::Ticks => format!("{} in ticks", term.name),
        Quantity::Cpu => format!("the CPU time of {}", term.name),
        Quantity::Switches => format!("the context switches of {}", term.name),
        Quantity::Event(event) => format!("the {} of {}", event.replace('-', " "), term.name),
        Quantity::Throughput => format!("the throughput of {}", term.name),
        Quantity::CopiedShare => format!("the copied share of {}", term.name),
        Quantity::StalledShare => format!("the stalled share of {}", term.name),
        Quantity::LostShare => format!("the lost share of {}", term.name),
        Quantity::BetweenRuns => format!("the difference between runs of {}", term.name),
    }
}

/// What a number is of.
pub fn subject(number: &Number) -> String {
    match number {
        Number::Ratio(a, b) => format!("{} over {}", quantity(a), quantity(b)),
        Number::Difference(a, b) => format!("{} less {}", quantity(a), quantity(b)),
        Number::Value(a) => quantity(a),
        Number::Slope(a, axis) => format!("what {axis} adds to {}, for each unit,", quantity(a)),
        Number::Share(_) => "the mechanism's share of the variance".to_owned(),
        Number::Crossover(a, b, axis) => {
            format!("the {axis} from which on {} takes less than {}", quantity(a), quantity(b))
        }
    }
}

/// Why the numbers of these cases are what they are, where their findings say so.
pub fn reason(of: &[&Reading], all: &[Reading], findings: &[Finding]) -> Option<String> {
    let (reading, finding) = TELLING.iter().find_map(|code| {
        of.iter().find_map(|reading| {
            let id = Some(reading.result.id.as_str());
            let of_case = |f: &&Finding| f.code == *code && f.case.as_deref() == id;
            Some((reading, findings.iter().find(of_case)?))
        })
    })?;
    let timer = (finding.code == Code::NagleDelack).then(|| delayed(reading, all)).flatten();
    Some(timer.unwrap_or_else(|| {
        // Which case of the mechanism it is stands beside it, and its id is long.
        let mechanism = reading.case.map_or("", Case::mechanism_name);
        format!("{mechanism}: {}", finding.evidence.trim_end_matches('.'))
    }))
}

/// How long a stalled message takes beside the timer that it waits for, and without Nagle's
/// algorithm where that was measured.
fn delayed(reading: &Reading, all: &[Reading]) -> Option<String> {
    let ns = reading.headline()?.point.filter(|ns| *ns >= 0.9 * DELACK_NS)?;
    let timer = format!(
        "{} is {} × the timer of the delayed acknowledgement (40 ms)",
        format::ns(ns),
        format::three(ns / DELACK_NS)
    );
    let mut without: Case = reading.case?.clone();
    without.parameters.insert("nodelay".to_owned(), "on".to_owned());
    let other = known(all).find(|(case, _)| **case == without);
    let other = other.and_then(|(_, other)| other.headline()?.point);
    Some(match other {
        Some(ns) => format!("{timer}; with TCP_NODELAY the same takes {}", format::ns(ns)),
        None => timer,
    })
}
