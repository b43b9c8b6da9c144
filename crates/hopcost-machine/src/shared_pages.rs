//! On which NUMA nodes the memory lies that the two ends of a case share.

use std::collections::BTreeMap;

use crate::root::Root;
use crate::topology::NODE_DIR;

/// A mapping of the memory that a worker makes for both ends (memfd_create(2), already without a
/// name), as numa_maps spells it.
const SHARED: &str = "file=/memfd:hopcost\\040(deleted)";

/// Pages of that memory of a process, by the node that they lie on (/proc/PID/numa_maps). Empty
/// where the machine has one node, which nobody has to look at then, where there is no such
/// memory, and where the kernel does not tell.
pub fn shared_pages(root: &Root, pid: u32) -> BTreeMap<u32, u64> {
    let mut found = BTreeMap::new();
    if root.numbered(NODE_DIR, "node").map_or(0, |nodes| nodes.len()) < 2 {
        return found;
    }
    let maps = root.text(&format!("/proc/{pid}/numa_maps")).unwrap_or_default();
    let shared = maps.lines().filter(|line| line.split(' ').any(|word| word == SHARED));
    for (node, pages) in shared.flat_map(|line| line.split(' ').filter_map(on_node)) {
        let sum: &mut u64 = found.entry(node).or_default();
        *sum = sum.saturating_add(pages);
    }
    found
}

/// Node and pages of a word like `N1=3`.
fn on_node(word: &str) -> Option<(u32, u64)> {
    let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
    Some((node.parse().ok()?, pages.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0c0a00000 default file=/usr/bin/hopcost mapped=40 N0=40 kernelpagesize_kB=4
7f0000000000 default file=/memfd:hopcost\\040(deleted) dirty=3 active=0 N0=1 N1=2 kernelpagesize_kB=4
7f0000010000 default file=/memfd:hopcost\\040(deleted) dirty=1 N1=1 kernelpagesize_kB=4
7f0000020000 default file=/memfd:hopcost-samples\\040(deleted) dirty=9 N0=9 kernelpagesize_kB=4
7ffd00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

    #[test]
    fn pages_are_counted_by_node_where_there_are_several() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc/7")).unwrap();
        std::fs::write(folder.path().join("proc/7/numa_maps"), MAPS).unwrap();
        let node = |n: u32| folder.path().join(format!("sys/devices/system/node/node{n}"));
        std::fs::create_dir_all(node(0)).unwrap();
        let root = Root::new(folder.path());
        assert_eq!(shared_pages(&root, 7), BTreeMap::new(), "one node");
        std::fs::create_dir_all(node(1)).unwrap();
        assert_eq!(shared_pages(&root, 7), BTreeMap::from([(0, 1), (1, 3)]));
        assert_eq!(shared_pages(&root, 8), BTreeMap::new(), "no such process");
    }
}
