//! Who has come to the far end: accepted, asked for a proof, and brought to where they are waited for, by
//! threads beside the one that measures. While a trial runs and nobody comes, all of them sleep.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::key::Key;
use super::wire::{self, Answer, Ask, Lines, Visitor};

/// Connections that may be proving who they are at one time.
const PROVING_MAX: usize = 16;

/// How long a run is waited for before another may have the far end.
const HELD: Duration = Duration::from_secs(10);

/// A run's question, with the connection that it came by.
pub struct Asked {
    /// What is asked.
    pub ask: Ask,
    /// Where the answer goes.
    pub lines: Lines,
}

/// The connections that a trial waits for.
struct Expected {
    token: String,
    came: BTreeMap<u32, TcpStream>,
}

#[derive(Default)]
struct State {
    expected: Option<Expected>,
    /// The run that has the far end, and until when.
    held: Option<(String, Instant)>,
    turned_away: u64,
}

/// What the threads share.
pub struct Lobby {
    key: Key,
    state: Mutex<State>,
    came: Condvar,
    proving: AtomicUsize,
}

impl Lobby {
    /// Accepts from now on; questions of those who know the key arrive at the receiver.
    pub fn open(listener: TcpListener, key: Key) -> std::io::Result<(Arc<Self>, Receiver<Asked>)> {
        let lobby = Arc::new(Self {
            key,
            state: Mutex::default(),
            came: Condvar::new(),
            proving: AtomicUsize::new(0),
        });
        let (asked_in, asked) = mpsc::channel();
        let shared = Arc::clone(&lobby);
        std::thread::Builder::new().name("hopcost-accept".into()).spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => shared.prove(stream, &asked_in),
                    // Too many descriptors, say: trying again at once would only burn the CPU.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
        Ok((lobby, asked))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prove(self: &Arc<Self>, mut stream: TcpStream, asked: &Sender<Asked>) {
        if self.proving.fetch_add(1, Ordering::SeqCst) >= PROVING_MAX {
            self.proving.fetch_sub(1, Ordering::SeqCst);
            self.state().turned_away += 1;
            let _ = std::io::Write::write_all(&mut stream, b"full\n");
            return;
        }
        let (lobby, asked) = (Arc::clone(self), asked.clone());
        let proving = std::thread::Builder::new().name("hopcost-proof".into()).spawn(move || {
            let visitor = wire::receive(stream, &lobby.key);
            match visitor {
                Ok(Visitor::Near(stream)) => lobby.near(stream, &asked),
                Ok(Visitor::Data { stream, token, flow }) => lobby.data(stream, &token, flow),
                Err(_) => lobby.state().turned_away += 1,
            }
            lobby.proving.fetch_sub(1, Ordering::SeqCst);
        });
        if proving.is_err() {
            self.proving.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// One who knows the key: its question goes on, unless the far end measures for another run.
    fn near(&self, stream: TcpStream, asked: &Sender<Asked>) {
        let mut lines = Lines::of(stream);
        let Ok(Some(ask)) = lines.next::<Ask>(Instant::now() + wire::PATIENCE) else { return };
        if let Some(reason) = self.hold(ask.run()) {
            let _ = wire::send(lines.stream(), &Answer::Busy { reason });
            return;
        }
        let _ = asked.send(Asked { ask, lines });
    }

    /// Has a run have the far end; why not, where another has it.
    pub fn hold(&self, run: &str) -> Option<String> {
        let mut state = self.state();
        let now = Instant::now();
        if let Some((held, until)) = &state.held
            && held != run
            && *until > now
        {
            return Some(format!("it measures for the run {held}"));
        }
        state.held = Some((run.to_owned(), now + HELD));
        None
    }

    /// Lets go of a run.
    pub fn release(&self) {
        self.state().held = None;
    }

    /// From now on connections with this token are waited for.
    pub fn expect(&self, token: &str) {
        self.state().expected = Some(Expected { token: token.to_owned(), came: BTreeMap::new() });
    }

    fn data(&self, stream: TcpStream, token: &str, flow: u32) {
        let mut state = self.state();
        match &mut state.expected {
            Some(expected) if expected.token == token && !expected.came.contains_key(&flow) => {
                expected.came.insert(flow, stream);
                self.came.notify_all();
            }
            _ => state.turned_away += 1,
        }
    }

    /// The connections of these flows, in their order, once all have come; those of others are closed.
    pub fn expected(&self, flows: u32, until: Instant) -> Option<Vec<TcpStream>> {
        let mut state = self.state();
        loop {
            let came = state.expected.as_ref().map_or(0, |expected| {
                (0..flows).filter(|flow| expected.came.contains_key(flow)).count()
            });
            let left = until.saturating_duration_since(Instant::now());
            if came == flows as usize || left.is_zero() {
                let mut expected = state.expected.take()?;
                let found: Option<Vec<_>> =
                    (0..flows).map(|flow| expected.came.remove(&flow)).collect();
                return found;
            }
            let waited = self.came.wait_timeout(state, left);
            state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        }
    }

    /// How many connections proved nothing since it was last asked.
    pub fn turned_away(&self) -> u64 {
        std::mem::take(&mut self.state().turned_away)
    }
}
