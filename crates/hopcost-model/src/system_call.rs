//! The system calls by which ends hand over messages, by their numbers.

use crate::document;

macro_rules! calls {
    ($($name:ident $word:literal $x86:expr, $arm:expr;)+) => {
        document! {
            /// A system call.
            #[derive(Copy, Eq, PartialOrd, Ord)]
            #[serde(rename_all = "snake_case")]
            pub enum SystemCall {
                $(#[doc = concat!($word, "(2)")] $name,)+
                /// Any other.
                Other,
            }
        }

        impl SystemCall {
            /// Its name.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                    Self::Other => "another call",
                }
            }

            /// The call of this number, where the ends were built for this target (`x86_64-unknown-linux-gnu`).
            pub fn of(number: u32, target: &str) -> Self {
                let numbers = match target {
                    _ if target.starts_with("x86_64") => 0,
                    _ if target.starts_with("aarch64") => 1,
                    _ => return Self::Other,
                };
                $(if [$x86, $arm][numbers] == Some(number) {
                    return Self::$name;
                })+
                Self::Other
            }
        }
    };
}

// arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
calls! {
    Read "read" Some(0), Some(63);
    Write "write" Some(1), Some(64);
    Readv "readv" Some(19), Some(65);
    Writev "writev" Some(20), Some(66);
    Sendto "sendto" Some(44), Some(206);
    Recvfrom "recvfrom" Some(45), Some(207);
    Sendmsg "sendmsg" Some(46), Some(211);
    Recvmsg "recvmsg" Some(47), Some(212);
    Sendfile "sendfile" Some(40), Some(71);
    Splice "splice" Some(275), Some(76);
    Vmsplice "vmsplice" Some(278), Some(75);
    ProcessVmReadv "process_vm_readv" Some(310), Some(270);
    IoUringEnter "io_uring_enter" Some(426), Some(426);
    Futex "futex" Some(202), Some(98);
    Poll "poll" Some(7), None;
    Ppoll "ppoll" Some(271), Some(73);
    EpollWait "epoll_wait" Some(232), None;
    EpollPwait "epoll_pwait" Some(281), Some(22);
    SchedYield "sched_yield" Some(24), Some(124);
}

impl std::fmt::Display for SystemCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Other => f.write_str(self.word()),
            _ => write!(f, "{}(2)", self.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SystemCall::{self, EpollWait, Other, Sendto};

    #[test]
    fn a_number_is_the_call_of_its_architecture() {
        let of = |number, target| SystemCall::of(number, target);
        assert_eq!(of(44, "x86_64-unknown-linux-musl"), Sendto);
        assert_eq!(of(206, "aarch64-unknown-linux-gnu"), Sendto);
        assert_eq!(of(44, "aarch64-unknown-linux-gnu"), Other);
        assert_eq!((of(232, "x86_64-x"), of(232, "aarch64-x")), (EpollWait, Other));
        assert_eq!(of(44, "riscv64gc-unknown-linux-gnu"), Other);
        assert_eq!(
            (Sendto.to_string(), Other.to_string()),
            ("sendto(2)".into(), "another call".into())
        );
        assert_eq!(serde_json::to_string(&SystemCall::IoUringEnter).unwrap(), "\"io_uring_enter\"");
    }
}
