//! Memory shared between the two ends.

use std::ffi::c_void;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hopcost_model::Case;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::sys::{self, Doing};

/// Whom memory is for, and the primitives of the C library and the kernel in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Threads of one process.
    Private,
    /// Whatever process maps it.
    Shared,
}

impl Scope {
    /// What the ends of a case need: private memory between threads.
    pub fn of(case: &Case) -> Self {
        if case.two_processes() { Scope::Shared } else { Scope::Private }
    }
    /// As pthread attributes and sem_init(3) have it.
    pub fn pshared(self) -> libc::c_int {
        match self {
            Scope::Private => libc::PTHREAD_PROCESS_PRIVATE,
            Scope::Shared => libc::PTHREAD_PROCESS_SHARED,
        }
    }
}

/// A mapping that both ends use, page-aligned, zero at first: private to the process where
/// both are its threads, otherwise of an anonymous file.
///
/// A file's pages come into being where they are first touched, so the CPU of the end
/// that attaches first is part of a case's placement on a machine with several
/// NUMA nodes; private ones where the link is opened.
pub struct Shared {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread; all access goes through atomics or
// through slices whose turns the mechanisms hand over.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Shared {
    /// Creates the file behind a mapping.
    pub fn create(bytes: usize) -> io::Result<OwnedFd> {
        sys::memfd("hopcost", bytes as u64).doing("shared memory")
    }

    /// Maps `bytes` of a file made by [`Shared::create`].
    pub fn map(fd: &OwnedFd, bytes: usize) -> io::Result<Arc<Self>> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a fresh mapping of a file that the caller holds.
        Self::of(unsafe { mmap(null_mut(), bytes, ACCESS, flags, fd, 0) }, bytes)
    }

    /// Maps memory of no file, which only this process has.
    fn private(bytes: usize) -> io::Result<Arc<Self>> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a fresh mapping.
        Self::of(unsafe { mmap_anonymous(null_mut(), bytes, ACCESS, flags) }, bytes)
    }

    fn of(mapped: rustix::io::Result<*mut c_void>, bytes: usize) -> io::Result<Arc<Self>> {
        let base = mapped.doing("mapping shared memory")?;
        let base = NonNull::new(base.cast()).ok_or_else(|| sys::failure("a null page"))?;
        Ok(Arc::new(Self { base, bytes }))
    }

    /// The address of what is `bytes` long at this byte offset. Page-aligned memory makes any
    /// offset that is a multiple of the alignment valid.
    fn at(&self, offset: usize, bytes: usize, align: usize) -> NonNull<u8> {
        assert!(offset + bytes <= self.bytes && offset.is_multiple_of(align));
        // SAFETY: in bounds, as just asserted.
        unsafe { self.base.add(offset) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what was mapped.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Memory for both ends, on its way to them.
pub enum Backing {
    /// The file that each end maps.
    File(OwnedFd),
    /// The mapping itself.
    Mapping(Arc<Shared>),
}

impl Backing {
    /// Memory of this scope.
    pub fn new(bytes: usize, scope: Scope) -> io::Result<Self> {
        Ok(match scope {
            Scope::Shared => Backing::File(Shared::create(bytes)?),
            Scope::Private => Backing::Mapping(Shared::private(bytes)?),
        })
    }
    /// As an end sees it.
    pub fn map(&self, bytes: usize) -> io::Result<Arc<Shared>> {
        match self {
            Backing::File(fd) => Shared::map(fd, bytes),
            Backing::Mapping(memory) => Ok(Arc::clone(memory)),
        }
    }
}

/// Something in a mapping, which it keeps mapped. Where it is gets checked once, when an end
/// attaches, so that a loop has nothing to check.
pub struct Place<T: ?Sized> {
    at: NonNull<T>,
    _memory: Arc<Shared>,
}

// SAFETY: as of the mapping.
unsafe impl<T: ?Sized> Send for Place<T> {}

impl<T> Place<T> {
    /// The `T` at this byte offset.
    pub fn new(memory: &Arc<Shared>, offset: usize) -> Self {
        let at = memory.at(offset, size_of::<T>(), align_of::<T>()).cast();
        Self { at, _memory: Arc::clone(memory) }
    }
}

impl Place<[u8]> {
    /// These bytes.
    pub fn bytes(memory: &Arc<Shared>, offset: usize, len: usize) -> Self {
        let at = NonNull::slice_from_raw_parts(memory.at(offset, len, 1), len);
        Self { at, _memory: Arc::clone(memory) }
    }
}

impl<T: ?Sized> Place<T> {
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut T {
        self.at.as_ptr()
    }
}

impl<T: Sync> Place<T> {
    /// An atomic or other shareable `T`.
    ///
    /// # Safety
    /// All-zero bytes must be a valid `T`, and nothing but `&T` may refer to
    /// these bytes in either process.
    #[inline(always)]
    pub unsafe fn reference(&self) -> &T {
        // SAFETY: in bounds and aligned, and mapped as long as `self`; the rest is the
        // caller's promise.
        unsafe { self.at.as_ref() }
    }
}

impl std::ops::Deref for Place<AtomicU32> {
    type Target = AtomicU32;
    #[inline(always)]
    fn deref(&self) -> &AtomicU32 {
        // SAFETY: zero is a valid atomic, and words are never used as anything else.
        unsafe { self.reference() }
    }
}

/// A cache line of its own (two, because of adjacent-line prefetching), so that
/// words of the two directions do not share one.
#[derive(Default)]
#[repr(C, align(128))]
pub struct Line<T>(pub T);

/// A message buffer of this process, every page of which is touched. It starts on a cache
/// line of its own, so that a message touches no more lines than it must, and from
/// [`PAGE_BYTES`] on at a page, so that what the kernel does page by page
/// (process_vm_readv, vmsplice, sends without a copy) is done to no more pages than it must.
pub struct Buffer {
    lines: Vec<Line<[u8; LINE_BYTES]>>,
    /// The line at which it starts.
    first: usize,
    len: usize,
}

const LINE_BYTES: usize = 128;
const PAGE_BYTES: usize = 4096;

impl Buffer {
    /// What the address of a message of `len` bytes is a multiple of.
    pub fn align(len: usize) -> usize {
        if len < PAGE_BYTES { LINE_BYTES } else { PAGE_BYTES }
    }

    /// A buffer of `len` bytes, all ones (pages of zeros are not touched until written).
    pub fn new(len: usize) -> Self {
        let align = Self::align(len);
        let before = align / LINE_BYTES - 1;
        let count = before + len.div_ceil(LINE_BYTES).max(1);
        let lines: Vec<_> = (0..count).map(|_| Line([1; LINE_BYTES])).collect();
        // At most `before`: the lines themselves are aligned.
        let first = lines.as_ptr().align_offset(align).min(before);
        Self { lines, first, len }
    }

    /// The first `len` bytes, unchecked: for what a system call says that it has put there, which
    /// is never more than it was given.
    ///
    /// # Safety
    /// `len` must not be more than the buffer's length.
    #[inline(always)]
    pub unsafe fn first(&self, len: usize) -> &[u8] {
        debug_assert!(len <= self.len);
        // SAFETY: the caller's promise.
        unsafe { self.get_unchecked(..len) }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: a line is exactly its bytes (its size is its alignment), lines lie
        // without gaps, and `len` from `first` on does not reach beyond them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().add(self.first).cast(), self.len) }
    }
}

impl std::ops::DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe {
            let start = self.lines.as_mut_ptr().add(self.first);
            std::slice::from_raw_parts_mut(start.cast(), self.len)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_on_a_line_or_a_page_and_have_their_length() {
        let mut alive = Vec::new();
        for len in [0, 1, 64, 128, 129, 4095, 4096, 4096, 4097, 5000, 32768, 1 << 20] {
            let mut buffer = Buffer::new(len);
            assert_eq!(buffer.len(), len);
            let align = if len < 4096 { 128 } else { 4096 };
            assert!(buffer.as_ptr().addr().is_multiple_of(align), "{len} bytes");
            buffer.fill(7);
            assert!(buffer.iter().all(|&b| b == 7));
            // Kept, so that the next does not lie in its place.
            alive.push(buffer);
        }
    }
}
