//! What lies between two hosts.

use hopcost_model::host::Host;

use crate::run::Run;

/// The far host, the path to it, and whose clock times what.
pub fn between(run: &Run) -> Option<String> {
    let host = &run.raw.host_before;
    let address = host.get("peer.address")?;
    let end = |prefix: &str| {
        let of = |key: &str| host.get(&format!("{prefix}net.{key}"));
        let named = |name: &str, key: &str| of(key).map(|value| format!("{name}{value}"));
        let all = [named("driver ", "driver"), named("MTU ", "mtu")];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!("{} ({})", of("path").unwrap_or("an unknown interface"), all.join(", "))
    };
    let level = |host: &Host| host.get("peer.load.switch").map(str::to_owned);
    let levels = match (level(host), run.raw.host_after.as_ref().and_then(level)) {
        (Some(before), Some(after)) => format!(
            " A pipe's round trip on the far end's CPU took {before} before the run and {after} after it."
        ),
        _ => String::new(),
    };
    let one = match host.is_its_peer() {
        true => "Both ends are on one machine (the same boot id). ",
        false => "",
    };
    Some(format!(
        "{one}The path to the far host ({address}) begins as {} and ends as {}. Round trips are \
         timed by this host's clock alone, and divided by this host's speed \
         probe.{levels}",
        end(""),
        end("peer.")
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, PIPE};

    fn remarks(readings: &[(&str, &str)]) -> String {
        let build = Builder::new().host(readings).case(PIPE, 8, |_, t| t.each(&[3000; 100]));
        build.read().remarks.join("\n")
    }

    #[test]
    fn two_hosts_and_what_is_between_them() {
        let alike = [
            ("kernel.release", "6.1"),
            ("peer.kernel.release", "6.1"),
            ("peer.address", "10.0.0.2"),
            ("net.path", "veth"),
            ("net.mtu", "1500"),
            ("peer.net.path", "bridge"),
        ];
        let said = remarks(&alike);
        assert!(said.contains("(10.0.0.2) begins as veth (MTU 1500)"), "{said}");
        assert!(said.contains("ends as bridge"), "{said}");
        assert!(!remarks(&alike[..1]).contains("far host"));
    }
}
