//! The axis along which two cases are compared, and the values on it.

use hopcost_model::axis::{Axis, Kind};

use crate::asked::read_all;
use crate::error::{Origin, PlanError, unknown};

/// Significant bits of a value between two others.
const BITS: u32 = 3;

/// Reads `payload=64..1MiB` or `flows=1,2,8`: the axis and its values, ascending.
///
/// # Errors
/// An unknown axis, or values that it does not have.
pub fn along(text: &str) -> Result<(&'static Axis, Vec<u64>), PlanError> {
    let origin = Origin::option("--along");
    let (key, list) = text.split_once('=').unwrap_or((text, ""));
    let is_number = |axis: &&Axis| {
        matches!(
            axis.kind,
            Kind::Bytes { .. } | Kind::Count { .. } | Kind::Rate { .. } | Kind::Time { .. }
        )
    };
    let axes: Vec<&Axis> = hopcost_model::axis::AXES.iter().filter(is_number).collect();
    let Some(axis) = axes.iter().find(|axis| axis.key == key) else {
        let keys: Vec<&str> = axes.iter().map(|axis| axis.key).collect();
        return Err(origin.error(unknown("axis of numbers", key, &keys)));
    };
    let mut values = Vec::new();
    for text in list.split(',').filter(|text| !text.is_empty()) {
        let read = read_all(axis, text.trim()).map_err(|why| origin.error(why))?;
        values.extend(read.iter().filter_map(|value| value.number::<u64>()));
    }
    values.retain(|value| *value > 0);
    values.sort_unstable();
    values.dedup();
    Ok((axis, values))
}

/// A round value near `middle` that lies between two others; `None` where there is none.
pub fn between(middle: f64, values: &[u64]) -> Option<u64> {
    let exact = middle as u64;
    let cut = (u64::BITS - exact.leading_zeros()).saturating_sub(BITS);
    let value = exact >> cut << cut;
    (value > 0 && !values.contains(&value)).then_some(value)
}

/// A value as a selector has it.
pub fn spelled(axis: &Axis, value: u64) -> String {
    match axis.kind {
        Kind::Time { .. } => format!("{}={value}ns", axis.key),
        _ => format!("{}={value}", axis.key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_the_values_of_a_range_or_of_a_list() {
        let of = |text: &str| along(text).map(|(axis, values)| (axis.key, values));
        let sizes = vec![64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20];
        assert_eq!(of("payload=64..1MiB").unwrap(), ("payload", sizes));
        assert_eq!(of("flows=8,1,2,8").unwrap(), ("flows", vec![1, 2, 8]));
        assert_eq!(of("gap=1us..1ms").unwrap().1, [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(of("rate").unwrap(), ("rate", vec![]));
        for (text, why) in [
            ("nodelay=on", "unknown axis of numbers"),
            ("payload=4KiB..64", "does not rise"),
            ("payload=x", "--along"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_value_between_two_is_round() {
        assert_eq!(between(8192.0, &[4096, 16_384]), Some(8192));
        assert_eq!(between(11_585.2, &[8192, 16_384]), Some(10_240));
        assert_eq!(between(1.4, &[1, 2]), None);
        assert_eq!(spelled(Axis::of_key("gap").unwrap(), 1500), "gap=1500ns");
    }
}
