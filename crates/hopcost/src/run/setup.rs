//! What every trial needs, whoever asks for it.

use std::os::fd::OwnedFd;

use hopcost_probe::orphans::Orphans;
use hopcost_probe::{interrupt, sys};

use super::agent::Agent;
use super::peer::near::Peer;
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
    /// The far host, where there is one; its worker ends before what is left of all workers does.
    pub peer: Option<Peer>,
    /// What workers leave behind.
    pub orphans: Orphans,
    /// The process that is stopped while a trial runs, if one is.
    pub agent: Option<Agent>,
}

impl Setup {
    /// From now on this process is one that has workers; `id` says for what.
    pub fn new(id: &str, native: Program, runtimes: Runtimes) -> std::io::Result<Self> {
        sys::close_on_exec_from_3();
        let orphans = Orphans::adopt()?;
        let interrupt = interrupt::catch()?;
        let scratch = Scratch::create(id)?;
        let (end_all, remove) = (orphans.ender(), scratch.remover());
        interrupt::ensure_end(move || {
            end_all();
            remove();
        });
        let (agent, peer) = (None, None);
        Ok(Self { native, runtimes, scratch, interrupt, orphans, agent, peer })
    }

    /// From now on this process is stopped while a trial runs.
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.orphans.keep(agent.guard());
        self.agent = Some(agent);
        self
    }
}
