//! What the mechanisms of `stream` share: fields and the sets they come in, and
//! the socket that most of them end in.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use hopcost_model::case::{Ack, AckSize, Case};

pub mod fields;
pub mod sockets;

/// Fields that a message may have: what one call takes (IOV_MAX).
pub const FIELDS_MAX: usize = 1024;

/// Refuses a longer acknowledgement where an end acknowledges with the message's number alone.
pub fn number_alone(case: &Case) -> Result<(), String> {
    match case.ack_size {
        AckSize::Number => Ok(()),
        AckSize::Field => {
            Err("it acknowledges with the message's number alone; use ack-size=8".to_owned())
        }
    }
}

/// Refuses a window whose acknowledgements do not fit into a Unix socket. The sender takes none before
/// its window is full: the receiver would wait for room to acknowledge, and the sender for the receiver.
pub fn acknowledgements_fit(case: &Case) -> Result<(), String> {
    static ROOM: OnceLock<u64> = OnceLock::new();
    let window = case.ack.and_then(Ack::window).unwrap_or(0);
    let room = *ROOM.get_or_init(room);
    match window <= room {
        true => Ok(()),
        false => Err(format!(
            "a Unix socket holds {room} acknowledgements (net.core.wmem_default), and the sender takes \
             none before its window is full; use ack=window:{room} or less"
        )),
    }
}

/// How many acknowledgements a Unix socket takes that nobody reads.
fn room() -> u64 {
    let taken = |(mut sender, _receiver): (UnixStream, UnixStream)| {
        sender.set_nonblocking(true).ok()?;
        (0..u64::from(u16::MAX)).find(|_| sender.write_all(&[0; 8]).is_err())
    };
    UnixStream::pair().ok().and_then(taken).unwrap_or(u64::MAX)
}
