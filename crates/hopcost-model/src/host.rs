//! What was known of the machine: a flat list of readings with stable keys, so
//! that it can be printed, compared and stored without anybody knowing every field.

document! {
    /// The host fingerprint at one moment.
    #[derive(Default)]
    pub struct Host {
        /// The readings, in the order in which they are shown.
        pub readings: Vec<Reading>,
    }

    /// One reading: a value, or the reason why there is none.
    pub struct Reading {
        /// Heading it is shown under (`cpu`, `kernel`, `idle`, …).
        pub section: String,
        /// Stable key (`cpu.model`, `clocksource.current`, `cpu1.governor`).
        pub key: String,
        /// The value as text, unit included where it has one.
        pub value: Option<String>,
        /// Why it could not be read.
        pub reason: Option<String>,
    }
}

impl Reading {
    /// One that could be read.
    pub fn known(section: &str, key: &str, value: String) -> Self {
        Self::found(section, key, Ok(value))
    }

    /// One with its value, or the reason why there is none.
    pub fn found(section: &str, key: &str, found: Result<String, String>) -> Self {
        let (section, key, reason) =
            (section.to_owned(), key.to_owned(), found.as_ref().err().cloned());
        Self { section, key, value: found.ok(), reason }
    }
}

/// Key of the reading that says how long the machine has been suspended since it was booted, in
/// whole milliseconds (`0 ms`).
pub const SUSPENDED: &str = "load.suspended";

impl Host {
    /// The value of a reading, if it could be read.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.readings.iter().find(|r| r.key == key).and_then(|r| r.value.as_deref())
    }
    /// Whether the far end of a run was on this same machine, in another network namespace.
    pub fn is_its_peer(&self) -> bool {
        let near = self.get("kernel.boot_id");
        near.is_some() && near == self.get("peer.kernel.boot_id")
    }
    /// The reason why a reading has no value.
    pub fn reason(&self, key: &str) -> Option<&str> {
        self.readings.iter().find(|r| r.key == key).and_then(|r| r.reason.as_deref())
    }
}
