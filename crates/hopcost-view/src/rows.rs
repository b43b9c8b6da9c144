//! What rows are made of.

use hopcost_model::{Build, Document, Field, Reference, RunAbout, TrialShape};
use hopcost_read::results::{
    AdviceRequest, Along, ComparedFleets, Contrast, Estimate, LoadQuantiles, Quiet, Ratio, Region,
    Segment,
};
use serde::Serialize;
use serde_json::Value;

/// What of an estimate stands in a row about something else.
const OF_ESTIMATE: [&str; 5] = ["point", "low", "high", "n_trials", "quiet"];

/// A column: the field that it is, and the keys that lead to it.
#[derive(Debug, Clone)]
pub struct Leaf {
    pub path: Vec<&'static str>,
    pub field: Field,
}

impl Leaf {
    /// Its value in a row.
    pub fn of<'v>(&self, row: &'v Value) -> Option<&'v Value> {
        self.path.iter().try_fold(row, |of, key| of.get(key))
    }
}

/// The columns of fields and of the fields of which these are made, but for types that one column
/// shows as a `whole`.
pub fn leaves(fields: &[Field], whole: &[&str]) -> Vec<Leaf> {
    let of = |field: &Field| match parts(field.kind).filter(|_| !whole.contains(&bare(field.kind)))
    {
        None => vec![Leaf { path: vec![field.key], field: *field }],
        Some(parts) => {
            let mut leaves = leaves(&parts, whole);
            leaves.iter_mut().for_each(|leaf| leaf.path.insert(0, field.key));
            leaves
        }
    };
    fields.iter().flat_map(of).collect()
}

/// A type without its `Option`.
pub fn bare(kind: &str) -> &str {
    kind.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>')).unwrap_or(kind)
}

/// The fields of which a field of this type is made: none where it has a table of its own, `None`
/// where it is one column.
fn parts(kind: &str) -> Option<Vec<Field>> {
    let kind = bare(kind);
    if let Some(of) = kind.strip_prefix("Vec<") {
        let is_list = ["String>", "u32>", "f64>", "Across>"].contains(&of);
        return (!is_list).then(Vec::new);
    }
    let fields = match kind {
        "Estimate" => {
            let fields = Estimate::FIELDS.iter().copied();
            return Some(fields.filter(|field| OF_ESTIMATE.contains(&field.key)).collect());
        }
        "AdviceRequest" => AdviceRequest::FIELDS,
        "Along" => Along::FIELDS,
        "Build" => Build::FIELDS,
        "ComparedFleets" => ComparedFleets::FIELDS,
        "Contrast" => Contrast::FIELDS,
        "LoadQuantiles" => LoadQuantiles::FIELDS,
        "Quiet" => Quiet::FIELDS,
        "Ratio" => Ratio::FIELDS,
        "Reference" => Reference::FIELDS,
        "Region" => Region::FIELDS,
        "RunAbout" => RunAbout::FIELDS,
        "Segment" => Segment::FIELDS,
        "TrialShape" => TrialShape::FIELDS,
        "Box<Compared>" | "CaseParts" | "Compared" | "Estimates" | "Host" | "LoadResult"
        | "PublishedLayout" | "StreamResult" | "WakeResult" => &[],
        _ => return None,
    };
    Some(fields.to_vec())
}

/// What serde writes of something whose keys are texts, which cannot fail.
pub fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// A value as a field of CSV: what is several is joined by `;`.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float.to_string(),
            None => number.to_string(),
        },
        Value::Bool(is) => is.to_string(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(";"),
        Value::Object(all) => {
            let pairs = all.iter().map(|(key, value)| format!("{key}={}", text(value)));
            pairs.collect::<Vec<_>>().join(";")
        }
    }
}
