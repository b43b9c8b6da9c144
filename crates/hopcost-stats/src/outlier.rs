//! Hosts that lie off the others of their fleet, by a rule whose false alarms are known.
//!
//! The deviation of a host is the logarithm of its value over the fleet's median; the scale is Qn (Rousseeuw and
//! Croux 1993), a low quantile of the distances of all pairs of hosts, which up to half of the hosts cannot spoil
//! and which takes 82 % of what the standard deviation takes from normal values. A host is told to lie off
//! where its deviation is more than so many scales. How many is found by simulation of fleets without
//! outliers, so that the mean number of false alarms over all hosts and cases is 0.05: then at most one such
//! fleet in twenty has any, however the cases hang together.
//!
//! A host that lies far off adds nothing to the scale but that it is there: the probability that it is told is
//! therefore known from the others, and a few hundred simulated fleets tell probabilities of 10⁻⁸.

pub mod groups;
#[cfg(any(test, feature = "testing"))]
pub mod simulated;

use crate::rng::Rng;
use crate::sample::median;

/// Hosts below which nothing is told.
pub const HOSTS_MIN: usize = 8;
/// Mean number of hosts told in a fleet without outliers, over all cases: no fewer fleets in a hundred have none.
pub const FALSE_ALARMS: f64 = 0.05;
/// Values that a simulation draws, those of a heavier tail being dearer and for information, …
const DRAWN: (usize, usize) = (400_000, 60_000);
/// … in no fewer and no more fleets than this.
const FLEETS: (usize, usize) = (40, 20_000);
/// Hosts up to which a threshold is found for each number of them.
const EACH_MAX: usize = 32;
const SEED: u64 = 0x0F1E_E715;

/// How the logarithms of hosts without a fault spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Normally: what thresholds are found for.
    Normal,
    /// Like Student's t of five degrees of freedom: more hosts far off.
    Student5,
}

impl Tail {
    /// The probability of a value above this one.
    fn above(self, x: f64) -> f64 {
        match self {
            Tail::Normal => libm::erfc(x / core::f64::consts::SQRT_2) / 2.0,
            Tail::Student5 => {
                let angle = libm::atan2(libm::sqrt(5.0), x);
                let (sin, cos) = (libm::sin(angle), libm::cos(angle));
                // Its complement to a right angle is that of the published form of the integral.
                (angle - cos * (sin + 2.0 / 3.0 * sin * sin * sin)) / core::f64::consts::PI
            }
        }
    }

    pub fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Tail::Normal => rng.normal(),
            Tail::Student5 => {
                let squares: f64 = (0..5).map(|_| rng.normal()).map(|x| x * x).sum();
                rng.normal() / libm::sqrt(squares / 5.0)
            }
        }
    }
}

/// The scale Qn of values in ascending order, as the standard deviation of normal ones; `None` of fewer than two.
pub fn qn(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    Some(factor(n) * distance(sorted, n))
}

/// Of the distances of every two of `n` values, of which some may lie at infinity and not among these, the one that Qn takes.
fn distance(sorted: &[f64], n: usize) -> f64 {
    let half = (n / 2 + 1) as u64;
    let wanted = half * (half - 1) / 2;
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return 0.0 };
    let (mut low, mut high) = (0u64, (last - first).max(0.0).to_bits());
    // The bits of numbers that are not negative have their order, so that halving ends at the distance itself.
    while low < high {
        let middle = low + (high - low) / 2;
        match pairs_within(sorted, f64::from_bits(middle)) >= wanted {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    f64::from_bits(low)
}

/// Pairs that lie no further apart.
fn pairs_within(sorted: &[f64], distance: f64) -> u64 {
    let mut first = 0;
    let mut pairs = 0;
    for (at, value) in sorted.iter().enumerate() {
        while value - sorted[first] > distance {
            first += 1;
        }
        pairs += (at - first) as u64;
    }
    pairs
}

/// What makes it the standard deviation of normal values (Croux and Rousseeuw 1992).
fn factor(n: usize) -> f64 {
    const FEW: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];
    let size = n as f64;
    2.2219
        * match FEW.get(n.wrapping_sub(2)) {
            Some(factor) => *factor,
            None if n % 2 == 1 => size / (size + 1.4),
            None => size / (size + 3.8),
        }
}

/// Fleets of a size without outliers, of each what decides whether a further host is told.
#[derive(Debug, Clone)]
pub struct Fleets {
    hosts: usize,
    tail: Tail,
    /// Middle of all with a host far above, with one far below, and the scale.
    drawn: Vec<[f64; 3]>,
}

impl Fleets {
    /// Draws fleets of so many hosts, always the same.
    pub fn of(hosts: usize, tail: Tail) -> Self {
        let hosts = hosts.max(HOSTS_MIN);
        let mut rng = Rng::for_use(SEED, hosts as u64);
        let drawn = if tail == Tail::Normal { DRAWN.0 } else { DRAWN.1 };
        let n = (drawn / hosts).clamp(FLEETS.0, FLEETS.1);
        let one = |rng: &mut Rng| {
            let mut others: Vec<f64> = (1..hosts).map(|_| tail.draw(rng)).collect();
            others.sort_unstable_by(f64::total_cmp);
            let (below, above) = ((hosts - 1) / 2, hosts / 2);
            let middle = f64::midpoint(others[below], others[above.min(hosts - 2)]);
            let lower = f64::midpoint(others[below.max(1) - 1], others[above - 1]);
            [middle, lower, factor(hosts) * distance(&others, hosts)]
        };
        Self { hosts, tail, drawn: (0..n).map(|_| one(&mut rng)).collect() }
    }

    /// The mean number of hosts of such a fleet that lie off by more than so many scales, in one case.
    pub fn alarms(&self, threshold: f64) -> f64 {
        let told = |[middle, lower, scale]: &[f64; 3]| {
            let far = threshold * scale;
            self.tail.above(middle + far) + self.tail.above(far - lower)
        };
        self.hosts as f64 * self.drawn.iter().map(told).sum::<f64>() / self.drawn.len() as f64
    }

    /// The threshold at which the mean number over so many cases is [`FALSE_ALARMS`].
    pub fn threshold(&self, cases: usize) -> f64 {
        let (mut low, mut high) = (0.0, 1000.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            match self.alarms(middle) * cases.max(1) as f64 > FALSE_ALARMS {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

/// By how many scales a host has to lie off to be told, of so many hosts in each of so many cases; `None` below
/// [`HOSTS_MIN`]. Between sizes that are simulated the greater one holds.
pub fn threshold(hosts: usize, cases: usize) -> Option<f64> {
    let of = |hosts| Fleets::of(hosts, Tail::Normal).threshold(cases);
    let (low, high) = grid(hosts)?;
    Some(if low == high { of(low) } else { of(low).max(of(high)) })
}

/// The simulated sizes on either side.
pub fn grid(hosts: usize) -> Option<(usize, usize)> {
    if hosts <= EACH_MAX {
        return (hosts >= HOSTS_MIN).then_some((hosts, hosts));
    }
    let step = libm::pow(2.0, 0.25);
    let (mut low, mut high) = (EACH_MAX, EACH_MAX);
    while high < hosts {
        (low, high) = (high, libm::ceil(high as f64 * step) as usize);
    }
    Some((if high == hosts { high } else { low }, high))
}

/// A host's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// Its logarithm.
    pub log: f64,
    /// The standard error of this, by the host's own interval; 0 where there is none.
    pub error: f64,
}

/// The middle of a fleet and how far its hosts lie off.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Median of the logarithms.
    pub median: f64,
    pub scale: f64,
    /// By how many scales each host lies off, in the order of the values.
    pub scores: Vec<f64>,
}

/// Places hosts in their fleet; `None` without two finite values. A host that knows its value less well than
/// most counts by so much less; one that knows it better counts by no more.
pub fn place(values: &[Value]) -> Option<Placed> {
    let mut sorted: Vec<f64> = values.iter().map(|value| value.log).collect();
    let middle = median(&sorted)?;
    sorted.sort_unstable_by(f64::total_cmp);
    let spread = qn(&sorted)?;
    let error = |value: &Value| if value.error.is_finite() { value.error.max(0.0) } else { 0.0 };
    let errors: Vec<f64> = values.iter().map(error).collect();
    let usual = median(&errors)?;
    // Where most hosts say the same, what each knows of itself is all there is.
    let square = if spread > 0.0 { spread * spread } else { usual * usual };
    let score = |(value, error): (&Value, &f64)| {
        let own = (error * error - usual * usual).max(0.0);
        let scale = libm::sqrt(square + own);
        let off = value.log - middle;
        if off == 0.0 { 0.0 } else { off / scale }
    };
    let scores = values.iter().zip(&errors).map(score).collect();
    Some(Placed { median: middle, scale: libm::sqrt(square), scores })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qn_is_the_quantile_of_all_distances() {
        let mut rng = Rng::new(5);
        for n in [2usize, 3, 7, 8, 9, 10, 31, 100] {
            let mut values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            values.sort_unstable_by(f64::total_cmp);
            let mut all: Vec<f64> = Vec::new();
            for (at, value) in values.iter().enumerate() {
                all.extend(values[..at].iter().map(|other| value - other));
            }
            all.sort_unstable_by(f64::total_cmp);
            let half = n / 2 + 1;
            let wanted = all[half * (half - 1) / 2 - 1];
            assert_eq!(distance(&values, n).to_bits(), wanted.to_bits(), "{n}");
        }
        assert_eq!(qn(&[1.0]), None);
        assert_eq!(qn(&[3.0, 3.0, 3.0]), Some(0.0));
    }

    #[test]
    fn qn_is_the_standard_deviation_of_normal_values() {
        let mut rng = Rng::new(6);
        for n in [9usize, 10, 50, 51] {
            let mean = (0..2000)
                .map(|_| {
                    let mut values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                    values.sort_unstable_by(f64::total_cmp);
                    qn(&values).unwrap()
                })
                .sum::<f64>()
                / 2000.0;
            assert!((mean - 1.0).abs() < 0.04, "{n}: {mean}");
        }
    }

    /// What a host adds to each of its pairs spreads them, so that fewer of them lie off than of independent values.
    #[test]
    fn pairs_that_have_hosts_in_common_raise_no_more_alarms() {
        const FLEETS: usize = 2000;
        let mut rng = Rng::new(8);
        for (hosts, own) in [(8usize, 1.0), (8, 0.3), (16, 1.0)] {
            let threshold = threshold(hosts * (hosts - 1) / 2, 1).unwrap();
            let mut alarmed = 0;
            for _ in 0..FLEETS {
                let of_hosts: Vec<f64> = (0..hosts).map(|_| rng.normal()).collect();
                let pairs = (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| (a, b)));
                let log = |(a, b): (usize, usize)| {
                    0.01 * (of_hosts[a] + of_hosts[b] + own * rng.normal())
                };
                let values: Vec<Value> =
                    pairs.map(log).map(|log| Value { log, error: 0.0 }).collect();
                let placed = place(&values).unwrap();
                alarmed += usize::from(placed.scores.iter().any(|of| of.abs() > threshold));
            }
            let share = alarmed as f64 / FLEETS as f64;
            assert!(share <= FALSE_ALARMS, "{hosts} hosts, {own}: {share}");
        }
    }

    #[test]
    fn tails_are_those_of_their_distributions() {
        assert!((Tail::Normal.above(1.959_963_984_540_054) - 0.025).abs() < 1e-12);
        // Student's t of 5 degrees: 2.5706 at 0.025, 4.0321 at 0.005.
        assert!((Tail::Student5.above(2.570_581_835_636_3) - 0.025).abs() < 1e-9);
        assert!((Tail::Student5.above(4.032_142_983_555) - 0.005).abs() < 1e-9);
        assert!((Tail::Student5.above(-4.032_142_983_555) - 0.995).abs() < 1e-9);
        let mut rng = Rng::new(4);
        let far = (0..40_000).filter(|_| Tail::Student5.draw(&mut rng) > 2.570_6).count();
        assert!((850..1150).contains(&far), "{far}");
    }

    #[test]
    fn thresholds_grow_with_cases_and_are_the_same_each_time() {
        assert_eq!(threshold(HOSTS_MIN - 1, 1), None);
        let (few, many) = (threshold(100, 1).unwrap(), threshold(100, 50).unwrap());
        assert!(3.4 < few && few < many && many < 6.0, "{few} {many}");
        assert_eq!(threshold(100, 1).unwrap().to_bits(), few.to_bits());
        assert!(threshold(8, 1).unwrap() > few, "a small fleet knows its spread less well");
        assert!(threshold(10_000, 1).unwrap() > threshold(1000, 1).unwrap());
        for hosts in [33, 40, 100, 1000, 10_000] {
            let (low, high) = grid(hosts).unwrap();
            assert!(low <= hosts && hosts <= high && high <= hosts * 5 / 4 + 1, "{low} {high}");
        }
        assert_eq!(grid(32), Some((32, 32)));
    }

    #[test]
    fn a_host_that_knows_its_value_less_well_counts_by_less() {
        let value = |log: f64, error: f64| Value { log, error };
        let mut fleet: Vec<Value> =
            (0..41).map(|at| value(f64::from(at - 20) / 400.0, 0.01)).collect();
        fleet.push(value(0.5, 0.01));
        fleet.push(value(0.5, 0.3));
        fleet.push(value(0.5, 0.0));
        let placed = place(&fleet).unwrap();
        let [sure, unsure, unknown] = placed.scores[41..] else { panic!("{placed:?}") };
        assert!(sure > 10.0 && unsure < 2.0, "{sure} {unsure}");
        assert_eq!(sure.to_bits(), unknown.to_bits(), "no more than others");
        assert!((0.02..0.05).contains(&placed.scale) && placed.median.abs() < 0.01, "{placed:?}");
    }

    #[test]
    fn odd_fleets_are_placed_without_a_panic() {
        let value = |log: f64, error: f64| Value { log, error };
        assert_eq!(place(&[]), None);
        assert_eq!(place(&[value(f64::NAN, 0.0); 9]), None);
        let same = place(&[value(1.0, 0.1); 9]).unwrap();
        assert!(same.scores.iter().all(|score| *score == 0.0));
        let mut one = vec![value(1.0, f64::INFINITY); 9];
        one.push(value(2.0, 0.0));
        assert_eq!(place(&one).unwrap().scores[9], f64::INFINITY);
    }
}
