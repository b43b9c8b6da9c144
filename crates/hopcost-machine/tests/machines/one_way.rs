//! Whether the clocks of two CPUs may be compared, on whole machines.

use crate::tree::Machine;
use hopcost_machine::clocks_comparable;

#[test]
fn invariant_counters_that_the_kernel_trusts_may() {
    for name in ["server", "laptop", "firecracker", "container", "aarch64"] {
        assert_eq!(clocks_comparable(&Machine::unpack(name).root, &[0, 1]), Ok(()), "{name}");
    }
}

#[test]
fn others_may_not_and_it_is_said_why() {
    let why = |machine: &Machine| clocks_comparable(&machine.root, &[0, 1]).unwrap_err();
    assert!(why(&Machine::unpack("wsl2")).contains("does not trust"));
    let server = Machine::unpack("server");
    let flags = "processor: 0\nvendor_id: GenuineIntel\nflags: constant_tsc nonstop_tsc\n\n\
                 processor: 1\nvendor_id: GenuineIntel\nflags: constant_tsc\n";
    server.set("proc/cpuinfo", flags);
    assert_eq!(
        why(&server),
        "the time-stamp counter of CPU 1 is not invariant (/proc/cpuinfo lacks nonstop_tsc)"
    );
    assert_eq!(clocks_comparable(&server.root, &[0]), Ok(()));
    server.remove("proc/cpuinfo");
    assert!(why(&server).contains("cannot be told"));
}
