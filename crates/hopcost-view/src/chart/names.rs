//! How cases, places and quantiles are called in charts and in the page.

use hopcost_model::results::{CaseResult, Estimate, LadderGroup, LadderRow, Results};

use super::model::{Colour, Dash, Marker, Style};

/// On how many CPUs the ends run: a column of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    One,
    Two,
    Free,
}

impl Place {
    pub const ALL: [Place; 3] = [Place::One, Place::Two, Place::Free];

    pub fn name(self) -> &'static str {
        match self {
            Place::One => "one CPU",
            Place::Two => "two CPUs",
            Place::Free => "not pinned",
        }
    }

    pub fn style(self) -> Style {
        match self {
            Place::One => Style::of(Colour::Blue, Marker::Circle, Dash::Solid),
            Place::Two => Style::of(Colour::Vermilion, Marker::Square, Dash::Long),
            Place::Free => Style::of(Colour::Green, Marker::Triangle, Dash::Short),
        }
    }

    /// The case of a row at this place.
    pub fn of<'a>(self, row: &LadderRow, results: &'a Results) -> Option<(usize, &'a CaseResult)> {
        let index = match self {
            Place::One => row.one_cpu,
            Place::Two => row.two_cpus,
            Place::Free => row.free,
        }?;
        let index = usize::try_from(index).ok()?;
        results.results.get(index).map(|case| (index, case))
    }
}

/// A ladder group's cases at one place, in the ladder's order, each with its row.
pub(crate) fn cases_at<'a>(
    group: &'a LadderGroup,
    place: Place,
    results: &'a Results,
) -> Vec<(&'a LadderRow, &'a CaseResult)> {
    group.rows.iter().filter_map(|row| Some((row, place.of(row, results)?.1))).collect()
}

/// `pipe, process, block`
pub(crate) fn row_name(row: &LadderRow) -> String {
    match &row.wait {
        Some(wait) => format!("{}, {}, {}", row.label, row.boundary, wait),
        None => row.label.clone(),
    }
}

/// What a case's own number is called: the cost of batches, else the median.
pub(crate) fn headline(case: &CaseResult) -> Option<(&'static str, &Estimate)> {
    let estimates = case.estimates.as_ref()?;
    let cost = estimates.cost_ns.as_ref().map(|e| ("cost", e));
    cost.or_else(|| estimates.p50_ns.as_ref().map(|e| ("p50", e)))
}

/// `p99.9`
pub(crate) fn quantile(q: f64) -> String {
    let percent = format!("{:.4}", q * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// `word`, or `word`s counted.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_no_digit_too_many() {
        assert_eq!(quantile(0.5), "p50");
        assert_eq!(quantile(0.999), "p99.9");
        assert_eq!(quantile(0.9999), "p99.99");
        assert_eq!(quantile(0.07), "p7");
    }
}
