//! Samples as stored: little-endian clock ticks in time order, zlib. Each takes 32 bits, or all take
//! 64 where one does not fit.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::limits::TICKS_MAX;

/// Samples that one trial may keep. Sixteen times what hopcost keeps by default;
/// the bound is for files made by others.
pub const MAX_PER_TRIAL: usize = 1 << 20;

/// Samples that one file may hold (1 GiB in memory), for the same reason.
pub const MAX_PER_RUN: usize = 1 << 27;

/// The zlib level of every file hopcost writes; any level reads back the same.
///
/// On two busy virtual CPUs, 16,384 samples (64 KiB) of a made-up round trip: level 1
/// packs in 0.53 ms to 47.7 %, 2 in 0.80 ms to 47.6 %, 3 in 1.5 ms to 46.2 %, 6 in
/// 11.8 ms to 44.1 %, 9 in 35 ms to 42.4 %.
/// Unpacking takes 0.25 ms whatever the level.
const LEVEL: u32 = 1;

/// Packs samples.
pub fn pack(ticks: &[u64]) -> Vec<u8> {
    let short: Result<Vec<u32>, _> = ticks.iter().map(|ticks| (*ticks).try_into()).collect();
    zlib(match short {
        Ok(short) => short.iter().flat_map(|ticks| ticks.to_le_bytes()).collect(),
        Err(_) => ticks.iter().flat_map(|ticks| ticks.to_le_bytes()).collect(),
    })
}

pub(crate) fn zlib(raw: Vec<u8>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::new(LEVEL));
    // Writing to a Vec cannot fail; were it to, the length below would not
    // match and the reader would say so.
    let _ = encoder.write_all(&raw);
    encoder.finish().unwrap_or_default()
}

/// Unpacks this many samples.
///
/// # Errors
/// In words, if the blob is not zlib, or does not hold as many of 32 or of 64 bits, or one that no
/// clock shows. Memory use is bounded by `kept` whatever the blob holds.
pub fn unpack(blob: &[u8], kept: usize) -> Result<Vec<u64>, String> {
    let raw = unzlib(blob, kept * 8)?;
    let ticks: Vec<u64> = match raw.len() {
        bytes if bytes == kept * 4 => {
            raw.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four).into()).collect()
        }
        bytes if bytes == kept * 8 => {
            raw.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight)).collect()
        }
        bytes => return Err(format!("holds {bytes} bytes, not 4 or 8 for each of {kept} samples")),
    };
    match ticks.iter().max() {
        Some(&longest) if longest >= TICKS_MAX => {
            Err(format!("holds a sample of {longest} ticks, which cannot be"))
        }
        _ => Ok(ticks),
    }
}

pub(crate) fn unzlib(blob: &[u8], most_bytes: usize) -> Result<Vec<u8>, String> {
    let mut raw = Vec::with_capacity(most_bytes.min(8 * blob.len()) + 1);
    // One byte more than wanted tells a longer stream; reaching its end is what
    // makes the decoder verify the checksum.
    ZlibDecoder::new(blob)
        .take(most_bytes as u64 + 1)
        .read_to_end(&mut raw)
        .map_err(|error| format!("is not readable zlib data ({error})"))?;
    match raw.len() > most_bytes {
        false => Ok(raw),
        true => Err(format!("holds more than {most_bytes} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_lengths_and_damage_are_refused() {
        let ticks = vec![7; 1000];
        let blob = pack(&ticks);
        assert_eq!(unpack(&blob, 1000).unwrap(), ticks);
        assert_eq!(unpack(&pack(&[]), 0).unwrap(), Vec::<u64>::new());
        assert!(unpack(&blob, 999).unwrap_err().contains("for each of 999 samples"));
        assert!(unpack(&blob, 499).unwrap_err().contains("more than 3992 bytes"));
        assert!(unpack(&[], 1).is_err());
        assert!(unpack(b"plain text", 3).is_err());
        for at in 2..blob.len() {
            let mut bent = blob.clone();
            bent[at] ^= 0x10;
            // Some bits of a deflate stream mean nothing; the checksum's all do.
            let read = unpack(&bent, 1000);
            assert!(read.is_err() || at < blob.len() - 4, "checksum byte {at} is not checked");
            assert!(read.is_err() || read == Ok(ticks.clone()), "byte {at} changed the samples");
            assert!(unpack(&blob[..at], 1000).is_err(), "cut at {at} went unnoticed");
        }
        let long = vec![7, u32::MAX.into(), 1 << 32, TICKS_MAX - 1];
        assert_eq!(unpack(&pack(&long), 4).unwrap(), long, "nothing is cut off");
        assert!(unpack(&pack(&[TICKS_MAX]), 1).unwrap_err().contains("cannot be"));
        // 16 MiB of zeros in a few KiB: read only as far as allowed.
        let bomb = pack(&vec![0; 4 << 20]);
        assert!(bomb.len() < 100_000 && unpack(&bomb, 4).is_err());
    }
}
