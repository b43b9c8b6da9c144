//! A straight line through costs by size, fitted to relative distances.
//!
//! Costs of a sweep of sizes span decades. Least squares of the absolute distances
//! would fit the largest size and nothing else, so each distance is taken relative
//! to its cost (weight 1/t²).

/// `fixed` + `per_unit` × x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Value at x = 0.
    pub fixed: f64,
    /// Change for each further unit of x.
    pub per_unit: f64,
}

impl Line {
    /// Its value at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.fixed + self.per_unit * x
    }
}

/// The line through `(x, cost)` with the least sum of squared relative distances.
/// `None` if a cost is not positive and finite, or there are not two different x.
pub fn fit_relative(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|(x, t)| !(x.is_finite() && *t > 0.0 && t.is_finite())) {
        return None;
    }
    let weight = |t: f64| 1.0 / (t * t);
    let total: f64 = points.iter().map(|(_, t)| weight(*t)).sum();
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|(x, t)| weight(*t) * of(*x, *t)).sum::<f64>() / total
    };
    // Around the weighted means, so that large sizes lose no digits.
    let (x_mean, t_mean) = (mean(&|x, _| x), mean(&|_, t| t));
    let spread = mean(&|x, _| (x - x_mean) * (x - x_mean));
    let per_unit = mean(&|x, t| (x - x_mean) * (t - t_mean)) / spread;
    let line = Line { fixed: t_mean - per_unit * x_mean, per_unit };
    (spread > 0.0 && line.fixed.is_finite() && line.per_unit.is_finite()).then_some(line)
}

/// The greatest relative distance of a cost from the line, `|t − line| / t`.
pub fn residual_max(line: Line, points: &[(f64, f64)]) -> Option<f64> {
    points.iter().map(|(x, t)| (t - line.at(*x)).abs() / t).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn relative_distances_decide() {
        // The small size is off by half of itself, the large one by a thousandth.
        let points = [(0.0, 100.0), (1.0, 150.0), (1_000_000.0, 1_000_000.0)];
        let line = fit_relative(&points).unwrap();
        assert!((100.0..150.0).contains(&line.fixed), "{line:?}");
        assert!(residual_max(line, &points).unwrap() < 0.25);
    }

    #[test]
    fn refusals() {
        assert_eq!(fit_relative(&[]), None);
        assert_eq!(fit_relative(&[(1.0, 5.0)]), None);
        assert_eq!(fit_relative(&[(1.0, 5.0), (1.0, 6.0)]), None);
        assert_eq!(fit_relative(&[(1.0, 0.0), (2.0, 6.0)]), None);
        assert_eq!(fit_relative(&[(1.0, 4.0), (f64::NAN, 6.0)]), None);
    }

    proptest! {
        #[test]
        fn an_exact_line_comes_back(fixed in 0.1..1e6f64, per_unit in 1e-4..1e3f64) {
            let line = Line { fixed, per_unit };
            let points: Vec<_> =
                [0.0, 64.0, 1024.0, 65_536.0].iter().map(|x| (*x, line.at(*x))).collect();
            let found = fit_relative(&points).unwrap();
            prop_assert!((found.fixed / fixed - 1.0).abs() < 1e-6, "{found:?}");
            prop_assert!((found.per_unit / per_unit - 1.0).abs() < 1e-6, "{found:?}");
            prop_assert!(residual_max(found, &points).unwrap() < 1e-9);
        }
    }
}
