//! Virtual machine and container, as far as there is evidence.

use super::seen::{Found, Seen};
use crate::root::Root;

/// `KVM (Google Compute Engine)`: the hypervisor's interface, then the product on top.
/// The interface is known from what the kernel set up for it, the product from
/// DMI; nothing is guessed from the kernel's name, and only what everybody may read
/// counts, so that runs of root and of others are of one machine.
pub(super) fn hypervisor(seen: &Seen) -> Found {
    let info = seen.info.as_ref().map_err(|error| error.reason.clone())?;
    let flags = info.first().and_then(|cpu| info.flags(cpu)).unwrap_or_default();
    let bit = info.is_x86().then(|| flags.contains(&"hypervisor"));
    if bit == Some(false) {
        return Err("bare metal: no hypervisor bit".into());
    }
    let interface = evidence(seen.root, INTERFACES).map(|(name, _)| name.to_owned());
    match (interface, product(seen.root), bit) {
        (Some(interface), Some(product), _) if product != interface => {
            Ok(format!("{interface} ({product})"))
        }
        (Some(name), ..) | (None, Some(name), _) => Ok(name),
        (None, None, Some(_)) => {
            Ok("make unknown (only the processor's hypervisor bit says so)".into())
        }
        (None, None, None) => {
            Err("no sign of a hypervisor (this architecture has no hypervisor bit)".into())
        }
    }
}

/// What the kernel has set up for a hypervisor, what products are called, and what containers leave to
/// be seen. A line is a file, what stands in it (if empty, the file is there), and of what that is
/// evidence.
const INTERFACES: &str = include_str!("interfaces.txt");
const PRODUCTS: &str = include_str!("products.txt");
const CONTAINERS: &str = include_str!("containers.txt");

/// The first sign that is there: what it is evidence of, and its file.
fn evidence(root: &Root, signs: &'static str) -> Option<(&'static str, &'static str)> {
    signs.lines().find_map(|line| {
        let (path, sign) = line.split_once('|')?;
        let (part, name) = sign.split_once('|')?;
        let text = root.text_or_empty(path.trim()).ok()?;
        text.contains(part.trim()).then_some((name.trim(), path.trim()))
    })
}

/// The product, from DMI or the device tree.
fn product(root: &Root) -> Option<String> {
    let dmi = |name: &str| root.text(&format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let instance = dmi("product_name");
    match dmi("sys_vendor") == "Amazon EC2" && !instance.contains(".metal") {
        true => Some(format!("Amazon EC2 {instance}")),
        false => evidence(root, PRODUCTS).map(|(name, _)| name.to_owned()),
    }
}

/// The first namespaces, by their fixed numbers (include/uapi/linux/nsfs.h).
const FIRST: [(&str, &str); 3] =
    [("pid", "pid:[4026531836]"), ("ipc", "ipc:[4026531839]"), ("uts", "uts:[4026531838]")];

pub(super) fn container(root: &Root) -> Found {
    if let Some((name, path)) = evidence(root, CONTAINERS) {
        return Ok(format!("{name} (by {path})"));
    }
    let namespace = |name: &str| root.link(&format!("/proc/self/ns/{name}")).ok();
    let is_first = |(name, first): &(&str, &str)| namespace(name).as_deref() == Some(*first);
    // An image that was unpacked as a root file system has the file too.
    if FIRST.iter().all(is_first) {
        return Err("none: the pid, ipc and uts namespaces are the kernel's first".into());
    }
    if root.exists("/.dockerenv") {
        return Ok("Docker (by /.dockerenv)".into());
    }
    match namespace("pid").is_some_and(|pid| pid != FIRST[0].1) {
        true => Ok("make unknown (pid namespace of its own)".into()),
        false => Err("no sign of a container".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_of_a_manager_are_no_containers() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        for (path, name) in [
            ("0::/system.slice/docker.service", None),
            ("0::/user.slice/user-1000.slice/session-2.scope", None),
            ("0::/system.slice/docker-0123.scope", Some("Docker")),
            ("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-9.scope", Some("Kubernetes")),
        ] {
            std::fs::write(dir.path().join("proc/self/cgroup"), path).unwrap();
            let found = evidence(&Root::new(dir.path()), CONTAINERS);
            assert_eq!(found.map(|(name, _)| name), name, "{path}");
        }
    }
}
