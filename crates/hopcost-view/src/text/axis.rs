//! A logarithmic axis and the bars on it.

use crate::style::Charset;

/// What lies outside cannot be a duration, and would send the search for its
/// decade astray.
const LEAST_NS: f64 = 1e-6;
const MOST_NS: f64 = 1e30;

/// From one power of ten to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    pub low_ns: f64,
    pub high_ns: f64,
}

impl Axis {
    /// The whole decades that hold all values; `None` without a positive one.
    pub fn around(values: impl Iterator<Item = f64>) -> Option<Self> {
        let positive = values.filter(|ns| (LEAST_NS..=MOST_NS).contains(ns));
        let (least, most) = positive.fold(None, |range: Option<(f64, f64)>, ns| match range {
            None => Some((ns, ns)),
            Some((least, most)) => Some((least.min(ns), most.max(ns))),
        })?;
        let mut low_ns = 1.0;
        while low_ns > least {
            low_ns /= 10.0;
        }
        while low_ns * 10.0 <= least {
            low_ns *= 10.0;
        }
        let mut high_ns = low_ns * 10.0;
        while high_ns < most {
            high_ns *= 10.0;
        }
        Some(Self { low_ns, high_ns })
    }

    /// Where a value stands on the axis, 0 to 1.
    fn share(self, ns: f64) -> f64 {
        if ns.is_nan() || ns <= self.low_ns {
            return 0.0;
        }
        (log2(ns / self.low_ns) / log2(self.high_ns / self.low_ns)).clamp(0.0, 1.0)
    }

    /// A bar of at most `width` columns; a measured value always leaves a trace.
    pub fn bar(self, ns: f64, width: usize, charset: Charset) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let columns = self.share(ns) * width as f64;
        match charset {
            Charset::Ascii => "#".repeat((columns.round() as usize).clamp(1, width.max(1))),
            Charset::Unicode => {
                let eighths = ((columns * 8.0).round() as usize).clamp(1, width.max(1) * 8);
                format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
            }
        }
    }
}

/// Binary logarithm to 2^-20 by repeated squaring: only multiplication, so that
/// every machine draws the same bar.
fn log2(x: f64) -> f64 {
    let mut whole = 0.0;
    let mut x = x;
    while x >= 2.0 && whole < 2_000.0 {
        x /= 2.0;
        whole += 1.0;
    }
    let mut fraction = 0.0;
    let mut bit = 0.5;
    for _ in 0..20 {
        x *= x;
        if x >= 2.0 {
            x /= 2.0;
            fraction += bit;
        }
        bit /= 2.0;
    }
    whole + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_spans_whole_decades_around_every_value() {
        let axis = |values: &[f64]| Axis::around(values.iter().copied());
        assert_eq!(axis(&[212.0, 61_420.0]), Some(Axis { low_ns: 100.0, high_ns: 100_000.0 }));
        assert_eq!(axis(&[100.0]), Some(Axis { low_ns: 100.0, high_ns: 1_000.0 }));
        assert_eq!(axis(&[1_000.0, 10.0]), Some(Axis { low_ns: 10.0, high_ns: 1_000.0 }));
        let tiny = axis(&[0.3, 71.0]).expect("two positive values");
        assert!((tiny.low_ns - 0.1).abs() < 1e-9 && (tiny.high_ns - 100.0).abs() < 1e-6);
        assert_eq!(axis(&[]), None);
        assert_eq!(axis(&[0.0, -3.0, f64::NAN, f64::MIN_POSITIVE, f64::INFINITY]), None);
    }

    #[test]
    fn bars_are_logarithmic() {
        let axis = Axis { low_ns: 1.0, high_ns: 10_000.0 };
        assert_eq!(axis.bar(100.0, 8, Charset::Ascii), "####");
        assert_eq!(axis.bar(100.0, 8, Charset::Unicode), "████");
        assert_eq!(axis.bar(10_000.0, 8, Charset::Unicode), "████████");
        assert_eq!(axis.bar(1e9, 8, Charset::Ascii), "########");
        assert_eq!(axis.bar(1.0, 8, Charset::Unicode), "▏");
        assert_eq!(axis.bar(10.0, 9, Charset::Unicode), "██▎");
    }

    #[test]
    fn the_logarithm_is_one() {
        for (x, want) in [(1.0, 0.0), (2.0, 1.0), (1000.0, 9.965_784), (3.0, 1.584_962_5)] {
            assert!((log2(x) - want).abs() < 2e-6, "{x}");
        }
    }
}
