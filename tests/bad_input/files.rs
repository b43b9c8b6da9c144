//! Run files: unreadable, in the way, without room.

use super::{in_own_mounts, one_line};
use crate::support::{Home, alone};

#[test]
fn unreadable_foreign_and_truncated_run_files_are_refused() {
    let _alone = alone();
    let home = Home::new();
    home.run(&["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "2"]);
    let whole = std::fs::read(home.run_file()).expect("the run file");
    let path = home.path().join("x.hopcost");
    let text = path.to_str().expect("UTF-8");
    for (bytes, what) in [
        (&b""[..], "empty"),
        (&b"PK\x03\x04 not a run"[..], "foreign"),
        (&whole[..whole.len() / 2], "truncated"),
        (&whole[..100], "almost nothing"),
    ] {
        std::fs::write(&path, bytes).expect("to write");
        for format in ["text", "json", "html"] {
            let output = home.run(&["report", text, "--format", format]);
            let line = one_line(&output, what, 2);
            assert!(line.contains("x.hopcost"), "{what}: {line}");
        }
    }
    for spec in ["nothing-like-it", "last~7", "/nonexistent/run"] {
        one_line(&home.run(&["report", spec]), spec, 2);
    }
    let empty = Home::new();
    one_line(&empty.run(&["report"]), "no runs yet", 2);
}

#[test]
fn no_room_and_no_permission_are_said_before_anything_is_measured() {
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    let home = Home::new();
    for out in ["/proc/x.hopcost", "/nonexistent/directory/x.hopcost", "/dev/full", "."] {
        let output = home.run(&["run", case, "--rounds", "1", "--out", out]);
        let line = one_line(&output, out, 2);
        let named = out.strip_suffix("/x.hopcost").unwrap_or(out);
        assert!(line.contains(named), "{out}: {line}");
    }
    let mut command = home.hopcost(&["run", case, "--rounds", "1"]);
    let output = command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().expect("to start");
    one_line(&output, "no HOME", 2);
    let output = home
        .hopcost(&["run", case, "--rounds", "1"])
        .env("TMPDIR", "/nonexistent")
        .output()
        .expect("to start");
    let line = one_line(&output, "TMPDIR", 2);
    assert!(line.contains("/nonexistent") && line.contains("TMPDIR"), "{line}");
    let runs = std::fs::read_dir(home.path().join("data/hopcost/runs"));
    assert_eq!(runs.map_or(0, Iterator::count), 0, "a run file for nothing");
}

#[test]
fn a_report_never_overwrites_its_run() {
    let home = Home::new();
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    let _alone = alone();
    home.run(&["run", case, "--rounds", "1", "--out", "a.hopcost"]);
    let before = std::fs::read(home.path().join("a.hopcost")).expect("the run");
    std::fs::hard_link(home.path().join("a.hopcost"), home.path().join("b")).expect("to link");
    for output in ["a.hopcost", "./a.hopcost", "b"] {
        let refused = home.run(&["report", "a.hopcost", "--format", "csv", "--output", output]);
        assert!(one_line(&refused, output, 2).contains("overwrite"));
    }
    assert_eq!(std::fs::read(home.path().join("a.hopcost")).expect("the run"), before);
    // And a complete run is left alone by --resume.
    let refused = home.run(&["run", "--resume", "a.hopcost"]);
    assert!(one_line(&refused, "resume", 2).contains("is complete"));
    assert_eq!(std::fs::read(home.path().join("a.hopcost")).expect("the run"), before);
}

#[test]
fn a_full_disk_keeps_what_is_finished() {
    let _alone = alone();
    let home = Home::new();
    let script = "mkdir small && mount -t tmpfs -o size=300k none small && \
                  \"$1\" run pipe?place=same-cpu --rounds 400 --measure 2ms --out small/x.hopcost; \
                  code=$?; \"$1\" report small/x.hopcost --format json || exit 99; exit $code";
    let Some(output) = in_own_mounts(&home, script) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("full") && stderr.contains("finished trials are kept"), "{stderr}");
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    assert!(document["plan"]["trials_done"].as_u64() > Some(5), "{stderr}");
    assert_eq!(document["plan"]["complete"], false);
}
