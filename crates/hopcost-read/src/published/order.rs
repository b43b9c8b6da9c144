//! Labels from least to greatest.

/// A label with its value and, where it has one, its interval.
pub struct Entry {
    /// The label.
    pub label: String,
    /// The value.
    pub point: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
}

/// The labels in the order of their values. Equal values, and values whose intervals
/// all overlap, stand together as `a = b`: their order is not known.
pub fn order(mut entries: Vec<Entry>) -> Vec<String> {
    entries.sort_by(|a, b| a.point.total_cmp(&b.point));
    let mut groups: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for entry in entries {
        let (low, high) = entry.interval.unwrap_or((entry.point, entry.point));
        match groups.last_mut() {
            Some((labels, with)) if with.iter().all(|(l, h)| low <= *h && *l <= high) => {
                labels.push_str(" = ");
                labels.push_str(&entry.label);
                with.push((low, high));
            }
            _ => groups.push((entry.label, vec![(low, high)])),
        }
    }
    groups.into_iter().map(|(labels, _)| labels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_equal() {
        let entry =
            |label: &str, point: f64, interval| Entry { label: label.to_owned(), point, interval };
        let found = order(vec![
            entry("d", 9.0, Some((8.0, 9.5))),
            entry("b", 4.0, Some((3.0, 5.0))),
            entry("a", 3.5, Some((2.0, 4.5))),
            // Overlaps with b and not with a.
            entry("c", 5.5, Some((4.8, 6.0))),
        ]);
        assert_eq!(found, ["a = b", "c", "d"]);
        let points = [("y", 2.0), ("x", 1.0), ("z", 2.0)].map(|(l, p)| entry(l, p, None));
        assert_eq!(order(points.into()), ["x", "y = z"]);
    }
}
