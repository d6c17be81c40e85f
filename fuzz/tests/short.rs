//! A short run of every target: its corpus, then mutations of that. `AGON_FUZZ=1000000` makes it a
//! million of them, `make fuzz` lets cargo-fuzz look for more.

use agon_fuzz::{TARGETS, campaign};

/// A test for each target; `$least` of a thousand mutations, at least, have something good in them.
macro_rules! short_runs {
    ($($test:ident $name:literal $least:literal,)*) => {
        $(
            #[test]
            fn $test() {
                let ran = campaign::run($name);
                eprintln!("{}: {ran:?}", $name);
                assert!(ran.corpus_good > 0, "nothing in the corpus is good: {ran:?}");
                assert!(ran.good * 1_000 >= ran.mutations * $least, "few are good: {ran:?}");
                assert!(ran.good < ran.mutations, "nothing is refused: {ran:?}");
            }
        )*

        #[test]
        fn every_target_has_a_test_a_corpus_and_a_way_to_run_it() {
            let tested = [$($name),*];
            let named: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(named, tested);
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("runner");
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            for name in named {
                assert!(!campaign::corpus(name).is_empty(), "{name} has no corpus");
                let path = format!("fuzz_targets/{name}.rs");
                assert!(manifest.contains(&format!("path = \"{path}\"")), "{path} is not built");
                let text = std::fs::read_to_string(folder.join(&path)).expect("a target");
                assert!(text.contains(&format!("target(\"{name}\")")), "{path} runs another");
            }
        }
    };
}

short_runs! {
    native_to_server "native-to-server" 1,
    native_to_player "native-to-player" 1,
    websocket "websocket" 1,
    http_events "http-events" 1,
    values "values" 1,
    sign_up "sign-up" 1,
    fish_wire "fish-wire" 1,
    trains_wire "trains-wire" 1,
    erlang_term "erlang-term" 1,
    erlang_handshake "erlang-handshake" 1,
    erlang_epmd "erlang-epmd" 1,
    erlang_frames "erlang-frames" 1,
    erlang_session "erlang-session" 1,
    bus_frames "bus-frames" 1,
    bus_packet "bus-packet" 1,
    bus_relay "bus-relay" 1,
    bus_nats "bus-nats" 1,
    log_line "log-line" 1,
    log_file "log-file" 1,
    names "names" 1,
    announcement "announcement" 1,
    snapshot "snapshot" 1,
    game_config "game-config" 1,
    trains_map "trains-map" 1,
    game_view "game-view" 1,
    rules_yahtzee "rules-yahtzee" 1,
    rules_fish "rules-fish" 1,
    rules_trains "rules-trains" 1,
    config_serve "config-serve" 1,
    config_run "config-run" 1,
    verify "verify" 1,
}
