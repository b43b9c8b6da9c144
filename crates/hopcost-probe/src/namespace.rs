//! Two network namespaces joined by a veth pair (veth(4)), and sockets in them.
//!
//! A socket belongs to the namespace it was made in for all its users, so the
//! workers need not enter one: two threads that end at once make the namespaces,
//! the link and the sockets. The namespaces have no name; they and the link are
//! gone when their last socket is. ip(8) makes the link: it inherits the namespace of the
//! thread that starts it.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hopcost_model::Role;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::interrupt;
use crate::sys::{self, Doing, ensure};
use crate::transport::by_role;

/// How long a connection within this machine may take to open: the kernel makes it at once.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Where the caller's sockets are bound; nothing outside the namespaces sees it.
pub const CALLER: Ipv4Addr = Ipv4Addr::new(10, 201, 0, 1);
/// Where the callee's are.
pub const CALLEE: Ipv4Addr = Ipv4Addr::new(10, 201, 0, 2);
/// How long the link may take to carry packets after both ends were switched on.
const CARRIER_WAIT: Duration = Duration::from_secs(2);

/// Two sockets, the caller's and the callee's: `bind` makes one at this address in the callee's
/// namespace, and `join` does the rest in the caller's. Every pair has namespaces of its own, and so
/// a link of its own. Both run on a thread that ends before this returns, so that nothing of this
/// process stays in a namespace.
pub fn pair<B, T: Send>(
    bind: impl FnOnce(Ipv4Addr) -> io::Result<B> + Send,
    join: impl FnOnce(B) -> io::Result<[T; 2]> + Send,
) -> io::Result<[T; 2]> {
    let make = || {
        let two = Two::make()?;
        two.enter(Role::Callee)?;
        let bound = bind(CALLEE)?;
        two.enter(Role::Caller)?;
        join(bound)
    };
    sys::on_a_thread(make).doing("two network namespaces")
}

/// Whether this process can have such namespaces, found out by making a pair the
/// first time, or why not.
pub fn available() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    let bind = |address| UdpSocket::bind((address, 0));
    let any = || pair(bind, |callee| Ok([bind(CALLER)?, callee]));
    KNOWN.get_or_init(|| any().map(drop).map_err(|error| error.to_string())).clone()
}

/// The namespaces, as long as the thread that makes the sockets needs them.
struct Two {
    caller: File,
    callee: File,
}

impl Two {
    /// Makes both and the link between them; the calling thread is in neither for certain.
    fn make() -> io::Result<Self> {
        let two = Two { caller: fresh_namespace()?, callee: fresh_namespace()? };
        // The thread is in the callee's now; the other end goes straight into the caller's.
        let theirs = format!("/proc/{}/fd/{}", std::process::id(), two.caller.as_raw_fd());
        ip(&format!("link add callee type veth peer name caller netns {theirs}"))?;
        for end in [Role::Callee, Role::Caller] {
            two.enter(end)?;
            let (device, address) = by_role(end, ("caller", CALLER), ("callee", CALLEE));
            ip("link set lo up")?;
            ip(&format!("address add {address}/30 dev {device}"))?;
            ip(&format!("link set {device} up"))?;
        }
        for end in [Role::Caller, Role::Callee] {
            two.enter(end)?;
            wait_for_carrier(by_role(end, "caller", "callee"))?;
        }
        Ok(two)
    }

    /// Moves the calling thread into the namespace of one end (setns(2)).
    fn enter(&self, end: Role) -> io::Result<()> {
        let file = by_role(end, &self.caller, &self.callee);
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .doing("entering a network namespace")
    }
}

/// Moves the calling thread into a network namespace of its own.
fn fresh_namespace() -> io::Result<File> {
    // SAFETY: an integer argument; affects only the calling thread.
    sys::check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map_err(|error| {
        let needs = match error.raw_os_error() {
            Some(libc::EPERM) => "making one needs CAP_SYS_ADMIN, so run as root",
            Some(libc::EINVAL) => "the kernel was built without them (CONFIG_NET_NS)",
            _ => "unshare(CLONE_NEWNET)",
        };
        sys::context(error, needs)
    })?;
    // Or both ends would now and then send router solicitations and the like. Where there is no
    // IPv6, or /proc/sys is read-only, it stays as it is.
    for which in ["all", "default"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
    }
    File::open("/proc/thread-self/ns/net")
}

/// Waits until a device passes packets on: the kernel notices a moment after the
/// other end was switched on, and drops what is sent before.
fn wait_for_carrier(device: &str) -> io::Result<()> {
    let until = Instant::now() + CARRIER_WAIT;
    while !ip(&format!("link show {device}"))?.contains("state UP") {
        ensure!(Instant::now() <= until, "the veth pair has no carrier after 2 s");
    }
    Ok(())
}

/// What ip(8) says in the namespace of the calling thread.
fn ip(arguments: &str) -> io::Result<String> {
    let mut command = Command::new("ip");
    command.args(arguments.split(' ')).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let doing = format!("ip {arguments}");
    let mut child = command.spawn().doing(format_args!("{doing} (of the package iproute2)"))?;
    // It says something or ends.
    if let Some(said) = &child.stdout
        && let Err(error) = interrupt::until_readable(said, Instant::now() + PATIENCE)
    {
        let _ = child.kill();
        let _ = child.wait();
        return Err(sys::context(error, &doing));
    }
    let output = child.wait_with_output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let why = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
            Err(sys::failure(format!("{doing}: {why}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn own_namespace() -> std::path::PathBuf {
        std::fs::read_link("/proc/thread-self/ns/net").unwrap()
    }

    #[test]
    fn a_tcp_connection_spans_two_namespaces_and_this_thread_is_in_neither() {
        let before = own_namespace();
        let listen = |address| TcpListener::bind((address, 0));
        let join = |listener: TcpListener| {
            Ok([TcpStream::connect(listener.local_addr()?)?, listener.accept()?.0])
        };
        let [mut caller, mut callee] = match pair(listen, join) {
            Ok(pair) => pair,
            Err(error) => {
                assert!(available().is_err());
                return eprintln!("skipped: {error}");
            }
        };
        assert_eq!(caller.peer_addr().unwrap().ip(), CALLEE);
        assert_eq!(callee.peer_addr().unwrap().ip(), CALLER);
        caller.write_all(b"there").unwrap();
        let mut got = [0; 5];
        callee.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"there");
        assert_eq!(own_namespace(), before);
        assert!(TcpListener::bind((CALLER, 0)).is_err(), "the address is of this namespace");
        drop(caller);
        assert_eq!(callee.read(&mut got).unwrap(), 0, "end of file");
    }
}
