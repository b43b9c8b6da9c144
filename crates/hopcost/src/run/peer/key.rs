//! The key that both hosts share, and what is proved with it.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::run::trust;

/// The environment variable that may hold the key.
pub const VARIABLE: &str = "HOPCOST_KEY";
/// Bytes of a key at least, and bytes of it that are read at most.
const LEAST: usize = 16;
const MOST: u64 = 4096;

/// What both hosts know and nobody else.
pub struct Key(Vec<u8>);

impl Key {
    /// That of a file, or of the environment where none is named; or why there is none.
    pub fn of(file: Option<&Path>) -> Result<Self, String> {
        let (text, whose) = match file {
            Some(path) => (read(path)?, format!("key {}", path.display())),
            None => {
                let text = std::env::var(VARIABLE).map_err(|_| {
                    format!(
                        "no key: name a file by --key (head -c 32 /dev/urandom | base64 > KEY; \
                         chmod 600 KEY), or put it into {VARIABLE}"
                    )
                })?;
                (text.into_bytes(), VARIABLE.to_owned())
            }
        };
        let key = text.trim_ascii();
        match key.len() < LEAST {
            true => Err(format!("{whose}: want {LEAST} bytes or more, it has {}", key.len())),
            false => Ok(Self(key.to_vec())),
        }
    }

    /// The proof of these words, which cannot be taken for that of others.
    pub fn proof(&self, words: &[&str]) -> String {
        hex(&self.mac(words).finalize().into_bytes())
    }

    /// Whether this is the proof of these words, in a time that does not depend on how much of it is right.
    pub fn proves(&self, words: &[&str], proof: &str) -> bool {
        unhex(proof).is_some_and(|bytes| self.mac(words).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, words: &[&str]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("RFC 2104: any length fits");
        for word in words {
            mac.update(&(word.len() as u64).to_le_bytes());
            mac.update(word.as_bytes());
        }
        mac
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let of = |error: std::io::Error| format!("key {}: {error}", path.display());
    trust::file(path).map_err(|why| format!("key: {why}"))?;
    let file = File::open(path).map_err(of)?;
    let mode = file.metadata().map_err(of)?.mode();
    if mode & 0o077 != 0 {
        let (path, mode) = (path.display(), mode & 0o7777);
        return Err(format!("key {path}: others may read it (mode {mode:04o}); chmod 600 {path}"));
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).map_err(of)?;
    Ok(text)
}

/// 32 bytes from the kernel that nobody can guess, as 64 hexadecimal digits.
pub fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_its_words_and_its_key_alone() {
        let key = Key(b"a key of sixteen bytes".to_vec());
        let proof = key.proof(&["near", "ab", "c"]);
        assert_eq!(proof.len(), 64);
        assert!(key.proves(&["near", "ab", "c"], &proof));
        assert!(!key.proves(&["far", "ab", "c"], &proof));
        assert!(!key.proves(&["near", "a", "bc"], &proof), "the words' lengths are in it");
        assert!(!key.proves(&["near", "ab", "c"], &proof[1..]));
        assert!(!key.proves(&["near", "ab", "c"], "not hexadecimal"));
        assert!(!Key(b"another key of them".to_vec()).proves(&["near", "ab", "c"], &proof));
    }

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        // Test case 2, whose data is not framed by its length.
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
        mac.update(b"what do ya want for nothing?");
        let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex(&mac.finalize().into_bytes()), known);
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(nonce().unwrap(), nonce().unwrap());
    }
}
