//! Presets: policies by name. The first five are those of the systems Agon grew from, and more are
//! formats with rules that suit them. The casual ones are for people: minutes for a move, a lost
//! connection costs nothing, and ratings stay as they are.

use crate::policy::{
    AgeOrder, CheatCost, CrashCost, Farewell, Greeting, MatchRules, Pairing, Policy, Ties,
    TimeLimits,
};
use crate::tournament::{Bracket, Format, Knockout};
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
    /// How many connected players start a game in the queue of this name; `None` if an operator
    /// starts it.
    pub queue_players: Option<u32>,
}

/// No preset has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no preset {0:?}; there are: {known}", known = Preset::NAMES.join(", "))]
pub struct UnknownPreset(pub String);

impl Preset {
    /// All names.
    pub const NAMES: [&str; 18] = [
        "yahtzee-class",
        "yahtzee-referee",
        "yahtzee-queue",
        "fish",
        "trains",
        "yahtzee-swiss",
        "yahtzee-league",
        "yahtzee-double",
        "yahtzee-groups",
        "yahtzee-arena",
        "yahtzee-gauntlet",
        "yahtzee-sure",
        "fish-swiss",
        "fish-league",
        "trains-swiss",
        "yahtzee-casual",
        "fish-casual",
        "trains-casual",
    ];

    /// All presets.
    pub fn all() -> Vec<Preset> {
        Preset::NAMES.iter().map(|name| Preset::named(name).expect("a known name")).collect()
    }

    /// The preset for casual games of `game`.
    pub fn casual(game: &str) -> Option<Preset> {
        Preset::all().into_iter().find(|preset| preset.game == game && preset.is_casual())
    }

    /// Returns whether people play casual games with this preset: players start them without an
    /// operator.
    pub fn is_casual(&self) -> bool {
        self.queue_players.is_some()
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
                queue_players: None,
            }),
            "yahtzee-referee" => Ok(Preset {
                name: "yahtzee-referee",
                game: "yahtzee",
                config: "{}",
                about: "single elimination in order of sign-up; a crash costs the game",
                policy: yahtzee(CrashCost::ForfeitGame, CheatCost::AsCrash, Pairing::Order),
                queue_players: None,
            }),
            "yahtzee-queue" => Ok(Preset {
                name: "yahtzee-queue",
                game: "yahtzee",
                config: "{}",
                about: "single elimination; players may reconnect, cheats are blacklisted",
                policy: yahtzee(CrashCost::Resume, CheatCost::Blacklist, Pairing::Random),
                queue_players: None,
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
                queue_players: None,
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
                queue_players: None,
            }),
            "yahtzee-casual" => Ok(casual("yahtzee-casual", "yahtzee", 2)),
            "fish-casual" => Ok(casual("fish-casual", "fish", 4)),
            "trains-casual" => Ok(casual("trains-casual", "trains", 8)),
            _ => of_format(name).ok_or_else(|| UnknownPreset(name.into())),
        }
    }
}

/// A preset for a format.
struct OfFormat {
    name: &'static str,
    game: &'static str,
    /// The format as people write it.
    format: &'static str,
    /// True if games are played in groups with the same luck.
    duplicate: bool,
    about: &'static str,
}

const OF_FORMATS: [OfFormat; 10] = [
    OfFormat {
        name: "yahtzee-swiss",
        game: "yahtzee",
        format: "swiss",
        duplicate: true,
        about: "Swiss: a good order of many players; pairs of games with the same dice",
    },
    OfFormat {
        name: "yahtzee-league",
        game: "yahtzee",
        format: "round-robin",
        duplicate: true,
        about: "everybody meets everybody; pairs of games with the same dice",
    },
    OfFormat {
        name: "yahtzee-double",
        game: "yahtzee",
        format: "double-elimination",
        duplicate: false,
        about: "double elimination: a player is out after the second loss",
    },
    OfFormat {
        name: "yahtzee-groups",
        game: "yahtzee",
        format: "groups -> bracket",
        duplicate: false,
        about: "groups of four, then a bracket of the best two of each group",
    },
    OfFormat {
        name: "yahtzee-arena",
        game: "yahtzee",
        format: "arena",
        duplicate: false,
        about: "arena: players of similar rating meet, ten rounds",
    },
    OfFormat {
        name: "yahtzee-gauntlet",
        game: "yahtzee",
        format: "gauntlet",
        duplicate: true,
        about: "the first player meets everybody; pairs of games with the same dice",
    },
    OfFormat {
        name: "yahtzee-sure",
        game: "yahtzee",
        format: "until-sure",
        duplicate: true,
        about: "games until the podium is 95 % sure, in pairs with the same dice",
    },
    OfFormat {
        name: "fish-swiss",
        game: "fish",
        format: "swiss",
        duplicate: true,
        about: "Swiss; every board is played from both seats",
    },
    OfFormat {
        name: "fish-league",
        game: "fish",
        format: "round-robin",
        duplicate: true,
        about: "everybody meets everybody; every board is played from both seats",
    },
    OfFormat {
        name: "trains-swiss",
        game: "trains",
        format: "swiss:min=3,max=6",
        duplicate: false,
        about: "Swiss at tables of three to six",
    },
];

/// A preset for a format. Players may reconnect, and matches without a winner are shared, unless the
/// format needs one.
fn of_format(name: &str) -> Option<Preset> {
    let OfFormat { name, game, format, duplicate, about } =
        OF_FORMATS.into_iter().find(|preset| preset.name == name)?;
    let format = Format::read(format, &(2..=2)).ok()?;
    let mut policy = yahtzee(CrashCost::Resume, CheatCost::AsCrash, Pairing::Seeded);
    policy.rules.ties = Ties::Share;
    policy.rules.rotate_seats = true;
    format.rules().adapt(&mut policy.rules);
    policy.rules.duplicate = duplicate;
    policy.format = format;
    Some(Preset { name, game, config: "{}", about, policy, queue_players: None })
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
            measure_luck: false,
        },
        age_order: AgeOrder::Ignored,
        observer_delay_ms: 0,
        ratings: BTreeMap::new(),
        unrated: false,
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
            measure_luck: false,
        },
        age_order: AgeOrder::Ignored,
        observer_delay_ms: 0,
        ratings: BTreeMap::new(),
        unrated: false,
    }
}

/// The preset for casual games of up to `max` people.
fn casual(name: &'static str, game: &'static str, max: u32) -> Preset {
    let knockout = knockout(max, Greeting::None, Farewell::None, 300_000);
    let rules = MatchRules {
        crash: CrashCost::Resume,
        cheat: CheatCost::AsCrash,
        lapses_max: 20,
        time: TimeLimits { wait_ms: 600_000, ..knockout.rules.time },
        ..knockout.rules
    };
    Preset {
        name,
        game,
        config: "{}",
        about: "a game for people, unrated: minutes for a move, a lost connection costs nothing",
        policy: Policy { rules, unrated: true, ..knockout },
        queue_players: Some(2),
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
        assert_eq!(all[3..5], fish_and_trains);
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

    #[test]
    fn casual_games_are_unrated_and_patient() {
        for game in ["yahtzee", "fish", "trains"] {
            let Preset { name, queue_players, policy, .. } = Preset::casual(game).unwrap();
            assert_eq!((name, queue_players), (&*format!("{game}-casual"), Some(2)));
            assert!(policy.unrated, "{name}");
            assert_eq!(policy.rules.crash, CrashCost::Resume, "{name}");
            let TimeLimits { answer_ms, wait_ms, .. } = policy.rules.time;
            assert_eq!((answer_ms, wait_ms), (300_000, 600_000), "{name}");
        }
        assert_eq!(Preset::casual("chess"), None);
        assert_eq!(Preset::all().iter().filter(|preset| preset.is_casual()).count(), 3);
    }
}
