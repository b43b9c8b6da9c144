//! Samples from known distributions.

use crate::rng::Rng;

/// The shape of one operation's duration; all have a scale of about 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Exponential with mean 1.
    Exponential,
    /// Lognormal with median 1 and sigma 1.5: a long tail.
    Lognormal,
    /// Pareto with exponent 1.5 from 1: a tail without variance.
    Pareto,
    /// 70 % near 1, 30 % near 1.5, each within 5 %.
    Bimodal,
    /// A lognormal of sigma 0.3 read by a clock with a step of a quarter.
    Quantised,
    /// Gumbel peaks at 1, 2 and 6 with shares 60, 30 and 10 %: layered latencies
    /// as on a storage or network path.
    GumbelMix,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 6] = [
        Shape::Exponential,
        Shape::Lognormal,
        Shape::Pareto,
        Shape::Bimodal,
        Shape::Quantised,
        Shape::GumbelMix,
    ];

    /// Turns a standard normal deviate into a value of this shape, so that
    /// dependent normals give dependent values. `component` (uniform over 0 to 1)
    /// picks the peak of a mixture.
    pub fn of_normal(self, normal: f64, component: f64) -> f64 {
        // P(Z > z), accurate in both tails.
        let upper = || 0.5 * libm::erfc(normal / core::f64::consts::SQRT_2);
        let lower = || 0.5 * libm::erfc(-normal / core::f64::consts::SQRT_2);
        match self {
            Shape::Exponential => -libm::log(upper()),
            Shape::Lognormal => libm::exp(1.5 * normal),
            Shape::Pareto => libm::pow(upper(), -1.0 / 1.5),
            Shape::Bimodal => {
                let at = if component < 0.7 { 1.0 } else { 1.5 };
                at * libm::exp(0.05 * normal)
            }
            Shape::Quantised => 0.25 * libm::round(libm::exp(0.3 * normal) / 0.25),
            Shape::GumbelMix => {
                let (at, width) = match component {
                    c if c < 0.6 => (1.0, 0.05),
                    c if c < 0.9 => (2.0, 0.1),
                    _ => (6.0, 0.5),
                };
                at - width * libm::log(-libm::log(lower()))
            }
        }
    }
}

/// How the samples of a trial depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dependence {
    /// Not at all.
    Independent,
    /// Each on the one before, with this correlation of the underlying normals.
    Ar1(f64),
    /// All samples of a trial share a factor, lognormal with this sigma.
    TrialEffect(f64),
}

/// The samples of one trial, in time order.
pub fn trial(shape: Shape, dependence: Dependence, n: usize, rng: &mut Rng) -> Vec<f64> {
    let (rho, factor) = match dependence {
        Dependence::Independent => (0.0, 1.0),
        Dependence::Ar1(rho) => (rho, 1.0),
        Dependence::TrialEffect(sigma) => (0.0, libm::exp(sigma * rng.normal())),
    };
    let fresh = libm::sqrt(1.0 - rho * rho);
    let mut normal = rng.normal();
    (0..n)
        .map(|_| {
            let component = rng.uniform();
            let value = factor * shape.of_normal(normal, component);
            normal = rho * normal + fresh * rng.normal();
            value
        })
        .collect()
}
