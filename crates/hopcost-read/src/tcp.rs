//! What the kernel says of the TCP connections of each end.

use hopcost_model::case::Role;
use hopcost_model::document;
use hopcost_model::group::distinct;
use hopcost_model::protocol::TcpReading;
use hopcost_model::raw::RawTrial;

use crate::sums::{Whose, total};

document! {
    /// What the kernel says of the TCP connections of one end of a case (TCP_INFO, tcp(7)).
    #[derive(Default)]
    pub struct TcpResult {
        /// The end.
        pub role: Role,
        /// Congestion control in force; several where trials differ.
        pub congestion: String,
        /// Path MTU, the least over the trials.
        pub path_mtu_bytes: u32,
        /// Bytes of messages in a segment at most (MSS), the least over the trials.
        pub segment_bytes: u32,
        /// Send buffer as the kernel counts it, its own overhead included: the least over the
        /// trials, after the measured phase.
        pub sndbuf_bytes: u32,
        /// Receive buffer, likewise.
        pub rcvbuf_bytes: u32,
        /// Segments with bytes of messages that it sent in the measured phases of all trials; those
        /// sent again count again.
        pub segments: u64,
        /// Of these, sent again.
        pub retransmitted: u64,
    }
}

/// The ends of a case that have connections, over its measured trials.
pub fn results(trials: &[&RawTrial]) -> Vec<TcpResult> {
    [Role::Caller, Role::Callee].into_iter().filter_map(|role| of_end(role, trials)).collect()
}

fn of_end(role: Role, trials: &[&RawTrial]) -> Option<TcpResult> {
    let ends = trials.iter().flat_map(|trial| Whose::End(role).ends(trial));
    let all: Vec<&TcpReading> = ends.filter_map(|end| end.tcp.as_ref()).collect();
    let least = |of: fn(&TcpReading) -> u32| all.iter().map(|one| of(one)).min();
    let names = distinct(all.iter().map(|one| one.congestion.as_str()));
    Some(TcpResult {
        role,
        congestion: names.join(", "),
        path_mtu_bytes: least(|one| one.path_mtu_bytes)?,
        segment_bytes: least(|one| one.segment_bytes)?,
        sndbuf_bytes: least(|one| one.sndbuf_bytes)?,
        rcvbuf_bytes: least(|one| one.rcvbuf_bytes)?,
        segments: total(all.iter().map(|one| one.segments)),
        retransmitted: total(all.iter().map(|one| one.retransmitted)),
    })
}
