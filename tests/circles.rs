//! No module imports one that imports it again, by whatever way round: each can be read, and
//! changed, after those that it builds on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Name = Vec<String>;

#[test]
fn no_modules_import_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders: Vec<_> = std::fs::read_dir(crates).expect("the crates").flatten().collect();
    assert!(folders.len() > 5, "{folders:?}");
    for folder in folders {
        let (name, root) = (folder.file_name(), folder.path().join("src"));
        let mut sources = BTreeMap::new();
        collect(&root, &Name::new(), &mut sources);
        assert!(sources.len() > 5, "{name:?}: {} modules", sources.len());
        assert_eq!(circle(&imports(&sources)), None, "{name:?}");
    }
}

#[test]
fn a_circle_is_found_and_a_tree_is_none() {
    let of = |sources: &[(&str, &str)]| {
        let name = |path: &str| path.split("::").map(str::to_owned).collect();
        let sources = sources.iter().map(|(path, text)| (name(path), (*text).to_owned())).collect();
        circle(&imports(&sources)).is_some()
    };
    assert!(of(&[("a", "use crate::{x::{y}, b::{self, T}};"), ("b", "use super::a::U;")]));
    assert!(of(&[("a", "mod b; fn f() { b::g() }"), ("a::b", "use super::T;")]));
    assert!(of(&[("a", "crate::b::f()"), ("b", "use crate::c::T;"), ("c", "use super::a::T;")]));
    assert!(!of(&[("a", "mod b; use b::T; // crate::c"), ("a::b", "use crate::c;"), ("c", "")]));
}

/// Every module's source, without comments and unit tests.
fn collect(folder: &Path, within: &Name, sources: &mut BTreeMap<Name, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut name = within.clone();
        if path.is_dir() {
            name.push(stem);
            collect(&path, &name, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") && stem != "tests" {
            if !["mod", "lib", "main"].contains(&stem.as_str()) {
                name.push(stem);
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            sources.insert(name, text);
        }
    }
}

/// What each module names of the others.
fn imports(sources: &BTreeMap<Name, String>) -> BTreeMap<Name, BTreeSet<Name>> {
    let of = |(module, text): (&Name, &String)| {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let text = lines.collect::<Vec<_>>().join(" ");
        let found = paths(&text).into_iter().filter_map(|path| resolve(module, &path, sources));
        (module.clone(), found.filter(|found| found != module).collect())
    };
    sources.iter().map(of).collect()
}

/// The paths in a text, `a::{b, c::d}` as two.
fn paths(text: &str) -> Vec<Name> {
    let (mut found, mut prefixes) = (Vec::new(), vec![Name::new()]);
    let (mut at, mut word) = (Name::new(), String::new());
    for c in text.chars().chain(" ".chars()) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        at.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        match c {
            ':' => continue,
            '{' => prefixes.push(at.clone()),
            '}' if prefixes.len() > 1 => drop(prefixes.pop()),
            _ => {}
        }
        found.push(std::mem::replace(&mut at, prefixes[prefixes.len() - 1].clone()));
    }
    found.retain(|path| path.len() > 1);
    found
}

/// The module that a path leads to, if it is one of this crate.
fn resolve(module: &Name, path: &Name, sources: &BTreeMap<Name, String>) -> Option<Name> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let (mut at, rest) = match path[0].as_str() {
        "crate" => (Name::new(), &path[1..]),
        "self" => (module.clone(), &path[1..]),
        "super" => (module[..module.len().checked_sub(ups)?].to_vec(), &path[ups..]),
        _ => (module.clone(), &path[..]),
    };
    let start = at.len();
    for part in rest {
        at.push(part.clone());
        if !sources.contains_key(&at) {
            at.pop();
            break;
        }
    }
    let named = ["crate", "self", "super"].contains(&path[0].as_str()) || at.len() > start;
    (named && sources.contains_key(&at)).then_some(at)
}

/// Modules that import each other, if any do.
fn circle(imports: &BTreeMap<Name, BTreeSet<Name>>) -> Option<Vec<String>> {
    let mut left = imports.clone();
    loop {
        let names: BTreeSet<Name> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, of| of.iter().any(|name| names.contains(name)));
        if left.is_empty() {
            return None;
        }
        if left.len() == before {
            return Some(left.keys().map(|name| name.join("::")).collect());
        }
    }
}
