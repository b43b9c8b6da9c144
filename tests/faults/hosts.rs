//! Far hosts that are dead, deaf, others or busy, strangers at their port, and agents that end.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use hopcost_stats::rng::SplitMix64;

use super::{BRIEF, Fault, MEASURED, Played, alive, signal, terminated, until};
use crate::support::Home;
use crate::support::wait::{InTime, in_time, next_line, reap};

const TCP: &str = "roundtrip/tcp?payload=64";
/// The key of both hosts.
const SHARED: &[u8] = b"the key of these tests, which is long enough";
/// The file of the run that something happens to.
const FIRST: &str = "first.hopcost";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "the far end has another key",
        codes: &[2],
        says: &["it does not accept the key"],
        within_s: 20,
        play: |home| {
            let far = Far::start(home);
            key(home, "OTHER", b"another key than that of the far end", 0o600);
            Ok(near(home, &far.address, "OTHER", &[TCP]))
        },
    },
    Fault {
        name: "a key that others may read, one that is short, and none",
        codes: &[2],
        says: &["no key: name a file by --key"],
        within_s: 20,
        play: |home| {
            key(home, "OPEN", b"a key that everybody may read", 0o644);
            home.refuses(&["serve", "--bind", "127.0.0.1:0", "--key", "OPEN"], 2, "chmod 600");
            key(home, "SHORT", b"short", 0o600);
            home.refuses(&["serve", "--bind", "127.0.0.1:0", "--key", "SHORT"], 2, "want 16 bytes");
            Ok(home.run(&["run", "--peer", "127.0.0.1:9", TCP]))
        },
    },
    Fault {
        name: "what listens is no hopcost",
        codes: &[2],
        says: &["is no `hopcost serve`"],
        within_s: 20,
        play: |home| greeted_with(home, "HTTP/1.1 400 Bad Request\r\n\r\n"),
    },
    Fault {
        name: "the far end speaks another version",
        codes: &[2],
        says: &["speaks version 99"],
        within_s: 20,
        play: |home| greeted_with(home, "hopcost-serve 99 00\n"),
    },
    Fault {
        name: "what listens says nothing",
        codes: &[2],
        says: &["it said nothing in time"],
        within_s: 20,
        play: |home| greeted_with(home, ""),
    },
    Fault {
        name: "SIGTERM of a run whose far end falls silent after the proof",
        codes: &[130],
        says: &["interrupted"],
        within_s: 20,
        play: |home| stopped_at(home, welcome),
    },
    Fault {
        name: "a budget of two seconds, and a far end that falls silent after the proof",
        codes: &[2],
        says: &["it said nothing in time"],
        within_s: 4,
        play: |home| {
            key(home, "KEY", SHARED, 0o600);
            let (address, _visit) = silent(welcome);
            Ok(near(home, &address, "KEY", &[TCP, "--budget", "2s"]))
        },
    },
    Fault {
        name: "SIGTERM of the far end while it waits for the connections of a trial",
        codes: &[130],
        says: &[],
        within_s: 20,
        play: |home| stopped_before_links(home, "tcp"),
    },
    Fault {
        name: "nobody listens",
        codes: &[2],
        says: &["--peer 127.0.0.1:1: ", "refused", "`hopcost serve` running"],
        within_s: 20,
        play: |home| Ok(near(home, "127.0.0.1:1", "KEY", &[TCP])),
    },
    Fault {
        name: "garbage on the far end's port, before a run",
        codes: MEASURED,
        says: &[],
        within_s: 60,
        play: |home| {
            let far = Far::start(home);
            let mut random = SplitMix64(18);
            for length in (0..200).map(|n| n * n % 700) {
                let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
                shout(&far.address, &bytes);
            }
            for line in [
                "\n",
                "control\n",
                "control a b\n",
                "data x y\n",
                "data 00 4294967296\n",
                "data 00 0\n",
            ] {
                shout(&far.address, line.as_bytes());
            }
            Ok(near(home, &far.address, "KEY", &[TCP]))
        },
    },
    Fault {
        name: "garbage from one who knows the key, before a run",
        codes: MEASURED,
        says: &[],
        within_s: 60,
        play: |home| {
            let far = Far::start(home);
            let mut random = SplitMix64(19);
            let known = [
                "{\"ask\":\"hello\",\"run\":\"x\",\"cpu\":4096}",
                "{\"ask\":\"trial\",\"run\":\"x\",\"case\":\"roundtrip/pipe\",\"deadline_ms\":1,\"ticks_per_second\":0}",
                "{\"ask\":\"trial\",\"run\":\"x\",\"case\":\"stream/tcp-send?payload=4096&fields=1&flows=64&ack=none&boundary=host&place=free&wait=block&nodelay=off&more=off\",\"deadline_ms\":18446744073709551615,\"ticks_per_second\":1e9}",
            ];
            for turn in 0..24 {
                let mut bytes = known[turn % known.len()].as_bytes().to_vec();
                for _ in 0..turn / 4 {
                    let at = random.next_u64() as usize % bytes.len();
                    bytes[at] = random.next_u64() as u8;
                }
                bytes.push(b'\n');
                proved(&far.address, |stream| {
                    let _ = stream.write_all(&bytes);
                });
            }
            proved(&far.address, |stream| {
                let _ = stream.write_all(&vec![b'x'; 1 << 20]);
            });
            // On a busy machine the far end takes a moment to see that the last of them is gone.
            let mut output = near(home, &far.address, "KEY", &[TCP]);
            for _ in 0..20 {
                if !String::from_utf8_lossy(&output.stderr).contains("far end is busy") {
                    break;
                }
                std::thread::sleep(Duration::from_millis(200));
                output = near(home, &far.address, "KEY", &[TCP]);
            }
            Ok(output)
        },
    },
    Fault {
        name: "a proof that was overheard is shown again",
        codes: MEASURED,
        says: &[],
        within_s: 30,
        play: |home| {
            let far = Far::start(home);
            let said = proved(&far.address, |_| ());
            let (mut stream, mut lines) = connected(&far.address);
            lines.next();
            stream.write_all(said.as_bytes()).expect("to write");
            let answer = lines.next().expect("an answer").expect("it comes in time");
            assert_eq!(answer, "refused");
            Ok(near(home, &far.address, "KEY", &[TCP]))
        },
    },
    Fault {
        name: "a stranger who comes again and again, with 64 connections at a time",
        codes: MEASURED,
        says: &["The far end turned away"],
        within_s: 60,
        play: |home| {
            let far = Far::start(home);
            let (address, over) = (far.address.clone(), Arc::new(AtomicBool::new(false)));
            let is_over = Arc::clone(&over);
            let stranger = std::thread::spawn(move || {
                let mut held = VecDeque::new();
                while !is_over.load(Ordering::Relaxed) {
                    held.extend(TcpStream::connect(&address));
                    if held.len() > 64 {
                        held.pop_front();
                    }
                }
            });
            // One who takes a moment to prove the key is not turned away for those who come later.
            proved_after(Duration::from_millis(500), &far.address, |_| ());
            let output = near(home, &far.address, "KEY", &[TCP, "--details"]);
            over.store(true, Ordering::Relaxed);
            in_time("a stranger", || stranger.join()).expect("no panic");
            Ok(output)
        },
    },
    Fault {
        name: "the far end measures for another run",
        codes: &[2],
        says: &["the far end is busy"],
        within_s: 30,
        play: |home| {
            let (far, mut first) = begun(home);
            let output = near(home, &far.address, "KEY", &[TCP]);
            signal(first.id(), libc::SIGINT);
            assert_eq!(reap(&mut first).code(), Some(130));
            Ok(output)
        },
    },
    Fault {
        name: "SIGKILL of the far end in the middle of a run",
        codes: &[1],
        says: &["the far host does not answer any more", "finished trials are kept"],
        within_s: 60,
        play: |home| {
            let (far, first) = begun(home);
            far.end(libc::SIGKILL);
            swept(home);
            Ok(first.finish())
        },
    },
    Fault {
        name: "SIGSTOP of the far end in the middle of a run",
        codes: &[1],
        says: &["the far host does not answer any more", "finished trials are kept"],
        within_s: 120,
        play: |home| {
            let (far, first) = begun(home);
            signal(far.child.id(), libc::SIGSTOP);
            let output = first.finish();
            far.end(libc::SIGKILL);
            swept(home);
            Ok(output)
        },
    },
    Fault {
        name: "SIGKILL of the near end in the middle of a run; the next is served",
        codes: MEASURED,
        says: &[],
        within_s: 60,
        play: |home| {
            let (far, mut first) = begun(home);
            first.kill().expect("to kill");
            reap(&mut first);
            Ok(near(home, &far.address, "KEY", &[TCP]))
        },
    },
    Fault {
        name: "SIGKILL of the near end of the only run that is served",
        codes: &[0],
        says: &[],
        within_s: 60,
        play: |home| {
            let mut far = Far::with(home, &["--once"]);
            let mut first = begun_with(home, &far);
            first.kill().expect("to kill");
            reap(&mut first);
            let status = reap(&mut far.child);
            swept(home);
            Ok(nothing_said(status))
        },
    },
    Fault {
        name: "SIGINT of the far end in the middle of a run",
        codes: &[1],
        says: &["the far host does not answer any more", "finished trials are kept"],
        within_s: 60,
        play: |home| {
            let (far, first) = begun(home);
            far.end(libc::SIGINT);
            Ok(first.finish())
        },
    },
    Fault {
        name: "the path to the far host goes down in the middle of a run",
        codes: &[1],
        says: &["the far host does not answer any more", "finished trials are kept"],
        within_s: 120,
        play: partitioned,
    },
    Fault {
        name: "an agent whose hopcost is killed while it is stopped goes on",
        codes: MEASURED,
        says: &[],
        within_s: 30,
        play: |home| {
            let agent = Agent::start();
            let mut run = begun_for(&agent, home);
            until(Duration::from_secs(10), "the agent is stopped", || state(agent.0.id()) == 'T');
            run.kill().expect("to kill");
            reap(&mut run);
            until(Duration::from_secs(2), "the agent goes on", || state(agent.0.id()) == 'S');
            Ok(home.run(&BRIEF))
        },
    },
    Fault {
        name: "an agent ends, and the run that it was for",
        codes: &[130],
        says: &["interrupted", "finished trials are kept"],
        within_s: 30,
        play: |home| {
            let mut agent = Agent::start();
            let run = begun_for(&agent, home);
            measured_a_few(home);
            agent.0.kill().expect("to kill");
            reap(&mut agent.0);
            Ok(run.finish())
        },
    },
    Fault {
        name: "a lease runs out",
        codes: &[124],
        says: &["the lease is over", "finished trials are kept"],
        within_s: 30,
        play: |home| {
            Ok(home.run(&["run", "pipe", "--rounds", "400", "--lease", "2s", "--out", FIRST]))
        },
    },
];

/// A far end on loopback; killed with the test.
pub struct Far {
    pub address: String,
    child: Child,
}

impl Far {
    /// Starts one, with its key in the home.
    pub fn start(home: &Home) -> Self {
        Self::with(home, &[])
    }

    fn with(home: &Home, options: &[&str]) -> Self {
        key(home, "KEY", SHARED, 0o600);
        let serve = ["serve", "--bind", "127.0.0.1:0", "--key", "KEY"];
        Self::of(home.hopcost(&[&serve, options].concat()))
    }

    fn of(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let line = next_line("where a far end listens", stdout);
        let address = line.trim().strip_prefix("listening ").expect("where it listens").to_owned();
        Self { address, child }
    }

    fn end(mut self, how: i32) {
        signal(self.child.id(), how);
        signal(self.child.id(), libc::SIGCONT);
        reap(&mut self.child);
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(self.child.id(), libc::SIGINT);
            reap(&mut self.child);
        }
    }
}

fn key(home: &Home, name: &str, text: &[u8], mode: u32) {
    let path = home.path().join(name);
    std::fs::write(&path, text).expect("to write");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("to set a mode");
}

/// A brief run between two hosts.
pub fn near(home: &Home, address: &str, name: &str, cases: &[&str]) -> Output {
    if !home.path().join(name).exists() {
        key(home, name, b"a key that nobody is asked for", 0o600);
    }
    let fixed = ["run", "--peer", address, "--key", name, "--rounds", "2", "--measure", "2ms"];
    let output = home.hopcost(&[&fixed, cases].concat()).try_finish();
    output.expect("it starts")
}

/// A far end, and a run that goes on until something happens and has some trials.
fn begun(home: &Home) -> (Far, Child) {
    let far = Far::start(home);
    let run = begun_with(home, &far);
    (far, run)
}

fn begun_with(home: &Home, far: &Far) -> Child {
    let fixed = ["run", "--peer", &far.address, "--key", "KEY", TCP, "--rounds", "400"];
    let mut command = home.hopcost(&[&fixed[..], &["--out", FIRST]].concat());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().expect("it starts");
    measured_a_few(home);
    run
}

/// The same of a run on one host, for an agent.
fn begun_for(agent: &Agent, home: &Home) -> Child {
    let id = agent.0.id().to_string();
    let arguments = ["run", "pipe", "--rounds", "400", "--agent", &id, "--out", FIRST];
    let mut command = home.hopcost(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Waits until a run has some trials.
fn measured_a_few(home: &Home) {
    let path = home.path().join(FIRST);
    let trials = || {
        let run = hopcost_file::open(&path, &|| Ok(Box::new(tempfile::tempdir()?)));
        run.map_or(0, |run| run.trials.len())
    };
    until(Duration::from_secs(20), "three trials are measured", || trials() >= 3);
}

/// Removes what a killed far end has left, as the next start does.
fn swept(home: &Home) {
    assert!(MEASURED.contains(&home.run(&BRIEF).status.code().unwrap_or(-1)));
}

/// A run whose far end begins like this.
fn greeted_with(home: &Home, line: &'static str) -> Played {
    let (address, _) = silent(move |stream| stream.write_all(line.as_bytes()).expect("to write"));
    Ok(near(home, &address, "KEY", &[TCP]))
}

/// A port at which one visitor is greeted and then left waiting; when it does is received.
fn silent(greet: impl FnOnce(&mut TcpStream) + Send + 'static) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("to bind");
    let address = listener.local_addr().expect("its address").to_string();
    let (visited, visit) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a visitor");
        greet(&mut stream);
        let _ = visited.send(());
        while stream.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
    });
    (address, visit)
}

/// Greets as a far end does that knows the key.
fn welcome(stream: &mut TcpStream) {
    let far = "cd".repeat(32);
    writeln!(stream, "hopcost-serve 2 {far}").expect("to write");
    let lines = BufReader::new(stream.try_clone().expect("a copy"));
    let said = next_line("a proof", lines);
    let near = said.split(' ').nth(1).expect("a nonce");
    writeln!(stream, "welcome {}", proof(["far", near, &far])).expect("to write");
}

/// A run that is terminated while a far end leaves it waiting.
fn stopped_at(home: &Home, greet: fn(&mut TcpStream)) -> Played {
    let (address, visit) = silent(greet);
    key(home, "KEY", SHARED, 0o600);
    let mut run = home.hopcost(&["run", "--peer", &address, "--key", "KEY", TCP]);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    in_time("a visitor of the port", move || visit.recv()).expect("a visitor");
    terminated(&mut run);
    Ok(run.finish())
}

/// A far end that is terminated while nobody opens the links of a trial.
fn stopped_before_links(home: &Home, mechanism: &str) -> Played {
    let mut far = Far::start(home);
    let id = format!("roundtrip/{mechanism}?payload=64&boundary=host&place=free&wait=block");
    let ask = format!(
        r#"{{"ask":"trial","run":"x","case":"{id}","deadline_ms":30000,"ticks_per_second":1e9}}"#
    );
    let mut status = None;
    proved(&far.address.clone(), |stream| {
        writeln!(stream, "{ask}").expect("to write");
        let lines = BufReader::new(stream.try_clone().expect("a copy"));
        let answer = next_line("an answer", lines);
        assert!(answer.contains("expecting"), "{answer}");
        status = Some(terminated(&mut far.child));
    });
    Ok(nothing_said(status.expect("it has ended")))
}

fn nothing_said(status: ExitStatus) -> Output {
    Output { status, stdout: Vec::new(), stderr: Vec::new() }
}

/// Says something to a port and leaves.
fn shout(address: &str, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a time-out");
    let _ = stream.write_all(bytes);
    let _ = stream.read(&mut [0; 256]);
}

/// A connection, and its lines.
fn connected(address: &str) -> (TcpStream, Lines<BufReader<TcpStream>>) {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    let lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
    (stream, lines)
}

/// Proves that the key is known, does something, and says what the proof was.
fn proved(address: &str, then: impl FnOnce(&mut TcpStream)) -> String {
    proved_after(Duration::ZERO, address, then)
}

fn proved_after(pause: Duration, address: &str, then: impl FnOnce(&mut TcpStream)) -> String {
    let (mut stream, mut lines) = connected(address);
    let greeting = lines.next().expect("a greeting").expect("it comes in time");
    let far = greeting.rsplit(' ').next().expect("a nonce");
    let near = "ab".repeat(32);
    std::thread::sleep(pause);
    let said = format!("control {near} {}\n", proof(["near", far, &near]));
    stream.write_all(said.as_bytes()).expect("to write");
    let answer = lines.next().expect("an answer").expect("it comes in time");
    assert!(answer.starts_with("welcome "), "{answer}");
    then(&mut stream);
    said
}

/// What only one who knows the key can say.
fn proof(words: [&str; 3]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SHARED).expect("any length");
    for word in words {
        mac.update(&(word.len() as u64).to_le_bytes());
        mac.update(word.as_bytes());
    }
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A process that sleeps.
struct Agent(Child);

impl Agent {
    fn start() -> Self {
        Self(Command::new("sleep").arg("60").spawn().expect("sleep(1)"))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        reap(&mut self.0);
    }
}

/// The state of a process (proc_pid_stat(5)).
fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('X')
}

/// Two network namespaces with names of their own, joined by a veth pair; gone with the test.
pub struct Namespaces(String);

impl Namespaces {
    /// Makes them, or says why this machine cannot.
    pub fn make() -> Result<Self, &'static str> {
        let name = format!("hopcost-{}", std::process::id());
        let of = |end: &str| format!("{name}-{end}");
        if !ip(&["netns", "add", &of("near")]) {
            return Err("this user may make no network namespaces, or there is no ip(8)");
        }
        let two = Self(name.clone());
        assert!(ip(&["netns", "add", &of("far")]));
        let veth =
            ["link", "add", "near", "netns", &of("near"), "type", "veth", "peer", "name", "far"];
        assert!(ip(&[&veth[..], &["netns", &of("far")]].concat()));
        for (end, address) in [("near", "10.202.0.1/30"), ("far", "10.202.0.2/30")] {
            assert!(ip(&["-n", &of(end), "addr", "add", address, "dev", end]));
            assert!(ip(&["-n", &of(end), "link", "set", end, "up"]));
            assert!(ip(&["-n", &of(end), "link", "set", "lo", "up"]));
        }
        Ok(two)
    }

    /// A command in one of them.
    pub fn within(&self, end: &str, inner: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}-{end}", self.0)]);
        command.arg(inner.get_program()).args(inner.get_args());
        if let Some(directory) = inner.get_current_dir() {
            command.current_dir(directory);
        }
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// Has a far end listen in its namespace.
    pub fn far(&self, home: &Home) -> Far {
        key(home, "KEY", SHARED, 0o600);
        let serve = home.hopcost(&["serve", "--bind", "10.202.0.2:0", "--key", "KEY"]);
        Far::of(self.within("far", &serve))
    }

    fn cut(&self) {
        assert!(ip(&["-n", &format!("{}-near", self.0), "link", "set", "near", "down"]));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for end in ["near", "far"] {
            ip(&["netns", "del", &format!("{}-{end}", self.0)]);
        }
    }
}

fn ip(arguments: &[&str]) -> bool {
    let output = Command::new("ip").args(arguments).try_finish();
    output.is_ok_and(|output| output.status.success())
}

/// A run over a veth pair that is switched off.
fn partitioned(home: &Home) -> Played {
    let two = Namespaces::make()?;
    let far = two.far(home);
    let fixed = ["run", "--peer", &far.address, "--key", "KEY", TCP, "--out", FIRST];
    let run = home.hopcost(&[&fixed[..], &["--rounds", "400"]].concat());
    let mut run = two.within("near", &run);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    measured_a_few(home);
    two.cut();
    let output = run.finish();
    assert!(alive(far.child.id()), "the far end is gone");
    Ok(output)
}
