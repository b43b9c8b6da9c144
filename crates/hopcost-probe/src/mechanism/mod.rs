//! Every mechanism, one file each: what is said of it, how it is opened and
//! attached, and its tests. Adding one means a file and two lines here.

use crate::registry::Row;

mod atomic_rmw;
mod call;
mod call_indirect;
mod call_inline;
mod channel_crossbeam;
mod channel_std;
mod condvar;
mod coroutine_switch;
mod engines;
mod eventfd;
mod fifo;
mod flag;
mod futex;
mod mutex_uncontended;
mod park;
mod pipe;
mod posix_mq;
mod ring_inline;
mod semaphore;
mod shm_ring;
mod shm_stream;
mod signal;
mod socketpair;
mod syscall;
mod sysv_msg;
mod tcp;
mod tcp_gather;
mod tcp_send;
mod tcp_sendfile;
mod tcp_sendmsg;
mod tcp_uring;
mod tcp_uring_zc;
mod tcp_vmsplice;
mod tcp_writev;
mod tcp_zerocopy;
mod thread_start;
mod udp;
mod udp_send;
mod unix_dgram;
mod unix_sendmsg;
mod unix_seqpacket;
mod unix_stream;
mod uring_msg;
mod vdso_clock;
mod vm_readv;
mod websocket;
mod websocket_threaded;

/// The registry, in the order of the documentation.
pub static ALL: &[&Row] = &[
    // call
    &call_inline::ROW,
    &call::ROW,
    &call_indirect::ROW,
    &atomic_rmw::ROW,
    &mutex_uncontended::ROW,
    &ring_inline::ROW,
    &coroutine_switch::ROW,
    &vdso_clock::ROW,
    &syscall::ROW,
    &udp_send::ROW,
    &thread_start::ROW,
    // notifiers
    &flag::ROW,
    &futex::ROW,
    &semaphore::ROW,
    &condvar::ROW,
    &eventfd::ROW,
    &signal::ROW,
    &park::ROW,
    &uring_msg::ROW,
    // channels
    &pipe::ROW,
    &fifo::ROW,
    &socketpair::ROW,
    &unix_stream::ROW,
    &unix_dgram::ROW,
    &unix_seqpacket::ROW,
    &tcp::ROW,
    &udp::ROW,
    &websocket::ROW,
    &websocket_threaded::ROW,
    &posix_mq::ROW,
    &sysv_msg::ROW,
    &shm_ring::ROW,
    &channel_std::ROW,
    &channel_crossbeam::ROW,
    // streams
    &tcp_send::ROW,
    &tcp_gather::ROW,
    &tcp_sendmsg::ROW,
    &tcp_writev::ROW,
    &tcp_zerocopy::ROW,
    &tcp_uring::ROW,
    &tcp_uring_zc::ROW,
    &tcp_vmsplice::ROW,
    &tcp_sendfile::ROW,
    &unix_sendmsg::ROW,
    &vm_readv::ROW,
    &shm_stream::ROW,
    // test engines
    &engines::null::ROW,
    &engines::spin::ROW,
    &engines::sleep::ROW,
    &engines::replay::ROW,
    &engines::skew::ROW,
    &engines::fault::ROW,
    &engines::lossy::ROW,
];

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().copied().find(|row| row.facts.name == name)
}
