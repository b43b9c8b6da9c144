//! How much of a variance each of several factors explains.
//!
//! Type I (sequential) sums of squares: each factor is given what it explains
//! beyond the factors before it. Every cell (a combination of levels) has the same
//! number of trials and every trial the same number of samples; the cells need not
//! be all combinations there are. Where they are, the order of the factors does not
//! matter.

/// Shares of the total sum of squares; they sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// What each factor explains beyond the factors before it.
    pub factors: Vec<f64>,
    /// Of trials around the mean of their cell.
    pub trial: f64,
    /// The rest: samples around the mean of their trial, and what the factors
    /// explain only in combination.
    pub residual: f64,
}

/// A column that is this much of its length outside the columns before it is new.
const NEW_MIN: f64 = 1e-6;

/// Levels of all factors together. More would take long, and are a sweep of a number
/// rather than a factor.
const LEVELS_MAX: usize = 200;

/// Shares of the variance of `values[cell][trial][sample]`, whose cells have
/// `levels[cell][factor]`. `None` if the numbers of levels, trials or samples differ
/// between cells, there are none or more than 200 levels in all, a value is not finite, or
/// nothing varies.
pub fn type_one(levels: &[Vec<usize>], values: &[Vec<Vec<f64>>]) -> Option<Shares> {
    let (trials, samples) = (values.first()?.len(), values.first()?.first()?.len());
    let factors = levels.first()?.len();
    let balanced = levels.len() == values.len()
        && levels.iter().all(|of_cell| of_cell.len() == factors)
        && values.iter().all(|cell| cell.len() == trials)
        && values.iter().flatten().all(|trial| trial.len() == samples && samples > 0);
    if !balanced || values.iter().flatten().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let highest = |factor: usize| levels.iter().map(|of_cell| of_cell[factor]).max();
    let counts = (0..factors).filter_map(highest).map(|highest| highest.saturating_add(1));
    if counts.fold(0, usize::saturating_add) > LEVELS_MAX {
        return None;
    }
    let trial_means: Vec<Vec<f64>> =
        values.iter().map(|cell| cell.iter().map(|trial| mean(trial)).collect()).collect();
    let cell_means: Vec<f64> = trial_means.iter().map(|means| mean(means)).collect();
    let grand = mean(&cell_means);
    let total: f64 = values.iter().flatten().flatten().map(|v| (v - grand) * (v - grand)).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let trial = samples as f64
        * trial_means
            .iter()
            .zip(&cell_means)
            .flat_map(|(means, cell)| means.iter().map(move |m| (m - cell) * (m - cell)))
            .sum::<f64>();
    let per_cell = (trials * samples) as f64;
    let explained: Vec<f64> = explained(levels, factors, &cell_means)
        .into_iter()
        .map(|squares| per_cell * squares / total)
        .collect();
    let trial = trial / total;
    let residual = (1.0 - trial - explained.iter().sum::<f64>()).max(0.0);
    Some(Shares { factors: explained, trial, residual })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of squares of the cells' means that each factor explains beyond those before
/// it: the projection on the columns it adds to an orthonormal basis.
fn explained(levels: &[Vec<usize>], factors: usize, cell_means: &[f64]) -> Vec<f64> {
    let cells = cell_means.len();
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0 / libm::sqrt(cells as f64); cells]];
    (0..factors)
        .map(|factor| {
            let count = levels.iter().map(|of_cell| of_cell[factor] + 1).max().unwrap_or(0);
            let mut squares = 0.0;
            for level in 0..count {
                let indicator =
                    |of_cell: &Vec<usize>| f64::from(u8::from(of_cell[factor] == level));
                let mut column: Vec<f64> = levels.iter().map(indicator).collect();
                let length = norm(&column);
                // Twice, since once leaves rounding errors along the basis.
                for _ in 0..2 {
                    for of_basis in &basis {
                        let along = dot(&column, of_basis);
                        column.iter_mut().zip(of_basis).for_each(|(c, b)| *c -= along * b);
                    }
                }
                let rest = norm(&column);
                if rest > NEW_MIN * length {
                    column.iter_mut().for_each(|c| *c /= rest);
                    let along = dot(&column, cell_means);
                    squares += along * along;
                    basis.push(column);
                }
            }
            squares
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(values: &[f64]) -> f64 {
    libm::sqrt(dot(values, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two factors fully crossed, two trials a cell, two samples a trial; each
    /// effect is ± its size, so its share is its size squared.
    fn crossed(a: f64, b: f64, trial: f64, sample: f64, both: f64) -> Shares {
        let sign = |up: usize| if up == 1 { 1.0 } else { -1.0 };
        let mut levels = Vec::new();
        let mut values = Vec::new();
        for i in 0..2 {
            for j in 0..2 {
                levels.push(vec![i, j]);
                let cell = a * sign(i) + b * sign(j) + both * sign(i) * sign(j) + 7.0;
                let value = |t: usize, s: usize| cell + trial * sign(t) + sample * sign(s);
                values.push((0..2).map(|t| vec![value(t, 0), value(t, 1)]).collect());
            }
        }
        type_one(&levels, &values).unwrap()
    }

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-9, "{got} is not {want}");
    }

    #[test]
    fn known_shares_come_back() {
        let shares = crossed(4.0, 2.0, 1.0, 2.0, 0.0);
        near(shares.factors[0], 16.0 / 25.0);
        near(shares.factors[1], 4.0 / 25.0);
        near(shares.trial, 1.0 / 25.0);
        near(shares.residual, 4.0 / 25.0);
    }

    #[test]
    fn a_factor_gets_what_those_before_it_left() {
        // The second factor is the first under another name.
        let values = vec![vec![vec![1.0, 3.0]], vec![vec![5.0, 7.0]]];
        let shares = type_one(&[vec![0, 0], vec![1, 1]], &values).unwrap();
        near(shares.factors[0], 0.8);
        near(shares.factors[1], 0.0);
        // Without the fourth combination, the order matters and the sum holds.
        let values: Vec<_> = [0.0, 1.0, 5.0].map(|v| vec![vec![v, v + 1.0]]).into();
        let shares = type_one(&[vec![0, 0], vec![0, 1], vec![1, 1]], &values).unwrap();
        assert!(shares.factors[0] > 0.8 && shares.factors[1] > 0.0, "{shares:?}");
        near(shares.factors.iter().sum::<f64>() + shares.trial + shares.residual, 1.0);
    }

    #[test]
    fn refusals() {
        let flat = vec![vec![vec![1.0, 1.0]]; 2];
        assert_eq!(type_one(&[vec![0], vec![1]], &flat), None, "nothing varies");
        assert_eq!(type_one(&[], &[]), None);
        let uneven = vec![vec![vec![1.0, 2.0]], vec![vec![1.0]]];
        assert_eq!(type_one(&[vec![0], vec![1]], &uneven), None);
        assert_eq!(type_one(&[vec![0], vec![1, 2]], &flat), None);
        let nan = vec![vec![vec![1.0, f64::NAN]]; 2];
        assert_eq!(type_one(&[vec![0], vec![1]], &nan), None);
        let cells = |n: usize| {
            let levels: Vec<Vec<usize>> = (0..n).map(|level| vec![level]).collect();
            let values: Vec<_> = (0..n).map(|level| vec![vec![level as f64, 0.5]]).collect();
            type_one(&levels, &values)
        };
        assert!(cells(LEVELS_MAX).is_some() && cells(LEVELS_MAX + 1).is_none());
    }
}
