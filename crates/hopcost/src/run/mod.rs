//! `run`: from a plan to finished trials. Spawns, supervises, hands every
//! finished trial on to be made durable. Knows no statistics and no file
//! format; while a trial is running this process is asleep in one wait.

pub mod check;
pub mod clocks;
pub mod idle;
pub mod pace;
mod quiet;
pub mod reference;
mod remembered;
pub mod runtimes;
pub mod scratch;
mod rounds;
mod search;
mod session;
pub mod setup;
pub mod threads;
pub mod trial;
mod trust;
pub mod worker;
pub mod workers;
pub mod yardstick;

use std::os::unix::net::UnixStream;

use hopcost_probe::sys;
use rounds::Rounds;
pub use session::{Aim, Ending, Progress, Session, Sink};
use yardstick::OpenYardsticks;

/// Descriptors that a run opens beside those that it inherits: where not even these can be
/// opened, what cannot be done first says little of why.
const DESCRIPTORS_MIN: usize = 12;

/// Refuses to begin where too few descriptors may be opened (ulimit -n).
pub fn ensure_descriptors() -> std::io::Result<()> {
    let open = || -> std::io::Result<()> {
        let (first, _second) = UnixStream::pair()?;
        let copies = (2..DESCRIPTORS_MIN).map(|_| first.try_clone());
        copies.collect::<std::io::Result<Vec<_>>>().map(drop)
    };
    open().map_err(|error| {
        let doing = format!("opening {DESCRIPTORS_MIN} files, which a run needs (see ulimit -n)");
        sys::context(error, &doing)
    })
}

/// Runs what is left of the plan.
pub fn execute(session: &Session<'_>, sink: &mut dyn Sink) -> anyhow::Result<Ending> {
    let planned = &session.yardsticks.all;
    let players = yardstick::players(planned, session.setup);
    let specs = yardstick::specs(&players, planned, session.setup, session.clocks);
    match OpenYardsticks::open(planned, &specs) {
        Ok(mut yardsticks) => {
            if let Some(most) = session.wait_for_quiet {
                let waited = quiet::wait(&mut yardsticks, session.setup, most);
                let Some(waited) = waited else { return Ok(Ending::Interrupted) };
                sink.waited(&waited)?;
            }
            Rounds::of(session, yardsticks)?.run(sink)
        }
        Err(_) => Ok(Ending::Interrupted),
    }
}
