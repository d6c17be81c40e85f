//! The target `bus-nats` under cargo-fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    agon_fuzz::target("bus-nats")(data);
});
