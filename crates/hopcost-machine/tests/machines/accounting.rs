//! Steal on whole machines.

use crate::tree::Machine;
use hopcost_machine::{Accounting, StealError, Why, steal_ns};

#[test]
fn steal_is_read_per_cpu() {
    let machine = Machine::unpack("firecracker");
    assert_eq!(steal_ns(&machine.root, 0), Some(40_000_000));
    assert_eq!(steal_ns(&machine.root, 1), Some(140_000_000));
    assert_eq!(steal_ns(&machine.root, 2), None);
}

#[test]
fn a_counter_that_goes_backwards_is_no_steal() {
    let machine = Machine::unpack("broken");
    let before = Accounting::read(&machine.root).unwrap();
    let after = Accounting::read(&machine.below("later")).unwrap();
    let error = after.steal_since(&before, 0, 1_000_000_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "steal of cpu0 went backwards, 5000 ms to 4000 ms: bogus counter"
    );
    // Counters that appear or vanish have no difference either.
    assert_eq!(after.steal_since(&before, 1, 1), Err(StealError::Unknown { cpu: 1 }));
}

#[test]
fn a_missing_or_empty_file_is_told_apart() {
    let machine = Machine::from_text("proc/stat\t");
    assert_eq!(Accounting::read(&machine.root).unwrap_err().why, Why::Empty);
    machine.remove("proc/stat");
    assert_eq!(Accounting::read(&machine.root).unwrap_err().why, Why::Missing);
    machine.set("proc/stat", "intr 5");
    assert!(matches!(Accounting::read(&machine.root).unwrap_err().why, Why::Strange(_)));
    assert_eq!(steal_ns(&machine.root, 0), None);
}
