//! The number of the tracepoint that fires at each entry of a system call.
//!
//! It stands in a file of tracefs, which many machines do not mount. Then it is
//! read from an instance of tracefs that is attached to no directory (fsmount(2),
//! Linux 5.2), so that nothing about the machine changes.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys;

/// Where tracefs is mounted by convention, of old and of late.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// The file below it.
const ID: &str = "events/raw_syscalls/sys_enter/id";
const ID_C: &CStr = c"events/raw_syscalls/sys_enter/id";

/// The tracepoint's number, or why it cannot be known.
pub fn sys_enter_id() -> Result<u64, String> {
    let mut denied = None;
    for directory in MOUNTED {
        match std::fs::read_to_string(format!("{directory}/{ID}")) {
            Ok(text) => return parse(&text),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                denied = Some(format!("{directory}/{ID} cannot be read ({error}); run as root"));
            }
            Err(_) => {}
        }
    }
    if let Some(reason) = denied {
        return Err(reason);
    }
    match unattached() {
        Ok(text) => parse(&text),
        Err(error) => Err(format!(
            "tracefs is not mounted ({error}); as root, mount -t tracefs tracefs {}",
            MOUNTED[0]
        )),
    }
}

/// The number in the file's text.
pub fn parse(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{ID} of tracefs holds `{}`", text.trim()))
}

/// The file's text from an instance of tracefs of our own.
fn unattached() -> io::Result<String> {
    const FSOPEN_CLOEXEC: libc::c_uint = 1;
    const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
    const FSMOUNT_CLOEXEC: libc::c_uint = 1;
    let owned = |result: libc::c_long| -> io::Result<OwnedFd> {
        let fd = sys::check(result)?;
        // SAFETY: what is passed here is the result of a call that returns a new descriptor.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
    };
    // SAFETY: the arguments are as fsopen(2), fsconfig(2), fsmount(2) and openat(2) want them:
    // live descriptors, NUL-terminated strings, and null where the command takes nothing.
    unsafe {
        let context = owned(libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), FSOPEN_CLOEXEC))?;
        sys::check(libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            FSCONFIG_CMD_CREATE,
            std::ptr::null::<u8>(),
            std::ptr::null::<u8>(),
            0,
        ))?;
        let root =
            owned(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, 0))?;
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let fd = libc::openat(root.as_raw_fd(), ID_C.as_ptr(), flags);
        let mut text = String::new();
        File::from(owned(fd.into())?).take(64).read_to_string(&mut text)?;
        Ok(text)
    }
}
