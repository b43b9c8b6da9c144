//! A run's cases as CSV in the rows and columns of somebody else's table, which a suite
//! lists.

use hopcost_model::Case;
use hopcost_plan::{Export, ExportColumn};
use hopcost_read::results::{CaseResult, CounterResult, Results, Status};
use serde_json::json;

use crate::csv::push_row;
use crate::rows::text;

/// The table as CSV.
///
/// # Errors
/// No case belongs to it, or two belong to one row of it.
pub fn table(export: &Export, results: &Results) -> Result<String, String> {
    let measured = results.results.iter().filter(|case| case.status == Status::Measured);
    let rows = measured.filter_map(|result| Some((key(export, result)?, result)));
    let mut rows: Vec<(Key, &CaseResult)> = rows.collect();
    if rows.is_empty() {
        return Err(format!("no measured case of this run belongs to the table: {}", export.needs));
    }
    rows.sort_by_key(|(key, _)| *key);
    if let Some([(_, one), (_, other)]) = rows.windows(2).find(|two| two[0].0 == two[1].0) {
        let (one, other) = (&one.id, &other.id);
        return Err(format!(
            "two cases of this run would be one row of the table: {one} and {other}"
        ));
    }
    let mut out = String::new();
    push_row(&mut out, export.columns.iter().map(|column| column.name.clone()));
    for ((.., row), result) in rows {
        let parts = json!(result.case);
        let field = |column: &ExportColumn| match (column.of.as_str(), parts.get(&column.of)) {
            ("row", _) => row.to_owned(),
            (_, Some(part)) => text(part),
            (of, None) => {
                let value = value(result, of).filter(|value| value.is_finite());
                let number = |value: f64| format!("{:.*}", column.decimals, value / column.unit);
                value.map_or(String::new(), number)
            }
        };
        push_row(&mut out, export.columns.iter().map(field));
    }
    Ok(out)
}

/// What no two rows have in common, in their order: bytes of a field, flows, and the row's name.
type Key<'e> = (u32, u32, &'e str);

/// That of a case, if it has a row.
fn key<'e>(export: &'e Export, result: &CaseResult) -> Option<Key<'e>> {
    let (case, stream): (Case, _) = (result.id.parse().ok()?, result.stream.as_ref()?);
    let (name, _) = export.rows.iter().find(|(_, cases)| cases.fits(&case))?;
    Some((stream.field_bytes, stream.flows, name))
}

/// The value of a statistic (`mean_ns`), or of an event of both ends (`cycles.both.per-trial`): where
/// it was not counted of both together, the sum, if every end that has the event was counted.
fn value(case: &CaseResult, name: &str) -> Option<f64> {
    let Some((event, per)) = name.split_once(".both.") else {
        let (.., estimate) = case.all_estimates().into_iter().find(|(of, ..)| *of == name)?;
        return estimate.point;
    };
    let counted = |counter: &CounterResult| match per {
        "per-operation" => counter.per_operation,
        "per-byte" => counter.per_byte,
        _ => counter.per_trial,
    };
    let of_event = case.counters.iter().filter(|counter| counter.event == event);
    let (ends, both): (Vec<_>, Vec<_>) = of_event.partition(|counter| counter.role.is_some());
    let sum = ends.iter().map(|counter| counted(counter)).sum::<Option<f64>>();
    both.into_iter().find_map(counted).or(sum.filter(|_| !ends.is_empty()))
}

#[cfg(test)]
mod tests {
    use hopcost_model::Role;

    use super::*;
    use crate::stored;

    fn table(results: &Results) -> Result<String, String> {
        let export = hopcost_plan::shown().iter().find_map(|(_, shown)| shown.export.as_ref());
        super::table(export.unwrap(), results)
    }

    /// A run whose messages were acknowledged with a field.
    fn copies() -> Results {
        let mut results = stored::results("copies");
        for case in &mut results.results {
            case.id = case.id.replace("nodelay=off", "nodelay=off&ack-size=field");
        }
        results
    }

    #[test]
    fn rows_stand_as_published_and_what_was_not_counted_is_empty() {
        let table = table(&copies()).expect("the grid");
        let lines: Vec<&str> = table.lines().collect();
        let head = "impl,msg_size,threads,throughput_gbps,latency_us,cycles,instructions,\
                    cache_misses,context_switches,aggregate_gbps";
        assert_eq!(lines[0], head);
        assert_eq!(lines.len(), 1 + 3 * 4 * 4, "one row a measured case");
        let cells: Vec<Vec<&str>> = lines[1..].iter().map(|l| l.split(',').collect()).collect();
        let keys: Vec<String> = cells[..4].iter().map(|row| row[..3].join(" ")).collect();
        assert_eq!(keys, ["A1 256 1", "A2 256 1", "A3 256 1", "A1 256 2"]);
        for row in &cells {
            assert_eq!(row.len(), 10);
            assert_eq!(row[5..8], ["", "", ""], "no PMU");
            assert!(row[8].parse::<u64>().is_ok_and(|switches| switches > 0), "{row:?}");
            // One message a flow in flight: throughput times latency is its bits, about.
            let (gbps, us): (f64, f64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
            let bits = 8.0 * 8.0 * row[1].parse::<f64>().unwrap();
            let times = gbps * us * 1e3 / bits;
            assert!((0.5..2.0).contains(&times), "{row:?}: {times}");
        }
    }

    #[test]
    fn a_row_is_never_one_of_two_cases() {
        let mut results = copies();
        let is_way = |case: &&CaseResult| case.id.contains("place=free&wait=block&nodelay=off");
        let way = results.results.iter().find(is_way).unwrap().clone();
        let id = way.id.replace("place=free", "place=same-cpu");
        results.results.push(CaseResult { id, ..way });
        assert!(table(&results).unwrap_err().starts_with("two cases"));
        let none = table(&stored::results("quick")).unwrap_err();
        assert!(none.ends_with("ack=per-message and ack-size=field"), "{none}");
    }

    #[test]
    fn both_ends_are_summed_where_both_were_counted() {
        let mut case = stored::results("copies").results.swap_remove(0);
        let like = case.counters[0].clone();
        let of = |role, per_trial| CounterResult {
            event: "cycles".to_owned(),
            role,
            per_trial,
            ..like.clone()
        };
        let (caller, callee) = (Some(Role::Caller), Some(Role::Callee));
        for (counters, sum) in [
            (vec![of(caller, Some(40.0)), of(callee, Some(2.0))], Some(42.0)),
            (vec![of(caller, Some(40.0))], Some(40.0)),
            (vec![of(caller, Some(40.0)), of(callee, None)], None),
            (vec![of(None, Some(7.0))], Some(7.0)),
            (vec![of(caller, Some(40.0)), of(callee, Some(2.0)), of(None, None)], Some(42.0)),
            (Vec::new(), None),
        ] {
            case.counters = counters;
            assert_eq!(value(&case, "cycles.both.per-trial"), sum);
        }
    }
}
