#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| hopcost_fuzz::claims(data));
