//! How large the messages of a case are, and of how many fields: the one axis
//! whose values depend on the workload.

use hopcost_model::case::Workload;
use hopcost_model::mechanism::{Facts, Payload};

use crate::axes::Axes;

/// Fields of a stream's message where nothing is said.
pub const FIELDS_DEFAULT: u32 = 8;

/// A message of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// Its bytes; `None` where the mechanism carries none.
    pub payload_bytes: Option<u32>,
    /// Its fields; `None` for other workloads than `stream`.
    pub fields: Option<u32>,
}

/// The messages asked for, or what is meant where nothing was.
pub(crate) fn messages(facts: &Facts, workload: Workload, axes: &Axes) -> Vec<Message> {
    let whole = |payload_bytes| Message { payload_bytes, fields: None };
    match (facts.payload, workload) {
        (_, Workload::Stream) => streamed(facts, axes),
        (Payload::None, _) => vec![whole(None)],
        (Payload::Bytes { min, default, .. }, _) => match &axes.payload {
            Some(said) => said.iter().map(|bytes| whole(Some(*bytes))).collect(),
            // A wake-up carries no more than it must.
            None if workload == Workload::Wake => vec![whole(Some(min))],
            None => vec![whole(Some(default))],
        },
    }
}

fn streamed(facts: &Facts, axes: &Axes) -> Vec<Message> {
    let mut messages = Vec::new();
    for &fields in axes.fields.as_deref().unwrap_or(&[FIELDS_DEFAULT]) {
        let mut push = |payload_bytes| {
            messages.push(Message { payload_bytes, fields: Some(fields) });
        };
        match (facts.payload, &axes.field, &axes.payload) {
            (Payload::None, ..) => push(None),
            (_, Some(said), _) => {
                said.iter().for_each(|field| push(Some(field.saturating_mul(fields))));
            }
            (_, None, Some(said)) => said.iter().for_each(|bytes| push(Some(*bytes))),
            (Payload::Bytes { default, .. }, None, None) => {
                push(Some((default / fields).max(1).saturating_mul(fields)));
            }
        }
    }
    messages
}

/// Why a message does not divide into its fields.
pub(crate) fn uneven(message: Message) -> Option<String> {
    let (payload, fields) = (message.payload_bytes?, message.fields?);
    (payload < fields || payload % fields != 0).then(|| {
        format!(
            "payload {payload} does not divide into fields {fields}; make it a multiple, or give \
             `field`, the bytes of one field"
        )
    })
}

/// A combination that makes no message, of what was asked for in so many words.
pub(crate) fn mistake(axes: &Axes) -> Option<String> {
    let default = [FIELDS_DEFAULT];
    let mut fields = axes.fields.as_deref().unwrap_or(&default).iter().copied();
    match (&axes.field, &axes.payload) {
        (Some(sizes), _) => fields.find_map(|n| {
            let field = sizes.iter().find(|field| field.checked_mul(n).is_none())?;
            Some(format!(
                "fields {n} of {field} bytes are over the {} bytes that any message may have",
                u32::MAX
            ))
        }),
        (None, Some(payloads)) => fields.find_map(|n| {
            let message = |bytes: &u32| Message { payload_bytes: Some(*bytes), fields: Some(n) };
            payloads.iter().find_map(|bytes| uneven(message(bytes)))
        }),
        (None, None) => None,
    }
}
