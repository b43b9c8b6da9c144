//! Where the memory lies that the two ends share, on a machine of several NUMA nodes.

use std::collections::BTreeSet;

use hopcost_model::finding::{Code, Finding};
use hopcost_model::protocol::SHARED_PAGES;
use hopcost_model::raw::RawTrial;

use super::make::{Seen, finding, of_trials, suspect_if};
use crate::run::Run;

/// Share of the pages on a node of neither end from which on the memory as a whole is there, and
/// share of such trials from which on the median is of them.
const MOST: f64 = 0.5;

/// Suspect are trials whose memory lies on a node on which neither end runs: every cache line
/// that is not in a cache is fetched from there by both.
pub fn remote(of: &Seen) -> Option<Finding> {
    let known = of.reading.trials.iter().filter_map(|trial| elsewhere(of.run, trial));
    let known: Vec<(f64, u32)> = known.collect();
    let far: Vec<(f64, u32)> = known.iter().copied().filter(|(share, _)| *share > MOST).collect();
    let (share, node) = far.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let severity = suspect_if(far.len() as f64 > MOST * known.len() as f64);
    let says = format!(
        "In {}, the memory that both ends share lay on a NUMA node on which neither runs: up to <share %> \
         of its pages, on node {node}.",
        of_trials(far.len(), known.len())
    );
    let values = [("trials", far.len() as f64), ("share", share), ("node", f64::from(node))];
    Some(finding(Code::RemoteMemory, severity, says, &values))
}

/// The share of a trial's pages that lie on other nodes than those of the CPUs of its ends, and
/// the one of them that has most; `None` where ends are free or nobody looked.
fn elsewhere(run: &Run, trial: &RawTrial) -> Option<(f64, u32)> {
    let node = |cpu: &Option<u32>| {
        let node = run.raw.host_before.get(&format!("cpu{}.node", (*cpu)?))?;
        node.parse::<u32>().ok()
    };
    let near: BTreeSet<u32> = trial.cpus_asked.iter().map(node).collect::<Option<_>>()?;
    let pages = trial.ends.iter().flat_map(|end| &end.events).filter_map(|reading| {
        let node: u32 = reading.event.strip_prefix(SHARED_PAGES)?.parse().ok()?;
        Some((node, reading.value? as f64))
    });
    let pages: Vec<(u32, f64)> = pages.filter(|(_, pages)| *pages > 0.0).collect();
    let all: f64 = pages.iter().map(|(_, pages)| pages).sum();
    let far = || pages.iter().filter(|(node, _)| !near.contains(node));
    let most = far().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(node, _)| *node);
    (all > 0.0).then(|| (far().map(|(_, pages)| pages).sum::<f64>() / all, most))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, event, found};

    const TWO: &str = "roundtrip/pipe?payload=64&boundary=process&place=cross-node&wait=block";

    /// Eight trials between CPU 0 of node 0 and CPU 1 of node 1, some with pages elsewhere.
    fn with(trials: u32, pages: [u64; 3], nodes: &[(&str, &str)]) -> Option<(Severity, String)> {
        let raw = Builder::new().host(nodes).case(TWO, 8, |round, t| {
            t.each(&[3000; 100]);
            if round < trials {
                let on =
                    |(node, pages): (usize, u64)| event(&format!("shared-pages-node{node}"), pages);
                t.raw.ends[0].events = pages.into_iter().enumerate().map(on).collect();
            } else {
                t.raw.ends[0].events = vec![event("shared-pages-node0", 2)];
            }
        });
        let results = raw.read();
        let counted = results.results[0].counters.iter();
        assert!(counted.clone().all(|counter| !counter.event.contains("node")), "no event");
        found(&results, Code::RemoteMemory)
    }

    const NODES: [(&str, &str); 2] = [("cpu0.node", "0"), ("cpu1.node", "1")];

    #[test]
    fn memory_of_a_third_node() {
        assert_eq!(with(8, [2, 0, 0], &NODES), None);
        assert_eq!(with(8, [0, 2, 0], &NODES), None, "the callee's node");
        assert_eq!(with(8, [1, 0, 1], &NODES), None, "half of it");
        let (severity, evidence) = with(8, [1, 0, 3], &NODES).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(evidence.starts_with("In 8 of 8 trials"), "{evidence}");
        assert!(evidence.ends_with("75 % of its pages, on node 2."), "{evidence}");
        assert_eq!(with(4, [0, 0, 2], &NODES).unwrap().0, Severity::Note);
        assert_eq!(with(8, [0, 0, 2], &NODES[..1]), None, "nobody knows the callee's node");
    }
}
