//! A published table as it is carried: published/README.md describes the form.

use hopcost_model::results::{PublishedBrief, PublishedField, PublishedLayout};
use hopcost_model::text::csv_fields;
use hopcost_plan::Selector;

/// A file of published/.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Title, in our words.
    pub title: String,
    /// Where it was published.
    pub source: String,
    pub machine: String,
    /// How that was set up, where it explains the numbers.
    pub conditions: Option<String>,
    /// What was really timed; empty where nothing was.
    pub timed: String,
    /// What its numbers are called beside those of another source.
    pub name: Option<String>,
    /// Operations that a total is of.
    pub operations: Option<u64>,
    /// How it is laid out.
    pub layout: PublishedLayout,
    /// Labels of the rows that multiples and differences refer to.
    pub baselines: Vec<String>,
    /// Placements that it is shown beside; none where its rows have none.
    pub places: Vec<String>,
    pub rows: Vec<Row>,
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
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_key = |line: &&str| line.starts_with('#');
        let keys: Vec<(&str, &str)> = text
            .lines()
            .take_while(is_key)
            .map(|line| line[1..].trim().split_once(": ").ok_or(format!("`{line}` has no key")))
            .collect::<Result<_, _>>()?;
        let key = |name: &str| {
            keys.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let needed = |name: &str| key(name).ok_or(format!("`{name}` is missing"));
        let mut lines = text.lines().skip_while(is_key);
        let heading = lines.next().map(csv_fields).unwrap_or_default();
        if heading != COLUMNS {
            return Err(format!("the heading is {heading:?}"));
        }
        let rows = lines.try_fold(Vec::new(), |mut rows, line| {
            rows.push(row(line, rows.last())?);
            Ok::<_, String>(rows)
        })?;
        let operations = key("operations").map(|text| {
            text.parse().map_err(|_| format!("`operations` is {text}, and no whole number"))
        });
        Ok(Source {
            title: needed("title")?,
            source: needed("source")?,
            machine: needed("machine")?,
            conditions: key("conditions"),
            timed: key("timed").unwrap_or_default(),
            name: key("name"),
            operations: operations.transpose()?,
            layout: layout(&key)?,
            baselines: list(key("baseline"), " or "),
            places: list(key("places"), ", "),
            rows,
        })
    }
}

/// The parts of a key's value.
fn list(value: Option<String>, between: &str) -> Vec<String> {
    let value = value.unwrap_or_default();
    value.split(between).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn layout(key: &impl Fn(&str) -> Option<String>) -> Result<PublishedLayout, String> {
    let brief = key("brief").map(|text| match text.split(" | ").collect::<Vec<_>>()[..] {
        [rows, columns, statistic] => Ok(PublishedBrief {
            rows: named(list(Some(rows.to_owned()), ", "))?,
            columns: field(columns)?,
            statistic: statistic.to_owned(),
        }),
        _ => Err(format!("`brief` is {text}, and not `ROWS | COLUMNS | STATISTIC`")),
    });
    let one = |name: &str| key(name).map(|text| field(&text)).transpose();
    let rows = named(list(key("rows"), ", "))?;
    Ok(PublishedLayout {
        heading: one("headings")?,
        rows: if rows.is_empty() { vec![PublishedField::Label] } else { rows },
        columns: one("columns")?.unwrap_or(PublishedField::Statistic),
        group: list(key("group"), ", "),
        label: key("label").unwrap_or_default(),
        brief: brief.transpose()?,
    })
}

fn named(words: Vec<String>) -> Result<Vec<PublishedField>, String> {
    words.iter().map(|word| field(word)).collect()
}

fn field(word: &str) -> Result<PublishedField, String> {
    match word {
        "group" => Ok(PublishedField::Group),
        "label" => Ok(PublishedField::Label),
        "statistic" => Ok(PublishedField::Statistic),
        _ => Err(format!("`{word}` is none of group, label and statistic")),
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
            _ => list(Some(case.clone()), " or ")
                .iter()
                .map(|pattern| selector(pattern))
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
            Source::parse(&text).map(|source| source.rows.len())
        };
        let meta = "# title: a\n# source: b\n# machine: c\n# timed: d";
        assert_eq!(file(meta, "g,l,mean,1,,µs,,"), Ok(1));
        for (meta, row, part) in [
            ("# title: a", "g,l,mean,1,,µs,,", "`source` is missing"),
            (meta, "g,l,mean,x,,µs,,", "not a number"),
            (meta, "g,l,mean,1,,µs", "6 fields"),
            (meta, "g,l,mean,1,,µs,nonsense,", "nonsense"),
            ("# title", "", "no key"),
        ] {
            let error = file(meta, row).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(Source::parse("x,y\n").unwrap_err().contains("heading"));
    }
}
