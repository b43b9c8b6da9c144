//! What every trial needs, whatever asks for it.

use std::io;

use hopcost_probe::{interrupt, sys};

use super::peer::near::Peer;
use super::runtimes::Runtimes;
use super::scratch::Scratch;
use super::worker::Program;

/// The programs that play, and what watches over them.
pub struct Setup {
    /// The worker inside this binary.
    pub native: Program,
    /// The far host, where there is one; its worker ends before what is left of all workers does.
    pub peer: Option<Peer>,
    /// All the others.
    pub runtimes: Runtimes,
    /// Where names go.
    pub scratch: Scratch,
}

impl Setup {
    /// From now on this process is one that has workers; `id` says for what.
    pub fn new(id: &str, native: Program, runtimes: Runtimes) -> io::Result<Self> {
        sys::close_on_exec_from_3();
        interrupt::catch()?;
        let scratch = Scratch::create(id)?;
        let (end_all, remove) = (runtimes.orphans.ender(), scratch.remover());
        interrupt::ensure_end(move || {
            end_all();
            remove();
        });
        Ok(Self { native, runtimes, scratch, peer: None })
    }
}
