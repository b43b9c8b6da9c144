//! What a stream's path really is, in a few words.

use hopcost_model::case::Case;
use hopcost_model::mechanism::Mechanism;

use crate::format;

/// The mechanism's name, or that of its flag with what became of it; then its
/// parameters where they are not the default (all of them where the default is
/// not known).
pub fn label(case: &Case, facts: Option<&Mechanism>, copied_share: Option<f64>) -> String {
    let mut label = match facts.and_then(|facts| facts.own.as_ref()?.no_copy.as_ref()) {
        Some(flag) => format!("{flag}{}", fate(copied_share)),
        None => format::mechanism(case),
    };
    for (key, value) in &case.parameters {
        let default = facts.and_then(|facts| facts.parameter(key)).map(|p| &p.default);
        if default != Some(value) {
            label.push_str(&format!(" {key}={value}"));
        }
    }
    label
}

fn fate(copied_share: Option<f64>) -> String {
    match copied_share {
        None => " (copies not known)".to_owned(),
        Some(share) if share >= 1.0 => " (copied)".to_owned(),
        Some(share) if share > 0.0 => format!(" ({} copied)", format::percent(share)),
        Some(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::MECHANISMS;

    fn of(mechanism: &str, parameters: &str, copied: Option<f64>) -> String {
        let id = format!(
            "stream/{mechanism}?payload=64&fields=8&flows=1&ack=none&boundary=process&place=free\
             &wait=block{parameters}"
        );
        let case: Case = id.parse().unwrap();
        label(&case, MECHANISMS.iter().find(|known| known.name == mechanism), copied)
    }

    #[test]
    fn what_is_not_the_default_is_said() {
        assert_eq!(of("tcp-send", "&more=off&nodelay=off", None), "tcp-send");
        assert_eq!(of("tcp-send", "&more=off&nodelay=on", None), "tcp-send nodelay=on");
        assert_eq!(of("vm-readv", "&x=1", None), "vm-readv x=1", "no facts: all of them");
    }

    #[test]
    fn nothing_that_was_copied_is_called_without_a_copy() {
        assert_eq!(of("tcp-uring-zc", "", Some(1.0)), "SEND_ZC (copied)");
        assert_eq!(of("tcp-zerocopy", "", Some(0.9999)), "MSG_ZEROCOPY (100 % copied)");
        assert_eq!(of("tcp-zerocopy", "", Some(1e-6)), "MSG_ZEROCOPY (0.00 % copied)");
        assert_eq!(of("tcp-zerocopy", "", None), "MSG_ZEROCOPY (copies not known)");
    }
}
