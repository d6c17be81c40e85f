//! Presets: the policies of the systems Agon grew from, by name.

use crate::policy::{
    AgeOrder, CheatCost, CrashCost, Farewell, Greeting, MatchRules, Pairing, Policy, Ties,
    TimeLimits,
};
use crate::tournament::{Bracket, Knockout};
use std::collections::BTreeMap;

/// A named policy with its game.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The game it is for.
    pub game: &'static str,
    /// The game's configuration: the fields that differ from the game's defaults, as JSON.
    pub config: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The policy.
    pub policy: Policy,
}

/// No preset has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no preset {0:?}; there are: {known}", known = Preset::NAMES.join(", "))]
pub struct UnknownPreset(pub String);

impl Preset {
    /// All names.
    pub const NAMES: [&str; 5] =
        ["yahtzee-class", "yahtzee-referee", "yahtzee-queue", "fish", "trains"];

    /// All presets.
    pub fn all() -> Vec<Preset> {
        Preset::NAMES.iter().map(|name| Preset::named(name).expect("a known name")).collect()
    }

    /// The preset called `name`.
    pub fn named(name: &str) -> Result<Preset, UnknownPreset> {
        match name {
            "yahtzee-class" => Ok(Preset {
                name: "yahtzee-class",
                game: "yahtzee",
                config: "{}",
                about: "single elimination; a crash costs the game, cheating as well",
                policy: yahtzee(CrashCost::ForfeitGame, CheatCost::AsCrash, Pairing::Seeded),
            }),
            "yahtzee-referee" => Ok(Preset {
                name: "yahtzee-referee",
                game: "yahtzee",
                config: "{}",
                about: "single elimination in order of sign-up; a crash costs the game",
                policy: yahtzee(CrashCost::ForfeitGame, CheatCost::AsCrash, Pairing::Order),
            }),
            "yahtzee-queue" => Ok(Preset {
                name: "yahtzee-queue",
                game: "yahtzee",
                config: "{}",
                about: "single elimination; who comes back plays on, cheats are blacklisted",
                policy: yahtzee(CrashCost::Resume, CheatCost::Blacklist, Pairing::Random),
            }),
            "fish" => Ok(Preset {
                name: "fish",
                game: "fish",
                config: r#"{"confirm":true}"#,
                about: "knock-out in games of 2 to 4, youngest first; misbehaviour: out at once",
                policy: Policy {
                    age_order: AgeOrder::YoungestFirst,
                    ..knockout(4, Greeting::Ready, Farewell::Winners, 10_000)
                },
            }),
            "trains" => Ok(Preset {
                name: "trains",
                game: "trains",
                config: r#"{"confirm":true}"#,
                about: "knock-out in games of 2 to 8, oldest first, players propose the map",
                policy: Policy {
                    age_order: AgeOrder::OldestFirst,
                    ..knockout(8, Greeting::Proposal, Farewell::Everybody, 2_000)
                },
            }),
            _ => Err(UnknownPreset(name.into())),
        }
    }
}

fn yahtzee(crash: CrashCost, cheat: CheatCost, pairing: Pairing) -> Policy {
    Policy {
        format: Bracket::default().into(),
        pairing,
        greeting: Greeting::None,
        farewell: Farewell::None,
        rules: MatchRules {
            best_of: 1,
            ties: Ties::Replay,
            crash,
            cheat,
            lapses_max: 3,
            rotate_seats: false,
            confirm_result: false,
            time: TimeLimits { answer_ms: 10_000, bank_ms: 0, wait_ms: 60_000, house_pace_ms: 0 },
            duplicate: false,
            sprt: None,
        },
        age_order: AgeOrder::Ignored,
        observer_delay_ms: 0,
        ratings: BTreeMap::new(),
    }
}

fn knockout(max: u32, greeting: Greeting, farewell: Farewell, answer_ms: u64) -> Policy {
    Policy {
        format: Knockout { min: 2, max }.into(),
        pairing: Pairing::Order,
        greeting,
        farewell,
        rules: MatchRules {
            best_of: 1,
            ties: Ties::Share,
            crash: CrashCost::Remove,
            cheat: CheatCost::Remove,
            lapses_max: 0,
            rotate_seats: false,
            confirm_result: farewell == Farewell::Everybody,
            time: TimeLimits { answer_ms, bank_ms: 0, wait_ms: 0, house_pace_ms: 0 },
            duplicate: false,
            sprt: None,
        },
        age_order: AgeOrder::Ignored,
        observer_delay_ms: 0,
        ratings: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_sound_and_unknown_names_list_the_known() {
        for preset in Preset::all() {
            assert_eq!(preset.policy.check(), Ok(()), "{}", preset.name);
        }
        let error = Preset::named("chess").unwrap_err().to_string();
        assert!(error.contains("yahtzee-queue"), "{error}");
    }

    #[test]
    fn presets_have_their_documented_policies() {
        let all: Vec<(&str, &str, &str)> =
            Preset::all().iter().map(|preset| (preset.name, preset.game, preset.config)).collect();
        let confirm = r#"{"confirm":true}"#;
        let yahtzee = |name| (name, "yahtzee", "{}");
        let fish_and_trains = [("fish", "fish", confirm), ("trains", "trains", confirm)];
        assert_eq!(all[..3], ["yahtzee-class", "yahtzee-referee", "yahtzee-queue"].map(yahtzee));
        assert_eq!(all[3..], fish_and_trains);
        let policy = |name| Preset::named(name).unwrap().policy;
        let (class, fish, trains) = (policy("yahtzee-class"), policy("fish"), policy("trains"));
        let slots = None;
        assert_eq!(class.format, Bracket { slots, third_place: false }.into());
        assert_eq!(
            class.rules.time,
            TimeLimits { answer_ms: 10_000, bank_ms: 0, wait_ms: 60_000, house_pace_ms: 0 }
        );
        assert_eq!(fish.format, Knockout { min: 2, max: 4 }.into());
        assert_eq!(trains.format, Knockout { min: 2, max: 8 }.into());
        // Trains asks everybody to confirm the end, also of each game; Fish asks only the winners.
        assert_eq!((fish.rules.confirm_result, trains.rules.confirm_result), (false, true));
        assert_eq!((fish.farewell, trains.farewell), (Farewell::Winners, Farewell::Everybody));
        assert_eq!((fish.rules.time.answer_ms, trains.rules.time.answer_ms), (10_000, 2_000));
    }
}
