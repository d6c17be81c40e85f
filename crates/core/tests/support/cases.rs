//! How many cases a property is tried on, and which: the same ones every time, unless
//! `PROPTEST_CASES` asks for more or `PROPTEST_RNG_SEED` for others.

use proptest::test_runner::{Config, RngSeed};

pub(crate) fn cases(count: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}
