//! What the mechanisms of `stream` share: their two ends, fields and the sets they come in, and
//! the socket that most of them end in.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use hopcost_model::{Ack, AckSize, Case, ZeroCopySends};

use crate::shape::{Attaching, Half};
use fields::Fields;

pub mod fields;
pub mod sockets;

/// Fields that a message may have: what one call takes (IOV_MAX).
pub const FIELDS_MAX: usize = 1024;

/// The end of a stream that sends messages of several separate fields: the caller's. Acknowledgements
/// come the other way. How the ends wait, where there is a choice, they learn at attach.
///
/// A mechanism may hold on to the fields of a message that it has sent: it has
/// as many sets of them as it needs, and [`Source::claim`] gives the next.
pub trait Source: Sized + 'static {
    /// Takes the caller's end of a link.
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self>;
    /// Makes sure that the fields of the next message may be written, waiting if need be.
    /// Without a send in between it gives the same again.
    #[inline(always)]
    fn claim(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// The claimed set, to be filled.
    fn fields(&mut self) -> &mut Fields;
    /// Sends the claimed set as one message.
    fn send(&mut self) -> io::Result<()>;
    /// Waits for the next acknowledgement and says of which message it is.
    fn acknowledged(&mut self) -> io::Result<u64>;
    /// Waits until every send is completed, and says what became of those
    /// that were to be without a copy since it was last asked.
    fn settle(&mut self) -> io::Result<Option<ZeroCopySends>> {
        Ok(None)
    }
}

/// The end of a stream that receives messages.
pub trait Sink: Sized + 'static {
    /// Takes the callee's end of a link; both do so at the same time.
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self>;
    /// The next whole message, lent until the next call.
    fn receive(&mut self) -> io::Result<&[u8]>;
    /// Acknowledges this message.
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()>;
}

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
