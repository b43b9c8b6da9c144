//! `thread-start`: create a thread that does nothing and wait until it is gone.
//!
//! The stack of a thread that is gone is used again (glibc keeps some), so this is
//! what a thread costs a program that has started others before. The new thread
//! returns the number that it was given: the chain from operation to operation
//! goes through it.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};
use crate::worker::lines::give_up;

pub static ROW: Row = Row::call::<ThreadStart>(Facts {
    name: "thread-start",
    call_system_calls: Some(PerOperation::Between(
        8.0,
        11.0,
        "clone and exit, signal masks, the robust list, rseq and the stack's madvise of the C \
         library, and a futex if the starter has to sleep until the new thread is gone",
    )),
    call_switches: Some(PerOperation::Between(
        1.0,
        3.0,
        "the new thread ends with one; the starter sleeps before it, unless it has its own CPU",
    )),
    ..CALL
});

struct ThreadStart;

extern "C" fn empty(argument: *mut libc::c_void) -> *mut libc::c_void {
    argument
}

#[cold]
fn failed(doing: &str, code: libc::c_int) -> ! {
    give_up(&format!("{doing} a thread: {}", io::Error::from_raw_os_error(code)))
}

impl Call for ThreadStart {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(ThreadStart)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        let argument = x as usize as *mut libc::c_void;
        let mut result = std::ptr::null_mut();
        // SAFETY: null attributes are the default ones; the thread only returns its argument,
        // which nobody takes for an address, and is joined once.
        unsafe {
            let mut thread: libc::pthread_t = std::mem::zeroed();
            match libc::pthread_create(&mut thread, std::ptr::null(), empty, argument) {
                0 => {}
                code => failed("creating", code),
            }
            match libc::pthread_join(thread, &mut result) {
                0 => {}
                code => failed("joining", code),
            }
        }
        (result as usize as u64).wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_returns_what_it_was_given() {
        let mut threads = ThreadStart;
        assert_eq!(threads.call(41), 42);
        assert_eq!((0..50).fold(7, |x, _| threads.call(x)), 57);
    }
}
