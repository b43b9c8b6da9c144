//! Other users of the machine, and other hopcosts: what they leave lying about is not
//! believed, and what they need is not removed.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use hopcost_probe::sys;

use crate::faults::{alive, signal, until};
use crate::support::wait::InTime;
use crate::support::{Home, set_mode, stderr, together, works};

/// A user who is not this one.
const STRANGER: u32 = 65534;
const BRIEF: [&str; 4] =
    ["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "1"];

/// Makes a folder a stranger's, or, where only root could, one that all may write to.
fn give_away(path: &Path) {
    if sys::user_id() == 0 {
        chown(path, Some(STRANGER), Some(STRANGER)).expect("root gives away");
    }
    set_mode(path, 0o777);
}

/// Runs the brief case, which must end.
fn run_briefly(home: &Home) -> Output {
    let output = home.run(&BRIEF);
    assert!(measured(&output), "{}", stderr(&output));
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
        Self { key, id: sys::sysv_queue_of(key, sys::NEW_QUEUE).expect("a queue") }
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
    let place = left_behind(&home, &queue, queue.created_s());
    give_away(&place.join(queue.note()));
    give_away(&place);
    let output = run_briefly(&home);
    assert!(queue.exists(), "a queue was removed for a note that anybody can write");
    assert!(!stderr(&output).contains("removed"));
    assert!(place.join("owner").exists());
}

/// What a run that was killed has left, with a note of a queue that was about to be created then.
fn left_behind(home: &Home, queue: &Queue, noted_s: i64) -> PathBuf {
    let left = format!("hopcost-{}.20250314-092653-7f3a-beef", sys::user_id());
    let left = home.path().join(left);
    fs::create_dir_all(&left).expect("to make it");
    let note = queue.note();
    for (name, text) in [("owner", String::new()), (&note, noted_s.to_string())] {
        fs::write(left.join(name), text).expect("to write");
        set_mode(left.join(name), 0o600);
    }
    set_mode(&left, 0o700);
    left
}

#[test]
fn a_queue_whose_key_is_used_again_stays() {
    let _together = together();
    for (later_s, stays) in [(0, false), (3600, true), (-3600, true)] {
        let (home, queue) = (Home::new(), Queue::new());
        let left = left_behind(&home, &queue, queue.created_s() - later_s);
        let output = run_briefly(&home);
        let said = stderr(&output);
        assert!(said.contains("removed what run 20250314-092653-7f3a,"), "{said}");
        assert!(!left.exists());
        assert_eq!(queue.exists(), stays, "created {later_s} s after the note says: {said}");
    }
}

#[test]
fn a_run_whose_process_cannot_be_seen_goes_on_undisturbed() {
    let _together = together();
    if !works("unshare", &["-pf", "--mount-proc", "true"]) {
        return eprintln!("NOT CHECKED: this user may not make process id namespaces");
    }
    let home = Home::new();
    let long = ["run", "sysv-msg,fifo?place=same-cpu", "--rounds", "20", "--measure", "20ms"];
    let long = home.start(&[&long[..], &["--out", "long.hopcost"]].concat());
    until(Duration::from_secs(20), "a scratch directory", || {
        let entries = fs::read_dir(home.path()).expect("home").flatten();
        entries.into_iter().any(|entry| entry.path().join("owner").exists())
    });
    let output = home.hopcost_by(&["unshare", "-pf", "--mount-proc"], &BRIEF).finish();
    assert!(measured(&output) && !stderr(&output).contains("removed"), "{}", stderr(&output));
    assert!(alive(long.id()), "it was over before the other had started");
    signal(long.id(), libc::SIGINT);
    let output = long.finish();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let document = home.json(&["report", "long.hopcost", "--format", "json"]);
    assert_eq!(document["runs"][0]["trials_failed"], 0, "{}", document["runs"]);
}
