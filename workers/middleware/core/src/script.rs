//! The messages of a trial: written beforehand, compared byte by byte, numbered and stamped.

/// The constant that tells one message from the next.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

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
    spoilt: Vec<u8>,
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
        let number = self.number;
        self.number += 1;
        if self.spoil == Some(number) {
            self.spoilt = self.at(number).to_vec();
            self.spoilt[self.size / 2] ^= 1;
            return &self.spoilt;
        }
        self.at(number)
    }

    /// The same for a library that keeps it.
    #[cfg(feature = "tokio")]
    pub fn outgoing_bytes(&mut self) -> bytes::Bytes {
        let number = self.number;
        if self.spoil == Some(number) {
            return bytes::Bytes::copy_from_slice(self.outgoing());
        }
        self.number += 1;
        let from = (number & self.mask) as usize * self.size;
        self.messages.slice(from..from + self.size)
    }

    /// Compares a message that came. At the caller it completes an exchange, which is stamped.
    pub fn incoming(&mut self, message: &[u8]) -> crate::Result<()> {
        if message != self.at(self.number) {
            let (number, size) = (self.number, message.len());
            return Err(
                format!("message {number} did not arrive as it was sent ({size} bytes)").into()
            );
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

    fn at(&self, number: u64) -> &[u8] {
        let from = (number & self.mask) as usize * self.size;
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

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
