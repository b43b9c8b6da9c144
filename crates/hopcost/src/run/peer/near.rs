//! The near end: knows the far host, and asks it to play the callee of a trial.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use hopcost_model::case::{Case, Role};
use hopcost_model::host::Reading;
use hopcost_model::mechanism::Loss;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::Half;
use hopcost_probe::transport::tcp;
use hopcost_probe::{interrupt, sys};

use super::key::Key;
use super::net;
use super::wire::{self, Answer, Ask, FarHost, Lines, TrialAsk};

/// How long a far end may take to answer what it has to look at its clock for.
const HELLO: Duration = Duration::from_secs(20);
/// How long a far end that hung up before any proof is left alone: strangers may have crowded it.
const CROWDED: Duration = Duration::from_millis(20);
/// Between two datagrams that show the token, and how many are sent.
const TOKEN_EACH: Duration = Duration::from_millis(200);
const TOKENS: u32 = 10;
/// How long what is left of these is waited for.
const STRAY: Duration = Duration::from_millis(5);

/// A far host that is known.
pub struct Peer {
    address: SocketAddr,
    key: Key,
    run: String,
    /// What it said of itself.
    pub far: FarHost,
    local: SocketAddr,
    /// Open for as long as the run goes on: its end is how the far end learns that the run is over.
    _hello: Lines,
    /// Trials in a row that it was asked for in vain.
    in_vain: Cell<u32>,
}

/// Trials in a row that are asked for in vain before a far host is given up.
const IN_VAIN_MAX: u32 = 3;

/// What a trial's near end has.
pub struct Opened {
    /// The worker protocol's connection.
    pub control: OwnedFd,
    /// The caller's half of each link, in the order of the flows.
    pub halves: Vec<Half>,
}

impl Peer {
    /// Greets the far end on behalf of a run, within its budget; `cpu` is the one that its end is to have.
    pub fn greet(
        address: SocketAddr,
        key: Key,
        run: &str,
        cpu: Option<u32>,
        budget: Option<Duration>,
    ) -> io::Result<Self> {
        let until = Instant::now() + budget.map_or(HELLO, |budget| budget.min(HELLO));
        let (far, lines) = hello(address, &key, run, cpu, until)?;
        let local = lines.local()?;
        if !far.cpus.contains(&far.cpu) {
            return Err(sys::failure("it does not say of itself what it must"));
        }
        if !(1e3..1e12).contains(&far.clock.ticks_per_second) {
            return Err(sys::failure("its clock cannot be"));
        }
        let (run, in_vain) = (run.to_owned(), Cell::new(0));
        Ok(Self { address, key, run, far, local, _hello: lines, in_vain })
    }

    /// Whether it has not answered for so long that the rest of a run is not for now.
    pub fn is_lost(&self) -> bool {
        self.in_vain.get() >= IN_VAIN_MAX
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What both ends know of each other now: this end's interface, and all that the far host tells.
    pub fn readings(&self) -> io::Result<Vec<Reading>> {
        let until = Instant::now() + HELLO;
        let (far, lines) = hello(self.address, &self.key, &self.run, Some(self.far.cpu), until)?;
        Ok(self.readings_of(&far, lines.local()?))
    }

    /// The same as it was when it was greeted.
    pub fn readings_before(&self) -> Vec<Reading> {
        self.readings_of(&self.far, self.local)
    }

    fn readings_of(&self, far: &FarHost, local: SocketAddr) -> Vec<Reading> {
        let reading = |key: &str, value| Reading::known("peer", key, value);
        let mut all = net::readings(local.ip());
        all.push(reading("peer.address", self.address.to_string()));
        all.push(reading("peer.hopcost", format!("{} ({})", far.version, far.commit)));
        all.extend(far.checksum.clone().map(|checksum| reading("peer.checksum", checksum)));
        all.push(reading("peer.cpu", far.cpu.to_string()));
        if far.strangers > 0 {
            all.push(reading("peer.load.strangers", far.strangers.to_string()));
        }
        all.extend(net::of_peer(&far.host.readings));
        all
    }

    /// Asks for a trial of a case, whose caller has a clock of this rate, and opens its links.
    pub fn trial(
        &self,
        case: &Case,
        row: &Row,
        (deadline_ms, ticks_per_second): (u64, f64),
    ) -> io::Result<Opened> {
        let (run, id) = (self.run.clone(), case.id());
        let opened =
            self.open(case, row, TrialAsk { run, case: id, deadline_ms, ticks_per_second });
        self.in_vain.set(if opened.is_ok() { 0 } else { self.in_vain.get() + 1 });
        opened
    }

    fn open(&self, case: &Case, row: &Row, ask: TrialAsk) -> io::Result<Opened> {
        let deadline = Instant::now() + Duration::from_millis(ask.deadline_ms).max(HELLO);
        let until = Instant::now() + wire::PATIENCE;
        let mut lines = Lines::of(control(self.address, &self.key, until)?);
        wire::send(lines.stream(), &Ask::Trial(ask))?;
        let (token, udp_port) = match answer(&mut lines, deadline)? {
            Answer::Expecting { token, udp_port } => (token, udp_port),
            _ => return Err(unexpected()),
        };
        let flows = case.flows.unwrap_or(1);
        let halves = match (row.facts().loss, udp_port) {
            (Loss::Possible, Some(port)) => {
                vec![Half::of_fds([self.datagrams(port, &token)?.into()])]
            }
            (Loss::Possible, None) => return Err(unexpected()),
            (Loss::Never, _) => {
                let half = |flow| tcp::half_of(self.connection(&token, flow)?, case, Role::Caller);
                (0..flows).map(half).collect::<io::Result<_>>()?
            }
        };
        match answer(&mut lines, deadline)? {
            Answer::Ready => {}
            _ => return Err(unexpected()),
        }
        Ok(Opened { control: lines.into_stream()?.into(), halves })
    }

    fn connection(&self, token: &str, flow: u32) -> io::Result<TcpStream> {
        let mut stream = interrupt::connect(self.address, Instant::now() + wire::PATIENCE)?;
        wire::show_token(&mut stream, token, flow)?;
        Ok(stream)
    }

    /// A datagram socket that the far end has seen the token from.
    fn datagrams(&self, port: u16, token: &str) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((self.local.ip(), 0))?;
        socket.connect((self.address.ip(), port))?;
        socket.set_read_timeout(Some(TOKEN_EACH))?;
        let mut got = [0; 128];
        for _ in 0..TOKENS {
            socket.send(token.as_bytes())?;
            let until = Instant::now() + TOKEN_EACH;
            match interrupt::until_readable(&socket, until) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => continue,
                Err(error) => return Err(error),
            }
            if socket.recv(&mut got).is_ok_and(|n| &got[..n] == token.as_bytes()) {
                drain(&socket)?;
                return Ok(socket);
            }
        }
        Err(sys::failure(format!("no datagram came back from UDP port {port} of the far host")))
    }
}

/// Takes what came besides, so that the first message is one of the mechanism's.
pub fn drain(socket: &UdpSocket) -> io::Result<()> {
    socket.set_read_timeout(Some(STRAY))?;
    while socket.recv(&mut [0; 128]).is_ok() {}
    socket.set_read_timeout(None)
}

/// A connection that has proved the key. Of one that hung up before, another is tried.
fn control(address: SocketAddr, key: &Key, until: Instant) -> io::Result<TcpStream> {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    loop {
        match proved(address, key, until) {
            Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof) => {
                let next = Instant::now() + CROWDED;
                if next > until {
                    return Err(error);
                }
                interrupt::sleep_until("sleep", next)?;
            }
            other => return other,
        }
    }
}

fn proved(address: SocketAddr, key: &Key, until: Instant) -> io::Result<TcpStream> {
    let until = until.min(Instant::now() + wire::PATIENCE);
    let mut stream = interrupt::connect(address, until).map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            sys::failure(format!("{error}: is `hopcost serve` running there?"))
        }
        _ => error,
    })?;
    // Questions and answers are short, and wait for each other.
    stream.set_nodelay(true)?;
    wire::prove_near(&mut stream, key, until)?;
    Ok(stream)
}

fn hello(
    address: SocketAddr,
    key: &Key,
    run: &str,
    cpu: Option<u32>,
    until: Instant,
) -> io::Result<(FarHost, Lines)> {
    let mut lines = Lines::of(control(address, key, until)?);
    wire::send(lines.stream(), &Ask::Hello { run: run.to_owned(), cpu })?;
    match answer(&mut lines, until)? {
        Answer::Hello(far) => Ok((*far, lines)),
        _ => Err(unexpected()),
    }
}

fn answer(lines: &mut Lines, until: Instant) -> io::Result<Answer> {
    match lines.next(until)? {
        Some(Answer::Busy { reason }) => {
            Err(sys::failure(format!("the far end is busy: {reason}")))
        }
        Some(Answer::Refused { reason }) => {
            Err(sys::failure(format!("the far end refuses: {reason}")))
        }
        Some(answer) => Ok(answer),
        None => Err(sys::failure("the far end hung up")),
    }
}

fn unexpected() -> io::Error {
    sys::failure("the far end answered something else than it was asked")
}
