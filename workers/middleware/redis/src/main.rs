//! Redis over its Unix socket: each message goes through a redis-server of this trial's own.

use std::path::PathBuf;
use std::process::Command;

use hopcost_middleware::{Ask, End, Library, Link, Messages, Result, Script, version_of};
use redis::{Connection, RedisResult, Value};
use serde_json::json;

fn main() {
    hopcost_middleware::main::<Redis>()
}

struct Redis;

impl Library for Redis {
    fn describe() -> serde_json::Value {
        let server = version_of("redis-server", &["--version"], "redis-server");
        json!({
            "runtime": "rust+redis", "version": env!("CARGO_PKG_VERSION"),
            "libraries": { "redis-server": server.as_deref().unwrap_or("none"), "redis (crate)": "1.8.1" },
            "mechanisms": [{
                "name": "redis", "family": "library", "unavailable": server.err(),
                "about": "messages through a redis-server, one at a time",
                "wakes": "the server wakes the receiver; each message wakes the server once or twice",
                "copies": "into and out of the kernel twice, and in the server",
                "limits": "512 MB a message; the server has one thread for all commands",
                "workloads": ["roundtrip", "load", "stream"], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": 16 << 20, "default": 64 },
                "parameters": [
                    { "name": "command", "values": ["list", "pubsub", "stream"], "default": "list",
                      "about": "RPUSH and BLPOP, PUBLISH to a subscriber, or XADD and XREAD" },
                    { "name": "broker", "values": ["callee", "caller", "free"], "default": "callee",
                      "about": "whose CPU redis-server runs on" },
                ],
            }],
        })
    }

    fn broker(ask: &Ask) -> Result<Option<Command>> {
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--unixsocket"]).arg(socket(ask));
        command.args([
            "--save",
            "",
            "--appendonly",
            "no",
            "--daemonize",
            "no",
            "--loglevel",
            "warning",
        ]);
        command.arg("--dir").arg(&ask.scratch);
        Ok(Some(command))
    }

    fn answers(ask: &Ask) -> bool {
        connected(ask).is_ok_and(|mut link| redis::cmd("PING").exec(&mut link).is_ok())
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let own = if ask.is_caller { "caller" } else { "callee" };
        let other = if ask.is_caller { "callee" } else { "caller" };
        let link = connected(ask)?;
        Ok(match ask.value("command") {
            "pubsub" => {
                let mut subscribed = connected(ask)?;
                redis::cmd("SUBSCRIBE").arg(own).exec(&mut subscribed)?;
                Box::new(Messages(PubSub { link, subscribed, other }))
            }
            "stream" => {
                // What goes one way may wait there for its receiver.
                let kept = if ask.workload == "roundtrip" { 1_000 } else { 1_000_000 };
                Box::new(Messages(Stream { link, own, other, kept, last: "0".to_owned() }))
            }
            _ => Box::new(Messages(List { link, own, other })),
        })
    }
}

fn socket(ask: &Ask) -> PathBuf {
    ask.path("redis")
}

fn connected(ask: &Ask) -> RedisResult<Connection> {
    redis::Client::open(format!("unix://{}", socket(ask).display()))?.get_connection()
}

/// The last part of a reply that may be nested, which is the message.
fn message(reply: &Value) -> Result<&[u8]> {
    match reply {
        Value::BulkString(bytes) => Ok(bytes),
        Value::Array(parts) | Value::Push { data: parts, .. } => {
            message(parts.last().ok_or("redis-server sent an empty reply")?)
        }
        other => Err(format!("redis-server sent {other:?}").into()),
    }
}

/// A list for each direction.
struct List {
    link: Connection,
    own: &'static str,
    other: &'static str,
}

impl Link for List {
    fn send(&mut self, message: &[u8]) -> Result<()> {
        Ok(redis::cmd("RPUSH").arg(self.other).arg(message).exec(&mut self.link)?)
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        let reply: Value = redis::cmd("BLPOP").arg(self.own).arg(0).query(&mut self.link)?;
        script.incoming(message(&reply)?)
    }
}

/// A channel for each direction, and a connection of its own to receive.
struct PubSub {
    link: Connection,
    subscribed: Connection,
    other: &'static str,
}

impl Link for PubSub {
    fn send(&mut self, message: &[u8]) -> Result<()> {
        let receivers: i64 =
            redis::cmd("PUBLISH").arg(self.other).arg(message).query(&mut self.link)?;
        match receivers {
            1 => Ok(()),
            n => Err(format!("a message went to {n} subscribers").into()),
        }
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        script.incoming(message(&self.subscribed.recv_response()?)?)
    }
}

/// A stream for each direction, of which the last entries are kept.
struct Stream {
    link: Connection,
    own: &'static str,
    other: &'static str,
    kept: u64,
    last: String,
}

impl Link for Stream {
    fn send(&mut self, message: &[u8]) -> Result<()> {
        let mut command = redis::cmd("XADD");
        command.arg(self.other).arg(&["MAXLEN", "~"]).arg(self.kept).arg(&["*", "m"]).arg(message);
        Ok(command.exec(&mut self.link)?)
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        let mut command = redis::cmd("XREAD");
        command.arg(&["BLOCK", "0", "COUNT", "1", "STREAMS"]).arg(self.own).arg(&self.last);
        let reply: Value = command.query(&mut self.link)?;
        // [[stream, [[id, [field, message]]]]]
        let entry = [0, 1, 0, 0].iter().try_fold(&reply, |of, at| match of {
            Value::Array(parts) => parts.get(*at),
            _ => None,
        });
        self.last = match entry {
            Some(Value::BulkString(id)) => String::from_utf8(id.clone())?,
            other => return Err(format!("redis-server sent {other:?}").into()),
        };
        script.incoming(message(&reply)?)
    }
}
