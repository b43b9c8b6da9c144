//! What holds whatever is asked.

use crate::common::*;
use hopcost_model::Placement;
use hopcost_plan::order;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

// As many cases as PROPTEST_CASES says: 2,000 in `./test --all`.
proptest! {
    #[test]
    fn ids_are_as_many_as_the_product_says_and_select_exactly_their_cases(
        gap in subsequence(vec!["1us", "1ms", "5ns"], 1..=3),
        knob in subsequence(vec!["none", "dma-latency", "spinner"], 1..=3),
        field in subsequence(vec!["1", "256", "4KiB"], 1..=3),
        fields in subsequence(vec!["1", "3", "8"], 1..=3),
        ack in subsequence(vec!["none", "per-message", "window:7"], 1..=3),
        place in subsequence(vec!["same-cpu", "cross", "smt", "free"], 1..=4),
        boundary in subsequence(vec!["inline", "thread", "process"], 1..=3),
        wait in subsequence(vec!["block", "spin", "block:spin-then-block"], 1..=3),
        sched in subsequence(vec!["other", "fifo:1"], 1..=2),
    ) {
        let keys = |keys: &[(&str, &Vec<&str>)]| {
            let pairs = keys.iter().map(|(key, values)| format!("{key}={}", values.join(",")));
            let product: usize = keys.iter().map(|(_, values)| values.len()).product();
            (pairs.collect::<Vec<_>>().join("&"), 2 * product)
        };
        // 1 field of 256 bytes and 8 of 32 would be different cases; no two here are equal.
        for (path, (keys, product)) in [
            ("wake/pipe,futex", keys(&[("gap", &gap), ("idle-knob", &knob), ("place", &place)])),
            (
                "stream/tcp-send,vm-readv",
                keys(&[("field", &field), ("fields", &fields), ("ack", &ack), ("place", &place)]),
            ),
            (
                "roundtrip/tcp,udp",
                keys(&[("boundary", &boundary), ("place", &place), ("wait", &wait), ("sched", &sched)]),
            ),
        ] {
            let plan = planned(&ask(&[&format!("{path}?{keys}")])).unwrap();
            prop_assert_eq!(plan.cases.len(), product, "{} {}", path, keys);
            select_themselves(&plan, planned);
        }
    }

    #[test]
    fn every_live_case_can_be_placed(machine in select(vec![0, 1, 2])) {
        let machine = [one(), two(), big()][machine].clone();
        let every = ask(&["*?place=same-cpu,smt,same-llc,cross-llc,cross-node,free"]);
        let plan = planned_on(&machine, &every).unwrap();
        for case in plan.live_cases().filter(|case| case.placement.is_some()) {
            let (caller, callee) = plan.cpus_for(case.placement);
            let free = case.placement == Some(Placement::Free);
            prop_assert_eq!((caller.is_none(), callee.is_none()), (free, free));
            prop_assert!(caller.into_iter().chain(callee).all(|cpu| plan.cpus.contains(&cpu)));
        }
    }

    #[test]
    fn an_order_is_a_permutation(seed in any::<u64>(), round in any::<u32>(), n in 0u32..200) {
        let mut cases = order(seed, round, n);
        prop_assert_eq!(&cases, &order(seed, round, n));
        cases.sort_unstable();
        prop_assert_eq!(cases, (0..n).collect::<Vec<_>>());
    }

}

/// Never to change: stored runs are checked against it. The vectors come from an
/// independent implementation in Python.
#[test]
fn the_order_of_a_round_stays_what_it_is() {
    assert_eq!(order(0, 0, 10), [6, 3, 2, 9, 8, 1, 4, 7, 0, 5]);
    assert_eq!(order(0, 1, 10), [2, 1, 8, 4, 9, 6, 5, 7, 3, 0]);
    assert_eq!(order(u64::MAX, 11, 10), [3, 8, 7, 4, 2, 5, 6, 1, 9, 0]);
    assert_ne!(order(1, 0, 53), order(0, 1, 53));
    assert_eq!((order(5, 5, 0), order(5, 5, 1)), (vec![], vec![0]));
}
