//! `hopcost list`: everything at a glance, and at once. What a worker said is believed only of
//! the files that said it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use hopcost_probe::mechanism;

use crate::support::wait::InTime;
use crate::support::{Home, json_of, together};

/// Longest text of what a mechanism is that 80 columns have room for.
const ABOUT_MAX: usize = 35;

#[test]
fn every_mechanism_has_a_line_and_all_of_them_a_screen() {
    let _together = together();
    let home = Home::new();
    let shown: Vec<_> =
        mechanism::ALL.iter().map(|row| &row.facts).filter(|facts| !facts.hidden).collect();
    for (columns, lines) in [(80, 64), (100, 60)] {
        let output = home.hopcost(&["list"]).env("COLUMNS", columns.to_string()).try_finish();
        let text = String::from_utf8(output.expect("hopcost").stdout).expect("UTF-8");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {widest:?}\n{text}");
        assert!(text.lines().count() <= lines, "{} lines\n{text}", text.lines().count());
        for facts in &shown {
            let words = |line: &str| line.split_whitespace().any(|word| word == facts.name);
            let table = text.lines().take(1 + shown.len());
            assert!(table.filter(|line| words(line)).count() >= 1, "{}\n{text}", facts.name);
        }
    }
    for facts in shown {
        let length = facts.about.chars().count();
        assert!(length <= ABOUT_MAX, "{}: {length} characters: {}", facts.name, facts.about);
    }
}

/// A worker in a folder that counts how often it is started.
struct Counted {
    home: Home,
}

impl Counted {
    fn new() -> Self {
        let this = Self { home: Home::new() };
        fs::create_dir_all(this.folder()).expect("a folder");
        let manifest = "runtime = \"counted\"\ncommand = [\"./program\"]\nneeds = \"a\"\n\
                        install = \"b\"\n";
        fs::write(this.folder().join("worker.toml"), manifest).expect("a manifest");
        this.says("one");
        this
    }
    fn folder(&self) -> PathBuf {
        self.home.path().join("workers/counted")
    }
    fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }
    /// The same file in its place, with another text of the same length.
    fn says(&self, version: &str) {
        let described = format!(
            r#"{{"is":"described","protocol":3,"runtime":"counted","version":"{version}","mechanisms":[{{"name":"mutex","about":"a lock","workloads":["call"]}}]}}"#
        );
        let log = self.log();
        let script = format!(
            "#!/bin/sh\necho >>'{}'\nread line\necho '{described}'\ncat >/dev/null\n",
            log.display()
        );
        let program = self.folder().join("program");
        fs::write(&program, script).expect("a program");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    fn hopcost(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.hopcost(arguments);
        command.env("HOPCOST_WORKERS", self.home.path().join("workers"));
        command
    }
    /// The version that `list` shows, and how often the worker has been started.
    fn listed(&self) -> (String, usize) {
        let document = json_of(&mut self.hopcost(&["list", "--format", "json"]));
        let version = document["runtimes"][0]["version"].as_str().unwrap_or("none").to_owned();
        (version, self.started())
    }
    fn started(&self) -> usize {
        fs::read_to_string(self.log()).map_or(0, |log| log.lines().count())
    }
    /// The only file of what was remembered.
    fn remembered(&self) -> PathBuf {
        let folder = self.home.path().join("cache/hopcost/workers");
        let entries = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
        let files: Vec<PathBuf> = entries.collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

#[test]
fn a_worker_is_asked_again_only_when_it_has_changed() {
    let _together = together();
    let worker = Counted::new();
    let one = |started| ("one".to_owned(), started);
    assert_eq!(worker.listed(), one(1));
    assert_eq!(worker.listed(), one(1), "it was asked again");
    let shown = worker.hopcost(&["show", "mutex"]).finish();
    assert!(shown.status.success() && worker.started() == 1, "{shown:?}");
    // Its program, with as many bytes.
    worker.says("two");
    assert_eq!(worker.listed(), ("two".to_owned(), 2));
    assert_eq!(worker.listed(), ("two".to_owned(), 2));
    // What it may load, where PATH leads.
    fs::create_dir(worker.folder().join("library")).expect("a folder");
    fs::write(worker.folder().join("library/module"), "").expect("a file");
    assert_eq!(worker.listed().1, 3, "a new file");
    let path = std::env::var("PATH").unwrap_or_default() + ":/nonexistent";
    let output = worker.hopcost(&["list"]).env("PATH", path).finish();
    assert!(output.status.success() && worker.started() == 4, "{output:?}");
}

#[test]
fn what_is_measured_is_asked_each_time_and_what_was_named_too() {
    let _together = together();
    let worker = Counted::new();
    assert_eq!(worker.listed().1, 1);
    let plan = ["run", "call/mutex", "--runtime", "counted", "--dry-run"];
    let planned = worker.hopcost(&plan).finish();
    assert!(planned.status.success(), "{planned:?}");
    assert_eq!(worker.started(), 2, "a run asks for itself");
    let folder = worker.folder();
    let named = ["list", "--worker", folder.to_str().expect("UTF-8")];
    let listed = worker.hopcost(&named).finish();
    assert!(listed.status.success() && worker.started() >= 3, "{listed:?}");
}

#[test]
fn what_was_remembered_is_not_believed_where_it_is_damaged_old_or_anothers_to_write() {
    let _together = together();
    let worker = Counted::new();
    assert_eq!(worker.listed().1, 1);
    let file = worker.remembered();
    let text = fs::read_to_string(&file).expect("what was remembered");
    let lie = text.replace("one", "lie");
    let other = |text: &str| text.replacen("identity\":\"", "identity\":\"0", 1);
    for (times, wrong) in ["", "{", &text[..text.len() / 2], &other(&lie)].iter().enumerate() {
        fs::write(&file, wrong).expect("damaged");
        assert_eq!(worker.listed(), ("one".to_owned(), times + 2), "{wrong}");
    }
    fs::write(&file, &lie).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("a mode");
    assert_eq!(worker.listed(), ("one".to_owned(), 6), "others may write it");
    let file = fs::File::options().write(true).open(&file).expect("a file");
    let day = std::time::Duration::from_secs(25 * 3600);
    file.set_modified(std::time::SystemTime::now() - day).expect("an older time");
    assert_eq!(worker.listed(), ("one".to_owned(), 7), "it is old");
    // Where nothing can be kept, everything is asked.
    let nowhere = worker.hopcost(&["list"]).env("XDG_CACHE_HOME", "/dev/null").try_finish();
    assert!(nowhere.expect("hopcost").status.success() && worker.started() == 8);
}

#[test]
fn workers_are_listed_with_the_place_where_they_were_found() {
    let _together = together();
    let worker = Counted::new();
    let listed = || {
        let output = worker.hopcost(&["worker", "list"]).finish();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").replace("\n", " ")
    };
    let folder = worker.folder().display().to_string();
    let here = listed();
    assert!(here.contains("counted") && here.contains(&folder), "{here}");
    fs::remove_file(worker.folder().join("program")).expect("removed");
    let absent = listed();
    assert!(absent.contains("absent: not built") && absent.contains(&folder), "{absent}");
}
