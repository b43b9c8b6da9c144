//! Seeded randomness with the same stream on every machine.
//!
//! xoshiro256++ 1.0 (Blackman and Vigna, <https://prng.di.unimi.it/>), its state
//! filled by SplitMix64 as its authors ask.

/// SplitMix64: one step from a state to the next output. Good for turning a
/// small seed into well-mixed words.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
}

/// The mixing step of SplitMix64 alone.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[derive(Debug, Clone)]
pub struct Rng([u64; 4]);

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        let mut mix = SplitMix64(seed);
        Self([mix.next_u64(), mix.next_u64(), mix.next_u64(), mix.next_u64()])
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in the open interval (0, 1): never 0 and never 1, so that its
    /// logarithm is finite.
    pub fn uniform(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
        ((self.next_u64() >> 11) as f64 + 0.5) * SCALE
    }

    /// Uniform over `0..n`, without bias (Lemire's method).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Standard normal (Box and Muller; the second value is thrown away, which
    /// keeps the stream simple).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        libm::sqrt(-2.0 * libm::log(u)) * libm::cos(core::f64::consts::TAU * v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_stream() {
        // Reference values of splitmix64.c for seed 1234567.
        let mut mix = SplitMix64(1_234_567);
        assert_eq!(mix.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(mix.next_u64(), 3_203_168_211_198_807_973);
        assert_eq!(mix.next_u64(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn xoshiro_gives_the_published_stream() {
        // Reference values of xoshiro256plusplus.c for the state 1, 2, 3, 4.
        let mut rng = Rng([1, 2, 3, 4]);
        let got: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(got, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }
}
