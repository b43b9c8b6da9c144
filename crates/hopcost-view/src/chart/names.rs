//! How cases, places and quantiles are called in charts and in the page.

use hopcost_model::results::{CaseResult, Estimate, LadderGroup, LadderRow, Results};

use super::model::{Colour, Dash, Marker, Style};
use crate::section::foreign;

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

/// What a row of the ladder is called: its label, and the runtime of its cases where
/// they are not in Rust and the label does not say it.
pub(crate) fn row_label(row: &LadderRow, results: &Results) -> String {
    let case = Place::ALL.iter().find_map(|place| place.of(row, results));
    let runtime = case.and_then(|(_, case)| foreign(case));
    let says = |runtime: &String| row.label.split([' ', '(', ')', ',']).any(|w| w == runtime);
    match runtime.filter(|runtime| !says(runtime)) {
        Some(runtime) => format!("{} ({runtime})", row.label),
        None => row.label.clone(),
    }
}

/// `pipe, process, block`
pub(crate) fn row_name(row: &LadderRow, results: &Results) -> String {
    let label = row_label(row, results);
    match &row.wait {
        Some(wait) => format!("{label}, {}, {wait}", row.boundary),
        None => label,
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
    fn a_row_in_another_runtime_says_so_once() {
        let mut results = crate::fixture::example_runtimes();
        let rows: Vec<LadderRow> = results.ladder.iter().flat_map(|g| g.rows.clone()).collect();
        for row in &rows {
            let (_, case) = Place::One.of(row, &results).unwrap();
            let own = foreign(case).map_or(String::new(), |runtime| format!(" ({runtime})"));
            assert_eq!(row_label(row, &results), format!("{}{own}", row.label));
        }
        let row = &mut results.ladder[1].rows[3];
        row.label = "condvar (python)".to_owned();
        let row = row.clone();
        assert_eq!(row_label(&row, &results), "condvar (python)");
        assert!(row_name(&row, &results).starts_with("condvar (python), thread"));
        // Not at the end of another word.
        let odd = LadderRow { label: "condvar-python".to_owned(), ..row };
        assert_eq!(row_label(&odd, &results), "condvar-python (python)");
    }

    #[test]
    fn quantiles_have_no_digit_too_many() {
        assert_eq!(quantile(0.5), "p50");
        assert_eq!(quantile(0.999), "p99.9");
        assert_eq!(quantile(0.9999), "p99.99");
        assert_eq!(quantile(0.07), "p7");
    }
}
