//! What the kernel says of its tracepoints: files of tracefs, which many machines do not mount.
//! Then they are read from an instance of tracefs that is attached to no directory (fsmount(2),
//! Linux 5.2), so that nothing about the machine changes. Nothing is ever written there.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::sys;

/// Where tracefs is mounted by convention, of old and of late.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// A tracepoint that every kernel with tracefs has.
const SYS_ENTER: &str = "raw_syscalls/sys_enter";
/// What a file of a tracepoint may hold; those of today have up to 4 KiB.
const BYTES_MAX: u64 = 1 << 16;

pub struct Tracefs {
    root: OwnedFd,
}

impl Tracefs {
    /// Opens it where it is mounted, or else an instance of its own; an error says what to do.
    pub fn open() -> Result<Self, String> {
        for directory in MOUNTED {
            let path = format!("{directory}/events/{SYS_ENTER}/id");
            match File::open(&path).and_then(|_| File::open(directory)) {
                Ok(root) => return Ok(Self { root: root.into() }),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(format!("{path} cannot be read ({error}); run as root"));
                }
                Err(_) => {}
            }
        }
        unattached().map(|root| Self { root }).map_err(|error| reason(&error, sys::user_id() == 0))
    }

    /// The text of a file of a tracepoint (`sched/sched_switch`, `format`).
    pub fn read(&self, tracepoint: &str, file: &str) -> io::Result<String> {
        let path = format!("events/{tracepoint}/{file}");
        let file = openat(&self.root, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        File::from(file).take(BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }
}

/// Why there is no instance of our own, with what helps root and others.
fn reason(error: &io::Error, is_root: bool) -> String {
    let [mounted, _] = MOUNTED;
    match (error.raw_os_error(), is_root) {
        (Some(libc::ENODEV), _) => {
            "this kernel has no tracefs (ENODEV): it was built without tracepoints \
             (CONFIG_FTRACE); boot one that has them"
                .to_owned()
        }
        (Some(libc::EPERM), false) => {
            "tracefs is not mounted, and only root may read it then; run as root".to_owned()
        }
        (Some(libc::EPERM), true) => format!(
            "tracefs is not mounted, and without CAP_SYS_ADMIN root may not read it either; give \
             the container that capability (docker run --cap-add SYS_ADMIN --cap-add PERFMON), or \
             mount -t tracefs tracefs {mounted} on its host and share that folder with it"
        ),
        _ => {
            format!("tracefs is not mounted ({error}); as root, mount -t tracefs tracefs {mounted}")
        }
    }
}

/// The number of the tracepoint that fires at each entry of a system call, or why it cannot be
/// known.
pub fn sys_enter_id() -> Result<u64, String> {
    let text = Tracefs::open()?.read(SYS_ENTER, "id");
    id(&text.map_err(|error| format!("{SYS_ENTER}/id of tracefs: {error}"))?)
}

/// The number in the text of a tracepoint's `id`.
pub fn id(text: &str) -> Result<u64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("the id of a tracepoint is `{text}` in tracefs"))
}

/// The root of an instance of our own.
fn unattached() -> io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}
