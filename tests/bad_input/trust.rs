//! Code comes only from where nobody else can put it: not from above the binary, not from the
//! current directory, not from what another user owns or may write.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::wait::InTime;
use crate::support::{Home, hopcost_path, set_mode};

/// Another user, who owns nothing here (nobody).
const OTHER: u32 = 65534;

/// A worker that leaves a trace when it is run.
struct Planted {
    folder: PathBuf,
    ran: PathBuf,
}

/// What hopcost does with it.
#[derive(Debug, Clone, Copy)]
enum Is<'a> {
    Run,
    Unknown,
    /// Listed with a reason that contains these words, and not run.
    Refused(&'a [&'a str]),
}

impl Planted {
    fn in_folder(workers: &Path) -> Self {
        let folder = workers.join("planted");
        fs::create_dir_all(&folder).expect("a folder");
        let planted = Self { ran: workers.join("ran"), folder };
        let script = format!("#!/bin/sh\necho >'{}'\n", planted.ran.display());
        fs::write(planted.folder.join("program"), script).expect("a program");
        planted.command(&["./program"]);
        set_mode(planted.folder.join("program"), 0o755);
        planted
    }
    fn command(&self, command: &[&str]) {
        let text = format!(
            "runtime = \"planted\"\ncommand = {command:?}\nneeds = \"a\"\ninstall = \"b\"\n"
        );
        fs::write(self.folder.join("worker.toml"), text).expect("a manifest");
    }
    /// Lists what is here.
    fn is(&self, expected: Is, hopcost: &mut Command, what: &str) {
        let _ = fs::remove_file(&self.ran);
        let output = hopcost.finish();
        assert!(output.status.success(), "{what}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let runtimes = document["runtimes"].as_array().expect("runtimes");
        let found = runtimes.iter().find(|runtime| runtime["runtime"] == "planted");
        let why = found.map(|found| found["absent"].as_str().unwrap_or(""));
        let is_so = match expected {
            Is::Run => self.ran.exists(),
            Is::Unknown => why.is_none() && !self.ran.exists(),
            Is::Refused(parts) => {
                let has_all = |why: &str| parts.iter().all(|part| why.contains(part));
                why.is_some_and(has_all) && !self.ran.exists()
            }
        };
        assert!(is_so, "{what}: not {expected:?} but {why:?}");
    }
}

const LIST: [&str; 3] = ["list", "--format", "json"];

/// `hopcost list` with only these folders of workers.
fn list(home: &Home, folders: &Path) -> Command {
    let mut command = home.hopcost(&LIST);
    command.env("HOPCOST_WORKERS", folders);
    command
}

#[test]
fn what_others_may_write_or_own_is_listed_and_not_run() {
    let home = Home::together();
    let above = home.path().join("above");
    let workers = above.join("workers");
    let planted = Planted::in_folder(&workers);
    let own = |is: Is, what: &str| planted.is(is, &mut list(&home, &workers), what);
    own(Is::Run, "a worker of one's own");
    let [manifest, program] = ["worker.toml", "program"].map(|name| planted.folder.join(name));
    for path in [&above, &workers, &planted.folder, &manifest, &program] {
        let before = fs::metadata(path).expect("metadata").permissions();
        let what = path.display().to_string();
        set_mode(path, 0o777);
        own(Is::Refused(&["not trusted", &format!("chmod go-w {what}")]), &what);
        // A program takes more from its folder than its own file, sticky or not.
        if path.is_dir() {
            set_mode(path, 0o1777);
            let is_folder = *path == planted.folder;
            own(if is_folder { Is::Refused(&["put files into"]) } else { Is::Run }, &what);
        }
        fs::set_permissions(path, before).expect("the mode it had");
        if *path != above && chown(path, Some(OTHER), None).is_ok() {
            own(Is::Refused(&["not trusted", &what, "belongs to user 65534"]), &what);
            chown(path, Some(0), None).expect("given back");
        }
    }
    // The same where a link leads there, of a file that an argument names, and of one named.
    let link = home.path().join("link");
    symlink(&workers, &link).expect("a link");
    planted.is(Is::Run, &mut list(&home, &link), "a link of one's own");
    set_mode(&above, 0o777);
    planted.is(Is::Refused(&["not trusted"]), &mut list(&home, &link), "by a link");
    let named = home.run(&[&LIST[..], &["--worker", program.to_str().expect("UTF-8")]].concat());
    let told = String::from_utf8_lossy(&named.stdout);
    assert!(told.contains("not trusted") && !planted.ran.exists(), "--worker: {told}");
    set_mode(&above, 0o755);
    fs::write(planted.folder.join("script"), "").expect("a script");
    fs::create_dir(planted.folder.join("package")).expect("a folder");
    for (argument, open) in [("script", 0o666), ("package", 0o1777)] {
        planted.command(&["./program", argument]);
        own(Is::Run, argument);
        set_mode(planted.folder.join(argument), open);
        own(Is::Refused(&["not trusted", argument]), argument);
    }
    fs::remove_file(&manifest).expect("removed");
    assert!(Command::new("mkfifo").arg(manifest).finish().status.success());
    own(Is::Refused(&["FIFO"]), "a FIFO hangs nobody");
}

#[test]
fn no_code_comes_from_the_current_directory() {
    let home = Home::together();
    let here = home.path().join("here");
    let data = Planted::in_folder(&here.join("hopcost/workers"));
    let local = Planted::in_folder(&here.join(".local/share/hopcost/workers"));
    // Variables that are empty or hold a relative path count as not set.
    for (planted, at, variables, is) in [
        (&data, &here, [("XDG_DATA_HOME", "."), ("HOME", "")], Is::Unknown),
        (&data, &here, [("XDG_DATA_HOME", "here/.."), ("HOME", "")], Is::Unknown),
        (&data, &here, [("XDG_DATA_HOME", here.to_str().expect("UTF-8")), ("HOME", "")], Is::Run),
        (&local, &here, [("XDG_DATA_HOME", ""), ("HOME", ".")], Is::Unknown),
        (&data, &here, [("HOPCOST_WORKERS", "hopcost/workers"), ("HOME", "/")], Is::Unknown),
        (&data, &data.folder, [("HOPCOST_WORKERS", ":..:"), ("HOME", "/")], Is::Unknown),
    ] {
        let mut command = Command::new(hopcost_path());
        command.args(LIST).current_dir(at).env_remove("HOPCOST_WORKERS");
        planted.is(is, command.envs(variables), &format!("{variables:?}"));
    }
    // A command without a slash is looked for in the folders of PATH that are absolute.
    data.command(&["program"]);
    for path in ["", ".", ":/nonexistent"] {
        let mut command = list(&home, &here.join("hopcost/workers"));
        command.current_dir(&data.folder).env("PATH", path);
        data.is(Is::Refused(&["`program` is not here"]), &mut command, path);
    }
}

#[test]
fn workers_are_looked_for_in_the_prefix_and_not_above_the_binary() {
    let home = Home::together();
    let prefix = home.path().join("prefix");
    let binary = prefix.join("bin/hopcost");
    fs::create_dir_all(prefix.join("bin")).expect("a folder");
    fs::copy(hopcost_path(), &binary).expect("a copy");
    let mut list = Command::new(&binary);
    list.args(LIST).current_dir(home.path()).env("HOME", home.path());
    list.env_remove("HOPCOST_WORKERS").env_remove("XDG_DATA_HOME");
    for (folder, is) in [
        ("prefix/share/hopcost/workers", Is::Run),
        ("prefix/workers", Is::Unknown),
        ("prefix/bin/workers", Is::Unknown),
        ("share/hopcost/workers", Is::Unknown),
    ] {
        let planted = Planted::in_folder(&home.path().join(folder));
        planted.is(is, &mut list, folder);
        fs::remove_dir_all(&planted.folder).expect("removed");
    }
}
