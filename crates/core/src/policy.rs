//! Policies: the settings in which tournaments differ, as data.

use crate::ids::{Millis, PlayerName};
use crate::tournament::Format;
use agon_stats::{EloModel, Sprt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// In which order players are put into slots and games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// In order of sign-up, neighbours meet: 1 and 2, 3 and 4.
    Order,
    /// As seeds: the first meets the last, and the first two can meet only in the final.
    Seeded,
    /// As seeds after a fair shuffle.
    Random,
    /// As seeds by rating, the highest first; players without a rating come last.
    Rating,
}

/// In which order a sign-up puts players who gave their age.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgeOrder {
    /// Ages do not matter: players play in order of sign-up.
    #[default]
    Ignored,
    /// The youngest first.
    YoungestFirst,
    /// The oldest first.
    OldestFirst,
}

impl AgeOrder {
    fn is_ignored(&self) -> bool {
        *self == AgeOrder::Ignored
    }
}

/// The cost of a crash: a lost connection, no answer in time, or bytes that are no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CrashCost {
    /// The game in progress, not the match; the match waits for the player to come back.
    ForfeitGame,
    /// Nothing, if the player comes back within the wait: its open request is sent again.
    Resume,
    /// The player is out at once.
    Remove,
}

/// The cost of cheating.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheatCost {
    /// The game, as by a crash.
    AsCrash,
    /// The player is out at once.
    Remove,
    /// Every match of the player, and every tournament to come until an operator lifts it.
    Blacklist,
}

/// The meaning of a tied game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// It is discarded and played again; too many in a row restart the match under the game's
    /// configuration for undecidable matches.
    Replay,
    /// Everybody in first place has won it.
    Share,
}

/// The request to players before the first round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Greeting {
    /// Nothing.
    None,
    /// Players say that they are ready. A player who does not, or does not answer, is out.
    Ready,
    /// A configuration for the games (a Trains map); the first that fits is used.
    Proposal,
}

/// The notice to players after the last round, which they have to confirm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Farewell {
    /// Told, nothing to confirm.
    None,
    /// Winners must confirm, or become losers.
    Winners,
    /// Everybody must confirm, or is counted among the failing; winners lose their win.
    Everybody,
}

/// How long things may take, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeLimits {
    /// For one answer, from the moment the request was written to the player.
    pub answer_ms: Millis,
    /// Extra time per seat and game that answers beyond `answer_ms` draw on.
    pub bank_ms: Millis,
    /// For a player to connect or come back.
    pub wait_ms: Millis,
    /// How long a house player waits before each answer, so that people can follow the game.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub house_pace_ms: Millis,
}

/// The part of a policy that one match needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchRules {
    /// Best of how many games; odd.
    pub best_of: u32,
    /// The meaning of a tied game.
    pub ties: Ties,
    /// The cost of a crash.
    pub crash: CrashCost,
    /// The cost of cheating.
    pub cheat: CheatCost,
    /// How often a player may lapse and come back in one game under [`CrashCost::Resume`].
    pub lapses_max: u32,
    /// True if seats move on by one from game to game, so that everybody starts once.
    pub rotate_seats: bool,
    /// True if every player must confirm the result of a game; who fails leaves the ranking.
    pub confirm_result: bool,
    /// Time limits.
    pub time: TimeLimits,
    /// True if games come in groups with the same luck, in which every player takes every seat
    /// once: pairs, in games of two. Then `best_of` counts groups, a shared game is half a win, and
    /// only a match that is level after its groups is a tie. Seats rotate within a group.
    #[serde(default, skip_serializing_if = "is_false")]
    pub duplicate: bool,
    /// A sequential test that replaces `best_of`: the match goes on until the test knows the
    /// answer. It needs `duplicate`, and matches of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtRule>,
    /// True if the result of a game says how much luck each player had. Formats with the tie-break
    /// `luck-adjusted` need it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub measure_luck: bool,
}

/// A sequential probability ratio test between the two players of a match: is the first player
/// `elo1` stronger than the second (H1), or only `elo0` (H0)? The first player wins the match if the
/// test accepts H1, and the second if it accepts H0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SprtRule {
    /// The difference of strength under H0.
    pub elo0: Decimal,
    /// The difference of strength under H1.
    pub elo1: Decimal,
    /// The highest probability of accepting H1 although H0 is true.
    pub alpha: Decimal,
    /// The highest probability of accepting H0 although H1 is true.
    pub beta: Decimal,
    /// True if `elo0` and `elo1` are in normalised Elo.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalised: bool,
    /// After this many pairs without a verdict the score decides.
    pub pairs_max: u32,
}

impl SprtRule {
    /// The most pairs of a match.
    pub const PAIRS_MAX: u32 = 50_000;

    /// The test with its settings.
    pub fn test(&self) -> Sprt {
        Sprt {
            elo0: self.elo0.0,
            elo1: self.elo1.0,
            alpha: self.alpha.0,
            beta: self.beta.0,
            model: if self.normalised { EloModel::Normalised } else { EloModel::Logistic },
        }
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=SprtRule::PAIRS_MAX).contains(&self.pairs_max) {
            let most = SprtRule::PAIRS_MAX;
            return Err(format!("pairs_max is 1 to {most}, not {}", self.pairs_max));
        }
        self.test().check()
    }
}

/// A finite number in a policy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64")]
pub struct Decimal(f64);

// A finite number equals itself.
impl Eq for Decimal {}

impl TryFrom<f64> for Decimal {
    type Error = String;

    fn try_from(value: f64) -> Result<Decimal, String> {
        match value.is_finite() {
            true => Ok(Decimal(value)),
            false => Err(format!("{value} is not a finite number")),
        }
    }
}

impl From<Decimal> for f64 {
    fn from(number: Decimal) -> f64 {
        number.0
    }
}

/// Everything an organiser decides about a tournament besides the game itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The tournament's format.
    pub format: Format,
    /// In which order.
    pub pairing: Pairing,
    /// The request to players before the first round.
    pub greeting: Greeting,
    /// The notice that players confirm after the last round.
    pub farewell: Farewell,
    /// How matches go.
    #[serde(rename = "match")]
    pub rules: MatchRules,
    /// In which order a sign-up puts players who gave their age.
    #[serde(default, skip_serializing_if = "AgeOrder::is_ignored")]
    pub age_order: AgeOrder,
    /// By how much observers see matches late, so that they cannot help players.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub observer_delay_ms: Millis,
    /// The ratings of players, for seeding by rating and for formats that pair by rating.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratings: BTreeMap<PlayerName, i64>,
    /// True if its results leave the ratings of its players alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unrated: bool,
}

fn is_zero(value: &Millis) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Policy {
    /// The longest delay for observers.
    pub const OBSERVER_DELAY_MS_MAX: Millis = 3_600_000;

    /// The longest wait of a house player.
    pub const HOUSE_PACE_MS_MAX: Millis = 60_000;

    /// Checks that the policy is consistent; the error says what is not.
    pub fn check(&self) -> Result<(), String> {
        let rules = &self.rules;
        if rules.best_of.is_multiple_of(2) || rules.best_of > 99 {
            return Err(format!(
                "a match is best of an odd number of games up to 99, not {}",
                rules.best_of
            ));
        }
        if self.observer_delay_ms > Policy::OBSERVER_DELAY_MS_MAX {
            return Err(format!(
                "observer_delay_ms is at most {}, not {}",
                Policy::OBSERVER_DELAY_MS_MAX,
                self.observer_delay_ms
            ));
        }
        if rules.time.house_pace_ms > Policy::HOUSE_PACE_MS_MAX {
            let (most, wanted) = (Policy::HOUSE_PACE_MS_MAX, rules.time.house_pace_ms);
            return Err(format!("house_pace_ms is at most {most}, not {wanted}"));
        }
        if let Some(sprt) = &rules.sprt {
            if !rules.duplicate {
                return Err("a sequential test needs duplicate games: duplicate = true".into());
            }
            sprt.check()?;
        }
        self.format.rules().check(rules)?;
        match rules.time.answer_ms {
            0 => Err("answer_ms must be at least 1".into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;
    use crate::tournament::{Bracket, Knockout, RoundRobin};

    fn checked(change: impl FnOnce(&mut Policy)) -> Result<(), String> {
        let mut policy = Preset::named("yahtzee-class").unwrap().policy;
        change(&mut policy);
        policy.check()
    }

    #[test]
    fn matches_are_best_of_an_odd_number() {
        for best_of in [1, 3, 99] {
            assert_eq!(checked(|policy| policy.rules.best_of = best_of), Ok(()));
        }
        for best_of in [0, 2, 98, 100, 101] {
            let why = format!("a match is best of an odd number of games up to 99, not {best_of}");
            assert_eq!(checked(|policy| policy.rules.best_of = best_of), Err(why));
        }
    }

    #[test]
    fn observers_wait_an_hour_at_most_and_answers_have_time() {
        assert_eq!(checked(|policy| policy.observer_delay_ms = 3_600_000), Ok(()));
        let why = "observer_delay_ms is at most 3600000, not 3600001".to_owned();
        assert_eq!(checked(|policy| policy.observer_delay_ms = 3_600_001), Err(why));
        assert_eq!(checked(|policy| policy.rules.time.answer_ms = 1), Ok(()));
        let why = "answer_ms must be at least 1".to_owned();
        assert_eq!(checked(|policy| policy.rules.time.answer_ms = 0), Err(why));
        assert_eq!(checked(|policy| policy.rules.time.house_pace_ms = 60_000), Ok(()));
        let why = "house_pace_ms is at most 60000, not 60001".to_owned();
        assert_eq!(checked(|policy| policy.rules.time.house_pace_ms = 60_001), Err(why));
    }

    #[test]
    fn brackets_have_a_power_of_two_slots_and_one_winner_a_match() {
        let with =
            |slots| checked(|policy| policy.format = Bracket { slots, third_place: false }.into());
        for slots in [None, Some(2), Some(4), Some(1 << 20)] {
            assert_eq!(with(slots), Ok(()));
        }
        for slots in [0, 1, 3, 6, 1 << 21] {
            let why = format!("a bracket has 2, 4, 8 … slots, not {slots}");
            assert_eq!(with(Some(slots)), Err(why));
        }
        let why = "a bracket needs one winner a match: ties = \"replay\"".to_owned();
        assert_eq!(checked(|policy| policy.rules.ties = Ties::Share), Err(why));
    }

    #[test]
    fn knockouts_are_of_single_games_in_which_ties_are_shared() {
        let with = |min, max, best_of, ties| {
            checked(|policy| {
                policy.format = Knockout { min, max }.into();
                (policy.rules.best_of, policy.rules.ties) = (best_of, ties);
            })
        };
        for (min, max) in [(2, 2), (2, 16), (3, 5), (16, 16)] {
            assert_eq!(with(min, max, 1, Ties::Share), Ok(()));
        }
        for (min, max) in [(1, 4), (0, 0), (4, 3), (2, 17)] {
            let why = with(min, max, 1, Ties::Share).unwrap_err();
            let due = format!("games of {min} to {max} players are not possible; choose ");
            assert!(why.starts_with(&due), "{why}");
        }
        assert!(with(2, 4, 3, Ties::Share).unwrap_err().contains("one game a match"));
        assert!(with(2, 4, 1, Ties::Replay).unwrap_err().contains("ties are not replayed"));
        assert_eq!(checked(|policy| policy.format = RoundRobin::default().into()), Ok(()));
    }

    #[test]
    fn zero_delay_is_not_written() {
        let mut policy = Preset::named("fish").unwrap().policy;
        let text = |policy: &Policy| serde_json::to_value(policy).unwrap();
        assert_eq!(text(&policy).get("observer_delay_ms"), None);
        policy.observer_delay_ms = 5;
        assert_eq!(text(&policy)["observer_delay_ms"], 5);
    }
}
