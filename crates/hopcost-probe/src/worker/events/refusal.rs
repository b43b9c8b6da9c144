//! Why an event cannot be counted, in words, with what to do about it.

use super::Event;

/// What the words depend on besides the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// kernel.perf_event_paranoid, if it can be read.
    pub paranoid: Option<i32>,
    /// Whether the processor says that it is a virtual machine's.
    pub virtual_machine: bool,
}

impl Circumstances {
    /// Those of this machine.
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Circumstances {
            paranoid: read("/proc/sys/kernel/perf_event_paranoid").trim().parse().ok(),
            virtual_machine: is_virtual(&read("/proc/cpuinfo")),
        }
    }
}

/// Whether /proc/cpuinfo names the flag that hypervisors set (x86 only).
pub fn is_virtual(cpuinfo: &str) -> bool {
    cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// The one line that says why perf_event_open(2) refused, and what helps.
pub fn reason(event: Event, errno: i32, here: Circumstances) -> String {
    match errno {
        libc::EACCES | libc::EPERM => {
            let name = if errno == libc::EACCES { "EACCES" } else { "EPERM" };
            let setting = here.paranoid.map_or_else(
                || "kernel.perf_event_paranoid cannot be read".to_owned(),
                |level| format!("kernel.perf_event_paranoid is {level}"),
            );
            format!(
                "permission denied ({name}): {setting}; counting the kernel's side needs 1 or less \
                 (sysctl kernel.perf_event_paranoid=1), the capability CAP_PERFMON, or root, and in a \
                 container a seccomp profile that allows perf_event_open"
            )
        }
        libc::ENOENT if event.is_hardware() && here.virtual_machine => {
            "no performance monitoring unit in this virtual machine (ENOENT)".to_owned()
        }
        libc::ENOENT if event.is_hardware() => {
            "no performance monitoring unit that the kernel knows counts it (ENOENT)".to_owned()
        }
        libc::EINVAL | libc::EOPNOTSUPP | libc::ENODEV if event.is_hardware() => {
            format!(
                "this processor does not count it ({})",
                std::io::Error::from_raw_os_error(errno)
            )
        }
        libc::ENOSYS => {
            "the kernel was built without performance events (ENOSYS, CONFIG_PERF_EVENTS)"
                .to_owned()
        }
        libc::EMFILE => {
            "too many open files (EMFILE): raise the limit with ulimit -n, or use fewer flows"
                .to_owned()
        }
        _ => format!("perf_event_open failed: {}", std::io::Error::from_raw_os_error(errno)),
    }
}
