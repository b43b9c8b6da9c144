//! The records of a buffer, and the events that they are: pure, so that it is tested with
//! records of kernels that are not at hand.

use std::collections::BTreeMap;

use hopcost_model::{TraceEvent, TraceThread};

use super::Ends;
use super::format::{Field, Tracepoint};

// include/uapi/linux/perf_event.h
const LOST: u32 = 2;
const THROTTLE: u32 = 5;
const SAMPLE: u32 = 9;
/// Type, misc, size.
const HEADER_BYTES: usize = 8;

/// What a record holds besides its time and the tracepoint's data. Each word is written while the
/// message waits: the id of the thread takes an eighth of what an event costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Nothing: the data have the id of the thread that ran, as this process sees it.
    Data,
    /// That id as this process sees it, because the data have it as the first pid namespace does.
    OwnIds,
}

/// A record of a tracepoint, with the sample type of [`super::buffer`].
#[derive(Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The thread that ran, as this process sees it; 0 where it does not. Absent of
    /// [`Layout::Data`].
    pub tid: Option<u32>,
    pub at_ns: u64,
    pub cpu: u32,
    /// The tracepoint's data.
    pub data: &'a [u8],
}

fn number(bytes: &[u8], offset: usize, size: usize) -> Option<u64> {
    Field { offset, size }.read(bytes)
}

/// The records of a CPU's buffer that was never read before, and how many events are missing by
/// what they say.
pub fn samples(
    mut bytes: &[u8],
    cpu: u32,
    layout: Layout,
) -> Result<(Vec<Sample<'_>>, u64), String> {
    let (whole, mut samples, mut lost) = (bytes.len(), Vec::new(), 0u64);
    while !bytes.is_empty() {
        let at = whole - bytes.len();
        let broken = || format!("the kernel's record at byte {at} of a buffer is broken");
        let header = number(bytes, 0, 4).zip(number(bytes, 6, 2));
        let (kind, size) = header.ok_or_else(broken)?;
        let size = size as usize;
        if size < HEADER_BYTES || size > bytes.len() {
            return Err(broken());
        }
        let (record, rest) = bytes.split_at(size);
        let body = &record[HEADER_BYTES..];
        match kind as u32 {
            SAMPLE => samples.push(sample(body, cpu, layout).ok_or_else(broken)?),
            LOST => lost = lost.saturating_add(number(body, 8, 8).ok_or_else(broken)?),
            THROTTLE => lost = lost.saturating_add(1),
            _ => {}
        }
        bytes = rest;
    }
    Ok((samples, lost))
}

/// PERF_SAMPLE_TID, where asked for, TIME and RAW, in the kernel's order.
fn sample(body: &[u8], cpu: u32, layout: Layout) -> Option<Sample<'_>> {
    let (tid, body) = match layout {
        Layout::Data => (None, body),
        Layout::OwnIds => (Some(number(body, 4, 4)? as u32), body.get(8..)?),
    };
    let bytes = number(body, 8, 4)? as usize;
    let data = body.get(12..12usize.checked_add(bytes)?)?;
    Some(Sample { tid, at_ns: number(body, 0, 8)?, cpu, data })
}

/// Whose thread is whose, by the kernel's own ids: a tracepoint's data have those of the first
/// pid namespace, whichever this process is in.
pub struct Whose(BTreeMap<u64, TraceThread>);

impl Whose {
    /// Learns it from records that were made while threads of the ends ran.
    pub fn of<'a>(
        samples: impl Iterator<Item = &'a Sample<'a>>,
        ends: &Ends,
        tracepoints: &[Tracepoint],
    ) -> Self {
        let mut found = BTreeMap::from([(0, TraceThread::Idle)]);
        for sample in samples {
            let id = of(sample, tracepoints).and_then(|one| one.thread.read(sample.data));
            let Some(id) = id else { continue };
            let whose = match sample.tid.unwrap_or(id as u32) {
                tid if ends.caller.contains(&tid) => TraceThread::Caller,
                tid if ends.callee.contains(&tid) => TraceThread::Callee,
                _ => continue,
            };
            found.insert(id, whose);
        }
        Self(found)
    }

    /// Whose it is.
    fn is(&self, id: u64) -> TraceThread {
        self.0.get(&id).copied().unwrap_or(TraceThread::Other(id as u32))
    }
}

/// The tracepoint that a record is of: its data begin with the number.
fn of<'t>(sample: &Sample<'_>, tracepoints: &'t [Tracepoint]) -> Option<&'t Tracepoint> {
    let id = number(sample.data, 0, 2)?;
    tracepoints.iter().find(|one| u64::from(one.id) == id)
}

/// The event that a record is.
pub fn event(
    sample: &Sample<'_>,
    tracepoints: &[Tracepoint],
    whose: &Whose,
) -> Result<TraceEvent, String> {
    let one = of(sample, tracepoints).ok_or("the kernel's record is of no known tracepoint")?;
    let read = |field: &Field| field.read(sample.data);
    let values = one.fields.iter().map(read).collect::<Option<Vec<u64>>>();
    let all = values.zip(one.thread.read(sample.data));
    let (values, thread) =
        all.ok_or_else(|| format!("{}: a record is shorter than its format", one.source.name))?;
    Ok(TraceEvent {
        at_ns: sample.at_ns,
        cpu: sample.cpu,
        thread: whose.is(thread),
        kind: (one.source.kind)(&values, &|id| whose.is(id)),
    })
}
