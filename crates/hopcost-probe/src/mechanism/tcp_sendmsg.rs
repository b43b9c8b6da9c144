//! `tcp-sendmsg`: a message over TCP with one `sendmsg` that names all its fields.
//!
//! The kernel walks the list of fields and copies each into the socket buffers, so
//! that neither the sender copies nor is there a system call for each field.

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::Row;
use crate::stream::facts::{RECEIVES, TCP, block};
use crate::stream::sockets::{OneSendmsg, OverSocket};

pub static ROW: Row = Row::stream::<OverSocket<OneSendmsg>>(Facts {
    name: "tcp-sendmsg",
    about: "TCP, one sendmsg() of all fields",
    waits: &[block(PerOperation::Between(4.0, 5.0, RECEIVES), 4.2)],
    crosses: "the message's bytes, as segments over TCP",
    copies: "the kernel, twice a message: from the fields, wherever they are, into socket buffers, and from there to the receiver; sendmsg saves the sender's own gathering, not the kernel's copy",
    wakes: "the kernel: the softirq that sendmsg raises delivers the segments and wakes the sleeping receiver",
    between_stamps: "one sendmsg; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields (IOV_MAX); a message longer than the buffers is sent as the receiver makes room; firewall rules are part of the number; between network namespaces each flow has a veth pair of its own",
    sources: &["tcp(7)", "sendmsg(2)", "recv(2)"],
    ..TCP
});
