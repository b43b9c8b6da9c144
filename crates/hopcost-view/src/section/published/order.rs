//! The order of the published numbers and of those measured here.

use hopcost_model::group::grouped;
use hopcost_model::results::PublishedTable;

use super::pivot::place;

/// Joins the labels in an order that could not be told apart.
const TIE: &str = " = ";

/// The two orders of each group, equal ones together.
pub(super) fn orders(tables: &[&PublishedTable]) -> Vec<String> {
    let any = tables.iter().filter(|table| !table.order_published.is_empty());
    let line = |(said, tables): (String, Vec<&&PublishedTable>)| {
        let at = tables.iter().map(|table| {
            let name = table.name.clone().unwrap_or_default();
            let parts = [name, place(table), table.group.clone()];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        });
        let at = at.filter(|at| !at.is_empty()).collect::<Vec<_>>().join("; ");
        let colon = if at.is_empty() { "" } else { ": " };
        format!("{at}{colon}{said}")
    };
    grouped(any, |table| said(table)).into_iter().map(line).collect()
}

fn said(table: &PublishedTable) -> String {
    let published = table.order_published.join(" < ");
    let measured = match table.order_measured.as_slice() {
        [] => "none here, where not all have an interval.".to_owned(),
        order => {
            format!("here {}: {}.", order.join(" < "), agreement(&table.order_published, order))
        }
    };
    format!("order published {published}; {measured}")
}

/// Whether a measured order is the published one.
fn agreement(published: &[String], measured: &[String]) -> &'static str {
    let rank = |label: &str| measured.iter().position(|tied| tied.split(TIE).any(|l| l == label));
    let labels = published.iter().flat_map(|tied| tied.split(TIE));
    let ranks: Vec<Option<usize>> = labels.map(rank).collect();
    let unknown = ranks.iter().any(Option::is_none);
    match (ranks.is_sorted(), measured == published) {
        _ if unknown => "not the same labels",
        (true, true) => "the same",
        (true, false) => "the same where it could be told (“=”: it could not)",
        (false, _) => "another one",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_contradicts_no_order() {
        let all = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let published = all(&["a", "b", "c"]);
        let agrees = |measured: &[&str]| agreement(&published, &all(measured));
        assert_eq!(agrees(&["a", "b", "c"]), "the same");
        assert!(agrees(&["b = a", "c"]).starts_with("the same where"));
        assert_eq!(agrees(&["b", "a = c"]), "another one");
        assert_eq!(agrees(&["c", "b", "a"]), "another one");
        assert_eq!(agrees(&["a", "b"]), "not the same labels");
    }
}
