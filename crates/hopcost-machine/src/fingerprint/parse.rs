//! What is looked for in the text of one file.

use crate::cpulist::parse_cpu_list;

/// Texts and what they mean.
pub(super) type Words = &'static [(&'static str, &'static str)];

/// A switch as files of the kernel hold it.
pub(super) const SWITCH: Words = &[("1", "on"), ("Y", "on"), ("0", "off"), ("N", "off")];

/// A text, or what it means.
pub(super) fn word(words: Words, text: String) -> String {
    let known = words.iter().find(|(word, _)| *word == text);
    known.map_or(text, |(_, meaning)| (*meaning).to_owned())
}

/// A text without blanks around it, unless it is empty.
pub(super) fn filled(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A number of bytes in the largest binary unit that it fills, with at most two
/// decimals.
pub(super) fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    // From here on two decimals would say 1024.00.
    const FULL: f64 = 1023.995;
    let mut unit = 0;
    let mut value = bytes as f64;
    while unit + 1 < UNITS.len() && value >= FULL {
        value /= 1024.0;
        unit += 1;
    }
    if bytes.is_multiple_of(1 << (10 * unit)) {
        return format!("{value:.0} {}", UNITS[unit]);
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// The word in brackets: `always [madvise] never` gives `madvise`.
pub(super) fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word)
}

/// `  4 kB`
pub(super) fn kib(text: &str) -> Option<String> {
    let kib: u64 = text.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).map(human_bytes)
}

/// A list of NUMA nodes.
pub(super) fn nodes(text: &str) -> Option<String> {
    let nodes = parse_cpu_list(text)?.len();
    Some(format!("{nodes} {} ({text})", if nodes == 1 { "node" } else { "nodes" }))
}

/// What a limit of a process counts.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Count,
    Bytes,
}

/// Soft limit, and the hard one where it differs.
pub(super) fn limit(rest: &str, unit: Limit) -> Option<String> {
    let mut words = rest.split_whitespace();
    let mut spell = || {
        let word = words.next()?;
        Some(match (word, unit) {
            ("unlimited", _) => word.to_owned(),
            (_, Limit::Count) => word.parse::<u64>().ok()?.to_string(),
            (_, Limit::Bytes) => human_bytes(word.parse().ok()?),
        })
    };
    let (soft, hard) = (spell()?, spell()?);
    Some(if soft == hard { soft } else { format!("{soft}, can be raised to {hard}") })
}

/// Policy, nice value and real-time priority of /proc/self/stat.
pub(super) fn policy(stat: &str) -> Option<String> {
    // The second field, the name in brackets, may itself hold brackets and
    // spaces; the third follows the last bracket. Numbering is that of proc(5).
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let nice: i32 = field(19)?.parse().ok()?;
    let priority: u32 = field(40)?.parse().ok()?;
    Some(match field(41)?.parse::<u32>().ok()? {
        0 => format!("other, nice {nice}"),
        1 => format!("fifo, priority {priority}"),
        2 => format!("round-robin, priority {priority}"),
        3 => format!("batch, nice {nice}"),
        5 => "idle".to_owned(),
        6 => "deadline".to_owned(),
        7 => format!("ext, nice {nice}"),
        other => format!("policy {other}"),
    })
}

/// The load over 1, 5 and 15 minutes and the tasks that run or want to, this process
/// included: one of the four, if all are as they should be.
pub(super) fn load(text: &str, which: usize) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [averages @ .., tasks] = words.first_chunk::<4>()?;
    let (runnable, all) = tasks.split_once('/')?;
    let is_load = |word: &&str| word.parse::<f64>().is_ok_and(|n| n.is_finite() && n >= 0.0);
    let is_sane = averages.iter().all(is_load)
        && [runnable, all].iter().all(|word| word.parse::<u64>().is_ok());
    let found = averages.get(which).copied().unwrap_or(runnable);
    is_sane.then(|| found.to_owned())
}

/// The share of the last ten seconds in which some task waited for a CPU.
pub(super) fn pressure(text: &str) -> Option<String> {
    let rest = text.lines().find_map(|line| line.strip_prefix("some avg10="))?;
    let share = rest.split_whitespace().next()?;
    share.parse::<f64>().ok().map(|_| format!("{share} % of 10 s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_the_unit_they_fill() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (8 << 20, "8 MiB"),
            (819_200, "800 KiB"),
            (1536, "1.50 KiB"),
            (24_684_084 << 10, "23.54 GiB"),
            (1_048_572 << 10, "1.00 GiB"),
            ((1 << 60) + 1, "1048576.00 TiB"),
        ] {
            assert_eq!(human_bytes(bytes), text);
        }
        assert_eq!(kib("  4 kB").as_deref(), Some("4 KiB"));
        for text in ["4", "x kB", "18446744073709551615 kB"] {
            assert_eq!(kib(text), None);
        }
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("always madvise"), None);
        assert_eq!(bracketed("[open"), None);
    }

    #[test]
    fn limits_name_the_hard_one_where_it_differs() {
        let files =
            limit("            1024                 1048576              files", Limit::Count);
        assert_eq!(files.as_deref(), Some("1024, can be raised to 1048576"));
        assert_eq!(limit(" 8388608 8388608 bytes", Limit::Bytes).as_deref(), Some("8 MiB"));
        assert_eq!(limit(" 0 0 ", Limit::Count).as_deref(), Some("0"));
        assert_eq!(limit(" x 1 bytes", Limit::Bytes), None);
    }

    #[test]
    fn the_policy_survives_a_hostile_name() {
        let stat = |tail: &str| format!("1 (a) R 0 (b) R {tail}");
        let numbers = |nice: i32, priority: u32, policy: u32| {
            let mut fields = vec!["0".to_owned(); 49];
            fields[19 - 4] = nice.to_string();
            fields[40 - 4] = priority.to_string();
            fields[41 - 4] = policy.to_string();
            stat(&fields.join(" "))
        };
        assert_eq!(policy(&numbers(-5, 0, 0)).as_deref(), Some("other, nice -5"));
        assert_eq!(policy(&numbers(0, 10, 1)).as_deref(), Some("fifo, priority 10"));
        assert_eq!(policy(&stat("1 2 3")), None);
        assert_eq!(policy("no bracket"), None);
    }

    #[test]
    fn the_load_line_is_taken_whole_or_not_at_all() {
        let of = |text: &str| (0..4).map(|which| load(text, which)).collect::<Option<Vec<_>>>();
        assert_eq!(of("0.17 0.15 0.08 4/97 6768").unwrap(), ["0.17", "0.15", "0.08", "4"]);
        for garbage in ["", "0.1 0.2", "a b c 1/2 3", "0.1 0.2 0.3 12 4", "NaN 0 0 1/2 3"] {
            assert!(of(garbage).is_none(), "{garbage}");
        }
    }
}
