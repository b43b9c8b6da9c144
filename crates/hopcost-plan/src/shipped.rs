//! The suites and claims files inside the binary.

use std::sync::LazyLock;

use crate::ask::SuiteSource;
use crate::shown::Shown;

/// The suites inside the binary: name, text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("ladder", include_str!("../../../suites/ladder.toml")),
    ("quick", include_str!("../../../suites/quick.toml")),
    ("threads-udp-websocket", include_str!("../../../suites/threads-udp-websocket.toml")),
    ("microkernel", include_str!("../../../suites/microkernel.toml")),
    ("wakeup", include_str!("../../../suites/wakeup.toml")),
    ("wakeup-full", include_str!("../../../suites/wakeup-full.toml")),
    ("wakeup-document", include_str!("../../../suites/wakeup-document.toml")),
    ("copies", include_str!("../../../suites/copies.toml")),
    ("load", include_str!("../../../suites/load.toml")),
    ("runtimes", include_str!("../../../suites/runtimes.toml")),
    ("pair", include_str!("../../../suites/pair.toml")),
];

/// The claims files inside the binary: name, text.
pub const CLAIMS: &[(&str, &str)] = &[
    ("threads-udp-websocket", include_str!("../../../claims/threads-udp-websocket.toml")),
    ("runtimes", include_str!("../../../claims/runtimes.toml")),
    ("microkernel", include_str!("../../../claims/microkernel.toml")),
    ("wakeup", include_str!("../../../claims/wakeup.toml")),
    ("copies", include_str!("../../../claims/copies.toml")),
    ("self-test", include_str!("../../../claims/self-test.toml")),
];

/// A claims file inside the binary, as if it were a file.
pub fn claims(name: &str) -> Option<SuiteSource> {
    let (name, text) = CLAIMS.iter().find(|(known, _)| *known == name)?;
    Some(SuiteSource::Text { file: format!("claims/{name}.toml"), text: (*text).to_owned() })
}

/// What the shipped suites say of reports, with their names.
pub fn shown() -> &'static [(&'static str, Shown)] {
    static SHOWN: LazyLock<Vec<(&str, Shown)>> = LazyLock::new(|| {
        let of = |(name, text): &(&'static str, &str)| Some((*name, toml::from_str(text).ok()?));
        SHIPPED.iter().filter_map(of).collect()
    });
    &SHOWN
}

/// What a shipped suite says of reports of its own runs.
pub fn shown_by(suite: &str) -> Option<&'static Shown> {
    shown().iter().find(|(name, _)| *name == suite).map(|(_, shown)| shown)
}
