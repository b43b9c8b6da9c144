//! Ids of runs: a UTC time that sorts, and enough randomness for two runs that
//! start in the same second.

/// The last second of the year 9999, so that ids and times keep their width.
const LAST_SECOND: u64 = 253_402_300_799;

/// The id of a run that starts at `unix_seconds`: `20261120-201530-4f2a`, the
/// UTC time and the low 16 bits of `random`. Ids sort by time.
pub fn new_id(unix_seconds: u64, random: u32) -> String {
    let digits: String = utc(unix_seconds).chars().filter(char::is_ascii_digit).collect();
    format!("{}-{}-{:04x}", &digits[..8], &digits[8..], random & 0xffff)
}

/// RFC 3339 in UTC, as [`hopcost_model::raw::RunAbout`] wants it:
/// `2026-11-20T20:15:30Z`.
///
/// Days to civil date after Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms": years start in March, so that the leap day is the last.
pub fn utc(unix_seconds: u64) -> String {
    let unix_seconds = unix_seconds.min(LAST_SECOND);
    let days = unix_seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let of_day = unix_seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Whether `id` has the shape of [`new_id`], so that its place in time is known.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 20
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 15 => byte == b'-',
            16.. => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_spell_the_time_and_sort() {
        // GNU date -u -d @N agrees with each.
        assert_eq!(new_id(0, 0), "19700101-000000-0000");
        assert_eq!(new_id(1_795_205_730, 0xabcd_4f2a), "20261120-201530-4f2a");
        assert_eq!(utc(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(utc(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(utc(u64::MAX), "9999-12-31T23:59:59Z");
        let mut last = String::new();
        for second in (0..LAST_SECOND).step_by(86_399 * 31) {
            let id = new_id(second, u32::MAX);
            assert!(id > last && is_id(&id), "{id} after {last}");
            last = id;
        }
    }

    #[test]
    fn other_names_are_no_ids() {
        for name in
            ["", "last", "20261120-201530-4F2A", "20261120-201530-4f2", "2026112g-201530-4f2a"]
        {
            assert!(!is_id(name), "{name}");
        }
    }
}
