//! The options by which a run has a far host.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use hopcost_model::{Boundary, Mechanism, Plan};
use hopcost_probe::mechanism;

use super::exit::{not_comparable, usage};
use super::output;
use crate::about;
use crate::run::peer::near::{Peer, Wanted};

/// The far host.
#[derive(clap::Args, Default)]
pub struct PeerArgs {
    /// Measure between this host and another: a command that starts `hopcost worker` there, such as
    /// 'ssh b hopcost worker'. A shell (sh -c) runs it; it can ask for no password
    #[arg(long, value_name = "COMMAND")]
    pub peer: Option<String>,
    /// Where the other host is reached: IPv4, IPv6, fe80::1%eth0 or a name. Its worker says so else
    #[arg(long, value_name = "ADDRESS", requires = "peer")]
    pub peer_address: Option<String>,
}

impl PeerArgs {
    /// Starts the far worker of a run within its budget, if a far host is named; `cpus` are those of
    /// `--cpus`.
    pub fn start(&self, cpus: &[u32], budget: Option<Duration>) -> anyhow::Result<Option<Peer>> {
        let Some(command) = self.peer.clone() else { return Ok(None) };
        let address = self.peer_address.as_deref().map(address).transpose()?;
        let refused = format!("--peer `{command}`");
        let wanted = Wanted { command, address, cpu: cpus.get(1).copied() };
        let peer =
            Peer::start(wanted, budget).map_err(|error| usage(format!("{refused}: {error:#}")))?;
        let (version, far) = (&peer.description.version, &peer.far);
        if far.checksum != about::build().checksum {
            output::say(&format!(
                "hopcost: the far end is another build of hopcost ({}, commit {}; this is {}, commit {})",
                version.escape_debug(),
                far.commit.escape_debug(),
                env!("CARGO_PKG_VERSION"),
                env!("HOPCOST_COMMIT"),
            ));
        }
        Ok(Some(peer))
    }
}

/// An address without a port, or the first of those that a name has; of a link-local one, the zone stays.
fn address(text: &str) -> anyhow::Result<SocketAddr> {
    let refused = |why: &str| usage(format!("--peer-address: `{text}` {why}"));
    // As a URL spells one of IPv6.
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let found = (inner, 0).to_socket_addrs();
    let mut found = found.map_err(|error| refused(&format!("is no address ({error})")))?;
    let address = found.next().ok_or_else(|| refused("has no address"))?;
    match address {
        SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() == 0 => {
            Err(refused("is of one link only: name the interface of this host too (fe80::1%eth0)"))
        }
        address => Ok(address),
    }
}

/// Leaves out what the far end has not, and refuses mechanisms that are others there.
pub fn settle(plan: &mut Plan, peer: &Peer) -> anyhow::Result<()> {
    for planned in plan.cases.iter_mut().filter(|planned| planned.skip.is_none()) {
        if planned.case.boundary != Boundary::Host {
            continue;
        }
        let name = planned.case.mechanism_name();
        let there = peer.description.mechanisms.iter().find(|known| known.name == name);
        let here = mechanism::find(name);
        let here = here.map(|row| row.facts().revision);
        planned.skip = match there {
            None => Some(format!("the far end has no mechanism {name}")),
            Some(Mechanism { unavailable: Some(why), .. }) => {
                Some(format!("{name} is not available at the far end: {}", why.escape_debug()))
            }
            Some(Mechanism { revision, .. }) if Some(*revision) != here => {
                return Err(not_comparable(format!(
                    "{name} is of revision {} here and {revision} at the far end: use the same hopcost on \
                     both",
                    here.unwrap_or(0)
                )));
            }
            Some(_) => None,
        };
    }
    Ok(())
}
