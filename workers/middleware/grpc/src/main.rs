//! gRPC by tonic: unary calls, or messages of one bidirectional stream.
//! `exchange.rs` is made of `exchange.proto` by tonic-prost-build, so that no build needs protoc.

#[rustfmt::skip]
mod exchange;

use std::pin::Pin;

use exchange::Message;
use exchange::exchange_client::ExchangeClient;
use exchange::exchange_server::{Exchange, ExchangeServer};
use hopcost_middleware::asynchronous::{Answers, Call, Calls, Handler, runtime};
use hopcost_middleware::{Ask, End, Failure, Library, Result, Script};
use serde_json::{Value, json};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};

/// Largest message; the one around it is a little larger.
const SIZE_MAX: usize = 16 << 20;

/// Half of it is what h2 allows in what surrounds the messages that wait: more than their stream's window holds.
const CONNECTION_WINDOW: u32 = 128 << 20;

fn main() {
    hopcost_middleware::main::<Grpc>()
}

struct Grpc;

impl Library for Grpc {
    fn describe() -> serde_json::Value {
        let call = json!({ "name": "call", "values": ["unary", "stream"], "default": "unary",
                           "about": "a call per exchange, or messages of one bidirectional stream" });
        let mechanism = |name: &str,
                         workload: &str,
                         about: &str,
                         limits: &str,
                         call: Option<Value>| {
            let transport = json!({ "name": "transport", "values": ["unix", "tcp"], "default": "unix",
                                    "about": "over a Unix socket or TCP" });
            let parameters: Vec<_> = call.into_iter().chain([transport]).collect();
            json!({
                "name": name, "family": "library",
                "about": format!("gRPC with one field of bytes over one HTTP/2 connection, by tonic on tokio{about}"),
                "wakes": "the kernel wakes an end's epoll_wait(2); one thread per end",
                "copies": "into and out of the kernel, and into and out of the encoded message",
                "limits": format!("4 MiB a message by default; 16 MiB here{limits}"),
                "workloads": [workload], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": SIZE_MAX, "default": 64 },
                "parameters": parameters,
            })
        };
        json!({
            "runtime": "rust+grpc", "version": env!("CARGO_PKG_VERSION"), "libraries": { "tonic": "0.14.9" },
            "mechanisms": [
                mechanism("grpc", "roundtrip", "", "", Some(call)),
                mechanism(
                    "grpc-stream", "load", "; messages of one stream, which nobody answers",
                    "; a window of 128 MiB, since small messages that wait end a connection with less", None,
                ),
            ],
        })
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let runtime = runtime()?;
        let is_tcp = ask.value("transport") == "tcp";
        let path = ask.path("grpc");
        if ask.is_caller {
            let client = runtime.block_on(async {
                let address = match is_tcp {
                    true => format!("http://127.0.0.1:{}", ask.port),
                    false => format!("unix://{}", path.display()),
                };
                let channel = Endpoint::from_shared(address)?.tcp_nodelay(true).connect().await?;
                let client = ExchangeClient::new(channel);
                Ok::<_, Failure>(client.max_decoding_message_size(2 * SIZE_MAX))
            })?;
            if ask.value("call") == "unary" {
                return Ok(Box::new(Calls { runtime, call: Unary(client) }));
            }
            let call = runtime.block_on(Messages::opened(client))?;
            return Ok(Box::new(Calls { runtime, call }));
        }
        let handler = Handler::default();
        let service =
            ExchangeServer::new(Service(handler.clone())).max_decoding_message_size(2 * SIZE_MAX);
        runtime.block_on(async {
            // By default h2 ends a connection in which some thousand small messages wait for their receiver.
            let window = (ask.mechanism == "grpc-stream").then_some(CONNECTION_WINDOW);
            let mut server = Server::builder().initial_connection_window_size(window);
            let server = server.add_service(service);
            if is_tcp {
                let incoming = TcpIncoming::from(TcpListener::bind(("127.0.0.1", ask.port)).await?);
                tokio::spawn(server.serve_with_incoming(incoming.with_nodelay(Some(true))));
            } else {
                let incoming = UnixListenerStream::new(UnixListener::bind(path)?);
                tokio::spawn(server.serve_with_incoming(incoming));
            }
            Ok::<_, Failure>(())
        })?;
        Ok(Box::new(Answers { runtime, handler }))
    }
}

type Answer<T> = std::result::Result<T, Status>;

struct Service(Handler);

/// The answer to a message; none in a load.
async fn answered(handler: &Handler, message: &Message) -> Answer<Option<Message>> {
    let body =
        handler.answer(&message.body).await.map_err(|why| Status::internal(why.to_string()))?;
    Ok(body.map(|body| Message { body: body.into() }))
}

#[tonic::async_trait]
impl Exchange for Service {
    async fn unary(&self, request: Request<Message>) -> Answer<Response<Message>> {
        let answer = answered(&self.0, request.get_ref()).await?;
        answer.map(Response::new).ok_or_else(|| Status::internal("a call has its answer"))
    }

    type StreamStream = Pin<Box<dyn Stream<Item = Answer<Message>> + Send>>;

    async fn stream(
        &self,
        request: Request<Streaming<Message>>,
    ) -> Answer<Response<Self::StreamStream>> {
        let handler = self.0.clone();
        let answers = request.into_inner().then(move |message| {
            let handler = handler.clone();
            async move { answered(&handler, &message?).await }
        });
        Ok(Response::new(Box::pin(answers.filter_map(Answer::transpose))))
    }
}

struct Unary(ExchangeClient<Channel>);

impl Call for Unary {
    async fn call(&mut self, script: &mut Script) -> Result<()> {
        let answer = self.0.unary(Message { body: script.outgoing().to_vec() }).await?;
        script.incoming(&answer.get_ref().body)
    }
}

struct Messages {
    to: mpsc::Sender<Message>,
    from: Streaming<Message>,
}

impl Messages {
    async fn opened(mut client: ExchangeClient<Channel>) -> Result<Self> {
        let (to, messages) = mpsc::channel(1);
        let from = client.stream(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Self { to, from })
    }
}

impl Call for Messages {
    async fn call(&mut self, script: &mut Script) -> Result<()> {
        self.to.send(Message { body: script.outgoing().to_vec() }).await?;
        let answer = self.from.message().await?.ok_or("the stream has ended")?;
        script.incoming(&answer.body)
    }

    async fn send(&mut self, script: &mut Script) -> Result<()> {
        if self.to.send(Message { body: script.outgoing().to_vec() }).await.is_err() {
            self.from.message().await?;
            return Err("the stream has ended".into());
        }
        Ok(())
    }
}
