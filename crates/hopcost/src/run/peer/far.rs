//! The far end: `hopcost worker` that the first command makes the far host of a run. It keeps nothing but
//! how many strangers came to its links.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hopcost_machine::Root;
use hopcost_model::{
    Attach, Attached, Case, ClockReading, Command, FailureCause, FarHost, LinkHalf, Reading, Reply,
    Role, Yardstick, YardstickClass,
};
use hopcost_probe::worker::lines;
use hopcost_probe::{nic, sys};

use super::link::{self, Door, Listening};
use super::{first_cpu, net};
use crate::about;
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::{Program, ReplyError, Worker};
use crate::run::{clocks, scratch, yardstick};

/// What tells how fast this host is: see [`Far::level`].
const LEVEL_CASE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
const NO_TRIAL: &str = "there is no trial whose ends have attached";
/// How long a trial's worker may take to leave.
const LEAVING: Duration = Duration::from_millis(100);
/// An address of nobody (RFC 5737): the route to it is that to everybody.
const OUTWARDS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// Answers until the input ends or something fails.
pub fn serve(first: Command) -> u8 {
    scratch::sweep();
    let far = Far::open().map_err(|error| sys::failure(format!("{error:#}")));
    let mut far = far.unwrap_or_else(|error| lines::give_up(&error));
    let mut command = Ok(first);
    loop {
        let reply = command.and_then(|command| far.obey(command));
        let reply = reply.unwrap_or_else(|error| failed(format!("{error:#}")));
        let is_last = matches!(reply, Reply::Failed { .. });
        if lines::reply(&reply).is_err() || is_last {
            return 1;
        }
        command = match lines::next() {
            Ok(Some(command)) => Ok(command),
            Ok(None) => return 0,
            Err(error) => Err(error.into()),
        };
    }
}

fn failed(reason: String) -> Reply {
    Reply::Failed { reason, cause: None }
}

/// The far host of a run.
struct Far {
    setup: Setup,
    door: Door,
    /// Where the near end reaches it, and where it listens.
    address: IpAddr,
    listens_at: SocketAddr,
    /// A trial whose links are to come.
    offered: Option<(Listening, Case, Box<Attach>)>,
    /// The worker of a trial, and when that is to be over.
    trial: Option<(Worker, Instant)>,
}

impl Far {
    fn open() -> Result<Self> {
        let runtimes = Runtimes::new(Vec::new());
        Ok(Self {
            setup: Setup::new(scratch::FAR, Program::own()?, runtimes)?,
            door: Door { hung_up: io::stdin().as_fd().try_clone_to_owned()?, strangers: 0 },
            address: Ipv4Addr::LOCALHOST.into(),
            listens_at: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0),
            offered: None,
            trial: None,
        })
    }

    fn obey(&mut self, command: Command) -> Result<Reply> {
        match command {
            Command::Host { cpu, address, network } => {
                let address = address.map(|text| text.parse()).transpose();
                let address = address.context("it is not an address")?;
                self.host(cpu, address, network).map(|far| Reply::Host(Box::new(far)))
            }
            Command::Attach(attach) => self.offer(attach),
            Command::Meet => self.meet(),
            Command::Run(_) => self.ask(&command),
            Command::Stop => {
                if let Some((mut worker, _)) = self.trial.take() {
                    worker.send(&Command::Stop);
                    worker.leave(LEAVING);
                }
                self.setup.runtimes.orphans.end(&[]);
                Ok(Reply::Stopped)
            }
            _ => bail!("a trial between hosts has no such command"),
        }
    }

    /// Says what this host is, after a look at it.
    fn host(
        &mut self,
        cpu: Option<u32>,
        address: Option<IpAddr>,
        near: Option<String>,
    ) -> Result<FarHost> {
        let cpus = sys::allowed_cpus()?;
        let cpu = cpu.map_or_else(first_cpu, Ok)?;
        let all: Vec<String> = cpus.iter().map(u32::to_string).collect();
        ensure!(cpus.contains(&cpu), "it may not use CPU {cpu}, only {}", all.join(", "));
        self.address = address.map_or_else(|| reached_at(near), Ok)?;
        self.listens_at = listens_at(self.address)?;
        let clocks = clocks::of_cpus(&[cpu].into(), &self.setup)?;
        let clock = clocks.first().context("its clock is not known")?;
        let mut host = hopcost_machine::fingerprint(&Root::default(), &[cpu]);
        host.readings.extend(net::readings(self.address));
        host.readings.extend(self.level(cpu, clock));
        if self.door.strangers > 0 {
            let strangers = self.door.strangers.to_string();
            host.readings.push(Reading::known("load", "load.strangers", strangers));
        }
        Ok(FarHost {
            commit: env!("HOPCOST_COMMIT").to_owned(),
            checksum: about::build().checksum,
            cpus,
            cpu,
            clock: clock.clone(),
            address: self.address.to_string(),
            host,
        })
    }

    /// How fast a process is woken here, as the switch yardstick tells it: for the near end to see whether
    /// this host changed.
    fn level(&self, cpu: u32, clock: &ClockReading) -> Option<Reading> {
        let yardstick = Yardstick {
            class: YardstickClass::Switch,
            case: LEVEL_CASE.to_owned(),
            cpus: vec![cpu],
            operations: 0,
            reference: None,
            gone: None,
        };
        let clocks = [clock.clone()];
        let level_ns = yardstick::speed_ns(yardstick, &self.setup, &clocks)?;
        Some(Reading::known("load", "load.switch", format!("{:.2} µs", level_ns / 1e3)))
    }

    /// Listens for the links of a trial.
    fn offer(&mut self, attach: Box<Attach>) -> Result<Reply> {
        let seats = &attach.seats;
        let offers = seats.iter().filter_map(|seat| seat.link.as_ref()?.offer.as_ref());
        let first = offers.clone().next().context(NO_TRIAL)?;
        let are_callees = seats.iter().all(|seat| seat.role == Role::Callee);
        let plays = are_callees && offers.count() == seats.len();
        ensure!(plays, "the far end plays the callee of each flow");
        let case: Case = attach.case.parse().context("case")?;
        let listening = Listening::open(&first.carrier, self.listens_at, &case)?;
        let offers = SocketAddr::new(self.address, listening.port()?).to_string();
        let attached =
            |role| Attached { role, offers: Some(offers.clone()), ..Attached::default() };
        let seats = seats.iter().map(|seat| attached(seat.role)).collect();
        self.offered = Some((listening, case, attach));
        Ok(Reply::Attached { pid: std::process::id(), seats })
    }

    /// Takes the links and has a fresh worker attach to them.
    fn meet(&mut self) -> Result<Reply> {
        let (listening, case, mut attach) = self.offered.take().context(NO_TRIAL)?;
        let until = Instant::now() + Duration::from_millis(attach.deadline_ms);
        let links = attach.seats.iter().filter_map(|seat| seat.link.as_ref());
        let offers = links.filter_map(|link| link.offer.as_ref());
        let tokens: Vec<String> = offers.map(|offer| offer.token.clone()).collect();
        let halves = listening.accept(&tokens, &case, &mut self.door)?;
        for (seat, half) in attach.seats.iter_mut().zip(&halves) {
            let fds = half.fds.iter().map(AsRawFd::as_raw_fd).collect();
            seat.link = Some(LinkHalf { fds, ..LinkHalf::default() });
        }
        let inherited = halves.into_iter().flat_map(|half| half.fds).collect();
        attach.parent = Some(std::process::id());
        attach.scratch = Some(self.setup.scratch.path.display().to_string());
        self.trial = Some((Worker::spawn(&self.setup.native, inherited, 0)?, until));
        self.ask(&Command::Attach(attach))
    }

    /// The reply of the trial's worker, or why there is none.
    fn ask(&mut self, command: &Command) -> Result<Reply> {
        let (worker, until) = self.trial.as_mut().context(NO_TRIAL)?;
        worker.send(command);
        Ok(match worker.reply_unless(self.door.hung_up.as_raw_fd(), *until) {
            Ok(reply) => reply,
            Err(ReplyError::PartnerClosed(reason)) => {
                Reply::Failed { reason, cause: Some(FailureCause::PartnerGone) }
            }
            Err(ReplyError::Closed) => {
                worker.leave(LEAVING);
                failed(worker.epitaph())
            }
            Err(error) => failed(error.to_string()),
        })
    }
}

/// Where the near end reaches this host: by loopback where it shares this network namespace, else where
/// ssh came in, else where the default route goes out, else at the first address that there is.
fn reached_at(near: Option<String>) -> Result<IpAddr> {
    if near.is_some() && near == net::namespace() {
        return Ok(hopcost_probe::transport::tcp::loopback());
    }
    let all = nic::addresses()?;
    let is_usable = |address: &IpAddr| {
        !address.is_loopback()
            && !is_link_local(*address)
            && all.iter().any(|(_, own)| own == address)
    };
    // CLIENT PORT SERVER PORT (ssh(1)).
    let by_ssh = std::env::var("SSH_CONNECTION").unwrap_or_default();
    let by_ssh = by_ssh.split(' ').nth(2).and_then(|address| address.parse().ok());
    let outwards = net::local_address_to(SocketAddr::new(OUTWARDS, 9)).ok();
    let likely = [by_ssh, outwards].into_iter().flatten();
    let all = likely.chain(all.iter().map(|(_, address)| *address));
    let found = all.into_iter().find(is_usable);
    found.context("it has no address but that of loopback; --peer-address may name one")
}

/// Where it listens to be reached at an address: there, or at any where another host translates. A
/// link-local address is of the interface that has it, and datagrams leave from it only where the
/// socket is bound to it there.
fn listens_at(address: IpAddr) -> Result<SocketAddr> {
    let all = nic::addresses()?;
    let Some((interface, _)) = all.iter().find(|(_, own)| *own == address) else {
        return Ok(SocketAddr::new(link::unspecified(address), 0));
    };
    Ok(match address {
        IpAddr::V6(v6) if is_link_local(address) => {
            let index = Root::default().number(&format!("/sys/class/net/{interface}/ifindex"));
            SocketAddrV6::new(v6, 0, 0, index.unwrap_or(0)).into()
        }
        address => SocketAddr::new(address, 0),
    })
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}
