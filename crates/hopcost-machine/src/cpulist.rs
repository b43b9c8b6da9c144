//! CPU lists (`0-3,8`) and masks (`ff,00000003`) as the kernel prints them.

use std::fmt;

/// Highest CPU number that is accepted. Linux allows at most 8192 CPUs; the cap
/// keeps `0-4294967295` from filling the memory.
pub const MAX_CPU: u32 = 65_535;

/// Why a text is not a CPU list or mask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuListError {
    /// A part that is neither a number nor a range.
    Part(String),
    /// A range that runs backwards.
    Backwards(String),
    /// A number above [`MAX_CPU`].
    TooLarge(String),
    /// A group of a mask that is not up to eight hexadecimal digits.
    Group(String),
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(p) => write!(f, "`{p}` is not a CPU or a range: write a list like 0-3,8"),
            Self::Backwards(p) => write!(f, "`{p}` runs backwards: write the lower CPU first"),
            Self::TooLarge(p) => write!(f, "`{p}` is above {MAX_CPU}, the highest CPU accepted"),
            Self::Group(p) => {
                write!(f, "`{p}` is not part of a mask: write one like ff,00000003 (hexadecimal)")
            }
        }
    }
}

impl std::error::Error for CpuListError {}

/// The CPUs of a list such as `0-3,8`, ascending and each once. White space
/// around it and an empty list are fine.
///
/// # Errors
/// [`CpuListError`] with the part that is wrong.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, CpuListError> {
    let text = text.trim();
    let mut cpus = Vec::new();
    if text.is_empty() {
        return Ok(cpus);
    }
    for part in text.split(',').map(str::trim) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (cpu(low, part)?, cpu(high, part)?);
        if low > high {
            return Err(CpuListError::Backwards(part.to_owned()));
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
    Ok(cpus)
}

fn cpu(text: &str, part: &str) -> Result<u32, CpuListError> {
    // `parse` would take a leading plus sign.
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(CpuListError::Part(part.to_owned()));
    }
    match text.parse::<u32>() {
        Ok(n) if n <= MAX_CPU => Ok(n),
        _ => Err(CpuListError::TooLarge(part.to_owned())),
    }
}

/// The CPUs of a mask such as `3` or `ff,00000003`: groups of 32 bits, the
/// highest first. An `0x` before it is fine.
///
/// # Errors
/// [`CpuListError`] with the group that is wrong.
pub fn parse_cpu_mask(text: &str) -> Result<Vec<u32>, CpuListError> {
    let text = text.trim();
    let text = text.strip_prefix("0x").unwrap_or(text);
    let mut cpus = Vec::new();
    for (index, group) in text.rsplit(',').enumerate() {
        let wrong = || CpuListError::Group(group.to_owned());
        if group.is_empty() || group.len() > 8 || !group.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let bits = u32::from_str_radix(group, 16).map_err(|_| wrong())?;
        if index > (MAX_CPU / 32) as usize && bits != 0 {
            return Err(CpuListError::TooLarge(group.to_owned()));
        }
        let base = index as u32 * 32;
        cpus.extend((0..32).filter(|bit| bits & (1 << bit) != 0).map(|bit| base + bit));
    }
    Ok(cpus)
}

/// Spells CPUs as the kernel does: `0-3,8`. Takes them in any order.
pub fn format_cpu_list(cpus: &[u32]) -> String {
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
            assert_eq!(parse_cpu_list(text), Ok(cpus.clone()), "{text}");
            assert_eq!(format_cpu_list(&cpus), text);
        }
        assert_eq!(parse_cpu_list(" 8,0-2, 1 \n"), Ok(vec![0, 1, 2, 8]));
        assert_eq!(format_cpu_list(&[8, 1, 0, 1]), "0-1,8");
    }

    #[test]
    fn broken_lists_say_which_part() {
        for (text, part) in [
            ("0,a", "`a`"),
            ("0,,1", "``"),
            ("-1", "`-1`"),
            ("1-", "`1-`"),
            ("1-2-3", "`1-2-3`"),
            ("+1", "`+1`"),
            ("3-1", "backwards"),
            ("0-4294967295", "above 65535"),
            ("99999999999999999999", "above 65535"),
            ("\u{fffd}", "not a CPU"),
        ] {
            let error = parse_cpu_list(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn masks_count_from_the_right() {
        assert_eq!(parse_cpu_mask("3"), Ok(vec![0, 1]));
        assert_eq!(parse_cpu_mask("00010001"), Ok(vec![0, 16]));
        assert_eq!(parse_cpu_mask("80000001,00000003\n"), Ok(vec![0, 1, 32, 63]));
        assert_eq!(parse_cpu_mask("0"), Ok(vec![]));
        assert_eq!(parse_cpu_mask("0xff"), Ok((0..8).collect()));
    }

    #[test]
    fn broken_masks_are_refused() {
        for text in ["", "g", "3,", "123456789", "+3", "0-3"] {
            assert!(parse_cpu_mask(text).is_err(), "{text}");
        }
        let long = format!("1{}", ",00000000".repeat(4096));
        assert!(matches!(parse_cpu_mask(&long), Err(CpuListError::TooLarge(_))));
    }
}
