//! A trial at the far end: the links are taken, the worker is started, and told what the near end says.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Case, Role, Workload};
use hopcost_model::mechanism::{Loss, Payload};
use hopcost_model::protocol::{Command, FailureCause, LinkHalf, Reply};
use hopcost_probe::mechanism;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::Half;
use hopcost_probe::transport::tcp;
use hopcost_probe::{interrupt, sys};

use super::key;
use super::lobby::Lobby;
use super::near;
use super::wire::{self, Answer, Lines, TrialAsk};
use crate::run::agent::Agent;
use crate::run::setup::Setup;
use crate::run::worker::{ReplyError, Worker};

/// Connections of a trial at most.
const FLOWS_MAX: u32 = 64;

/// What the far end has that a trial needs.
pub struct Here<'a> {
    /// What all trials have.
    pub setup: &'a Setup,
    /// Where its connections come.
    pub lobby: &'a Lobby,
    /// Of this end's clock.
    pub ticks_per_second: f64,
    /// How long it may take at most.
    pub longest: Duration,
}

/// Plays a trial. An error is what was wrong, of which the near end has been told.
pub fn play(far: &Here<'_>, lines: &mut Lines, ask: &TrialAsk) -> Result<(), String> {
    let opened = open(far, lines, ask).map_err(|error| {
        let reason = error.to_string();
        let _ = wire::send(lines.stream(), &Answer::Refused { reason: reason.clone() });
        reason
    })?;
    let frozen = far.setup.agent.as_ref().and_then(Agent::freeze);
    let played = opened.play(far, lines).map_err(|error| {
        let reason = error.to_string();
        let _ = wire::send(lines.stream(), &Reply::Failed { reason: reason.clone(), cause: None });
        reason
    });
    drop(frozen);
    far.setup.orphans.end(&[]);
    played
}

/// A trial whose links are there.
struct Opened {
    case: Case,
    halves: Vec<Half>,
    until: Instant,
    /// Ticks of the near end's clock to one of this.
    near_ticks: f64,
}

fn open(far: &Here<'_>, lines: &mut Lines, ask: &TrialAsk) -> io::Result<Opened> {
    let (case, row) = admitted(&ask.case).map_err(sys::failure)?;
    let wanted = Duration::from_millis(ask.deadline_ms);
    let until = Instant::now() + wanted.min(far.longest);
    let near_ticks = ask.ticks_per_second / far.ticks_per_second;
    if !near_ticks.is_finite() || near_ticks <= 0.0 {
        return Err(sys::failure("the near end's clock has no rate"));
    }
    let token = key::nonce()?;
    let halves = match row.facts().loss {
        Loss::Possible => {
            let socket = UdpSocket::bind(SocketAddr::new(lines.local()?.ip(), 0))?;
            let udp_port = Some(socket.local_addr()?.port());
            wire::send(lines.stream(), &Answer::Expecting { token: token.clone(), udp_port })?;
            vec![Half::of_fds([datagrams(socket, &token, lines.peer_ip()?)?.into()])]
        }
        Loss::Never => {
            far.lobby.expect(&token, case.flows.unwrap_or(1));
            wire::send(lines.stream(), &Answer::Expecting { token, udp_port: None })?;
            let patience = Instant::now() + wire::PATIENCE;
            let came = far.lobby.expected(patience);
            let came = came.ok_or_else(|| sys::failure("its connections did not come in time"))?;
            let half = |stream| tcp::half_of(stream, &case, Role::Callee);
            came.into_iter().map(half).collect::<io::Result<_>>()?
        }
    };
    wire::send(lines.stream(), &Answer::Ready)?;
    Ok(Opened { case, halves, until, near_ticks })
}

/// The case and its mechanism, if it is one that two hosts can play.
fn admitted(id: &str) -> Result<(Case, &'static Row), String> {
    let case: Case = id.parse().map_err(|error| format!("{error}"))?;
    let row = mechanism::find(case.mechanism_name())
        .filter(|row| row.facts().boundaries.contains(&Boundary::Host))
        .ok_or_else(|| format!("it plays no {} between hosts", case.mechanism.escape_debug()))?;
    if case.boundary != Boundary::Host || !case.runtimes.are_rust() {
        return Err("it plays the boundary `host` in Rust alone".to_owned());
    }
    if !matches!(case.workload, Workload::Roundtrip | Workload::Stream) {
        return Err(format!("it plays no {} between hosts", case.workload));
    }
    let most = match row.facts().payload {
        Payload::Bytes { max, .. } => max,
        Payload::None => 0,
    };
    if case.payload_bytes.unwrap_or(0) > most || case.flows.unwrap_or(1) > FLOWS_MAX {
        return Err(format!("it plays messages of {most} bytes and {FLOWS_MAX} flows at most"));
    }
    Ok((case, row))
}

/// The socket, connected to whoever at this address shows the token.
fn datagrams(socket: UdpSocket, token: &str, from: std::net::IpAddr) -> io::Result<UdpSocket> {
    let until = Instant::now() + wire::PATIENCE;
    let mut got = [0; 128];
    loop {
        interrupt::until_readable(&socket, until)
            .map_err(|error| sys::context(error, "waiting for a datagram with its token"))?;
        socket.set_read_timeout(Some(wire::PATIENCE))?;
        let Ok((n, sender)) = socket.recv_from(&mut got) else { continue };
        if sender.ip() == from && &got[..n] == token.as_bytes() {
            socket.connect(sender)?;
            socket.send(token.as_bytes())?;
            near::drain(&socket)?;
            return Ok(socket);
        }
    }
}

impl Opened {
    fn play(self, far: &Here<'_>, lines: &mut Lines) -> io::Result<()> {
        let Self { case, halves, until, near_ticks } = self;
        let attach = lines.next::<Command>(until)?;
        let fds: Vec<Vec<i32>> =
            halves.iter().map(|half| half.fds.iter().map(AsRawFd::as_raw_fd).collect()).collect();
        let attach = attached_by(far, &case, attach, &fds)?;
        let inherited: Vec<OwnedFd> = halves.into_iter().flat_map(|half| half.fds).collect();
        let mut worker = Worker::spawn(&far.setup.native, inherited, 0)?;
        let mut command = attach;
        loop {
            let is_last = command == Command::Stop;
            worker.send(&command);
            let reply = match worker.reply(until, &far.setup.interrupt) {
                Ok(reply) => in_near_ticks(reply, near_ticks),
                Err(error) => failed(error, &mut worker),
            };
            let is_last = is_last || matches!(reply, Reply::Failed { .. });
            wire::send(lines.stream(), &reply)?;
            if is_last {
                worker.leave(Duration::from_millis(100));
                return Ok(());
            }
            command = match lines.next::<Command>(until)? {
                Some(command @ (Command::Run { .. } | Command::Stop)) => command,
                Some(_) => return Err(sys::failure("a trial between hosts has no such command")),
                // The near end is gone, and the worker with it.
                None => return Ok(()),
            };
        }
    }
}

/// The worker's `attach`: what the near end says of the seats, with the links that are here.
fn attached_by(
    far: &Here<'_>,
    case: &Case,
    said: Option<Command>,
    fds: &[Vec<i32>],
) -> io::Result<Command> {
    let Some(Command::Attach { mut seats, deadline_ms, trial, .. }) = said else {
        return Err(sys::failure("a trial begins with `attach`"));
    };
    let fits = seats.len() == fds.len() && seats.iter().all(|seat| seat.role == Role::Callee);
    if !fits {
        return Err(sys::failure("the far end plays the callee of each flow"));
    }
    for (seat, fds) in seats.iter_mut().zip(fds) {
        seat.link = Some(LinkHalf { fds: fds.clone(), ..LinkHalf::default() });
    }
    Ok(Command::Attach {
        case: case.id(),
        seats,
        samples_fd: None,
        meeting_fd: None,
        deadline_ms: deadline_ms.min(far.longest.as_millis() as u64),
        parent: Some(std::process::id()),
        scratch: Some(far.setup.scratch.path().display().to_string()),
        trial,
        schedule: None,
    })
}

/// The stamps of a reply in ticks of the near end's clock, so that a run has one clock.
fn in_near_ticks(mut reply: Reply, near_ticks: f64) -> Reply {
    if let Reply::Ran { ends, .. } = &mut reply {
        let near = |ticks: &mut u64| *ticks = (*ticks as f64 * near_ticks) as u64;
        for end in ends {
            near(&mut end.max_ticks);
            near(&mut end.elapsed_ticks);
            near(&mut end.first_tick);
        }
    }
    reply
}

/// What the near end is told of a worker that does not answer.
fn failed(error: ReplyError, worker: &mut Worker) -> Reply {
    let (reason, cause) = match error {
        ReplyError::PartnerClosed(reason) => (reason, Some(FailureCause::PartnerGone)),
        ReplyError::Closed => {
            worker.leave(Duration::from_millis(100));
            (worker.epitaph(), None)
        }
        error => (error.to_string(), None),
    };
    Reply::Failed { reason, cause }
}
