//! Who has come to the far end: accepted, asked for a proof, and brought to where they are waited for, by
//! threads beside the one that measures. While a trial runs and nobody comes, all of them sleep.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use hopcost_probe::interrupt;

use super::key::Key;
use super::wire::{self, Answer, Ask, Lines, Visitor};

/// Connections that may be proving who they are at one time.
const PROVING_MAX: usize = 256;
/// The stack of the thread that hears each of them out.
const PROVING_STACK: usize = 128 << 10;

/// How long a run is waited for before another may have the far end.
pub const HELD: Duration = Duration::from_secs(10);

/// How often a wait for connections looks for an interrupt.
const INTERRUPTED_EACH: Duration = Duration::from_millis(100);

/// Questions that wait for their answer at most, and bytes of a run's id.
const ASKED_MAX: usize = 16;
const RUN_BYTES_MAX: usize = 80;

/// A run's question, with the connection that it came by.
pub struct Asked {
    pub ask: Ask,
    /// Where the answer goes.
    pub lines: Lines,
}

/// The connections that a trial waits for.
struct Expected {
    token: String,
    flows: u32,
    came: BTreeMap<u32, TcpStream>,
}

#[derive(Default)]
struct State {
    expected: Option<Expected>,
    /// The run that has the far end, and until when.
    held: Option<(String, Instant)>,
    /// The run whose near end has the first connection open, and that connection.
    greeted: Option<(String, Lines)>,
    turned_away: u64,
    /// Those that are proving who they are, the first to come first.
    proving: VecDeque<(u64, TcpStream)>,
    visitors: u64,
}

/// What the threads share.
pub struct Lobby {
    key: Key,
    state: Mutex<State>,
    came: Condvar,
}

impl Lobby {
    /// Accepts from now on; questions of those who know the key arrive at the receiver.
    pub fn open(listener: TcpListener, key: Key) -> std::io::Result<(Arc<Self>, Receiver<Asked>)> {
        let lobby = Arc::new(Self { key, state: Mutex::default(), came: Condvar::new() });
        let (asked_in, asked) = mpsc::sync_channel(ASKED_MAX);
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

    /// Has a visitor prove who it is. Where too many do, the one that has had most time for it goes, so
    /// that strangers who say nothing keep nobody out.
    fn prove(self: &Arc<Self>, stream: TcpStream, asked: &SyncSender<Asked>) {
        let Ok(known) = stream.try_clone() else { return };
        let number = {
            let mut state = self.state();
            if state.proving.len() >= PROVING_MAX
                && let Some((_, slowest)) = state.proving.pop_front()
            {
                let _ = slowest.shutdown(Shutdown::Both);
                state.turned_away += 1;
            }
            state.visitors += 1;
            let number = state.visitors;
            state.proving.push_back((number, known));
            number
        };
        let (lobby, asked) = (Arc::clone(self), asked.clone());
        let thread = std::thread::Builder::new().name("hopcost-proof".into());
        let proving = thread.stack_size(PROVING_STACK).spawn(move || {
            // One who has proved the key is no longer among those who may be turned away.
            let visitor = wire::receive(stream, &lobby.key, || lobby.heard_out(number));
            let is_stranger = lobby.heard_out(number);
            match visitor {
                Ok(Visitor::Near(stream)) => lobby.near(stream, &asked),
                Ok(Visitor::Data { stream, token, flow }) => lobby.data(stream, &token, flow),
                Err(_) if is_stranger => lobby.state().turned_away += 1,
                Err(_) => {}
            }
        });
        if proving.is_err() {
            self.heard_out(number);
        }
    }

    /// From now on a visitor is none of those that prove who they are; whether it was until now.
    fn heard_out(&self, number: u64) -> bool {
        let mut state = self.state();
        let before = state.proving.len();
        state.proving.retain(|(of, _)| *of != number);
        state.proving.len() < before
    }

    /// One who knows the key: its question goes on, unless the far end measures for another run.
    fn near(&self, stream: TcpStream, asked: &SyncSender<Asked>) {
        let mut lines = Lines::of(stream);
        let Ok(Some(ask)) = lines.next::<Ask>(Instant::now() + wire::PATIENCE) else { return };
        let long = (ask.run().len() > RUN_BYTES_MAX).then(|| "its run has no such id".to_owned());
        if let Some(reason) = long.or_else(|| self.hold(ask.run(), HELD)) {
            let _ = wire::send(lines.stream(), &Answer::Busy { reason });
            return;
        }
        if let Err(TrySendError::Full(Asked { mut lines, .. })) =
            asked.try_send(Asked { ask, lines })
        {
            let reason = "it has more questions than it can answer".to_owned();
            let _ = wire::send(lines.stream(), &Answer::Busy { reason });
        }
    }

    /// Has a run have the far end for so long; why not, where another has it that goes on.
    pub fn hold(&self, run: &str, long: Duration) -> Option<String> {
        let mut state = self.state();
        let now = Instant::now();
        let is_over = |held: &str| {
            let greeted = state.greeted.as_ref().filter(|(run, _)| run == held);
            greeted.is_some_and(|(_, lines)| lines.is_over())
        };
        if let Some((held, until)) = &state.held
            && held != run
            && *until > now
            && !is_over(held)
        {
            return Some(format!("it measures for the run {held}"));
        }
        state.held = Some((run.to_owned(), now + long));
        None
    }

    /// Keeps the first connection of a run, whose end is that of the run; the run before, if another
    /// was greeted.
    pub fn greeted(&self, run: &str, lines: Lines) -> Option<String> {
        let mut state = self.state();
        match &state.greeted {
            Some((before, first)) if before == run && !first.is_over() => None,
            _ => {
                let before = state.greeted.replace((run.to_owned(), lines));
                before.map(|(before, _)| before).filter(|before| before != run)
            }
        }
    }

    /// Lets go of the run whose near end has ended, and says which it was.
    pub fn ended(&self) -> Option<String> {
        let mut state = self.state();
        let (run, _) = state.greeted.take_if(|(_, lines)| lines.is_over())?;
        state.held.take_if(|(held, _)| *held == run);
        Some(run)
    }

    /// From now on connections with this token are waited for.
    pub fn expect(&self, token: &str, flows: u32) {
        let came = BTreeMap::new();
        self.state().expected = Some(Expected { token: token.to_owned(), flows, came });
    }

    fn data(&self, stream: TcpStream, token: &str, flow: u32) {
        let mut state = self.state();
        match &mut state.expected {
            Some(expected)
                if expected.token == token
                    && flow < expected.flows
                    && !expected.came.contains_key(&flow) =>
            {
                expected.came.insert(flow, stream);
                self.came.notify_all();
            }
            _ => state.turned_away += 1,
        }
    }

    /// The connections that were waited for, in the order of their flows, once all have come.
    pub fn expected(&self, until: Instant) -> Option<Vec<TcpStream>> {
        let mut state = self.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // Each is of another flow, and of one that there is.
            let is_whole = |of: &Expected| of.came.len() == of.flows as usize;
            let is_late = left.is_zero() || interrupt::came();
            if is_late || state.expected.as_ref().is_none_or(is_whole) {
                let expected = state.expected.take().filter(is_whole)?;
                return Some(expected.came.into_values().collect());
            }
            let waited = self.came.wait_timeout(state, left.min(INTERRUPTED_EACH));
            state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        }
    }

    /// How many connections proved nothing in this run.
    pub fn turned_away(&self) -> u64 {
        self.state().turned_away
    }

    /// Begins to count for another run.
    pub fn count_anew(&self) {
        self.state().turned_away = 0;
    }
}
