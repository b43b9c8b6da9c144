//! MQTT 3.1.1 through mosquitto: a topic for each direction.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::process::Command;
use std::time::Duration;

use hopcost_middleware::asynchronous::{runtime, until_readable};
use hopcost_middleware::{Ask, End, Library, PATIENCE, Result, Script, version_of};
use rumqttc::{
    AsyncClient, Event, EventLoop, MqttOptions, NetworkOptions, Outgoing, Packet, Publish, QoS,
    Transport,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Largest message; the packet around it is a little larger.
const SIZE_MAX: usize = 16 << 20;

fn main() {
    hopcost_middleware::main::<Mqtt>()
}

struct Mqtt;

impl Library for Mqtt {
    fn describe() -> serde_json::Value {
        let server = version_of(mosquitto(), &["-h"], "mosquitto");
        let mechanism = |name: &str, about: &str, limits: &str, loses: bool, own: Vec<Value>| {
            let qos = json!({ "name": "qos", "values": ["0", "1"], "default": "0",
                              "about": "at most once, or at least once with an acknowledgement" });
            let broker = json!({ "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                                 "about": "whose CPU mosquitto runs on" });
            let parameters: Vec<_> = [qos, broker].into_iter().chain(own).collect();
            json!({
                "name": name, "family": "library", "unavailable": server.as_ref().err(), "loses": loses,
                "about": format!("MQTT 3.1.1 messages through mosquitto, by rumqttc on tokio{about}"),
                "wakes": "the broker wakes the receiver; each message wakes the broker",
                "copies": "into and out of the kernel twice, and in the broker",
                "limits": limits,
                "workloads": &["roundtrip", "load", "stream"][..if loses { 2 } else { 3 }], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": if loses { 8 } else { 1 }, "max": SIZE_MAX, "default": 64 },
                "parameters": parameters,
            })
        };
        json!({
            "runtime": "rust+mqtt", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "mosquitto": server.as_deref().unwrap_or("none"), "rumqttc": "0.25.1" },
            "mechanisms": [
                mechanism(
                    "mqtt", "", "256 MB a message in MQTT; 16 MiB here; mosquitto's queue is unlimited", false,
                    vec![
                        json!({ "name": "transport", "values": ["unix", "tcp"], "default": "unix",
                                "about": "over a Unix socket or TCP" }),
                        json!({ "name": "nodelay", "values": ["on", "off"], "default": "on",
                                "about": "TCP_NODELAY at broker and ends over TCP, which is off by their defaults" }),
                    ],
                ),
                mechanism(
                    "mqtt-dropping", ", which drops what it has no room for",
                    "a message for which the queue has no room is dropped at either QoS, and neither end learns of it", true,
                    vec![json!({ "name": "queue", "values": ["1000", "10"], "default": "1000",
                                 "about": "messages for the receiver that mosquitto keeps (max_queued_messages)" })],
                ),
            ],
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
        // Otherwise a message that has no room would be dropped.
        let queue = Some(ask.value("queue")).filter(|queue| !queue.is_empty()).unwrap_or("0");
        std::fs::write(
            &config,
            format!(
                "{listener}\n{log}\n{user}set_tcp_nodelay {nodelay}\nmax_queued_messages {queue}\n"
            ),
        )?;
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
            timeout(PATIENCE, confirmed).await?
        })?;
        let topic = Topic { client, events, other, qos, early: VecDeque::new() };
        Ok(Box::new(Topics { runtime, topic }))
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
    topic: Topic,
}

struct Topic {
    client: AsyncClient,
    events: EventLoop,
    other: &'static str,
    qos: QoS,
    /// Messages that came while something else was waited for.
    early: VecDeque<Publish>,
}

impl Topic {
    async fn publish(&mut self, script: &mut Script) -> Result<()> {
        Ok(self.client.publish(self.other, self.qos, false, script.outgoing()).await?)
    }

    /// Waits for an event, of which many are the protocol's own: whether it says that a message is written.
    async fn poll(&mut self) -> Result<bool> {
        match self.events.poll().await? {
            Event::Incoming(Packet::Publish(message)) => self.early.push_back(message),
            event => return Ok(matches!(event, Event::Outgoing(Outgoing::Publish(_)))),
        }
        Ok(false)
    }

    async fn written(&mut self) -> Result<()> {
        while !self.poll().await? {}
        Ok(())
    }

    async fn came(&mut self) -> Result<()> {
        while self.early.is_empty() {
            self.poll().await?;
        }
        Ok(())
    }

    async fn receive(&mut self, script: &mut Script) -> Result<()> {
        self.came().await?;
        let message = self.early.pop_front().ok_or("no message is there")?;
        script.incoming(&message.payload)
    }
}

impl End for Topics {
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        let Self { runtime, topic } = self;
        runtime.block_on(async {
            for _ in 0..count {
                if script.is_caller() {
                    topic.publish(script).await?;
                }
                topic.receive(script).await?;
                if !script.is_caller() {
                    topic.publish(script).await?;
                }
            }
            match script.is_caller() {
                true => Ok(()),
                false => topic.written().await,
            }
        })
    }

    fn send(&mut self, script: &mut Script) -> Result<()> {
        let Self { runtime, topic } = self;
        runtime.block_on(async {
            topic.publish(script).await?;
            topic.written().await
        })
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        self.runtime.block_on(self.topic.receive(script))
    }

    fn is_there(&mut self, wait: Duration) -> Result<bool> {
        let Self { runtime, topic } = self;
        runtime.block_on(async { timeout(wait, topic.came()).await }).unwrap_or(Ok(()))?;
        Ok(!topic.early.is_empty())
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        let Self { runtime, topic } = self;
        until_readable(runtime, commands, async {
            loop {
                topic.poll().await?;
            }
        })
    }
}
