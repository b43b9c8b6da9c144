//! Connecting to an address that an end has offered, on behalf of an end that
//! inherits the connected socket.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use hopcost_probe::{interrupt, namespace, sys};

use super::spec::Failure;

/// Connects, and shows the token.
pub fn connect(
    carrier: &str,
    address: &str,
    token: &str,
    scratch: &Path,
) -> Result<OwnedFd, Failure> {
    check(carrier, address, scratch)?;
    let until = Instant::now() + namespace::PATIENCE;
    let dial = || -> std::io::Result<OwnedFd> {
        match carrier {
            "tcp" => {
                let address: SocketAddr = address.parse().map_err(std::io::Error::other)?;
                let mut stream = interrupt::connect(address, until)?;
                stream.write_all(token.as_bytes())?;
                Ok(stream.into())
            }
            "udp" => {
                let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
                socket.connect(address)?;
                socket.send(token.as_bytes())?;
                Ok(socket.into())
            }
            _ => {
                let mut stream = interrupt::connect_unix(Path::new(address), until)?;
                stream.write_all(token.as_bytes())?;
                Ok(stream.into())
            }
        }
    };
    dial().map_err(|e| Failure::from(sys::context(e, &format!("connecting to {address}"))))
}

/// Refuses addresses that are not on loopback or in the scratch directory.
pub fn check(carrier: &str, address: &str, scratch: &Path) -> Result<(), Failure> {
    let ours = match carrier {
        "tcp" | "udp" => {
            address.parse::<SocketAddr>().is_ok_and(|a| a.ip().is_loopback() && a.port() != 0)
        }
        "unix-stream" => {
            let path = Path::new(address);
            path.parent() == Some(scratch) && path.is_absolute()
        }
        _ => {
            return Err(Failure::Reason(format!("{carrier} has no addresses to connect to")));
        }
    };
    match ours {
        true => Ok(()),
        false => Err(Failure::Reason(format!(
            "it offers the address `{}`, which is not on loopback or in the directory it was given",
            address.escape_debug()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_the_scratch_directory_are_connected_to() {
        let scratch = Path::new("/tmp/scratch");
        let ok = |carrier, address| check(carrier, address, scratch).is_ok();
        assert!(ok("tcp", "127.0.0.1:80") && ok("udp", "127.0.0.1:9"));
        assert!(ok("unix-stream", "/tmp/scratch/x"));
        assert!(!ok("tcp", "10.0.0.1:80") && !ok("tcp", "127.0.0.1:0") && !ok("udp", "x"));
        assert!(!ok("unix-stream", "/tmp/x") && !ok("unix-stream", "/tmp/scratch/../x"));
        assert!(!ok("pipe", "127.0.0.1:80"));
    }
}
