//! The links between two hosts. The far end listens for the links of one trial, and only until each has
//! shown its token; the near end connects and shows it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hopcost_model::{Case, Role};
use hopcost_probe::interrupt;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::Half;
use hopcost_probe::transport::tcp;
use hopcost_probe::transport::tcp_socket::prepare;

/// How long the links of a trial may take to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a wait for them looks for an interrupt.
const LOOK: Duration = Duration::from_millis(100);
/// How long a connection may take to show its token.
const SHOWN_WITHIN: Duration = Duration::from_secs(1);
/// Between two datagrams that show the token, and how many the near end sends.
const TOKEN_EACH: Duration = Duration::from_millis(200);
const TOKENS: u32 = 10;
/// How long the near and the far end take what is left of these.
const STRAY: Duration = Duration::from_millis(5);

/// What the links of a case are made of, as `offer` names it.
pub fn carrier(row: &Row) -> &'static str {
    if row.facts().loses { "udp" } else { "tcp" }
}

/// Where strangers may come.
pub struct Door {
    /// Standard input, readable where the near end hangs up in the middle of something.
    pub hung_up: OwnedFd,
    /// How many of them came.
    pub strangers: u64,
}

/// The far end's socket for the links of a trial.
pub enum Listening {
    Streams(TcpListener),
    Datagrams(UdpSocket),
}

impl Listening {
    /// Listens at an address of this host.
    pub fn open(carrier: &str, at: SocketAddr, case: &Case) -> Result<Self> {
        match carrier {
            "tcp" => {
                TcpListener::bind(at).and_then(|socket| prepare(socket, case)).map(Self::Streams)
            }
            "udp" => {
                UdpSocket::bind(at).and_then(|socket| prepare(socket, case)).map(Self::Datagrams)
            }
            _ => bail!("a link between hosts is of `tcp` or `udp`"),
        }
        .with_context(|| format!("listening at {}", at.ip()))
    }

    /// The port that the kernel chose.
    pub fn port(&self) -> Result<u16> {
        let address = match self {
            Self::Streams(listener) => listener.local_addr(),
            Self::Datagrams(socket) => socket.local_addr(),
        };
        Ok(address?.port())
    }

    /// The callee's half of each link, in the order of their tokens. Counts and closes what shows none,
    /// and gives up where the near end hangs up.
    pub fn accept(self, tokens: &[String], case: &Case, door: &mut Door) -> Result<Vec<Half>> {
        match self {
            Self::Streams(listener) => streams(&listener, tokens, door)?
                .into_iter()
                .map(|stream| Ok(tcp::half_of(stream, case, Role::Callee)?))
                .collect(),
            Self::Datagrams(socket) => {
                let token = tokens.first().context("a link has a token")?;
                Ok(vec![Half::of_fds([answered(socket, token, door)?.into()])])
            }
        }
    }
}

/// One connection for each token, in their order. Who shows none keeps the others out for a moment.
fn streams(listener: &TcpListener, tokens: &[String], door: &mut Door) -> Result<Vec<TcpStream>> {
    listener.set_nonblocking(true)?;
    let until = Instant::now() + PATIENCE;
    let mut came: Vec<Option<TcpStream>> = tokens.iter().map(|_| None).collect();
    while came.iter().any(Option::is_none) {
        if !look(listener, &door.hung_up, until)? {
            continue;
        }
        // Whoever connected may be gone again.
        let Ok((mut stream, _)) = listener.accept() else { continue };
        stream.set_read_timeout(Some(SHOWN_WITHIN))?;
        let mut shown = vec![0; tokens[0].len()];
        let is_shown = stream.read_exact(&mut shown).is_ok();
        match tokens.iter().position(|token| is_shown && token.as_bytes() == shown) {
            Some(at) if came[at].is_none() => {
                stream.set_read_timeout(None)?;
                came[at] = Some(stream);
            }
            _ => door.strangers += 1,
        }
    }
    Ok(came.into_iter().flatten().collect())
}

/// Waits a moment for something to come to a socket.
fn look(socket: &impl AsRawFd, hung_up: &OwnedFd, until: Instant) -> Result<bool> {
    let fds = [socket.as_raw_fd(), hung_up.as_raw_fd()];
    let ready = interrupt::poll_readable(&fds, Instant::now() + LOOK)?;
    let is_over = ready[1] || Instant::now() >= until || interrupt::came();
    ensure!(!is_over, "the links of the trial did not come in time");
    Ok(ready[0])
}

/// The far end's socket, connected to the one that shows the token, which is sent back.
fn answered(socket: UdpSocket, token: &str, door: &mut Door) -> Result<UdpSocket> {
    let until = Instant::now() + PATIENCE;
    let mut got = [0; 128];
    loop {
        if !look(&socket, &door.hung_up, until)? {
            continue;
        }
        // The kernel may drop a datagram whose checksum is wrong after poll(2) has seen it.
        socket.set_read_timeout(Some(PATIENCE))?;
        let Ok((n, sender)) = socket.recv_from(&mut got) else { continue };
        if &got[..n] == token.as_bytes() {
            socket.connect(sender)?;
            socket.send(token.as_bytes())?;
            drain(&socket)?;
            return Ok(socket);
        }
        door.strangers += 1;
    }
}

/// The caller's half of a link: connects and shows the token.
pub fn dial(row: &Row, case: &Case, address: SocketAddr, token: &str) -> Result<Half> {
    if row.facts().loses {
        return asked(address, case, token).map(|socket| Half::of_fds([socket.into()]));
    }
    let prepare = |socket: &OwnedFd| prepare(socket, case).map(drop);
    let mut stream: TcpStream = interrupt::connect(&address, Instant::now() + PATIENCE, prepare)?;
    stream.write_all(token.as_bytes())?;
    Ok(tcp::half_of(stream, case, Role::Caller)?)
}

/// A datagram socket that the far end has seen the token from.
fn asked(address: SocketAddr, case: &Case, token: &str) -> Result<UdpSocket> {
    let socket = prepare(UdpSocket::bind((unspecified(address.ip()), 0))?, case)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(TOKEN_EACH))?;
    let mut got = [0; 128];
    for _ in 0..TOKENS {
        // Refused as long as the far end's firewall has its way.
        let sent = socket.send(token.as_bytes());
        match interrupt::until_readable(&socket, Instant::now() + TOKEN_EACH) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::TimedOut => continue,
            Err(error) => return Err(error.into()),
        }
        if socket.recv(&mut got).is_ok_and(|n| &got[..n] == token.as_bytes()) {
            drain(&socket)?;
            return Ok(socket);
        }
        sent?;
    }
    bail!("no datagram came back")
}

/// Takes what came besides, so that the first message is one of the mechanism's.
fn drain(socket: &UdpSocket) -> Result<()> {
    socket.set_read_timeout(Some(STRAY))?;
    while socket.recv(&mut [0; 128]).is_ok() {}
    Ok(socket.set_read_timeout(None)?)
}

/// Any address of the same family.
pub fn unspecified(of: IpAddr) -> IpAddr {
    match of {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    const TOKENS: [&str; 2] =
        ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"];

    /// One at which nobody hangs up, and its other end.
    fn door() -> (Door, UnixStream) {
        let (never, open) = UnixStream::pair().unwrap();
        (Door { hung_up: never.into(), strangers: 0 }, open)
    }

    fn tokens() -> Vec<String> {
        TOKENS.map(str::to_owned).into()
    }

    #[test]
    fn links_come_in_any_order_past_strangers_who_are_silent_wrong_or_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let far = std::thread::spawn(move || {
            let (mut door, _open) = door();
            (streams(&listener, &tokens(), &mut door).unwrap(), door.strangers)
        });
        let say = |bytes: &[u8]| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(bytes).unwrap();
            stream
        };
        let (_silent, _half) = (say(b""), say(&TOKENS[0].as_bytes()[..20]));
        let mut wrong = say(&[b'x'; 40]);
        assert!(matches!(wrong.read(&mut [0]), Ok(0) | Err(_)), "it is closed");
        drop(say(b"GET"));
        let second = say(TOKENS[1].as_bytes());
        let mut first = say(&TOKENS[0].as_bytes()[..5]);
        first.write_all(&TOKENS[0].as_bytes()[5..]).unwrap();
        let (came, strangers) = far.join().unwrap();
        let from: Vec<_> = came.iter().map(|stream| stream.peer_addr().unwrap()).collect();
        assert_eq!(from, [first.local_addr().unwrap(), second.local_addr().unwrap()]);
        assert_eq!(strangers, 4);
    }

    #[test]
    fn a_datagram_without_the_token_is_no_link() {
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = far.local_addr().unwrap();
        let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        stranger.send_to(b"x", address).unwrap();
        let far = std::thread::spawn(move || {
            let (mut door, _open) = door();
            (answered(far, TOKENS[0], &mut door).unwrap(), door.strangers)
        });
        let udp = Case::new(hopcost_model::case::Workload::Roundtrip, "udp");
        let near = asked(address, &udp, TOKENS[0]).unwrap();
        let (far, strangers) = far.join().unwrap();
        assert_eq!((far.peer_addr().unwrap(), strangers), (near.local_addr().unwrap(), 1));
    }
}
