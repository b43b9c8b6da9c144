//! What the fingerprint says of whole machines, recorded and made up.

use std::collections::BTreeSet;

use crate::tree::Machine;
use hopcost_machine::{fingerprint, steal_ns};
use hopcost_model::host::Host;

const ALL: &[&str] = &["firecracker", "server", "laptop", "container", "aarch64", "wsl2", "broken"];

fn read(name: &str, cpus: &[u32]) -> Host {
    fingerprint(&Machine::unpack(name).root, cpus)
}

/// Checks values, and reasons where the expectation starts with `- `.
fn check(host: &Host, expected: &[(&str, &str)]) {
    for (key, want) in expected {
        match want.strip_prefix("- ") {
            None => assert_eq!(host.get(key), Some(*want), "{key}: {:?}", host.reason(key)),
            Some(want) => {
                assert_eq!(host.get(key), None, "{key}");
                let reason = host.reason(key).unwrap_or_else(|| panic!("{key} is not there"));
                assert!(reason.contains(want), "{key}: {reason}");
            }
        }
    }
}

#[test]
fn every_reading_has_a_value_or_a_reason_and_a_key_of_its_own() {
    for name in ALL {
        let host = read(name, &[0, 1]);
        let mut keys = BTreeSet::new();
        for reading in &host.readings {
            let key = &reading.key;
            assert!(keys.insert(key.clone()), "{name}: {key} twice");
            assert!(key.contains('.') && !key.contains(' '), "{name}: {key}");
            assert!(!reading.section.is_empty(), "{name}: {key}");
            let text = match (&reading.value, &reading.reason) {
                (Some(text), None) | (None, Some(text)) => text,
                other => panic!("{name}: {key} has {other:?}"),
            };
            assert!(!text.trim().is_empty(), "{name}: {key} is blank");
            assert!(!text.chars().any(char::is_control), "{name}: {key} holds {text:?}");
            assert!(text.chars().count() <= 250, "{name}: {key} is long: {text}");
        }
    }
}

#[test]
fn keys_do_not_depend_on_the_machine() {
    let keys = |name: &str| -> Vec<String> {
        let host = read(name, &[1, 0, 1]);
        let keys = host.readings.into_iter().map(|reading| reading.key);
        keys.filter(|key| !key.starts_with("mitigations.")).collect()
    };
    let expected = keys("firecracker");
    for name in ALL {
        assert_eq!(keys(name), expected, "{name}");
    }
}

#[test]
fn sections_are_not_split() {
    let host = read("server", &[0, 1]);
    let mut sections: Vec<&str> = host.readings.iter().map(|r| r.section.as_str()).collect();
    sections.dedup();
    let distinct: BTreeSet<&str> = sections.iter().copied().collect();
    assert_eq!(sections.len(), distinct.len(), "{sections:?}");
}

#[test]
fn only_volatile_keys_differ_while_the_machine_works() {
    let machine = Machine::unpack("container");
    let before = fingerprint(&machine.root, &[1, 2]);
    machine.set("proc/loadavg", "3.00 1.00 0.50 9/400 5000");
    machine.set("sys/fs/cgroup/cpu.stat", "nr_throttled 99\\nthrottled_usec 9999999");
    let after = fingerprint(&machine.root, &[1, 2]);
    let changed: Vec<&str> = before
        .readings
        .iter()
        .filter(|reading| after.get(&reading.key) != reading.value.as_deref())
        .map(|reading| reading.key.as_str())
        .collect();
    assert!(changed.len() >= 4, "{changed:?}");
    let is_volatile = |key: &&str| key.starts_with("load.") || key.starts_with("stat.");
    assert!(changed.iter().all(is_volatile), "{changed:?}");
    machine.set("sys/fs/cgroup/cpu.max", "50000 100000");
    let after = fingerprint(&machine.root, &[1, 2]);
    assert_ne!(before.get("cgroup.cpu_quota"), after.get("cgroup.cpu_quota"));
}

#[test]
fn firecracker_guest() {
    let host = read("firecracker", &[0, 1]);
    check(
        &host,
        &[
            ("cpu.model", "Intel(R) Xeon(R) Processor"),
            ("cpu.family_model_stepping", "family 6 model 167 stepping 1"),
            ("cpu.microcode", "0x1"),
            ("cpu.topology_source", "as /sys describes it"),
            ("cpu0.governor", "- no cpufreq driver (usual in virtual machines)"),
            ("cpu.turbo", "- no cpufreq driver"),
            (
                "kernel.cmdline_relevant",
                "mitigations=auto,no_guest_host,no_guest_guest cpuidle_haltpoll.force=1 \
                 haltpoll.guest_halt_poll_ns=0",
            ),
            ("kernel.preempt", "PREEMPT_DYNAMIC, mode not readable (needs root and debugfs)"),
            ("virt.hypervisor", "KVM"),
            ("virt.container", "- namespaces are the kernel's first"),
            ("idle.driver", "haltpoll"),
            ("cpu0.idle_states", "POLL:0us, haltpoll idle:1us"),
            ("clocksource.current", "tsc"),
            ("mitigations.retbleed", "Vulnerable"),
            ("cgroup.version", "v1"),
            ("cgroup.cpu_quota", "none"),
            ("cgroup.cpuset", "0-1"),
            ("stat.cgroup.throttled_times", "0"),
            ("sched.policy", "other, nice 0"),
            ("sched.timer_slack", "50 us"),
            ("load.runnable", "4"),
            ("load.cpu_pressure", "6.86 % of 10 s"),
            ("stat.pid", "6765"),
        ],
    );
    let haltpoll = host.get("idle.haltpoll").unwrap();
    assert!(haltpoll.contains("guest_halt_poll_ns=0"), "{haltpoll}");
    assert!(haltpoll.contains("cpuidle_haltpoll.force=Y"), "{haltpoll}");
}

#[test]
fn a_guest_without_a_known_clock_has_no_known_make() {
    let machine = Machine::unpack("firecracker");
    machine.set("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc");
    let host = fingerprint(&machine.root, &[0]);
    assert!(host.get("virt.hypervisor").unwrap().starts_with("make unknown"));
}

#[test]
fn bare_metal_server() {
    check(
        &read("server", &[0, 8]),
        &[
            ("virt.hypervisor", "- bare metal: no hypervisor bit"),
            ("virt.container", "- none"),
            ("cpu.nohz_full", "4-5"),
            ("smt.active", "yes (control: on)"),
            ("cpu8.package", "1"),
            ("cpu8.siblings", "8,24"),
            ("cpu8.node", "1"),
            ("cpu0.l2", "1.25 MiB, shared by cpus 0,16"),
            ("cpu0.governor", "powersave"),
            ("cpu0.frequency_driver", "intel_pstate"),
            ("cpu0.frequency_limits", "800 to 3700 MHz, hardware 800 to 3700 MHz"),
            ("cpu.turbo", "on"),
            ("numa.nodes", "2 nodes (0-1)"),
            ("numa.balancing", "on"),
            ("thp.enabled", "always"),
            (
                "kernel.cmdline_relevant",
                "isolcpus=4-5 nohz_full=4-5 transparent_hugepage=always preempt=none",
            ),
            ("kernel.preempt", "none (PREEMPT_DYNAMIC)"),
            ("cpu0.idle_states", "POLL:0us, C1:1us, C1E:4us, C6:170us"),
            ("stat.cgroup.throttled_ms", "- counts no throttling"),
        ],
    );
}

#[test]
fn hybrid_laptop() {
    let machine = Machine::unpack("laptop");
    check(
        &fingerprint(&machine.root, &[0, 4]),
        &[
            ("cpu0.core_kind", "performance"),
            ("cpu4.core_kind", "efficient"),
            ("cpu4.l2", "2 MiB, shared by cpus 4-7"),
            ("cpu.turbo", "off"),
            ("cpu0.idle_states", "POLL:0us, C1E:2us, C6:133us (disabled), C10:230us (disabled)"),
        ],
    );
}

#[test]
fn container_with_a_quota() {
    let machine = Machine::unpack("container");
    check(
        &fingerprint(&machine.root, &[1, 2]),
        &[
            ("virt.hypervisor", "KVM (Google Compute Engine)"),
            ("virt.container", "Docker (/.dockerenv exists)"),
            ("cpu.allowed", "1-2"),
            ("cpu.online", "0-3"),
            ("cgroup.version", "v2"),
            ("cgroup.cpu_quota", "150 % of one CPU (150000 us in each 100000 us)"),
            ("cgroup.cpuset", "1-2"),
            ("stat.cgroup.throttled_times", "17"),
            ("stat.cgroup.throttled_ms", "523"),
            ("security.seccomp", "1 filter on every system call"),
            ("security.no_new_privs", "on"),
            ("idle.haltpoll", "- no haltpoll module"),
            ("cpu1.idle_states", "- no cpuidle driver"),
            ("kernel.preempt", "none or voluntary"),
            ("kernel.arch", "- kernel before 6.1"),
            ("clocksource.current", "kvm-clock"),
            ("numa.balancing", "- without automatic NUMA balancing"),
        ],
    );
}

#[test]
fn the_tightest_quota_of_all_ancestors_counts() {
    let machine = Machine::unpack("server");
    let own = "sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/cpu.max";
    machine.set(own, "300000 100000");
    machine.set("sys/fs/cgroup/user.slice/cpu.max", "100000 50000");
    let quota = |machine: &Machine| {
        let host = fingerprint(&machine.root, &[]);
        let key = "cgroup.cpu_quota";
        host.get(key).or(host.reason(key)).unwrap().to_owned()
    };
    assert_eq!(quota(&machine), "200 % of one CPU (100000 us in each 50000 us)");
    machine.set(own, "5000 100000");
    assert_eq!(quota(&machine), "5 % of one CPU (5000 us in each 100000 us)");
    machine.set(own, "10 0");
    assert!(quota(&machine).contains("holds `10 0`"), "{}", quota(&machine));

    let old = Machine::unpack("firecracker");
    old.set("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000");
    assert_eq!(quota(&old), "25 % of one CPU (25000 us in each 100000 us)");
    old.set("sys/fs/cgroup/cpu/cpu.cfs_period_us", "0");
    assert!(quota(&old).contains("cpu.cfs_period_us holds `0`"), "{}", quota(&old));
}

#[test]
fn aarch64_server() {
    check(
        &read("aarch64", &[0, 1]),
        &[
            ("cpu.model", "Neoverse-N1 (implementer 0x41 part 0xd0c)"),
            ("cpu.family_model_stepping", "variant 0x3 revision 1"),
            ("cpu.microcode", "- only x86 has"),
            ("cpu0.package", "-1"),
            ("cpu1.l2", "size not told, cpu 1 only"),
            ("cpu1.l3", "- no level 3 cache described"),
            ("cpu0.core_kind", "capacity 1024 of 1024"),
            ("cpu0.frequency_limits", "1000 to 3000 MHz"),
            ("memory.page_size", "64 KiB"),
            ("kernel.preempt", "voluntary by the command line (PREEMPT_DYNAMIC)"),
            ("virt.hypervisor", "- no sign of a hypervisor"),
        ],
    );
}

#[test]
fn aarch64_guests_are_known_by_their_tables() {
    let machine = Machine::unpack("aarch64");
    machine.set("sys/class/dmi/id/sys_vendor", "Amazon EC2");
    machine.set("sys/class/dmi/id/product_name", "m6g.large");
    let hypervisor = |machine: &Machine| {
        let host = fingerprint(&machine.root, &[]);
        host.get("virt.hypervisor").map(str::to_owned)
    };
    assert_eq!(hypervisor(&machine).as_deref(), Some("Amazon EC2 m6g.large"));
    machine.set("sys/class/dmi/id/product_name", "m6g.metal");
    assert_eq!(hypervisor(&machine), None);
    machine.remove("sys/class");
    machine.set("proc/device-tree/hypervisor/compatible", "linux,kvm\\x00");
    machine.set("proc/device-tree/model", "linux,dummy-virt\\x00");
    let virt = hypervisor(&machine);
    assert_eq!(virt.as_deref(), Some("KVM (virtual board of QEMU or Firecracker)"));
}

#[test]
fn wsl2() {
    check(
        &read("wsl2", &[0, 1]),
        &[
            ("virt.hypervisor", "Hyper-V"),
            ("virt.container", "WSL 2 distribution"),
            ("cpu0.l1d", "- no caches described"),
            ("cgroup.cpu_quota", "none (root control group)"),
            ("numa.nodes", "- NUMA"),
            ("clocksource.current", "hyperv_clocksource_tsc_page"),
            ("mitigations.all", "- does not exist"),
        ],
    );
}

#[test]
fn gvisor_podman_and_a_bare_pid_namespace_are_told_apart() {
    let machine = Machine::unpack("container");
    let container = || fingerprint(&machine.root, &[]).get("virt.container").map(str::to_owned);
    machine.remove(".dockerenv");
    assert_eq!(container().as_deref(), Some("make unknown (pid namespace of its own)"));
    machine.set("run/.containerenv", "engine=\"podman-4.9.3\"\\nname=\"x\"");
    assert_eq!(container().as_deref(), Some("podman-4.9.3 (/run/.containerenv exists)"));
    machine.set("run/.containerenv", "");
    assert_eq!(container().as_deref(), Some("Podman (/run/.containerenv exists)"));
    machine.set("proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016");
    assert!(container().unwrap().starts_with("gVisor"));
}

#[test]
fn a_tracer_is_named() {
    let machine = Machine::unpack("server");
    machine.set("proc/self/status", "TracerPid:\t77");
    machine.set("proc/77/comm", "strace");
    let host = fingerprint(&machine.root, &[]);
    assert_eq!(host.get("security.tracer"), Some("strace (pid 77)"));
    machine.remove("proc/77");
    let host = fingerprint(&machine.root, &[]);
    assert_eq!(host.get("security.tracer"), Some("pid 77"));
}

#[test]
fn libraries_that_are_loaded_into_every_program_are_named() {
    let machine = Machine::unpack("server");
    let preload = || fingerprint(&machine.root, &[]).get("security.preload").map(str::to_owned);
    assert_eq!(preload(), None, "no environment to read");
    machine.set("proc/self/environ", "HOME=/root\0LD_PRELOAD=\0MY_LD_PRELOAD=/a.so\0");
    assert_eq!(preload().as_deref(), Some("none"));
    machine.set("proc/self/environ", "LD_PRELOAD=/a.so:/b.so\0HOME=/root\0LD_AUDIT=/c.so\0");
    assert_eq!(preload().as_deref(), Some("LD_PRELOAD=/a.so:/b.so, LD_AUDIT=/c.so"));
    machine.set("proc/self/environ", "HOME=/root\0");
    machine.set("etc/ld.so.preload", "/d.so");
    assert_eq!(preload().as_deref(), Some("/etc/ld.so.preload: /d.so"));
}

#[test]
fn broken_files_are_named_in_the_reasons() {
    check(
        &read("broken", &[0, 1]),
        &[
            ("cpu.model", "- /proc/cpuinfo does not hold text"),
            ("cpu.allowed", "- /proc/self/status holds"),
            ("cpu0.governor", "- scaling_governor is empty"),
            ("cpu0.frequency_limits", "- holds `fast`"),
            ("cpu.turbo", "- holds `2`"),
            ("memory.total", "- cannot read /proc/meminfo"),
            ("thp.enabled", "- holds `always madvise never`"),
            ("kernel.release", "- osrelease is empty"),
            ("kernel.version", "- does not hold text"),
            ("clocksource.current", "- is empty"),
            ("cpu0.idle_states", "- holds `-1`"),
            ("cgroup.cpu_quota", "- outside of this cgroup namespace"),
            ("limits.nofile", "- has no `Max open files`"),
            ("security.seccomp", "- kernel without seccomp"),
            ("sched.policy", "- /proc/self/stat holds"),
            ("load.1", "- holds `one two three`"),
            ("load.cpu_pressure", "- holds `some avg10=`"),
        ],
    );
}

#[test]
fn steal_is_read_per_cpu_and_unknown_where_it_is_not_told() {
    let machine = Machine::unpack("firecracker");
    let steal_of = |cpu| steal_ns(&machine.root, cpu);
    assert_eq!([0, 1, 2].map(steal_of), [Some(40_000_000), Some(140_000_000), None]);
    for text in ["", "intr 5"] {
        machine.set("proc/stat", text);
        assert_eq!(steal_of(0), None);
    }
    machine.remove("proc/stat");
    assert_eq!(steal_of(0), None);
}

#[test]
fn nothing_at_all_gives_only_reasons() {
    let machine = Machine::from_text("");
    let host = fingerprint(&machine.root, &[0]);
    let values: Vec<_> = host.readings.iter().filter(|reading| reading.value.is_some()).collect();
    // What was assumed is said all the same.
    let keys: Vec<&str> = values.iter().map(|reading| reading.key.as_str()).collect();
    assert_eq!(keys, ["cpu.topology_source"]);
}

#[test]
fn this_machine_can_be_read() {
    let root = hopcost_machine::Root::default();
    let host = fingerprint(&root, &[0]);
    for key in ["kernel.release", "memory.total", "load.1", "limits.nofile", "sched.policy"] {
        assert!(host.get(key).is_some(), "{key}: {:?}", host.reason(key));
    }
    let pid = std::process::id().to_string();
    assert_eq!(host.get("stat.pid"), Some(pid.as_str()));
    // A quota may make it fewer CPUs than are allowed.
    let threads = std::thread::available_parallelism().unwrap().get();
    let allowed = host.get("cpu.allowed").unwrap();
    assert!(threads == 1 || allowed.contains(['-', ',']), "{allowed} {threads}");
}
