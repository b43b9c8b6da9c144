//! The corpora of the fuzz targets, and other files of the same kinds, without a fuzzer.

#[path = "../fuzz/src/lib.rs"]
pub mod targets;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hopcost_stats::rng::SplitMix64;
use targets::TARGETS;

use crate::support::repository;

/// Files outside of `fuzz/corpus` that a target takes too.
const FURTHER: [(&str, &str); 3] =
    [("suite", "suites"), ("claims", "claims"), ("published", "published")];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every input of a target, by its file.
fn inputs(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut inputs = files(&repository("fuzz/corpus").join(name));
    let further = FURTHER.iter().filter(|(of, _)| *of == name);
    further.for_each(|(_, folder)| inputs.extend(files(&repository(folder))));
    assert!(inputs.len() > 3, "{name}");
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
    inputs.into_iter().map(read).collect()
}

/// An input with some bytes of it, or of another, replaced, left out or repeated.
fn changed(input: &[u8], other: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    const BYTES: &[u8] = b"\0\n\t 0199.,-+?&=/:*{}[]()\"'%$#|aexn\xff\xc3\x80";
    let mut out = input.to_vec();
    let mut below = |n: usize| (random.next_u64() % n.max(1) as u64) as usize;
    for _ in 0..=below(4) {
        let (at, from) = (below(out.len() + 1), below(other.len() + 1));
        let end = (at + below(8)).min(out.len());
        let new = match below(4) {
            0 => Vec::new(),
            1 => vec![BYTES[below(BYTES.len())]; 1 + below(3)],
            2 => other[from..(from + below(40)).min(other.len())].to_vec(),
            _ => out[at..end].repeat(2 + below(3)),
        };
        out.splice(at..end, new);
    }
    out
}

/// Without coverage this finds less than a fuzzer, but it needs none. HOPCOST_SEED=N makes other
/// changes.
#[test]
fn every_corpus_passes_as_it_is_and_changed_at_random() {
    let patience = Duration::from_millis(if crate::support::all() { 60_000 } else { 300 });
    let seed = std::env::var("HOPCOST_SEED").ok().and_then(|text| text.parse().ok());
    let mut random = SplitMix64(seed.unwrap_or(1));
    for (name, target) in TARGETS {
        assert!(repository("fuzz/fuzz_targets").join(name).with_extension("rs").exists(), "{name}");
        let inputs = inputs(name);
        for (file, input) in &inputs {
            // Shown if it fails: the message then does not name the file.
            println!("{}", file.display());
            target(input);
        }
        let until = Instant::now() + patience;
        while Instant::now() < until {
            let mut any = || &inputs[(random.next_u64() % inputs.len() as u64) as usize].1;
            let (input, other) = (any(), any());
            let input = changed(input, other, &mut random);
            if std::panic::catch_unwind(|| target(&input)).is_err() {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("broke-{name}"));
                std::fs::write(&kept, &input).unwrap();
                panic!("{} breaks it; mend it and add it to fuzz/corpus/{name}", kept.display());
            }
        }
    }
}
