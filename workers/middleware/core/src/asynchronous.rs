//! Ends of asynchronous libraries: a runtime of one thread, which goes on between commands, since what
//! nobody polls does not write.

use std::future::Future;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::{End, Result, Script};

/// A runtime of this thread alone.
pub fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Waits until the next command is there, while `others` goes on, if it does not end.
pub fn until_readable(
    runtime: &Runtime,
    commands: BorrowedFd<'_>,
    others: impl Future<Output = Result<()>>,
) -> Result<()> {
    runtime.block_on(async {
        // SAFETY: the descriptor is borrowed, so it stays open for longer than this.
        let commands =
            unsafe { AsyncFd::register_with_interest(commands.as_raw_fd(), Interest::READABLE) }?;
        tokio::select! {
            ready = commands.readable() => ready.map(|_| ()).map_err(Into::into),
            done = others => done,
        }
    })
}

/// The caller of a library whose exchange is a call.
pub trait Call {
    /// Sends what `script.outgoing` returns and hands the answer to `script.incoming`.
    fn call(&mut self, script: &mut Script) -> impl Future<Output = Result<()>>;

    /// Sends what `script.outgoing` returns without waiting for anybody, if the library can.
    fn send(&mut self, _: &mut Script) -> impl Future<Output = Result<()>> {
        std::future::ready(Err("this library makes calls alone".into()))
    }
}

/// The end that a [`Call`] makes.
pub struct Calls<C> {
    pub runtime: Runtime,
    pub call: C,
}

impl<C: Call> End for Calls<C> {
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        self.runtime.block_on(async {
            for _ in 0..count {
                self.call.call(script).await?;
            }
            Ok(())
        })
    }

    fn send(&mut self, script: &mut Script) -> Result<()> {
        self.runtime.block_on(async {
            self.call.send(script).await?;
            // What the library's tasks have to do leaves them before this is polled again.
            tokio::task::yield_now().await;
            Ok(())
        })
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        until_readable(&self.runtime, commands, std::future::pending())
    }
}

/// What answers at the callee: a handler calls [`Handler::answer`] for each message.
#[derive(Clone, Default)]
pub struct Handler(Arc<Shared>);

#[derive(Default)]
struct Shared {
    phase: Mutex<Phase>,
    begun: Notify,
    done: Notify,
}

/// The phase that is answered.
#[derive(Default)]
struct Phase {
    script: Script,
    left: u64,
    /// Nobody answers.
    is_one_way: bool,
    failure: Option<String>,
}

impl Handler {
    /// The answer to a message, which is compared first; none to one of a load. The caller may be the first
    /// to begin a phase.
    pub async fn answer(&self, message: &[u8]) -> Result<Option<Bytes>> {
        loop {
            if let Some(answer) = self.answer_in_phase(message) {
                return answer;
            }
            self.0.begun.notified().await;
        }
    }

    fn answer_in_phase(&self, message: &[u8]) -> Option<Result<Option<Bytes>>> {
        let mut phase = self.0.phase.lock().unwrap_or_else(PoisonError::into_inner);
        phase.left = phase.left.checked_sub(1)?;
        let answer = phase.script.incoming(message);
        let answer = answer.map(|()| (!phase.is_one_way).then(|| phase.script.outgoing_bytes()));
        if let Err(why) = &answer {
            phase.failure = Some(why.to_string());
        }
        if phase.left == 0 || answer.is_err() {
            self.0.done.notify_one();
        }
        Some(answer)
    }
}

/// The end of a callee that answers by a [`Handler`] in tasks of the runtime.
pub struct Answers {
    pub runtime: Runtime,
    pub handler: Handler,
}

impl Answers {
    /// Waits until this many messages are handled.
    fn handle(&mut self, left: u64, is_one_way: bool, script: &mut Script) -> Result<()> {
        let shared = &self.handler.0;
        let lock = || shared.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *lock() = Phase { script: std::mem::take(script), left, is_one_way, failure: None };
        shared.begun.notify_one();
        self.runtime.block_on(async {
            shared.done.notified().await;
            // The last answer leaves when its connection is polled next.
            for _ in 0..if is_one_way { 0 } else { 16 } {
                tokio::task::yield_now().await;
            }
        });
        let phase = std::mem::take(&mut *lock());
        *script = phase.script;
        phase.failure.map_or(Ok(()), |why| Err(why.into()))
    }
}

impl End for Answers {
    fn exchange(&mut self, count: u64, script: &mut Script) -> Result<()> {
        self.handle(count, false, script)
    }

    fn receive(&mut self, script: &mut Script) -> Result<()> {
        self.handle(1, true, script)
    }

    fn idle(&mut self, commands: BorrowedFd<'_>) -> Result<()> {
        until_readable(&self.runtime, commands, std::future::pending())
    }
}
