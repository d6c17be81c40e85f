//! The target `log-file` under cargo-fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    agon_fuzz::target("log-file")(data);
});
