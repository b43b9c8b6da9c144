//! Code comes only from where nobody else can put it: not from above the binary, not from the
//! current directory, not from what another user owns or may write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::wait::InTime;
use crate::support::{Home, hopcost_path, together};

/// Another user, who owns nothing here (nobody).
const OTHER: u32 = 65534;

/// A worker that leaves a trace when it is run.
struct Planted {
    folder: PathBuf,
    ran: PathBuf,
}

impl Planted {
    fn in_folder(workers: &Path) -> Self {
        let folder = workers.join("planted");
        fs::create_dir_all(&folder).expect("a folder");
        let planted = Self { ran: workers.join("ran"), folder };
        let script = format!("#!/bin/sh\necho >'{}'\n", planted.ran.display());
        fs::write(planted.program(), script).expect("a program");
        planted.command(&["./program"]);
        mode(&planted.program(), 0o755);
        planted
    }
    fn command(&self, command: &[&str]) {
        let text = format!(
            "runtime = \"planted\"\ncommand = {command:?}\nneeds = \"a\"\ninstall = \"b\"\n"
        );
        fs::write(self.manifest(), text).expect("a manifest");
    }
    fn manifest(&self) -> PathBuf {
        self.folder.join("worker.toml")
    }
    fn program(&self) -> PathBuf {
        self.folder.join("program")
    }
    /// Lists what is here; why the worker cannot be used, and whether it was run.
    fn listed(&self, hopcost: &mut Command) -> (Option<String>, bool) {
        let _ = fs::remove_file(&self.ran);
        let output = hopcost.finish();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let runtimes = document["runtimes"].as_array().expect("runtimes");
        let found = runtimes.iter().find(|runtime| runtime["runtime"] == "planted");
        (found.map(|found| found["absent"].as_str().unwrap_or("").to_owned()), self.ran.exists())
    }
    fn is_refused(&self, hopcost: &mut Command, parts: &[&str], what: &str) {
        let (absent, ran) = self.listed(hopcost);
        let why = absent.unwrap_or_else(|| panic!("{what}: not listed"));
        assert!(!ran, "{what}: it was run ({why})");
        for part in parts {
            assert!(why.contains(part), "{what}: no `{part}` in: {why}");
        }
    }
    fn is_run(&self, hopcost: &mut Command, what: &str) {
        let (absent, ran) = self.listed(hopcost);
        assert!(ran, "{what}: it was not run: {absent:?}");
    }
    fn is_unknown(&self, hopcost: &mut Command, what: &str) {
        assert_eq!(self.listed(hopcost), (None, false), "{what}");
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode of one's own file");
}

const LIST: [&str; 3] = ["list", "--format", "json"];

/// `hopcost list` with only these folders of workers.
fn list(home: &Home, folders: &Path) -> Command {
    let mut command = home.hopcost(&LIST);
    command.env("HOPCOST_WORKERS", folders);
    command
}

#[test]
fn what_others_may_write_is_told_of_and_not_run() {
    let _together = together();
    let home = Home::new();
    let above = home.path().join("above");
    let workers = above.join("workers");
    let planted = Planted::in_folder(&workers);
    planted.is_run(&mut list(&home, &workers), "a worker of one's own");
    let (manifest, program) = (planted.manifest(), planted.program());
    for path in [&above, &workers, &planted.folder, &manifest, &program] {
        let before = fs::metadata(path).expect("metadata").permissions();
        let what = path.display().to_string();
        mode(path, 0o777);
        let remedy = format!("chmod go-w {what}");
        planted.is_refused(&mut list(&home, &workers), &["not trusted", &remedy], &what);
        // A program takes more from its folder than its own file, sticky or not.
        if path.is_dir() {
            mode(path, 0o1777);
            if *path == planted.folder {
                planted.is_refused(&mut list(&home, &workers), &["put files into"], &what);
            } else {
                planted.is_run(&mut list(&home, &workers), "the sticky bit keeps what is in it");
            }
        }
        fs::set_permissions(path, before).expect("the mode it had");
    }
    // The same where a link leads there, of a file that an argument names, and of one named.
    let link = home.path().join("link");
    symlink(&workers, &link).expect("a link");
    planted.is_run(&mut list(&home, &link), "a link of one's own");
    mode(&above, 0o777);
    planted.is_refused(&mut list(&home, &link), &["not trusted"], "by a link");
    let program = program.to_str().expect("UTF-8");
    let named = home.run(&["list", "--format", "json", "--worker", program]);
    let told = String::from_utf8_lossy(&named.stdout);
    assert!(told.contains("not trusted") && !planted.ran.exists(), "--worker: {told}");
    mode(&above, 0o755);
    fs::write(planted.folder.join("script"), "").expect("a script");
    planted.command(&["./program", "script"]);
    mode(&planted.folder.join("script"), 0o666);
    planted.is_refused(&mut list(&home, &workers), &["not trusted", "script"], "an argument");
    fs::create_dir(planted.folder.join("package")).expect("a folder");
    planted.command(&["./program", "package"]);
    planted.is_run(&mut list(&home, &workers), "a folder of one's own as an argument");
    mode(&planted.folder.join("package"), 0o1777);
    planted.is_refused(&mut list(&home, &workers), &["not trusted", "package"], "a folder");
}

#[test]
fn what_others_own_is_told_of_and_not_run() {
    let _together = together();
    let home = Home::new();
    let workers = home.path().join("workers");
    let planted = Planted::in_folder(&workers);
    let (manifest, program) = (planted.manifest(), planted.program());
    for path in [&workers, &planted.folder, &manifest, &program] {
        if chown(path, Some(OTHER), None).is_err() {
            eprintln!("NOT CHECKED: this user may not give files away");
            return;
        }
        let what = path.display().to_string();
        let parts = ["not trusted", what.as_str(), "belongs to user 65534"];
        planted.is_refused(&mut list(&home, &workers), &parts, &what);
        chown(path, Some(0), None).expect("given back");
    }
    planted.is_run(&mut list(&home, &workers), "given back");
}

#[test]
fn a_fifo_for_a_manifest_hangs_nobody() {
    let _together = together();
    let home = Home::new();
    let planted = Planted::in_folder(&home.path().join("workers"));
    fs::remove_file(planted.manifest()).expect("removed");
    let made = Command::new("mkfifo").arg(planted.manifest()).finish().status;
    assert!(made.success());
    let mut command = Command::new("timeout");
    command.arg("20").arg(hopcost_path()).args(LIST).current_dir(home.path());
    command.env("HOPCOST_WORKERS", home.path().join("workers"));
    planted.is_refused(&mut command, &["FIFO"], "a FIFO");
}

#[test]
fn no_code_comes_from_the_current_directory() {
    let _together = together();
    let home = Home::new();
    let bare = |at: &Path| {
        let mut command = Command::new(hopcost_path());
        command.args(LIST).current_dir(at).env_remove("HOPCOST_WORKERS");
        command
    };
    let here = home.path().join("here");
    let data = Planted::in_folder(&here.join("hopcost/workers"));
    for named in ["", ".", "here/.."] {
        let mut command = bare(&here);
        command.env("XDG_DATA_HOME", named).env("HOME", "");
        data.is_unknown(&mut command, &format!("XDG_DATA_HOME={named}"));
    }
    let mut absolute = bare(home.path());
    absolute.env("XDG_DATA_HOME", &here);
    data.is_run(&mut absolute, "an absolute XDG_DATA_HOME");
    let local = Planted::in_folder(&here.join(".local/share/hopcost/workers"));
    for named in ["", "."] {
        let mut command = bare(&here);
        command.env_remove("XDG_DATA_HOME").env("HOME", named);
        local.is_unknown(&mut command, &format!("HOME={named}"));
    }
    for listed in ["", ":", ".", "hopcost/workers", "/nonexistent::"] {
        for at in [here.clone(), here.join("hopcost/workers")] {
            let mut command = bare(&at);
            command.env("HOPCOST_WORKERS", listed);
            data.is_unknown(&mut command, &format!("HOPCOST_WORKERS={listed}"));
        }
    }
    // A command without a slash is looked for in the folders of PATH that are absolute.
    data.command(&["program"]);
    for path in ["", ".", ":/nonexistent"] {
        let mut command = bare(&data.folder);
        command.env("HOPCOST_WORKERS", here.join("hopcost/workers")).env("PATH", path);
        data.is_refused(&mut command, &["`program` is not here"], &format!("PATH={path}"));
    }
}

#[test]
fn workers_are_looked_for_in_the_prefix_and_not_above_the_binary() {
    let _together = together();
    let home = Home::new();
    let prefix = home.path().join("prefix");
    let binary = prefix.join("bin/hopcost");
    fs::create_dir_all(prefix.join("bin")).expect("a folder");
    if fs::hard_link(hopcost_path(), &binary).is_err() {
        fs::copy(hopcost_path(), &binary).expect("a copy");
    }
    let installed = Planted::in_folder(&prefix.join("share/hopcost/workers"));
    let mut list = Command::new(&binary);
    list.args(LIST).current_dir(home.path()).env("HOME", home.path());
    list.env_remove("HOPCOST_WORKERS").env_remove("XDG_DATA_HOME");
    installed.is_run(&mut list, "of the prefix");
    fs::remove_dir_all(prefix.join("share")).expect("removed");
    for above in ["workers", "share/hopcost/workers"] {
        for ancestor in [home.path().to_owned(), prefix.join("bin"), prefix.clone()] {
            if ancestor.join(above) == prefix.join("share/hopcost/workers") {
                continue;
            }
            let planted = Planted::in_folder(&ancestor.join(above));
            planted.is_unknown(&mut list, &planted.folder.display().to_string());
        }
    }
}
