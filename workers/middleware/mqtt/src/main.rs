//! MQTT 3.1.1 through mosquitto: a topic for each direction.

use std::os::fd::BorrowedFd;
use std::process::Command;
use std::time::Duration;

use hopcost_middleware::asynchronous::{runtime, until_readable};
use hopcost_middleware::{Ask, End, Library, PATIENCE, Result, Script, version_of};
use rumqttc::{
    AsyncClient, Event, EventLoop, MqttOptions, NetworkOptions, Outgoing, Packet, Publish, QoS,
    Transport,
};
use serde_json::json;
use tokio::runtime::Runtime;

/// Largest message; the packet around it is a little larger.
const SIZE_MAX: usize = 16 << 20;

fn main() {
    hopcost_middleware::main::<Mqtt>()
}

struct Mqtt;

impl Library for Mqtt {
    fn describe() -> serde_json::Value {
        let broker = version_of(mosquitto(), &["-h"], "mosquitto");
        json!({
            "runtime": "rust+mqtt", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "mosquitto": broker.as_deref().unwrap_or("none"), "rumqttc": "0.25.1" },
            "mechanisms": [{
                "name": "mqtt", "family": "library", "unavailable": broker.err(),
                "about": "MQTT 3.1.1 messages through mosquitto, by rumqttc on tokio",
                "wakes": "the broker wakes the receiver; each message wakes the broker",
                "copies": "into and out of the kernel twice, and in the broker",
                "limits": "256 MB a message in MQTT; 16 MiB here",
                "workloads": ["roundtrip"], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": SIZE_MAX, "default": 64 },
                "parameters": [
                    { "name": "qos", "values": ["0", "1"], "default": "0",
                      "about": "at most once, or at least once with an acknowledgement" },
                    { "name": "transport", "values": ["unix", "tcp"], "default": "unix",
                      "about": "over a Unix socket or TCP" },
                    { "name": "nodelay", "values": ["on", "off"], "default": "on",
                      "about": "TCP_NODELAY at broker and ends over TCP, which is off by their defaults" },
                    { "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                      "about": "whose CPU mosquitto runs on" },
                ],
            }],
        })
    }

    fn broker(ask: &Ask) -> Result<Option<Command>> {
        let (config, log) =
            (ask.path("mosquitto.conf"), "allow_anonymous true\npersistence false\nlog_type error");
        let listener = match ask.value("transport") {
            "tcp" => format!("listener {} 127.0.0.1", ask.port),
            _ => format!("listener 0 {}", ask.path("mqtt").display()),
        };
        let nodelay = ask.value("nodelay") != "off";
        // As root mosquitto would become a user that may not write to the directory of the trial.
        // SAFETY: geteuid(2) has no arguments.
        let user = if unsafe { libc::geteuid() } == 0 { "user root\n" } else { "" };
        std::fs::write(&config, format!("{listener}\n{log}\n{user}set_tcp_nodelay {nodelay}\n"))?;
        let mut command = Command::new(mosquitto());
        command.arg("-c").arg(config);
        Ok(Some(command))
    }

    fn answers(ask: &Ask) -> bool {
        match ask.value("transport") {
            "tcp" => std::net::TcpStream::connect(("127.0.0.1", ask.port)).is_ok(),
            _ => std::os::unix::net::UnixStream::connect(ask.path("mqtt")).is_ok(),
        }
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let (own, other) = if ask.is_caller { ("caller", "callee") } else { ("callee", "caller") };
        let path = ask.path("mqtt").display().to_string();
        let mut options = match ask.value("transport") {
            "tcp" => MqttOptions::new(own, "127.0.0.1", ask.port),
            _ => MqttOptions::new(own, path, 0),
        };
        if ask.value("transport") != "tcp" {
            options.set_transport(Transport::Unix);
        }
        options.set_keep_alive(Duration::from_secs(600));
        options.set_max_packet_size(SIZE_MAX + 1024, SIZE_MAX + 1024);
        let (client, mut events) = AsyncClient::new(options, 16);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(ask.value("nodelay") != "off");
        events.set_network_options(network);
        let qos = if ask.value("qos") == "1" { QoS::AtLeastOnce } else { QoS::AtMostOnce };
        let runtime = runtime()?;
        // Nothing can be lost once the broker has confirmed the subscription.
        runtime.block_on(async {
            client.subscribe(own, qos).await?;
            let confirmed = async {
                while !matches!(events.poll().await?, Event::Incoming(Packet::SubAck(_))) {}
                Ok::<_, hopcost_middleware::Failure>(())
            };
            tokio::time::timeout(PATIENCE, confirmed).await?
        })?;
        Ok(Box::new(Topics {
            runtime,
            client,
            events,
            other,
            qos,
            is_caller: ask.is_caller,
            early: None,
        }))
    }
}

/// Debian puts daemons where not everybody's PATH leads.
fn mosquitto() -> &'static str {
    if std::path::Path::new("/usr/sbin/mosquitto").exists() {
        "/usr/sbin/mosquitto"
    } else {
        "mosquitto"
    }
}

struct Topics {
    runtime: Runtime,
    client: AsyncClient,
    events: EventLoop,
    other: &'static str,
    qos: QoS,
    is_caller: bool,
    /// A message of the next phase, which the caller may begin first.
    early: Option<Publish>,
}

impl End for Topics {
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        let Self { runtime, client, events, other, qos, is_caller, early } = self;
        runtime.block_on(async {
            for _ in 0..count {
                if *is_caller {
                    client.publish(*other, *qos, false, script.outgoing()).await?;
                }
                let message = match early.take() {
                    Some(message) => message,
                    None => received(events).await?,
                };
                script.incoming(&message.payload)?;
                if !*is_caller {
                    client.publish(*other, *qos, false, script.outgoing()).await?;
                }
            }
            // The event says that the last answer is written.
            while !*is_caller
                && !matches!(events.poll().await?, Event::Outgoing(Outgoing::Publish(_)))
            {
            }
            Ok(())
        })
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        let Self { runtime, events, early, .. } = self;
        until_readable(runtime, commands, async {
            loop {
                *early = Some(received(events).await?);
            }
        })
    }
}

/// Waits for a message; what comes between is of the protocol.
async fn received(events: &mut EventLoop) -> Result<Publish> {
    loop {
        if let Event::Incoming(Packet::Publish(message)) = events.poll().await? {
            return Ok(message);
        }
    }
}
