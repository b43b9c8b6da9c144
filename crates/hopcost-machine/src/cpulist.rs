//! CPU lists (`0-3,8`) as the kernel prints them.

/// Highest CPU number that is accepted. Linux allows at most 8192 CPUs; the cap
/// keeps `0-4294967295` from filling the memory.
const MAX_CPU: u32 = 65_535;

/// The CPUs of a list such as `0-3,8`, ascending and each once; none if it is not a
/// list. White space around it and an empty list are fine.
pub(crate) fn parse_cpu_list(text: &str) -> Option<Vec<u32>> {
    let (text, mut cpus) = (text.trim(), Vec::new());
    if text.is_empty() {
        return Some(cpus);
    }
    for part in text.split(',').map(str::trim) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (cpu(low)?, cpu(high)?);
        if low > high {
            return None;
        }
        cpus.extend(low..=high);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn cpu(text: &str) -> Option<u32> {
    // `parse` would take a leading plus sign.
    let digits = text.bytes().all(|b| b.is_ascii_digit()).then_some(text)?;
    digits.parse().ok().filter(|cpu| *cpu <= MAX_CPU)
}

/// Spells CPUs as the kernel does: `0-3,8`. Takes them in any order.
pub(crate) fn format_cpu_list(cpus: &[u32]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus.as_slice();
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|(cpu, want)| **cpu == *want).count();
        let last = rest[run - 1];
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest = &rest[run..];
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_spelt_alike() {
        for (text, cpus) in [
            ("", Some(vec![])),
            ("0-3,8", Some(vec![0, 1, 2, 3, 8])),
            ("5-6,65535", Some(vec![5, 6, 65535])),
            ("0,a", None),
            ("0,,1", None),
            ("1-", None),
            ("1-2-3", None),
            ("+1", None),
            ("3-1", None),
            ("0-4294967295", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_cpu_list(text), cpus, "{text}");
            assert!(cpus.is_none_or(|cpus| format_cpu_list(&cpus) == text), "{text}");
        }
        assert_eq!(parse_cpu_list(" 8,0-2, 1 \n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(format_cpu_list(&[8, 1, 0, 1]), "0-1,8");
    }
}
