//! What rows are made of.

use hopcost_model::plan::TrialShape;
use hopcost_model::raw::{Build, Reference, RunAbout};
use hopcost_model::results::{
    AdviceRequest, Along, ComparedFleets, Contrast, Estimate, LoadKnee, LoadQuantiles, Quiet,
    Ratio, Region, Segment, SlowHops, TouchCost,
};
use hopcost_model::{Document, Field};
use serde::Serialize;
use serde_json::Value;

/// What of an estimate stands in a row about something else.
const OF_ESTIMATE: [&str; 5] = ["point", "low", "high", "n_trials", "quiet"];

/// The fields of which a field of this type is made: none where it has a table of its own, `None`
/// where it is one column.
pub fn parts(kind: &str) -> Option<Vec<Field>> {
    let is_optional = kind.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>'));
    let kind = is_optional.unwrap_or(kind);
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
        "LoadKnee" => LoadKnee::FIELDS,
        "LoadQuantiles" => LoadQuantiles::FIELDS,
        "Quiet" => Quiet::FIELDS,
        "Ratio" => Ratio::FIELDS,
        "Reference" => Reference::FIELDS,
        "Region" => Region::FIELDS,
        "RunAbout" => RunAbout::FIELDS,
        "Segment" => Segment::FIELDS,
        "SlowHops" => SlowHops::FIELDS,
        "TouchCost" => TouchCost::FIELDS,
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

/// A column that no type has: a key, or what a row belongs to.
pub const fn field(key: &'static str, help: &'static str) -> Field {
    Field { key, kind: "String", help }
}
