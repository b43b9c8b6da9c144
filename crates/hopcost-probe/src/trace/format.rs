//! Where a tracepoint's fields lie, as the kernel tells it in the file `format`.

use super::event::Source;
use crate::perf::tracefs::{self, Tracefs};

/// A number in a tracepoint's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Where it begins.
    pub offset: usize,
    /// Its bytes: 1, 2, 4 or 8.
    pub size: usize,
}

/// A tracepoint that this kernel has.
pub struct Tracepoint {
    /// Its number, by which its data begin.
    pub id: u16,
    /// The thread that ran.
    pub thread: Field,
    /// The fields of its source, in that order.
    pub fields: Vec<Field>,
    /// What is made of it.
    pub source: &'static Source,
}

impl Tracepoint {
    /// Looks for it in the running kernel; an error is why it has none.
    pub fn of(source: &'static Source, tracefs: &Tracefs) -> Result<Self, String> {
        let read = |file| tracefs.read(source.name, file);
        let text = read("id").and_then(|id| Ok((id, read("format")?)));
        let (id, format) = text.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("{}: this kernel has no such tracepoint", source.name)
            }
            _ => format!("{}: {error}", source.name),
        })?;
        Self::parse(source, &id, &format).map_err(|why| format!("{}: {why}", source.name))
    }

    /// The same from the text of its two files.
    pub fn parse(source: &'static Source, id: &str, format: &str) -> Result<Self, String> {
        let wide = tracefs::id(id)?;
        let id = u16::try_from(wide).map_err(|_| format!("its number {wide} is out of range"))?;
        let find = |name: &str| {
            let found = format.lines().find_map(|line| field(line, name));
            found.ok_or_else(|| format!("its format has no number `{name}`"))
        };
        let fields = source.fields.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
        Ok(Self { id, thread: find("common_pid")?, fields, source })
    }
}

/// A line of a format, if it is of this field and says that it is a number:
/// `field:pid_t prev_pid; offset:24; size:4; signed:1;`.
fn field(line: &str, name: &str) -> Option<Field> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    if declared.split_whitespace().last()? != name {
        return None;
    }
    let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
    let size = parts.next()?.strip_prefix("size:")?.parse().ok()?;
    matches!(size, 1 | 2 | 4 | 8).then_some(Field { offset, size })
}

impl Field {
    /// Its value in a tracepoint's data, without its sign; `None` where they are too short.
    pub fn read(self, data: &[u8]) -> Option<u64> {
        let bytes = data.get(self.offset..self.offset.checked_add(self.size)?)?;
        let mut wide = [0; 8];
        wide[..self.size].copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }
}
