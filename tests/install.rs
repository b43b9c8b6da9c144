//! `hopcost worker install`: workers built from what the binary carries, whole or not at all.
//! Nothing here needs a network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::wait::InTime;
use crate::support::{Home, json_of, set_mode, stderr, together};

/// What the builds need of any system, and no language.
const TOOLS: [&str; 14] = [
    "cat", "cksum", "cp", "dirname", "find", "head", "mkdir", "mktemp", "readlink", "rm", "sed",
    "sort", "tail", "tr",
];

/// A system with these tools, and with programs of which a test says what they do.
struct System {
    home: Home,
}

impl System {
    fn new() -> Self {
        let this = Self { home: Home::new() };
        fs::create_dir(this.bin()).expect("a folder");
        let path = std::env::var_os("PATH").expect("PATH");
        for tool in TOOLS {
            let mut folders = std::env::split_paths(&path);
            let found = folders.find_map(|f| Some(f.join(tool)).filter(|file| file.is_file()));
            symlink(found.expect(tool), this.bin().join(tool)).expect("a link");
        }
        this
    }
    fn bin(&self) -> PathBuf {
        self.home.path().join("bin")
    }
    fn workers(&self) -> PathBuf {
        self.home.path().join("data/hopcost/workers")
    }
    fn has(&self, name: &str, script: &str) {
        let path = self.bin().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        set_mode(path, 0o755);
    }
    /// A C++ compiler whose programs answer as a worker of this version, with its mechanisms.
    fn has_cpp(&self, version: &str) {
        for tool in ["c++", "make"] {
            self.has(tool, "exit 0");
        }
        let lines = include_str!("../workers/cpp/worker.toml").lines();
        let named = lines.filter_map(|line| line.strip_prefix("[mechanism.")?.strip_suffix(']'));
        let rows: Vec<String> = named.map(|name| format!("{{\"name\":\"{name}\"}}")).collect();
        let rows = rows.join(",");
        let worker = format!(
            "#!/bin/sh\nread line\necho '{{\"is\":\"described\",\"protocol\":3,\"runtime\":\"cpp\",\"version\":\"{version}\",\"mechanisms\":[{rows}]}}'\ncat >/dev/null\n"
        );
        fs::write(self.bin().join("worker"), worker).expect("a program");
        let built = "[ \"$1\" = --build ] || exit 0\nmkdir -p .build\n\
                     cp \"$(dirname \"$0\")/worker\" .build/hopcost-cpp\nchmod +x .build/hopcost-cpp";
        self.has("cmake", built);
        let chmod = if Path::new("/bin/chmod").exists() { "/bin/chmod" } else { "/usr/bin/chmod" };
        let _ = symlink(chmod, self.bin().join("chmod"));
    }
    fn hopcost(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.hopcost(arguments);
        command.env("PATH", self.bin()).env("HOPCOST_WORKERS", self.workers());
        command.env_remove("JAVA_HOME").env_remove("PYTHON");
        command
    }
    fn install(&self, name: &str) -> Output {
        self.hopcost(&["worker", "install", name]).finish()
    }
    /// A worker as the list tells it.
    fn listed(&self, name: &str) -> Option<Value> {
        let document = json_of(&mut self.hopcost(&["list", "--format", "json"]));
        let mut runtimes = document["runtimes"].as_array().expect("runtimes").iter();
        runtimes.find(|runtime| runtime["runtime"] == name).cloned()
    }
    /// What lies where workers are built.
    fn builds(&self) -> Vec<String> {
        let entries = fs::read_dir(self.workers().join(".built")).into_iter().flatten();
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn what_is_missing_is_named_by_its_package_and_nothing_is_left() {
    let _together = together();
    let system = System::new();
    let packages = [
        ("cpp", "g++"),
        ("go", "golang-go"),
        ("java", "openjdk-17-jdk-headless"),
        ("node", "nodejs"),
        ("python", "python3-venv"),
    ];
    let output = system.install("all");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 2 * packages.len(), "what is done, and what lacks: {said}");
    for (name, package) in packages {
        let why = format!("hopcost: {name}: ");
        let why =
            said.lines().find(|line| line.starts_with(&why)).unwrap_or_else(|| panic!("{said}"));
        assert!(why.contains(package), "{name}: no {package} in: {why}");
        assert!(!system.workers().join(name).is_symlink() && system.listed(name).is_none());
    }
    assert_eq!(system.builds(), [""; 0]);
    let unknown = system.install("cobol");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("cpp, go, java, node, python"), "{}", stderr(&unknown));
}

#[test]
fn a_worker_is_replaced_whole_and_stays_where_its_next_build_fails() {
    let _together = together();
    let system = System::new();
    // A folder that somebody made is not taken for an installed worker.
    system.has_cpp("one");
    let own = system.workers().join("cpp");
    fs::create_dir_all(&own).expect("a folder");
    let output = system.install("cpp");
    assert!(stderr(&output).contains("move it away"), "{}", stderr(&output));
    assert!(own.is_dir() && !own.is_symlink() && system.builds().is_empty());
    fs::remove_dir(&own).expect("moved away");

    let version = || system.listed("cpp").expect("a worker")["version"].clone();
    for number in ["one", "two"] {
        system.has_cpp(number);
        // Of an install that was killed.
        fs::create_dir_all(system.workers().join(".built/cpp-1/half")).expect("a folder");
        let output = system.install("cpp");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!((version(), system.builds().len()), (number.into(), 1));
    }
    // A build that fails, and one that makes no worker.
    for (program, script, why) in
        [("cmake", "echo it is wrong; exit 1", "it is wrong"), ("worker", "exit 7", "exit code 7")]
    {
        system.has_cpp("three");
        system.has(program, script);
        let output = system.install("cpp");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert_eq!((version(), system.builds().len()), ("two".into(), 1));
    }
}

/// The worker for Python needs packages for WebSockets alone, and no network without.
#[test]
fn python_is_installed_without_a_network() {
    let home = Home::together();
    let workers = home.path().join("data/hopcost/workers");
    let hopcost = |arguments: &[&str]| {
        let mut command = home.hopcost(arguments);
        command.env("PIP_NO_INDEX", "1").env("HOPCOST_WORKERS", &workers).env_remove("PYTHON");
        command.finish()
    };
    let output = hopcost(&["worker", "install", "python"]);
    if output.status.code() == Some(1) && stderr(&output).contains("install Python") {
        let expected = std::env::var("HOPCOST_EXPECT_WORKERS").unwrap_or_default();
        assert!(!expected.contains("python"), "{}", stderr(&output));
        eprintln!("NOT CHECKED: {}", stderr(&output));
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("without websockets"), "{said}");
    let list = String::from_utf8(hopcost(&["list"]).stdout).expect("UTF-8");
    assert!(
        list.contains("python: queue, ") && list.contains("websocket-asyncio (not here)"),
        "{list}"
    );
}
