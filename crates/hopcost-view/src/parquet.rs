//! The rows of a fleet's table as Parquet: the columns of its CSV, numbers as numbers.

use std::sync::Arc;

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::FleetReport;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::fleet::{COLUMNS, Field, rows};

/// Rows that are held before they are written.
const ROWS_AT_ONCE: usize = 100_000;

/// Values of a column, and for each row whether it has one.
enum Values {
    Texts(Vec<ByteArray>, Vec<i16>),
    Numbers(Vec<f64>, Vec<i16>),
}

impl Values {
    fn of(field: Field) -> Self {
        match field {
            Field::Text(_) => Values::Texts(Vec::new(), Vec::new()),
            Field::Number(_) => Values::Numbers(Vec::new(), Vec::new()),
        }
    }
}

/// The table as one file.
///
/// # Errors
/// What the writer reports.
pub fn fleet(found: &FleetReport, raw: &RawFleet) -> Result<Vec<u8>> {
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema()?, properties)?;
    let mut held: Vec<Values> = COLUMNS.iter().map(|(_, field)| Values::of(*field)).collect();
    let mut n = 0;
    rows(found, raw, &mut |row| {
        for ((_, field), values) in COLUMNS.iter().zip(&mut held) {
            match (field, values) {
                (Field::Text(text), Values::Texts(texts, has)) => {
                    let text = text(row);
                    has.push(i16::from(text.is_some()));
                    texts.extend(text.map(|text| ByteArray::from(text.into_bytes())));
                }
                (Field::Number(number), Values::Numbers(numbers, has)) => {
                    let number = number(row).filter(|number| number.is_finite());
                    has.push(i16::from(number.is_some()));
                    numbers.extend(number);
                }
                _ => return Err(ParquetError::General("a column of another type".to_owned())),
            }
        }
        n += 1;
        if n % ROWS_AT_ONCE == 0 { write(&mut writer, &mut held) } else { Ok(()) }
    })?;
    write(&mut writer, &mut held)?;
    writer.into_inner()
}

fn schema() -> Result<TypePtr> {
    let column = |(name, field): &(&str, Field)| {
        let (physical, logical) = match field {
            Field::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Field::Number(_) => (Physical::DOUBLE, None),
        };
        let column = Type::primitive_type_builder(name, physical);
        let column = column.with_logical_type(logical).with_repetition(Repetition::OPTIONAL);
        column.build().map(Arc::new)
    };
    let columns = COLUMNS.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("fleet").with_fields(columns).build()?))
}

/// Writes what is held as a row group.
fn write(writer: &mut SerializedFileWriter<Vec<u8>>, held: &mut [Values]) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for values in held {
        let Some(mut column) = group.next_column()? else { break };
        match values {
            Values::Texts(texts, has) => {
                column.typed::<ByteArrayType>().write_batch(texts, Some(has), None)?;
                texts.clear();
                has.clear();
            }
            Values::Numbers(numbers, has) => {
                column.typed::<DoubleType>().write_batch(numbers, Some(has), None)?;
                numbers.clear();
                has.clear();
            }
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}
