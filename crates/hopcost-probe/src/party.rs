//! One end of an exchange, whatever the shape underneath: what the workloads
//! are written over. The payload is really written and really read, everywhere
//! in the same way.

use std::io;
use std::marker::PhantomData;

use hopcost_model::{Case, Touch, Workload};

use crate::shape::{Attaching, Channel, Delivery};
use crate::sys;
use crate::transport::peer_closed;
use crate::wait::Wait;

/// One end of an exchange of numbered messages.
pub trait Party {
    /// Writes message `sequence`, calls `before`, and sends the message: nothing
    /// but the mechanism's own sending follows `before`.
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T>;
    /// Receives a message, calls `then`, and sees that it is message `sequence` and
    /// no other: nothing but the mechanism's own receiving comes ahead of `then`.
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T>;
    /// How messages are delivered.
    #[inline(always)]
    fn delivery(&self) -> Delivery {
        Delivery::Reliable
    }
    /// Receives message `sequence`, or a later one where messages may be missing: how many are.
    #[inline(always)]
    fn receive_any(&mut self, sequence: u64) -> io::Result<u64> {
        self.receive(sequence)?;
        Ok(0)
    }
    /// Receives a message of any of several senders: its number. Bit `n` of `awaited` is set where
    /// one of sender `n` is still to come.
    fn receive_numbered(&mut self, _awaited: u64) -> io::Result<u64> {
        Err(sys::failure("this mechanism has one sender"))
    }
    /// Sends message `sequence`.
    #[inline(always)]
    fn send(&mut self, sequence: u64) -> io::Result<()> {
        self.send_after(sequence, || ())
    }
    /// Receives message `sequence`, and no other; [`is_stale`] knows the error for
    /// the one of the same direction before it.
    #[inline(always)]
    fn receive(&mut self, sequence: u64) -> io::Result<()> {
        self.receive_then(sequence, || ())
    }
}

/// Words written or compared at once: enough for the compiler to use vectors, so
/// that touching the payload costs no more than it has to.
const WORDS: usize = 8;
/// Half of what is left is done at once too: the compiler makes vectors of a loop of up to seven
/// words, and those take longer to prepare than to run.
const HALF: usize = WORDS / 2;
const WORD_BYTES: usize = size_of::<u64>();

/// The bits of a message's number on which its contents depend. They come again after
/// 16 KiB / payload numbers (4 to 256, a power of two), so that a runtime for which
/// writing words is slow can keep every message ready, and in the nearest caches
/// (workers/PROTOCOL.md).
#[inline(always)]
fn content_bits(payload: usize) -> u64 {
    let rounded_up_log2 = usize::BITS - payload.saturating_sub(1).leading_zeros();
    (1 << 14u32.saturating_sub(rounded_up_log2).clamp(2, 8)) - 1
}

/// The first word of message `sequence`.
#[inline(always)]
pub(crate) fn first_word(sequence: u64) -> u64 {
    sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Words from `first` on, as bytes.
#[inline(always)]
fn words_from<const COUNT: usize>(first: u64) -> [[u8; WORD_BYTES]; COUNT] {
    std::array::from_fn(|at| first.wrapping_add(at as u64).to_le_bytes())
}

/// Writes message `sequence` into a buffer: every byte depends on the sequence
/// number and on its place.
#[inline(always)]
pub fn fill(buffer: &mut [u8], sequence: u64) {
    fill_words(buffer, first_word(sequence & content_bits(buffer.len())));
}

/// Writes the words from `word` on into a buffer, the last perhaps in part.
#[inline(always)]
pub(crate) fn fill_words(buffer: &mut [u8], mut word: u64) {
    if let Ok(number) = <&mut [u8; WORD_BYTES]>::try_from(&mut *buffer) {
        *number = word.to_le_bytes();
        return;
    }
    let part = buffer.len() % WORD_BYTES;
    let (blocks, rest) = buffer.as_chunks_mut().0.as_chunks_mut();
    for bytes in blocks {
        *bytes = words_from::<WORDS>(word);
        word = word.wrapping_add(WORDS as u64);
    }
    let (halves, rest) = rest.as_chunks_mut();
    for bytes in halves {
        *bytes = words_from::<HALF>(word);
        word = word.wrapping_add(HALF as u64);
    }
    for bytes in rest {
        *bytes = word.to_le_bytes();
        word = word.wrapping_add(1);
    }
    if part > 0 {
        match buffer.last_chunk_mut() {
            Some(bytes) => *bytes = last_bytes(word, part).to_le_bytes(),
            None => fill_low_bytes(buffer, word),
        }
    }
}

/// What the last eight bytes of a buffer hold that ends with `part` bytes of a word: written
/// and compared at once, where a copy of a few bytes would go through memcpy(3).
#[inline(always)]
fn last_bytes(word: u64, part: usize) -> u64 {
    word.wrapping_sub(1) >> (8 * part) | word << (8 * (WORD_BYTES - part))
}

/// Writes the low bytes of a word into a buffer that is shorter than one.
#[inline(always)]
pub(crate) fn fill_low_bytes(buffer: &mut [u8], word: u64) {
    for (at, byte) in buffer.iter_mut().enumerate() {
        *byte = (word >> (8 * at)) as u8;
    }
}

/// Reads a buffer and says whether it holds message `sequence`, every byte.
#[inline(always)]
pub fn verify(buffer: &[u8], sequence: u64) -> bool {
    verify_words(buffer, first_word(sequence & content_bits(buffer.len())))
}

/// Reads a buffer and says whether it holds the words from `word` on.
#[inline(always)]
pub(crate) fn verify_words(buffer: &[u8], word: u64) -> bool {
    // The number alone, which is all of a message that is not touched otherwise: across two
    // CPUs its line is asked for only when what stands before that is done.
    if let Ok(number) = <[u8; WORD_BYTES]>::try_from(buffer) {
        return u64::from_le_bytes(number) == word;
    }
    let part = buffer.len() % WORD_BYTES;
    let (blocks, rest) = buffer.as_chunks::<WORD_BYTES>().0.as_chunks::<WORDS>();
    let mut words: [u64; WORDS] = std::array::from_fn(|at| word.wrapping_add(at as u64));
    // As wide as a block and reduced once, so that no block waits for the one before.
    let mut differing = [0; WORDS];
    for bytes in blocks {
        for (at, bytes) in bytes.iter().enumerate() {
            differing[at] |= u64::from_le_bytes(*bytes) ^ words[at];
            words[at] = words[at].wrapping_add(WORDS as u64);
        }
    }
    let mut differing = differing.into_iter().fold(0, |all, one| all | one);
    let [mut word, ..] = words;
    let (halves, rest) = rest.as_chunks::<HALF>();
    for bytes in halves {
        let expected = words_from::<HALF>(word);
        let differ = |at: usize| u64::from_le_bytes(bytes[at]) ^ u64::from_le_bytes(expected[at]);
        differing |= (0..HALF).fold(0, |all, at| all | differ(at));
        word = word.wrapping_add(HALF as u64);
    }
    for bytes in rest {
        differing |= u64::from_le_bytes(*bytes) ^ word;
        word = word.wrapping_add(1);
    }
    if part > 0 {
        differing |= match buffer.last_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes) ^ last_bytes(word, part),
            None => low_bytes(buffer) ^ (word & ((1 << (8 * part)) - 1)),
        };
    }
    differing == 0
}

/// A buffer that is shorter than a word as the low bytes of one.
#[inline(always)]
fn low_bytes(buffer: &[u8]) -> u64 {
    buffer.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// What a message of a case is: how long, and how many bytes of it are written, and how many
/// compared. Of either as many as the case's `touch` says, and always those of the first word, which
/// tells it from the others.
#[derive(Debug, Clone, Copy)]
pub struct Touched {
    pub payload: usize,
    written: usize,
    compared: usize,
    content_bits: u64,
}

impl Touched {
    /// Those of the messages of this case.
    pub fn of(case: &Case) -> Self {
        let payload = case.payload_bytes.unwrap_or(0) as usize;
        let number = payload.min(WORD_BYTES);
        let (written, compared) = match case.touch {
            Touch::Verify => (payload, payload),
            Touch::Write => (payload, number),
            Touch::None => (number, number),
        };
        // Rust alone plays these, where messages are lost or many are under way: each has to tell
        // its number.
        let content_bits = match case.workload {
            Workload::Load | Workload::Stream => u64::MAX,
            _ if !case.is_one_by_one() => u64::MAX,
            _ => content_bits(payload),
        };
        Self { payload, written, compared, content_bits }
    }
    /// The first word of message `sequence`.
    #[inline(always)]
    pub fn first_word(self, sequence: u64) -> u64 {
        first_word(sequence & self.content_bits)
    }
    /// Writes message `sequence` as far as it is to be written.
    #[inline(always)]
    pub fn fill(self, message: &mut [u8], sequence: u64) {
        fill_words(self.to_write(message, 0), self.first_word(sequence));
    }
    /// Whether it is the message with this first word, as far as it is to be compared.
    #[inline(always)]
    pub fn is(self, message: &[u8], word: u64) -> bool {
        let compared = &message[..message.len().min(self.compared)];
        message.len() == self.payload && verify_words(compared, word)
    }
    /// What is written of a part of a message that begins at this byte of it.
    #[inline(always)]
    pub fn to_write(self, part: &mut [u8], offset: usize) -> &mut [u8] {
        let len = part.len().min(self.written.saturating_sub(offset));
        &mut part[..len]
    }

    /// How many messages are missing before this one, where `sequence` was to come; none of a
    /// message that has come before.
    #[cold]
    fn missing(self, message: &[u8], sequence: u64, delivery: Delivery) -> io::Result<Option<u64>> {
        let bits = 8 * message.len().min(WORD_BYTES) as u32;
        if bits > 0 {
            let number = number_of(message);
            // The low bits of a distance that is negative where the message is an old one.
            let unused = u64::BITS - bits;
            let ahead = ((number.wrapping_sub(sequence) << unused) as i64) >> unused;
            if self.is(message, self.first_word(sequence.wrapping_add(ahead as u64))) {
                return Ok(u64::try_from(ahead).ok());
            }
        }
        Err(self.unlike(message, sequence, delivery))
    }

    /// Why it is not message `sequence`.
    #[cold]
    fn unlike(self, message: &[u8], sequence: u64, delivery: Delivery) -> io::Error {
        let again = |before| format!("message {before} arrived a second time");
        match (delivery, sequence.checked_sub(2)) {
            (Delivery::EmptyAtEnd, _) if message.is_empty() => peer_closed(),
            (Delivery::Lossy, Some(before)) if self.is(message, self.first_word(before)) => {
                io::Error::new(io::ErrorKind::AlreadyExists, again(before))
            }
            (_, Some(before)) if self.tells(message, before) => sys::failure(again(before)),
            _ if self.tells(message, sequence + 2) => {
                sys::failure(format!("message {} arrived before message {sequence}", sequence + 2))
            }
            _ => corrupted(sequence, message.len(), self.payload),
        }
    }

    /// Whether it is message `sequence` and has bytes enough to tell.
    fn tells(self, message: &[u8], sequence: u64) -> bool {
        !message.is_empty() && self.is(message, self.first_word(sequence))
    }
}

#[cold]
fn corrupted(sequence: u64, got: usize, want: usize) -> io::Error {
    sys::failure(if got == want {
        format!("message {sequence} did not arrive as it was sent")
    } else {
        format!("message {sequence} arrived with {got} bytes instead of {want}")
    })
}

/// Whether this is the error of a message that came again where messages may be lost: its kind says so.
pub fn is_stale(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// A channel as a party.
pub struct OverChannel<E, W> {
    pub channel: E,
    touched: Touched,
    wait: PhantomData<W>,
}

impl<E: Channel, W> OverChannel<E, W> {
    /// Over an end that is attached.
    pub fn new(channel: E, attaching: &Attaching<'_>) -> Self {
        Self { channel, touched: Touched::of(attaching.case), wait: PhantomData }
    }
}

/// The number that a message tells, as far as it has room for it.
#[inline(always)]
fn number_of(message: &[u8]) -> u64 {
    let word = match message.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => low_bytes(message),
    };
    // What multiplication wrote, multiplication by the inverse reads.
    word.wrapping_mul(0xF1DE_83E1_9937_733D)
}

impl<E: Channel, W: Wait> Party for OverChannel<E, W> {
    #[inline(always)]
    fn delivery(&self) -> Delivery {
        self.channel.delivery()
    }
    #[inline(always)]
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T> {
        self.touched.fill(self.channel.slot::<W>(self.touched.payload)?, sequence);
        let value = before();
        self.channel.send::<W>(self.touched.payload)?;
        Ok(value)
    }
    #[inline(always)]
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T> {
        let (touched, delivery) = (self.touched, self.channel.delivery());
        // Before the message comes: afterwards it would be in its way.
        let word = touched.first_word(sequence);
        let message = self.channel.recv::<W>()?;
        let value = then();
        match touched.is(message, word) {
            true => Ok(value),
            false => Err(touched.unlike(message, sequence, delivery)),
        }
    }
    #[inline(always)]
    fn receive_any(&mut self, sequence: u64) -> io::Result<u64> {
        let (touched, delivery) = (self.touched, self.channel.delivery());
        let word = touched.first_word(sequence);
        loop {
            let message = self.channel.recv::<W>()?;
            if touched.is(message, word) {
                return Ok(0);
            }
            if let Some(missing) = touched.missing(message, sequence, delivery)? {
                return Ok(missing);
            }
        }
    }
    #[inline(always)]
    fn receive_numbered(&mut self, _: u64) -> io::Result<u64> {
        let (touched, delivery) = (self.touched, self.channel.delivery());
        let message = self.channel.recv::<W>()?;
        let number = number_of(message);
        match touched.is(message, touched.first_word(number)) {
            true => Ok(number),
            false => Err(touched.unlike(message, number, delivery)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_how_many_are_missing_before_it() {
        for payload in [1, 2, 7, 8, 9, 64] {
            let id = format!(
                "load/udp?payload={payload}&rate=100&boundary=thread&place=free&wait=block"
            );
            let touched = Touched::of(&id.parse().unwrap());
            let missing = |number, expected| {
                let mut message = vec![0; payload];
                touched.fill(&mut message, number);
                touched.missing(&message, expected, Delivery::Lossy)
            };
            assert_eq!(missing(1_000, 997).unwrap(), Some(3), "{payload}");
            assert_eq!(missing(1_000, 1_001).unwrap(), None, "an old one");
            assert_eq!(missing(1_100, 1_000).unwrap(), Some(100));
        }
        let touched = Touched { payload: 64, written: 64, compared: 64, content_bits: u64::MAX };
        let mut message = vec![0; 64];
        touched.fill(&mut message, 7);
        message[40] ^= 1;
        let missing = |message| touched.missing(message, 5, Delivery::Lossy);
        assert!(missing(&message).is_err(), "it is not as it was sent");
        assert!(missing(&[]).is_err());
    }

    #[test]
    fn contents_come_again_sooner_the_longer_they_are() {
        // So many of them are 16 KiB at most, where that is not fewer than four.
        for (payload, count) in
            [(0, 256), (64, 256), (65, 128), (1024, 16), (1025, 8), (2049, 4), (65_536, 4)]
        {
            let mut buffer = vec![0; payload];
            fill(&mut buffer, 7);
            assert!(verify(&buffer, 7 + count), "{payload} bytes");
            assert_eq!(verify(&buffer, 7 + count / 2), payload == 0, "{payload} bytes");
        }
    }

    #[test]
    fn as_much_is_written_and_compared_as_the_case_says() {
        for (touch, bytes, written, compared) in [
            ("verify", 100, 100, 100),
            ("write", 100, 100, 8),
            ("write", 4096, 4096, 8),
            ("none", 100, 8, 8),
            ("none", 8, 8, 8),
            ("none", 5, 5, 5),
            ("write", 0, 0, 0),
        ] {
            let id = format!(
                "roundtrip/pipe?payload={bytes}&boundary=thread&place=free&wait=block&touch={touch}"
            );
            let touched = Touched::of(&id.parse().unwrap());
            let mut buffer = vec![0xAA; bytes];
            assert_eq!(touched.compared, compared, "{id}");
            let mut all = 0;
            for (at, part) in buffer.chunks_mut(3).enumerate() {
                all += touched.to_write(part, 3 * at).len();
            }
            assert_eq!(all, written, "{id}");
            touched.fill(&mut buffer, 7);
            assert!(buffer[written..].iter().all(|byte| *byte == 0xAA), "{id}");
            assert!(touched.is(&buffer, touched.first_word(7)));
            // The number is compared with every kind of touch.
            assert_eq!(touched.is(&buffer, touched.first_word(8)), bytes == 0);
        }
    }

    #[test]
    fn any_flipped_bit_is_seen() {
        for len in (0..=72).chain([100, 128, 200]) {
            let mut buffer = vec![0; len];
            fill(&mut buffer, 7);
            assert!(verify(&buffer, 7));
            assert_eq!(verify(&buffer, 8), len == 0);
            // The format of PROTOCOL.md, written out.
            let mut word = 7u64.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            for chunk in buffer.chunks(8) {
                assert_eq!(chunk, &word.to_le_bytes()[..chunk.len()]);
                word = word.wrapping_add(1);
            }
            for bit in 0..len * 8 {
                buffer[bit / 8] ^= 1 << (bit % 8);
                assert!(!verify(&buffer, 7), "len {len} bit {bit}");
                buffer[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
