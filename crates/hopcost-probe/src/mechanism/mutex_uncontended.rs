//! `mutex-uncontended`: lock and unlock a pthread mutex that nobody else wants:
//! one atomic instruction each way, and no system call.
//!
//! glibc leaves the atomic instructions out while a process has never had a
//! second thread. A program with a mutex has had one, so one is started and
//! joined before the first operation; otherwise this row would measure half of
//! what programs pay.

use std::cell::UnsafeCell;
use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};
use crate::sys;

pub static ROW: Row = Row::call::<MutexUncontended>(Facts {
    name: "mutex-uncontended",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct MutexUncontended(Box<UnsafeCell<libc::pthread_mutex_t>>);

impl Call for MutexUncontended {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        std::thread::Builder::new()
            .spawn(|| {})?
            .join()
            .map_err(|_| sys::failure("a thread that does nothing failed"))?;
        Ok(MutexUncontended(Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        let mutex = self.0.get();
        // SAFETY: initialised, never moved, and locked and unlocked by one thread in turn. Both
        // return 0; adding that to the result keeps it an input of the next operation.
        unsafe {
            let locked = libc::pthread_mutex_lock(mutex);
            let x = x.wrapping_add(1 + locked as u64);
            x.wrapping_add(libc::pthread_mutex_unlock(mutex) as u64)
        }
    }
}
