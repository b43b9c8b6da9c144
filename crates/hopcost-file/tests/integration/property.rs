//! Whatever can be stored reads back bit for bit; whatever cannot be a run is
//! refused without a panic.

use std::fs;

use crate::common::{batched, begun, failed, fresh, made, open, rich, stored};
use hopcost_file::open_for_resume;
use hopcost_model::raw::RawTrial;
use hopcost_model::text::escaped;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// Numbers that follow from a seed.
struct Draw(u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 33)
    }
    fn below(&mut self, below: usize) -> usize {
        (self.bits() % below as u64) as usize
    }
    /// A count that the format has room for, small and huge ones alike.
    fn count(&mut self) -> u64 {
        match self.below(3) {
            0 => self.bits() % 10,
            1 => self.bits() >> 1,
            _ => i64::MAX as u64,
        }
    }
    fn time(&mut self) -> f64 {
        let any = (self.bits() >> 1) as f64;
        [any, 41.0, f64::MIN_POSITIVE, -0.0, 9_007_199_254_740_993.0][self.below(5)]
    }
    /// A text as it is read: what does not show as itself is written out.
    fn text(&mut self) -> String {
        let letters = (0..self.below(20)).map(|_| char::from_u32(self.bits() as u32 >> 11));
        escaped(&letters.flatten().collect::<String>())
    }
}

/// Fields whose number has a bound of its own or belongs to another table.
const KEPT: [&str; 4] = ["case", "yardstick", "fill_ns", "verify_ns"];
/// Fields of 32 bits, and those of fewer bits than a count.
const NARROW: [(&str, u32); 9] = [
    ("round", 32),
    ("position", 32),
    ("cpu", 32),
    ("cpu_before", 32),
    ("cpu_after", 32),
    ("flow", 32),
    ("operations", 42),
    ("offered", 42),
    ("count", 42),
];
const TEXTS: [&str; 5] = ["error", "event", "name", "unavailable", "pin_errors"];

/// The same document with other numbers, texts and lengths.
fn scrambled(value: &Value, key: &str, draw: &mut Draw) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| match key.as_str() {
                "trace" => (key.clone(), value.clone()),
                _ => (key.clone(), scrambled(value, key, draw)),
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(all) => {
            let kept = draw.below(all.len() + 1);
            let one = |one: &Value| match one.as_u64() {
                Some(_) => (draw.bits() as u32).into(),
                None => scrambled(one, key, draw),
            };
            Value::Array(all[..kept].iter().map(one).collect())
        }
        Value::String(_) if TEXTS.contains(&key) => draw.text().into(),
        Value::Number(number) if !KEPT.contains(&key) => {
            let narrow = NARROW.iter().find(|(name, _)| *name == key);
            let ticks = key.ends_with("_ticks") || key.ends_with("_tick");
            let bits = narrow.map_or(if ticks { 62 } else { 63 }, |(_, bits)| *bits);
            match number.is_f64() {
                true => draw.time().into(),
                false => (draw.count() & ((1 << bits) - 1)).into(),
            }
        }
        other => other.clone(),
    }
}

fn trial(draw: &mut Draw, round: u32) -> RawTrial {
    let kinds = [rich, failed, batched, rich];
    let mut trial = kinds[draw.below(4)](draw.below(4) as u32, round);
    if draw.below(2) == 0 {
        trial.load.iter_mut().for_each(|load| load.own_lags = None);
        trial.trace = None;
    }
    let scrambled = scrambled(&serde_json::to_value(&trial).unwrap(), "", draw);
    serde_json::from_value(scrambled).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn trials_read_back_bit_for_bit(seed in any::<u64>()) {
        let mut draw = Draw(seed);
        let mut trials: Vec<RawTrial> = (0..12).map(|round| trial(&mut draw, round)).collect();
        let mut seen = std::collections::BTreeSet::new();
        trials.retain(|t| seen.insert((t.case, t.round)));
        let yardsticks = stored().yardsticks;
        let (_dir, path, mut file) = begun();
        for trial in &trials {
            file.append_trial(trial).unwrap();
        }
        prop_assert_eq!(file.finished(), &seen);
        drop(file);
        let run = open(&path).unwrap();
        prop_assert_eq!(&run.yardsticks, &yardsticks);
        prop_assert_eq!(&run.trials, &trials);
        // Equality takes -0 for 0; the spelling does not.
        let spelled = |trials: &Vec<RawTrial>| serde_json::to_string(trials).unwrap();
        prop_assert_eq!(spelled(&run.trials), spelled(&trials));
    }
}

/// Opening may succeed or fail, for reading and for resuming; it returns.
fn opens_or_fails(bytes: &[u8]) {
    let (_dir, path) = fresh();
    fs::write(&path, bytes).unwrap();
    for error in [open(&path).err(), open_for_resume(&path).err()].into_iter().flatten() {
        let line = error.to_string();
        assert!(line.contains("/run: ") && !line.contains('\n'), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..2000), header in 0..3) {
        let mut file = match header {
            0 => Vec::new(),
            1 => b"SQLite format 3\0".to_vec(),
            _ => good_header(),
        };
        file.extend(bytes);
        opens_or_fails(&file);
    }
}

fn good_header() -> Vec<u8> {
    let (_dir, path, _) = made(0);
    fs::read(path).unwrap()[..100].to_vec()
}

#[test]
fn a_run_with_bytes_changed_never_panics() {
    let (_dir, path, _) = made(3);
    let good = fs::read(path).unwrap();
    let mut draw = Draw(1);
    let mut next = |below: usize| draw.below(below);
    for _ in 0..150 {
        let mut bent = good.clone();
        for _ in 0..=next(4) {
            let at = next(bent.len());
            bent[at] = next(256) as u8;
        }
        if next(4) == 0 {
            bent.truncate(next(good.len()));
        }
        opens_or_fails(&bent);
    }
}
