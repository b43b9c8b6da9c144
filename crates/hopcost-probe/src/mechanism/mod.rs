//! Every mechanism. What a file of this folder has is how its ends meet and what they do, and its
//! tests; what is known of a mechanism besides stands in `mechanisms.toml` of `hopcost-model`. Adding
//! one means code, a row here and an entry there.

use crate::endpoint::window;
use crate::registry::{Open, Row};
use crate::stream::sockets::{Outlet, SocketSink, SocketSource};
use crate::stream::{acknowledgements_fit, number_alone};
use crate::transport::packets::Packets;
use crate::transport::queue::{ChannelCrossbeam, ChannelStd, OverQueues};
use crate::transport::stream::Stream;
use crate::transport::tcp::loopback_available;
use crate::transport::{page, tcp};

mod calls;
mod connect;
mod engines;
mod notifiers;
mod pairs;
mod posix_mq;
mod ring_inline;
mod shm_ring;
mod shm_stream;
mod sysv_msg;
pub mod tcp_calls;
mod tcp_uring;
mod tcp_zerocopy;
mod vm_readv;
mod websocket;
mod websocket_threaded;

use connect::Connect;
use engines::{Faulty, fault, server, simulated, skew, ticks_ahead, time_ns};
use notifiers::{Condvar, EventFd, Flag, Futex, Park, Semaphore, Signal};
use shm_ring::ShmRing;
use shm_stream::{ShmSink, ShmSource};
use tcp_calls::{FieldByField, Gather, InFile, OneSendmsg};
use vm_readv::{Announced, VmSink};
use websocket::{WebSocketConnect, WebSocketInline};
use websocket_threaded::WebSocketThreaded;

/// The registry, in the order of the documentation.
pub static ALL: [Row; 59] = [
    // call
    Row::alone("call-inline", calls::call_inline),
    Row::alone("call", calls::call),
    Row::alone("call-indirect", calls::call_indirect),
    Row::alone("multiply", calls::multiply),
    Row::alone("atomic-rmw", calls::atomic_rmw),
    Row::alone("mutex-uncontended", calls::mutex_uncontended),
    Row::alone("ring-inline", ring_inline::attach),
    Row::alone("coroutine-switch", calls::coroutine_switch),
    Row::alone("vdso-clock", calls::vdso_clock),
    Row::alone("syscall", calls::syscall),
    Row::alone("sched-yield", calls::sched_yield),
    Row::alone("udp-send", calls::udp_send).available(loopback_available),
    Row::alone("thread-start", calls::thread_start),
    // notifiers
    Row::notifier::<Flag>("flag", page::link),
    Row::notifier::<Futex>("futex", page::link),
    Row::notifier::<Semaphore>("semaphore", notifiers::open_semaphore),
    Row::notifier::<Condvar>("condvar", notifiers::open_condvar),
    Row::notifier::<EventFd>("eventfd", notifiers::open_eventfd),
    Row::notifier::<Signal>("signal", page::link),
    Row::notifier::<Park>("park", notifiers::open_park),
    // channels
    stream("pipe", pairs::open_pipes),
    stream("fifo", pairs::open_fifos),
    stream("socketpair", pairs::open_pair),
    stream("unix-stream", pairs::open_by_path),
    Row::channel::<Packets>("unix-dgram", pairs::open_datagrams),
    Row::channel::<Packets>("unix-seqpacket", pairs::open_seqpackets),
    stream("tcp", tcp::open).available(loopback_available),
    Row::channel::<Packets>("udp", pairs::open_udp).available(loopback_available),
    Row::channel::<Connect>("tcp-connect", connect::open_tcp)
        .available(loopback_available)
        .available_as(connect::available_as),
    Row::channel::<Connect>("unix-connect", connect::open_unix),
    Row::channel::<Connect>("seqpacket-connect", connect::open_unix),
    Row::channel::<WebSocketInline>("websocket", tcp::open).available(loopback_available),
    Row::channel::<WebSocketThreaded>("websocket-threaded", tcp::open)
        .available(loopback_available),
    Row::channel::<WebSocketConnect>("websocket-connect", connect::open_tcp)
        .available(loopback_available),
    Row::channel::<posix_mq::PosixMq>("posix-mq", posix_mq::open).available(posix_mq::available),
    Row::channel::<sysv_msg::SysvMsg>("sysv-msg", sysv_msg::open).available(sysv_msg::available),
    Row::channel::<ShmRing>("shm-ring", shm_ring::open),
    Row::channel::<OverQueues<ChannelStd>>("channel-std", OverQueues::<ChannelStd>::open),
    Row::channel::<OverQueues<ChannelCrossbeam>>(
        "channel-crossbeam",
        OverQueues::<ChannelCrossbeam>::open,
    ),
    // streams
    over_tcp::<FieldByField>("tcp-send"),
    over_tcp::<Gather>("tcp-gather"),
    over_tcp::<OneSendmsg>("tcp-sendmsg"),
    over_tcp::<tcp_zerocopy::Pinned>("tcp-zerocopy").available(tcp_zerocopy::available),
    over_tcp::<tcp_uring::Submission>("tcp-uring").available(tcp_uring::available),
    over_tcp::<tcp_uring::Submission>("tcp-uring-zc")
        .available(tcp_uring::zc_available)
        .available_as(tcp_uring::zc_available_as),
    over_tcp::<InFile>("tcp-sendfile"),
    over_socket::<OneSendmsg>("unix-sendmsg", pairs::open_pair).available_as(acknowledgements_fit),
    Row::stream::<SocketSource<Announced>, VmSink>("vm-readv", pairs::open_pair)
        .available(vm_readv::available)
        .available_as(vm_readv::available_as),
    Row::stream::<ShmSource, ShmSink>("shm-stream", shm_stream::open).available_as(number_alone),
    // test engines
    Row::alone("null", simulated::attach).named("null", |argument| argument.is_none()),
    Row::alone("spin", simulated::attach)
        .named("spin:1000", |n| n.is_some_and(|n| n.parse::<u64>().is_ok())),
    Row::alone("sleep", simulated::attach).named("sleep:1ms", |time| time_ns(time).is_some()),
    Row::alone("known", simulated::attach)
        .named("known:level", |name| simulated::kind(name).is_some()),
    Row::alone("gaps", simulated::attach).named("gaps", |argument| argument.is_none()),
    Row::notifier::<Flag>("skew", page::link)
        .attached(skew)
        .named("skew:-1us", |time| ticks_ahead(time).is_some()),
    Row::new("server", server::open, server::attach)
        .named("server:50us", |time| time_ns(time).is_some()),
    Row::channel::<Faulty<Stream>>("fault", pairs::open_pipes)
        .named("fault:hang", |kind| fault("fault", kind).is_some()),
    Row::channel::<Faulty<Packets>>("lossy", pairs::open_udp)
        .named("lossy:50", |every| fault("lossy", every).is_some()),
    Row::channel::<Faulty<Stream>>("delay", pairs::open_pipes)
        .named("delay:20us", |time| fault("delay", time).is_some()),
];

/// A byte stream, of which several messages may be under way and a case may have several.
const fn stream(name: &'static str, open: Open) -> Row {
    Row::channel::<Stream>(name, open).attached(window::attach)
}

/// A stream over a socket.
const fn over_socket<O: Outlet>(name: &'static str, open: Open) -> Row {
    Row::stream::<SocketSource<O>, SocketSink>(name, open)
}

/// The same over TCP.
const fn over_tcp<O: Outlet>(name: &'static str) -> Row {
    over_socket::<O>(name, tcp::open).available(loopback_available)
}

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopcost_model::TABLE;

    use super::*;

    #[test]
    fn each_mechanism_has_facts_and_each_fact_a_mechanism() {
        let rows: BTreeSet<&str> = ALL.iter().map(|row| row.name).collect();
        assert_eq!(rows.len(), ALL.len(), "two of one name");
        assert_eq!(rows, TABLE.keys().map(String::as_str).collect());
        for row in &ALL {
            let (facts, words) = (row.facts(), &row.facts().words);
            let has_words =
                [&words.about, &words.between_stamps].iter().all(|word| !word.is_empty());
            let is_whole = has_words && !words.sources.is_empty() || facts.hidden();
            assert!(is_whole && !facts.workloads.is_empty(), "{}", row.name);
        }
    }
}
