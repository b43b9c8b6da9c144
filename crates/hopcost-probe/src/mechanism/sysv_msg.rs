//! `sysv-msg`: two System V message queues, one per direction.
//!
//! A message is copied into memory that the kernel allocates for it and out of
//! it. A queue is no descriptor, so it cannot be polled, and it outlives its
//! processes: what removes it is msgctl(2). An end that lets go removes the queue
//! it reads from, and the other one too unless its partner still has a message to
//! fetch there. For the case that nobody gets to (SIGKILL), opening first writes a file
//! `sysv-msg.KEY` into the run's directory, and then creates the queue of that key; they
//! go together: a queue that is left is named by a file that is left. A blocking round
//! trip is send, receive, receive, send.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hopcost_model::WaitKind;

use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::sys::{self, Doing, Look, ensure};
use crate::wait::{FdWait, Wait, WithoutFd};

/// The file in the run's directory that names a queue: `sysv-msg.KEY`.
const MARKER: &str = "sysv-msg";

/// Bytes of a message's type, which comes first in the buffer.
const TYPE: usize = size_of::<libc::c_long>();

const LIMIT: &str = "/proc/sys/kernel/msgmax";
const OF: &str = "System V message queues";

/// Whether there are such queues here, or why not.
pub fn available() -> Result<(), String> {
    crate::clock::available()?;
    sys::limit(LIMIT, OF).map(drop)
}

/// A queue, and the file that names it by its key (hexadecimal) and holds since when there may be
/// one, in seconds since 1970.
struct Queue {
    id: libc::c_int,
    marker: PathBuf,
}

/// Writes the file of a key that no queue has.
fn write_marker(scratch: &Path) -> io::Result<(i32, PathBuf)> {
    // The keys of this hasher are random; that of a queue without one is 0.
    let key = RandomState::new().hash_one(()) as i32 | 1;
    let path = scratch.join(format!("{MARKER}.{key:08x}"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut new = File::options();
    let new = new.write(true).create_new(true).mode(0o600).open(&path);
    new.and_then(|mut file| file.write_all(now.as_secs().to_string().as_bytes()))
        .doing(format_args!("writing {}", path.display()))?;
    Ok((key, path))
}

impl Queue {
    /// The file first: a process that is killed in between leaves no queue without a file.
    fn create(scratch: &Path) -> io::Result<Self> {
        let (key, marker) = write_marker(scratch)?;
        Self::of(key, marker)
    }

    /// Makes the queue, or leaves no file.
    fn of(key: i32, marker: PathBuf) -> io::Result<Self> {
        match sys::sysv_queue_of(key, sys::NEW_QUEUE) {
            Ok(id) => Ok(Self { id, marker }),
            Err(error) => {
                let _ = std::fs::remove_file(&marker);
                Err(sys::context(error, "creating a System V message queue"))
            }
        }
    }

    /// What an end gets of it: its id, since its partner may have removed it already, and its file.
    fn name(&self) -> String {
        format!("{} {}", self.id, self.marker.display())
    }

    /// The one of this name.
    fn named(name: &str) -> Option<Self> {
        let (id, marker) = name.split_once(' ')?;
        Some(Self { id: id.parse().ok()?, marker: marker.into() })
    }

    /// Removes queue and file, and does not mind if the other end was faster.
    fn remove(&self) {
        // SAFETY: integer arguments; no buffer is read or written by IPC_RMID.
        unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        let _ = std::fs::remove_file(&self.marker);
    }

    /// Whether messages lie in it.
    fn holds_messages(&self) -> bool {
        sys::sysv_queue(self.id).is_ok_and(|queue| queue.msg_qnum > 0)
    }
}

pub struct SysvMsg {
    incoming: Queue,
    outgoing: Queue,
    wait: FdWait,
    out: Typed,
    input: Typed,
}

/// A message aligned as all message buffers are, and right before it its type.
struct Typed {
    /// Filled with ones, which is also a valid type: it must be positive.
    buffer: Buffer,
    /// Where the message begins.
    at: usize,
}

impl Typed {
    fn new(payload: usize) -> Self {
        let at = Buffer::align(payload);
        Self { buffer: Buffer::new(at + payload), at }
    }
    fn len(&self) -> usize {
        self.buffer.len() - self.at
    }
    /// What msgsnd(2) and msgrcv(2) are given.
    #[inline(always)]
    fn with_type(&mut self) -> *mut libc::c_void {
        // SAFETY: in bounds, since a message is preceded by a line at least.
        unsafe { self.buffer.as_mut_ptr().add(self.at - TYPE).cast() }
    }
    #[inline(always)]
    fn message(&mut self) -> &mut [u8] {
        // SAFETY: in bounds, as made.
        unsafe { self.buffer.get_unchecked_mut(self.at..) }
    }
}

impl Drop for SysvMsg {
    fn drop(&mut self) {
        self.incoming.remove();
        // Nobody but this end puts messages there, so none can come in between. What is
        // left for the partner is removed by the partner.
        if !self.outgoing.holds_messages() {
            self.outgoing.remove();
        }
    }
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    sys::ensure_within(LIMIT, OF, opening.payload())?;
    ensure!(opening.scratch.to_str().is_some(), "{} is not UTF-8", opening.scratch.display());
    let requests = Queue::create(opening.scratch)?;
    let replies = Queue::create(opening.scratch).inspect_err(|_| requests.remove())?;
    let (requests, replies) = (requests.name(), replies.name());
    let half = |incoming: &String, outgoing: &String| Half {
        names: vec![incoming.clone(), outgoing.clone()],
        ..Half::default()
    };
    Ok(Link { caller: half(&replies, &requests), callee: half(&requests, &replies) })
}

impl End for SysvMsg {
    type Waits = WithoutFd;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.names.as_slice() else {
            return Err(sys::failure("this end needs two queues by name"));
        };
        let queue = |name: &str| {
            let none = || sys::failure(format!("`{name}` is not an id and a file of a queue"));
            Queue::named(name).ok_or_else(none)
        };
        let payload = attaching.payload();
        Ok(Self {
            incoming: queue(incoming)?,
            outgoing: queue(outgoing)?,
            wait: FdWait::without_fd(attaching.wait(), attaching.budget_ticks),
            out: Typed::new(payload),
            input: Typed::new(payload),
        })
    }
}

impl Channel for SysvMsg {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.out.message())
    }

    /// Sleeps where the queue is full, whatever the wait; a strict round trip never
    /// fills it.
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        let (id, len) = (self.outgoing.id, self.out.len());
        let sent = sys::uninterrupted(|| {
            // SAFETY: the buffer holds a type and `len` bytes.
            sys::check(unsafe { libc::msgsnd(id, self.out.with_type(), len, 0) })
        });
        sent.map(drop)
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let (id, len) = (self.incoming.id, self.input.len());
        let input = &mut self.input;
        let no_fd = -1;
        let len = self.wait.receive(W::KIND, &no_fd, |look| {
            // A queue cannot be opened as one that does not sleep.
            let sleeps =
                look == Look::AsOpened && !matches!(W::KIND, WaitKind::Spin | WaitKind::Yield);
            let flags = if sleeps { 0 } else { libc::IPC_NOWAIT };
            // SAFETY: the buffer holds a type and `len` bytes; a longer message is an error.
            let result = unsafe { libc::msgrcv(id, input.with_type(), len, 0, flags) };
            sys::check(result).map(|n| n as usize)
        })?;
        debug_assert!(len <= self.input.len());
        // SAFETY: the kernel has written so many bytes there.
        Ok(unsafe { self.input.message().get_unchecked(..len) })
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Case, Role};

    use super::*;
    use crate::wait::Block;

    fn exists(id: libc::c_int) -> bool {
        sys::sysv_queue(id).is_ok()
    }

    fn ends(scratch: &Path) -> [SysvMsg; 2] {
        let case: Case =
            "roundtrip/sysv-msg?payload=8&boundary=thread&place=free&wait=block".parse().unwrap();
        let link = open(&Opening { case: &case, scratch }).unwrap();
        [(link.caller, Role::Caller), (link.callee, Role::Callee)].map(|(half, role)| {
            let attaching = Attaching::new(&case, role);
            SysvMsg::attach(half, &attaching).unwrap()
        })
    }

    #[test]
    fn the_first_end_to_let_go_removes_the_queues_and_their_files_and_ends_its_partner() {
        let scratch = tempfile::tempdir().unwrap();
        let [caller, mut callee] = ends(scratch.path());
        let ids = [caller.incoming.id, caller.outgoing.id];
        for queue in [&caller.incoming, &caller.outgoing] {
            assert!(exists(queue.id) && queue.marker.starts_with(scratch.path()));
            assert!(queue.marker.exists());
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || callee.recv::<Block>().map(drop));
            drop(caller);
            let error = waiting.join().unwrap().unwrap_err();
            // Removed while it slept, or before it went to sleep.
            assert!(matches!(error.raw_os_error(), Some(libc::EIDRM | libc::EINVAL)), "{error}");
        });
        assert!(ids.into_iter().all(|id| !exists(id)));
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_file_is_there_before_the_queue_and_names_it() {
        let scratch = tempfile::tempdir().unwrap();
        let missing = scratch.path().join("missing");
        assert!(Queue::create(&missing).is_err());
        // What a kill leaves in between.
        let (key, path) = write_marker(scratch.path()).unwrap();
        let noted_s = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        assert!(sys::sysv_queue_of(key, 0).is_err() && !sys::remove_sysv_queue(key, noted_s));
        let queue = Queue::of(key, path.clone()).unwrap();
        // Nobody makes a queue of a key that is taken.
        assert!(Queue::of(key, path.clone()).is_err() && !path.exists());
        assert!(!sys::remove_sysv_queue(key, noted_s - 3600) && exists(queue.id));
        assert!(sys::remove_sysv_queue(key, noted_s) && !exists(queue.id));
    }
}
