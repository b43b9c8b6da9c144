//! Two hosts: the near end plans, measures and stores; the far end plays the callee of each trial.
//!
//! A command of the user's starts `hopcost worker` on the far host, and the worker protocol goes over
//! its pipe ([`near`]). That worker becomes the far host of the run ([`far`]): for each trial it listens
//! for the links and starts a fresh worker, which to the near end's supervisor is like any other. Each
//! link shows a token before it carries a message ([`link`]). The pipe is idle while a phase runs, and
//! where it ends, the far end ends with it.

pub mod far;
pub mod link;
pub mod near;
pub mod net;

use std::io;

use hopcost_machine::Root;
use hopcost_probe::sys;

/// The CPU of an end that is alone on its host: the first of those that a pair of ends would have.
pub fn first_cpu() -> io::Result<u32> {
    let allowed = sys::allowed_cpus()?;
    let pair = hopcost_machine::topology(&Root::default(), &allowed).choose_pair(&allowed);
    let first = pair.map(|(first, ..)| first).or(allowed.first().copied());
    first.ok_or_else(|| sys::failure("this process may use no CPU at all"))
}
