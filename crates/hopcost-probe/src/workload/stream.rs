//! `stream`: messages of several fields, one way, as many as the phase is to have or
//! until its time is up.
//!
//! A phase begins with a lead-in message and ends with an end marker of the same
//! size. Both are acknowledged whatever the case says and neither is counted:
//! the first keeps the two ends' different starting times out of the phase, the
//! second tells the receiver that it is over.

use std::io;

use hopcost_model::{Ack, Case, PhaseSpec, Role, Stamp};

use super::phase::{Endpoint, Stamped};
use crate::clock::{Clock, Hardware, rough_ticks};
use crate::party::{Touched, fill_low_bytes, fill_words, first_word};
use crate::shape::{Attaching, Half};
use crate::stream::{FIELDS_MAX, Sink, Source};
use crate::sys::{self, ensure};

/// The sequence number of the end marker.
pub const END: u64 = u64::MAX;

/// What a flow is made of.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// What its messages are.
    pub touched: Touched,
    /// Messages that may be unacknowledged; `None` where none is acknowledged.
    pub window: Option<u64>,
}

/// What a phase is to be, to one end.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Sequence number of the lead-in message.
    pub first: u64,
    /// Messages at most.
    pub count: u64,
    /// Ticks after which the sender sends no further message.
    pub cap_ticks: Option<u64>,
}

/// Writes a part of message `sequence` that begins at this byte of it, so that
/// the whole is what [`crate::party::fill`] would have written at once.
#[inline(always)]
pub fn fill_part(part: &mut [u8], sequence: u64, offset: usize) {
    let word = first_word(sequence).wrapping_add(offset as u64 / 8);
    let skipped = offset % 8;
    if skipped == 0 {
        fill_words(part, word);
    } else {
        let (head, rest) = part.split_at_mut((8 - skipped).min(part.len()));
        fill_low_bytes(head, word >> (8 * skipped));
        fill_words(rest, word.wrapping_add(1));
    }
}

#[inline(always)]
fn fill<M: Source>(stream: &mut M, flow: &Flow, sequence: u64) -> io::Result<()> {
    stream.claim()?;
    let mut offset = 0;
    stream.fields().each(|field| {
        fill_part(flow.touched.to_write(field, offset), sequence, offset);
        offset += field.len();
    });
    Ok(())
}

#[inline(always)]
fn expect_acknowledgement<M: Source>(stream: &mut M, sequence: u64) -> io::Result<()> {
    let other = stream.acknowledged()?;
    ensure!(other == sequence, "message {sequence} was to be acknowledged, and {other} was");
    Ok(())
}

/// When the messages were sent whose acknowledgements are due.
pub(super) struct Starts<'a> {
    /// As many as a window has messages, taken in turn.
    pub(super) stamps: &'a mut [u64],
    next: usize,
    oldest: usize,
}

impl<'a> Starts<'a> {
    /// None is due; there is room for those of a window.
    pub(super) fn new(stamps: &'a mut [u64]) -> Self {
        Self { stamps, next: 0, oldest: 0 }
    }
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 < self.stamps.len() { at + 1 } else { 0 }
    }
    #[inline(always)]
    pub(super) fn push(&mut self, start: u64) {
        if let Some(stamp) = self.stamps.get_mut(self.next) {
            *stamp = start;
        }
        self.next = self.after(self.next);
    }
    #[inline(always)]
    pub(super) fn pop(&mut self) -> u64 {
        let start = self.stamps.get(self.oldest).copied().unwrap_or_default();
        self.oldest = self.after(self.oldest);
        start
    }
}

/// The sender's loop. A message is stamped after its fields are written, just
/// before the first call that sends it, and again when its acknowledgement has
/// been read. An acknowledgement is waited for as soon as the window is full and
/// not looked at before; those still due when the phase ends are collected then.
/// `stamps` has room for a window's.
#[inline(never)]
pub fn sender<M: Source, C: Clock>(
    stream: &mut M,
    flow: &Flow,
    part: &Part,
    stamps: &mut [u64],
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut starts = Starts::new(stamps);
    fill(stream, flow, part.first)?;
    stream.send()?;
    expect_acknowledgement(stream, part.first)?;
    // What is completed from here on is of messages that count.
    stream.settle()?;

    let mut seen = Stamped::default();
    let (mut last, mut cpu_before) = (0, None);
    while seen.count < part.count {
        let sequence = part.first + 1 + seen.count;
        fill(stream, flow, sequence)?;
        let (start, cpu) = C::stamp();
        if seen.count == 0 {
            seen.first_tick = start;
        } else if part.cap_ticks.is_some_and(|cap| start.wrapping_sub(seen.first_tick) >= cap) {
            break;
        }
        seen.cpu_changes += u64::from(cpu_before.replace(cpu).is_some_and(|before| before != cpu));
        stream.send()?;
        match flow.window {
            None => last = C::stamp().0,
            Some(window) => {
                starts.push(start);
                if seen.count + 1 - seen.samples == window {
                    last = collect::<M, C>(stream, part, &mut starts, &mut seen, out)?;
                }
            }
        }
        seen.count += 1;
    }
    while flow.window.is_some() && seen.samples < seen.count {
        last = collect::<M, C>(stream, part, &mut starts, &mut seen, out)?;
    }
    seen.elapsed_ticks = if seen.count > 0 { last.wrapping_sub(seen.first_tick) } else { 0 };
    seen.bytes = seen.count * flow.touched.payload as u64;
    seen.zero_copy = stream.settle()?;

    fill(stream, flow, END)?;
    stream.send()?;
    expect_acknowledgement(stream, END)?;
    Ok(seen)
}

/// Waits for the oldest acknowledgement that is due; when it came.
#[inline(always)]
fn collect<M: Source, C: Clock>(
    stream: &mut M,
    part: &Part,
    starts: &mut Starts<'_>,
    seen: &mut Stamped,
    out: &mut [u64],
) -> io::Result<u64> {
    expect_acknowledgement(stream, part.first + 1 + seen.samples)?;
    let (now, _) = C::stamp();
    seen.note(now.wrapping_sub(starts.pop()), out);
    Ok(now)
}

/// The receiver's loop: every message is compared with what was to come, as far as the case
/// says, and acknowledged when it has been. It counts from when the lead-in message was
/// complete until the last message was.
#[inline(never)]
pub fn receiver<M: Sink, C: Clock>(
    stream: &mut M,
    flow: &Flow,
    part: &Part,
) -> io::Result<Stamped> {
    let mut seen = Stamped::default();
    let touched = flow.touched;
    let is = |message: &[u8], sequence| touched.is(message, touched.first_word(sequence));

    let whole = is(stream.receive()?, part.first);
    let (first_tick, mut cpu_before) = C::stamp();
    let mut before = first_tick;
    if !whole {
        return Err(corrupted(part.first));
    }
    stream.acknowledge(part.first)?;
    seen.first_tick = first_tick;
    loop {
        let expected = part.first + 1 + seen.count;
        let message = stream.receive()?;
        let (now, cpu) = C::stamp();
        if is(message, expected) {
            ensure!(seen.count != part.count, "more messages came than were ordered");
            seen.count += 1;
            seen.elapsed_ticks = now.wrapping_sub(first_tick);
            seen.max_ticks = seen.max_ticks.max(now.wrapping_sub(before));
            seen.cpu_changes += u64::from(cpu != cpu_before);
            (before, cpu_before) = (now, cpu);
            if flow.window.is_some() {
                stream.acknowledge(expected)?;
            }
        } else if is(message, END) {
            stream.acknowledge(END)?;
            seen.bytes = seen.count * touched.payload as u64;
            return Ok(seen);
        } else {
            return Err(corrupted(expected));
        }
    }
}

#[cold]
fn corrupted(sequence: u64) -> io::Error {
    sys::failure(format!("message {sequence} did not arrive as it was sent"))
}

/// The shortest message: it holds its sequence number.
const PAYLOAD_MIN: usize = 8;

/// What a case's flows are made of, or why it is no stream.
pub fn flow_of(case: &Case) -> io::Result<Flow> {
    let payload = case.payload_bytes.unwrap_or(0) as usize;
    let fields = case.fields.unwrap_or(1) as usize;
    let is_whole = (1..=FIELDS_MAX).contains(&fields);
    ensure!(is_whole, "a message has between 1 and {FIELDS_MAX} fields");
    ensure!(
        payload >= PAYLOAD_MIN && payload.is_multiple_of(fields),
        "{fields} fields cannot share {payload} bytes: a message has at least {PAYLOAD_MIN} bytes, \
         and its fields the same length"
    );
    let window = case.ack.unwrap_or(Ack::PerMessage).window();
    Ok(Flow { touched: Touched::of(case), window })
}

/// Attaches one end.
pub fn end<Out: Source, In: Sink>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let flow = flow_of(attaching.case)?;
    // Calibrated here, so that no phase has to wait for it.
    rough_ticks(0);
    Ok(match attaching.role {
        Role::Caller => {
            let mut source = Out::attach(half, attaching)?;
            let mut stamps = vec![0; flow.window.unwrap_or(1) as usize];
            numbered(move |part, out| {
                sender::<_, Hardware>(&mut source, &flow, part, &mut stamps, out)
            })
        }
        Role::Callee => {
            let mut sink = In::attach(half, attaching)?;
            numbered(move |part, _| receiver::<_, Hardware>(&mut sink, &flow, part))
        }
    })
}

/// An end whose messages are numbered through the whole trial; the same at both, because both count.
fn numbered(
    mut run: impl FnMut(&Part, &mut [u64]) -> io::Result<Stamped> + 'static,
) -> Box<dyn Endpoint> {
    let mut sequence = 1;
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        ensure!(spec.stamp == Stamp::Each, "a stream is stamped message by message");
        let cap_ticks = spec.cap_ns.map(rough_ticks);
        let seen = run(&Part { first: sequence, count: spec.count, cap_ticks }, out)?;
        sequence += 1 + seen.count;
        Ok(seen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::party::verify_words;
    use crate::transport::peer_closed;

    #[test]
    fn fields_of_any_length_make_the_message_that_one_buffer_would() {
        for (fields, field_bytes) in
            [(1, 8), (8, 1), (3, 5), (8, 8), (7, 13), (5, 64), (3, 100), (2, 4096)]
        {
            let mut message = vec![0; fields * field_bytes];
            for (at, field) in message.chunks_exact_mut(field_bytes).enumerate() {
                fill_part(field, 41, at * field_bytes);
            }
            assert!(
                verify_words(&message, first_word(41)),
                "{fields} fields of {field_bytes} bytes"
            );
            assert!(!verify_words(&message, first_word(42)));
            assert!(!verify_words(&message, first_word(END)));
        }
    }

    /// A receiver of these messages, the last of which it lends.
    struct Given(std::vec::IntoIter<Vec<u8>>, Vec<u8>);

    impl Sink for Given {
        fn attach(_: Half, _: &Attaching<'_>) -> io::Result<Self> {
            Err(peer_closed())
        }
        fn receive(&mut self) -> io::Result<&[u8]> {
            self.1 = self.0.next().ok_or_else(peer_closed)?;
            Ok(&self.1)
        }
        fn acknowledge(&mut self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_a_message_was_not_sent_as_is_caught_as_far_as_it_is_compared() {
        let part = Part { first: 1, count: 3, cap_ticks: None };
        let sent = [1, 2, 3, 4, END].map(|sequence| {
            let mut message = vec![0; 24];
            fill_part(&mut message, sequence, 0);
            message
        });
        for (touch, compared) in [("verify", 24), ("write", 8), ("none", 8)] {
            let id = format!(
                "stream/tcp-sendmsg?payload=24&fields=3&flows=1&ack=window:2&boundary=thread\
                 &place=free&wait=block&touch={touch}"
            );
            let flow = flow_of(&id.parse().unwrap()).unwrap();
            let received = |at: usize, tamper: &dyn Fn(&mut Vec<u8>)| {
                let mut messages = Vec::from(sent.clone());
                tamper(&mut messages[at]);
                let mut given = Given(messages.into_iter(), Vec::new());
                receiver::<_, Hardware>(&mut given, &flow, &part).map(|seen| seen.count)
            };
            for at in 0..sent.len() {
                for byte in 0..24 {
                    let flipped = received(at, &|message| message[byte] ^= 0x10);
                    assert_eq!(flipped.is_ok(), byte >= compared, "{touch}: {byte} of {at}");
                }
                assert_eq!(received(at, &|_| ()).unwrap(), 3);
                let said = received(at, &|message| message.truncate(23)).unwrap_err().to_string();
                assert!(said.contains("did not arrive as it was sent"), "{said}");
                let again = |message: &mut Vec<u8>| message.clone_from(&sent[at.max(1) - 1]);
                assert_eq!(received(at, &again).is_ok(), at == 0, "the one before comes again");
            }
        }
    }
}
