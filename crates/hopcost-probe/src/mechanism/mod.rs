//! Every mechanism, one file each: what is said of it, how its ends meet and what they do,
//! and its tests. Adding one means a file and a line here, which also puts its row into the
//! registry (build.rs), in the order of the documentation.

use crate::registry::Row;

// call
mod call_inline;
mod call;
mod call_indirect;
mod multiply;
mod atomic_rmw;
mod mutex_uncontended;
mod ring_inline;
mod coroutine_switch;
mod vdso_clock;
mod syscall;
mod sched_yield;
mod pipe_inline;
mod udp_send;
mod thread_start;

// notifiers
mod flag;
mod futex;
mod semaphore;
mod condvar;
mod eventfd;
mod signal;
mod park;
mod uring_msg;

// channels
mod pipe;
mod fifo;
mod socketpair;
mod unix_stream;
mod unix_dgram;
mod unix_seqpacket;
mod tcp;
mod udp;
mod uring_pipe;
mod uring_socketpair;
mod uring_tcp;
mod websocket;
mod websocket_threaded;
mod posix_mq;
mod sysv_msg;
mod shm_ring;
mod channel_std;
mod channel_crossbeam;

// streams
mod tcp_send;
mod tcp_gather;
mod tcp_sendmsg;
mod tcp_writev;
mod tcp_zerocopy;
mod tcp_uring;
mod tcp_uring_zc;
mod tcp_vmsplice;
mod tcp_sendfile;
mod unix_sendmsg;
mod vm_readv;
mod shm_stream;

// test engines
mod engines;

/// The registry, in the order above.
pub static ALL: &[&Row] = include!(concat!(env!("OUT_DIR"), "/rows.rs"));

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().copied().find(|row| row.facts.name == name)
}
