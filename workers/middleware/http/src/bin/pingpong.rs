//! HTTP/1.1 by hyper by hand, without hopcost and its protocol: p50 of the round trip in nanoseconds
//! (benches/workers_against_native.py). Both ends write and compare each message.
//!
//!     pingpong COUNT PAYLOAD

use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, size, path @ ..] = arguments.as_slice() else {
        return Err("usage: pingpong COUNT PAYLOAD".into());
    };
    let (count, messages) = (count.parse()?, messages(size.parse()?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let [path] = path {
        return runtime.block_on(answer(path.as_ref(), &messages));
    }
    let path = std::env::temp_dir().join(format!("pingpong-{}.http", std::process::id()));
    let mut other = Command::new(std::env::current_exe()?);
    let mut other = other.args(&arguments).arg(&path).spawn()?;
    let ticks = runtime.block_on(ask(&path, count, &messages));
    other.kill().and_then(|()| other.wait())?;
    std::fs::remove_file(&path)?;
    let mut ticks = ticks?;
    ticks.sort_unstable();
    println!("{}", ticks[count / 2]);
    Ok(())
}

/// As many different messages as workers/PROTOCOL.md has.
fn messages(size: usize) -> Vec<Bytes> {
    let count = ((16 << 10) / size.next_power_of_two()).clamp(4, 256) as u64;
    let message = |number: u64| {
        let first = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let words = 0..size.div_ceil(8) as u64;
        let bytes = words.flat_map(move |at| first.wrapping_add(at).to_le_bytes()).take(size);
        Bytes::from(bytes.collect::<Vec<u8>>())
    };
    (0..count).map(message).collect()
}

async fn answer(path: &Path, messages: &[Bytes]) -> Result<()> {
    let (stream, _) = UnixListener::bind(path)?.accept().await?;
    let number = &Cell::new(1);
    let service = service_fn(|request: Request<Incoming>| async move {
        let body = request.into_body().collect().await?.to_bytes();
        let at = number.replace(number.get() + 2);
        assert_eq!(body, messages[at % messages.len()]);
        Ok::<_, hyper::Error>(Response::new(Full::new(messages[(at + 1) % messages.len()].clone())))
    });
    let server = hyper::server::conn::http1::Builder::new();
    Ok(server.serve_connection(TokioIo::new(stream), service).await?)
}

async fn ask(path: &Path, count: usize, messages: &[Bytes]) -> Result<Vec<u128>> {
    let stream = loop {
        match UnixStream::connect(path).await {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let (mut requests, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut ticks = Vec::with_capacity(count);
    let mut before = Instant::now();
    for number in (1..).step_by(2).take(count + 2) {
        let body = Full::new(messages[number % messages.len()].clone());
        let request = Request::post("/").header("host", "hopcost").body(body)?;
        let answer = requests.send_request(request).await?.into_body().collect().await?.to_bytes();
        assert_eq!(answer, messages[(number + 1) % messages.len()]);
        let now = Instant::now();
        // Two lead in.
        if number > 3 {
            ticks.push((now - before).as_nanos());
        }
        before = now;
    }
    Ok(ticks)
}
