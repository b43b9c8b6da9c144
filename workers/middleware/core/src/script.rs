//! The messages of a trial: written beforehand, compared byte by byte, numbered and stamped.

/// The constant that tells one message from the next.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes of the number with which a message begins that may be lost.
const NUMBER: usize = 8;

/// Messages one after the other; what is asynchronous takes parts of them without a copy.
#[cfg(feature = "tokio")]
type Stored = bytes::Bytes;
#[cfg(not(feature = "tokio"))]
type Stored = Vec<u8>;

/// The messages of one end.
#[derive(Default)]
pub struct Script {
    is_caller: bool,
    size: usize,
    /// There is a power of two of them.
    messages: Stored,
    mask: u64,
    /// Of the next message, through all phases.
    number: u64,
    spoil: Option<u64>,
    /// A message that is not sent as it was written beforehand.
    changed: Vec<u8>,
    /// Messages begin with their numbers, since some may be lost: of those of a load up to this one.
    pub(crate) numbered_to: Option<u64>,
    /// What goes or comes next is the acknowledgement of this message of a stream.
    pub(crate) acknowledged: Option<u64>,
    /// Of a stream: the contents of a later message end it.
    pub(crate) is_stream: bool,
    /// Exchanges between two stamps; 0 while nothing is stamped.
    batch: u64,
    left: u64,
    before: u64,
    pub(crate) ticks: Vec<u64>,
}

impl Script {
    pub(crate) fn new(is_caller: bool, size: usize, spoil: Option<u64>) -> Self {
        let count = ((16 << 10) / size.max(1).next_power_of_two()).clamp(4, 256) as u64;
        let message = |number: u64| {
            let first = number.wrapping_mul(STEP);
            let words = (0..size.div_ceil(8) as u64)
                .flat_map(move |at| first.wrapping_add(at).to_le_bytes());
            words.take(size)
        };
        Self {
            is_caller,
            size,
            messages: (0..count).flat_map(message).collect::<Vec<u8>>().into(),
            mask: count - 1,
            number: 1,
            spoil,
            ..Self::default()
        }
    }

    pub fn is_caller(&self) -> bool {
        self.is_caller
    }

    /// Bytes of each message.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The message to send next.
    pub fn outgoing(&mut self) -> &[u8] {
        self.changed.clear();
        if let Some(number) = self.acknowledged.take() {
            self.changed.extend(number.to_le_bytes());
            return &self.changed;
        }
        let number = self.number;
        self.number += 1;
        let is_spoilt = self.spoil == Some(number);
        if !is_spoilt && self.numbered_to.is_none() {
            return self.at(number);
        }
        let from = self.from(number);
        self.changed.extend_from_slice(&self.messages[from..from + self.size]);
        if self.numbered_to.is_some() {
            self.changed[..NUMBER].copy_from_slice(&number.to_le_bytes());
        }
        self.changed[self.size / 2] ^= u8::from(is_spoilt);
        &self.changed
    }

    /// The same for a library that keeps it.
    #[cfg(feature = "tokio")]
    pub fn outgoing_bytes(&mut self) -> bytes::Bytes {
        let number = self.number;
        let is_written = self.acknowledged.is_none() && self.numbered_to.is_none();
        if !is_written || self.spoil == Some(number) {
            return bytes::Bytes::copy_from_slice(self.outgoing());
        }
        self.number += 1;
        let from = self.from(number);
        self.messages.slice(from..from + self.size)
    }

    /// Compares a message that came. At the caller it completes an exchange, which is stamped.
    pub fn incoming(&mut self, message: &[u8]) -> crate::Result<()> {
        if self.acknowledged.is_some() || self.is_stream || self.numbered_to.is_some() {
            return self.incoming_one_way(message);
        }
        if message != self.at(self.number) {
            return Err(wrong(self.number, message));
        }
        self.number += 1;
        if self.batch > 0 {
            self.left -= 1;
            if self.left == 0 {
                let now = now();
                self.ticks.push(now - self.before);
                (self.before, self.left) = (now, self.batch);
            }
        }
        Ok(())
    }

    /// The same of what is no exchange. The last message of a load comes again until it is answered, which changes
    /// nothing here.
    fn incoming_one_way(&mut self, message: &[u8]) -> crate::Result<()> {
        if let Some(number) = self.acknowledged.take() {
            let is_its = message == number.to_le_bytes();
            return is_its.then_some(()).ok_or_else(|| wrong(number, message));
        }
        let (mut number, mut written) = (self.number, 0);
        if let Some(last) = self.numbered_to {
            written = NUMBER;
            number = message.first_chunk().map_or(u64::MAX, |first| u64::from_le_bytes(*first));
            if number < self.number && number == last {
                return Ok(());
            }
            let skipped = number.checked_sub(self.number);
            let is_due = skipped.is_some_and(|skipped| skipped % 2 == 0);
            if !is_due || number > last.max(self.number) {
                return Err(wrong(number, message));
            }
        } else if message != self.at(number) {
            (self.is_stream, number) = (false, number + 2);
        }
        if message.len() != self.size || message[written..] != self.at(number)[written..] {
            return Err(wrong(number, message));
        }
        self.number = number + 1;
        Ok(())
    }

    /// The number of the next message.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Sends the last message again.
    pub(crate) fn again(&mut self) {
        self.number -= 1;
    }

    fn from(&self, number: u64) -> usize {
        (number & self.mask) as usize * self.size
    }

    fn at(&self, number: u64) -> &[u8] {
        let from = self.from(number);
        &self.messages[from..from + self.size]
    }

    /// Leaves a number to the answer that nobody sends.
    pub(crate) fn skip(&mut self) {
        self.number += 1;
    }

    /// From `now` on every `batch` exchanges are a sample, for which `reserve` made room.
    pub(crate) fn start(&mut self, batch: u64, now: u64) {
        (self.batch, self.left, self.before) = (batch, batch, now);
    }

    pub(crate) fn stop(&mut self) {
        self.batch = 0;
    }

    /// Makes room for samples and touches it.
    pub(crate) fn reserve(&mut self, samples: usize) {
        self.ticks.clear();
        self.ticks.resize(samples, 1);
        self.ticks.clear();
    }
}

fn wrong(number: u64, message: &[u8]) -> crate::Failure {
    let size = message.len();
    format!("message {number} did not arrive as it was sent ({size} bytes)").into()
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
