//! When the messages of a `load` are to be sent: worked out before a phase, from a seed.

use hopcost_model::{Arrivals, Case, Rate, ScheduleSeed};

/// How long `on-off` sends, and how long it does not.
const BURST_S: f64 = 1e-3;

/// The intended times of the first `count` messages of a sender of a case, in ticks from the
/// beginning. Those of all senders together have the case's rate and are as it says.
pub fn offsets(case: &Case, seed: ScheduleSeed, sender: u32, count: u64) -> Vec<u64> {
    let offered = case.rate.map_or(1.0, Rate::per_s);
    let rate = offered / f64::from(case.senders);
    // The last sender's times are those of one alone at this rate, the others' lie between.
    let ahead = f64::from(case.senders.saturating_sub(sender + 1)) / f64::from(case.senders);
    let mut random = Random(seed.seed.wrapping_add(u64::from(sender) << 32));
    let mut exponential_s = 0.0;
    let mut intended_s = |number: u64| match case.arrivals {
        Arrivals::Constant => (number as f64 - ahead) / rate,
        Arrivals::Exponential => {
            exponential_s -= random.uniform().ln() / rate;
            exponential_s
        }
        Arrivals::OnOff => {
            let sending_s = (number as f64 - ahead) / (2.0 * rate);
            sending_s + (sending_s / BURST_S).floor() * BURST_S
        }
    };
    (1..=count).map(|number| (intended_s(number) * seed.ticks_per_second) as u64).collect()
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
pub struct Random(pub u64);

impl Random {
    /// Uniform in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        ((word >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of all of so many senders together.
    fn offsets_of(senders: u32, arrivals: &str, count: u64) -> Vec<u64> {
        offsets_at("10000", senders, arrivals, count)
    }

    fn offsets_at(rate: &str, senders: u32, arrivals: &str, count: u64) -> Vec<u64> {
        let id = format!("load/pipe?payload=64&rate={rate}&boundary=process&place=free&wait=block");
        let case = Case { arrivals: arrivals.parse().unwrap(), senders, ..id.parse().unwrap() };
        let seed = ScheduleSeed { seed: 7, ticks_per_second: 1e9 };
        let all = (0..senders).flat_map(|sender| offsets(&case, seed, sender, count));
        let mut all: Vec<u64> = all.collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn arrivals_are_as_the_case_says_and_several_senders_together_are_one_at_the_whole_rate() {
        assert_eq!(offsets_of(1, "constant", 3), [100_000, 200_000, 300_000]);
        let every_2_s = [2_000_000_000, 4_000_000_000, 6_000_000_000];
        assert_eq!(offsets_at("0.5", 1, "constant", 3), every_2_s);
        assert_eq!(offsets_of(4, "constant", 2), offsets_of(1, "constant", 8));
        let on_off = offsets_of(1, "on-off", 10_000);
        assert_eq!(on_off[9_999], 1_000_000_000);
        // Rounding may put the first of a burst at the end of the pause before it.
        assert!(on_off.iter().all(|offset| (offset + 1) % 2_000_000 <= 1_000_001));
        assert_eq!(offsets_of(4, "on-off", 30), on_off[..120]);
    }

    #[test]
    fn exponential_gaps_have_the_mean_and_the_spread_of_a_poisson_process() {
        for (senders, count) in [(1, 100_000), (4, 25_000)] {
            let all = offsets_of(senders, "exponential", count);
            assert_eq!(all, offsets_of(senders, "exponential", count), "from the seed alone");
            // The ends of the four lie apart by chance.
            let gaps = all[..90_000].windows(2).map(|two| (two[1] - two[0]) as f64);
            let gaps: Vec<f64> = gaps.collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let coefficient = (squares / gaps.len() as f64).sqrt() / mean;
            assert!((mean / 100_000.0 - 1.0).abs() < 0.02, "{mean}");
            assert!((coefficient - 1.0).abs() < 0.02, "{coefficient}");
        }
    }
}
