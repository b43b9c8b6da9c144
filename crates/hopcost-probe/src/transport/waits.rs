//! What the ways of waiting cost, where several mechanisms have them alike: system calls
//! and context switches of a round trip.

use hopcost_model::case::WaitKind;
use hopcost_model::mechanism::{PerOperation, WaitFacts};

const EVERY_TRY: &str = "every look in vain is a system call too";
const SLEEPS: PerOperation = PerOperation::Between(
    1.8,
    2.2,
    "each end sleeps once a round trip, give or take a message that is there before it looks",
);
const SLEEPS_OR_NOT: PerOperation =
    PerOperation::Between(0.0, 2.2, "an end that finds its message already there does not sleep");

/// Switches of ends that only look.
pub const SLICES: PerOperation =
    PerOperation::Between(0.0, 2.2, "only the scheduler's time slices");

/// Switches of ends on one CPU that sleep until they are woken.
pub const WAKER_OR_WOKEN_FIRST: PerOperation =
    PerOperation::Between(1.0, 2.2, "the woken end may run before or after the waker sleeps");

/// Looking at a word in memory again and again.
pub const SPIN: WaitFacts = spin(PerOperation::Exactly(0.0), SLICES);

/// The same where an operation is long enough for other programs to have a part in it.
pub const SPIN_LONG: WaitFacts = spin(
    PerOperation::Exactly(0.0),
    PerOperation::Between(
        0.0,
        4.2,
        "only the scheduler's time slices, those of other programs included",
    ),
);

/// Looking at a word in memory with a sched_yield between looks.
pub const YIELD: WaitFacts =
    yields(PerOperation::Between(0.0, f64::INFINITY, "one sched_yield for every look in vain"));

/// Spinning, with these system calls and these switches on one CPU.
pub const fn spin(system_calls: PerOperation, switches_one_cpu: PerOperation) -> WaitFacts {
    WaitFacts {
        wait: WaitKind::Spin,
        system_calls,
        switches_one_cpu,
        switches_two_cpus: PerOperation::Between(0.0, 0.1, "nobody sleeps"),
    }
}

/// Yielding, with these system calls.
pub const fn yields(system_calls: PerOperation) -> WaitFacts {
    WaitFacts {
        wait: WaitKind::Yield,
        system_calls,
        switches_one_cpu: PerOperation::Between(
            1.0,
            4.2,
            "each yield hands the CPU to the other end",
        ),
        switches_two_cpus: PerOperation::Between(0.0, 0.5, "there is nobody else to yield to"),
    }
}

/// The waits of a descriptor mechanism that makes one call to send and one to
/// receive: four system calls a round trip when both ends block.
pub const FD_WAITS: &[WaitFacts] = &fd_waits(SLEEPS, SLEEPS_OR_NOT);

/// The waits of a stream of the Unix domain. There, reading a message gives its
/// sender room again, and the kernel says so by waking whoever sleeps on the
/// sender's socket: the sender itself, waiting for the answer. It looks, finds
/// nothing and sleeps again. (Datagram sockets filter such wake-ups by what the
/// sleeper waits for: receiver_wake_function in net/core/datagram.c.)
pub const UNIX_STREAM_WAITS: &[WaitFacts] = &fd_waits(
    PerOperation::Between(1.8, 4.2, WOKEN_FOR_NOTHING),
    PerOperation::Between(0.0, 4.2, WOKEN_FOR_NOTHING),
);

const WOKEN_FOR_NOTHING: &str = "each end sleeps once a round trip, and may be woken once more for \
                                 nothing, when its partner's reading gives it room to write";

const fn fd_waits(one_cpu: PerOperation, two_cpus: PerOperation) -> [WaitFacts; 6] {
    [
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Exactly(4.0),
            switches_one_cpu: one_cpu,
            switches_two_cpus: two_cpus,
        },
        spin(PerOperation::Between(4.0, f64::INFINITY, EVERY_TRY), SLICES),
        yields(PerOperation::Between(4.0, f64::INFINITY, EVERY_TRY)),
        WaitFacts {
            wait: WaitKind::SpinThenBlock,
            system_calls: PerOperation::Between(
                4.0,
                f64::INFINITY,
                "every look in vain is a system call too; after the budget the receive itself \
                 sleeps, with a poll before it where no call looks without sleeping (POSIX message \
                 queues, named pipes, all pipes before Linux 6.4) and on Unix streams, where that is faster",
            ),
            switches_one_cpu: two_cpus,
            switches_two_cpus: two_cpus,
        },
        WaitFacts {
            wait: WaitKind::Epoll,
            system_calls: PerOperation::Between(
                6.0,
                8.0,
                "epoll_wait before each receive; once more where it returns for a message already read",
            ),
            switches_one_cpu: one_cpu,
            switches_two_cpus: two_cpus,
        },
        WaitFacts {
            wait: WaitKind::EpollEdge,
            system_calls: PerOperation::Between(
                4.0,
                8.0,
                "a receive in vain and epoll_wait before each receive; neither where the message is there already",
            ),
            switches_one_cpu: one_cpu,
            switches_two_cpus: two_cpus,
        },
    ]
}
