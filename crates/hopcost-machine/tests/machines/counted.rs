//! What happened on a machine between two looks at it.

use hopcost_machine::{Counted, steal_ns};
use hopcost_model::raw::{CpuUse, Throttling};

use crate::tree::Machine;

#[test]
fn idling_steal_interrupts_and_packets_of_the_used_cpus() {
    let machine = Machine::unpack("container");
    let softirqs =
        |one: u32| format!("  CPU0 CPU1 CPU2 CPU3\\nTIMER: 1 {one} 1 1\\nNET_RX: 0 {one} 0 0");
    let write = |path: &str, text: &str| machine.set(path, &text.replace("\\n", "\n"));
    write("proc/softirqs", &softirqs(100));
    let before = Counted::now(&machine.root, &[1, 2]);
    write("proc/softirqs", &softirqs(140));
    write("proc/stat", "cpu1 100 0 100 90005 13 1 3 27 0 0\ncpu2 100 0 100 90000 10 0 1 49 0 0");
    let did = Counted::now(&machine.root, &[1, 2]).cpus_since(&before);
    let one = CpuUse {
        cpu: 1,
        idle_ns: Some(80_000_000),
        steal_ns: Some(20_000_000),
        interrupt_ns: Some(30_000_000),
        network_softirqs: Some(40),
    };
    // Steal of the second went backwards.
    let two = CpuUse {
        cpu: 2,
        idle_ns: Some(0),
        steal_ns: None,
        interrupt_ns: Some(0),
        network_softirqs: Some(0),
    };
    assert_eq!(did, [one, two]);
}

#[test]
fn steal_and_what_is_not_there() {
    let machine = Machine::unpack("firecracker");
    let steal_of = |cpu| steal_ns(&machine.root, cpu);
    assert_eq!([0, 1, 2].map(steal_of), [Some(40_000_000), Some(140_000_000), None]);
    machine.set("proc/stat", "intr 5");
    assert_eq!(steal_of(0), None);
    let nothing = Machine::from_text("proc/loadavg\t0.00 0.00 0.00 1/1 1\n");
    let counted = Counted::now(&nothing.root, &[0]);
    let [of] = counted.cpus_since(&counted).try_into().unwrap();
    assert_eq!([of.idle_ns, of.steal_ns, of.interrupt_ns, of.network_softirqs], [None; 4]);
    assert_eq!(counted.throttled_since(&counted), None);
}

/// The groups `/a/b` of a machine, of which the inner and the outer one count.
fn groups(version: u32, inner: &str, outer: &str) -> Machine {
    let (group, mount, folder) = match version {
        1 => ("4:cpu,cpuacct:/a/b", "cgroup cgroup rw,cpu,cpuacct", "sys/fs/cgroup/cpu"),
        _ => ("0::/a/b", "cgroup2 cgroup2 rw", "sys/fs/cgroup"),
    };
    let machine = Machine::from_text(&format!(
        "proc/self/cgroup\t{group}\nproc/self/mountinfo\t35 25 0:30 / /{folder} rw - {mount}\n"
    ));
    machine.set(&format!("{folder}/a/b/cpu.stat"), inner);
    machine.set(&format!("{folder}/a/cpu.stat"), outer);
    machine
}

#[test]
fn throttling_is_that_of_the_group_or_ancestor_that_had_the_most_of_it() {
    for (version, unit, per_unit_ns) in [(1, "throttled_time", 1), (2, "throttled_usec", 1_000)] {
        let stat = |times: u32, amount: u32| {
            format!("nr_periods 900\nnr_throttled {times}\n{unit} {amount}")
        };
        let before = groups(version, &stat(5, 1_000), &stat(50, 90_000));
        let before = Counted::now(&before.root, &[]);
        for (inner, outer, expected) in [
            (stat(8, 4_000), stat(51, 90_500), (3, 3_000)),
            (stat(5, 1_000), stat(57, 99_000), (7, 9_000)),
            (stat(5, 1_000), stat(50, 90_000), (0, 0)),
        ] {
            let after = groups(version, &inner, &outer);
            let found = Counted::now(&after.root, &[]).throttled_since(&before);
            let (times, amount) = expected;
            assert_eq!(found, Some(Throttling { times, ns: amount * per_unit_ns }), "v{version}");
        }
    }
}
