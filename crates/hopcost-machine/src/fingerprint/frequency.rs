//! Who sets the clock frequency, and in which limits.

use super::{Found, Readings, Seen, because};
use crate::topology::CPU_DIR;

const NO_DRIVER: &str = "no cpufreq driver (usual in virtual machines)";

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let section = "frequency";
    out.put(section, "cpu.turbo", turbo(seen));
    for cpu in &seen.cpus {
        let file = |name: &str| format!("{CPU_DIR}/cpu{cpu}/cpufreq/{name}");
        let text = |name: &str, missing: &str| seen.text(&file(name), missing);
        out.put(section, format!("cpu{cpu}.governor"), text("scaling_governor", NO_DRIVER));
        out.put(section, format!("cpu{cpu}.frequency_driver"), text("scaling_driver", NO_DRIVER));
        out.put(section, format!("cpu{cpu}.frequency_limits"), limits(seen, *cpu));
        let no_preference = match seen.root.exists(&file("")) {
            true => "this cpufreq driver has no energy preference",
            false => NO_DRIVER,
        };
        let preference = text("energy_performance_preference", no_preference);
        out.put(section, format!("cpu{cpu}.energy_preference"), preference);
    }
}

fn turbo(seen: &Seen) -> Found {
    // intel_pstate has a switch of its own, which says the opposite.
    let path = format!("{CPU_DIR}/intel_pstate/no_turbo");
    match seen.text(&path, "") {
        Ok(text) => {
            return match text.as_str() {
                "0" => Ok("on".into()),
                "1" => Ok("off".into()),
                other => Err(format!("{path} holds `{other}`, neither 0 nor 1")),
            };
        }
        Err(reason) if !reason.is_empty() => return Err(reason),
        Err(_) => {}
    }
    let missing = match seen.root.exists(&format!("{CPU_DIR}/cpu0/cpufreq")) {
        true => "this cpufreq driver has no switch for turbo frequencies",
        false => NO_DRIVER,
    };
    seen.switch(&format!("{CPU_DIR}/cpufreq/boost"), missing)
}

fn limits(seen: &Seen, cpu: u32) -> Found {
    let mhz = |name: &str| {
        let path = format!("{CPU_DIR}/cpu{cpu}/cpufreq/{name}");
        let khz = seen.root.number::<u64>(&path).map_err(|e| because(&e, NO_DRIVER))?;
        Ok::<u64, String>(khz.saturating_add(500) / 1000)
    };
    let allowed = format!("{} to {} MHz", mhz("scaling_min_freq")?, mhz("scaling_max_freq")?);
    Ok(match (mhz("cpuinfo_min_freq"), mhz("cpuinfo_max_freq")) {
        (Ok(low), Ok(high)) => format!("{allowed}, hardware {low} to {high} MHz"),
        _ => allowed,
    })
}
