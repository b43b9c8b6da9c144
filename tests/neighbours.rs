//! Other users of the machine, and other hopcosts: what they leave lying about is not
//! believed, and what they need is not removed.

use std::fs::{self, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use hopcost_probe::sys;

use crate::faults::signal;
use crate::support::wait::InTime;
use crate::support::{Home, hopcost_path, together};

/// A user who is not this one.
const STRANGER: u32 = 65534;
const BRIEF: [&str; 4] =
    ["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "1"];

fn user() -> u32 {
    sys::user_id()
}

/// Where a scratch directory could be taken for hopcost's own: in the user's folder, and
/// beside it under its name.
fn places(home: &Home) -> [PathBuf; 3] {
    let user = user();
    [format!("hopcost-{user}/e-1"), format!("hopcost-{user}.e-1"), format!("hopcost-{user}-e-1")]
        .map(|name| home.path().join(name))
}

/// Makes a folder a stranger's, or, where only root could, one that all may write to.
fn give_away(path: &Path) {
    if user() == 0 {
        chown(path, Some(STRANGER), Some(STRANGER)).expect("root gives away");
    }
    fs::set_permissions(path, Permissions::from_mode(0o777)).expect("to set a mode");
}

/// Runs the brief case, which must end.
fn run_briefly(home: &Home) -> Output {
    let mut command = home.hopcost(&BRIEF);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("to start");
    let output = child.finish();
    assert!(measured(&output), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Whether it went well; a build without optimisation says that its numbers are invalid.
fn measured(output: &Output) -> bool {
    matches!(output.status.code(), Some(0 | 3))
}

/// A System V queue of this test's, removed with it.
struct Queue {
    key: i32,
    id: i32,
}

impl Queue {
    fn new() -> Self {
        let key = RandomState::new().hash_one(()) as i32;
        Self { key, id: sys::make_sysv_queue(key).expect("a queue") }
    }
    fn created_s(&self) -> i64 {
        sys::sysv_queue(self.id).expect("it is there").msg_ctime
    }
    fn exists(&self) -> bool {
        sys::sysv_queue(self.id).is_ok()
    }
    /// The name of the file by which a run would have noted it.
    fn note(&self) -> String {
        format!("sysv-msg.{:08x}", self.key)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Ok(queue) = sys::sysv_queue(self.id) {
            sys::remove_sysv_queue(self.key, queue.msg_ctime);
        }
    }
}

#[test]
fn no_queue_is_removed_for_what_a_stranger_has_noted() {
    let _together = together();
    let (home, queue) = (Home::new(), Queue::new());
    for place in places(&home) {
        fs::create_dir_all(&place).expect("to make it");
        fs::write(place.join("owner"), "1 1").expect("to write");
        let note = place.join(queue.note());
        fs::write(&note, queue.created_s().to_string()).expect("to write");
        give_away(&note);
        give_away(&place);
    }
    // Last, or else this user could not have made what lies in it.
    give_away(&home.path().join(format!("hopcost-{}", user())));
    let output = run_briefly(&home);
    assert!(queue.exists(), "a queue was removed for a note that anybody can write");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("removed"));
    assert!(places(&home).iter().all(|place| place.join("owner").exists()));
}

#[test]
fn a_name_that_a_stranger_has_taken_is_neither_used_nor_an_obstacle() {
    let _together = together();
    let take: [fn(&Path); 4] = [
        |name| {
            fs::create_dir(name).expect("to make it");
            give_away(name);
        },
        |name| symlink("elsewhere", name).expect("to link"),
        |name| fs::write(name, "").expect("to write"),
        |name| assert!(Command::new("mkfifo").arg(name).finish().status.success()),
    ];
    for take in take {
        let home = Home::new();
        fs::create_dir(home.path().join("elsewhere")).expect("to make it");
        let name = home.path().join(format!("hopcost-{}", user()));
        take(&name);
        let seen = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
        let folders = [home.path().join("elsewhere"), name.clone()];
        let before = folders.each_ref().map(|path| seen(path));
        let case = ["run", "unix-stream?place=same-cpu", "--rounds", "1", "--measure", "2ms"];
        let output = home.run(&case);
        assert!(measured(&output), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(folders.each_ref().map(|path| seen(path)), before, "it was used");
        let mut left: Vec<_> = fs::read_dir(home.path())
            .expect("home")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| !folders.contains(path) && !path.ends_with("data"))
            .collect();
        left.retain(|path| path != &name);
        assert!(left.is_empty(), "{left:?}");
    }
}

/// What a run that was killed has left, with a note of a queue that was about to be created then.
fn left_behind(home: &Home, queue: &Queue, noted_s: i64) -> PathBuf {
    let folder = home.path().join(format!("hopcost-{}", user()));
    let left = folder.join("20250314-092653-7f3a-beef");
    fs::create_dir_all(&left).expect("to make it");
    let note = queue.note();
    for (name, text) in [("owner", String::new()), (&note, noted_s.to_string())] {
        fs::write(left.join(name), text).expect("to write");
        fs::set_permissions(left.join(name), Permissions::from_mode(0o600)).expect("a mode");
    }
    for path in [&left, &folder] {
        fs::set_permissions(path, Permissions::from_mode(0o700)).expect("to set a mode");
    }
    left
}

#[test]
fn a_queue_whose_key_is_used_again_stays() {
    let _together = together();
    for (later_s, stays) in [(0, false), (3600, true), (-3600, true)] {
        let (home, queue) = (Home::new(), Queue::new());
        let left = left_behind(&home, &queue, queue.created_s() - later_s);
        let output = run_briefly(&home);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("removed what run 20250314-092653-7f3a,"), "{stderr}");
        assert!(!left.exists());
        assert_eq!(queue.exists(), stays, "created {later_s} s after the note says: {stderr}");
    }
}

#[test]
fn a_run_whose_process_cannot_be_seen_goes_on_undisturbed() {
    let _together = together();
    let allowed = Command::new("unshare").args(["-pf", "--mount-proc", "true"]).try_finish();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT CHECKED: this user may not make process id namespaces");
        return;
    }
    let home = Home::new();
    let case = ["run", "sysv-msg,fifo?place=same-cpu", "--rounds", "20", "--measure", "20ms"];
    let mut command = home.hopcost(&case);
    command.args(["--format", "json", "--out", "long.hopcost"]);
    let long = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("to start");
    let scratch = home.path().join(format!("hopcost-{}", user()));
    let until = Instant::now() + Duration::from_secs(20);
    let there = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .into_iter()
            .any(|entry| entry.path().join("owner").exists() || entry.file_name() == "owner")
    };
    while !there(&scratch) && !there(home.path()) {
        assert!(Instant::now() < until, "no scratch directory");
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = long.id();
    for _ in 0..2 {
        let mut command = Command::new("unshare");
        command.args(["-pf", "--mount-proc"]).arg(hopcost_path()).args(BRIEF);
        command.current_dir(home.path()).env("HOME", home.path()).env("TMPDIR", home.path());
        command.env("XDG_DATA_HOME", home.path().join("data"));
        let output = command.finish();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(measured(&output) && !stderr.contains("removed"), "{stderr}");
    }
    assert!(crate::faults::alive(pid), "it was over before the others had started");
    signal(pid, libc::SIGINT);
    let output = long.finish();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let document = home.json(&["report", "long.hopcost", "--format", "json"]);
    assert_eq!(document["plan"]["trials_failed"], 0, "{}", document["plan"]);
}
