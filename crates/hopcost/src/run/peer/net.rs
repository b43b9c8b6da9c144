//! What lies between two hosts, as each end sees it: the interface that carries the connection, and what
//! /sys and its driver tell of it.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use hopcost_machine::Root;
use hopcost_model::Reading;
use hopcost_probe::nic;

use super::link;

/// What is known of the interface that has this address.
pub fn readings(address: IpAddr) -> Vec<Reading> {
    let interface = nic::addresses().map_err(|error| error.to_string()).and_then(|all| {
        let found = all.into_iter().find(|(_, own)| *own == address);
        found.map(|(name, _)| name).ok_or(format!("no interface has the address {address}"))
    });
    let root = Root::default();
    let file = |name: &str, what: &str| {
        let text = root.text(&format!("/sys/class/net/{name}/{what}"));
        text.map(|text| text.trim().to_owned()).map_err(|error| error.reason)
    };
    let driver = |name: &str| nic::driver(name).map_err(|error| error.to_string());
    let reading = |key: &str, what: &dyn Fn(&str) -> Result<String, String>| {
        Reading::found("net", key, interface.as_deref().map_err(Clone::clone).and_then(what))
    };
    vec![
        Reading::known("net", "net.address", address.to_string()),
        reading("net.interface", &|name| Ok(name.to_owned())),
        reading("net.path", &|name| Ok(path(&root, name, driver(name).ok().as_deref()))),
        reading("net.driver", &driver),
        reading("net.mtu", &|name| file(name, "mtu")),
        reading("net.speed", &|name| file(name, "speed").map(|speed| format!("{speed} Mbit/s"))),
    ]
}

/// The address of this host that faces another, by its routes alone: nothing is sent.
pub fn local_address_to(mut other: SocketAddr) -> io::Result<IpAddr> {
    let socket = UdpSocket::bind((link::unspecified(other.ip()), 0))?;
    // That of discard (RFC 863).
    other.set_port(9);
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

/// A name for the network namespace of this process, which no other kernel has.
pub fn namespace() -> Option<String> {
    let boot_id = Root::default().text("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/net").ok()?;
    Some(format!("{} {}", boot_id.trim(), namespace.display()))
}

/// What kind of interface it is: what a packet meets behind it.
fn path(root: &Root, name: &str, driver: Option<&str>) -> String {
    let has = |what: &str| root.exists(&format!("/sys/class/net/{name}/{what}"));
    let kind = match driver {
        _ if name == "lo" => "loopback",
        Some("veth") => "veth",
        _ if has("bridge") => "bridge",
        Some("tun") => "tunnel",
        Some("virtio_net" | "vmxnet3" | "hv_netvsc" | "xen_netfront" | "ena" | "gve") => {
            "virtual machine's"
        }
        _ if has("device") => "physical",
        _ => "virtual",
    };
    kind.to_owned()
}
