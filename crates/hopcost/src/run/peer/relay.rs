//! The near end's stand-in for a worker on another host: bytes to and fro, by a process that sleeps while
//! a phase runs. It dies with hopcost, and the far end's worker with it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd};

use hopcost_probe::sys;

/// Carries standard input to the connection and back, until either ends.
pub fn run(connection: TcpStream) -> io::Result<()> {
    sys::set_name("hopcost-relay");
    let (mut from, mut to) = (&connection, &connection);
    // Without a buffer, in which a line could lie that poll(2) does not see.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut stdout = io::stdout();
    let mut chunk = [0; 4096];
    loop {
        let ready = sys::poll_readable(&[stdin.as_raw_fd(), connection.as_raw_fd()], -1)?;
        if ready[0] {
            match stdin.read(&mut chunk)? {
                0 => return connection.shutdown(Shutdown::Both),
                n => to.write_all(&chunk[..n])?,
            }
        }
        if ready[1] {
            match from.read(&mut chunk)? {
                0 => return Ok(()),
                n => {
                    stdout.write_all(&chunk[..n])?;
                    stdout.flush()?;
                }
            }
        }
    }
}
