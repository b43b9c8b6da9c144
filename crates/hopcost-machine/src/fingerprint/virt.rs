//! Virtual machine and container, as far as there is evidence.

use super::seen::{Found, Seen};
use crate::root::Root;

/// `KVM (Google Compute Engine)`: the hypervisor's interface, then the product on top.
/// The interface is known from what the kernel set up for it, the product from
/// DMI; nothing is guessed from the kernel's name, and only what everybody may read
/// counts, so that runs of root and of others are of one machine.
pub(super) fn hypervisor(seen: &Seen) -> Found {
    let info = seen.info.as_ref().map_err(ToString::to_string)?;
    let flags = info.first().and_then(|cpu| info.flags(cpu)).unwrap_or_default();
    let bit = info.is_x86().then(|| flags.contains(&"hypervisor"));
    if bit == Some(false) {
        return Err("bare metal: no hypervisor bit".into());
    }
    match (interface(seen.root), product(seen.root), bit) {
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

fn interface(root: &Root) -> Option<String> {
    if let Some(system) = wsl(root) {
        return (system == Wsl::Two).then(|| "Hyper-V".to_owned());
    }
    if let Ok(kind) = root.text("/sys/hypervisor/type") {
        return Some(if kind == "xen" { "Xen".to_owned() } else { kind });
    }
    let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = root.text(clocks).unwrap_or_default();
    for clock in clocks.split_whitespace() {
        let name = match clock {
            "kvm-clock" => "KVM",
            "xen" => "Xen",
            _ if clock.starts_with("hyperv_clocksource") => "Hyper-V",
            _ => continue,
        };
        return Some(name.to_owned());
    }
    let compatible = root.text("/proc/device-tree/hypervisor/compatible").unwrap_or_default();
    let known = [("xen", "Xen"), ("kvm", "KVM")];
    known.iter().find(|(word, _)| compatible.contains(word)).map(|(_, name)| (*name).to_owned())
}

/// Vendors whose name is that of the product.
const VENDORS: &str = "QEMU,DigitalOcean,Hetzner,OpenStack Foundation,Alibaba Cloud,Scaleway,Vultr,\
    Parallels,BHYVE,Xen,Nutanix,Red Hat";

/// The product, from DMI or the device tree.
fn product(root: &Root) -> Option<String> {
    let dmi = |name: &str| root.text(&format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let (vendor, product) = (dmi("sys_vendor"), dmi("product_name"));
    let name = match vendor.as_str() {
        "Amazon EC2" if !product.contains(".metal") => Some(format!("Amazon EC2 {product}")),
        "Google" if product == "Google Compute Engine" => Some(product.clone()),
        "Microsoft Corporation" if product == "Virtual Machine" => Some("Hyper-V".into()),
        "innotek GmbH" => Some("VirtualBox".into()),
        "Apple Inc." if product.contains("Virtual") => Some("Apple Virtualization".into()),
        known if VENDORS.split(',').any(|name| name == known) => Some(vendor.clone()),
        _ if vendor.starts_with("VMware") => Some("VMware".into()),
        // A board that names itself so runs below a virtual machine monitor.
        _ if product.contains("KVM") || product.contains("Virtual Machine") => Some(product),
        _ => None,
    };
    name.or_else(|| {
        let model = root.text("/proc/device-tree/model").unwrap_or_default();
        (model == "linux,dummy-virt").then(|| "virtual board of QEMU or Firecracker".to_owned())
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wsl {
    One,
    Two,
}

/// Microsoft's kernels name themselves `…-Microsoft` (WSL 1, no Linux kernel at
/// all) and `…-microsoft-standard-WSL2`.
fn wsl(root: &Root) -> Option<Wsl> {
    let release = root.text("/proc/sys/kernel/osrelease").ok()?;
    if release.contains("WSL2") || release.contains("microsoft-standard") {
        return Some(Wsl::Two);
    }
    release.ends_with("-Microsoft").then_some(Wsl::One)
}

pub(super) fn container(seen: &Seen) -> Found {
    let root = seen.root;
    match wsl(root) {
        Some(Wsl::One) => return Ok("WSL 1 (Windows serves the system calls)".into()),
        Some(Wsl::Two) => return Ok("WSL 2 distribution".into()),
        None => {}
    }
    // gVisor's /proc/version is fixed in its source.
    let version = root.text("/proc/version").unwrap_or_default();
    if version.contains("gVisor") || version.contains("#1 SMP Sun Jan 10 15:06:54 PST 2016") {
        return Ok("gVisor (its own kernel serves the system calls)".into());
    }
    if let Ok(text) = root.text_or_empty("/run/.containerenv") {
        let engine = text.lines().find_map(|line| line.strip_prefix("engine="));
        let engine = engine.map_or("Podman", |name| name.trim_matches('"')).to_owned();
        return Ok(format!("{engine} (/run/.containerenv exists)"));
    }
    let cgroup = root.text("/proc/self/cgroup").unwrap_or_default();
    if let Some(name) = cgroup_manager(&cgroup) {
        return Ok(format!("{name} (by the name of the control group)"));
    }
    if let Ok(name) = root.text("/run/systemd/container") {
        return Ok(format!("{name} (/run/systemd/container says so)"));
    }
    let own = namespaces(root);
    match (root.exists("/.dockerenv"), own) {
        (true, Namespaces::Initial) => Err("none: /.dockerenv exists, but the pid, ipc and uts \
             namespaces are the kernel's first (an image unpacked as a root file system)"
            .into()),
        (true, _) => Ok("Docker (/.dockerenv exists)".into()),
        (false, Namespaces::Own) => Ok("make unknown (pid namespace of its own)".into()),
        (false, Namespaces::Initial) => {
            Err("none: the pid, ipc and uts namespaces are the kernel's first".into())
        }
        (false, Namespaces::Unknown) => Err("no sign of a container".into()),
    }
}

/// Names that container managers give to control groups. Services of the
/// managers themselves (`docker.service`) are no containers.
fn cgroup_manager(cgroup: &str) -> Option<&'static str> {
    const MARKS: &[(&str, &str)] = &[
        ("/kubepods", "Kubernetes"),
        ("/docker/", "Docker"),
        ("/docker-", "Docker"),
        ("/libpod", "Podman"),
        ("/crio-", "CRI-O"),
        ("/cri-containerd-", "containerd"),
        ("/lxc.payload", "LXC"),
        ("/lxc/", "LXC"),
        ("/garden/", "Garden"),
        ("/machine.slice/systemd-nspawn@", "systemd-nspawn"),
    ];
    MARKS.iter().find(|(mark, _)| cgroup.contains(mark)).map(|(_, name)| *name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    /// Pid, ipc and uts namespaces are those the kernel booted with.
    Initial,
    /// The pid namespace is another one.
    Own,
    /// Another mixture, or not readable.
    Unknown,
}

/// The first namespaces have fixed numbers (include/uapi/linux/nsfs.h).
fn namespaces(root: &Root) -> Namespaces {
    let number = |name: &str| root.link(&format!("/proc/self/ns/{name}")).ok();
    let Some(pid) = number("pid") else { return Namespaces::Unknown };
    if pid != "pid:[4026531836]" {
        return Namespaces::Own;
    }
    let first = |name, link: &str| number(name).as_deref() == Some(link);
    match first("ipc", "ipc:[4026531839]") && first("uts", "uts:[4026531838]") {
        true => Namespaces::Initial,
        false => Namespaces::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_of_a_manager_are_no_containers() {
        for (path, name) in [
            ("0::/system.slice/docker.service", None),
            ("0::/system.slice/containerd.service", None),
            ("0::/user.slice/user-1000.slice/session-2.scope", None),
            ("0::/system.slice/docker-0123.scope", Some("Docker")),
            ("4:cpu,cpuacct:/docker/0123", Some("Docker")),
            ("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-9.scope", Some("Kubernetes")),
            ("0::/lxc.payload.web", Some("LXC")),
        ] {
            assert_eq!(cgroup_manager(path), name, "{path}");
        }
    }
}
