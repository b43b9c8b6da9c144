//! HTTP/1.1 by hyper: one connection that is kept, a POST for each exchange.

use hopcost_middleware::asynchronous::{Answers, Call, Calls, Handler, runtime};
use hopcost_middleware::{Ask, End, Failure, Library, Result, Script};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

fn main() {
    hopcost_middleware::main::<Http>()
}

struct Http;

impl Library for Http {
    fn describe() -> serde_json::Value {
        json!({
            "runtime": "rust+http", "version": env!("CARGO_PKG_VERSION"), "libraries": { "hyper": "1.12.0" },
            "mechanisms": [{
                "name": "http", "family": "library",
                "about": "HTTP/1.1 requests with a body over one connection that is kept, by hyper on tokio",
                "wakes": "the kernel wakes an end's epoll_wait(2); one thread per end",
                "copies": "into and out of the kernel, and the headers of each request and response",
                "limits": "none on a body; each request is answered, so nothing goes one way",
                "workloads": ["roundtrip"], "boundaries": ["process"], "waits": ["block"],
                "payload": { "min": 1, "max": 16 << 20, "default": 64 },
                "parameters": [{
                    "name": "transport", "values": ["unix", "tcp"], "default": "unix",
                    "about": "over a Unix socket or TCP",
                }],
            }],
        })
    }

    fn open(ask: &Ask) -> Result<Box<dyn End>> {
        let runtime = runtime()?;
        let is_tcp = ask.value("transport") == "tcp";
        let (path, address) = (ask.path("http"), ("127.0.0.1", ask.port));
        if ask.is_caller {
            let call = runtime.block_on(async {
                match is_tcp {
                    true => {
                        let stream = TcpStream::connect(address).await?;
                        stream.set_nodelay(true)?;
                        connected(stream).await
                    }
                    false => connected(UnixStream::connect(path).await?).await,
                }
            })?;
            return Ok(Box::new(Calls { runtime, call }));
        }
        let handler = Handler::default();
        let answering = handler.clone();
        runtime.block_on(async {
            if is_tcp {
                let listener = TcpListener::bind(address).await?;
                tokio::spawn(async move {
                    let (stream, _) = listener.accept().await?;
                    stream.set_nodelay(true)?;
                    serve(stream, answering).await
                });
            } else {
                let listener = UnixListener::bind(path)?;
                tokio::spawn(async move { serve(listener.accept().await?.0, answering).await });
            }
            Ok::<_, Failure>(())
        })?;
        Ok(Box::new(Answers { runtime, handler }))
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    handler: Handler,
) -> Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move {
            let body =
                request.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
            let answer = handler.answer(&body).await.map_err(|why| why.to_string())?;
            Ok::<_, String>(Response::new(Full::new(answer.unwrap_or_default())))
        }
    });
    Ok(hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await?)
}

struct Connection(SendRequest<Full<Bytes>>);

async fn connected(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<Connection> {
    let (requests, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(Connection(requests))
}

impl Call for Connection {
    async fn call(&mut self, script: &mut Script) -> Result<()> {
        let body = Full::new(script.outgoing_bytes());
        let request = Request::post("/").header("host", "hopcost").body(body)?;
        let response = self.0.send_request(request).await?;
        script.incoming(&response.into_body().collect().await?.to_bytes())
    }
}
