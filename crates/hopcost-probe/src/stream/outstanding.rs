//! Which sends without a copy are still under way, so that no field is rewritten
//! while the kernel may still read it.

use std::collections::VecDeque;
use std::io;

use hopcost_model::protocol::ZeroCopySends;

use crate::shape::Attaching;
use crate::sys;

/// Sets of fields that a sender without copies takes in turn.
const SETS: usize = 16;

/// Memory that they may take together; long messages have fewer of them.
const BYTES_MAX: usize = 64 << 20;

/// How many sets a flow of these messages has: 16, or as many as 64 MiB hold,
/// and at least 2.
pub fn sets(attaching: &Attaching<'_>) -> usize {
    SETS.min(BYTES_MAX / attaching.payload().max(1)).max(2)
}

/// Sends by the numbers that the kernel gives them, from 0 on and wrapping around
/// at 2^32 (Documentation/networking/msg_zerocopy.rst).
pub struct Outstanding {
    /// Number of the first send in `sends`.
    oldest: u32,
    /// The set that each send is of; `None` once it is completed.
    sends: VecDeque<Option<usize>>,
    /// Sends under way of each set.
    pending: Vec<u32>,
    seen: ZeroCopySends,
}

impl Outstanding {
    /// Nothing under way.
    pub fn new(sets: usize) -> Self {
        Self {
            oldest: 0,
            sends: VecDeque::with_capacity(4 * sets),
            pending: vec![0; sets],
            seen: ZeroCopySends::default(),
        }
    }
    /// A send of this set has begun.
    #[inline(always)]
    pub fn began(&mut self, set: usize) {
        self.sends.push_back(Some(set));
        if let Some(sends) = self.pending.get_mut(set) {
            *sends += 1;
        }
    }
    /// The sends from `first` to `last` are completed.
    pub fn completed(&mut self, first: u32, last: u32, copied: bool) -> io::Result<()> {
        let count = u64::from(last.wrapping_sub(first)) + 1;
        let at = first.wrapping_sub(self.oldest) as usize;
        if at as u64 + count > self.sends.len() as u64 {
            return Err(unknown(first, last));
        }
        for send in self.sends.range_mut(at..at + count as usize) {
            let set = send.take().ok_or_else(|| unknown(first, last))?;
            self.pending[set] -= 1;
            self.seen.completed += 1;
            self.seen.copied += u64::from(copied);
        }
        while let Some(None) = self.sends.front() {
            self.sends.pop_front();
            self.oldest = self.oldest.wrapping_add(1);
        }
        Ok(())
    }
    /// Whether any send of this set is under way.
    #[inline(always)]
    pub fn holds(&self, set: usize) -> bool {
        self.pending.get(set).is_some_and(|sends| *sends > 0)
    }
    /// Whether no send is under way.
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty()
    }
    /// What was completed since this was last asked.
    pub fn take_seen(&mut self) -> ZeroCopySends {
        std::mem::take(&mut self.seen)
    }
}

#[cold]
fn unknown(first: u32, last: u32) -> io::Error {
    sys::failure(format!("the kernel completed sends {first} to {last}, which were not under way"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_complete_out_of_order_and_across_the_end_of_the_numbers() {
        let mut sends = Outstanding::new(3);
        sends.oldest = u32::MAX - 1;
        for set in [0, 0, 1, 2] {
            sends.began(set);
        }
        // The second, third and fourth are numbers 2^32 - 1, 0 and 1.
        sends.completed(u32::MAX, 0, true).unwrap();
        assert!(sends.holds(0) && !sends.holds(1) && sends.holds(2));
        sends.completed(1, 1, false).unwrap();
        assert!(!sends.holds(2) && !sends.is_empty());
        sends.completed(u32::MAX - 1, u32::MAX - 1, true).unwrap();
        assert!(sends.is_empty() && !sends.holds(0));
        assert_eq!(sends.take_seen(), ZeroCopySends { completed: 4, copied: 3 });
        assert_eq!(sends.take_seen(), ZeroCopySends::default());
        assert_eq!(sends.oldest, 2);
    }

    #[test]
    fn what_was_not_under_way_cannot_be_completed() {
        let mut sends = Outstanding::new(2);
        sends.began(0);
        sends.began(1);
        for (first, last) in [(0, 2), (2, 2), (1, 0), (u32::MAX, 0)] {
            assert!(sends.completed(first, last, false).is_err(), "{first} to {last}");
        }
        sends.completed(1, 1, false).unwrap();
        assert!(sends.completed(1, 1, false).is_err());
        assert!(sends.holds(0));
    }
}
