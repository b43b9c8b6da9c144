//! Relations of CPUs and the choice of pairs, on whole machines.

use crate::tree::Machine;
use hopcost_machine::{Topology, topology};
use hopcost_model::case::Placement::{self, CrossLlc, CrossNode, SameCpu, SameLlc, Smt};

fn read(name: &str, cpus: std::ops::Range<u32>) -> Topology {
    topology(&Machine::unpack(name).root, &cpus.collect::<Vec<_>>())
}

fn pairs(topology: &Topology, allowed: &[u32]) -> Vec<(Placement, (u32, u32))> {
    topology.pairs_by_relation(allowed).into_iter().collect()
}

#[test]
fn a_server_has_every_relation_but_one() {
    let server = read("server", 0..32);
    for (a, b, relation) in [
        (3, 3, SameCpu),
        (0, 16, Smt),
        (0, 1, SameLlc),
        (0, 17, SameLlc),
        (0, 8, CrossNode),
        (31, 7, CrossNode),
    ] {
        assert_eq!((server.relation(a, b), server.relation(b, a)), (relation, relation));
    }
    let all: Vec<u32> = (0..32).collect();
    assert_eq!(pairs(&server, &all), [(Smt, (0, 16)), (SameLlc, (0, 1)), (CrossNode, (0, 8))]);
    assert_eq!(server.spread(&all, 64), all);
    assert_eq!(server.spread(&all, 4), [0, 8, 16, 24], "of both packages");
    assert!(server.spread(&[], 4).is_empty());
    // The choice stays within what is allowed and known.
    for (allowed, pair) in [
        (all.as_slice(), Some((0, 1, SameLlc))),
        (&[5, 5], None),
        (&[3, 99], None),
        (&[16, 0, 8], Some((0, 16, Smt))),
        (&[31, 23], Some((23, 31, CrossNode))),
        (&[24, 9, 3], Some((9, 24, SameLlc))),
    ] {
        assert_eq!(server.choose_pair(allowed), pair, "{allowed:?}");
    }
}

#[test]
fn offline_cpus_are_not_chosen_and_nodes_divide_even_where_a_cache_spans_them() {
    let machine = Machine::unpack("container");
    machine.set("sys/devices/system/node/node0/cpulist", "0-1");
    machine.set("sys/devices/system/node/node1/cpulist", "2-3");
    machine.set("sys/devices/system/cpu/online", "0-1,3");
    let all = [0, 1, 2, 3];
    let topology = topology(&machine.root, &all);
    assert_eq!(topology.relation(1, 2), CrossNode);
    assert_eq!(pairs(&topology, &all), [(Smt, (0, 1)), (CrossNode, (0, 3))]);
    assert_eq!(topology.spread(&all, 9), [0, 1, 3]);
}

#[test]
fn cores_of_one_kind_come_first() {
    let laptop = read("laptop", 0..8);
    let kinds = [0, 7].map(|cpu| laptop.cpus[&cpu].kind.as_deref());
    assert_eq!(kinds, [Some("performance"), Some("efficient")]);
    let all: Vec<u32> = (0..8).collect();
    assert_eq!(pairs(&laptop, &all), [(Smt, (0, 1)), (SameLlc, (0, 2))]);
    // 0 and 6 would be the lower numbers.
    assert_eq!(laptop.choose_pair(&[0, 6, 7]), Some((6, 7, SameLlc)));
    assert_eq!(laptop.choose_pair(&[0, 6]), Some((0, 6, SameLlc)));
}

#[test]
fn private_last_level_caches_are_taken_at_their_word() {
    let arm = read("aarch64", 0..4);
    assert_eq!(arm.cpus[&1].llc, Some(vec![1]));
    assert_eq!(arm.choose_pair(&[0, 1, 2, 3]), Some((0, 1, CrossLlc)));
}

#[test]
fn what_is_not_described_is_assumed_and_garbage_claims_nothing() {
    let wsl = read("wsl2", 0..4);
    assert_eq!(wsl.relation(0, 1), Smt);
    assert_eq!(wsl.choose_pair(&[0, 1, 2, 3]), Some((0, 2, SameLlc)));
    let nothing = topology(&Machine::from_text("").root, &[0, 1]);
    assert_eq!(nothing.choose_pair(&[0, 1]), Some((0, 1, SameLlc)));
    let broken = read("broken", 0..2);
    // cpu0 claims a sibling that does not agree, cpu1 is not in its own list.
    assert_eq!(broken.cpus[&1].siblings, [1]);
    let cpu = &broken.cpus[&0];
    assert_eq!((&cpu.llc, cpu.node, cpu.package), (&None, None, None));
    assert_eq!(broken.choose_pair(&[0, 1]), Some((0, 1, SameLlc)));
}

/// A server without hardware threads, all of whose pairs are `ns` apart but for some.
fn apart(ns: u32, but: &[((u32, u32), u32)]) -> Topology {
    let every = (0..6).flat_map(|a| (a + 1..6).map(move |b| ((a, b), ns)));
    let root = Machine::from_text("").root;
    topology(&root, &[0, 1, 2, 3, 4, 5]).measured(every.chain(but.iter().copied()).collect())
}

#[test]
fn the_nearest_cpus_are_taken_and_hidden_threads_of_one_core_are_found() {
    let all = [0, 1, 2, 3, 4, 5];
    assert_eq!(pairs(&apart(300, &[((2, 5), 200)]), &all), [(SameLlc, (2, 5))]);
    // As a guest with siblings that it is not told of has them.
    let guest = apart(300, &[((0, 1), 41), ((2, 3), 42), ((1, 4), 280), ((4, 5), 41)]);
    assert_eq!(pairs(&guest, &all), [(Smt, (0, 1)), (SameLlc, (1, 4))]);
    assert_eq!((guest.relation(3, 2), guest.relation(0, 2)), (Smt, SameLlc));
    // Three that are near each other share more than a core.
    let cluster = apart(300, &[((0, 1), 50), ((0, 2), 51), ((1, 2), 52)]);
    assert_eq!(pairs(&cluster, &all), [(SameLlc, (0, 1))]);
}
