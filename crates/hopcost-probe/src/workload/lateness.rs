//! What a sender of a `load` hands over of each message, and whose its lag is.
//!
//! A message is late because the send before it had not returned yet when its time came, which is
//! the mechanism's doing, or because the sender, there in time, left its wait late: something
//! took its CPU. The look that ends no wait tells the two apart without a further reading of the clock.

/// The bit of a message whose time had passed when the sender came to wait for it.
const CAME_LATE: u64 = 1 << 63;

/// The word of a message that was sent at this stamp.
#[inline(always)]
pub fn sent(ticks: u64, came_late: bool) -> u64 {
    ticks | u64::from(came_late) << CAME_LATE.trailing_zeros()
}

/// The stamp of a word.
pub fn ticks(word: u64) -> u64 {
    word & !CAME_LATE
}

/// How many messages were sent to which the sender came late.
pub fn late_sends(words: &[u64]) -> u64 {
    words.iter().filter(|word| **word & CAME_LATE != 0).count() as u64
}

/// How much of each message's lag is the sender's own, in ticks: the difference to what the lag
/// would be if the sender had left every wait in time and every send had taken as long as it did.
///
/// Of a message that it was in time for, all of it. Whoever comes late by another's doing is
/// late by his own no more than at the message before.
pub fn own_ticks(first_tick: u64, offsets: &[u64], words: &[u64]) -> Vec<u64> {
    let mut own = 0;
    let of = |(offset, word): (&u64, &u64)| {
        let lag = ticks(*word).saturating_sub(first_tick.saturating_add(*offset));
        own = if word & CAME_LATE == 0 { lag } else { lag.min(own) };
        own
    };
    offsets.iter().zip(words).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sender of constant gaps does that leaves its wait for a message late by the first of
    /// a pair, and whose send of it takes the second: its words, and each lag.
    fn simulated(gap: u64, messages: &[(u64, u64)]) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let (first_tick, mut now) = (1_000_000, 1_000_000);
        let (mut offsets, mut words, mut lags) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (overslept, send)) in (1..).zip(messages) {
            let intended = first_tick + number * gap;
            let came_late = now > intended;
            if !came_late {
                now = intended + overslept;
            }
            offsets.push(number * gap);
            words.push(sent(now, came_late));
            lags.push(now - intended);
            now += send;
        }
        (offsets, words, lags)
    }

    #[test]
    fn what_a_sender_overslept_is_its_own_and_what_a_send_took_is_not() {
        let lags_of = |overslept: u64, send: u64| {
            let mut messages = [(0, 10); 20];
            (messages[3].0, messages[5].1) = (overslept, 10 + send);
            let (offsets, words, lags) = simulated(100, &messages);
            (own_ticks(1_000_000, &offsets, &words), lags, late_sends(&words))
        };
        let (own, lags, late) = lags_of(350, 0);
        assert_eq!((&lags[3..8], late), (&[350, 260, 170, 80, 0][..], 3));
        assert_eq!(own, lags, "its own until it has caught up");
        let (own, held, _) = lags_of(0, 300);
        assert_eq!((&held[5..10], own), (&[0, 210, 120, 30, 0][..], vec![0; 20]));
        // Late by 500 itself; two messages later a send makes it late anyhow: each has what the other
        // would not have made.
        let (own, lags, _) = lags_of(500, 300);
        let parts: Vec<u64> = own.iter().zip(&held).map(|(own, held)| own + held).collect();
        assert_eq!(parts, lags);
        assert!(own.iter().zip(&held).any(|(own, held)| *own > 0 && *held > 0));
    }
}
