//! The target `values` under cargo-fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    agon_fuzz::target("values")(data);
});
