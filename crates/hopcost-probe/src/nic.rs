//! Network interfaces as the kernel tells of them to a program: which has an address
//! (getifaddrs(3)), and the name of its driver (ethtool's SIOCETHTOOL, include/uapi/linux/ethtool.h).
//! What /sys says of them is read elsewhere.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsRawFd;

use crate::sys;

/// The addresses of this host's interfaces, each with the interface's name.
pub fn addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the list is valid until it is freed below, and nothing of it is kept.
    unsafe {
        sys::check(libc::getifaddrs(&mut first))?;
        let mut all = Vec::new();
        let mut at: *const libc::ifaddrs = first;
        while !at.is_null() {
            let one = &*at;
            if let Some(address) = address_of(one.ifa_addr) {
                all.push((CStr::from_ptr(one.ifa_name).to_string_lossy().into_owned(), address));
            }
            at = one.ifa_next;
        }
        libc::freeifaddrs(first);
        Ok(all)
    }
}

/// # Safety
/// The pointer is null or points to a socket address of the size of its family.
unsafe fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: as the caller says; the family tells which structure it is.
    unsafe {
        match i32::from((*address).sa_family) {
            libc::AF_INET => {
                let v4 = std::ptr::read_unaligned(address.cast::<libc::sockaddr_in>());
                Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let v6 = std::ptr::read_unaligned(address.cast::<libc::sockaddr_in6>());
                Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 0x3;

/// The head of `struct ethtool_drvinfo`, which has 196 bytes.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

/// The name that a driver gives itself (`veth`, `virtio_net`).
pub fn driver(interface: &str) -> io::Result<String> {
    let mut info = DriverInfo { command: ETHTOOL_GDRVINFO, driver: [0; 32], rest: [0; 160] };
    // Any socket will do (netdevice(7)).
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: the request is plain data, its name keeps a NUL at its end, and the structure is as
    // large as the command wants it.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        let room = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name.iter_mut().take(room).zip(interface.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut info).cast();
        sys::check(libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request))?;
    }
    let name = info.driver.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_found_by_its_address() {
        let lo = ("lo".to_owned(), IpAddr::from(Ipv4Addr::LOCALHOST));
        assert!(addresses().unwrap().contains(&lo));
        assert!(driver("no-such-interface").is_err());
    }
}
