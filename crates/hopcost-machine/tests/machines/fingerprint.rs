//! What the fingerprint says of whole machines, recorded and made up.

use std::collections::BTreeSet;

use crate::tree::{Machine, text};
use hopcost_machine::{clocks_comparable, fingerprint};

const ALL: [&str; 7] =
    ["firecracker", "server", "laptop", "container", "aarch64", "wsl2", "broken"];

/// A fixture says what is read of its machine, and what of it once its files have changed.
#[test]
fn each_machine_is_read_as_its_fixture_says() {
    let cpus: Vec<u32> = (0..9).collect();
    for name in ALL {
        let machine = Machine::unpack(name);
        let mut host = fingerprint(&machine.root, &cpus);
        for line in text(name).lines() {
            let (path_or_key, text) = line.split_once('\t').unwrap_or((line, ""));
            if let Some(path) = path_or_key.strip_prefix("~ ") {
                if line.contains('\t') {
                    machine.set(path, text)
                } else {
                    machine.remove(path)
                }
                host = fingerprint(&machine.root, &cpus);
            } else if let Some(key) = path_or_key.strip_prefix("= ") {
                let found = (host.get(key), host.reason(key).unwrap_or_default());
                let is_so = match text.strip_prefix("- ") {
                    None => found.0 == Some(text),
                    Some(reason) => found.0.is_none() && found.1.contains(reason),
                };
                assert!(is_so, "{name}: {line}: {found:?}");
            }
        }
    }
}

#[test]
fn every_machine_has_the_same_keys_each_with_a_value_or_a_reason() {
    let mut expected = BTreeSet::new();
    for name in ALL {
        let host = fingerprint(&Machine::unpack(name).root, &[1, 0, 1]);
        let mut keys = BTreeSet::new();
        for reading in &host.readings {
            let key = &reading.key;
            let ((Some(text), None) | (None, Some(text))) = (&reading.value, &reading.reason)
            else {
                panic!("{name}: {reading:?}");
            };
            assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{reading:?}");
            assert!(text.chars().count() <= 250 && key.contains('.'), "{reading:?}");
            let is_new = keys.insert(key.clone());
            assert!(is_new, "{name}: {key} twice");
        }
        keys.retain(|key| !key.starts_with("mitigations."));
        if expected.is_empty() {
            expected.clone_from(&keys);
        }
        assert_eq!(keys, expected, "{name}");
    }
    let nothing = fingerprint(&Machine::from_text("").root, &[0]);
    assert!(nothing.readings.iter().all(|reading| reading.value.is_none()), "{nothing:?}");
}

#[test]
fn only_volatile_keys_differ_while_the_machine_works() {
    let machine = Machine::unpack("container");
    let before = fingerprint(&machine.root, &[1, 2]);
    machine.set("proc/loadavg", "3.00 1.00 0.50 9/400 5000");
    machine.set("sys/fs/cgroup/cpu.stat", "nr_throttled 99\\nthrottled_usec 9999999");
    let after = fingerprint(&machine.root, &[1, 2]);
    let changed = before.readings.iter().filter(|of| after.get(&of.key) != of.value.as_deref());
    let changed: Vec<&str> = changed.map(|reading| reading.key.as_str()).collect();
    assert_eq!(changed, ["stat.cgroup.throttled_times", "stat.cgroup.throttled_ms", "load.1"]);
}

#[test]
fn this_machine_can_be_read() {
    let host = fingerprint(&hopcost_machine::Root::default(), &[0]);
    for key in ["kernel.release", "cpu.model", "load.1", "cpu.online", "security.seccomp"] {
        assert!(host.get(key).is_some(), "{key}: {:?}", host.reason(key));
    }
}

#[test]
fn clocks_are_compared_where_counters_are_invariant_and_the_kernel_trusts_them() {
    for name in ["server", "laptop", "firecracker", "container", "aarch64"] {
        assert_eq!(clocks_comparable(&Machine::unpack(name).root, &[0, 1]), Ok(()), "{name}");
    }
    let why = |machine: &Machine| clocks_comparable(&machine.root, &[0, 1]).unwrap_err();
    assert!(why(&Machine::unpack("wsl2")).contains("does not trust"));
    let server = Machine::unpack("server");
    let flags = "processor: 0\nvendor_id: GenuineIntel\nflags: constant_tsc nonstop_tsc\n\n\
                 processor: 1\nvendor_id: GenuineIntel\nflags: constant_tsc\n";
    server.set("proc/cpuinfo", flags);
    let is_missing =
        "the time-stamp counter of CPU 1 is not invariant (/proc/cpuinfo lacks nonstop_tsc)";
    assert_eq!(why(&server), is_missing);
    assert_eq!(clocks_comparable(&server.root, &[0]), Ok(()));
    server.remove("proc/cpuinfo");
    assert!(why(&server).contains("cannot check"));
}
