//! Samples as stored: little-endian u32 clock ticks in time order, zlib.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// Samples that one trial may keep. Sixteen times what hopcost keeps by default;
/// the bound is for files made by others.
pub const MAX_PER_TRIAL: usize = 1 << 20;

/// Samples that one file may hold (1 GiB in memory), for the same reason.
pub const MAX_PER_RUN: usize = 1 << 28;

/// The zlib level of every file hopcost writes; any level reads back the same.
///
/// On two busy virtual CPUs, 16,384 samples (64 KiB) of a made-up round trip: level 1
/// packs in 0.53 ms to 47.7 %, 2 in 0.80 ms to 47.6 %, 3 in 1.5 ms to 46.2 %, 6 in
/// 11.8 ms to 44.1 %, 9 in 35 ms to 42.4 %.
/// Unpacking takes 0.25 ms whatever the level.
const LEVEL: u32 = 1;

/// Packs samples.
pub fn pack(ticks: &[u32]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(ticks.len() * 4);
    for tick in ticks {
        raw.extend_from_slice(&tick.to_le_bytes());
    }
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::new(LEVEL));
    // Writing to a Vec cannot fail; were it to, the length below would not
    // match and the reader would say so.
    let _ = encoder.write_all(&raw);
    encoder.finish().unwrap_or_default()
}

/// Unpacks up to `most` samples.
///
/// # Errors
/// In words, if the blob is not zlib or holds more or a part of one. Memory use is bounded by
/// `most` whatever the blob holds.
pub fn unpack(blob: &[u8], most: usize) -> Result<Vec<u32>, String> {
    let mut raw = Vec::new();
    // One byte more than wanted tells a longer stream; reaching its end is what
    // makes the decoder verify the checksum.
    ZlibDecoder::new(blob)
        .take(most as u64 * 4 + 1)
        .read_to_end(&mut raw)
        .map_err(|error| format!("is not readable zlib data ({error})"))?;
    if raw.len() > most * 4 || raw.len() % 4 != 0 {
        return Err(format!("does not hold whole numbers of 32 bits, at most {most}"));
    }
    Ok(raw.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_lengths_and_damage_are_refused() {
        let ticks = vec![7; 1000];
        let blob = pack(&ticks);
        assert_eq!(unpack(&blob, 1000).unwrap(), ticks);
        assert_eq!(unpack(&pack(&[]), 0).unwrap(), Vec::<u32>::new());
        assert!(unpack(&blob, 999).unwrap_err().contains("at most 999"));
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
        // 16 MiB of zeros in a few KiB: read only as far as allowed.
        let bomb = pack(&vec![0; 4 << 20]);
        assert!(bomb.len() < 100_000 && unpack(&bomb, 4).is_err());
    }
}
