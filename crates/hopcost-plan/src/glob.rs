//! Globs as shells have them: `*`, `?`, `[a-z]`, `[!a-z]` and `\` before a literal character.

use std::str::Chars;

/// A glob, ready to be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Glob(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Literal(char),
    One,
    Many,
    /// A character inside of one of the ranges (both ends included), or outside of all.
    Class {
        ranges: Vec<(char, char)>,
        inside: bool,
    },
}

impl Glob {
    /// Parses it, or says what is wrong.
    pub fn new(text: &str) -> Result<Glob, &'static str> {
        let (mut pieces, mut rest) = (Vec::new(), text.chars());
        while let Some(c) = rest.next() {
            pieces.push(match c {
                '*' => Piece::Many,
                '?' => Piece::One,
                '\\' => Piece::Literal(rest.next().ok_or("a `\\` with nothing behind it")?),
                '[' => class(&mut rest)?,
                c => Piece::Literal(c),
            });
        }
        Ok(Glob(pieces))
    }

    /// Whether it stands for the whole name. Only the last `*` is ever tried again,
    /// which is enough because an earlier one took as little as it could.
    pub fn is_match(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut piece, mut at) = (0, 0);
        // The piece behind the last `*`, and where what that `*` stands for ends.
        let mut again: Option<(usize, usize)> = None;
        loop {
            match (self.0.get(piece), name.get(at)) {
                (None, None) => return true,
                (Some(Piece::Many), _) => {
                    piece += 1;
                    again = Some((piece, at));
                }
                (Some(next), Some(&c)) if next.is(c) => (piece, at) = (piece + 1, at + 1),
                _ => match again {
                    Some((behind, end)) if end < name.len() => {
                        (piece, at) = (behind, end + 1);
                        again = Some((piece, at));
                    }
                    _ => return false,
                },
            }
        }
    }
}

impl Piece {
    fn is(&self, c: char) -> bool {
        match self {
            Piece::Literal(literal) => *literal == c,
            Piece::Class { ranges, inside } => {
                ranges.iter().any(|&(first, last)| (first..=last).contains(&c)) == *inside
            }
            Piece::One | Piece::Many => true,
        }
    }
}

/// What follows a `[`, its `]` included, which is literal where it comes first.
fn class(rest: &mut Chars) -> Result<Piece, &'static str> {
    let inside = !rest.as_str().starts_with(['!', '^']);
    if !inside {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let first = rest.next().ok_or("a `[` without its `]`")?;
        if first == ']' && !ranges.is_empty() {
            return Ok(Piece::Class { ranges, inside });
        }
        let mut behind = rest.clone();
        let last = match (behind.next(), behind.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *rest = behind;
                last
            }
            _ => first,
        };
        if last < first {
            return Err("a range whose end comes before its start");
        }
        ranges.push((first, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stands_for_whole_names() {
        let matches = |glob: &str, name: &str| Glob::new(glob).unwrap().is_match(name);
        for (glob, name) in [
            ("*", ""),
            ("*", "pipe"),
            ("**", "pipe"),
            ("unix-*", "unix-stream"),
            ("*-stream", "unix-stream"),
            ("*i*e*", "pipe"),
            ("*ab*abc", "ababdabc"),
            ("p?pe", "pipe"),
            ("[pq]ipe", "pipe"),
            ("[!a-o]ipe", "pipe"),
            ("[^a-o]ipe", "pipe"),
            ("[]a]", "]"),
            ("[a-]", "-"),
            ("[-a]", "-"),
            ("\\*", "*"),
            ("\u{fc}*", "\u{fc}ber"),
        ] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [
            ("", "pipe"),
            ("unix-*", "unix"),
            ("unix-*", "a-unix-stream"),
            ("*pip", "pipe"),
            ("pipe?", "pipe"),
            ("[!p]ipe", "pipe"),
            ("[a-o]ipe", "pipe"),
            ("!pipe", "tcp"),
            ("\\*", "pipe"),
            ("*ab*abc", "ababdab"),
        ] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
        for bad in ["[", "[]", "[!]", "[a", "a\\", "[z-a]"] {
            assert!(Glob::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn many_stars_do_not_take_long() {
        let glob = Glob::new(&"*a".repeat(100)).unwrap();
        assert!(!glob.is_match(&"a".repeat(99)));
        assert!(glob.is_match(&"a".repeat(10_000)));
        assert!(!glob.is_match(&"b".repeat(10_000)));
    }
}
