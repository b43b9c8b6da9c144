//! The corpora of the fuzz targets, and other files of the same kinds, without a fuzzer.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

use targets::TARGETS;

/// Files outside of `fuzz/corpus` that a target takes too.
const FURTHER: [(&str, &str); 2] = [("suite", "suites"), ("published", "published")];

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_corpus_passes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, target) in TARGETS {
        let mut inputs = files(&root.join("fuzz/corpus").join(name));
        let further = FURTHER.iter().filter(|(of, _)| of == name);
        further.for_each(|(_, folder)| inputs.extend(files(&root.join(folder))));
        assert!(inputs.len() > 3, "{name}");
        for input in inputs {
            // Shown if it fails: what is said then does not name the file.
            println!("{}", input.display());
            target(&std::fs::read(&input).unwrap());
        }
    }
}

#[test]
fn every_target_can_be_fuzzed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let stem = |path: &std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    assert_eq!(files(&root).iter().map(stem).collect::<Vec<_>>(), names);
}
