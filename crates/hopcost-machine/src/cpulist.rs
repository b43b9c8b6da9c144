//! CPU lists (`0-3,8`) and masks (`ff,00000003`) as the kernel prints them.

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
        // Overlapping ranges over and over must not grow without bound.
        if cpus.len() > 2 * MAX_CPU as usize {
            cpus.sort_unstable();
            cpus.dedup();
        }
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

/// The CPUs of a mask such as `3` or `ff,00000003`: groups of 32 bits, the
/// highest first. An `0x` before it is fine.
pub(crate) fn parse_cpu_mask(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    let text = text.strip_prefix("0x").unwrap_or(text);
    let mut cpus = Vec::new();
    for (index, group) in text.rsplit(',').enumerate() {
        let is_group = group.len() <= 8 && group.bytes().all(|b| b.is_ascii_hexdigit());
        let bits = u32::from_str_radix(is_group.then_some(group)?, 16).ok()?;
        if index > (MAX_CPU / 32) as usize && bits != 0 {
            return None;
        }
        let base = index as u32 * 32;
        cpus.extend((0..32).filter(|bit| bits & (1 << bit) != 0).map(|bit| base + bit));
    }
    Some(cpus)
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
            ("", vec![]),
            ("0", vec![0]),
            ("0-3,8", vec![0, 1, 2, 3, 8]),
            ("0,16", vec![0, 16]),
            ("5-6,65535", vec![5, 6, 65535]),
        ] {
            assert_eq!(parse_cpu_list(text), Some(cpus.clone()), "{text}");
            assert_eq!(format_cpu_list(&cpus), text);
        }
        assert_eq!(parse_cpu_list(" 8,0-2, 1 \n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(format_cpu_list(&[8, 1, 0, 1]), "0-1,8");
    }

    #[test]
    fn broken_lists_are_refused() {
        for text in [
            "0,a",
            "0,,1",
            "-1",
            "1-",
            "1-2-3",
            "+1",
            "3-1",
            "0-4294967295",
            "99999999999999999999",
            "\u{fffd}",
        ] {
            assert_eq!(parse_cpu_list(text), None, "{text}");
        }
    }

    #[test]
    fn masks_count_from_the_right() {
        assert_eq!(parse_cpu_mask("3"), Some(vec![0, 1]));
        assert_eq!(parse_cpu_mask("00010001"), Some(vec![0, 16]));
        assert_eq!(parse_cpu_mask("80000001,00000003\n"), Some(vec![0, 1, 32, 63]));
        assert_eq!(parse_cpu_mask("0"), Some(vec![]));
        assert_eq!(parse_cpu_mask("0xff"), Some((0..8).collect()));
    }

    #[test]
    fn broken_masks_are_refused() {
        for text in ["", "g", "3,", "123456789", "+3", "0-3"] {
            assert_eq!(parse_cpu_mask(text), None, "{text}");
        }
        let long = format!("1{}", ",00000000".repeat(4096));
        assert_eq!(parse_cpu_mask(&long), None);
    }
}
