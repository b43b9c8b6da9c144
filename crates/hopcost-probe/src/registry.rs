//! The registry's row: a mechanism's name, its code, and whether it can be used here. What else is
//! known of it stands under its name in `mechanisms.toml` of `hopcost-model`.

use std::io;
use std::sync::OnceLock;

use hopcost_model::{Argument, Case, Mechanism, Shape, TABLE};
use rustix::process::Resource;

use crate::clock::{self, Hardware};
use crate::endpoint;
use crate::shape::{Attaching, Channel, End, Half, Link, Notifier, Opening};
use crate::stream::{Sink, Source};
use crate::sys::{self, ensure};
use crate::transport::beside::{self, Beside};
use crate::transport::tcp_socket;
use crate::workload::{Endpoint, stream};

/// Makes a link.
pub type Open = fn(&Opening<'_>) -> io::Result<Link>;
/// Attaches an end.
pub type Attach = fn(Half, &Attaching<'_>) -> io::Result<Box<dyn Endpoint>>;

pub struct Row {
    pub name: &'static str,
    open: Open,
    attach: Attach,
    available: fn() -> Result<(), String>,
    available_as: fn(&Case) -> Result<(), String>,
    argument: Option<Argument>,
    facts: OnceLock<Mechanism>,
}

impl Row {
    /// A mechanism whose ends are attached like this.
    pub const fn new(name: &'static str, open: Open, attach: Attach) -> Self {
        Row {
            name,
            open,
            attach,
            available: clock::available,
            available_as: takes,
            argument: None,
            facts: OnceLock::new(),
        }
    }
    /// What has no link: one end, or an engine that plays both.
    pub const fn alone(name: &'static str, attach: Attach) -> Self {
        Row::new(name, |_| Ok(Link::default()), attach)
    }
    /// A notifier whose ends meet like this.
    pub const fn notifier<E: Notifier + End>(name: &'static str, open: Open) -> Self {
        Row::channel::<Beside<E>>(name, open)
    }
    /// A channel whose ends meet like this.
    pub const fn channel<E: Channel + End>(name: &'static str, open: Open) -> Self {
        Row::new(name, open, endpoint::channel::<E, Hardware>)
    }
    /// A stream whose ends meet like this.
    pub const fn stream<Out: Source, In: Sink>(name: &'static str, open: Open) -> Self {
        Row::new(name, open, stream::end::<Out, In>)
    }
    /// The same, but that its ends are attached like this.
    pub const fn attached(mut self, attach: Attach) -> Self {
        self.attach = attach;
        self
    }
    /// The same, where this finds out whether it can be used here.
    pub const fn available(mut self, available: fn() -> Result<(), String>) -> Self {
        self.available = available;
        self
    }
    /// The same, where the parameters of a case decide too.
    pub const fn available_as(mut self, available: fn(&Case) -> Result<(), String>) -> Self {
        self.available_as = available;
        self
    }
    /// A test engine whose name carries an argument of this form.
    pub const fn named(mut self, form: &'static str, fits: fn(Option<&str>) -> bool) -> Self {
        self.argument = Some(Argument { form, fits });
        self
    }

    /// What is known of it.
    pub fn facts(&self) -> &Mechanism {
        self.facts.get_or_init(|| {
            let mut facts = TABLE.get(self.name).cloned().unwrap_or_default();
            facts.here.argument = self.argument;
            facts.here.available = self.available;
            facts.here.available_as = self.available_as;
            facts
        })
    }
    /// Makes a link.
    pub fn open(&self, opening: &Opening<'_>) -> io::Result<Link> {
        allow_files(opening.case)?;
        let mut link = (self.open)(opening)?;
        for _ in 1..opening.case.connections {
            let more = (self.open)(opening)?;
            link.caller.fds.extend(more.caller.fds);
            link.callee.fds.extend(more.callee.fds);
        }
        if self.facts().shape() == Shape::Notifier {
            beside::add_buffers(&mut link, opening)?;
        }
        Ok(link)
    }
    /// Attaches an end, unless its case has what the facts do not have.
    pub fn attach(&self, half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
        let Case { mechanism, .. } = attaching.case;
        if let Some(Argument { form, fits }) = self.argument {
            let fits = fits(attaching.case.argument());
            ensure!(fits, "`{mechanism}` is not a test engine: want {form}");
        }
        for parameter in &self.facts().parameters {
            let (key, said) = (&parameter.name, attaching.parameter(&parameter.name));
            let is_known = said.is_empty() || parameter.values.iter().any(|value| value == said);
            ensure!(is_known, "{mechanism} has no {key}={said}");
        }
        (self.attach)(half, attaching)
    }
    /// Makes a link with a half for each caller of the case, and the callee's.
    pub fn open_for_all(&self, opening: &Opening<'_>) -> io::Result<(Vec<Half>, Half)> {
        if let Some(reason) = self.facts().senders.lack(opening.case) {
            return Err(sys::failure(format!("{} {reason}", self.name)));
        }
        let Link { caller, callee } = self.open(opening)?;
        Ok((caller.shared_by(opening.case.senders)?, callee))
    }
}

/// Whether sockets and this process take what a case asks for, or why not.
fn takes(case: &Case) -> Result<(), String> {
    tcp_socket::takes(case)?;
    allow_files(case).map_err(|error| error.to_string())
}

/// Lets this process have the files that the connections of a case take.
fn allow_files(case: &Case) -> io::Result<()> {
    let connections = u64::from(case.connections);
    if connections == 1 {
        return Ok(());
    }
    // Both ends of each, with an epoll instance, and what every process has.
    let wanted = 4 * connections + 64;
    let needs = format!("connections={connections} take {wanted} open files");
    sys::ensure_limit(Resource::Nofile, (wanted, wanted), &needs, "ulimit -Hn")
}
