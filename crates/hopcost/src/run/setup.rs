//! What every trial needs, whoever asks for it.

use std::os::fd::OwnedFd;

use hopcost_probe::orphans::Orphans;
use hopcost_probe::sys;

use super::runtimes::Runtimes;
use super::scratch::Scratch;
use super::worker::Program;

/// The programs that play, and what watches over them.
pub struct Setup {
    /// The worker inside this binary.
    pub native: Program,
    /// All the others.
    pub runtimes: Runtimes,
    /// Where names go.
    pub scratch: Scratch,
    /// Readable once the user has interrupted.
    pub interrupt: OwnedFd,
    /// What workers leave behind.
    pub orphans: Orphans,
}

impl Setup {
    /// From now on this process is one that has workers; `id` says for what.
    pub fn new(id: &str, native: Program, runtimes: Runtimes) -> std::io::Result<Self> {
        sys::close_on_exec_from_3();
        let orphans = Orphans::adopt()?;
        let interrupt = sys::catch_interrupts()?;
        Ok(Self { native, runtimes, scratch: Scratch::create(id)?, interrupt, orphans })
    }
}
