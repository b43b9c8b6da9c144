//! An end of a stream: a flow's sender or its receiver.

use std::io;

use hopcost_model::case::{Ack, Case, Role};
use hopcost_model::protocol::Stamp;

use crate::clock::{Clock, rough_ticks};
use crate::party::Touched;
use crate::shape::{Attaching, Half, Stream};
use crate::stream::FIELDS_MAX;
use crate::sys;
use crate::workload::stream::{self, Flow, Part};
use crate::workload::{Endpoint, PhaseSpec, Stamped};

/// The shortest message: it holds its sequence number.
const PAYLOAD_MIN: usize = 8;

/// What a case's flows are made of, or why it is no stream.
pub fn flow_of(case: &Case) -> io::Result<Flow> {
    let payload = case.payload_bytes.unwrap_or(0) as usize;
    let fields = case.fields.unwrap_or(1) as usize;
    if fields == 0 || fields > FIELDS_MAX {
        return Err(sys::failure(format!("a message has between 1 and {FIELDS_MAX} fields")));
    }
    if payload < PAYLOAD_MIN || !payload.is_multiple_of(fields) {
        return Err(sys::failure(format!(
            "{fields} fields cannot share {payload} bytes: a message has at least {PAYLOAD_MIN} \
             bytes, and its fields the same length"
        )));
    }
    let window = case.ack.unwrap_or(Ack::PerMessage).window();
    Ok(Flow { payload, touched: Touched::of(case), window })
}

/// Attaches one end.
pub fn end<S: Stream, C: Clock>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let flow = flow_of(attaching.case)?;
    // Calibrated here, so that no phase has to wait for it.
    rough_ticks(0);
    Ok(match attaching.role {
        Role::Caller => {
            let mut source = S::source(half, attaching)?;
            let mut starts = vec![0; flow.window.unwrap_or(1) as usize];
            numbered(move |part, out| {
                stream::sender::<_, C>(&mut source, &flow, part, &mut starts, out)
            })
        }
        Role::Callee => {
            let mut sink = S::sink(half, attaching)?;
            numbered(move |part, _| stream::receiver::<_, C>(&mut sink, &flow, part))
        }
    })
}

/// An end whose messages are numbered through the whole trial; the same at both, because both count.
fn numbered(
    mut run: impl FnMut(&Part, &mut [u64]) -> io::Result<Stamped> + 'static,
) -> Box<dyn Endpoint> {
    let mut sequence = 1;
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        if spec.stamp != Stamp::Each {
            return Err(sys::failure("a stream is stamped message by message"));
        }
        let cap_ticks = spec.cap_ns.map(rough_ticks);
        let seen = run(&Part { first: sequence, count: spec.count, cap_ticks }, out)?;
        sequence += 1 + seen.count;
        Ok(seen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Hardware;
    use crate::mechanism::tcp_copies::OneSendmsg;
    use crate::shape::{Opening, Sink};
    use crate::stream::sockets::{OverSocket, SocketSink};
    use crate::transport::tcp;

    /// What is done to a received message before it is looked at.
    #[derive(Clone, Copy, Debug)]
    enum Tampering {
        /// A bit of this byte is turned.
        Flip(usize),
        /// The message before it is given once more.
        Repeat,
        /// The last byte is missing.
        Shorten,
    }

    /// A receiver that finds one message tampered with.
    struct Tampered {
        sink: SocketSink,
        tampering: Tampering,
        /// Messages before that one, lead-in included.
        before: u64,
        message: Vec<u8>,
    }

    impl Sink for Tampered {
        fn receive(&mut self) -> io::Result<&[u8]> {
            let before = std::mem::replace(&mut self.message, self.sink.receive()?.to_vec());
            if self.before == 0 {
                match self.tampering {
                    Tampering::Flip(byte) => self.message[byte] ^= 0x10,
                    Tampering::Repeat => self.message = before,
                    Tampering::Shorten => self.message.truncate(self.message.len() - 1),
                }
            }
            self.before = self.before.wrapping_sub(1);
            Ok(&self.message)
        }
        fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
            self.sink.acknowledge(sequence)
        }
    }

    /// Messages of a phase; a lead-in goes before them and the end marker after.
    const MESSAGES: u64 = 3;

    /// What sender and receiver say when the message after `before` others has been
    /// tampered with.
    fn tampered(case: &Case, tampering: Tampering, before: u64) -> [io::Result<Stamped>; 2] {
        type Sent = OverSocket<OneSendmsg>;
        let link = tcp::open_stream(&Opening { case, scratch: "/nowhere".as_ref() }).unwrap();
        let flow = flow_of(case).unwrap();
        let part = Part { first: 1, count: MESSAGES, cap_ticks: None };
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let sink = Sent::sink(link.callee, &Attaching::new(case, Role::Callee)).unwrap();
                let mut sink = Tampered { sink, tampering, before, message: Vec::new() };
                stream::receiver::<_, Hardware>(&mut sink, &flow, &part)
            });
            let attaching = Attaching::new(case, Role::Caller);
            let mut source = Sent::source(link.caller, &attaching).unwrap();
            let sent =
                stream::sender::<_, Hardware>(&mut source, &flow, &part, &mut [0; 2], &mut []);
            drop(source);
            [sent, receiver.join().unwrap()]
        })
    }

    #[test]
    fn what_a_message_was_not_sent_as_is_caught_as_far_as_it_is_compared() {
        for (touch, compared) in [("verify", 24), ("write", 8), ("none", 8)] {
            let id = format!(
                "stream/tcp-sendmsg?payload=24&fields=3&flows=1&ack=window:2&boundary=thread\
                 &place=free&wait=block&touch={touch}"
            );
            let case: Case = id.parse().unwrap();
            let flips = (0..24).map(Tampering::Flip);
            for tampering in flips.chain([Tampering::Repeat, Tampering::Shorten]) {
                for before in 0..MESSAGES + 2 {
                    let [sent, received] = tampered(&case, tampering, before);
                    if matches!(tampering, Tampering::Flip(byte) if byte >= compared) {
                        assert_eq!((sent.unwrap().count, received.unwrap().count), (3, 3));
                        continue;
                    }
                    let said = received.expect_err("the receiver must notice").to_string();
                    assert!(
                        said.contains("did not arrive as it was sent"),
                        "{tampering:?}: {said}"
                    );
                    assert!(sent.is_err(), "{tampering:?} after {before}: the sender goes on");
                }
            }
        }
    }
}
