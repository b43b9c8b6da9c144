//! iceoryx2: messages in shared memory, with events where an end blocks.

use hopcost_middleware::{Ask, End, Failure, Library, Link, Messages, PATIENCE, Result, Script};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

type Service = ipc::Service;

fn main() {
    hopcost_middleware::main::<Iceoryx2>()
}

struct Iceoryx2;

impl Library for Iceoryx2 {
    fn describe() -> serde_json::Value {
        let mechanism = |name: &str, limits: &str, payload: Value, queue: Option<Value>| {
            let loses = queue.is_some();
            json!({
                "name": name, "family": "library", "loses": loses,
                "about": "publish and subscribe in shared memory, and an event for each message where an end blocks",
                "wakes": "wait=block: a datagram through a Unix socket per message; wait=spin: nobody",
                "copies": "into shared memory; the receiver reads it there",
                "limits": format!("a queue per subscriber{limits}, and the size that the publisher asks for"),
                "workloads": &["roundtrip", "load", "stream"][..if loses { 2 } else { 3 }],
                "boundaries": ["process"], "waits": ["block", "spin"], "payload": payload,
                "parameters": queue.into_iter().collect::<Vec<_>>(),
            })
        };
        json!({
            "runtime": "rust+iceoryx2", "version": env!("CARGO_PKG_VERSION"), "libraries": { "iceoryx2": "0.10.0" },
            "mechanisms": [
                mechanism(
                    "iceoryx2", " of 2 messages, which holds up its sender when full",
                    json!({ "min": 1, "max": 16 << 20, "default": 64 }), None,
                ),
                mechanism(
                    "iceoryx2-dropping", ", of which the oldest message is dropped when full (safe overflow)",
                    json!({ "min": 8, "max": 16 << 10, "default": 64 }),
                    Some(json!({ "name": "queue", "values": ["256", "2"], "default": "256",
                                 "about": "messages that a subscriber keeps; the library's default is 2" })),
                ),
            ],
        })
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        set_log_level(LogLevel::Error);
        let mut config = Config::default();
        config.global.prefix =
            FileName::new(format!("{}i_", ask.prefix).as_bytes()).map_err(told)?;
        config
            .global
            .set_root_path(&Path::new(ask.scratch.as_os_str().as_encoded_bytes()).map_err(told)?);
        let node = NodeBuilder::new().config(&config).create::<Service>()?;
        let (own, other) = if ask.is_caller { ("caller", "callee") } else { ("callee", "caller") };
        let messages = |name: &str| -> Result<_> {
            let service =
                node.service_builder(&ServiceName::new(name)?).publish_subscribe::<[u8]>();
            // By default the oldest message of a full queue is dropped. Here it holds up its sender otherwise.
            let queue: Option<usize> = ask.value("queue").parse().ok();
            let service = service.enable_safe_overflow(queue.is_some());
            // Acknowledgements have to find room while their receiver still sends.
            let acknowledgements = if name == "caller" { ask.window() as usize } else { 0 };
            let room = queue.unwrap_or(2).max(acknowledgements);
            Ok(service.subscriber_max_buffer_size(room).open_or_create()?)
        };
        let events = |name: &str| -> Result<_> {
            Ok(node.service_builder(&ServiceName::new(name)?).event().open_or_create()?)
        };
        let acknowledges = ask.workload == "stream" && !ask.is_caller;
        let size = if acknowledges { size_of::<u64>() } else { ask.size };
        let publisher =
            messages(other)?.publisher_builder().initial_max_slice_len(size).create()?;
        let subscriber = messages(own)?.subscriber_builder().create()?;
        let (notifier, listener) = match ask.wait.as_str() {
            "spin" => (None, None),
            _ => (
                Some(events(other)?.notifier_builder().create()?),
                Some(events(own)?.listener_builder().create()?),
            ),
        };
        Ok(Box::new(Messages(Shared { publisher, subscriber, notifier, listener, _node: node })))
    }
}

fn told(error: impl std::fmt::Debug) -> Failure {
    format!("{error:?}").into()
}

struct Shared {
    publisher: Publisher<Service, [u8], ()>,
    subscriber: Subscriber<Service, [u8], ()>,
    notifier: Option<Notifier<Service>>,
    listener: Option<Listener<Service>>,
    _node: Node<Service>,
}

impl Link for Shared {
    /// A message that is sent before there is a subscriber is lost, silently.
    fn meet(&mut self) -> Result<()> {
        let begun = Instant::now();
        loop {
            self.publisher.update_connections().map_err(told)?;
            let sample = self.publisher.loan_slice_uninit(1)?;
            if sample.write_from_slice(&[0]).send()? == 1 {
                break;
            }
            if begun.elapsed() > PATIENCE {
                return Err("the other end did not subscribe".into());
            }
        }
        while self.subscriber.receive()?.is_none() {
            if begun.elapsed() > PATIENCE {
                return Err("nothing came from the other end".into());
            }
        }
        Ok(())
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        let sample = self.publisher.loan_slice_uninit(message.len())?;
        let subscribers = sample.write_from_slice(message).send()?;
        if subscribers != 1 {
            return Err(format!("a message went to {subscribers} subscribers").into());
        }
        if let Some(notifier) = &self.notifier {
            notifier.notify()?;
        }
        Ok(())
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        loop {
            if let Some(sample) = self.subscriber.receive()? {
                return script.incoming(sample.payload());
            }
            if let Some(listener) = &mut self.listener {
                listener.blocking_wait(|_| {}).map_err(told)?;
            }
        }
    }

    fn is_there(&mut self, wait: Duration) -> Result<bool> {
        let begun = Instant::now();
        while !self.subscriber.has_samples()? && begun.elapsed() < wait {
            if let Some(listener) = &mut self.listener {
                listener.timed_wait(|_| {}, wait).map_err(told)?;
            }
        }
        Ok(self.subscriber.has_samples()?)
    }
}
