//! D-Bus by zbus: method calls between two peers, or through a dbus-daemon.

use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use hopcost_middleware::asynchronous::{Answers, Call, Calls, Handler, runtime};
use hopcost_middleware::{Ask, End, Failure, Library, Result, Script, until, version_of};
use serde_bytes::{ByteBuf, Bytes};
use serde_json::json;
use zbus::connection::Builder;
use zbus::message::Type;
use zbus::{Connection, Guid, MessageStream};

const NAME: &str = "org.hopcost.Callee";
const INTERFACE: &str = "org.hopcost.Exchange";
const CONFIGURATION: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=PATH</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#;

fn main() {
    hopcost_middleware::main::<DBus>()
}

struct DBus;

impl Library for DBus {
    fn describe() -> serde_json::Value {
        let daemon = version_of("dbus-daemon", &["--version"], "dbus-daemon");
        json!({
            "runtime": "rust+dbus", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "dbus-daemon": daemon.as_deref().unwrap_or("none"), "zbus": "6.2.1" },
            "mechanisms": [{
                "name": "dbus", "family": "library", "unavailable": daemon.err(),
                "about": "D-Bus method calls with an array of bytes, or signals one way, by zbus on tokio",
                "wakes": "the kernel wakes the receiver's epoll_wait(2); by way of the daemon where route=bus",
                "copies": "into and out of the kernel, twice and in the daemon where route=bus",
                "limits": "128 MiB a message; 64 MiB an array",
                "workloads": ["roundtrip", "load"], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": 16 << 20, "default": 64 },
                "parameters": [
                    { "name": "route", "values": ["peer", "bus"], "default": "bus",
                      "about": "straight to the peer's socket, or through dbus-daemon" },
                    { "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                      "about": "whose CPU dbus-daemon runs on" },
                ],
            }],
        })
    }

    fn broker(ask: &Ask) -> Result<Option<Command>> {
        if ask.value("route") == "peer" {
            return Ok(None);
        }
        let config = ask.path("bus.conf");
        std::fs::write(
            &config,
            CONFIGURATION.replace("PATH", &ask.path("bus").display().to_string()),
        )?;
        let mut command = Command::new("dbus-daemon");
        command.arg("--config-file").arg(config).args(["--nofork", "--nopidfile", "--nosyslog"]);
        Ok(Some(command))
    }

    fn answers(ask: &Ask) -> bool {
        UnixStream::connect(ask.path("bus")).is_ok()
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let runtime = runtime()?;
        let is_peer = ask.value("route") == "peer";
        let bus = format!("unix:path={}", ask.path("bus").display());
        if ask.is_caller {
            let connection = runtime.block_on(async {
                match is_peer {
                    true => {
                        let stream =
                            until("the callee's socket", || UnixStream::connect(ask.path("peer")))?;
                        Ok::<_, Failure>(Builder::unix_stream(stream).p2p().build().await?)
                    }
                    false => Ok(Builder::address(bus.as_str()).build().await?),
                }
            })?;
            let call = Caller { connection, to: (!is_peer).then_some(NAME) };
            return Ok(Box::new(Calls { runtime, call }));
        }
        let handler = Handler::default();
        let answering = handler.clone();
        runtime.block_on(async {
            if is_peer {
                let listener = tokio::net::UnixListener::from_std(listening(ask)?)?;
                tokio::spawn(async move {
                    let stream = listener.accept().await?.0.into_std()?;
                    let connection =
                        Builder::unix_stream(stream).server(Guid::generate()).p2p().build().await?;
                    serve(connection, answering).await
                });
            } else {
                let connection = Builder::address(bus.as_str()).build().await?;
                connection.request_name(NAME).await?;
                tokio::spawn(serve(connection, answering));
            }
            Ok::<_, Failure>(())
        })?;
        Ok(Box::new(Answers { runtime, handler }))
    }
}

fn listening(ask: &Ask) -> Result<UnixListener> {
    let listener = UnixListener::bind(ask.path("peer"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

async fn serve(connection: Connection, handler: Handler) -> Result<()> {
    let mut messages = MessageStream::from(&connection);
    loop {
        let next = std::future::poll_fn(|context| {
            futures_core::Stream::poll_next(std::pin::Pin::new(&mut messages), context)
        });
        let message = next.await.ok_or("the connection is closed")??;
        let is_its = match message.message_type() {
            Type::MethodCall => true,
            // The daemon sends signals of its own.
            Type::Signal => message.header().interface().is_some_and(|name| *name == INTERFACE),
            _ => false,
        };
        if is_its {
            let body: ByteBuf = message.body().deserialize()?;
            if let Some(answer) = handler.answer(&body).await? {
                connection.reply(&message.header(), &Bytes::new(&answer)).await?;
            }
        }
    }
}

struct Caller {
    connection: Connection,
    to: Option<&'static str>,
}

impl Call for Caller {
    async fn call(&mut self, script: &mut Script) -> Result<()> {
        let body = Bytes::new(script.outgoing());
        let call = self.connection.call_method(self.to, "/", Some(INTERFACE), "Exchange", &body);
        let answer: ByteBuf = call.await?.body().deserialize()?;
        script.incoming(&answer)
    }

    async fn send(&mut self, script: &mut Script) -> Result<()> {
        let body = Bytes::new(script.outgoing());
        Ok(self.connection.emit_signal(self.to, "/", INTERFACE, "Exchange", &body).await?)
    }
}
