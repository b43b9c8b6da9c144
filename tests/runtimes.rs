//! Workers of other runtimes. `./test` builds those whose toolchain is here and names
//! them in HOPCOST_EXPECT_WORKERS: one that is named and absent fails. Without the
//! variable, what is absent is skipped and said so.

use std::process::Command;
use std::sync::OnceLock;

use hopcost_model::case::Case;
use serde_json::Value;

use crate::load;
use crate::support::trace::of_operation;
use crate::support::wait::InTime;
use crate::support::{
    Home, all, estimate, hopcost_path, repository, set_mode, stderr, text, together, trial,
};

/// The runtimes of this repository.
const OURS: [&str; 5] = ["cpp", "go", "java", "node", "python"];

/// The runtimes as `hopcost list` tells them, which takes a start of each.
pub fn described() -> &'static [Value] {
    static DESCRIBED: OnceLock<Vec<Value>> = OnceLock::new();
    DESCRIBED.get_or_init(|| {
        let text = Home::new().expect(&["list", "--format", "json"], 0);
        let document: Value = serde_json::from_str(&text).expect("JSON");
        document["runtimes"].as_array().expect("runtimes").clone()
    })
}

/// The runtimes that are here; fails for one that has to be.
pub fn here() -> Vec<String> {
    let expected = std::env::var("HOPCOST_EXPECT_WORKERS").unwrap_or_default();
    let runtimes = described();
    let mut here = Vec::new();
    for name in OURS {
        let found = runtimes.iter().find(|runtime| runtime["runtime"] == name);
        let absent = found.and_then(|runtime| runtime["absent"].as_str());
        match (found, absent) {
            (Some(_), None) => here.push(name.to_owned()),
            (_, absent) => {
                let why = absent.unwrap_or("not listed");
                let expected = expected.split([',', ' ']).any(|word| word == name);
                assert!(!expected, "{name} was built and is absent: {why}");
                eprintln!("skipped: the worker for {name}: {why}");
            }
        }
    }
    here
}

/// A test for each runtime, so that they run beside each other.
macro_rules! each_runtime {
    ($test:path) => { each_runtime!($test: cpp, go, java, node, python); };
    ($test:path: $($runtime:ident),+) => { $(
        #[test]
        fn $runtime() {
            let _together = $crate::support::together();
            if super::here().iter().any(|name| name == stringify!($runtime)) {
                $test(stringify!($runtime));
            }
        }
    )+ };
}
mod each_worker_keeps_to_the_protocol {
    each_runtime!(super::keeps_to_the_protocol);
}
mod each_worker_makes_the_system_calls_that_it_says {
    each_runtime!(super::makes_the_system_calls_that_it_says);
}

fn keeps_to_the_protocol(runtime: &str) {
    let output = Home::new().run(&["worker", "check", runtime]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed: Vec<&str> = told.lines().filter(|line| line.starts_with("FAILED")).collect();
    assert_eq!(output.status.code(), Some(0), "{runtime}:\n{}", failed.join("\n"));
    assert!(told.lines().filter(|line| line.starts_with("ok")).count() > 30, "{told}");
    let of = described().iter().filter(|of| of["runtime"] == runtime);
    for row in of.flat_map(|of| of["mechanisms"].as_array().expect("mechanisms")) {
        let facts = ["family", "about", "crosses", "copies", "wakes", "between_stamps", "limits"];
        let has = |fact: &str| row[fact].as_str().is_some_and(|text| !text.is_empty());
        assert!(facts.into_iter().all(has) && row["sources"][0].is_string(), "{runtime}: {row}");
    }
}

#[test]
fn the_skeletons_keep_to_the_protocol_in_sixty_lines() {
    let home = Home::together();
    let [python, c] = ["py", "c"].map(|of| repository(&format!("workers/skeleton/skeleton.{of}")));
    let compiled = home.path().join("skeleton-c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&compiled).arg(&c);
    assert!(compiler.finish().status.success());
    for (source, program) in [(&python, &python), (&c, &compiled)] {
        let lines = std::fs::read_to_string(source).expect("a skeleton").lines().count();
        assert!(lines <= 60, "{} has {lines} lines", source.display());
        let told = home.expect(&["worker", "check", text(program)], 0);
        assert!(told.contains("ok") && !told.contains("FAILED"), "{told}");
    }
}

#[test]
fn a_worker_that_compares_nothing_does_not_keep_to_the_protocol() {
    let home = Home::together();
    for (worker, compares, careless) in [
        (
            "workers/skeleton/skeleton.py",
            "(got := os.read(self.incoming, self.size)) != wanted:",
            "not (got := os.read(self.incoming, self.size)):",
        ),
        (
            "tests/support/library_worker.py",
            "os.read(self.incoming, 4096) != message:",
            "not os.read(self.incoming, 4096):",
        ),
    ] {
        let source = std::fs::read_to_string(repository(worker)).expect("a worker");
        assert!(source.contains(compares), "{worker}");
        let path = home.path().join("careless.py");
        std::fs::write(&path, source.replace(compares, careless)).expect("to write");
        set_mode(&path, 0o755);
        let told = home.expect(&["worker", "check", text(&path)], 1);
        let failed: Vec<&str> = told.lines().filter(|line| line.starts_with("FAILED")).collect();
        assert_eq!(failed.len(), 2, "as caller and as callee: {told}");
        assert!(failed.iter().all(|line| line.contains("message was changed")), "{told}");
    }
}

/// In either role: what one end writes the other finds unchanged.
/// Over each carrier each runtime calls one other and answers one, over the next carrier
/// another; `./test --all` has every pair over every carrier.
#[test]
fn runtimes_meet_over_every_carrier() {
    let home = Home::together();
    let here = here();
    let described = described();
    let has = |runtime: &str, mechanism: &str, key: &str, what: &str| {
        described.iter().filter(|d| d["runtime"] == runtime).any(|d| {
            let rows = d["mechanisms"].as_array().expect("mechanisms");
            rows.iter().any(|row| row["name"] == mechanism && row[key].to_string().contains(what))
        })
    };
    let carriers =
        ["pipe", "udp", "tcp", "unix-stream", "unix-dgram", "unix-seqpacket", "websocket"];
    for (nth, carrier) in carriers.into_iter().enumerate() {
        let parameters = match carrier {
            "tcp" => "&nodelay=on",
            "udp" => "&timeout=1s",
            _ => "",
        };
        // Each with itself and with Rust is tried by `worker check`.
        let have: Vec<&String> =
            here.iter().filter(|runtime| has(runtime, carrier, "peers", "any")).collect();
        let others = have.len().saturating_sub(1);
        for (at, caller) in have.iter().enumerate() {
            for step in (1..=others).filter(|step| all() || step - 1 == nth % others) {
                let callee = have[(at + step) % have.len()];
                let id = format!(
                    "roundtrip/{carrier}?payload=777&boundary=process&place=free&wait=block\
                     {parameters}&runtime={caller}:{callee}"
                );
                let case: Case = id.parse().expect("a case");
                let row = trial(&home, &case, 50).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(row.samples_taken, 50, "{id}");
                assert!(row.threads.iter().any(|thread| thread.cpu_ns > 0), "{id}");
                if [caller, callee].iter().all(|of| has(of, carrier, "workloads", "load")) {
                    let id = id.replace("roundtrip/", "load/").replace("=777", "=777&rate=20000");
                    let row = trial(&home, &id.parse().expect("a case"), load::MESSAGES);
                    let row = row.unwrap_or_else(|error| panic!("{id}: {error}"));
                    assert_eq!(load::wrong(&row, 1), None, "{id}");
                }
            }
        }
    }
}

/// Operations of the shorter of two traced trials, by how long a runtime has to be
/// warmed up: one that compiles while it runs makes a thousand system calls more or
/// less from start to start.
fn operations(runtime: &Value) -> u64 {
    if runtime["warm_up"] == "until-steady" { 5000 } else { 300 }
}

fn makes_the_system_calls_that_it_says(name: &str) {
    let home = Home::new();
    let mut wrong = Vec::new();
    for runtime in described().iter().filter(|runtime| runtime["runtime"] == name) {
        let n = operations(runtime);
        let rows = runtime["mechanisms"].as_array().expect("mechanisms").iter();
        for row in rows.filter(|row| !row["unavailable"].is_string()) {
            let stated = &row["system_calls"];
            let (Some(min), Some(max)) = (stated["min"].as_f64(), stated["max"].as_f64()) else {
                continue;
            };
            let id = default_case(row, name);
            // What a runtime does by the way (collecting, compiling, looking at the
            // clock) differs from start to start: one try of three has to fit.
            let mut counted = Vec::new();
            let fits = (0..3).any(|_| {
                let one = of_operation(&home, &id, n);
                counted.push(one);
                (min - 0.25..=max + 0.25).contains(&one)
            });
            if !fits {
                wrong.push(format!("{id}: counted {counted:.2?}, stated {min} to {max}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The default case of a mechanism's row, both ends on one CPU.
pub fn default_case(row: &Value, runtime: &str) -> String {
    let name = row["name"].as_str().expect("a name");
    let words = |key: &str| {
        let words = row[key].as_array().into_iter().flatten();
        words.filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let payload = row["payload"]["default"].as_u64();
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let all = row["parameters"].as_array().into_iter().flatten();
    let mut parameters: Vec<String> =
        all.map(|of| text(&of["name"]) + "=" + &text(&of["default"])).collect();
    parameters.sort();
    let mut keys: Vec<String> =
        payload.map(|bytes| format!("payload={bytes}")).into_iter().collect();
    let workload = words("workloads").first().cloned().expect("a workload");
    if workload != "call" {
        let boundaries = words("boundaries");
        let boundary = if boundaries.iter().any(|b| b == "process") { "process" } else { "thread" };
        keys.push(format!("boundary={boundary}"));
        keys.push("place=same-cpu".to_owned());
        keys.push(format!("wait={}", words("waits").first().expect("a wait")));
    }
    keys.extend(parameters);
    keys.push(format!("runtime={runtime}"));
    format!("{workload}/{name}?{}", keys.join("&"))
}

pub const ROGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/rogue_worker.py");

/// What a round of a case comes to with a worker that is told so by its environment.
fn with(words: &[&str], told: (&str, &str)) -> (Value, String, Option<i32>) {
    let home = Home::new();
    let brief = ["--rounds", "1", "--measure", "10ms", "--format", "json"];
    let mut command = home.hopcost(&[&["run"], words, &brief].concat());
    let output = command.env(told.0, told.1).env("HOPCOST_REAL", hopcost_path()).finish();
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (document, stderr(&output), output.status.code())
}

fn with_rogue(rogue: &str) -> (Value, String, Option<i32>) {
    with(&["--worker", ROGUE, "--place", "same-cpu"], ("HOPCOST_ROGUE", rogue))
}

#[test]
fn honest_workers_are_measured() {
    let _together = together();
    let (document, said, code) = with_rogue("honest");
    let case = &document["cases"][0];
    assert_eq!((&case["status"], &case["runtime"]), (&"measured".into(), &"rogue".into()));
    assert_eq!(estimate(&document, 0, "p50_ns")["point"], 5000.0, "{document}");
    assert!(document["workers"][0]["runtime"] == "rogue", "{}", document["workers"]);
    assert!(matches!(code, Some(0 | 3)), "{code:?}: {said}");
    // What the kernel counts is not asked of a worker, so it cannot lie about it.
    let (document, ..) = with_rogue("cpu-hog-claim");
    let cpu = document["cases"][0]["cpu_ns_per_message"].as_f64().expect("CPU time");
    assert!(cpu < 1e9, "{cpu}");
    let (document, ..) = with(&["call/syscall", "--stand-in", MOCK], ("HOPCOST_MOCK", "honest"));
    assert_eq!(estimate(&document, 0, "cost_ns")["point"], 100.0, "{document}");
    let stream = "stream/tcp-sendmsg?field=256";
    let (document, ..) = with(&[stream, "--stand-in", LIAR], ("HOPCOST_LIE", "none:none=0"));
    assert_eq!(document["cases"][0]["status"], "measured", "without a lie");
}

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/library_worker.py");

/// A library with a broker: a third process, which is pinned, counted and no foreign task.
#[test]
fn a_library_stands_in_the_ladder_with_its_broker() {
    let home = Home::alone();
    let suite = ["stand-in?runtime=python+stand-in", "unix-stream?runtime=rust"].map(|case| {
        let ends = "boundary=process&place=same-cpu&payload=64";
        format!("[[cases]]\nselect = \"roundtrip/{case}&{ends}\"\n")
    });
    let head = "name = \"s\"\nabout = \"a library\"\nrounds = 6\n";
    let trial = "[trial]\nmeasure = \"30ms\"\ncount-system-calls = 100\n";
    let suite = format!("{head}{trial}{}", suite.concat());
    std::fs::write(home.path().join("s.toml"), suite).expect("to write");
    let folder = home.path().join("workers/stand-in");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(LIBRARY, folder.join("worker.py")).expect("a copy");
    let manifest = "runtime = \"python+stand-in\"\ncommand = [\"./worker.py\"]\nneeds = \"\"\n\
                    install = \"\"\n";
    std::fs::write(folder.join("worker.toml"), manifest).expect("to write");
    let mut command = home.hopcost(&["run", "--suite", "./s.toml"]);
    let output = command.env("HOPCOST_WORKERS", home.path().join("workers")).finish();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("stand-in adds ") && told.contains(" is python3's."), "{told}");
    let document = home.json(&["report", "--format", "json"]);
    let cost = &document["libraries"][0];
    let more = |key: &str| cost[key].as_f64().unwrap_or(0.0);
    assert!(more("times") > 1.0 && more("cpu_ns_per_message") > 0.0, "{cost}");
    // Each message is read and written once more, after a select(2), where they can be counted.
    let calls = cost["system_calls"].as_f64();
    assert!(calls.is_none_or(|calls| (5.0..9.0).contains(&calls)), "{cost}");
    let rows = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    let threads = rows("threads");
    let of_broker = |row: &&Value| row["other"] == "python3";
    let share: f64 =
        threads.iter().filter(of_broker).filter_map(|of| of["cpu_share"].as_f64()).sum();
    assert!((0.1..0.9).contains(&share), "{threads:?}");
    let pinning = rows("findings").into_iter().find(|of| of["code"] == "PINNING_FAILED");
    assert_eq!(pinning, None, "every process is on the CPU");
    let left = std::fs::read_dir("/dev/shm").expect("a folder").flatten();
    let left = left.filter(|of| of.file_name().to_string_lossy().ends_with(".left"));
    assert_eq!(left.count(), 0, "names with the prefix of a trial go with it");
    let told = home.expect(&["worker", "check", LIBRARY], 0);
    for killed in ["the caller", "the callee", "python3"] {
        let noticed = format!("ok      stand-in: fails when {killed} is killed");
        assert!(told.contains(&noticed), "{told}");
    }
}

const NAMED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/named_worker.py");

/// Each of two runtimes whose link is their own plays one end, by a name that the callee makes.
#[test]
fn ends_of_two_libraries_meet_by_a_name() {
    let home = Home::together();
    let [one, two] = ["c+one", "python+two"].map(|runtime| {
        std::fs::copy(NAMED, home.path().join(runtime)).expect("a copy");
        home.path().join(runtime).display().to_string()
    });
    let case = "named?runtime=c+one:python+two&payload=64&place=same-cpu";
    let skeleton = repository("workers/skeleton/skeleton.py").display().to_string();
    let words = [case, "--worker", &one, "--worker", &two];
    let (document, said, _) = with(&words, ("SKELETON", &skeleton));
    assert_eq!(document["cases"][0]["status"], "measured", "{said}: {document}");
}

/// Whether the worker for a library is installed now.
pub fn has_library(home: &Home, name: &str) -> bool {
    let output = home.run(&["worker", "install", name]);
    if !output.status.success() {
        eprintln!("NOT CHECKED: {}", stderr(&output));
    }
    output.status.success()
}

#[test]
fn what_a_publisher_drops_is_counted_and_several_senders_have_one_receiver() {
    let home = Home::together();
    let here = ["zeromq", "dds"].map(|name| has_library(&home, name).then_some(name));
    let loads = "zeromq-pub-sub?queue=10&senders=1 zeromq-pub-sub?queue=10&senders=3 \
                 zeromq-push-pull?senders=3 dds-dropping?queue=1&senders=1 dds?senders=3";
    let library = |load: &str| here.into_iter().flatten().find(|name| load.starts_with(name));
    for (load, library) in loads.split(' ').filter_map(|load| Some((load, library(load)?))) {
        let case = format!(
            "load/{load}&payload=64&boundary=process&place=same-cpu&wait=block&rate=5000000\
             &runtime=c+{library}"
        );
        let row = trial(&home, &case.parse().expect("a case"), 9999);
        let row = row.unwrap_or_else(|error| panic!("{case}: {error}"));
        let (load, callee) = (row.load.expect("a load"), row.ends.last().expect("ends"));
        let senders = format!("senders={}&", row.ends.len() - 1);
        assert!(load.offered == 9999 && case.contains(&senders), "{case}: {load:?}");
        assert_eq!(load.offered - load.delivered, callee.lost, "{case}");
        assert_eq!(callee.lost > 0, case.contains("queue"), "{case}: {callee:?}");
        assert!(load.delivered > 0, "{case}: {callee:?}");
    }
}

#[test]
fn the_suite_of_libraries_says_what_it_lacks() {
    let home = Home::together();
    let mut command = home.hopcost(&["middleware"]);
    let output = command.env("HOPCOST_WORKERS", home.path().join("workers")).finish();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("zeromq") && said.contains("hopcost worker install"), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}

pub const MOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/mock_worker.py");
/// The real worker, one number of whose replies lies.
pub const LIAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/lying_worker.py");
