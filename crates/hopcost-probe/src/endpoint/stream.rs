//! An end of a stream: a flow's sender or its receiver.

use std::io;
use std::marker::PhantomData;

use hopcost_model::case::{Ack, Case, Role};
use hopcost_model::protocol::Stamp;

use crate::clock::{Clock, rough_ticks};
use crate::party::Touched;
use crate::shape::{Attaching, End, Half, Stream};
use crate::stream::FIELDS_MAX;
use crate::sys;
use crate::workload::stream::{self, Flow, Part};
use crate::workload::{Endpoint, PhaseSpec, Stamped};

/// The shortest message: it holds its sequence number.
const PAYLOAD_MIN: usize = 8;

/// An end of a stream.
pub struct StreamEnd<E, C> {
    stream: E,
    role: Role,
    flow: Flow,
    /// The next message's number; the same at both ends, because both count.
    sequence: u64,
    starts: Vec<u64>,
    clock: PhantomData<C>,
}

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

impl<E: Stream + End, C: Clock> StreamEnd<E, C> {
    /// Attaches one end.
    pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let flow = flow_of(attaching.case)?;
        let stream = E::attach(half, attaching)?;
        // Calibrated here, so that no phase has to wait for it.
        rough_ticks(0);
        let starts = vec![0; flow.window.unwrap_or(1) as usize];
        Ok(Self { stream, role: attaching.role, flow, sequence: 1, starts, clock: PhantomData })
    }
}

impl<E: Stream, C: Clock> Endpoint for StreamEnd<E, C> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        if spec.stamp != Stamp::Each {
            return Err(sys::failure("a stream is stamped message by message"));
        }
        let part = Part {
            first: self.sequence,
            count: spec.count,
            cap_ticks: spec.cap_ns.map(rough_ticks),
        };
        let Self { stream, flow, starts, .. } = self;
        let seen = match self.role {
            Role::Caller => stream::sender::<E, C>(stream, flow, &part, starts, out)?,
            Role::Callee => stream::receiver::<E, C>(stream, flow, &part)?,
        };
        self.sequence += 1 + seen.count;
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Hardware;
    use crate::mechanism::tcp_copies::OneSendmsg;
    use crate::shape::Opening;
    use crate::stream::sockets::OverSocket;
    use crate::transport::tcp;
    use crate::wait::AtRunTime;

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
        stream: OverSocket<OneSendmsg>,
        tampering: Tampering,
        /// Messages before that one, lead-in included.
        before: u64,
        message: Vec<u8>,
    }

    impl End for Tampered {
        type Waits = AtRunTime;
        fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
            let stream = OverSocket::attach(half, attaching)?;
            Ok(Self { stream, tampering: Tampering::Shorten, before: 0, message: Vec::new() })
        }
    }

    impl Stream for Tampered {
        fn claim(&mut self) -> io::Result<()> {
            self.stream.claim()
        }
        fn fields(&mut self, write: impl FnMut(&mut [u8])) {
            self.stream.fields(write);
        }
        fn send(&mut self) -> io::Result<()> {
            self.stream.send()
        }
        fn receive(&mut self) -> io::Result<&[u8]> {
            let before = std::mem::replace(&mut self.message, self.stream.receive()?.to_vec());
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
            self.stream.acknowledge(sequence)
        }
        fn acknowledged(&mut self) -> io::Result<u64> {
            self.stream.acknowledged()
        }
    }

    /// Messages of a phase; a lead-in goes before them and the end marker after.
    const MESSAGES: u64 = 3;

    /// What sender and receiver say when the message after `before` others has been
    /// tampered with.
    fn tampered(case: &Case, tampering: Tampering, before: u64) -> [io::Result<Stamped>; 2] {
        let link = tcp::open_stream(&Opening { case, scratch: "/nowhere".as_ref() }).unwrap();
        let spec = PhaseSpec::of(MESSAGES, Stamp::Each);
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let attaching = Attaching::new(case, Role::Callee);
                let end = StreamEnd::<Tampered, Hardware>::attach(link.callee, &attaching);
                let mut end = end.unwrap();
                (end.stream.tampering, end.stream.before) = (tampering, before);
                end.run(&spec, &mut [])
            });
            let attaching = Attaching::new(case, Role::Caller);
            type Sender = OverSocket<OneSendmsg>;
            let end = StreamEnd::<Sender, Hardware>::attach(link.caller, &attaching);
            let sent = end.unwrap().run(&spec, &mut []);
            [sent, receiver.join().unwrap()]
        })
    }

    #[test]
    fn what_a_message_was_not_sent_as_is_caught_as_far_as_it_is_compared() {
        for (touch, compared) in [("verify", 24), ("write", 8), ("none", 8)] {
            let case: Case = format!(
                "stream/tcp-sendmsg?payload=24&fields=3&flows=1&ack=window:2&boundary=thread\
                 &place=free&wait=block&touch={touch}"
            )
            .parse()
            .unwrap();
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
