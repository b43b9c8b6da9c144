//! Columns for people, made of the fields of a type: the key of a field is its heading and has its
//! unit, and its type decides how its values are written.

use hopcost_model::Document;
use hopcost_read::results::{Estimate, Ratio, Segment};
use serde::de::DeserializeOwned;
use serde_json::{Number, Value as Json};

use super::model::{Block, Cell, Column, Interval, Rows, Scale, Unit, estimates, numbers, words};
use crate::number;
use crate::rows::{Leaf, bare, leaves, text, value};

/// Types that a column shows as a whole.
const WHOLE: [&str; 3] = ["Estimate", "Ratio", "Segment"];
/// Words of a key that say in which unit its values are: these have it beside them.
const UNITS: [&str; 4] = ["ns", "bytes", "gbps", "n"];

/// A table with a row for each of these.
pub(crate) fn table<D: Document>(rows: &[D]) -> Block {
    Rows::of(rows).fields("", Some).table()
}

/// What is known of one thing and is not 0, but for the fields of these keys, with blanks between them.
pub(crate) fn facts_of<D: Document>(of: &D, without: &str) -> Vec<(String, Cell)> {
    let row = value(of);
    let known = shown::<D>(without).into_iter().map(|leaf| (head(&leaf), cell(&leaf, &row)));
    known.filter(|(_, cell)| !cell.is_empty() && cell.key != Some(0.0)).collect()
}

impl<'a, T> Rows<'a, T> {
    /// Adds a column for each field of a type, but for those of these keys, and for those that are
    /// 0 in every row. Of columns without room the last goes first.
    pub fn fields<D: Document + 'a>(
        mut self,
        without: &str,
        of: impl Fn(&'a T) -> Option<&'a D>,
    ) -> Self {
        let rows: Vec<Json> =
            self.items.iter().map(|item| of(item).map_or(Json::Null, value)).collect();
        let is_zero = |row: &Json, leaf: &Leaf| leaf.of(row).and_then(Json::as_f64) == Some(0.0);
        for leaf in shown::<D>(without) {
            if !rows.iter().all(|row| is_zero(row, &leaf)) {
                let fold = u8::try_from(self.table.columns.len()).unwrap_or(u8::MAX);
                let cells = rows.iter().map(|row| cell(&leaf, row));
                self.table.push(column(&leaf).fold(fold), cells.collect());
            }
        }
        self
    }
}

fn shown<D: Document>(without: &str) -> Vec<Leaf> {
    let all = leaves(D::FIELDS, &WHOLE).into_iter();
    all.filter(|leaf| !without.split(' ').any(|key| key == leaf.path[0])).collect()
}

fn column(leaf: &Leaf) -> Column {
    let head = head(leaf);
    match bare(leaf.field.kind) {
        "Estimate" | "Ratio" => estimates(&head),
        "f64" | "u32" | "u64" | "Rate" => numbers(&head),
        _ => words(&head),
    }
}

/// `CPU per message` of `cpu_ns_per_message`.
fn head(leaf: &Leaf) -> String {
    let words = leaf.path.iter().flat_map(|key| key.split('_'));
    let words = words.filter(|word| !UNITS.contains(word)).map(|word| match word {
        "cpu" => "CPU",
        "cpus" => "CPUs",
        "p999" => "p99.9",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn cell(leaf: &Leaf, row: &Json) -> Cell {
    let key = leaf.field.key;
    let Some(value) = leaf.of(row) else { return Cell::none() };
    match (value, bare(leaf.field.kind)) {
        (Json::Null | Json::Bool(false), _) => Cell::none(),
        (Json::Bool(true), _) => Cell::text("yes"),
        (Json::Number(number), _) => of_number(key, number),
        (Json::String(id), _) if key == "case" => Cell::code(id),
        (Json::String(text), _) => Cell::text(text),
        (_, "Estimate") => Cell::estimate(read::<Estimate>(value).as_ref(), scale(key)),
        (_, "Ratio") => Cell::ratio(read::<Ratio>(value).as_ref(), "", Interval::Told),
        (_, "Segment") => {
            Cell::text(read::<Segment>(value).map_or(String::new(), |of| of.to_string()))
        }
        (Json::Array(all), _) => Cell::text(all.iter().map(text).collect::<Vec<_>>().join(", ")),
        (Json::Object(all), _) => {
            let pairs = all.iter().map(|(key, value)| format!("{key} {}", text(value)));
            Cell::text(pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn read<T: DeserializeOwned>(value: &Json) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

fn of_number(key: &str, number: &Number) -> Cell {
    let is = |unit: &str| key.split('_').any(|word| word == unit);
    match (number.as_u64(), number.as_f64()) {
        (Some(whole), _) if is("ns") => Cell::number(whole as f64, Unit::Exact),
        (Some(whole), _) if is("bytes") => {
            let bytes = u32::try_from(whole).unwrap_or(u32::MAX);
            Cell::worded(number::bytes(bytes), whole as f64)
        }
        (Some(whole), _) => Cell::whole(whole),
        (None, value) if is("ns") => Cell::maybe(value, Unit::Time(3)),
        (None, value) if is("share") => Cell::maybe(value, Unit::Share),
        (None, value) => Cell::maybe(value, Unit::Plain(3)),
    }
}

/// The unit of an estimate; times where its key names none.
fn scale(key: &str) -> Scale {
    match key.split('_').next_back() {
        Some("gbps") => Scale::Named("Gbit/s"),
        Some("s") => Scale::Power(0),
        _ => Scale::Difference,
    }
}
