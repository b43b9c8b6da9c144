//! Units as tables and sentences write them.

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// In nanoseconds.
    Time,
    /// In cycles or ticks of a clock.
    Cycles,
    /// In bytes.
    Bytes,
    /// In bits a second.
    BitRate,
    /// In operations a second.
    Rate,
    /// As a share of something.
    Share,
    /// As a multiple of something.
    Times,
}

/// A unit: what it measures, and how many base units it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// What is measured.
    pub dimension: Dimension,
    /// Base units in one of it.
    pub scale: f64,
}

/// Units that are words; their case does not matter.
const WORDS: [(&str, Dimension, f64); 8] = [
    ("ps picosecond picoseconds", Dimension::Time, 1e-3),
    ("ns nsec nsecs nanosecond nanoseconds nanos", Dimension::Time, 1.0),
    ("us µs μs usec usecs microsecond microseconds micros", Dimension::Time, 1e3),
    ("ms msec msecs millisecond milliseconds millis", Dimension::Time, 1e6),
    ("s sec secs second seconds", Dimension::Time, 1e9),
    ("cycle cycles tick ticks", Dimension::Cycles, 1.0),
    ("% percent", Dimension::Share, 0.01),
    ("x × times", Dimension::Times, 1.0),
];

/// What is counted a second where it is not bits or bytes.
const COUNTED: &str = "msg msgs message messages op ops req reqs trip trips elem";

impl Unit {
    /// The unit that a word spells, brackets and punctuation around it left out.
    pub fn of(word: &str) -> Option<Self> {
        let word = word.trim_matches(|c| "()[],;:.!*\\".contains(c));
        let lower = word.to_lowercase();
        let one = |dimension, scale| Some(Self { dimension, scale });
        let known = |(spellings, ..): &&(&str, Dimension, f64)| {
            spellings.split(' ').any(|spelling| spelling == lower)
        };
        if let Some((_, dimension, scale)) = WORDS.iter().find(known) {
            return one(*dimension, *scale);
        }
        let per_second = ["/sec", "/second", "/s"].iter().find_map(|end| word.strip_suffix(end));
        if let Some(what) = per_second {
            let counted = |what: &str| COUNTED.split(' ').any(|one| one == what.to_lowercase());
            let of_prefix = prefix(what).filter(|(_, rest)| counted(rest));
            return match (bits(what), of_prefix) {
                (Some(bits), _) => one(Dimension::BitRate, bits),
                (None, Some((scale, _))) => one(Dimension::Rate, scale),
                _ if what.is_empty() || counted(what) => one(Dimension::Rate, 1.0),
                _ => None,
            };
        }
        // `mbps` is as often megabytes as megabits, and says neither.
        if let ("Gbps" | "gbps" | "Mbps" | "Kbps" | "kbps" | "bps", prefixed) =
            (word, word.strip_suffix("bps").unwrap_or_default())
        {
            return one(Dimension::BitRate, prefix(prefixed).map_or(1.0, |(scale, _)| scale));
        }
        bits(word).filter(|_| word != "b").and_then(|bits| one(Dimension::Bytes, bits / 8.0))
    }
}

/// `k`, `Ki`, `M` … before the rest of a unit.
fn prefix(unit: &str) -> Option<(f64, &str)> {
    let power = match unit.chars().next()? {
        'k' | 'K' => 1,
        'm' | 'M' => 2,
        'g' | 'G' => 3,
        _ => return None,
    };
    let rest = &unit[1..];
    Some(match rest.strip_prefix('i') {
        Some(rest) => (1024f64.powi(power), rest),
        None => (1000f64.powi(power), rest),
    })
}

/// Bits in `B`, `Mbit`, `KiB`, `GBytes` ….
fn bits(unit: &str) -> Option<f64> {
    let of = |unit: &str| match unit {
        "b" | "bit" | "bits" | "Bit" | "Bits" => Some(1.0),
        "B" | "byte" | "bytes" | "Byte" | "Bytes" => Some(8.0),
        _ => None,
    };
    of(unit).or_else(|| prefix(unit).and_then(|(scale, rest)| Some(scale * of(rest)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_apart() {
        let of = |word| Unit::of(word).map(|unit| (unit.dimension, unit.scale));
        for (word, dimension, scale) in [
            ("(μs)", Dimension::Time, 1e3),
            ("s", Dimension::Time, 1e9),
            ("Gbps", Dimension::BitRate, 1e9),
            ("Gbits/sec", Dimension::BitRate, 1e9),
            ("MB/s", Dimension::BitRate, 8e6),
            ("MiB/s", Dimension::BitRate, 8.0 * 1_048_576.0),
            ("Mb/s", Dimension::BitRate, 1e6),
            ("msg/s", Dimension::Rate, 1.0),
            ("kmsg/s", Dimension::Rate, 1e3),
            ("Mops/s", Dimension::Rate, 1e6),
            ("KiB", Dimension::Bytes, 1024.0),
            ("bytes", Dimension::Bytes, 1.0),
            ("%", Dimension::Share, 0.01),
            ("×", Dimension::Times, 1.0),
        ] {
            assert_eq!(of(word), Some((dimension, scale)), "{word}");
        }
        for word in ["", "mbps", "b", "min", "slower", "m", "µ", "/min"] {
            assert_eq!(of(word), None, "{word}");
        }
    }
}
