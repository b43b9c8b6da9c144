//! What every trial needs, whatever asks for it; and the process on whose behalf hopcost runs, such as the agent of a
//! fleet: stopped while a trial runs, so that it costs nothing, and gone on with right after it, whatever becomes of
//! hopcost.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hopcost_probe::interrupt;
use hopcost_probe::orphans::Orphans;
use hopcost_probe::sys::{self, Signal};

use super::peer::near::Peer;
use super::runtimes::Runtimes;
use super::scratch::Scratch;
use super::worker::Program;

/// How long hopcost may take to end after a signal.
const PATIENCE: Duration = Duration::from_secs(10);

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
    pub fn new(id: &str, native: Program, runtimes: Runtimes) -> io::Result<Self> {
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

/// An agent, and the guard that is left to go on with it.
pub struct Agent {
    process: OwnedFd,
    guard: Child,
    /// The guard, readable once it is gone.
    guarding: OwnedFd,
    /// Closed when hopcost is gone, by which the guard sees it.
    _life: UnixStream,
}

impl Agent {
    /// Watches over a process of this user's: the guard continues it when hopcost is gone, and ends
    /// hopcost when the process is gone, or this long after its lease.
    pub fn watch(pid: u32, lease: Option<Duration>) -> io::Result<Self> {
        let process = sys::open_process(pid)
            .map_err(|e| sys::context(e, &format!("the agent's process {pid}")))?;
        // Only stopping it shows whether it may be stopped: SIGCONT is allowed within a session.
        sys::signal_process(&process, Signal::STOP)
            .map_err(|e| sys::context(e, &format!("stopping the agent's process {pid}")))?;
        drop(Frozen(&process));
        let (life, theirs) = UnixStream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["worker", "guard", "--agent", &pid.to_string()]);
        command.args(["--of", &std::process::id().to_string()]);
        if let Some(lease) = lease {
            command.args(["--lease-ms", &lease.as_millis().to_string()]);
        }
        let guard = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let guarding = sys::open_process(guard.id())?;
        Ok(Self { process, guard, guarding, _life: life })
    }

    /// The guard, which is to live as long as hopcost.
    pub fn guard(&self) -> u32 {
        self.guard.id()
    }

    /// Stops it until what is returned is dropped, unless the guard is gone, without whom nobody would see to
    /// it that it goes on. One that is gone cannot be stopped.
    pub fn freeze(&self) -> Option<Frozen<'_>> {
        let is_guarded =
            sys::poll_readable(&[self.guarding.as_raw_fd()], 0).is_ok_and(|gone| !gone[0]);
        is_guarded.then(|| {
            let _ = sys::signal_process(&self.process, Signal::STOP);
            Frozen(&self.process)
        })
    }
}

/// A process that is stopped.
pub struct Frozen<'a>(&'a OwnedFd);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = sys::signal_process(self.0, Signal::CONT);
    }
}

/// The guard: sleeps until hopcost or the agent is gone, or hopcost has outlived its lease.
pub fn guard(agent: u32, hopcost: u32, lease: Option<Duration>) -> io::Result<()> {
    sys::leave_session()?;
    sys::set_name("hopcost-guard");
    let (agent, hopcost) = (sys::open_process(agent)?, sys::open_process(hopcost)?);
    let begun = Instant::now();
    let mut kill_at = lease.map(|lease| begun + lease + PATIENCE);
    let mut is_told = false;
    let mut life = io::stdin();
    loop {
        let left = kill_at.map(|at| at.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            let _ = sys::signal_process(&hopcost, Signal::KILL);
            kill_at = None;
        }
        let wait_ms = left.filter(|left| !left.is_zero()).map_or(-1, |left| {
            i32::try_from(left.as_millis()).unwrap_or(i32::MAX).saturating_add(1)
        });
        // One that was gone is readable for ever.
        let watched = [life.as_raw_fd(), agent.as_raw_fd()];
        let ready = sys::poll_readable(if is_told { &watched[..1] } else { &watched }, wait_ms)?;
        if ready[0] && matches!(life.read(&mut [0]), Ok(0) | Err(_)) {
            let _ = sys::signal_process(&agent, Signal::CONT);
            return Ok(());
        }
        if ready.get(1) == Some(&true) {
            is_told = true;
            let _ = sys::signal_process(&hopcost, Signal::TERM);
            kill_at = Some(Instant::now() + PATIENCE);
        }
    }
}
