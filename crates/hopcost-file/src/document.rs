//! JSON documents: what is stored reads back the same, and what is read may hold anything.

use hopcost_model::text::escaped;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Cell, Problem};
use crate::limits::{JSON_MAX_BYTES, TEXT_MAX_BYTES};

/// The document of something that was computed.
pub(crate) fn computed<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> Cell<String> {
    let wrong = |why: String| Problem::Value(why);
    let text = serde_json::to_string(value).map_err(|error| wrong(error.to_string()))?;
    if text.len() > JSON_MAX_BYTES {
        return Err(wrong(format!("{} bytes of JSON, more than {JSON_MAX_BYTES}", text.len())));
    }
    // JSON has no word for such a number: `null` stands in its place.
    let back = serde_json::from_str::<T>(&text).ok().filter(|back| back == value);
    let why = "it would read back as something else: a number is not finite";
    back.map(|_| text).ok_or_else(|| wrong(why.to_owned()))
}

/// The document of something that was measured, within the limits of what [`parse`] takes.
pub(crate) fn measured<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> Cell<String> {
    let text = computed(value)?;
    parse::<T>(&text).map_err(Problem::Value)?;
    Ok(text)
}

/// Reads the document of something that was measured. Characters that do not show as themselves
/// are written out. Returns also the number of elements of all its arrays.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<(T, usize), String> {
    let mut value = serde_json::from_str(text).map_err(not_the_json)?;
    let elements = check(&mut value, "").map_err(|why| why.trim_start_matches('.').to_owned())?;
    Ok((serde_json::from_value(value).map_err(not_the_json)?, elements))
}

/// What a stored value is when it is read back; `None` where it would be refused.
pub fn as_read<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    Some(parse(&serde_json::to_string(value).ok()?).ok()?.0)
}

fn not_the_json(error: serde_json::Error) -> String {
    format!("not the JSON it should be ({error})")
}

/// Checks every number and text below a value, and makes the texts show as themselves. An error
/// begins with the way there.
fn check(value: &mut Value, key: &str) -> Result<usize, String> {
    let mut elements = 0;
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            // Random bits fill a seed, the callee's clock may be behind the caller's, and a signal
            // counts as a negative exit code.
            let is_in_range = match key {
                "seed" => number.is_u64(),
                "offset_ticks" | "exit_code" => number.is_i64(),
                _ => match number.as_u64() {
                    Some(whole) => whole <= i64::MAX as u64,
                    None => number.as_f64().is_some_and(|x| (0.0..i64::MAX as f64).contains(&x)),
                },
            };
            if !is_in_range {
                return Err(format!(" is {number}, which is out of range"));
            }
        }
        Value::String(text) => {
            check_length(text)?;
            *text = escaped(text);
        }
        Value::Array(values) => {
            elements += values.len();
            for (at, value) in values.iter_mut().enumerate() {
                elements += check(value, "").map_err(|why| format!("[{at}]{why}"))?;
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                check_length(key)?;
                elements += check(value, key).map_err(|why| format!(".{key}{why}"))?;
            }
            if fields.keys().any(|key| escaped(key) != *key) {
                let named = std::mem::take(fields).into_iter();
                fields.extend(named.map(|(key, value)| (escaped(&key), value)));
            }
        }
    }
    Ok(elements)
}

fn check_length(text: &str) -> Result<(), String> {
    match text.len() {
        0..=TEXT_MAX_BYTES => Ok(()),
        length => Err(format!(" is {length} bytes long, more than {TEXT_MAX_BYTES}")),
    }
}
