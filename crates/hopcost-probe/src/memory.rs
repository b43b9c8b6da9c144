//! Memory shared between the two ends.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::sys;

/// A shared mapping of an anonymous file, page-aligned, zero at first.
///
/// Pages come into being where they are first touched, so the CPU of the end
/// that attaches first is part of a case's placement on a machine with several
/// NUMA nodes.
pub struct Shared {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread; all access goes through atomics or
// through slices whose turns the mechanisms hand over.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Creates the file behind a mapping.
    pub fn create(bytes: usize) -> io::Result<OwnedFd> {
        sys::memfd("hopcost", bytes as u64).map_err(|e| sys::context(e, "shared memory"))
    }

    /// Maps `bytes` of a file made by [`Shared::create`].
    pub fn map(fd: &OwnedFd, bytes: usize) -> io::Result<Self> {
        // SAFETY: a fresh mapping of a descriptor we hold; the result is checked.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                fd.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(sys::context(io::Error::last_os_error(), "mapping shared memory"));
        }
        let base =
            NonNull::new(address.cast()).ok_or_else(|| sys::failure("mmap gave a null page"))?;
        Ok(Self { base, bytes })
    }

    /// The address of a `T` at this byte offset; page-aligned memory makes any
    /// offset that is a multiple of the alignment valid.
    pub fn at<T>(&self, offset: usize) -> *mut T {
        assert!(offset + size_of::<T>() <= self.bytes && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: in bounds, as just asserted.
        unsafe { self.base.as_ptr().add(offset).cast() }
    }

    /// An atomic or other shareable `T` that lives in the mapping.
    ///
    /// # Safety
    /// All-zero bytes must be a valid `T`, and nothing but `&T` may refer to
    /// these bytes in either process.
    pub unsafe fn reference<T: Sync>(&self, offset: usize) -> &T {
        // SAFETY: in bounds and aligned by `at`; the rest is the caller's promise.
        unsafe { &*self.at::<T>(offset) }
    }

    /// Bytes of the mapping.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it is empty (it never is: mmap refuses that).
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what was mapped.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A cache line of its own (two, because of adjacent-line prefetching), so that
/// words of the two directions do not share one.
#[repr(C, align(128))]
pub struct Line<T>(pub T);

/// A message buffer of this process: starts on a cache line of its own, so that a
/// message touches no more lines than it must, and every page is touched.
pub struct Buffer {
    lines: Vec<Line<[u8; LINE_BYTES]>>,
    len: usize,
}

const LINE_BYTES: usize = 128;

impl Buffer {
    /// A buffer of `len` bytes, all ones (pages of zeros are not touched until written).
    pub fn new(len: usize) -> Self {
        let lines = (0..len.div_ceil(LINE_BYTES).max(1)).map(|_| Line([1; LINE_BYTES])).collect();
        Self { lines, len }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: a line is exactly its bytes (its size is its alignment), lines lie
        // without gaps, and `len` does not reach beyond them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl std::ops::DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_on_a_line_and_have_their_length() {
        for len in [0, 1, 64, 128, 129, 5000] {
            let mut buffer = Buffer::new(len);
            assert_eq!(buffer.len(), len);
            assert!(buffer.as_ptr().addr().is_multiple_of(LINE_BYTES));
            buffer.fill(7);
            assert!(buffer.iter().all(|&b| b == 7));
        }
    }
}
