//! A published table as it is carried: published/README.md describes the form.

use hopcost_model::document;
use hopcost_model::text::csv_fields;
use hopcost_plan::Selector;
use serde::Deserialize;

document! {
    /// What makes a row and what a column of a published table.
    pub struct PublishedLayout {
        /// What the rows are under headings by; `null` where there are none.
        pub heading: Option<PublishedField>,
        /// What names a row.
        pub rows: Vec<PublishedField>,
        /// What names a column.
        pub columns: PublishedField,
        /// Names of the parts of a group, which are separated by a comma.
        pub group: Vec<String>,
        /// Name of the labels.
        pub label: String,
        /// How it is laid out where there is little room; `null`: in the same way.
        pub brief: Option<PublishedBrief>,
    }

    /// A published table in brief: one statistic of it.
    pub struct PublishedBrief {
        /// What names a row.
        pub rows: Vec<PublishedField>,
        /// What names a column.
        pub columns: PublishedField,
        /// The statistic.
        pub statistic: String,
    }

    /// The names of a published number.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum PublishedField {
        /// The group of its row.
        Group,
        /// The label of its row.
        Label,
        /// Which number it is.
        Statistic,
    }
}

/// A file of published/.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name, without its ending.
    pub file: String,
    pub head: Head,
    pub rows: Vec<Row>,
}

/// What stands above the rows of a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Title, in our words.
    pub title: String,
    /// Where it was published.
    pub source: String,
    pub machine: String,
    /// What was really timed; empty where nothing was.
    #[serde(default)]
    pub timed: String,
    /// What its numbers are called beside those of another source.
    pub name: Option<String>,
    /// Operations that a total is of.
    pub operations: Option<u64>,
    /// Labels of the rows that multiples and differences refer to.
    #[serde(default)]
    pub baseline: Vec<String>,
    /// Placements that it is shown beside; none where its rows have none.
    #[serde(default)]
    pub places: Vec<String>,
    /// What makes a row and what a column.
    pub layout: PublishedLayout,
}

/// A row as published.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Rows shown together.
    pub group: String,
    pub label: String,
    /// Which number it is.
    pub statistic: String,
    /// As published, or the lower end; none where the source names it and gives no number.
    pub value: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Both as written.
    pub written: String,
    pub unit: String,
    /// Cases that measure the same, the best first.
    pub cases: Vec<Selector>,
    /// Where it has another meaning than its label.
    pub note: Option<String>,
}

/// The heading of every file.
const COLUMNS: [&str; 8] = ["group", "label", "statistic", "value", "high", "unit", "case", "note"];

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// In one line, what is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let is_key = |line: &&str| line.starts_with('#');
        let head = text.lines().take_while(is_key).map(|line| format!("{}\n", line[1..].trim()));
        let head = toml::from_str(&head.collect::<String>());
        let head = head.map_err(|error| error.message().replace('\n', " "))?;
        let mut lines = text.lines().skip_while(is_key);
        let heading = lines.next().map(csv_fields).unwrap_or_default();
        if heading != COLUMNS {
            return Err(format!("the heading is {heading:?}"));
        }
        let rows = lines.try_fold(Vec::new(), |mut rows, line| {
            rows.push(row(line, rows.last())?);
            Ok::<_, String>(rows)
        })?;
        Ok(Source { file: file.trim_end_matches(".csv").to_owned(), head, rows })
    }
}

/// A row; without a case of its own, it has those of the row above with its group and label.
fn row(line: &str, above: Option<&Row>) -> Result<Row, String> {
    let fields = csv_fields(line);
    let [group, label, statistic, value, high, unit, case, note] = fields.as_slice() else {
        return Err(format!("`{line}` has {} fields", fields.len()));
    };
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a number in `{line}`")),
    };
    let some = |text: &str| (!text.is_empty()).then(|| number(text)).transpose();
    Ok(Row {
        group: group.clone(),
        label: label.clone(),
        statistic: statistic.clone(),
        value: some(value)?,
        high: some(high)?,
        written: if high.is_empty() { value.clone() } else { format!("{value}–{high}") },
        unit: unit.clone(),
        cases: match above.filter(|row| row.group == *group && row.label == *label) {
            Some(above) if case.is_empty() => above.cases.clone(),
            _ => case
                .split(" or ")
                .filter(|pattern| !pattern.is_empty())
                .map(selector)
                .collect::<Result<_, _>>()?,
        },
        note: (!note.is_empty()).then(|| note.clone()),
    })
}

fn selector(text: &str) -> Result<Selector, String> {
    match Selector::parse(text)? {
        said if said.says_workload() => Ok(said),
        _ => Err(format!("`{text}` does not say the workload of its number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        let file = |meta: &str, row: &str| {
            let text = format!("{meta}\n{}\n{row}\n", COLUMNS.join(","));
            Source::parse("f.csv", &text).map(|source| source.rows.len())
        };
        let layout = "{ rows = [], columns = \"label\", group = [], label = \"\" }";
        let meta =
            format!("# title = \"a\"\n# source = \"b\"\n# machine = \"c\"\n# layout = {layout}");
        let meta = meta.as_str();
        assert_eq!(file(meta, "g,l,mean,1,,µs,,"), Ok(1));
        for (meta, row, part) in [
            ("# title = \"a\"", "g,l,mean,1,,µs,,", "missing field `source`"),
            (meta, "g,l,mean,x,,µs,,", "not a number"),
            (meta, "g,l,mean,1,,µs", "6 fields"),
            (meta, "g,l,mean,1,,µs,nonsense,", "nonsense"),
        ] {
            let error = file(meta, row).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let strange = Source::parse("f.csv", &format!("{meta}\nx,y\n"));
        assert!(strange.unwrap_err().contains("heading"));
    }
}
