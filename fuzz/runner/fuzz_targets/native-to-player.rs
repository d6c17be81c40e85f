//! The target `native-to-player` under cargo-fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    agon_fuzz::target("native-to-player")(data);
});
