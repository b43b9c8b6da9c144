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
    use crate::shape::Sink;
    use crate::transport::peer_closed;
    use crate::workload::stream::{END, fill_part};

    /// A receiver of these messages, the last of which it lends.
    struct Given(std::vec::IntoIter<Vec<u8>>, Vec<u8>);

    impl Sink for Given {
        fn receive(&mut self) -> io::Result<&[u8]> {
            self.1 = self.0.next().ok_or_else(peer_closed)?;
            Ok(&self.1)
        }
        fn acknowledge(&mut self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_a_message_was_not_sent_as_is_caught_as_far_as_it_is_compared() {
        let part = Part { first: 1, count: 3, cap_ticks: None };
        let sent = [1, 2, 3, 4, END].map(|sequence| {
            let mut message = vec![0; 24];
            fill_part(&mut message, sequence, 0);
            message
        });
        for (touch, compared) in [("verify", 24), ("write", 8), ("none", 8)] {
            let id = format!(
                "stream/tcp-sendmsg?payload=24&fields=3&flows=1&ack=window:2&boundary=thread\
                 &place=free&wait=block&touch={touch}"
            );
            let flow = flow_of(&id.parse().unwrap()).unwrap();
            let received = |at: usize, tamper: &dyn Fn(&mut Vec<u8>)| {
                let mut messages = Vec::from(sent.clone());
                tamper(&mut messages[at]);
                let mut given = Given(messages.into_iter(), Vec::new());
                stream::receiver::<_, Hardware>(&mut given, &flow, &part).map(|seen| seen.count)
            };
            for at in 0..sent.len() {
                for byte in 0..24 {
                    let flipped = received(at, &|message| message[byte] ^= 0x10);
                    assert_eq!(flipped.is_ok(), byte >= compared, "{touch}: {byte} of {at}");
                }
                assert_eq!(received(at, &|_| ()).unwrap(), 3);
                let said = received(at, &|message| message.truncate(23)).unwrap_err().to_string();
                assert!(said.contains("did not arrive as it was sent"), "{said}");
                let again = |message: &mut Vec<u8>| message.clone_from(&sent[at.max(1) - 1]);
                assert_eq!(received(at, &again).is_ok(), at == 0, "the one before comes again");
            }
        }
    }
}
