//! From values to lengths, which values get a tick, and how they are written.

use super::model::{Axis, Scale};

/// A tick: where, and what it says; nothing for one that is only a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub text: String,
}

impl Axis {
    /// Place of a value, 0 to 1 from one end to the other; outside values stay at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high) = (self.length(self.domain.0), self.length(self.domain.1));
        if high <= low {
            return 0.5;
        }
        ((self.length(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Whether a value lies before the axis, or behind it.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        let (low, high) = (self.length(self.domain.0), self.length(self.domain.1));
        let room = 1e-9 * (high - low);
        !(low - room..=high + room).contains(&self.length(value))
    }

    fn length(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Nines => -(1.0 - value).max(1e-12).log10(),
        }
    }

    /// Ticks over the axis, about `wanted` of them with a text.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Linear if self.at.is_empty() => self.linear(wanted),
            Scale::Log if self.at.is_empty() => self.log(wanted),
            _ => self.at.clone(),
        };
        let tick = |value| Tick { value, text: self.unit.text(value) };
        values.into_iter().map(tick).collect()
    }

    fn linear(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = self.domain;
        let step = nice_step((high - low) / wanted.max(1) as f64);
        let first = (low / step).ceil();
        // A range that no step divides into a few (overflow, no width) has no ticks.
        let count = ((high / step + 1e-9).floor() - first + 1.0).max(0.0);
        if count.is_finite() && count <= 4.0 * wanted.max(4) as f64 {
            (0..count as u32).map(|i| (first + f64::from(i)) * step).collect()
        } else {
            Vec::new()
        }
    }

    /// Steps of 1-2-5, as many as are wanted, or even ones where these are too few.
    fn log(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = self.domain;
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let steps = decades.flat_map(|e| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(e)));
        let holds = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
        let values: Vec<f64> = steps.filter(holds).collect();
        if values.len() < 3 {
            return self.linear(wanted.min(5));
        }
        let every = values.len().div_ceil(wanted.max(4));
        values.into_iter().step_by(every).collect()
    }
}

fn nice_step(raw: f64) -> f64 {
    if raw <= 0.0 || !raw.is_finite() {
        return 1.0;
    }
    let magnitude = 10f64.powf(raw.log10().floor());
    let digit = raw / magnitude;
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| digit <= *n + 1e-9).unwrap_or(10.0);
    nice * magnitude
}

#[cfg(test)]
mod tests {
    use super::super::model::{Unit, domain};
    use super::*;

    fn texts(scale: Scale, unit: Unit, domain: (f64, f64), wanted: usize) -> Vec<String> {
        let axis = Axis { domain, ..Axis::new("", scale, unit) };
        axis.ticks(wanted).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn ticks_carry_the_unit_and_no_digit_too_many() {
        assert_eq!(
            texts(Scale::Log, Unit::Ns, (400.0, 6000.0), 8),
            ["500 ns", "1 µs", "2 µs", "5 µs"]
        );
        assert_eq!(
            texts(Scale::Log, Unit::Ns, (0.9, 2e6), 8),
            ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]
        );
        assert_eq!(
            texts(Scale::Log, Unit::Ns, (1010.0, 1090.0), 4),
            ["1.02 µs", "1.04 µs", "1.06 µs", "1.08 µs"]
        );
    }

    #[test]
    fn swept_values_get_the_ticks() {
        let at = vec![64.0, 1024.0, 65_536.0];
        let axis = Axis { at, ..Axis::new("", Scale::Log, Unit::Bytes) };
        let texts =
            |axis: &Axis| -> Vec<String> { axis.ticks(8).into_iter().map(|t| t.text).collect() };
        assert_eq!(texts(&axis), ["64 B", "1 KiB", "64 KiB"]);
        let axis = Axis { at: vec![1.0, 2.5], unit: Unit::GigabitsPerSecond, ..axis };
        assert_eq!(texts(&axis), ["1 Gbit/s", "2.5 Gbit/s"]);
        let axis = Axis { at: vec![-1.0, 0.5, 1e12], unit: Unit::Bytes, ..axis };
        assert_eq!(texts(&axis), ["-1 B", "0.5 B", "1000000000000 B"]);
    }

    #[test]
    fn nothing_to_show_is_no_reason_to_fail() {
        for scale in [Scale::Linear, Scale::Log, Scale::Nines] {
            for values in [
                vec![],
                vec![0.0],
                vec![-3.0],
                vec![f64::NAN],
                vec![5.0],
                vec![f64::INFINITY],
                vec![f64::MIN_POSITIVE, f64::MAX],
                vec![f64::MIN, f64::MAX],
                vec![1e18, 1e18 + 1000.0],
            ] {
                let domain = domain(scale, values.into_iter());
                let axis = Axis { domain, ..Axis::new("", scale, Unit::Ns) };
                assert!(axis.place(7.0).is_finite());
                assert!(axis.ticks(6).len() < 40);
            }
        }
    }
}
