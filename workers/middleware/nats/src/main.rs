//! NATS by async-nats: a request to a subject that the callee has subscribed to, through a nats-server, or
//! messages to it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Message, Subscriber};
use futures_util::StreamExt;
use hopcost_middleware::asynchronous::{runtime, until_readable};
use hopcost_middleware::{Ask, End, Failure, Library, Result, Script, version_of};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

const TO_CALLEE: &str = "exchange";
const TO_CALLER: &str = "back";
/// What nats-server takes where nobody configures it otherwise.
const SIZE_MAX: usize = 1 << 20;

fn main() {
    hopcost_middleware::main::<Nats>()
}

struct Nats;

impl Library for Nats {
    fn describe() -> serde_json::Value {
        let server = version_of(server(), &["--version"], "nats-server");
        let mechanism = |name: &str, about: &str, limits: &str, queue: Option<Value>| {
            let loses = queue.is_some();
            let broker = json!({ "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                                 "about": "whose CPU nats-server runs on" });
            let parameters: Vec<_> = [broker].into_iter().chain(queue).collect();
            json!({
                "name": name, "family": "library", "carrier": "tcp", "unavailable": server.as_ref().err(),
                "about": format!("{about} through a nats-server over TCP, by async-nats on tokio"),
                "wakes": "the server wakes the receiver; each message wakes the server",
                "copies": "into and out of the kernel twice, and in the server",
                "limits": format!("1 MiB a message by default; the server has several threads{limits}"),
                "loses": loses, "boundaries": ["process"], "waits": ["block"],
                "workloads": &["roundtrip", "load", "stream"][..if loses { 2 } else { 3 }],
                "payload": { "min": if loses { 8 } else { 1 }, "max": SIZE_MAX, "default": 64 },
                "parameters": parameters,
            })
        };
        json!({
            "runtime": "rust+nats", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "nats-server": server.as_deref().unwrap_or("none"), "async-nats": "0.51.0" },
            "mechanisms": [
                mechanism("nats", "a request and its reply, or a message to a subscriber,", "", None),
                mechanism(
                    "nats-dropping", "a message to a subscriber, which drops what it has no room for,",
                    "; a message for which a subscription has no room is dropped, and neither end learns of it",
                    Some(json!({ "name": "queue", "values": ["65536", "10"], "default": "65536",
                                 "about": "messages that the receiver's subscription keeps" })),
                ),
            ],
        })
    }

    fn broker(ask: &Ask) -> Result<Option<Command>> {
        let mut command = Command::new(server());
        command.args(["-a", "127.0.0.1", "-p", &ask.port.to_string()]);
        Ok(Some(command))
    }

    /// It greets with INFO.
    fn answers(ask: &Ask) -> bool {
        let greeted = TcpStream::connect(("127.0.0.1", ask.port)).and_then(|stream| {
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line)
        });
        greeted.is_ok_and(|bytes| bytes > 0)
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let runtime = runtime()?;
        // Otherwise a message that has no room would be dropped.
        let queue = ask.value("queue").parse().unwrap_or(1 << 30);
        let options = ConnectOptions::new().subscription_capacity(queue);
        let own = if ask.is_caller { TO_CALLER } else { TO_CALLEE };
        let (client, messages) = runtime.block_on(async {
            let client = options.connect(format!("127.0.0.1:{}", ask.port)).await?;
            let messages = client.subscribe(own).await?;
            // The server has answered a PING after it, so it knows the subscription.
            client.flush().await?;
            Ok::<_, Failure>((client, messages))
        })?;
        Ok(Box::new(Subject { runtime, client, messages, early: None }))
    }
}

/// Debian puts daemons where not everybody's PATH leads.
fn server() -> &'static str {
    if Path::new("/usr/sbin/nats-server").exists() {
        "/usr/sbin/nats-server"
    } else {
        "nats-server"
    }
}

struct Subject {
    runtime: Runtime,
    client: Client,
    messages: Subscriber,
    early: Option<Message>,
}

async fn came(early: &mut Option<Message>, messages: &mut Subscriber) -> Result<()> {
    if early.is_none() {
        *early = messages.next().await;
    }
    early.is_some().then_some(()).ok_or_else(|| "the connection to the server is closed".into())
}

impl End for Subject {
    /// A request and its reply.
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        let Self { runtime, client, messages, .. } = self;
        runtime.block_on(async {
            for _ in 0..count {
                if script.is_caller() {
                    let reply = client.request(TO_CALLEE, script.outgoing_bytes()).await?;
                    script.incoming(&reply.payload)?;
                    continue;
                }
                let request =
                    messages.next().await.ok_or("the connection to the server is closed")?;
                script.incoming(&request.payload)?;
                let to = request.reply.ok_or("a request has no subject for its reply")?;
                client.publish(to, script.outgoing_bytes()).await?;
            }
            match script.is_caller() {
                true => Ok(()),
                false => Ok(client.flush().await?),
            }
        })
    }

    fn send(&mut self, script: &mut Script) -> Result<()> {
        let to = if script.is_caller() { TO_CALLEE } else { TO_CALLER };
        self.runtime.block_on(async {
            self.client.publish(to, script.outgoing_bytes()).await?;
            Ok(self.client.flush().await?)
        })
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        let Self { runtime, messages, early, .. } = self;
        runtime.block_on(came(early, messages))?;
        let message = early.take().ok_or("no message is there")?;
        script.incoming(&message.payload)
    }

    fn is_there(&mut self, wait: Duration) -> Result<bool> {
        let Self { runtime, messages, early, .. } = self;
        runtime.block_on(async { timeout(wait, came(early, messages)).await }).unwrap_or(Ok(()))?;
        Ok(early.is_some())
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        until_readable(&self.runtime, commands, std::future::pending())
    }
}
