//! Text from a file, a worker or a command line, which may hold anything.

use crate::units::spaced_size;

/// Whether a character shows as itself: no control character, which a terminal may
/// obey, and no invisible mark or one that turns or joins the text around it.
pub fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{1d173}'..='\u{1d17a}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with every character that is not plain written out (`\n`, `\u{202e}`).
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) { out.push(c) } else { out.extend(c.escape_default()) }
    }
    out
}

/// `1 trial`, `2 trials`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `64 bytes`, `4 KiB`
pub fn bytes(n: u32) -> String {
    let size = spaced_size(u64::from(n));
    if size.ends_with(" B") { count(n as usize, "byte") } else { size }
}

/// `1, 2 and 4`
pub fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// A few names, and how many more there are: `1, 2 and 4 more`.
pub fn some(all: &[String], most: usize) -> String {
    let mut named: Vec<String> = all.iter().take(most).cloned().collect();
    named.extend((all.len() > most).then(|| format!("{} more", all.len() - most)));
    listed(&named)
}

/// The least and the greatest of these numbers, once where they look alike: `1.1 to 1.4`.
pub fn span(values: &[f64], shown: impl Fn(f64) -> String) -> Option<String> {
    let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).map(&shown);
    let (least, most) = (end(f64::min)?, end(f64::max)?);
    Some(if least == most { most } else { format!("{least} to {most}") })
}

/// A word quoted for a POSIX shell, if it needs to be.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_as_itself_is_written_out() {
        assert_eq!(escaped("µs, 文字, \\ 'é'"), "µs, 文字, \\ 'é'");
        assert_eq!(escaped("a\x1b[2J\n\u{202e}b\u{9b}\0"), r"a\u{1b}[2J\n\u{202e}b\u{9b}\u{0}");
        for c in "\t\u{7f}\u{200f}\u{2066}\u{2069}\u{feff}\u{e0041}\u{200b}\u{ad}\u{2060}".chars() {
            assert!(!is_plain(c) && escaped(&escaped(&c.to_string())).starts_with('\\'));
        }
    }
}
