//! NATS by async-nats: a request to a subject that the callee has subscribed to, through a nats-server.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::process::Command;

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use hopcost_middleware::asynchronous::{Call, Calls, runtime, until_readable};
use hopcost_middleware::{Ask, End, Library, Result, Script, version_of};
use serde_json::json;
use tokio::runtime::Runtime;

/// What nats-server takes where nobody configures it otherwise.
const SIZE_MAX: usize = 1 << 20;

fn main() {
    hopcost_middleware::main::<Nats>()
}

struct Nats;

impl Library for Nats {
    fn describe() -> serde_json::Value {
        let server = version_of(server(), &["--version"], "nats-server");
        json!({
            "runtime": "rust+nats", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "nats-server": server.as_deref().unwrap_or("none"), "async-nats": "0.51.0" },
            "mechanisms": [{
                "name": "nats", "family": "library", "carrier": "tcp", "unavailable": server.err(),
                "about": "a request and its reply through a nats-server over TCP, by async-nats on tokio",
                "wakes": "the server wakes the receiver; each message wakes the server",
                "copies": "into and out of the kernel twice, and in the server",
                "limits": "1 MiB a message by default; the server has several threads",
                "workloads": ["roundtrip"], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": SIZE_MAX, "default": 64 },
                "parameters": [{
                    "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                    "about": "whose CPU nats-server runs on",
                }],
            }],
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
        let client = runtime.block_on(async_nats::connect(format!("127.0.0.1:{}", ask.port)))?;
        if ask.is_caller {
            return Ok(Box::new(Calls { runtime, call: Requests(client) }));
        }
        let requests = runtime.block_on(async {
            let requests = client.subscribe("exchange").await?;
            // The server has answered a PING after it, so it knows the subscription.
            client.flush().await?;
            Ok::<_, hopcost_middleware::Failure>(requests)
        })?;
        Ok(Box::new(Replies { runtime, client, requests }))
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

struct Requests(Client);

impl Call for Requests {
    async fn call(&mut self, script: &mut Script) -> Result<()> {
        let reply = self.0.request("exchange", script.outgoing_bytes()).await?;
        script.incoming(&reply.payload)
    }
}

struct Replies {
    runtime: Runtime,
    client: Client,
    requests: Subscriber,
}

impl End for Replies {
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        let Self { runtime, client, requests } = self;
        runtime.block_on(async {
            for _ in 0..count {
                let request =
                    requests.next().await.ok_or("the connection to the server is closed")?;
                script.incoming(&request.payload)?;
                let to = request.reply.ok_or("a request has no subject for its reply")?;
                client.publish(to, script.outgoing_bytes()).await?;
            }
            Ok(client.flush().await?)
        })
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        until_readable(&self.runtime, commands, std::future::pending())
    }
}
